//! Equations: arrays that refer to themselves, defined cell by cell by clauses whose order is found, not written.
//!
//! In: a Scop in textual order.  Out: which of its arrays are equations, and for those that nearly are, why not.
//! An array is one only where the textual order does not work: a clause reads what itself or a later clause defines.
//! Programs that can run as they are written do so. The dependences of equations are in `flow`, their order in
//! `order`, what is said when there is none in `cycle`, and an order by counting, for replays, in `reference`.

mod cycle;
mod flow;
mod order;
mod reference;

use diag::{Diagnostic, Span};
use program::{Affine, ArrayId, Interruption, Node, Subscript, System, Systems};

pub(crate) use flow::sources;
pub use order::base_tree;
pub(crate) use order::explain_failure;
pub(crate) use reference::rearranged;

use crate::fault::Attempt;
use crate::scop::{Scop, Statement, StatementKind};
use crate::witness::{Sample, show_cell, show_params, smallest};

/// The equations of a Scop.
#[derive(Clone, Debug, Default)]
pub struct Equations {
    /// Each a group of arrays that need each other.
    pub systems: Vec<System>,
    refused: Vec<Refusal>,
}

/// Why an array is not defined by equations, although its statements look like them.
#[derive(Clone, Debug)]
enum Refusal {
    /// Two clauses define one cell.
    Overlap {
        array: ArrayId,
        one: Span,
        two: Span,
        sample: Sample,
        /// The target of the second without what the first defines, if that can be said.
        narrowed: Option<String>,
    },
    /// Something stands between the clauses that depends on their place.
    Interrupted(Interruption),
}

impl Equations {
    /// The system that defines an array.
    pub fn system_of(&self, array: ArrayId) -> Option<&System> {
        self.systems.iter().find(|system| system.arrays.contains(&array))
    }

    /// Whether an array is defined by equations.
    pub fn contains(&self, array: ArrayId) -> bool {
        self.system_of(array).is_some()
    }

    /// Whether all arrays are assigned in textual order.
    pub fn is_empty(&self) -> bool {
        self.systems.is_empty()
    }

    /// The error in place of one at `read`, which reads a cell of `array` out of order: what keeps it from being an
    /// equation. None if it does not look like one.
    pub(crate) fn refusal(&self, scop: &Scop, array: ArrayId, read: Span) -> Option<Diagnostic> {
        self.refused.iter().find_map(|refusal| match refusal {
            Refusal::Overlap { array: refused, one, two, sample, narrowed } if *refused == array => {
                let diagnostic = overlap(scop, array, *one, *two, sample, read);
                Some(match narrowed {
                    Some(target) => {
                        diagnostic.help(format!("the second one without the border of the first: `{target}`"))
                    }
                    None => diagnostic,
                })
            }
            Refusal::Interrupted(interruption) if interruption.system.arrays.contains(&array) => {
                Some(interrupted(scop, interruption, read))
            }
            _ => None,
        })
    }
}

/// The place of a statement in the block of a system, if it stands there, or in a loop that does.
pub(crate) fn place(statement: &Statement, system: &System) -> Option<usize> {
    // Places and loops take turns.
    let number = |time: &Affine| time.as_constant().and_then(|place| usize::try_from(place).ok());
    let mut places = statement.time.iter().step_by(2).map(number);
    let inside = system.block.iter().all(|place| places.next() == Some(Some(*place)));
    places.next().flatten().filter(|_| inside)
}

/// Whether a statement is part of a clause of the system.
pub(crate) fn is_clause(statement: &Statement, system: &System) -> bool {
    place(statement, system).is_some_and(|place| system.clauses.contains(&place))
}

/// Whether a statement gives its cell the final value.
fn is_final(statement: &Statement) -> bool {
    matches!(statement.kind, StatementKind::Assign | StatementKind::Fini)
}

/// The statements that give cells of `array` their final values.
fn definitions(scop: &Scop, array: ArrayId) -> impl Iterator<Item = &Statement> {
    scop.statements.iter().filter(move |statement| statement.write.array == array && is_final(statement))
}

/// Finds the arrays that are equations.
pub(crate) fn find(scop: &Scop) -> Attempt<Equations> {
    let function = &scop.function;
    let mut overlapping: Vec<ArrayId> = Vec::new();
    let mut disjoint: Vec<ArrayId> = Vec::new();
    let mut refused = Vec::new();
    let candidates = loop {
        let found = program::find_systems(function, &|array| !overlapping.contains(&array));
        let unknown = arrays_of(&found).find(|(array, _)| !disjoint.contains(array));
        let Some((array, depth)) = unknown else { break found };
        match find_overlap(scop, array, depth)? {
            Some(refusal) => {
                refused.push(refusal);
                overlapping.push(array);
            }
            None => disjoint.push(array),
        }
    };
    let mut systems = Vec::new();
    for system in candidates.systems {
        if is_out_of_order(scop, &system)? {
            systems.push(system);
        }
    }
    refused.extend(candidates.interrupted.into_iter().map(Refusal::Interrupted));
    Ok(Equations { systems, refused })
}

/// The arrays of all systems, with the number of loops around each.
fn arrays_of(found: &Systems) -> impl Iterator<Item = (ArrayId, usize)> {
    let interrupted = found.interrupted.iter().map(|interruption| &interruption.system);
    let systems = found.systems.iter().chain(interrupted);
    systems.flat_map(|system| system.arrays.iter().map(|array| (*array, system.block.len())))
}

/// A cell that two clauses define in one iteration of the loops around them.
fn find_overlap(scop: &Scop, array: ArrayId, depth: usize) -> Attempt<Option<Refusal>> {
    let clauses: Vec<&Statement> = definitions(scop, array).collect();
    for (number, two) in clauses.iter().enumerate() {
        for one in &clauses[..number] {
            let both = flow::in_one_iteration(flow::connect(&one.write, &two.write)?, depth)?;
            if let Some(sample) = smallest(both.range_factor_range()?.range()?, &scop.context)? {
                let narrowed = narrowed(scop, one, two);
                let (one, two) = (one.write.span, two.write.span);
                return Ok(Some(Refusal::Overlap { array, one, two, sample, narrowed }));
            }
        }
    }
    Ok(None)
}

/// The target of the second clause without the border that the first one defines: `L[0, j | j > 0]` beside `L[i, 0]`.
fn narrowed(scop: &Scop, one: &Statement, two: &Statement) -> Option<String> {
    let border = |(first, second): (&Subscript, &Subscript)| match (first, second) {
        (Subscript::Affine(first), Subscript::Affine(second)) => Some((second.as_iter()?, first.as_constant()?)),
        _ => None,
    };
    let (iter, at) = one.write.index.iter().zip(&two.write.index).find_map(border)?;
    let name = &scop.function.iter(iter).name;
    let target = scop.show_access(two.write.array, &two.write.index);
    let sign = if at == 0 { ">" } else { "!=" };
    Some(format!("{} | {name} {sign} {at}]", target.strip_suffix(']')?))
}

/// Whether a clause reads what itself or a later clause of the system defines. (Reading the very cell that one is about
/// to define is no such case: that is a mistake, and has its own error.)
fn is_out_of_order(scop: &Scop, system: &System) -> Attempt<bool> {
    for reader in scop.statements.iter().filter(|statement| is_clause(statement, system)) {
        for read in reader.reads.iter().filter(|read| system.arrays.contains(&read.array)) {
            let later = |writer: &&Statement| place(writer, system) >= place(reader, system);
            for writer in definitions(scop, read.array).filter(later) {
                if writer.source == reader.source && writer.write.index == read.index {
                    continue;
                }
                let pairs = flow::in_one_iteration(flow::connect(&writer.write, read)?, system.block.len())?;
                if !pairs.intersect_params(scop.context.clone())?.is_empty()? {
                    return Ok(true);
                }
            }
        }
    }
    Ok(false)
}

fn overlap(scop: &Scop, array: ArrayId, one: Span, two: Span, sample: &Sample, read: Span) -> Diagnostic {
    let name = &scop.array(array).name;
    let cell = show_cell(name, &sample.point);
    let message = format!("`{name}` refers to itself, but two clauses define {cell}");
    let mut diagnostic = Diagnostic::error("E0412", two, message)
        .here(format!("defines {cell} again"))
        .label(one, format!("defines {cell}"))
        .label(read, "reads what its own clause or a later one defines, which takes equations");
    let values = show_params(&scop.function, &sample.params);
    if !values.is_empty() {
        diagnostic = diagnostic.note(format!("this happens for {values}"));
    }
    diagnostic.help(
        "equations have no order, so each cell has one clause: narrow one of them with a guard; \
         or, if the later one is to overwrite the other, write a `for` loop",
    )
}

fn interrupted(scop: &Scop, interruption: &Interruption, read: Span) -> Diagnostic {
    let function = &scop.function;
    let nodes = program::nodes_of(function, &interruption.system.block);
    let clause = |place: Option<&usize>| match place.and_then(|place| nodes.get(*place)) {
        Some(Node::Assign(assign)) => assign.target_span,
        _ => function.span,
    };
    let clauses = &interruption.system.clauses;
    let name = &scop.array(interruption.array).name;
    let (first, last) = (clause(clauses.first()), clause(clauses.last()));
    let (span, what) = match nodes.get(interruption.place) {
        Some(Node::For(node)) => (node.span, "this loop"),
        Some(Node::Assign(assign)) => (assign.span, "this statement"),
        Some(Node::Scatter(scatter)) => (scatter.span, "this statement"),
        Some(Node::Each(each)) => (each.span, "this loop"),
        None => (function.span, "a statement"),
    };
    let (message, fix) = if interruption.writes {
        let message = format!("{what} changes `{name}` between equations that read it");
        (message, format!("move it behind the last of them, or read a copy of `{name}`"))
    } else {
        let message = format!("{what} reads `{name}` between the equations that define it");
        (message, format!("move it behind the last clause of `{name}`"))
    };
    Diagnostic::error("E0413", span, message)
        .label(first, "the equations begin here")
        .label(last, "and end here")
        .label(read, "reads what its own clause or a later one defines")
        .note("equations have no order: all clauses of a system count as standing at the place of the last one")
        .help(fix)
}
