//! An order of instances that respects equations, found by counting, for replays: isl is not asked.

use std::collections::{BTreeSet, HashMap};

use program::{ArrayId, System};

use super::flow::is_own_accumulator;
use super::{is_final, place};
use crate::fault::Fault;
use crate::replay::{Instance, Loads, Stop, Work};
use crate::scop::Scop;
use crate::witness::At;

/// A cell of an equation array, in one iteration of the loops around its system.
type Defined = (ArrayId, Vec<i64>, Vec<i64>);

/// Which instances have touched a cell since it was last written.
#[derive(Default)]
struct History {
    writer: Option<usize>,
    readers: Vec<usize>,
    /// Those that read it as an equation array, which may be before it is written, with their iterations.
    askers: Vec<(Vec<i64>, usize)>,
}

/// Instances in textual order, rearranged as little as possible so that each comes behind what it needs.
pub(crate) fn rearranged(scop: &Scop, params: &[i64], instances: Vec<Instance>) -> Result<Vec<Instance>, Stop> {
    if scop.equations.is_empty() {
        return Ok(instances);
    }
    let work = Work::new(scop);
    let mut accesses = Vec::new();
    let mut definitions: HashMap<Defined, usize> = HashMap::new();
    for (number, (position, values)) in instances.iter().enumerate() {
        let statement = &scop.statements[*position];
        let at = At { params, iters: &statement.iters, values };
        let mut loads = Loads { scop, work: &work, at, cells: Vec::new() };
        loads.expr(&statement.value)?;
        let targets = loads.all_cells(statement.write.array, &statement.write.index)?;
        if let Some(system) = scop.equations.system_of(statement.write.array).filter(|_| is_final(statement)) {
            let defined = |(array, cell): &(ArrayId, Vec<i64>)| (*array, cell.clone(), iteration(system, values));
            definitions.extend(targets.iter().map(|target| (defined(target), number)));
        }
        accesses.push((loads.cells, targets));
    }

    let mut after: Vec<Vec<usize>> = vec![Vec::new(); instances.len()];
    let mut waits_for = vec![0usize; instances.len()];
    let mut order = |first: usize, second: usize| {
        if first != second {
            after[first].push(second);
            waits_for[second] += 1;
        }
    };
    let mut histories: HashMap<(ArrayId, Vec<i64>), History> = HashMap::new();
    for (number, (reads, targets)) in accesses.into_iter().enumerate() {
        let statement = &scop.statements[instances[number].0];
        for read in reads {
            let system = scop.equations.system_of(read.0);
            match system.filter(|_| !is_own_accumulator(scop, statement, read.0)) {
                Some(system) => {
                    let iteration = iteration(system, &instances[number].1);
                    let cell = (read.0, read.1.clone(), iteration.clone());
                    let behind = system.clauses.first().copied() <= place(statement, system);
                    match definitions.get(&cell).filter(|_| behind) {
                        Some(definition) if *definition == number => {
                            return Err(Fault::bug("a cell is defined by itself").into());
                        }
                        Some(definition) => order(*definition, number),
                        None => {}
                    }
                    histories.entry(read).or_default().askers.push((iteration, number));
                }
                None => {
                    let history = histories.entry(read).or_default();
                    history.writer.into_iter().for_each(|writer| order(writer, number));
                    history.readers.push(number);
                }
            }
        }
        for target in targets {
            let system = scop.equations.system_of(target.0);
            let iteration = system.map(|system| iteration(system, &instances[number].1));
            let history = histories.entry(target).or_default();
            history.writer.into_iter().for_each(|writer| order(writer, number));
            history.readers.iter().for_each(|reader| order(*reader, number));
            // Those of this iteration wait for the cell; those of earlier ones must have read it.
            let (here, before): (Vec<_>, Vec<_>) =
                history.askers.drain(..).partition(|(asked, _)| Some(asked) == iteration.as_ref());
            before.iter().for_each(|(_, asker)| order(*asker, number));
            *history = History { writer: Some(number), readers: Vec::new(), askers: here };
        }
    }

    let mut ready: BTreeSet<usize> = (0..instances.len()).filter(|number| waits_for[*number] == 0).collect();
    let mut rearranged = Vec::new();
    while let Some(next) = ready.pop_first() {
        rearranged.push(instances[next].clone());
        for later in &after[next] {
            waits_for[*later] -= 1;
            if waits_for[*later] == 0 {
                ready.insert(*later);
            }
        }
    }
    if rearranged.len() < instances.len() {
        return Err(Fault::bug("equations have a cycle").into());
    }
    Ok(rearranged)
}

/// The iteration of the loops around a system in which an instance of it runs.
fn iteration(system: &System, values: &[i64]) -> Vec<i64> {
    values.iter().take(system.block.len()).copied().collect()
}
