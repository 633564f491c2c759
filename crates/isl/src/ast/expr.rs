//! Expressions of loop programs as isl holds them.

use super::kinds::{AstExprType, Op};
use crate::{Id, Val};

object! {
    /// An expression of a loop program.
    AstExpr, "isl_ast_expr_"
}

bind! { AstExpr, "isl_ast_expr_";
    fn from_val(v: Val) -> AstExpr;
    fn from_id(id: Id) -> AstExpr;
    fn neg(self) -> AstExpr;
    fn add(self, other: AstExpr) -> AstExpr;
    fn sub(self, other: AstExpr) -> AstExpr;
    fn mul(self, other: AstExpr) -> AstExpr;
    fn div(self, other: AstExpr) -> AstExpr;
    fn pdiv_q(self, other: AstExpr) -> AstExpr;
    fn pdiv_r(self, other: AstExpr) -> AstExpr;
    fn and(self, other: AstExpr) -> AstExpr;
    fn and_then(self, other: AstExpr) -> AstExpr;
    fn or(self, other: AstExpr) -> AstExpr;
    fn or_else(self, other: AstExpr) -> AstExpr;
    fn le(self, other: AstExpr) -> AstExpr;
    fn lt(self, other: AstExpr) -> AstExpr;
    fn ge(self, other: AstExpr) -> AstExpr;
    fn gt(self, other: AstExpr) -> AstExpr;
    fn eq(self, other: AstExpr) -> AstExpr;
    fn access(self, indices: &[AstExpr]) -> AstExpr;
    fn call(self, arguments: &[AstExpr]) -> AstExpr;
    fn address_of(self) -> AstExpr;
    fn get_type(&self) -> AstExprType;
    fn int_get_val(&self) -> Val;
    fn id_get_id(&self) -> Id;
    fn op_get_type(&self) -> Op;
    fn op_get_n_arg(&self) -> usize;
    fn op_get_arg(&self, pos: usize) -> AstExpr;
    fn set_op_arg(self, pos: usize, arg: AstExpr) -> AstExpr;
    fn is_equal(&self, other: &AstExpr) -> bool;
}

bind! { AstExpr;
    pub fn to_c_str = "isl_ast_expr_to_C_str"(&self) -> String;
}
