//! From a vector loop nest to a lane program.
//!
//! In: a kernel and one of its vector loops, or a serial loop around some that have the same number of lanes.  Out: a leaf and what its
//! caller has to pass, or why there is none; a vector loop then runs one iteration after the other.
//!
//! Serial loops inside become counted loops, conditions become masks. Lanes take whole
//! groups of iterations; what is left over runs once more under a mask. Every access walks along a pointer that each loop
//! around it steps (`access`). Cells that an inner loop accumulates into stay in registers meanwhile (`cells`), and lanes
//! that add to one and the same target do so apart, and are combined at the end. Outside of a vector loop all lanes do the same.

mod access;
mod ahead;
mod align;
mod cells;
mod clean;
mod conditions;
mod divide;
mod expr;
mod functions;
mod gather;
mod index;
mod invariant;
mod nest;
mod share;
mod targets;

use std::collections::BTreeMap;

use diag::Span;
use loops::{ArrayId, Expr, For, Index, Kernel, LaneSum, LocalId, LoopKind, ScalarId, Site, VarId, VarsBound, Visit};
use program::{ScalarType, Value};

use self::access::{Group, Loaded};
pub(crate) use self::ahead::Ahead;
pub(crate) use self::align::Past;
use self::cells::Cell;
use super::ir::{Op, Program, Stmt, Type, ValueId};
use super::verify::{Verified, verify};

/// A leaf and its arguments, one per slot.
#[derive(Clone, Debug)]
pub(crate) struct Lowered {
    pub(crate) program: Verified,
    pub(crate) arguments: Vec<Argument>,
    /// The checks in it, in the order of their numbers, which begin at 1.
    pub(crate) sites: Vec<Site>,
}

/// What the caller puts into a slot, all in terms of what is around the loop.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Argument {
    /// The address of an element, of which subscripts are given; it need not exist.
    Address(ArrayId, Vec<Index>),
    /// A number of bytes: a factor times the product of extents.
    Stride(i64, Vec<Index>),
    Index(Index),
    Scalar(ScalarId),
    Local(LocalId),
    /// A local that the leaf adds to: the slot holds the old value before and the new one after.
    Changed(LocalId),
    /// The address of the slots themselves.
    Block,
}

/// Why a loop is not lowered.
pub(crate) type Lower<T> = Result<T, String>;

/// What the tier of a kernel does about memory.
#[derive(Clone, Debug, Default)]
pub(crate) struct Memory {
    /// Whether it pays to begin whole groups of lanes at cache lines.
    pub(crate) aligns: bool,
    /// Whether there are instructions that ask for memory.
    pub(crate) fetches: bool,
    pub(crate) past: Past,
    pub(crate) ahead: Ahead,
}

/// Lowers a loop.
pub(crate) fn lower(kernel: &Kernel, r#for: &For, name: &str, memory: &Memory) -> Lower<Lowered> {
    let vectors = vector_loops(r#for);
    let Some(LoopKind::Vector(lanes)) = vectors.first().map(|vector| vector.kind.clone()) else {
        return Err("there is no vector loop in it".to_owned());
    };
    if vectors.iter().any(|vector| vector.kind != LoopKind::Vector(lanes)) {
        return Err("its vector loops have different numbers of lanes".to_owned());
    }
    if !lanes.is_power_of_two() || lanes > Program::MAX_LANES {
        return Err(format!("{lanes} lanes are not a power of two up to {}", Program::MAX_LANES));
    }
    // The first time finds out which pointers there are; the second time every loop steps those that it moves.
    let mut groups = Vec::new();
    for _ in 0..2 {
        let mut nest = Nest::new(kernel, memory, r#for, lanes, name, groups);
        nest.root(r#for)?;
        if let Some(program) = nest.finish_if_stable() {
            let arguments = std::mem::take(&mut nest.arguments);
            let program = verify(program).map_err(|error| error.to_string())?;
            return Ok(Lowered { program, arguments, sites: nest.sites });
        }
        groups = nest.groups;
    }
    Err("its accesses change from one attempt to the next".to_owned())
}

/// The vector loops of a loop, which may be one itself.
pub(crate) fn vector_loops(r#for: &For) -> Vec<For> {
    let mut found = VectorLoops(Vec::new());
    found.r#for(r#for);
    found.0
}

struct VectorLoops(Vec<For>);

impl VectorLoops {
    fn r#for(&mut self, r#for: &For) {
        if r#for.kind.is_vector() {
            self.0.push(r#for.clone());
        } else {
            self.block(&r#for.body);
        }
    }
}

impl Visit for VectorLoops {
    fn index(&mut self, _: &Index) {}
    fn expr(&mut self, _: &Expr) {}

    fn stmt(&mut self, stmt: &loops::Stmt) {
        match stmt {
            loops::Stmt::For(r#for) => self.r#for(r#for),
            stmt => self.descend_stmt(stmt),
        }
    }
}

/// The program so far, and what names stand for at this place.
struct Nest<'k> {
    kernel: &'k Kernel,
    /// Whether all of it is inside of one vector loop.
    is_root_in_lanes: bool,
    memory: &'k Memory,
    /// The arrays that the present loop writes past the caches.
    streamed: Vec<ArrayId>,
    program: Program,
    arguments: Vec<Argument>,
    /// Constants and arguments, in front of everything else.
    entry: Vec<Stmt>,
    known: Vec<(ValueId, Op)>,
    /// The statements of the present block.
    body: Vec<Stmt>,
    /// The vector loop around them, if there is one.
    vector: Option<VarId>,
    step: i64,
    /// The innermost loop around the vector loop that is part of the leaf, and its step.
    rows: Option<(VarId, i64)>,
    /// The loop variables of this nest, all of them.
    inner: Vec<VarId>,
    state: State,
    mask: Option<ValueId>,
    /// The lanes that exist at all; in the others anything goes.
    base_mask: Option<ValueId>,
    groups: Vec<Group>,
    groups_known: usize,
    loaded: Vec<Loaded>,
    sites: Vec<Site>,
    /// Where in the source what the outermost operation of the next expression does stands.
    at: Option<Span>,
}

/// What changes from statement to statement, and so is carried by loops.
#[derive(Clone, Debug, Default)]
struct State {
    /// The present value of loop variables; of the vector loop, in the first lane.
    vars: BTreeMap<u32, ValueId>,
    locals: BTreeMap<u32, ValueId>,
    /// Where the accesses of a group are at present, by its number.
    pointers: BTreeMap<usize, ValueId>,
    /// Cells in registers.
    cells: Vec<(Cell, ValueId)>,
    /// What the lanes have added up.
    sums: Vec<(LaneSum, ValueId)>,
}

impl State {
    /// Every value, in a fixed order.
    fn values(&mut self) -> Vec<&mut ValueId> {
        let maps = self.vars.values_mut().chain(self.locals.values_mut()).chain(self.pointers.values_mut());
        let cells = self.cells.iter_mut().map(|(_, value)| value);
        let sums = self.sums.iter_mut().map(|(_, value)| value);
        maps.chain(cells).chain(sums).collect()
    }
}

impl<'k> Nest<'k> {
    fn new(
        kernel: &'k Kernel,
        memory: &'k Memory,
        r#for: &For,
        lanes: u32,
        name: &str,
        groups: Vec<Group>,
    ) -> Nest<'k> {
        let mut bound = VarsBound(vec![r#for.var]);
        bound.block(&r#for.body);
        let program = Program { name: name.to_owned(), lanes, slots: 0, types: Vec::new(), body: Vec::new() };
        Nest {
            kernel,
            is_root_in_lanes: r#for.kind.is_vector(),
            memory,
            streamed: Vec::new(),
            program,
            arguments: Vec::new(),
            entry: Vec::new(),
            known: Vec::new(),
            body: Vec::new(),
            vector: None,
            step: 1,
            rows: None,
            inner: bound.0,
            state: State::default(),
            mask: None,
            base_mask: None,
            groups_known: groups.len(),
            groups,
            loaded: Vec::new(),
            sites: Vec::new(),
            at: None,
        }
    }

    /// The program, if no access turned up that the loops did not know of.
    fn finish_if_stable(&mut self) -> Option<Program> {
        if self.groups.len() != self.groups_known {
            return None;
        }
        let mut program = std::mem::replace(
            &mut self.program,
            Program { name: String::new(), lanes: 1, slots: 0, types: Vec::new(), body: Vec::new() },
        );
        program.body = std::mem::take(&mut self.entry);
        program.body.append(&mut self.body);
        // One more for a report; no slot is ever too many.
        program.slots = self.arguments.len() as u32 + 1;
        let mut program = clean::clean(program);
        if invariant::take_out(&mut program) {
            // What loops one after the other have in front of them is often the same.
            program = clean::clean(program);
        }
        Some(program)
    }

    /// Makes a value here.
    fn make(&mut self, ty: Type, op: Op) -> ValueId {
        let value = self.program.new_value(ty);
        self.body.push(Stmt::Let(value, op));
        value
    }

    fn lanes(&mut self, ty: ScalarType, op: Op) -> ValueId {
        self.make(lane_type(ty), op)
    }

    /// Makes a value that depends on nothing in front of everything, once.
    fn once(&mut self, ty: Type, op: Op) -> ValueId {
        let same = |(value, known): &&(ValueId, Op)| self.program.types[value.index()] == ty && same_op(known, &op);
        if let Some((value, _)) = self.known.iter().find(same) {
            return *value;
        }
        let value = self.program.new_value(ty);
        self.entry.push(Stmt::Let(value, op));
        self.known.push((value, op));
        value
    }

    fn word(&mut self, value: i64) -> ValueId {
        self.once(Type::Word, Op::Const(value))
    }

    /// The word of a constant.
    fn constant_of(&self, value: ValueId) -> Option<i64> {
        self.known.iter().find_map(|(known, op)| match op {
            Op::Const(constant) if *known == value => Some(*constant),
            _ => None,
        })
    }

    fn splat(&mut self, value: Value) -> ValueId {
        let value = match value {
            Value::F16(value) => Value::I16(value.to_bits().cast_signed()),
            Value::BF16(value) => Value::I16(value.to_bits().cast_signed()),
            value => value,
        };
        self.once(Type::Lanes(value.ty()), Op::Splat(value))
    }

    fn slot(&mut self, argument: Argument) -> u32 {
        let found = self.arguments.iter().position(|known| *known == argument);
        let slot = found.unwrap_or_else(|| {
            self.arguments.push(argument);
            self.arguments.len() - 1
        });
        self.program.slots = self.arguments.len() as u32;
        slot as u32
    }

    fn argument(&mut self, argument: Argument) -> ValueId {
        let slot = self.slot(argument);
        self.once(Type::Word, Op::Arg(slot))
    }
}

/// Constants are the same if their bits are, or both are NaN; `==` on floats would merge the zeros.
fn same_op(a: &Op, b: &Op) -> bool {
    match (a, b) {
        (Op::Splat(a), Op::Splat(b)) => a.same(*b),
        _ => a == b,
    }
}

/// Truth values are masks.
fn lane_type(ty: ScalarType) -> Type {
    if ty == ScalarType::Bool { Type::Mask } else { Type::Lanes(element(ty)) }
}

/// What a lane holds of a value that is no truth value: of a float that is only stored, its bits.
fn element(ty: ScalarType) -> ScalarType {
    if ty.half().is_some() { ScalarType::I16 } else { ty }
}
