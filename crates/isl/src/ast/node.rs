//! Loop programs as isl holds them.

use super::kinds::AstNodeType;
use crate::runtime::{Maybe, Result};
use crate::{AstExpr, Id};

object! {
    /// A node of a loop program.
    AstNode, "isl_ast_node_"
}

bind! { AstNode, "isl_ast_node_";
    fn get_type(&self) -> AstNodeType;
    fn set_annotation(self, annotation: Id) -> AstNode;
    fn for_get_iterator(&self) -> AstExpr;
    fn for_get_init(&self) -> AstExpr;
    fn for_get_cond(&self) -> AstExpr;
    fn for_get_inc(&self) -> AstExpr;
    fn for_get_body(&self) -> AstNode;
    fn for_is_degenerate(&self) -> bool;
    fn if_get_cond(&self) -> AstExpr;
    fn if_get_then_node(&self) -> AstNode;
    fn if_has_else_node(&self) -> bool;
    fn if_get_else_node(&self) -> AstNode;
    fn block_get_children(&self) -> Vec<AstNode>;
    fn mark_get_id(&self) -> Id;
    fn mark_get_node(&self) -> AstNode;
    fn user_get_expr(&self) -> AstExpr;
}

bind! { AstNode;
    pub fn to_c_str = "isl_ast_node_to_C_str"(&self) -> String;
    fn raw_annotation = "isl_ast_node_get_annotation"(&self) -> Maybe<Id>;
}

impl AstNode {
    /// The annotation, if one was set.
    pub fn get_annotation(&self) -> Result<Option<Id>> {
        Ok(self.raw_annotation()?.0)
    }
}
