//! Loops whose iterations run at once, executed so that a wrong kind shows.
//!
//! In: a parallel or vector loop.  Out: the effect of its iterations in an order that a seed decides, or in lockstep.
//!
//! Iterations of a parallel loop run one after the other, shuffled; where they meet at barriers, they run from barrier to
//! barrier. Lanes of a vector loop go through every statement together: all of them read before one writes. What belongs to
//! an iteration starts with arbitrary content. A correct loop computes what it would compute in order.

use program::{BinaryOp, Data, Fault, FaultKind, ScalarType, Value};

use crate::env::Memory;
use crate::machine::{Access, Cell, Loop, Machine, Run, Stmt, Target, overflow, within};
use crate::{Error, eval};

/// A parallel or vector loop.
#[derive(Debug)]
pub(crate) struct Concurrent {
    pub(crate) a_loop: Loop,
    /// How many iterations run in lockstep; `None` for a parallel loop.
    pub(crate) lanes: Option<usize>,
    /// Locals of which every iteration has its own.
    pub(crate) locals: Vec<usize>,
    /// Arrays of which every iteration has its own.
    pub(crate) private: Vec<usize>,
    /// Whether iterations wait for each other.
    pub(crate) waits: bool,
    pub(crate) body: Vec<Stmt>,
}

/// Numbers that a seed decides (SplitMix64).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Random(pub(crate) u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            let other = (self.next() % (last as u64 + 1)) as usize;
            items.swap(last, other);
        }
    }

    /// A value that nobody computed.
    fn arbitrary(&mut self, ty: ScalarType) -> Value {
        match ty {
            ScalarType::F16 => Value::F16(program::f16::NAN),
            ScalarType::BF16 => Value::BF16(program::bf16::NAN),
            ScalarType::F32 => Value::F32(f32::NAN),
            ScalarType::F64 => Value::F64(f64::NAN),
            ty => Value::from_i64(ty, self.next().cast_signed() >> 7),
        }
    }

    pub(crate) fn spoil(&mut self, memory: &mut Memory) {
        for position in 0..memory.data.len() {
            let value = self.arbitrary(memory.declared.ty);
            memory.data.set(position, value);
        }
    }
}

/// What one iteration has for itself.
struct Lane {
    value: i64,
    locals: Vec<(usize, Value)>,
    arrays: Vec<(usize, Data)>,
}

/// What happens to a place.
#[derive(Clone, Copy, Debug)]
enum Change {
    Set(Value),
    /// Combines it with a value.
    Combine(BinaryOp, Value),
    /// Adds a product, rounded once.
    Fuse(Value, Value),
}

/// `a * b + c`, rounded once.
fn fused(a: Value, b: Value, c: Value) -> Value {
    match (a, b, c) {
        (Value::F32(a), Value::F32(b), Value::F32(c)) => Value::F32(a.mul_add(b, c)),
        (Value::F64(a), Value::F64(b), Value::F64(c)) => Value::F64(a.mul_add(b, c)),
        // The verifier has seen to it that there are floats only.
        _ => c,
    }
}

/// Where a store of a lane goes.
enum Place {
    Cell(usize, usize),
    Local(usize),
}

impl Machine<'_> {
    /// Executes a parallel or vector loop.
    pub(crate) fn concurrently(&mut self, found: &Concurrent) -> Run<()> {
        let mut values = Vec::new();
        self.each(&found.a_loop, |machine| {
            values.push(machine.slot(found.a_loop.slot));
            Ok(())
        })?;
        match found.lanes {
            Some(lanes) => {
                for group in values.chunks(lanes.max(1)) {
                    let mut group = self.lanes(found, group)?;
                    let all: Vec<usize> = (0..group.len()).collect();
                    self.lockstep(found, &mut group, &all, &found.body, true)?;
                }
                Ok(())
            }
            None if found.waits => {
                self.shuffle(&mut values);
                let mut lanes = self.lanes(found, &values)?;
                let all: Vec<usize> = (0..lanes.len()).collect();
                self.lockstep(found, &mut lanes, &all, &found.body, false)
            }
            None => {
                self.shuffle(&mut values);
                for value in values {
                    let mut lane = self.lane(found, value)?;
                    self.in_lane(found, &mut lane, |machine| machine.block(&found.body))?;
                }
                Ok(())
            }
        }
    }

    fn shuffle<T>(&mut self, items: &mut [T]) {
        if let Some(random) = &mut self.random {
            random.shuffle(items);
        }
    }

    fn lanes(&mut self, found: &Concurrent, values: &[i64]) -> Run<Vec<Lane>> {
        values.iter().map(|value| self.lane(found, *value)).collect()
    }

    fn lane(&mut self, found: &Concurrent, value: i64) -> Run<Lane> {
        let locals = found.locals.iter().map(|local| (*local, self.spoiled_local(*local))).collect();
        let arrays = found.private.iter().map(|array| Ok((*array, self.fresh(*array)?))).collect::<Run<_>>()?;
        Ok(Lane { value, locals, arrays })
    }

    fn spoiled_local(&mut self, local: usize) -> Value {
        let value = self.locals[local];
        self.random.as_mut().map_or(value, |random| random.arbitrary(value.ty()))
    }

    /// Cells for an array, with arbitrary content.
    fn fresh(&mut self, array: usize) -> Run<Data> {
        let memory = &self.arrays[array];
        let (declared, elements) = (memory.declared.clone(), memory.data.len());
        let out_of_memory = || Error::OutOfMemory { array: declared.name.clone(), elements };
        let data = Data::zeros(declared.ty, elements).ok_or_else(out_of_memory)?;
        let mut memory = Memory { declared, data, undefined: None };
        if let Some(random) = &mut self.random {
            random.spoil(&mut memory);
        }
        Ok(memory.data)
    }

    /// A buffer for the time of some statements.
    pub(crate) fn alloc(&mut self, array: usize, body: &[Stmt]) -> Run<()> {
        let outside = self.fresh(array)?;
        let outside = std::mem::replace(&mut self.arrays[array].data, outside);
        let result = self.block(body);
        self.arrays[array].data = outside;
        result
    }

    fn in_lane<T>(&mut self, found: &Concurrent, lane: &mut Lane, work: impl FnOnce(&mut Self) -> Run<T>) -> Run<T> {
        let outer = self.slot(found.a_loop.slot);
        self.set_slot(found.a_loop.slot, lane.value);
        self.exchange(lane);
        let result = work(self).map_err(|error| within(error, &found.a_loop, lane.value));
        self.exchange(lane);
        self.set_slot(found.a_loop.slot, outer);
        result
    }

    /// Exchanges what the lane has for itself with what the machine holds.
    fn exchange(&mut self, lane: &mut Lane) {
        for (local, value) in &mut lane.locals {
            std::mem::swap(&mut self.locals[*local], value);
        }
        for (array, data) in &mut lane.arrays {
            std::mem::swap(&mut self.arrays[*array].data, data);
        }
    }

    /// Takes the active lanes through the statements together: each statement as a whole if it is `strict`, otherwise only up
    /// to the next barrier.
    fn lockstep(
        &mut self,
        found: &Concurrent,
        lanes: &mut [Lane],
        active: &[usize],
        stmts: &[Stmt],
        strict: bool,
    ) -> Run<()> {
        for stmt in stmts {
            if strict || waits(stmt) {
                self.step(found, lanes, active, stmt, strict)?;
                continue;
            }
            let mut order = active.to_vec();
            self.shuffle(&mut order);
            for lane in order {
                self.in_lane(found, &mut lanes[lane], |machine| machine.stmt(stmt))?;
            }
        }
        Ok(())
    }

    fn step(&mut self, found: &Concurrent, lanes: &mut [Lane], active: &[usize], stmt: &Stmt, strict: bool) -> Run<()> {
        match stmt {
            Stmt::For(a_loop, body) => {
                let Some(first) = active.first() else { return Ok(()) };
                let mut values = Vec::new();
                for number in active {
                    let mut of_lane = Vec::new();
                    self.in_lane(found, &mut lanes[*number], |machine| {
                        machine.each(a_loop, |machine| {
                            of_lane.push(machine.slot(a_loop.slot));
                            Ok(())
                        })
                    })?;
                    if number != first && of_lane != values {
                        return malformed("lanes run different loops");
                    }
                    values = of_lane;
                }
                for value in values {
                    self.set_slot(a_loop.slot, value);
                    self.lockstep(found, lanes, active, body, strict)?;
                }
                Ok(())
            }
            Stmt::If(cond, then, otherwise, span) => {
                let (mut yes, mut no) = (Vec::new(), Vec::new());
                for number in active {
                    let holds = self.in_lane(found, &mut lanes[*number], |machine| {
                        machine.cond(cond).ok_or_else(|| overflow(*span))
                    })?;
                    if holds { &mut yes } else { &mut no }.push(*number);
                }
                self.lockstep(found, lanes, &yes, then, strict)?;
                self.lockstep(found, lanes, &no, otherwise, strict)
            }
            Stmt::Store(access, value) => self.together(found, lanes, active, |machine| {
                let value = machine.expr(value)?;
                Ok((Place::Cell(access.array, machine.position(access)?), Change::Set(value)))
            }),
            Stmt::Update(target, op, value) => self.together(found, lanes, active, |machine| {
                let value = machine.expr(value)?;
                Ok((machine.place_of(target)?, Change::Combine(*op, value)))
            }),
            Stmt::Fuse(target, a, b) => self.together(found, lanes, active, |machine| {
                let (a, b) = (machine.expr(a)?, machine.expr(b)?);
                Ok((machine.place_of(target)?, Change::Fuse(a, b)))
            }),
            Stmt::Scatter(cell, op, value) => self.together(found, lanes, active, |machine| {
                let value = machine.expr(value)?;
                Ok((Place::Cell(cell.array, machine.find(cell)?), Change::Combine(*op, value)))
            }),
            Stmt::Set(local, value) => self.together(found, lanes, active, |machine| {
                Ok((Place::Local(*local), Change::Set(machine.expr(value)?)))
            }),
            Stmt::Alloc(array, body) => {
                for number in active {
                    let data = self.fresh(*array)?;
                    lanes[*number].arrays.push((*array, data));
                }
                let result = self.lockstep(found, lanes, active, body, strict);
                active.iter().for_each(|number| {
                    lanes[*number].arrays.pop();
                });
                result
            }
            Stmt::Barrier => Ok(()),
            Stmt::Concurrent(_) | Stmt::Equations(_) | Stmt::Each(..) => {
                malformed("a loop that lanes cannot run together")
            }
        }
    }

    /// All lanes read, then all lanes write, combining with what is there if there is an operator.
    fn together(
        &mut self,
        found: &Concurrent,
        lanes: &mut [Lane],
        active: &[usize],
        read: impl Fn(&mut Self) -> Run<(Place, Change)>,
    ) -> Run<()> {
        let mut writes = Vec::with_capacity(active.len());
        for number in active {
            writes.push((*number, self.in_lane(found, &mut lanes[*number], &read)?));
        }
        for (number, (place, change)) in writes {
            self.in_lane(found, &mut lanes[number], |machine| machine.put(&place, change))?;
        }
        Ok(())
    }

    fn place_of(&self, target: &Target) -> Run<Place> {
        Ok(match target {
            Target::Cell(access) => Place::Cell(access.array, self.position(access)?),
            Target::Local(local) => Place::Local(*local),
        })
    }

    fn put(&mut self, place: &Place, change: Change) -> Run<()> {
        let combined = |old: Value| match change {
            Change::Set(value) => Ok(value),
            Change::Combine(op, value) => eval::binary(op, old, value),
            Change::Fuse(a, b) => Ok(fused(a, b, old)),
        };
        let failed = |_| Box::new(Error::Malformed { what: "an update divides".to_owned() });
        match place {
            Place::Local(local) => {
                self.locals[*local] = combined(self.locals[*local]).map_err(failed)?;
                Ok(())
            }
            Place::Cell(array, position) => {
                let old = self.arrays[*array].data.get(*position);
                let old = old.ok_or_else(|| Error::Malformed { what: "a cell is missing".to_owned() })?;
                if let (Change::Combine(BinaryOp::Once, Value::I64(second)), Value::I64(first)) = (&change, old)
                    && old != eval::NOTHING
                    && Value::I64(*second) != eval::NOTHING
                {
                    let kind = FaultKind::Twice { first, second: *second };
                    return Err(Box::new(Error::Fault(Fault::new(kind, None))));
                }
                self.store(*array, *position, combined(old).map_err(failed)?)
            }
        }
    }

    /// One update, outside lockstep.
    pub(crate) fn update(&mut self, target: &Target, op: BinaryOp, value: Value) -> Run<()> {
        let place = self.place_of(target)?;
        self.put(&place, Change::Combine(op, value))
    }

    /// One update that adds a product, outside lockstep.
    pub(crate) fn fuse(&mut self, target: &Target, a: Value, b: Value) -> Run<()> {
        let place = self.place_of(target)?;
        self.put(&place, Change::Fuse(a, b))
    }

    /// One scatter, outside lockstep.
    pub(crate) fn scatter(&mut self, cell: &Cell, op: BinaryOp, value: Value) -> Run<()> {
        let place = Place::Cell(cell.array, self.find(cell)?);
        self.put(&place, Change::Combine(op, value)).map_err(|mut error| {
            if let Error::Fault(fault) = &mut *error {
                fault.span = cell.span;
            }
            error
        })
    }

    /// One store, outside lockstep.
    pub(crate) fn assign(&mut self, access: &Access, value: Value) -> Run<()> {
        let position = self.position(access)?;
        self.store(access.array, position, value)
    }
}

fn malformed(what: &str) -> Run<()> {
    Err(Box::new(Error::Malformed { what: what.to_owned() }))
}

/// Whether iterations of the loop around wait in this statement.
pub(crate) fn waits(stmt: &Stmt) -> bool {
    match stmt {
        Stmt::Barrier => true,
        Stmt::For(_, body) | Stmt::Alloc(_, body) => body.iter().any(waits),
        Stmt::If(_, then, otherwise, _) => then.iter().chain(otherwise).any(waits),
        _ => false,
    }
}
