//! Generated programs as plain data, for back ends that must not see isl.
//!
//! In: [`AstNode`], [`AstExpr`].  Out: [`Node`], [`Expr`].

use super::kinds::{AstExprType, AstNodeType, Op};
use crate::runtime::{Error, Result};
use crate::{AstExpr, AstNode};

/// A node of a loop program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Node {
    /// A loop.
    For {
        /// The name of the iterator.
        iterator: String,
        /// Its first value.
        init: Expr,
        /// Whether to run the body; for a degenerate loop `1`.
        cond: Expr,
        /// What is added to the iterator; for a degenerate loop `1`.
        inc: Expr,
        /// The body.
        body: Box<Node>,
        /// True if the loop runs exactly once.
        degenerate: bool,
        /// What a hook attached to the loop.
        annotation: Option<String>,
    },
    /// A condition.
    If {
        /// The condition.
        cond: Expr,
        /// If it holds.
        then: Box<Node>,
        /// If not.
        otherwise: Option<Box<Node>>,
    },
    /// Statements in order, none of them a block.
    Block(Vec<Node>),
    /// A mark of the schedule tree.
    Mark {
        /// Its name.
        id: String,
        /// What it marks.
        body: Box<Node>,
    },
    /// A statement instance: a call of the statement's name with its coordinates, and what a hook attached to it.
    User(Expr, Option<String>),
}

/// An expression of a loop program.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Expr {
    /// An iterator, parameter, statement or array.
    Id(String),
    /// A number.
    Int(i64),
    /// An operator and its arguments.
    Op(Op, Vec<Expr>),
}

impl AstNode {
    /// The program as plain data.
    pub fn to_tree(&self) -> Result<Node> {
        let annotation = |node: &AstNode| -> Result<Option<String>> { Ok(node.get_annotation()?.map(|id| id.name())) };
        Ok(match self.get_type()? {
            AstNodeType::For => {
                let degenerate = self.for_is_degenerate()?;
                let unless_degenerate = |expr: &dyn Fn() -> Result<AstExpr>| {
                    if degenerate { Ok(Expr::Int(1)) } else { expr()?.to_tree() }
                };
                Node::For {
                    iterator: self.for_get_iterator()?.id_get_id()?.name(),
                    init: self.for_get_init()?.to_tree()?,
                    cond: unless_degenerate(&|| self.for_get_cond())?,
                    inc: unless_degenerate(&|| self.for_get_inc())?,
                    body: Box::new(self.for_get_body()?.to_tree()?),
                    degenerate,
                    annotation: annotation(self)?,
                }
            }
            AstNodeType::If => Node::If {
                cond: self.if_get_cond()?.to_tree()?,
                then: Box::new(self.if_get_then_node()?.to_tree()?),
                otherwise: if self.if_has_else_node()? {
                    Some(Box::new(self.if_get_else_node()?.to_tree()?))
                } else {
                    None
                },
            },
            AstNodeType::Block => {
                let mut nodes = Vec::new();
                for child in self.block_get_children()? {
                    match child.to_tree()? {
                        Node::Block(inner) => nodes.extend(inner),
                        node => nodes.push(node),
                    }
                }
                Node::Block(nodes)
            }
            AstNodeType::Mark => {
                Node::Mark { id: self.mark_get_id()?.name(), body: Box::new(self.mark_get_node()?.to_tree()?) }
            }
            AstNodeType::User => Node::User(self.user_get_expr()?.to_tree()?, annotation(self)?),
        })
    }
}

impl AstExpr {
    /// The expression as plain data. Numbers beyond 64 bits are an error.
    pub fn to_tree(&self) -> Result<Expr> {
        Ok(match self.get_type()? {
            AstExprType::Id => Expr::Id(self.id_get_id()?.name()),
            AstExprType::Int => {
                let value = self.int_get_val()?;
                let number = value.to_i64()?.ok_or_else(|| Error::Number { number: value.to_string() })?;
                Expr::Int(number)
            }
            AstExprType::Op => {
                let args = (0..self.op_get_n_arg()?)
                    .map(|position| self.op_get_arg(position)?.to_tree())
                    .collect::<Result<_>>()?;
                Expr::Op(self.op_get_type()?, args)
            }
        })
    }
}
