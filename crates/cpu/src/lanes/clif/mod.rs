//! Lane programs through Cranelift, in 128-bit pieces, on any host.
//!
//! In: a verified program.  Out: a Cranelift function with the signature of a leaf.
//!
//! Every piece is a whole vector of its type, of which the first lanes of the group count. A mask is a vector of integers
//! as wide as the widest element of the program, all ones or zero. What Cranelift has no vector instruction for, and
//! every masked access, goes lane by lane.

mod convert;
mod masks;
mod memory;

use std::collections::BTreeSet;

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::immediates::{Ieee32, Ieee64};
use cranelift_codegen::ir::{
    Block, ConstantData, Function, InstBuilder, MemFlagsData, Type as ClifType, Value as ClifValue, types,
};
use cranelift_codegen::isa::TargetFrontendConfig;
use cranelift_codegen::packed_option::ReservedValue;
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use diag::deadline;
use program::{ScalarType, Value};

use super::facts::{Cut, Facts};
use super::ir::{BinaryOp, Loop, Op, Program, ShiftOp, Stmt, Type, UnaryOp, ValueId, WordOp};
use super::regions::Regions;
use super::verify::Verified;
use crate::compile::STAGE;
use crate::fma::multiply_add;

/// Fills `function`, whose signature is that of a leaf; `fused` says whether the host has multiply-adds, `regions` which array the address in
/// each slot is into.
pub(crate) fn emit(
    program: &Verified,
    config: TargetFrontendConfig,
    fused: bool,
    regions: &[Option<u32>],
    function: &mut Function,
) -> diag::Result<()> {
    let mut context = FunctionBuilderContext::new();
    let cut = Cut::of(program, 16);
    let facts = Facts::of(program, cut);
    let b = FunctionBuilder::new(function, &mut context);
    let places = vec![Vec::new(); program.types.len()];
    let only_read = Regions::of(&program.body, regions).only_read(&program.body);
    let arguments = ClifValue::reserved_value();
    let mut emitter = Emitter { program, cut, facts, fused, only_read, moving: Vec::new(), b, places, arguments };
    emitter.start()?;
    emitter.stmts(&program.body)?;
    emitter.leave(0);
    emitter.b.finalize(config);
    Ok(())
}

struct Emitter<'a> {
    program: &'a Program,
    cut: Cut,
    facts: Facts,
    fused: bool,
    /// The pointers into arrays that nobody stores to meanwhile.
    only_read: BTreeSet<ValueId>,
    /// What the innermost loop changes from turn to turn.
    moving: Vec<ValueId>,
    b: FunctionBuilder<'a>,
    /// The pieces of every value; one if it is uniform.
    places: Vec<Vec<ClifValue>>,
    /// The address of the arguments.
    arguments: ClifValue,
}

fn bug(what: impl Into<String>) -> diag::Error {
    diag::Error::bug("lanes", what.into())
}

impl Emitter<'_> {
    fn start(&mut self) -> diag::Result<()> {
        let block = self.b.create_block();
        self.b.append_block_params_for_function_params(block);
        self.enter(block);
        self.arguments = *self.b.block_params(block).first().ok_or_else(|| bug("no arguments"))?;
        Ok(())
    }

    fn leave(&mut self, status: i64) {
        let status = self.b.ins().iconst(types::I32, status);
        self.b.ins().return_(&[status]);
    }

    /// Continues in a block that gets no more predecessors.
    fn enter(&mut self, block: Block) {
        self.b.seal_block(block);
        self.b.switch_to_block(block);
    }

    fn stmts(&mut self, body: &[Stmt]) -> diag::Result<()> {
        body.iter().try_for_each(|stmt| self.stmt(stmt))
    }

    fn stmt(&mut self, stmt: &Stmt) -> diag::Result<()> {
        deadline::check(STAGE)?;
        match stmt {
            Stmt::Let(value, op) => {
                let pieces = self.op(*value, op)?;
                self.places[value.index()] = pieces;
                Ok(())
            }
            Stmt::Store { value, at, access, mask } => self.store(*value, at, *access, *mask),
            Stmt::Scatter { value, base, index, mask } => self.scatter(*value, *base, *index, *mask),
            // Cranelift has no instruction for it.
            Stmt::Fetch(_) => Ok(()),
            Stmt::Check { index, extent, mask, site } => self.check(*index, *extent, *mask, *site),
            Stmt::Loop(r#loop) => self.r#loop(r#loop),
        }
    }

    fn r#loop(&mut self, r#loop: &Loop) -> diag::Result<()> {
        let (body, exit) = (self.b.create_block(), self.b.create_block());
        let trips = self.word(r#loop.trips);
        let mut start = vec![trips];
        let count = self.b.append_block_param(body, types::I64);
        for carried in &r#loop.carried {
            let ty = self.clif_type(self.program.ty(carried.param));
            let pieces = self.count(carried.param);
            for position in 0..pieces {
                start.push(self.piece(carried.init, position));
            }
            self.places[carried.param.index()] = (0..pieces).map(|_| self.b.append_block_param(body, ty)).collect();
            self.places[carried.result.index()] = (0..pieces).map(|_| self.b.append_block_param(exit, ty)).collect();
        }
        let zero = self.b.ins().iconst(types::I64, 0);
        let runs = self.b.ins().icmp(IntCC::SignedGreaterThan, trips, zero);
        let start: Vec<_> = start.into_iter().map(Into::into).collect();
        self.b.ins().brif(runs, body, &start, exit, &start[1..]);
        self.b.switch_to_block(body);
        // What only looks like that Cranelift sees through.
        let moving = r#loop.carried.iter().filter(|carried| carried.next != carried.param);
        let outside = std::mem::replace(&mut self.moving, moving.map(|carried| carried.param).collect());
        self.stmts(&r#loop.body)?;
        self.moving = outside;
        let one = self.b.ins().iconst(types::I64, 1);
        let left = self.b.ins().isub(count, one);
        let mut next = vec![left];
        for carried in &r#loop.carried {
            next.extend((0..self.count(carried.param)).map(|position| self.piece(carried.next, position)));
        }
        let next: Vec<_> = next.into_iter().map(Into::into).collect();
        self.b.ins().brif(left, body, &next, exit, &next[1..]);
        self.b.seal_block(body);
        self.enter(exit);
        Ok(())
    }

    /// How many pieces a value has.
    fn count(&self, value: ValueId) -> usize {
        let single = self.program.ty(value) == Type::Word || self.facts.uniform[value.index()];
        if single { 1 } else { self.cut.pieces as usize }
    }

    fn piece(&self, value: ValueId, position: usize) -> ClifValue {
        let place = &self.places[value.index()];
        if place.len() == 1 { place[0] } else { place[position] }
    }

    fn word(&self, value: ValueId) -> ClifValue {
        self.piece(value, 0)
    }

    fn element(&self, value: ValueId) -> diag::Result<ScalarType> {
        match self.program.ty(value) {
            Type::Lanes(ty) => Ok(ty),
            ty => Err(bug(format!("{value} is {ty}, not lanes"))),
        }
    }

    fn clif_type(&self, ty: Type) -> ClifType {
        match ty {
            Type::Word => types::I64,
            Type::Lanes(ty) => vector(ty),
            Type::Mask => integers(self.cut.widest as usize),
        }
    }

    fn op(&mut self, value: ValueId, op: &Op) -> diag::Result<Vec<ClifValue>> {
        let pieces = 0..self.count(value);
        Ok(match *op {
            Op::Arg(slot) => vec![self.slot(types::I64, slot)?],
            Op::Const(constant) => vec![self.b.ins().iconst(types::I64, constant)],
            Op::Word(op, a, b) => vec![self.word_op(op, a, b)],
            Op::Splat(constant) => vec![self.splat(constant)],
            Op::Scalar(slot) => {
                let ty = self.element(value)?;
                let scalar = self.slot(scalar_type(ty), slot)?;
                vec![self.b.ins().splat(vector(ty), scalar)]
            }
            Op::FromWord(word) => {
                let (ty, word) = (self.element(value)?, self.word(word));
                let scalar = self.low(word, ty.bytes());
                vec![self.b.ins().splat(vector(ty), scalar)]
            }
            Op::Iota => {
                let ty = self.element(value)?;
                let group = self.cut.group as i64;
                pieces.map(|position| self.counting(ty, position as i64 * group)).collect()
            }
            Op::Load { at, access, mask } => self.load(value, &at, access, mask)?,
            Op::Gather { base, index, mask } => self.gather(value, base, index, mask)?,
            Op::Unary(op, a) => pieces.map(|position| self.unary(value, op, self.piece(a, position))).collect(),
            Op::Binary(op, a, b) => {
                let ty = self.program.ty(value);
                pieces.map(|position| self.binary(ty, op, self.piece(a, position), self.piece(b, position))).collect()
            }
            Op::Shift(op, a, bits) => pieces
                .map(|position| {
                    let x = self.piece(a, position);
                    let bits = self.b.ins().iconst(types::I32, i64::from(bits));
                    match op {
                        ShiftOp::Left => self.b.ins().ishl(x, bits),
                        ShiftOp::Right => self.b.ins().ushr(x, bits),
                        ShiftOp::SignedRight => self.b.ins().sshr(x, bits),
                    }
                })
                .collect(),
            Op::Fma(a, b, c) => {
                let operands: Vec<_> =
                    pieces.map(|position| [a, b, c].map(|operand| self.piece(operand, position))).collect();
                multiply_add(&mut self.b, self.fused, operands)
            }
            Op::Convert(a) => {
                let (from, to) = (self.element(a)?, self.element(value)?);
                pieces.map(|position| self.convert(from, to, self.piece(a, position))).collect()
            }
            Op::Bitcast(a) => {
                let ty = vector(self.element(value)?);
                pieces.map(|position| self.cast(ty, self.piece(a, position))).collect()
            }
            Op::Select(mask, a, b) => {
                let ty = self.element(value)?;
                pieces
                    .map(|position| {
                        let mask = self.mask_for(self.piece(mask, position), ty.bytes());
                        let mask = self.cast(vector(ty), mask);
                        let (x, y) = (self.piece(a, position), self.piece(b, position));
                        self.b.ins().bitselect(mask, x, y)
                    })
                    .collect()
            }
            Op::Slide(a, b, by) => {
                let ty = self.element(value)?;
                pieces
                    .map(|position| self.slid(ty, a, b, position + by as usize / self.cut.group as usize, by))
                    .collect()
            }
            Op::Reduce(op, a) => vec![self.reduce(value, op, a)?],
            Op::Prefix(count) => pieces.map(|position| self.prefix(count, position)).collect(),
            Op::Compare(op, a, b) => {
                let ty = self.element(a)?;
                pieces.map(|position| self.compare(op, ty, self.piece(a, position), self.piece(b, position))).collect()
            }
        })
    }

    fn slot(&mut self, ty: ClifType, slot: u32) -> diag::Result<ClifValue> {
        let offset = slot.checked_mul(8).and_then(|offset| i32::try_from(offset).ok());
        let offset = offset.ok_or_else(|| bug("too many arguments"))?;
        Ok(self.b.ins().load(ty, MemFlagsData::trusted().with_readonly(), self.arguments, offset))
    }

    /// The low bytes of a word.
    fn low(&mut self, word: ClifValue, bytes: usize) -> ClifValue {
        if bytes == 8 { word } else { self.b.ins().ireduce(integer(bytes), word) }
    }

    fn word_op(&mut self, op: WordOp, a: ValueId, b: ValueId) -> ClifValue {
        let (a, b) = (self.word(a), self.word(b));
        let ins = self.b.ins();
        let compared = match op {
            WordOp::Add => return ins.iadd(a, b),
            WordOp::Sub => return ins.isub(a, b),
            WordOp::Mul => return ins.imul(a, b),
            WordOp::Min => return ins.smin(a, b),
            WordOp::Max => return ins.smax(a, b),
            WordOp::And => return ins.band(a, b),
            WordOp::Shl => return ins.ishl(a, b),
            WordOp::Shr => return ins.sshr(a, b),
            WordOp::Lt => IntCC::SignedLessThan,
            WordOp::Le => IntCC::SignedLessThanOrEqual,
            WordOp::Eq => IntCC::Equal,
            WordOp::Ne => IntCC::NotEqual,
        };
        let holds = ins.icmp(compared, a, b);
        self.b.ins().uextend(types::I64, holds)
    }

    fn splat(&mut self, constant: Value) -> ClifValue {
        let ty = constant.ty();
        let ins = self.b.ins();
        let scalar = match constant {
            Value::F16(v) => ins.iconst(types::I16, i64::from(v.to_bits())),
            Value::BF16(v) => ins.iconst(types::I16, i64::from(v.to_bits())),
            Value::F32(v) => ins.f32const(Ieee32::with_bits(v.to_bits())),
            Value::F64(v) => ins.f64const(Ieee64::with_bits(v.to_bits())),
            Value::I8(v) => ins.iconst(types::I8, i64::from(v.cast_unsigned())),
            Value::I16(v) => ins.iconst(types::I16, i64::from(v.cast_unsigned())),
            Value::I32(v) => ins.iconst(types::I32, i64::from(v.cast_unsigned())),
            Value::I64(v) => ins.iconst(types::I64, v),
            Value::U8(v) => ins.iconst(types::I8, i64::from(v)),
            Value::U16(v) => ins.iconst(types::I16, i64::from(v)),
            Value::U32(v) => ins.iconst(types::I32, i64::from(v)),
            Value::U64(v) => ins.iconst(types::I64, v.cast_signed()),
            Value::Bool(v) => ins.iconst(types::I8, i64::from(v)),
        };
        self.b.ins().splat(vector(ty), scalar)
    }

    fn zero(&mut self, ty: ScalarType) -> ClifValue {
        self.bytes(vector(ty), [0; 16])
    }

    fn bytes(&mut self, ty: ClifType, bytes: [u8; 16]) -> ClifValue {
        let constant = self.b.func.dfg.constants.insert(ConstantData::from(&bytes[..]));
        self.b.ins().vconst(ty, constant)
    }

    /// A constant that counts up from `start`, one per lane.
    fn counting(&mut self, ty: ScalarType, start: i64) -> ClifValue {
        let mut bytes = [0; 16];
        for (lane, place) in bytes.chunks_mut(ty.bytes()).enumerate() {
            place.copy_from_slice(&(start + lane as i64).to_le_bytes()[..ty.bytes()]);
        }
        self.bytes(vector(ty), bytes)
    }

    /// The same bits as another vector type.
    fn cast(&mut self, ty: ClifType, x: ClifValue) -> ClifValue {
        if self.b.func.dfg.value_type(x) == ty {
            return x;
        }
        let flags = MemFlagsData::new().with_endianness(cranelift_codegen::ir::Endianness::Little);
        self.b.ins().bitcast(ty, flags, x)
    }

    /// Bytes of `x` in another order, as a vector of the same type.
    fn shuffle(&mut self, x: ClifValue, order: [u8; 16]) -> ClifValue {
        self.shuffle_both(x, x, order)
    }

    /// Bytes of `x`, counted from 0, and of `y`, from 16.
    fn shuffle_both(&mut self, x: ClifValue, y: ClifValue, order: [u8; 16]) -> ClifValue {
        let ty = self.b.func.dfg.value_type(x);
        let order = self.b.func.dfg.immediates.push(ConstantData::from(&order[..]));
        let (x, y) = (self.cast(types::I8X16, x), self.cast(types::I8X16, y));
        let moved = self.b.ins().shuffle(x, y, order);
        self.cast(ty, moved)
    }

    /// The lanes that begin `by` behind the start of a piece, of two values one after the other; `piece` is the one that they begin in.
    fn slid(&mut self, ty: ScalarType, a: ValueId, b: ValueId, piece: usize, by: u32) -> ClifValue {
        let (group, pieces) = (self.cut.group, self.cut.pieces as usize);
        let [low, high] = [piece, piece + 1].map(|piece| match piece.checked_sub(pieces) {
            None => self.piece(a, piece),
            Some(piece) => self.piece(b, piece.min(pieces - 1)),
        });
        if by.is_multiple_of(group) {
            return low;
        }
        let (whole, start) = (group as usize * ty.bytes(), (by % group) as usize * ty.bytes());
        self.shuffle_both(
            low,
            high,
            std::array::from_fn(|byte| match byte + start {
                from if from < whole => from as u8,
                from => (16 + (from - whole) % whole) as u8,
            }),
        )
    }

    fn unary(&mut self, value: ValueId, op: UnaryOp, x: ClifValue) -> ClifValue {
        let float = matches!(self.program.ty(value), Type::Lanes(ty) if ty.is_float());
        let unsigned = matches!(self.program.ty(value), Type::Lanes(ty) if ty.is_unsigned());
        let ins = self.b.ins();
        match op {
            UnaryOp::Neg if float => ins.fneg(x),
            UnaryOp::Abs if float => ins.fabs(x),
            UnaryOp::Neg => ins.ineg(x),
            UnaryOp::Abs if unsigned => x,
            UnaryOp::Abs => ins.iabs(x),
            UnaryOp::Sqrt => ins.sqrt(x),
            UnaryOp::Floor => ins.floor(x),
            UnaryOp::Ceil => ins.ceil(x),
            UnaryOp::Trunc => ins.trunc(x),
            UnaryOp::Round => ins.nearest(x),
            UnaryOp::Not => ins.bnot(x),
        }
    }

    fn binary(&mut self, ty: Type, op: BinaryOp, x: ClifValue, y: ClifValue) -> ClifValue {
        use cranelift_codegen::ir::condcodes::FloatCC;
        let element = match ty {
            Type::Lanes(ty) => ty,
            _ => ScalarType::Bool,
        };
        let (float, unsigned) = (element.is_float(), element.is_unsigned());
        if element.bytes() == 8 && !float && matches!(op, BinaryOp::Min | BinaryOp::Max) {
            let greater = match unsigned {
                true => (self.flip_sign(x), self.flip_sign(y)),
                false => (x, y),
            };
            let greater = self.b.ins().icmp(IntCC::SignedGreaterThan, greater.0, greater.1);
            let (if_so, if_not) = if op == BinaryOp::Min { (y, x) } else { (x, y) };
            return self.b.ins().bitselect(greater, if_so, if_not);
        }
        let ins = self.b.ins();
        match op {
            BinaryOp::Add if float => ins.fadd(x, y),
            BinaryOp::Sub if float => ins.fsub(x, y),
            BinaryOp::Mul if float => ins.fmul(x, y),
            BinaryOp::Div => ins.fdiv(x, y),
            BinaryOp::Min if float => ins.fmin(x, y),
            BinaryOp::Max if float => ins.fmax(x, y),
            BinaryOp::Least | BinaryOp::Most => {
                let cc = if op == BinaryOp::Least { FloatCC::LessThan } else { FloatCC::GreaterThan };
                let first = ins.fcmp(cc, x, y);
                let first = self.cast(vector(element), first);
                self.b.ins().bitselect(first, x, y)
            }
            BinaryOp::Add => ins.iadd(x, y),
            BinaryOp::Sub => ins.isub(x, y),
            BinaryOp::Mul if element.bytes() == 1 => self.multiply_bytes(x, y),
            BinaryOp::Mul => ins.imul(x, y),
            BinaryOp::Min if unsigned => ins.umin(x, y),
            BinaryOp::Max if unsigned => ins.umax(x, y),
            BinaryOp::Min => ins.smin(x, y),
            BinaryOp::Max => ins.smax(x, y),
            BinaryOp::And => ins.band(x, y),
            BinaryOp::Or => ins.bor(x, y),
            BinaryOp::Xor => ins.bxor(x, y),
        }
    }

    /// In pairs: the even bytes in place, the odd ones moved down and up again.
    fn multiply_bytes(&mut self, x: ClifValue, y: ClifValue) -> ClifValue {
        let (x, y) = (self.cast(types::I16X8, x), self.cast(types::I16X8, y));
        let eight = self.b.ins().iconst(types::I32, 8);
        let even = self.b.ins().imul(x, y);
        let even = self.b.ins().ishl(even, eight);
        let even = self.b.ins().ushr(even, eight);
        let (x, y) = (self.b.ins().ushr(x, eight), self.b.ins().ushr(y, eight));
        let odd = self.b.ins().imul(x, y);
        let odd = self.b.ins().ishl(odd, eight);
        let both = self.b.ins().bor(even, odd);
        self.cast(types::I8X16, both)
    }

    fn reduce(&mut self, value: ValueId, op: BinaryOp, a: ValueId) -> diag::Result<ClifValue> {
        let ty = self.program.ty(value);
        let mut parts: Vec<ClifValue> = (0..self.cut.pieces as usize).map(|position| self.piece(a, position)).collect();
        while parts.len() > 1 {
            let upper = parts.split_off(parts.len() / 2);
            for (part, other) in parts.iter_mut().zip(upper) {
                *part = self.binary(ty, op, *part, other);
            }
        }
        let mut x = parts[0];
        if ty == Type::Mask {
            return Ok(self.mask_reduce(op, x));
        }
        let element = self.element(value)?;
        let mut lanes = self.cut.group as usize;
        while lanes > 1 {
            lanes /= 2;
            let distance = lanes * element.bytes();
            let upper = self.shuffle(x, std::array::from_fn(|byte| ((byte + distance) % 16) as u8));
            x = self.binary(ty, op, x, upper);
        }
        let first = self.b.ins().extractlane(x, 0);
        Ok(self.b.ins().splat(vector(element), first))
    }
}

fn vector(ty: ScalarType) -> ClifType {
    match ty {
        ScalarType::F32 => types::F32X4,
        ScalarType::F64 => types::F64X2,
        ty => integers(ty.bytes()),
    }
}

fn integers(bytes: usize) -> ClifType {
    match bytes {
        1 => types::I8X16,
        2 => types::I16X8,
        4 => types::I32X4,
        _ => types::I64X2,
    }
}

fn integer(bytes: usize) -> ClifType {
    match bytes {
        1 => types::I8,
        2 => types::I16,
        4 => types::I32,
        _ => types::I64,
    }
}

fn scalar_type(ty: ScalarType) -> ClifType {
    match ty {
        ScalarType::F32 => types::F32,
        ScalarType::F64 => types::F64,
        ty => integer(ty.bytes()),
    }
}
