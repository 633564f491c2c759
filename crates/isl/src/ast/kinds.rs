//! The kinds of nodes, expressions, operators and loops in generated programs.

use std::ffi::c_int;

use crate::runtime::{Arg, Call, Context, Ret};

/// `enum isl_ast_loop_type`: how a band member becomes loops.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum AstLoopType {
    /// As isl likes.
    #[default]
    Default,
    /// One loop.
    Atomic,
    /// No loop, one copy of the body per value.
    Unroll,
    /// One loop per set of statements active together.
    Separate,
}

impl Arg for AstLoopType {
    type Raw = c_int;
    fn into_raw(self, _: &Call) -> c_int {
        match self {
            AstLoopType::Default => 0,
            AstLoopType::Atomic => 1,
            AstLoopType::Unroll => 2,
            AstLoopType::Separate => 3,
        }
    }
}

impl Ret for AstLoopType {
    type Raw = c_int;
    unsafe fn receive(raw: c_int, _: &Context) -> Option<AstLoopType> {
        Some(match raw {
            0 => AstLoopType::Default,
            1 => AstLoopType::Atomic,
            2 => AstLoopType::Unroll,
            3 => AstLoopType::Separate,
            _ => return None,
        })
    }
}

/// `enum isl_ast_node_type`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AstNodeType {
    /// A loop.
    For,
    /// A condition.
    If,
    /// Statements in order.
    Block,
    /// An annotation.
    Mark,
    /// A statement instance.
    User,
}

impl Ret for AstNodeType {
    type Raw = c_int;
    unsafe fn receive(raw: c_int, _: &Context) -> Option<AstNodeType> {
        Some(match raw {
            1 => AstNodeType::For,
            2 => AstNodeType::If,
            3 => AstNodeType::Block,
            4 => AstNodeType::Mark,
            5 => AstNodeType::User,
            _ => return None,
        })
    }
}

/// `enum isl_ast_expr_type`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AstExprType {
    /// An operator and its arguments.
    Op,
    /// A name.
    Id,
    /// A number.
    Int,
}

impl Ret for AstExprType {
    type Raw = c_int;
    unsafe fn receive(raw: c_int, _: &Context) -> Option<AstExprType> {
        Some(match raw {
            0 => AstExprType::Op,
            1 => AstExprType::Id,
            2 => AstExprType::Int,
            _ => return None,
        })
    }
}

/// `enum isl_ast_expr_op_type`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Op {
    /// Conjunction; both sides may be evaluated.
    And,
    /// Conjunction; the right side only if the left holds.
    AndThen,
    /// Disjunction; both sides may be evaluated.
    Or,
    /// Disjunction; the right side only if the left fails.
    OrElse,
    /// Maximum of two or more.
    Max,
    /// Minimum of two or more.
    Min,
    /// Negation.
    Minus,
    /// Sum.
    Add,
    /// Difference.
    Sub,
    /// Product.
    Mul,
    /// Exact quotient.
    Div,
    /// Quotient rounded towards −∞.
    FdivQ,
    /// Quotient; the dividend is not negative.
    PdivQ,
    /// Remainder; the dividend is not negative.
    PdivR,
    /// Remainder that is only compared with zero.
    ZdivR,
    /// Condition, then, else; only the chosen one may be evaluated.
    Cond,
    /// Condition, then, else; both may be evaluated.
    Select,
    /// `==`.
    Eq,
    /// `<=`.
    Le,
    /// `<`.
    Lt,
    /// `>=`.
    Ge,
    /// `>`.
    Gt,
    /// Function or statement, then arguments.
    Call,
    /// Array, then indices.
    Access,
    /// Structure, then member.
    Member,
    /// Address.
    AddressOf,
}

impl Ret for Op {
    type Raw = c_int;
    unsafe fn receive(raw: c_int, _: &Context) -> Option<Op> {
        // In the order of the C enumeration, from 0.
        const ALL: [Op; 26] = [
            Op::And,
            Op::AndThen,
            Op::Or,
            Op::OrElse,
            Op::Max,
            Op::Min,
            Op::Minus,
            Op::Add,
            Op::Sub,
            Op::Mul,
            Op::Div,
            Op::FdivQ,
            Op::PdivQ,
            Op::PdivR,
            Op::ZdivR,
            Op::Cond,
            Op::Select,
            Op::Eq,
            Op::Le,
            Op::Lt,
            Op::Ge,
            Op::Gt,
            Op::Call,
            Op::Access,
            Op::Member,
            Op::AddressOf,
        ];
        ALL.get(usize::try_from(raw).ok()?).copied()
    }
}
