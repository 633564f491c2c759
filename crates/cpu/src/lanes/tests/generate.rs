//! Random lane programs that stay inside their memory.
//!
//! NaNs are made alike before they can be seen as bits, because which of two NaNs survives an addition is nobody's
//! business.

use program::{ScalarType, Value};

use crate::lanes::ir::{
    Access, Address, BinaryOp, Carried, CompareOp, Loop, Op, Program, ShiftOp, Stmt, Type, UnaryOp, ValueId, WordOp,
};

/// A small generator of random numbers.
#[derive(Clone, Debug)]
pub(super) struct Random(u64);

impl Random {
    pub(super) fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub(super) fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    pub(super) fn below(&mut self, limit: usize) -> usize {
        (self.next() >> 16) as usize % limit.max(1)
    }

    pub(super) fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    fn of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())]
    }
}

pub(super) const MEMORY: usize = 1 << 15;
/// Where pointers start: far enough from both ends.
pub(super) const START: i64 = 1 << 13;
/// Where results are left.
const RESULTS: i64 = 1 << 14;
/// Slots: the pointer, a number of trips, a stride in bytes, two scalars, the place of the report.
pub(super) const SLOTS: u32 = 6;

const TYPES: [ScalarType; 10] = [
    ScalarType::F32,
    ScalarType::F64,
    ScalarType::I8,
    ScalarType::I16,
    ScalarType::I32,
    ScalarType::I64,
    ScalarType::U8,
    ScalarType::U16,
    ScalarType::U32,
    ScalarType::U64,
];

struct Generator<'a> {
    random: &'a mut Random,
    program: Program,
    types: Vec<ScalarType>,
    /// What may be used here.
    known: Vec<ValueId>,
    pointers: Vec<ValueId>,
    stride: ValueId,
    trips: ValueId,
    depth: usize,
    sites: u32,
}

pub(super) fn program(random: &mut Random, number: usize) -> Program {
    let lanes = random.of(&[1, 2, 4, 8, 8, 16, 16, 16, 32, 64]);
    let count = random.of(&[1, 1, 2, 3]);
    let types = (0..count).map(|_| random.of(&TYPES)).collect();
    let program =
        Program { name: format!("random {number}"), lanes, slots: SLOTS, types: Vec::new(), body: Vec::new() };
    let none = ValueId(0);
    let mut g = Generator {
        random,
        program,
        types,
        known: Vec::new(),
        pointers: Vec::new(),
        stride: none,
        trips: none,
        depth: 0,
        sites: 0,
    };
    let mut body = Vec::new();
    let pointer = g.define(&mut body, Type::Word, Op::Arg(0));
    g.pointers.push(pointer);
    g.trips = g.define(&mut body, Type::Word, Op::Arg(1));
    g.stride = g.define(&mut body, Type::Word, Op::Arg(2));
    let count = 4 + g.random.below(20);
    g.block(&mut body, count);
    g.show(&mut body, pointer);
    g.program.body = body;
    g.program
}

impl Generator<'_> {
    fn define(&mut self, body: &mut Vec<Stmt>, ty: Type, op: Op) -> ValueId {
        let id = self.program.new_value(ty);
        body.push(Stmt::Let(id, op));
        self.known.push(id);
        id
    }

    fn ty(&mut self) -> ScalarType {
        let position = self.random.below(self.types.len());
        self.types[position]
    }

    fn find(&mut self, ty: Type) -> Option<ValueId> {
        let found: Vec<ValueId> = self.known.iter().copied().filter(|id| self.program.ty(*id) == ty).collect();
        (!found.is_empty()).then(|| self.random.of(&found))
    }

    fn lanes(&mut self, body: &mut Vec<Stmt>, ty: ScalarType) -> ValueId {
        if let Some(found) = self.find(Type::Lanes(ty)).filter(|_| self.random.chance(90)) {
            return found;
        }
        let op = match self.random.below(4) {
            0 => Op::Splat(constant(self.random, ty)),
            1 if ty.is_int() => Op::Iota,
            2 if ty.is_int() => Op::FromWord(self.trips),
            3 => Op::Scalar(3 + self.random.below(2) as u32),
            _ => self.load(body, ty),
        };
        self.define(body, Type::Lanes(ty), op)
    }

    fn mask(&mut self, body: &mut Vec<Stmt>) -> ValueId {
        if let Some(found) = self.find(Type::Mask).filter(|_| self.random.chance(70)) {
            return found;
        }
        let ty = self.ty();
        let op = match self.random.below(3) {
            0 => Op::Prefix(self.trips),
            _ => {
                let op = self.random.of(CompareOp::ALL);
                Op::Compare(op, self.lanes(body, ty), self.lanes(body, ty))
            }
        };
        self.define(body, Type::Mask, op)
    }

    fn maybe_mask(&mut self, body: &mut Vec<Stmt>) -> Option<ValueId> {
        self.random.chance(35).then(|| self.mask(body))
    }

    fn address(&mut self) -> Address {
        let base = self.random.of(&self.pointers.clone());
        let index = self.random.chance(30).then(|| (self.trips, self.random.of(&[1, 2, 4, 8])));
        let offset = self.random.below(2000) as i32 - 1000;
        Address { base, index, offset }
    }

    fn access(&mut self) -> Access {
        match self.random.below(10) {
            0 | 1 => Access::Same,
            2 => Access::Reversed,
            3 => Access::Strided(self.stride),
            _ => Access::Unit,
        }
    }

    fn load(&mut self, body: &mut Vec<Stmt>, _ty: ScalarType) -> Op {
        Op::Load { at: self.address(), access: self.access(), mask: self.maybe_mask(body) }
    }

    fn block(&mut self, body: &mut Vec<Stmt>, count: usize) {
        for _ in 0..count {
            self.stmt(body);
        }
    }

    fn stmt(&mut self, body: &mut Vec<Stmt>) {
        let ty = self.ty();
        let lanes = Type::Lanes(ty);
        match self.random.below(25) {
            0 | 1 => {
                let op = self.load(body, ty);
                self.define(body, lanes, op);
            }
            2 | 3 => {
                let value = self.lanes(body, ty);
                let value = self.plain(body, value);
                let (mut at, mut access, mask) = (self.address(), self.access(), self.maybe_mask(body));
                // Past the caches only whole lines are written, as from the first pointer on they are.
                if access == Access::Unit && mask.is_none() && self.random.chance(40) {
                    (access, at) = (Access::Streamed, Address { base: self.pointers[0], index: None, ..at });
                    at.offset -= at.offset.rem_euclid(Access::LINE as i32);
                }
                body.push(Stmt::Store { value, at, access, mask });
            }
            4 | 5 if self.depth < 2 => self.r#loop(body),
            6 if self.random.chance(20) => {
                let at = self.address();
                body.push(Stmt::Fetch(at));
            }
            6 => self.word(body),
            7 => {
                let op = self.random.of(BinaryOp::ALL);
                let mask = (self.mask(body), self.mask(body));
                if matches!(op, BinaryOp::And | BinaryOp::Or | BinaryOp::Xor) {
                    self.define(body, Type::Mask, Op::Binary(op, mask.0, mask.1));
                } else {
                    self.define(body, Type::Mask, Op::Unary(UnaryOp::Not, mask.0));
                }
            }
            8 => {
                let op = self.random.of(&[BinaryOp::And, BinaryOp::Or]);
                let mask = self.mask(body);
                self.define(body, Type::Mask, Op::Reduce(op, mask));
            }
            9 => {
                let op = self.random.of(BinaryOp::ALL);
                if takes(op, ty) && !matches!(op, BinaryOp::Sub | BinaryOp::Div) {
                    let a = self.lanes(body, ty);
                    self.define(body, lanes, Op::Reduce(op, a));
                }
            }
            10 => {
                let (mask, a, b) = (self.mask(body), self.lanes(body, ty), self.lanes(body, ty));
                self.define(body, lanes, Op::Select(mask, a, b));
            }
            11 | 12 => {
                let from = self.ty();
                let a = self.lanes(body, from);
                self.define(body, lanes, Op::Convert(a));
            }
            13 => {
                let from = self.ty();
                if from.bytes() == ty.bytes() {
                    let a = self.lanes(body, from);
                    let a = self.plain(body, a);
                    self.define(body, lanes, Op::Bitcast(a));
                }
            }
            14 if matches!(ty, ScalarType::I32 | ScalarType::I64) => {
                let bits = self.random.below(8 * ty.bytes()) as u8;
                let (op, a) = (self.random.of(ShiftOp::ALL), self.lanes(body, ty));
                self.define(body, lanes, Op::Shift(op, a, bits));
            }
            15 | 16 if ty.is_float() => {
                let (a, b, c) = (self.lanes(body, ty), self.lanes(body, ty), self.lanes(body, ty));
                self.define(body, lanes, Op::Fma(a, b, c));
            }
            17 if self.types.contains(&ScalarType::I64) => self.indexed(body, ty),
            20 if matches!(ty.bytes(), 4 | 8) && self.program.lanes > 1 => {
                let by = 1 + self.random.below(self.program.lanes as usize - 1) as u32;
                let (a, b) = (self.lanes(body, ty), self.lanes(body, ty));
                self.define(body, lanes, Op::Slide(a, b, by));
            }
            18 => {
                let op = self.random.of(CompareOp::ALL);
                let (a, b) = (self.lanes(body, ty), self.lanes(body, ty));
                self.define(body, Type::Mask, Op::Compare(op, a, b));
            }
            19 => {
                let op = self.random.of(UnaryOp::ALL);
                let fits = match op {
                    UnaryOp::Not => ty.is_int(),
                    UnaryOp::Neg | UnaryOp::Abs => true,
                    _ => ty.is_float(),
                };
                if fits {
                    let a = self.lanes(body, ty);
                    self.define(body, lanes, Op::Unary(op, a));
                }
            }
            _ => {
                let op = self.random.of(BinaryOp::ALL);
                if takes(op, ty) {
                    let (a, b) = (self.lanes(body, ty), self.lanes(body, ty));
                    self.define(body, lanes, Op::Binary(op, a, b));
                }
            }
        }
    }

    /// Words that are no addresses, so nothing depends on their size.
    fn word(&mut self, body: &mut Vec<Stmt>) {
        let small = self.random.below(60) as i64 - 20;
        let constant = self.define(body, Type::Word, Op::Const(small));
        let op = self.random.of(WordOp::ALL);
        let a = self.find(Type::Word).unwrap_or(constant);
        let shift = matches!(op, WordOp::Shl | WordOp::Shr);
        let b = if shift && !(0..64).contains(&small) { self.define(body, Type::Word, Op::Const(3)) } else { constant };
        let (a, b) = if !shift && self.random.chance(30) { (b, a) } else { (a, b) };
        // Products of pointers are not the same in different memory.
        if self.is_pointer(a) || self.is_pointer(b) {
            return;
        }
        let word = self.define(body, Type::Word, Op::Word(op, a, b));
        let ty = self.ty();
        if ty.is_int() {
            self.define(body, Type::Lanes(ty), Op::FromWord(word));
        }
    }

    fn is_pointer(&self, id: ValueId) -> bool {
        self.pointers.contains(&id)
    }

    /// A gather or scatter through an index that was checked, or cut to a few bits.
    fn indexed(&mut self, body: &mut Vec<Stmt>, ty: ScalarType) {
        let base = self.random.of(&self.pointers.clone());
        let index = self.lanes(body, ScalarType::I64);
        let i64_lanes = Type::Lanes(ScalarType::I64);
        let mask = self.maybe_mask(body);
        let index = if self.random.chance(85) {
            let few = self.define(body, i64_lanes, Op::Splat(Value::I64(63)));
            self.define(body, i64_lanes, Op::Binary(BinaryOp::And, index, few))
        } else {
            index
        };
        let extent = self.define(body, Type::Word, Op::Const(64));
        self.sites += 1;
        body.push(Stmt::Check { index, extent, mask, site: self.sites });
        if self.random.chance(50) {
            self.define(body, Type::Lanes(ty), Op::Gather { base, index, mask });
        } else {
            let value = self.lanes(body, ty);
            let value = self.plain(body, value);
            body.push(Stmt::Scatter { value, base, index, mask });
        }
    }

    fn r#loop(&mut self, body: &mut Vec<Stmt>) {
        let trips = match self.random.below(3) {
            0 => self.trips,
            _ => {
                let trips = self.random.below(5) as i64;
                self.define(body, Type::Word, Op::Const(trips))
            }
        };
        let trips = if trips == self.trips {
            let few = self.define(body, Type::Word, Op::Const(3));
            self.define(body, Type::Word, Op::Word(WordOp::And, trips, few))
        } else {
            trips
        };
        let outside = (self.known.len(), self.pointers.len());
        let mut carried = Vec::new();
        let step = self.random.below(64) as i64 - 16;
        let pointer = self.random.of(&self.pointers.clone());
        let mut inits = vec![(pointer, Type::Word)];
        for _ in 0..self.random.below(4) {
            let ty = self.ty();
            let init = if self.random.chance(15) { self.mask(body) } else { self.lanes(body, ty) };
            inits.push((init, self.program.ty(init)));
        }
        let after_inits = self.known.len();
        for (init, ty) in &inits {
            let param = self.program.new_value(*ty);
            self.known.push(param);
            carried.push(Carried { init: *init, param, next: param, result: param });
        }
        self.pointers.push(carried[0].param);
        let mut inner = Vec::new();
        self.depth += 1;
        let count = 2 + self.random.below(8);
        self.block(&mut inner, count);
        self.depth -= 1;
        for (position, carried) in carried.iter_mut().enumerate() {
            let ty = self.program.ty(carried.param);
            carried.next = if position == 0 {
                let step = self.define(&mut inner, Type::Word, Op::Const(step));
                self.define(&mut inner, Type::Word, Op::Word(WordOp::Add, carried.param, step))
            } else if let (Type::Lanes(element), true) = (ty, self.random.chance(50)) {
                let op = self.random.of(&[BinaryOp::Add, BinaryOp::Mul, BinaryOp::Max]);
                let other = self.lanes(&mut inner, element);
                self.define(&mut inner, ty, Op::Binary(op, carried.param, other))
            } else {
                self.find(ty).unwrap_or(carried.param)
            };
        }
        // What the body made is gone, and so are values that were made for the loop inside it.
        self.known.truncate(after_inits.max(outside.0));
        self.pointers.truncate(outside.1);
        for carried in &mut carried {
            carried.result = self.program.new_value(self.program.ty(carried.param));
            self.known.push(carried.result);
        }
        self.pointers.push(carried[0].result);
        body.push(Stmt::Loop(Loop { trips, carried, body: inner }));
    }

    /// The same value with one NaN for all.
    fn plain(&mut self, body: &mut Vec<Stmt>, value: ValueId) -> ValueId {
        let ty = self.program.ty(value);
        let nan = match ty {
            Type::Lanes(ScalarType::F32) => Value::F32(f32::NAN),
            Type::Lanes(ScalarType::F64) => Value::F64(f64::NAN),
            _ => return value,
        };
        let nan = self.define(body, ty, Op::Splat(nan));
        let is_number = self.define(body, Type::Mask, Op::Compare(CompareOp::Eq, value, value));
        self.define(body, ty, Op::Select(is_number, value, nan))
    }

    /// Stores everything that is known, so that nothing goes unseen.
    fn show(&mut self, body: &mut Vec<Stmt>, base: ValueId) {
        let mut offset = (RESULTS - START) as i32;
        for id in self.known.clone() {
            let value = match self.program.ty(id) {
                Type::Word => continue,
                Type::Lanes(_) => self.plain(body, id),
                Type::Mask => {
                    let ty = Type::Lanes(self.ty());
                    let Type::Lanes(element) = ty else { continue };
                    let one = self.define(body, ty, Op::Splat(Value::from_i64(element, 1)));
                    let zero = self.define(body, ty, Op::Splat(Value::from_i64(element, 0)));
                    self.define(body, ty, Op::Select(id, one, zero))
                }
            };
            let Type::Lanes(ty) = self.program.ty(value) else { continue };
            let bytes = (self.program.lanes as usize * ty.bytes()) as i32;
            if i64::from(offset) + i64::from(bytes) + START > MEMORY as i64 {
                return;
            }
            let at = Address { base, index: None, offset };
            body.push(Stmt::Store { value, at, access: Access::Unit, mask: None });
            offset += bytes;
        }
    }
}

fn takes(op: BinaryOp, ty: ScalarType) -> bool {
    match op {
        BinaryOp::And | BinaryOp::Or | BinaryOp::Xor => ty.is_int(),
        BinaryOp::Div | BinaryOp::Least | BinaryOp::Most => ty.is_float(),
        _ => true,
    }
}

/// Numbers at the edges of their type, and ordinary ones.
pub(super) fn constant(random: &mut Random, ty: ScalarType) -> Value {
    const FLOATS: [f64; 20] = [
        0.0,
        -0.0,
        1.0,
        -1.5,
        2.5,
        127.5,
        -129.0,
        300.0,
        -40000.0,
        2147483648.0,
        -2147483649.0,
        9.3e18,
        65535.5,
        4294967295.5,
        18446744073709549568.0,
        2e19,
        -9.3e18,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::NAN,
    ];
    match ty {
        ScalarType::F32 => Value::F32(random.of(&FLOATS) as f32),
        ScalarType::F64 => Value::F64(random.of(&FLOATS)),
        _ => Value::from_i64(ty, random.of(&[0, 1, -1, 2, 7, 100, 127, -128, 255, 32767, -32768, i64::MIN, i64::MAX])),
    }
}

/// Bytes in which every type finds ordinary numbers, and now and then strange ones.
pub(super) fn memory(random: &mut Random) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(MEMORY);
    while bytes.len() < MEMORY {
        match random.below(6) {
            0 => bytes.extend_from_slice(&random.next().to_le_bytes()),
            1 => bytes.extend_from_slice(&((random.below(2000) as f64 - 1000.0) / 8.0).to_le_bytes()),
            2 => bytes.extend_from_slice(&[0; 8]),
            _ => {
                for _ in 0..2 {
                    bytes.extend_from_slice(&((random.below(2000) as f32 - 1000.0) / 8.0).to_le_bytes());
                }
            }
        }
    }
    bytes.truncate(MEMORY);
    bytes
}
