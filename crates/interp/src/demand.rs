//! Equations: each cell is computed when it is first needed.
//!
//! In: the clauses of a system.  Out: its arrays, complete; or the cell that needs itself.
//! A clause that reads a cell without a value is put aside until that has one, and then evaluated again: at most one
//! evaluation is lost per cell. What is put aside waits on a stack of our own, so that a recurrence may be long.
//! Not here: any order found beforehand. This is the second opinion on those.

use std::collections::BTreeMap;

use diag::Span;
use index::Cond;
use program::{ArrayId, Function, System};

use crate::Error;
use crate::env::Declared;
use crate::machine::{Access, Expr, Loop, Machine, Run, walk};

/// A clause that defines cells of an array.
#[derive(Debug)]
pub(crate) struct Clause {
    pub(crate) loops: Vec<Loop>,
    pub(crate) guard: Cond,
    pub(crate) target: Access,
    pub(crate) value: Expr,
    pub(crate) span: Option<Span>,
}

/// The clauses of an array, and the loops around them.
pub(crate) struct Clauses {
    pub(crate) around: Vec<Loop>,
    pub(crate) clauses: Vec<Clause>,
}

/// The systems of equations for given sizes: arrays in which a cell is defined twice are not equations.
pub(crate) fn systems(
    function: &Function,
    declared: &[Declared],
    clauses_of: &dyn Fn(&System, ArrayId) -> Result<Clauses, Error>,
) -> Result<Vec<System>, Error> {
    let mut known: BTreeMap<ArrayId, bool> = BTreeMap::new();
    loop {
        let found = program::find_systems(function, &|array| known.get(&array) != Some(&false));
        let interrupted = found.interrupted.iter().map(|interruption| &interruption.system);
        let systems = found.systems.iter().chain(interrupted);
        let mut arrays = systems.flat_map(|system| system.arrays.iter().map(move |array| (system, *array)));
        let Some((system, array)) = arrays.find(|(_, array)| !known.contains_key(array)) else {
            return Ok(found.systems);
        };
        let clauses = clauses_of(system, array)?;
        let cells = cells(&declared[array.index()]);
        let disjoint = are_disjoint(&clauses, function.iters.len(), declared, cells?).map_err(|error| *error)?;
        known.insert(array, disjoint);
    }
}

/// A number for every cell of an array that is still to be allocated.
fn cells(declared: &Declared) -> Result<Vec<u64>, Error> {
    let extents = declared.shape.iter().map(|extent| usize::try_from(*extent).unwrap_or(0));
    let elements = extents.fold(1, usize::saturating_mul);
    let mut cells = Vec::new();
    let array = declared.name.clone();
    cells.try_reserve_exact(elements).map_err(|_| Error::OutOfMemory { array, elements })?;
    cells.resize(elements, 0);
    Ok(cells)
}

/// Whether no cell is defined twice in one iteration. `defined` remembers the last one that defined each cell.
fn are_disjoint(array: &Clauses, slots: usize, declared: &[Declared], mut defined: Vec<u64>) -> Run<bool> {
    let mut disjoint = true;
    let mut iteration = 0;
    walk(&array.around, slots, declared, &mut |machine| {
        iteration += 1;
        for clause in &array.clauses {
            machine.points(&clause.loops, &clause.guard, clause.span, &mut |machine| {
                let position = machine.position(&clause.target)?;
                if let Some(cell) = defined.get_mut(position) {
                    disjoint &= std::mem::replace(cell, iteration) != iteration;
                }
                Ok(())
            })?;
        }
        Ok(())
    })?;
    Ok(disjoint)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Waiting,
    Begun,
    Done,
}

/// One instance of a clause.
struct Instance {
    clause: usize,
    /// Where its iterators begin in the table of values.
    values: usize,
    state: State,
}

/// Which instance defines which cell.
#[derive(Default)]
struct Table {
    instances: Vec<Instance>,
    values: Vec<i64>,
    /// Per array of the system, per cell.
    definitions: BTreeMap<usize, Vec<Option<u32>>>,
}

/// Computes all cells of a system.
pub(crate) fn solve(machine: &mut Machine<'_>, clauses: &[Clause]) -> Run<()> {
    let mut table = Table::default();
    for (number, clause) in clauses.iter().enumerate() {
        table.enter(machine, number, clause)?;
    }
    for (array, definitions) in &table.definitions {
        machine.arrays[*array].undefined = Some(definitions.iter().map(|_| true).collect());
    }
    let mut stack = Vec::new();
    let solved = (0..table.instances.len()).try_for_each(|first| table.compute(machine, clauses, first, &mut stack));
    for array in table.definitions.keys() {
        machine.arrays[*array].undefined = None;
    }
    solved
}

impl Table {
    fn enter(&mut self, machine: &mut Machine<'_>, number: usize, clause: &Clause) -> Run<()> {
        let array = clause.target.array;
        let cells = machine.arrays[array].data.len();
        self.definitions.entry(array).or_insert_with(|| vec![None; cells]);
        machine.points(&clause.loops, &clause.guard, clause.span, &mut |machine| {
            let position = machine.position(&clause.target)?;
            let instance = u32::try_from(self.instances.len())
                .map_err(|_| Error::Malformed { what: "a system of equations has too many cells".to_owned() })?;
            self.instances.push(Instance { clause: number, values: self.values.len(), state: State::Waiting });
            self.values.extend(clause.loops.iter().map(|a_loop| machine.slot(a_loop.slot)));
            if let Some(cell) = self.definitions.get_mut(&array).and_then(|cells| cells.get_mut(position)) {
                *cell = Some(instance);
            }
            Ok(())
        })
    }

    /// Computes one instance, and everything that it needs before.
    fn compute(
        &mut self,
        machine: &mut Machine<'_>,
        clauses: &[Clause],
        first: usize,
        stack: &mut Vec<usize>,
    ) -> Run<()> {
        if self.instances[first].state == State::Done {
            return Ok(());
        }
        stack.clear();
        stack.push(first);
        while let Some(number) = stack.last().copied() {
            let instance = &mut self.instances[number];
            instance.state = State::Begun;
            let clause = &clauses[instance.clause];
            for (position, a_loop) in clause.loops.iter().enumerate() {
                machine.set_slot(a_loop.slot, self.values[instance.values + position]);
            }
            machine.missing = None;
            match machine.expr(&clause.value) {
                Ok(value) => {
                    let position = machine.position(&clause.target)?;
                    machine.store(clause.target.array, position, value)?;
                    if let Some(cells) = &mut machine.arrays[clause.target.array].undefined {
                        cells[position] = false;
                    }
                    self.instances[number].state = State::Done;
                    stack.pop();
                }
                Err(error) => {
                    let Some((array, position)) = machine.missing else { return Err(error) };
                    let definition = self.definitions.get(&array).and_then(|cells| *cells.get(position)?);
                    // Without a definition the error says so already.
                    let Some(needed) = definition else { return Err(error) };
                    let needed = needed as usize;
                    if self.instances[needed].state == State::Begun {
                        let Error::Undefined { array, index, span } = *error else { return Err(error) };
                        return Err(Box::new(Error::Cycle { array, index, span }));
                    }
                    stack.push(needed);
                }
            }
        }
        Ok(())
    }
}
