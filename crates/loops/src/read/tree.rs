//! Expressions as untyped trees, by precedence.

use diag::Span;
use program::{BinaryOp, ScalarType, Value};

use super::lex::{Number, Token};
use super::{MAX_DEPTH, Read, Reader, error};
use crate::print::literal_type;

/// An expression of which only the structure is known.
#[derive(Clone, Debug)]
pub(super) struct Tree {
    pub(super) kind: TreeKind,
    pub(super) line: usize,
    /// Long chains of operators nest without recursion of the parser, so the height is counted.
    height: usize,
}

#[derive(Clone, Debug)]
pub(super) enum TreeKind {
    Name(String),
    Bool(bool),
    Number {
        negative: bool,
        number: Number,
    },
    Neg(Box<Tree>),
    Not(Box<Tree>),
    Binary(Infix, Box<Tree>, Box<Tree>),
    /// `and` or `or` of at least two operands.
    Chain(BinaryOp, Vec<Tree>),
    Call(String, Vec<Tree>),
    Access(String, Vec<Tree>),
    /// The operand, and its place in the source.
    At(Span, Box<Tree>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Infix {
    Op(BinaryOp),
    Mod,
}

/// How tightly the infix operators bind; `not` binds between `and` and the comparisons.
const NOT: u8 = 3;
const COMPARE: u8 = 4;

fn infix(token: &Token) -> Option<(Infix, u8)> {
    use BinaryOp::*;
    let by_level = [
        (Or, 1),
        (And, 2),
        (Eq, COMPARE),
        (Ne, COMPARE),
        (Lt, COMPARE),
        (Le, COMPARE),
        (Gt, COMPARE),
        (Ge, COMPARE),
        (Add, 5),
        (Sub, 5),
        (Mul, 6),
        (Div, 6),
        (Rem, 6),
    ];
    if token.is("mod") {
        return Some((Infix::Mod, 6));
    }
    by_level.into_iter().find(|(op, _)| token.is(op.name())).map(|(op, level)| (Infix::Op(op), level))
}

impl Reader {
    pub(super) fn tree(&mut self) -> Read<Tree> {
        self.infix_tree(1)
    }

    /// Expressions up to and including the closing symbol.
    pub(super) fn list(&mut self, close: &'static str) -> Read<Vec<Tree>> {
        let mut trees = Vec::new();
        if self.eat(close) {
            return Ok(trees);
        }
        loop {
            trees.push(self.tree()?);
            if self.eat(close) {
                return Ok(trees);
            }
            self.expect(",")?;
        }
    }

    /// An expression of operators that bind at least as tightly as `least`.
    fn infix_tree(&mut self, least: u8) -> Read<Tree> {
        self.nested(|reader| {
            let mut left = reader.prefix_tree(least)?;
            while let Some((op, level)) = infix(reader.peek()).filter(|(_, level)| *level >= least) {
                let line = reader.line();
                let mut operands = vec![left];
                while infix(reader.peek()) == Some((op, level)) {
                    reader.next();
                    operands.push(reader.infix_tree(level + 1)?);
                    let chained = matches!(op, Infix::Op(BinaryOp::And | BinaryOp::Or));
                    if !chained {
                        break;
                    }
                }
                left = combine(op, operands, line)?;
                if level == COMPARE && infix(reader.peek()).is_some_and(|(_, level)| level == COMPARE) {
                    return error(reader.line(), "comparisons do not chain");
                }
            }
            Ok(left)
        })
    }

    fn prefix_tree(&mut self, least: u8) -> Read<Tree> {
        let line = self.line();
        if self.at("not") {
            if least > NOT {
                return error(line, "`not` needs parentheses here");
            }
            self.next();
            let operand = self.infix_tree(NOT)?;
            return grown(operand.height, line, TreeKind::Not(Box::new(operand)));
        }
        if self.eat("-") {
            if let Token::Number(number) = self.peek() {
                let number = number.clone();
                self.next();
                return grown(0, line, TreeKind::Number { negative: true, number });
            }
            let operand = self.nested(|reader| reader.prefix_tree(u8::MAX))?;
            return grown(operand.height, line, TreeKind::Neg(Box::new(operand)));
        }
        let mut atom = self.atom()?;
        while let Some(span) = self.place()? {
            atom = grown(atom.height, line, TreeKind::At(span, Box::new(atom)))?;
        }
        Ok(atom)
    }

    /// `@12..20`, if it is there.
    pub(super) fn place(&mut self) -> Read<Option<Span>> {
        if !self.eat("@") {
            return Ok(None);
        }
        let start = self.offset()?;
        self.expect("..")?;
        Ok(Some(Span { start, end: self.offset()? }))
    }

    fn offset(&mut self) -> Read<u32> {
        let line = self.line();
        match self.next() {
            Token::Number(number) if !number.float && number.suffix.is_none() => {
                number.text.parse().map_or_else(|_| error(line, "a place in the source is out of range"), Ok)
            }
            token => error(line, format!("expected a place in the source, found {token}")),
        }
    }

    fn atom(&mut self) -> Read<Tree> {
        let line = self.line();
        match self.next() {
            Token::Number(number) => grown(0, line, TreeKind::Number { negative: false, number }),
            Token::Symbol("(") => {
                let inner = self.tree()?;
                self.expect(")")?;
                Ok(inner)
            }
            Token::Word(word) if word == "true" || word == "false" => grown(0, line, TreeKind::Bool(word == "true")),
            Token::Word(word) if self.eat("(") => {
                let arguments = self.list(")")?;
                grown(tallest(&arguments), line, TreeKind::Call(word, arguments))
            }
            Token::Word(word) if self.eat("[") => {
                let index = self.list("]")?;
                grown(tallest(&index), line, TreeKind::Access(word, index))
            }
            Token::Word(word) if !crate::print::RESERVED.contains(&word.as_str()) => {
                grown(0, line, TreeKind::Name(word))
            }
            token => error(line, format!("expected an expression, found {token}")),
        }
    }
}

fn tallest(trees: &[Tree]) -> usize {
    trees.iter().map(|tree| tree.height).max().unwrap_or(0)
}

fn grown(height: usize, line: usize, kind: TreeKind) -> Read<Tree> {
    if height >= MAX_DEPTH {
        return error(line, format!("nested deeper than {MAX_DEPTH} levels"));
    }
    Ok(Tree { kind, line, height: height + 1 })
}

fn combine(op: Infix, operands: Vec<Tree>, line: usize) -> Read<Tree> {
    let height = tallest(&operands);
    if let Infix::Op(op @ (BinaryOp::And | BinaryOp::Or)) = op {
        // As values they become nested pairs, one for each operand.
        return grown(height + operands.len() - 2, line, TreeKind::Chain(op, operands));
    }
    let mut operands = operands.into_iter();
    match (operands.next(), operands.next()) {
        (Some(left), Some(right)) => grown(height, line, TreeKind::Binary(op, Box::new(left), Box::new(right))),
        _ => error(line, "an operand is missing"),
    }
}

/// The value of a literal where the context asks for `expected`.
pub(super) fn literal(line: usize, negative: bool, number: &Number, expected: Option<ScalarType>) -> Read<Value> {
    let ty = number.suffix.unwrap_or_else(|| literal_type(number.float, expected));
    let text = format!("{}{}", if negative { "-" } else { "" }, number.text);
    Value::parse(ty, &text).map_or_else(|| error(line, format!("`{text}` does not fit {ty}")), Ok)
}
