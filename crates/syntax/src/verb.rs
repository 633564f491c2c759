//! Verbs on whole arrays: built from what pest matched, and as text.
//!
//! In: the pair of a `monad` or of a `dyad_…`, and its operands.  Out: an application, or the limit that it breaks.
//! Not here: how strongly verbs bind (`tree`), what they mean (`program`).

use diag::{Diagnostic, Span};
use pest::iterators::Pair;

use crate::ast::{BinaryOp, CompareOp, ExprKind, ReduceOp, Verb, VerbKind};
use crate::parse::Rule;
use crate::print::{binary_symbol, compare_symbol, expr_to_string};
use crate::tree::{Builder, Built, Measured, mismatch};

pub(crate) fn is_dyad(rule: Rule) -> bool {
    matches!(
        rule,
        Rule::dyad_or | Rule::dyad_and | Rule::dyad_compare | Rule::dyad_additive | Rule::dyad_multiplicative
    )
}

impl Builder {
    pub(crate) fn apply(
        self,
        verb: Pair<'_, Rule>,
        lhs: Option<Measured>,
        rhs: Measured,
        span: Span,
    ) -> Built<Measured> {
        let verb = self.verb(self.parts(verb).next()?)?;
        let depth = lhs.as_ref().map_or(0, |lhs| lhs.depth).max(rhs.depth);
        let lhs = lhs.map(|lhs| Box::new(lhs.expr));
        self.node(ExprKind::Apply { verb, lhs, rhs: Box::new(rhs.expr) }, span, depth)
    }

    /// A `verb_body`. Its depth is that of its parentheses, which is limited before parsing.
    fn verb(self, pair: Pair<'_, Rule>) -> Built<Verb> {
        let whole = self.span(&pair);
        let mut parts = self.parts(pair);
        let inner = parts.next()?;
        let span = self.span(&inner);
        let kind = match inner.as_rule() {
            Rule::reduce_verb => {
                let mut parts = self.parts(inner);
                let axes = parts.next()?;
                let axes = number(axes.as_str(), self.span(&axes))?;
                VerbKind::Reduce { axes, op: fold(&parts.next()?, span)? }
            }
            Rule::oblique_verb => VerbKind::Oblique { op: fold(&self.parts(inner).next()?, span)? },
            Rule::named_verb => {
                let mut parts = self.parts(inner);
                let name = self.ident(&parts.next()?);
                VerbKind::Named { name, params: parts.each(|param| self.expr(param))? }
            }
            Rule::verb_body => self.verb(inner)?.kind,
            _ => operator(inner.as_str()).ok_or_else(|| mismatch(span))?,
        };
        let Some(ranks) = parts.optional(Rule::ranks) else {
            return Ok(Verb { kind, span });
        };
        let mut parts = self.parts(ranks);
        let mut ranks = Vec::new();
        while let Some(rank) = parts.optional(Rule::signed) {
            ranks.push(number(rank.as_str(), self.span(&rank))?);
        }
        let (left, right) = (ranks.first().copied().ok_or_else(|| mismatch(whole))?, ranks.get(1).copied());
        let verb = Box::new(Verb { kind, span });
        Ok(Verb { kind: VerbKind::Rank { verb, left, right }, span: whole })
    }
}

fn number(text: &str, span: Span) -> Built<i64> {
    let digits: String = text.chars().filter(|c| c.is_ascii_digit() || *c == '-').collect();
    digits.parse().map_err(|_| {
        Diagnostic::error("E0004", span, "the integer is too large").here(format!("at most {} fits", i64::MAX))
    })
}

fn fold(pair: &Pair<'_, Rule>, span: Span) -> Built<ReduceOp> {
    const OPS: [ReduceOp; 6] =
        [ReduceOp::Sum, ReduceOp::Prod, ReduceOp::Min, ReduceOp::Max, ReduceOp::Any, ReduceOp::All];
    OPS.into_iter().find(|op| fold_symbol(*op) == pair.as_str()).ok_or_else(|| mismatch(span))
}

fn operator(text: &str) -> Option<VerbKind> {
    use {BinaryOp::*, CompareOp::*};
    let binary = [Add, Sub, Mul, Div, Rem, And, Or].into_iter().find(|op| binary_symbol(*op) == text);
    let text = if text == "=" { "==" } else { text };
    let compare = [Eq, Ne, Lt, Le, Gt, Ge].into_iter().find(|op| compare_symbol(*op) == text);
    binary.map(VerbKind::Binary).or(compare.map(VerbKind::Compare))
}

/// The operator behind `reduce` and `oblique`.
pub(crate) fn fold_symbol(op: ReduceOp) -> &'static str {
    match op {
        ReduceOp::Sum => "+",
        ReduceOp::Prod => "*",
        ReduceOp::Min => "min",
        ReduceOp::Max => "max",
        ReduceOp::Any => "or",
        ReduceOp::All => "and",
        // No verb folds by these.
        ReduceOp::ArgMin => "argmin",
        ReduceOp::ArgMax => "argmax",
    }
}

/// What stands between the parentheses of a verb.
pub fn verb_to_string(verb: &Verb) -> String {
    match &verb.kind {
        VerbKind::Binary(op) => binary_symbol(*op).to_owned(),
        VerbKind::Compare(op) => compare_symbol(*op).to_owned(),
        VerbKind::Named { name, params } => {
            let params: String = params.iter().map(|param| format!(" {}", expr_to_string(param))).collect();
            format!("{}{params}", name.name)
        }
        VerbKind::Reduce { axes, op } => format!("reduce {axes} {}", fold_symbol(*op)),
        VerbKind::Oblique { op } => format!("oblique {}", fold_symbol(*op)),
        VerbKind::Rank { verb, left, right } => {
            let inner = verb_to_string(verb);
            let plain = matches!(verb.kind, VerbKind::Binary(_) | VerbKind::Compare(_) | VerbKind::Named { .. });
            let inner = if plain { inner } else { format!("({inner})") };
            let right = right.map_or(String::new(), |right| format!(" {right}"));
            format!("{inner} rank {left}{right}")
        }
    }
}
