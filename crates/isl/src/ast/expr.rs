//! Expressions of loop programs as isl holds them.

use super::kinds::{AstExprType, Op};
use crate::{Id, Val};

object! {
    /// An expression of a loop program.
    AstExpr, "isl_ast_expr_"
}

bind! { AstExpr, "isl_ast_expr_";
    fn get_type(&self) -> AstExprType;
    fn int_get_val(&self) -> Val;
    fn id_get_id(&self) -> Id;
    fn op_get_type(&self) -> Op;
    fn op_get_n_arg(&self) -> usize;
    fn op_get_arg(&self, pos: usize) -> AstExpr;
}

bind! { AstExpr;
    pub fn to_c_str = "isl_ast_expr_to_C_str"(&self) -> String;
}
