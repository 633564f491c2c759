//! The verifier: is this program something an emitter may take?
//!
//! In: any program.  Out: the same as [`Verified`], or what is wrong with it.
//! Not here: that addresses are valid, which only the maker of the program can know.

use std::ops::Deref;

use program::ScalarType;

use super::ir::{
    Access, Address, BinaryOp, Carried, Loop, Op, Program, Stmt, Type, UnaryOp, ValueId, WordOp, has_checks, is_element,
};

/// A program that passed [`verify`]; emitters and evaluator accept nothing else.
#[derive(Clone, Debug)]
pub struct Verified(Program);

impl Deref for Verified {
    type Target = Program;

    fn deref(&self) -> &Program {
        &self.0
    }
}

/// Checks that
/// - lanes are a power of two within the limit, slots are in range, scales are those of an addressing mode;
/// - every value is defined once, before its uses, and used only where its definition has surely run;
/// - operators have operands of the types that they take.
pub fn verify(program: Program) -> diag::Result<Verified> {
    let mut verifier = Verifier { program: &program, defined: vec![false; program.types.len()], constants: Vec::new() };
    match verifier.program() {
        Ok(()) => Ok(Verified(program)),
        Err(what) => Err(diag::Error::bug("lanes", format!("{}: {what}", program.name))),
    }
}

struct Verifier<'a> {
    program: &'a Program,
    defined: Vec<bool>,
    /// Words that are constants.
    constants: Vec<(ValueId, i64)>,
}

type Check<T = ()> = Result<T, String>;

fn ensure(holds: bool, what: impl FnOnce() -> String) -> Check {
    if holds { Ok(()) } else { Err(what()) }
}

impl Verifier<'_> {
    fn program(&mut self) -> Check {
        let Program { lanes, slots, types, body, .. } = self.program;
        ensure(lanes.is_power_of_two() && *lanes <= Program::MAX_LANES, || {
            format!("{lanes} lanes: the number must be a power of two and at most {}", Program::MAX_LANES)
        })?;
        ensure(*slots <= 1 << 16, || format!("{slots} argument slots"))?;
        ensure(!has_checks(body) || *slots > 0, || "a program with checks needs a slot for the report".to_owned())?;
        let strange = types.iter().find(|ty| matches!(ty, Type::Lanes(ty) if !is_element(*ty)));
        ensure(strange.is_none(), || format!("lanes hold no {}", strange.map_or(String::new(), Type::to_string)))?;
        self.stmts(body)
    }

    fn stmts(&mut self, body: &[Stmt]) -> Check {
        body.iter().try_for_each(|stmt| self.stmt(stmt))
    }

    fn stmt(&mut self, stmt: &Stmt) -> Check {
        match stmt {
            Stmt::Let(id, op) => {
                self.op(*id, op).map_err(|what| format!("{id}: {what}"))?;
                if let Op::Const(value) = op {
                    self.constants.push((*id, *value));
                }
                self.define(*id)
            }
            Stmt::Store { value, at, access, mask } => {
                self.lanes(*value)?;
                ensure(*access != Access::Streamed || mask.is_none(), || "a masked store past the caches".into())?;
                self.place(at, *access, *mask)
            }
            Stmt::Scatter { value, base, index, mask } => {
                self.lanes(*value)?;
                self.indexed(*base, *index, *mask)
            }
            Stmt::Fetch(at) => self.place(at, Access::Unit, None),
            Stmt::Check { index, extent, mask, site } => {
                ensure(*site > 0 && i32::try_from(*site).is_ok(), || format!("site {site}"))?;
                self.indexed(*extent, *index, *mask)
            }
            Stmt::Loop(r#loop) => self.r#loop(r#loop),
        }
    }

    fn r#loop(&mut self, r#loop: &Loop) -> Check {
        self.expect(r#loop.trips, Type::Word)?;
        for Carried { init, param, .. } in &r#loop.carried {
            let ty = self.type_of(*param)?;
            self.expect(*init, ty)?;
        }
        let outside = self.defined.clone();
        for carried in &r#loop.carried {
            self.define(carried.param)?;
        }
        self.stmts(&r#loop.body)?;
        for Carried { param, next, .. } in &r#loop.carried {
            let ty = self.type_of(*param)?;
            self.expect(*next, ty)?;
        }
        // What the body defines is gone after the loop, which may not have run; but no id is defined twice.
        let inside = std::mem::replace(&mut self.defined, outside);
        for carried in &r#loop.carried {
            let ty = self.type_of(carried.param)?;
            ensure(self.type_of(carried.result)? == ty, || format!("{} is not {ty}", carried.result))?;
            ensure(!inside[carried.result.index()], || format!("{} is defined twice", carried.result))?;
            self.define(carried.result)?;
        }
        Ok(())
    }

    fn define(&mut self, id: ValueId) -> Check {
        self.type_of(id)?;
        let before = std::mem::replace(&mut self.defined[id.index()], true);
        ensure(!before, || format!("{id} is defined twice"))
    }

    fn type_of(&self, id: ValueId) -> Check<Type> {
        self.program.types.get(id.index()).copied().ok_or_else(|| format!("{id} does not exist"))
    }

    fn used(&self, id: ValueId) -> Check<Type> {
        let ty = self.type_of(id)?;
        ensure(self.defined[id.index()], || format!("{id} is used where it is not defined"))?;
        Ok(ty)
    }

    fn expect(&self, id: ValueId, expected: Type) -> Check {
        let ty = self.used(id)?;
        ensure(ty == expected, || format!("{id} is {ty}, not {expected}"))
    }

    fn lanes(&self, id: ValueId) -> Check<ScalarType> {
        match self.used(id)? {
            Type::Lanes(ty) => Ok(ty),
            ty => Err(format!("{id} is {ty}, not lanes")),
        }
    }

    fn mask(&self, mask: Option<ValueId>) -> Check {
        mask.map_or(Ok(()), |mask| self.expect(mask, Type::Mask))
    }

    fn place(&self, at: &Address, access: Access, mask: Option<ValueId>) -> Check {
        at.operands().chain(access.operand()).try_for_each(|word| self.expect(word, Type::Word))?;
        let scale = at.index.map_or(1, |(_, scale)| scale);
        ensure(matches!(scale, 1 | 2 | 4 | 8), || format!("scale {scale}"))?;
        self.mask(mask)
    }

    fn indexed(&self, word: ValueId, index: ValueId, mask: Option<ValueId>) -> Check {
        self.expect(word, Type::Word)?;
        self.expect(index, Type::Lanes(ScalarType::I64))?;
        self.mask(mask)
    }

    fn op(&self, id: ValueId, op: &Op) -> Check {
        let ty = self.type_of(id)?;
        let is = |expected: Type| ensure(ty == expected, || format!("the result is {expected}, not {ty}"));
        let element = match ty {
            Type::Lanes(ty) => Ok(ty),
            _ => Err(format!("the result is lanes, not {ty}")),
        };
        match op {
            Op::Arg(slot) => {
                is(Type::Word)?;
                ensure(*slot < self.program.slots, || format!("there is no slot {slot}"))
            }
            Op::Const(_) => is(Type::Word),
            Op::Word(op, a, b) => {
                is(Type::Word)?;
                self.expect(*a, Type::Word)?;
                self.expect(*b, Type::Word)?;
                let bits = self.constants.iter().find(|(known, _)| known == b).map(|(_, value)| *value);
                let shifts = matches!(op, WordOp::Shl | WordOp::Shr);
                ensure(!shifts || bits.is_some_and(|bits| (0..64).contains(&bits)), || "no constant to shift by".into())
            }
            Op::Splat(value) => is(Type::Lanes(value.ty())),
            Op::Scalar(slot) => {
                element?;
                ensure(*slot < self.program.slots, || format!("there is no slot {slot}"))
            }
            Op::FromWord(word) => {
                self.expect(*word, Type::Word)?;
                ensure(element?.is_int(), || "only integers are made of words".to_owned())
            }
            Op::Iota => ensure(element?.is_int(), || "only integers are numbers of lanes".to_owned()),
            Op::Load { at, access, mask } => {
                element?;
                self.place(at, *access, *mask)
            }
            Op::Gather { base, index, mask } => {
                element?;
                self.indexed(*base, *index, *mask)
            }
            Op::Unary(op, a) => {
                self.expect(*a, ty)?;
                ensure(unary_takes(*op, ty), || format!("{} of {ty}", op.name()))
            }
            Op::Binary(op, a, b) => {
                self.expect(*a, ty)?;
                self.expect(*b, ty)?;
                ensure(binary_takes(*op, ty), || format!("{} of {ty}", op.name()))
            }
            Op::Shift(_, a, bits) => {
                self.expect(*a, ty)?;
                let width = match element? {
                    ScalarType::I32 => 32,
                    ScalarType::I64 => 64,
                    ty => return Err(format!("a shift of {ty}")),
                };
                ensure(*bits < width, || format!("a shift by {bits} bits"))
            }
            Op::Fma(a, b, c) => {
                ensure(element?.is_float(), || format!("fma of {ty}"))?;
                [a, b, c].into_iter().try_for_each(|part| self.expect(*part, ty))
            }
            Op::Convert(a) => {
                element?;
                self.lanes(*a).map(drop)
            }
            Op::Bitcast(a) => {
                let from = self.lanes(*a)?;
                ensure(from.bytes() == element?.bytes(), || format!("{from} has another size than {ty}"))
            }
            Op::Select(mask, a, b) => {
                element?;
                self.expect(*mask, Type::Mask)?;
                self.expect(*a, ty)?;
                self.expect(*b, ty)
            }
            Op::Slide(a, b, by) => {
                ensure(matches!(element?.bytes(), 4 | 8), || format!("a slide of {ty}"))?;
                ensure((1..self.program.lanes).contains(by), || format!("a slide by {by} lanes"))?;
                self.expect(*a, ty)?;
                self.expect(*b, ty)
            }
            Op::Reduce(op, a) => {
                self.expect(*a, ty)?;
                use BinaryOp::*;
                let reducible = match ty {
                    Type::Mask => matches!(op, And | Or),
                    _ => matches!(op, Add | Mul | Min | Max | And | Or | Xor | Least | Most),
                };
                ensure(reducible && binary_takes(*op, ty), || format!("reduce.{} of {ty}", op.name()))
            }
            Op::Prefix(count) => {
                is(Type::Mask)?;
                self.expect(*count, Type::Word)
            }
            Op::Compare(_, a, b) => {
                is(Type::Mask)?;
                let ty = self.lanes(*a)?;
                self.expect(*b, Type::Lanes(ty))
            }
        }
    }
}

fn unary_takes(op: UnaryOp, ty: Type) -> bool {
    match (op, ty) {
        (UnaryOp::Not, Type::Mask) => true,
        (UnaryOp::Not, Type::Lanes(ty)) => ty.is_int(),
        (UnaryOp::Neg | UnaryOp::Abs, Type::Lanes(_)) => true,
        (_, Type::Lanes(ty)) => ty.is_float(),
        _ => false,
    }
}

fn binary_takes(op: BinaryOp, ty: Type) -> bool {
    let bitwise = matches!(op, BinaryOp::And | BinaryOp::Or | BinaryOp::Xor);
    match ty {
        Type::Word => false,
        Type::Mask => bitwise,
        Type::Lanes(ty) if ty.is_float() => !bitwise,
        Type::Lanes(_) => !matches!(op, BinaryOp::Div | BinaryOp::Least | BinaryOp::Most),
    }
}
