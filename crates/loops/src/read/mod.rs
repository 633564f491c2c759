//! The reader of the text form that `print` documents.
//!
//! In: text.  Out: a kernel, not yet verified, or the first error with its line.
//! Expressions are parsed into untyped trees first, because the type of a literal depends on what follows it.

mod lex;
mod resolve;
mod tree;

use std::fmt;

use program::{BinaryOp, Role, ScalarType, Value};

use crate::{
    ArrayDecl, ArrayId, Axis, Cond, Each, Expr, For, Index, Kernel, LocalDecl, LoopKind, Parallel, Reduction,
    ScalarDecl, Space, Stmt, Target, VarId,
};
use lex::{Token, tokens};
use resolve::{Meaning, Scope};
use tree::Tree;

/// Blocks and expressions may be nested this deep; the reader and all passes are recursive.
const MAX_DEPTH: usize = 200;

/// The operators of updates.
const COMBINING: [BinaryOp; 6] =
    [BinaryOp::Add, BinaryOp::Mul, BinaryOp::Min, BinaryOp::Max, BinaryOp::And, BinaryOp::Or];

/// What is wrong with the text, and in which line, counted from 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadError {
    /// Counted from 1.
    pub line: usize,
    /// What is wrong.
    pub message: String,
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.message)
    }
}

impl std::error::Error for ReadError {}

type Read<T> = Result<T, ReadError>;

fn error<T>(line: usize, message: impl Into<String>) -> Read<T> {
    Err(ReadError { line, message: message.into() })
}

/// Reads one kernel.
pub fn parse(text: &str) -> Result<Kernel, ReadError> {
    let tokens = tokens(text)?;
    let mut reader = Reader { tokens, position: 0, depth: 0, scope: Scope::default() };
    let kernel = reader.kernel()?;
    match reader.peek() {
        Token::End => Ok(kernel),
        token => error(reader.line(), format!("unexpected {token} after the kernel")),
    }
}

/// A position in the tokens; `tree` adds the expressions.
struct Reader {
    tokens: Vec<(Token, usize)>,
    position: usize,
    depth: usize,
    scope: Scope,
}

impl Reader {
    fn peek(&self) -> &Token {
        self.peek_at(0)
    }

    fn peek_at(&self, ahead: usize) -> &Token {
        self.tokens.get(self.position + ahead).map_or(&Token::End, |(token, _)| token)
    }

    fn line(&self) -> usize {
        let position = self.position.min(self.tokens.len().saturating_sub(1));
        self.tokens.get(position).map_or(1, |(_, line)| *line)
    }

    fn next(&mut self) -> Token {
        let token = self.peek().clone();
        self.position += 1;
        token
    }

    fn at(&self, symbol: &str) -> bool {
        self.peek().is(symbol)
    }

    fn eat(&mut self, symbol: &str) -> bool {
        let found = self.at(symbol);
        if found {
            self.position += 1;
        }
        found
    }

    fn expect(&mut self, symbol: &str) -> Read<()> {
        if self.eat(symbol) {
            return Ok(());
        }
        error(self.line(), format!("expected `{symbol}`, found {}", self.peek()))
    }

    fn name(&mut self) -> Read<String> {
        let line = self.line();
        match self.next() {
            Token::Word(word) if !crate::print::RESERVED.contains(&word.as_str()) => Ok(word),
            token => error(line, format!("expected a name, found {token}")),
        }
    }

    fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> Read<T>) -> Read<T> {
        if self.depth >= MAX_DEPTH {
            return error(self.line(), format!("nested deeper than {MAX_DEPTH} levels"));
        }
        self.depth += 1;
        let result = read(self);
        self.depth -= 1;
        result
    }

    fn kernel(&mut self) -> Read<Kernel> {
        self.expect("kernel")?;
        self.scope.kernel.name = self.name()?;
        self.expect("(")?;
        while !self.eat(")") {
            // A section without arguments.
            if self.eat(";") {
                continue;
            }
            self.argument()?;
            if !self.eat(",") && !self.at(";") && !self.at(")") {
                return error(self.line(), format!("expected `,`, `;` or `)`, found {}", self.peek()));
            }
        }
        self.expect("{")?;
        loop {
            if self.eat("local") {
                let line = self.line();
                let name = self.name()?;
                self.expect(":")?;
                let ty = self.scalar_type()?;
                self.scope.declare_local(line, LocalDecl { name, ty })?;
            } else if self.eat("array") {
                let name = self.name()?;
                self.expect(":")?;
                self.array(name, Role::Local)?;
            } else {
                break;
            }
        }
        self.scope.kernel.body = self.stmts()?;
        Ok(std::mem::take(&mut self.scope.kernel))
    }

    /// `N`, `alpha: f64` or `A: in f64[N]`.
    fn argument(&mut self) -> Read<()> {
        let line = self.line();
        let name = self.name()?;
        if !self.eat(":") {
            return self.scope.declare_param(line, name);
        }
        let roles = [Role::In, Role::Out, Role::InOut];
        match roles.into_iter().find(|role| self.eat(role.name())) {
            Some(role) => self.array(name, role),
            None => {
                let ty = self.scalar_type()?;
                self.scope.declare_scalar(line, ScalarDecl { name, ty })
            }
        }
    }

    fn array(&mut self, name: String, role: Role) -> Read<()> {
        let line = self.line();
        let ty = self.scalar_type()?;
        self.expect("[")?;
        let shape = self.index_list("]")?;
        self.scope.declare_array(line, ArrayDecl { name, ty, shape, role, strides: None })
    }

    fn scalar_type(&mut self) -> Read<ScalarType> {
        let line = self.line();
        let token = self.next();
        match &token {
            Token::Word(word) => ScalarType::from_name(word),
            _ => None,
        }
        .map_or_else(|| error(line, format!("expected a type, found {token}")), Ok)
    }

    fn index_list(&mut self, close: &'static str) -> Read<Vec<Index>> {
        let trees = self.list(close)?;
        trees.iter().map(|tree| self.scope.index(tree)).collect()
    }

    fn tree_and<T>(&mut self, resolve: impl FnOnce(&Scope, &Tree) -> Read<T>) -> Read<T> {
        let tree = self.tree()?;
        resolve(&self.scope, &tree)
    }

    fn index(&mut self) -> Read<Index> {
        self.tree_and(Scope::index)
    }

    fn cond(&mut self) -> Read<Cond> {
        self.tree_and(Scope::cond)
    }

    /// Statements up to and including the closing brace.
    fn stmts(&mut self) -> Read<Vec<Stmt>> {
        self.nested(|reader| {
            let mut stmts = Vec::new();
            while !reader.eat("}") {
                stmts.push(reader.stmt()?);
            }
            Ok(stmts)
        })
    }

    fn stmt(&mut self) -> Read<Stmt> {
        if self.eat("if") {
            return self.branch();
        }
        if self.eat("parallel") {
            let axis = if self.eat("(") { Some(self.axis()?) } else { None };
            return self.for_loop(LoopKind::Parallel(Parallel { axis, ..Parallel::default() }));
        }
        if self.eat("unroll") {
            return self.for_loop(LoopKind::Unrolled);
        }
        if self.eat("vector") {
            self.expect("(")?;
            let line = self.line();
            let lanes = self.integer()?;
            self.expect(")")?;
            return match u32::try_from(lanes) {
                Ok(lanes) => self.for_loop(LoopKind::Vector(lanes)),
                Err(_) => error(line, "the number of lanes is out of range"),
            };
        }
        if self.at("for") {
            return self.for_loop(LoopKind::Serial);
        }
        if self.eat("alloc") {
            return self.alloc();
        }
        if self.eat("barrier") {
            return Ok(Stmt::Barrier);
        }
        if self.at("count") && matches!(self.peek_at(2), token if token.is("in")) {
            return self.each();
        }
        self.assignment()
    }

    /// What follows `alloc`: `t in scratch { … }`.
    fn alloc(&mut self) -> Read<Stmt> {
        let array = self.array_name()?;
        self.expect("in")?;
        let line = self.line();
        let Some(space) = Space::ALL.into_iter().find(|space| self.eat(space.name())) else {
            return error(line, format!("expected `scratch`, `shared` or `registers`, found {}", self.peek()));
        };
        self.expect("{")?;
        Ok(Stmt::Alloc { array, space, body: self.stmts()? })
    }

    /// `count k in lo..hi by step forwards while cond at @3..5 { … }`
    fn each(&mut self) -> Read<Stmt> {
        self.next();
        let line = self.line();
        let name = self.name()?;
        let Meaning::Local(local) = self.scope.meaning(line, &name)? else {
            return error(line, format!("`{name}` is not a local"));
        };
        self.expect("in")?;
        let value = |reader: &mut Self, ty| reader.tree_and(|scope, tree| scope.expr(tree, Some(ty)));
        let lo = value(self, ScalarType::I64)?;
        self.expect("..")?;
        let hi = value(self, ScalarType::I64)?;
        let step = if self.eat("by") { value(self, ScalarType::I64)? } else { Expr::constant(Value::I64(1)) };
        let forwards = self.eat("forwards");
        let until = if self.eat("while") { Some(value(self, ScalarType::Bool)?) } else { None };
        let at = if self.eat("at") { self.place()? } else { None };
        self.expect("{")?;
        Ok(Stmt::Each(Box::new(Each { local, lo, hi, step, forwards, until, body: self.stmts()?, at })))
    }

    /// The name of an array.
    fn array_name(&mut self) -> Read<ArrayId> {
        let line = self.line();
        let name = self.name()?;
        match self.scope.meaning(line, &name)? {
            Meaning::Array(array) => Ok(array),
            _ => error(line, format!("`{name}` is not an array")),
        }
    }

    /// An operator that combines, as in `by +`.
    fn combining_op(&mut self) -> Read<BinaryOp> {
        let line = self.line();
        let token = self.next();
        let op = COMBINING.into_iter().find(|op| token.is(op.name()));
        op.map_or_else(|| error(line, format!("expected the operator of a reduction, found {token}")), Ok)
    }

    /// `+=`, `max=` and so on; nothing for `=`.
    fn assigning_op(&mut self) -> Read<Option<BinaryOp>> {
        let line = self.line();
        let token = self.next();
        if token.is("=") {
            return Ok(None);
        }
        let op = match &token {
            Token::Symbol("+=") => Some(BinaryOp::Add),
            Token::Symbol("*=") => Some(BinaryOp::Mul),
            Token::Word(_) if self.eat("=") => {
                COMBINING.into_iter().chain([BinaryOp::Last, BinaryOp::Once]).find(|op| token.is(op.name()))
            }
            _ => None,
        };
        op.map_or_else(
            || error(line, format!("expected `=` or an update such as `+=` or `max=`, found {token}")),
            |op| Ok(Some(op)),
        )
    }

    /// `scatter(H, idx[c0]) += value`
    fn scatter(&mut self) -> Read<Stmt> {
        let line = self.line();
        self.expect("(")?;
        let trees = self.list(")")?;
        let Some((array, index)) = trees.split_first() else { return error(line, "expected the name of an array") };
        let (array, index) = self.scope.gather(array, index)?;
        let at = self.place()?;
        let line = self.line();
        let Some(op) = self.assigning_op()? else { return error(line, "a scatter is an update, such as `+=`") };
        let ty = self.scope.kernel.arrays[array.index()].ty;
        let value = self.tree_and(|scope, tree| scope.expr(tree, Some(ty)))?;
        Ok(Stmt::Scatter { array, index, op, value, at })
    }

    fn assignment(&mut self) -> Read<Stmt> {
        if self.at("scatter") && self.peek_at(1).is("(") {
            self.next();
            return self.scatter();
        }
        let line = self.line();
        let name = self.name()?;
        match self.scope.meaning(line, &name)? {
            Meaning::Array(array) => {
                self.expect("[")?;
                let index = self.index_list("]")?;
                let op = self.assigning_op()?;
                let ty = self.scope.kernel.arrays[array.index()].ty;
                let value = self.tree_and(|scope, tree| scope.expr(tree, Some(ty)))?;
                Ok(match op {
                    None => Stmt::Store { array, index, value },
                    Some(op) => Stmt::Update { target: Target::Cell { array, index }, op, value },
                })
            }
            Meaning::Local(local) => {
                let op = self.assigning_op()?;
                let ty = self.scope.kernel.locals[local.index()].ty;
                let value = self.tree_and(|scope, tree| scope.expr(tree, Some(ty)))?;
                Ok(match op {
                    None => Stmt::Set { local, value },
                    Some(op) => Stmt::Update { target: Target::Local(local), op, value },
                })
            }
            _ => error(line, format!("`{name}` cannot be assigned to")),
        }
    }

    /// What follows `if`.
    fn branch(&mut self) -> Read<Stmt> {
        self.nested(|reader| {
            let cond = reader.cond()?;
            reader.expect("{")?;
            let then = reader.stmts()?;
            let otherwise = match (reader.eat("else"), reader.at("if")) {
                (false, _) => Vec::new(),
                (true, true) => {
                    reader.expect("if")?;
                    vec![reader.branch()?]
                }
                (true, false) => {
                    reader.expect("{")?;
                    reader.stmts()?
                }
            };
            Ok(Stmt::If { cond, then, otherwise })
        })
    }

    /// From `for` on.
    fn for_loop(&mut self, kind: LoopKind) -> Read<Stmt> {
        self.expect("for")?;
        let line = self.line();
        let name = self.name()?;
        self.expect("in")?;
        let lo = self.index()?;
        self.expect("..")?;
        let hi = self.index()?;
        let step = if self.eat("by") { self.integer()? } else { 1 };
        let kind = match kind {
            LoopKind::Parallel(parallel) => LoopKind::Parallel(self.parallel(parallel)?),
            kind => kind,
        };
        self.expect("{")?;
        let var: VarId = self.scope.enter(line, &name)?;
        let body = self.stmts()?;
        self.scope.leave(&name);
        Ok(Stmt::For(For { var, kind, lo, hi, step, body }))
    }

    /// `reducing s by +, m by max private t, u`, each part if it is there.
    fn parallel(&mut self, mut parallel: Parallel) -> Read<Parallel> {
        let mut more = self.eat("reducing");
        while more {
            let array = self.array_name()?;
            self.expect("by")?;
            let op = self.combining_op()?;
            parallel.reductions.push(Reduction { array, op });
            more = self.eat(",");
        }
        let mut more = self.eat("private");
        while more {
            parallel.private.push(self.array_name()?);
            more = self.eat(",");
        }
        Ok(parallel)
    }

    /// `block.x)`
    fn axis(&mut self) -> Read<Axis> {
        let line = self.line();
        let level = self.name()?;
        self.expect(".")?;
        let name = format!("{level}.{}", self.name()?);
        self.expect(")")?;
        match Axis::named(&name) {
            Some(axis) => Ok(axis),
            None => error(line, format!("there is no axis `{name}`")),
        }
    }

    fn integer(&mut self) -> Read<i64> {
        let line = self.line();
        match self.index()? {
            Index::Const(value) => Ok(value),
            _ => error(line, "expected an integer"),
        }
    }
}
