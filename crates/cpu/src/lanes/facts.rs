//! What selection must know of a program as a whole.
//!
//! In: a program.  Out: where values are last read, which are the same in all lanes, which loads can be operands of the
//! instruction that uses them.

use program::ScalarType;

use crate::lanes::ir::{Access, BinaryOp, Op, Program, Stmt, Type, ValueId};

/// Positions count statements in the order of the text; a loop has one for its entry and one for its end.
#[derive(Debug)]
pub(super) struct Facts {
    /// The position of the last read, or the end of the loop that repeats it.
    pub(super) last_use: Vec<usize>,
    /// Where the register of a value is first written; for the result of a loop that is its entry.
    pub(super) defined: Vec<usize>,
    /// How many loops are around the definition.
    pub(super) depth: Vec<usize>,
    /// Every lane holds the same.
    pub(super) uniform: Vec<bool>,
    /// Loads that are left to the one instruction that uses them, and comparisons of words that nothing but a loop asks.
    pub(super) folded: Vec<bool>,
}

/// How the program is cut into registers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cut {
    /// AVX-512, with its masks and embedded broadcasts.
    pub(super) wide512: bool,
    /// Lanes per register.
    pub(super) group: u32,
    /// Registers per value.
    pub(super) pieces: u32,
    /// Bytes of the widest element.
    pub(super) widest: u32,
}

impl Cut {
    /// All values are cut alike, so that the widest elements just fill a register.
    pub(super) fn of(program: &Program, register: u32) -> Cut {
        let bytes = program.types.iter().filter_map(|ty| match ty {
            Type::Lanes(ty) => Some(ty.bytes() as u32),
            _ => None,
        });
        let widest = bytes.max().unwrap_or(8);
        let group = program.lanes.min(register / widest);
        Cut { wide512: register == 64, group, pieces: program.lanes / group, widest }
    }

    pub(super) fn bytes(&self, ty: ScalarType) -> u32 {
        self.group * ty.bytes() as u32
    }
}

impl Facts {
    pub(super) fn of(program: &Program, cut: Cut) -> Facts {
        let count = program.types.len();
        let mut uses = vec![0; count];
        count_uses(&program.body, &mut uses);
        let mut folded = vec![false; count];
        find_folded(program, &program.body, cut, &uses, &mut folded);
        let mut walk = Walk {
            facts: Facts {
                last_use: vec![0; count],
                defined: vec![0; count],
                depth: vec![0; count],
                uniform: vec![true; count],
                folded,
            },
            loads: vec![None; count],
            reads: Vec::new(),
            loops: Vec::new(),
            ends: Vec::new(),
            position: 0,
        };
        walk.stmts(&program.body);
        for (value, position, loops) in &walk.reads {
            let depth = walk.facts.depth[value.index()];
            let read = loops.get(depth).map_or(*position, |repeated| walk.ends[*repeated]);
            let last = &mut walk.facts.last_use[value.index()];
            *last = read.max(*last);
        }
        let mut facts = walk.facts;
        while spread(&program.body, &mut facts.uniform) {}
        facts
    }
}

struct Walk {
    facts: Facts,
    /// The folded loads, by value.
    loads: Vec<Option<Op>>,
    reads: Vec<(ValueId, usize, Vec<usize>)>,
    /// The loops around this place, by number.
    loops: Vec<usize>,
    ends: Vec<usize>,
    position: usize,
}

impl Walk {
    fn read(&mut self, value: ValueId) {
        match self.loads[value.index()] {
            Some(load) => load.operands().into_iter().for_each(|part| self.read(part)),
            None => self.reads.push((value, self.position, self.loops.clone())),
        }
    }

    fn define(&mut self, value: ValueId, position: usize) {
        self.facts.defined[value.index()] = position;
        self.facts.depth[value.index()] = self.loops.len();
        self.facts.last_use[value.index()] = position;
    }

    fn stmts(&mut self, body: &[Stmt]) {
        for stmt in body {
            self.position += 1;
            match stmt {
                Stmt::Let(value, op) if self.facts.folded[value.index()] => self.loads[value.index()] = Some(*op),
                _ => stmt.operands().into_iter().for_each(|value| self.read(value)),
            }
            match stmt {
                Stmt::Let(value, _) => self.define(*value, self.position),
                Stmt::Loop(r#loop) => {
                    let entry = self.position;
                    self.loops.push(self.ends.len());
                    self.ends.push(0);
                    r#loop.carried.iter().for_each(|carried| self.define(carried.param, entry));
                    self.stmts(&r#loop.body);
                    self.position += 1;
                    r#loop.carried.iter().for_each(|carried| self.read(carried.next));
                    if let Some(number) = self.loops.pop() {
                        self.ends[number] = self.position;
                    }
                    r#loop.carried.iter().for_each(|carried| self.define(carried.result, entry));
                }
                Stmt::Store { .. } | Stmt::Scatter { .. } | Stmt::Check { .. } | Stmt::Fetch(_) => {}
            }
        }
    }
}

fn count_uses(body: &[Stmt], uses: &mut [u32]) {
    for stmt in body {
        stmt.operands().into_iter().for_each(|value| uses[value.index()] += 1);
        if let Stmt::Loop(r#loop) = stmt {
            r#loop.carried.iter().for_each(|carried| uses[carried.next.index()] += 1);
            count_uses(&r#loop.body, uses);
        }
    }
}

/// A comparison of words folds into the loop that asks for it: its operands stay what they are. A load folds into its
/// only use if that stands in the same block with nothing but other values between, so that no
/// store comes before it.
fn find_folded(program: &Program, body: &[Stmt], cut: Cut, uses: &[u32], folded: &mut [bool]) {
    let mut waiting: Vec<ValueId> = Vec::new();
    let mut truths: Vec<ValueId> = Vec::new();
    for stmt in body {
        match stmt {
            Stmt::Let(value, Op::Word(op, _, _)) if op.is_comparison() => truths.push(*value),
            Stmt::Let(value, op) => {
                let operands = op.operands();
                let found = waiting.iter().position(|load| operands.contains(load) && takes_memory(op, *load));
                if let Some(found) = found {
                    folded[waiting.swap_remove(found).index()] = true;
                }
                waiting.retain(|load| !operands.contains(load));
                if uses[value.index()] == 1 && can_fold(program, *value, op, cut) {
                    waiting.push(*value);
                }
            }
            Stmt::Check { .. } | Stmt::Fetch(_) => {}
            Stmt::Store { .. } | Stmt::Scatter { .. } => waiting.clear(),
            Stmt::Loop(r#loop) => {
                waiting.clear();
                folded[r#loop.trips.index()] = uses[r#loop.trips.index()] == 1 && truths.contains(&r#loop.trips);
                find_folded(program, &r#loop.body, cut, uses, folded);
            }
        }
    }
}

fn can_fold(program: &Program, value: ValueId, op: &Op, cut: Cut) -> bool {
    let Type::Lanes(ty) = program.ty(value) else { return false };
    match op {
        Op::Load { access: Access::Unit, mask: None, .. } => ty.is_float() && cut.bytes(ty) >= 16,
        Op::Load { access: Access::Same, mask: None, .. } => cut.wide512 && ty.is_float() && cut.pieces == 1,
        _ => false,
    }
}

/// Whether the instruction for `op` can read `value` from memory.
fn takes_memory(op: &Op, value: ValueId) -> bool {
    match op {
        Op::Binary(BinaryOp::Add | BinaryOp::Mul, _, _) => true,
        Op::Binary(BinaryOp::Sub | BinaryOp::Div, _, b) => *b == value,
        Op::Fma(..) => true,
        _ => false,
    }
}

/// Takes back what is not uniform after all; returns whether anything changed.
fn spread(body: &[Stmt], uniform: &mut [bool]) -> bool {
    let mut changed = false;
    for stmt in body {
        match stmt {
            Stmt::Let(value, op) => {
                let same = match op {
                    Op::Iota | Op::Prefix(_) | Op::Gather { .. } | Op::Slide(..) => false,
                    Op::Load { access, mask, .. } => *access == Access::Same && mask.is_none(),
                    Op::Reduce(..) => true,
                    _ => op.operands().into_iter().all(|operand| uniform[operand.index()]),
                };
                changed |= !same && std::mem::replace(&mut uniform[value.index()], false);
            }
            Stmt::Loop(r#loop) => {
                for carried in &r#loop.carried {
                    let all = [carried.init, carried.param, carried.next, carried.result];
                    if !all.iter().all(|value| uniform[value.index()]) {
                        for value in [carried.param, carried.result] {
                            changed |= std::mem::replace(&mut uniform[value.index()], false);
                        }
                    }
                }
                changed |= spread(&r#loop.body, uniform);
            }
            Stmt::Store { .. } | Stmt::Scatter { .. } | Stmt::Check { .. } | Stmt::Fetch(_) => {}
        }
    }
    changed
}

/// The signed integer type of a size.
pub(super) fn integer_type(bytes: usize) -> ScalarType {
    match bytes {
        1 => ScalarType::I8,
        2 => ScalarType::I16,
        4 => ScalarType::I32,
        _ => ScalarType::I64,
    }
}
