//! Random kernels that the verifier accepts and that run within bounds for every `N` up to 5.
//!
//! In: bytes, each of which makes one choice; when they run out, the simplest choice is made.  Out: a kernel.
//! Also used by the tests of `interp`.

use diag::Span;
use loops::{
    ArrayDecl, ArrayId, CompareOp, Cond, Expr, ExprKind, For, Index, Kernel, LocalDecl, LocalId, LoopKind, ParamId,
    ScalarDecl, ScalarId, Stmt, Target, VarId, runs_in_lockstep,
};
use math::{Binary, Unary};
use program::{BinaryOp, Role, ScalarType, UnaryOp, Value};

const A: ArrayId = ArrayId(0);
const B: ArrayId = ArrayId(1);
const X: ArrayId = ArrayId(2);
const Y: ArrayId = ArrayId(3);
const F: ArrayId = ArrayId(4);
const S: ArrayId = ArrayId(5);
const P: ArrayId = ArrayId(6);
const Q: ArrayId = ArrayId(7);
const T: LocalId = LocalId(0);
const U: LocalId = LocalId(1);
/// Set in parallel loops only, and only in outer ones, as a local belongs to one iteration.
const V: LocalId = LocalId(2);
const W: LocalId = LocalId(3);
const N: Index = Index::Param(ParamId(0));

/// The kernel that the bytes describe.
pub(crate) fn kernel(bytes: &[u8]) -> Kernel {
    let wide = || vec![add(N, 3), Index::Const(8)];
    let array = |name: &str, ty, shape, role| ArrayDecl { name: name.to_owned(), ty, shape, role, strides: None };
    let eight = || vec![Index::Const(8)];
    let kernel = Kernel {
        name: "random".to_owned(),
        params: vec!["N".to_owned()],
        scalars: vec![
            ScalarDecl { name: "alpha".to_owned(), ty: ScalarType::F64 },
            ScalarDecl { name: "beta".to_owned(), ty: ScalarType::F32 },
        ],
        arrays: vec![
            array("A", ScalarType::F64, wide(), Role::In),
            array("B", ScalarType::I32, eight(), Role::In),
            array("X", ScalarType::F64, wide(), Role::InOut),
            array("Y", ScalarType::I32, eight(), Role::InOut),
            array("F", ScalarType::F32, vec![add(N, 3)], Role::Out),
            array("S", ScalarType::F64, wide(), Role::Local),
            array("P", ScalarType::F64, Vec::new(), Role::Local),
            array("Q", ScalarType::I32, eight(), Role::Local),
        ],
        vars: Vec::new(),
        locals: vec![
            LocalDecl { name: "t".to_owned(), ty: ScalarType::F64 },
            LocalDecl { name: "u".to_owned(), ty: ScalarType::I32 },
            LocalDecl { name: "v".to_owned(), ty: ScalarType::F64 },
            LocalDecl { name: "w".to_owned(), ty: ScalarType::I32 },
        ],
        body: Vec::new(),
    };
    let mut generator = Generator { bytes, kernel, in_scope: Vec::new(), set: Vec::new(), concurrent: Vec::new() };
    let count = 1 + generator.pick(4);
    generator.kernel.body = generator.block(count, 4);
    generator.kernel
}

struct Generator<'a> {
    bytes: &'a [u8],
    kernel: Kernel,
    in_scope: Vec<VarId>,
    /// Locals that are surely set.
    set: Vec<LocalId>,
    /// The parallel and vector loops around. They are at most one deep, so that every store in them can name their
    /// variable.
    concurrent: Vec<VarId>,
}

fn add(a: Index, constant: i64) -> Index {
    Index::Add(Box::new(a), Box::new(Index::Const(constant)))
}

fn expr(kind: ExprKind, ty: ScalarType) -> Expr {
    Expr { kind, ty }
}

impl Generator<'_> {
    /// A number below `choices`; 0 is the simplest choice.
    fn pick(&mut self, choices: usize) -> usize {
        match self.bytes.split_first() {
            None => 0,
            Some((first, rest)) => {
                self.bytes = rest;
                usize::from(*first) % choices
            }
        }
    }

    fn of<T: Clone>(&mut self, choices: &[T]) -> T {
        choices[self.pick(choices.len())].clone()
    }

    fn block(&mut self, count: usize, depth: usize) -> Vec<Stmt> {
        (0..count).flat_map(|_| self.stmts(depth)).collect()
    }

    /// One or more statements that belong together.
    fn stmts(&mut self, depth: usize) -> Vec<Stmt> {
        match self.pick(if depth == 0 { 4 } else { 10 }) {
            0 if self.pick(4) == 3 => vec![self.scatter()],
            0 | 1 => vec![self.store()],
            2 => {
                let value = self.float(3);
                let local = [T, V][self.concurrent.len()];
                self.set.push(local);
                vec![Stmt::Set { local, value }]
            }
            3 => {
                let value = self.int(3);
                let local = [U, W][self.concurrent.len()];
                self.set.push(local);
                vec![Stmt::Set { local, value }]
            }
            4 | 5 => vec![self.for_loop(depth, false, |g, depth| {
                let count = 1 + g.pick(3);
                g.block(count, depth)
            })],
            6 => {
                let cond = self.cond(2);
                let before = self.set.clone();
                let count = self.pick(3);
                let then = self.block(count, depth - 1);
                self.set.clone_from(&before);
                let count = self.pick(2);
                let otherwise = self.block(count, depth - 1);
                self.set = before;
                vec![Stmt::If { cond, then, otherwise }]
            }
            _ => self.reduction(depth),
        }
    }

    /// Perhaps an initial store, a loop that updates the same cell, and perhaps a use of it.
    fn reduction(&mut self, depth: usize) -> Vec<Stmt> {
        let array = if self.concurrent.is_empty() { self.of(&[X, S, P]) } else { self.of(&[X, S]) };
        let cell = self.target(array);
        let cell = || cell.clone();
        let store = |value| Stmt::Store { array, index: cell(), value };
        let load = || expr(ExprKind::Load { array, index: cell() }, ScalarType::F64);
        let mut stmts = Vec::new();
        if self.pick(4) != 3 {
            let value = self.float(1);
            stmts.push(store(value));
        }
        let loops = 1 + self.pick(2);
        let update = self.nest(loops.min(depth), depth, &|g| {
            let term = g.float(2);
            let op = g.of(&[BinaryOp::Add, BinaryOp::Mul, BinaryOp::Max]);
            let update = match g.pick(2) {
                0 => Stmt::Update { target: Target::Cell { array, index: cell() }, op, value: term },
                _ => store(expr(ExprKind::Binary(op, Box::new(load()), Box::new(term)), ScalarType::F64)),
            };
            if g.pick(4) == 1 {
                return vec![Stmt::If { cond: g.cond(1), then: vec![update], otherwise: Vec::new() }];
            }
            if g.pick(4) == 1 { vec![g.store(), update] } else { vec![update] }
        });
        stmts.extend(update);
        match self.pick(3) {
            0 => {}
            1 => stmts.push(store(expr(ExprKind::Unary(UnaryOp::Neg, Box::new(load())), ScalarType::F64))),
            _ => {
                let index = self.target(X);
                stmts.push(Stmt::Store { array: X, index, value: load() });
            }
        }
        stmts
    }

    fn nest(&mut self, loops: usize, depth: usize, body: &dyn Fn(&mut Self) -> Vec<Stmt>) -> Vec<Stmt> {
        if loops == 0 {
            return body(self);
        }
        vec![self.for_loop(depth, true, |g, depth| g.nest(loops - 1, depth, body))]
    }

    /// `ordered` loops are those of reductions, which may update one cell in all iterations.
    fn for_loop(&mut self, depth: usize, ordered: bool, body: impl FnOnce(&mut Self, usize) -> Vec<Stmt>) -> Stmt {
        let (lo, hi, step) = self.range();
        let kinds = [LoopKind::Serial, LoopKind::Serial, LoopKind::Unrolled, LoopKind::parallel(), LoopKind::Vector(4)];
        let kind = self.of(if ordered || !self.concurrent.is_empty() { &kinds[..3] } else { &kinds });
        let var = VarId(self.kernel.vars.len() as u32);
        self.kernel.vars.push(format!("c{}", var.0));
        let before = self.set.clone();
        let concurrent = !kind.is_ordered();
        if concurrent {
            self.concurrent.push(var);
        }
        self.in_scope.push(var);
        let body = body(self, depth - 1);
        self.in_scope.pop();
        if concurrent {
            self.concurrent.pop();
        }
        self.set = before;
        let mut found = For { var, kind, lo, hi, step, body };
        if found.kind.is_vector() && !runs_in_lockstep(&found) {
            found.kind = LoopKind::parallel();
        }
        Stmt::For(found)
    }

    /// All values lie between 0 and the larger of `N` and 2.
    fn range(&mut self) -> (Index, Index, i64) {
        let zero = Index::Const(0);
        match self.pick(8) {
            0 | 1 => (zero, N, 1),
            2 => (zero, Index::Const(2), 1),
            3 => (Index::Const(1), Index::Const(3), 1),
            4 => (zero, Index::Const(4), 2),
            5 => (N, add(N, 1), 1),
            6 => match self.in_scope.last() {
                Some(var) => (Index::Var(*var), N, 1),
                None => (zero, Index::Const(1), 1),
            },
            _ => match self.in_scope.last() {
                Some(var) => (Index::Var(*var), Index::Min(Box::new(add(Index::Var(*var), 2)), Box::new(N)), 1),
                None => (zero, N, 2),
            },
        }
    }

    /// Between 0 and the larger of `N` and 2, written in a more or less roundabout way.
    fn point(&mut self) -> Index {
        let base = match self.pick(3) {
            0 | 1 if !self.in_scope.is_empty() => {
                let vars = self.in_scope.clone();
                Index::Var(self.of(&vars))
            }
            _ => Index::Const(self.pick(3) as i64),
        };
        let boxed = || Box::new(base.clone());
        match self.pick(13) {
            0..=5 => base.clone(),
            6 => Index::Sub(Box::new(add(base.clone(), 3)), Box::new(Index::Const(3))),
            7 => Index::Sub(Box::new(Index::Mul(boxed(), 2)), boxed()),
            8 => Index::FloorDiv(Box::new(add(Index::Mul(boxed(), 4), 2)), 4),
            9 => Index::Mod(boxed(), 3),
            10 => Index::Max(Box::new(Index::Min(boxed(), Box::new(Index::Const(2)))), Box::new(Index::Const(-1))),
            11 => Index::Xor(Box::new(Index::Mod(boxed(), 2)), Box::new(Index::Const(1))),
            _ => Index::Select(Box::new(self.cond(1)), boxed(), Box::new(Index::FloorDiv(boxed(), 2))),
        }
    }

    fn cell(&mut self, array: ArrayId) -> Vec<Index> {
        match array {
            A | X | S => vec![self.point(), self.point()],
            P => Vec::new(),
            _ => vec![self.point()],
        }
    }

    /// A cell to write: iterations that run at once do not write the same one.
    fn target(&mut self, array: ArrayId) -> Vec<Index> {
        let mut cell = self.cell(array);
        if let (Some(first), Some(var)) = (cell.first_mut(), self.concurrent.last()) {
            *first = Index::Var(*var);
        }
        cell
    }

    fn store(&mut self) -> Stmt {
        let all = [X, S, Y, F, Q, P];
        let array = self.of(if self.concurrent.is_empty() { &all } else { &all[..5] });
        let value = match array {
            X | S | P => self.float(3),
            F => self.single(3),
            _ => self.int(3),
        };
        Stmt::Store { array, index: self.target(array), value }
    }

    fn scatter(&mut self) -> Stmt {
        let array = self.of(&[X, S, Y, Q]);
        let value = if matches!(array, X | S) { self.float(2) } else { self.int(2) };
        let op = self.of(&[BinaryOp::Add, BinaryOp::Mul, BinaryOp::Min, BinaryOp::Max]);
        let at = (self.pick(2) == 1).then(|| Span::new(self.pick(100), 100));
        let mut index = self.data_cell(array);
        if let (Some(first), Some(var)) = (index.first_mut(), self.concurrent.last()) {
            *first = expr(ExprKind::Index(Index::Var(*var)), ScalarType::I64);
        }
        Stmt::Scatter { array, index, op, value, at }
    }

    /// Subscripts that depend on data, all of them in bounds.
    fn data_cell(&mut self, array: ArrayId) -> Vec<Expr> {
        let rank = if matches!(array, A | X | S) { 2 } else { 1 };
        (0..rank).map(|_| self.data_subscript()).collect()
    }

    fn data_subscript(&mut self) -> Expr {
        let ty = ScalarType::I64;
        if self.pick(3) == 0 {
            return expr(ExprKind::Index(self.point()), ty);
        }
        let data = expr(ExprKind::Cast(Box::new(self.int(1))), ty);
        let three = Expr::constant(Value::I64(3));
        expr(ExprKind::Binary(BinaryOp::Rem, Box::new(data), Box::new(three)), ty)
    }

    fn gather(&mut self, arrays: &[ArrayId], ty: ScalarType) -> Expr {
        let array = self.of(arrays);
        let gather = expr(ExprKind::Gather { array, index: self.data_cell(array) }, ty);
        if self.pick(2) == 0 { gather } else { expr(ExprKind::At(Span::new(3, 7), Box::new(gather)), ty) }
    }

    fn cond(&mut self, depth: usize) -> Cond {
        match self.pick(if depth == 0 { 3 } else { 6 }) {
            0..=2 => {
                use CompareOp::*;
                let op = self.of(&[Lt, Le, Gt, Ge, Eq, Ne]);
                let left = if depth == 0 { Index::Const(1) } else { Index::Mul(Box::new(self.simple()), 2) };
                Cond::Compare(op, left, self.simple())
            }
            3 => Cond::Not(Box::new(self.cond(depth - 1))),
            choice => {
                let count = [0, 2, 3][self.pick(3)];
                let parts = (0..count).map(|_| self.cond(depth - 1)).collect();
                if choice == 4 { Cond::And(parts) } else { Cond::Or(parts) }
            }
        }
    }

    fn simple(&mut self) -> Index {
        let mut choices = vec![N, Index::Const(2), Index::Const(-1)];
        choices.extend(self.in_scope.iter().map(|var| Index::Var(*var)));
        self.of(&choices)
    }

    fn load(&mut self, arrays: &[ArrayId], ty: ScalarType) -> Expr {
        let array = self.of(arrays);
        Expr::load(array, self.cell(array), ty)
    }

    fn float(&mut self, depth: usize) -> Expr {
        let ty = ScalarType::F64;
        let kind = match self.pick(if depth == 0 { 5 } else { 10 }) {
            0 => ExprKind::Const(Value::F64([0.0, 1.5, -0.0, -2.0, f64::INFINITY, 1e300, f64::NAN][self.pick(7)])),
            1 if depth > 0 && self.pick(4) == 3 => return self.gather(&[A, X, S], ty),
            1 | 2 => return self.load(&[A, X, S, P], ty),
            3 => ExprKind::Scalar(ScalarId(0)),
            4 if self.set.contains(&V) => ExprKind::Local(V),
            4 if self.set.contains(&T) => ExprKind::Local(T),
            4 => ExprKind::Cast(Box::new(expr(ExprKind::Index(self.point()), ScalarType::I64))),
            5 => {
                let op = self.of(&[
                    UnaryOp::Neg,
                    UnaryOp::ABS,
                    UnaryOp::Function(Unary::Sqrt),
                    UnaryOp::Function(Unary::Floor),
                    UnaryOp::Function(Unary::Exp),
                ]);
                ExprKind::Unary(op, Box::new(self.float(depth - 1)))
            }
            6 => ExprKind::Select(
                Box::new(self.bool(depth - 1)),
                Box::new(self.float(depth - 1)),
                Box::new(self.float(depth - 1)),
            ),
            7 => ExprKind::Cast(Box::new(if self.pick(2) == 0 { self.int(depth - 1) } else { self.single(depth - 1) })),
            _ => {
                use BinaryOp::*;
                let op = self.of(&[Add, Sub, Mul, Div, Min, Max]);
                ExprKind::Binary(op, Box::new(self.float(depth - 1)), Box::new(self.float(depth - 1)))
            }
        };
        expr(kind, ty)
    }

    fn single(&mut self, depth: usize) -> Expr {
        let ty = ScalarType::F32;
        let kind = match self.pick(if depth == 0 { 3 } else { 5 }) {
            0 => ExprKind::Const(Value::F32([0.5, -1e-9, f32::NEG_INFINITY][self.pick(3)])),
            1 => ExprKind::Scalar(ScalarId(1)),
            2 => return self.load(&[F], ty),
            3 => ExprKind::Cast(Box::new(self.float(depth - 1))),
            _ => {
                let op = self.of(&[BinaryOp::Add, BinaryOp::Mul, BinaryOp::Function(Binary::Pow)]);
                ExprKind::Binary(op, Box::new(self.single(depth - 1)), Box::new(self.single(depth - 1)))
            }
        };
        expr(kind, ty)
    }

    fn int(&mut self, depth: usize) -> Expr {
        let ty = ScalarType::I32;
        let kind = match self.pick(if depth == 0 { 4 } else { 7 }) {
            0 => ExprKind::Const(Value::I32([1, -3, i32::MIN, 0][self.pick(4)])),
            1 if depth > 0 && self.pick(4) == 3 => return self.gather(&[B, Y, Q], ty),
            1 => return self.load(&[B, Y, Q], ty),
            2 if self.set.contains(&W) => ExprKind::Local(W),
            2 if self.set.contains(&U) => ExprKind::Local(U),
            2 | 3 => ExprKind::Cast(Box::new(expr(ExprKind::Index(self.point()), ScalarType::I64))),
            4 => ExprKind::Cast(Box::new(self.float(depth - 1))),
            _ => {
                use BinaryOp::*;
                let op = self.of(&[Add, Sub, Mul, Min, Max, Div, Rem]);
                ExprKind::Binary(op, Box::new(self.int(depth - 1)), Box::new(self.int(depth - 1)))
            }
        };
        expr(kind, ty)
    }

    fn bool(&mut self, depth: usize) -> Expr {
        let kind = match self.pick(if depth == 0 { 2 } else { 5 }) {
            0 => ExprKind::Cond(self.cond(depth)),
            1 => ExprKind::Const(Value::Bool(self.pick(2) == 0)),
            2 => {
                let op = self.of(&[BinaryOp::Lt, BinaryOp::Ge, BinaryOp::Ne]);
                ExprKind::Binary(op, Box::new(self.float(depth - 1)), Box::new(self.float(depth - 1)))
            }
            3 => ExprKind::Unary(UnaryOp::Not, Box::new(self.bool(depth - 1))),
            _ => {
                let op = self.of(&[BinaryOp::And, BinaryOp::Or, BinaryOp::Eq]);
                ExprKind::Binary(op, Box::new(self.bool(depth - 1)), Box::new(self.bool(depth - 1)))
            }
        };
        expr(kind, ScalarType::Bool)
    }
}
