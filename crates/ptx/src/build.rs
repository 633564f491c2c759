//! Writing kernels: instructions one after the other, each with a fresh register for its result.
//!
//! In: calls.  Out: a [`Kernel`]. Nothing is checked here (`verify`); wrong types show there with the instruction.

use crate::ir::{
    Address, AtomicOp, Base, BinaryOp, Cache, Compare, Float, Guard, Instruction, Kernel, Label, Op, Operand, Param,
    ParamId, Reg, Register, Rounding, ShuffleMode, SourcePlace, Space, Statement, TernaryOp, Type, UnaryOp, Variable,
    VariableId,
};

/// A kernel while it is written.
#[derive(Debug, Default)]
pub struct Builder {
    kernel: Kernel,
    guard: Option<Guard>,
    source: Option<SourcePlace>,
    /// How many registers of each stem exist.
    counts: std::collections::BTreeMap<&'static str, u32>,
}

impl Builder {
    pub fn new(name: impl Into<String>) -> Builder {
        Builder { kernel: Kernel { name: name.into(), ..Kernel::default() }, ..Builder::default() }
    }

    pub fn finish(self) -> Kernel {
        self.kernel
    }

    // ---- Declarations -----------------------------------------------------------------------------------

    pub fn max_threads(&mut self, threads: [u32; 3]) {
        self.kernel.max_threads = Some(threads);
    }

    pub fn min_blocks(&mut self, blocks: u32) {
        self.kernel.min_blocks = Some(blocks);
    }

    pub fn param(&mut self, name: impl Into<String>, ty: Type) -> ParamId {
        self.kernel.params.push(Param::scalar(name, ty));
        ParamId(self.kernel.params.len() as u32 - 1)
    }

    pub fn shared(&mut self, name: impl Into<String>, align: u32, bytes: u64) -> VariableId {
        self.kernel.variables.push(Variable { name: name.into(), space: Space::Shared, align, bytes: Some(bytes) });
        VariableId(self.kernel.variables.len() as u32 - 1)
    }

    /// A register; its name says its type, as in the output of other compilers.
    pub fn reg(&mut self, ty: Type) -> Reg {
        let stem = match ty {
            Type::Pred => "%p",
            Type::F32 => "%f",
            Type::F64 => "%fd",
            Type::F16 => "%h",
            _ => match ty.bits() {
                64 => "%rd",
                32 => "%r",
                16 => "%rs",
                _ => "%rc",
            },
        };
        // Integers of one width share registers, whatever their sign.
        let ty = match ty {
            Type::U64 | Type::S64 => Type::B64,
            Type::U32 | Type::S32 => Type::B32,
            Type::U16 | Type::S16 => Type::B16,
            Type::U8 | Type::S8 => Type::B8,
            other => other,
        };
        let count = self.counts.entry(stem).or_default();
        self.kernel.registers.push(Register { name: format!("{stem}{count}"), ty });
        *count += 1;
        Reg(self.kernel.registers.len() as u32 - 1)
    }

    pub fn label(&mut self, name: &str) -> Label {
        let label = Label(self.kernel.labels.len() as u32);
        self.kernel.labels.push(format!("$L{}_{name}", label.0));
        label
    }

    pub fn place(&mut self, label: Label) {
        self.kernel.body.push(Statement::Label(label));
    }

    /// Where in the user's source what follows comes from.
    pub fn source(&mut self, source: Option<SourcePlace>) {
        self.source = source;
    }

    // ---- Instructions -----------------------------------------------------------------------------------

    pub fn push(&mut self, op: Op) {
        let instruction = Instruction { guard: self.guard, op, line: 0, source: self.source };
        self.kernel.body.push(Statement::Instruction(instruction));
    }

    /// What `body` writes is run only where the predicate holds (or, `negated`, does not).
    pub fn guarded<T>(&mut self, predicate: Reg, negated: bool, body: impl FnOnce(&mut Builder) -> T) -> T {
        let outer = self.guard.replace(Guard { predicate, negated });
        let result = body(self);
        self.guard = outer;
        result
    }

    pub fn load_param(&mut self, param: ParamId) -> Reg {
        let ty = self.kernel.params.get(param.index()).map_or(Type::B64, |param| param.ty);
        let dst = self.reg(ty);
        let from = Address { base: Base::Param(param), offset: 0 };
        self.push(Op::Load { space: Space::Param, cache: Cache::Default, ty, dst: vec![dst], from });
        dst
    }

    /// A pointer parameter as an address of global memory.
    pub fn load_pointer(&mut self, param: ParamId) -> Reg {
        let generic = self.load_param(param);
        let dst = self.reg(Type::U64);
        self.push(Op::Address { space: Space::Global, to_space: true, dst, src: generic.into() });
        dst
    }

    pub fn load(&mut self, space: Space, cache: Cache, ty: Type, from: impl Into<Address>) -> Reg {
        let dst = self.reg(if ty.bits() == 8 { Type::B16 } else { ty });
        self.push(Op::Load { space, cache, ty, dst: vec![dst], from: from.into() });
        dst
    }

    pub fn load_vector(
        &mut self,
        space: Space,
        cache: Cache,
        ty: Type,
        count: usize,
        from: impl Into<Address>,
    ) -> Vec<Reg> {
        let dst: Vec<Reg> = (0..count).map(|_| self.reg(ty)).collect();
        self.push(Op::Load { space, cache, ty, dst: dst.clone(), from: from.into() });
        dst
    }

    pub fn store(&mut self, space: Space, ty: Type, to: impl Into<Address>, src: &[Reg]) {
        let src = src.iter().copied().map(Operand::Reg).collect();
        self.push(Op::Store { space, ty, to: to.into(), src });
    }

    pub fn mov(&mut self, ty: Type, src: impl Into<Operand>) -> Reg {
        let dst = self.reg(ty);
        self.set(ty, dst, src);
        dst
    }

    /// Assigns a register that exists.
    pub fn set(&mut self, ty: Type, dst: Reg, src: impl Into<Operand>) {
        self.push(Op::Move { ty, dst, src: src.into() });
    }

    pub fn unary(&mut self, op: UnaryOp, ty: Type, a: impl Into<Operand>) -> Reg {
        let counted = matches!(op, UnaryOp::Popc | UnaryOp::Clz);
        let dst = self.reg(if counted { Type::U32 } else { ty });
        let exact = matches!(op, UnaryOp::Neg | UnaryOp::Abs) || !ty.is_float();
        let float = if exact { Float::EXACT } else { Float::NEAREST };
        self.push(Op::Unary { op, ty, float, dst, a: a.into() });
        dst
    }

    pub fn binary(&mut self, op: BinaryOp, ty: Type, a: impl Into<Operand>, b: impl Into<Operand>) -> Reg {
        let dst = self.reg(if op == BinaryOp::MulWide { ty.widened().unwrap_or(ty) } else { ty });
        self.binary_into(op, ty, dst, a, b);
        dst
    }

    pub fn binary_into(&mut self, op: BinaryOp, ty: Type, dst: Reg, a: impl Into<Operand>, b: impl Into<Operand>) {
        let rounds = matches!(op, BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Div) && ty.is_float();
        let float = if rounds { Float::NEAREST } else { Float::EXACT };
        self.push(Op::Binary { op, ty, float, dst, a: a.into(), b: b.into() });
    }

    pub fn add(&mut self, ty: Type, a: impl Into<Operand>, b: impl Into<Operand>) -> Reg {
        self.binary(BinaryOp::Add, ty, a, b)
    }

    /// `dst = a * b + c` in one rounding.
    pub fn fma_into(
        &mut self,
        ty: Type,
        dst: Reg,
        a: impl Into<Operand>,
        b: impl Into<Operand>,
        c: impl Into<Operand>,
    ) {
        let (a, b, c) = (a.into(), b.into(), c.into());
        self.push(Op::Ternary { op: TernaryOp::Fma, ty, float: Float::NEAREST, dst, a, b, c });
    }

    /// `mad.lo` or `mad.wide` of integers.
    pub fn mad(
        &mut self,
        op: TernaryOp,
        ty: Type,
        a: impl Into<Operand>,
        b: impl Into<Operand>,
        c: impl Into<Operand>,
    ) -> Reg {
        let dst = self.reg(if op == TernaryOp::MadWide { ty.widened().unwrap_or(ty) } else { ty });
        self.push(Op::Ternary { op, ty, float: Float::EXACT, dst, a: a.into(), b: b.into(), c: c.into() });
        dst
    }

    /// A conversion, to the nearest where it rounds to a float and towards zero where it rounds to an integer.
    pub fn convert(&mut self, to: Type, from: Type, src: impl Into<Operand>) -> Reg {
        let dst = self.reg(if to.bits() == 8 { Type::B16 } else { to });
        let float = match (to.is_float(), from.is_float()) {
            (true, false) => Float::NEAREST,
            (true, true) if to.bits() < from.bits() => Float::NEAREST,
            (false, true) => Float::rounded(Rounding::IntZero),
            _ => Float::EXACT,
        };
        self.push(Op::Convert { to, from, float, dst, src: src.into() });
        dst
    }

    pub fn compare(&mut self, compare: Compare, ty: Type, a: impl Into<Operand>, b: impl Into<Operand>) -> Reg {
        let dst = self.reg(Type::Pred);
        let (a, b) = (a.into(), b.into());
        self.push(Op::Compare { compare, ty, ftz: false, dst, inverse: None, a, b, combine: None });
        dst
    }

    pub fn select(&mut self, ty: Type, condition: Reg, a: impl Into<Operand>, b: impl Into<Operand>) -> Reg {
        let dst = self.reg(ty);
        self.push(Op::Select { ty, dst, a: a.into(), b: b.into(), condition });
        dst
    }

    pub fn branch(&mut self, target: Label) {
        self.push(Op::Branch { target, uniform: self.guard.is_none() });
    }

    pub fn branch_if(&mut self, predicate: Reg, negated: bool, target: Label) {
        self.guarded(predicate, negated, |builder| builder.push(Op::Branch { target, uniform: false }));
    }

    /// Where the predicate holds; `uniform`: all threads of a warp agree.
    pub fn branch_where(&mut self, predicate: Reg, uniform: bool, target: Label) {
        self.guarded(predicate, false, |builder| builder.push(Op::Branch { target, uniform }));
    }

    /// `for i in from..to by step`, with the test at the end: one branch for each round.
    pub fn counted_loop(
        &mut self,
        ty: Type,
        from: impl Into<Operand>,
        to: impl Into<Operand>,
        step: i64,
        body: impl FnOnce(&mut Builder, Reg),
    ) {
        let to = to.into();
        let (head, done) = (self.label("loop"), self.label("done"));
        let index = self.mov(ty, from);
        let empty = self.compare(Compare::Ge, ty, index, to);
        self.branch_if(empty, false, done);
        self.place(head);
        body(self, index);
        self.binary_into(BinaryOp::Add, ty, index, index, step);
        let more = self.compare(Compare::Lt, ty, index, to);
        self.branch_if(more, false, head);
        self.place(done);
    }

    pub fn barrier(&mut self) {
        self.push(Op::Barrier);
    }

    pub fn ret(&mut self) {
        self.push(Op::Return);
    }

    /// The value of the lane whose number differs in the bits of `lane` (butterfly) or is that much higher (down).
    pub fn shuffle(&mut self, mode: ShuffleMode, src: Reg, lane: impl Into<Operand>) -> Reg {
        let dst = self.reg(Type::B32);
        let clamp = Operand::Int(if mode == ShuffleMode::Up { 0 } else { 31 });
        let (src, lane, mask) = (src.into(), lane.into(), Operand::Int(0xffff_ffff));
        self.push(Op::Shuffle { mode, dst, valid: None, src, lane, clamp, mask });
        dst
    }

    pub fn atomic_add(&mut self, space: Space, ty: Type, at: impl Into<Address>, value: impl Into<Operand>) {
        let (at, b) = (at.into(), value.into());
        self.push(Op::Atomic { space, op: AtomicOp::Add, ty, dst: None, at, b, c: None });
    }
}
