//! An order of instances that respects equations, found by counting, for replays: isl is not asked.

use std::collections::{BTreeSet, HashMap};

use program::ArrayId;

use super::flow::is_own_accumulator;
use super::{is_final, place};
use crate::fault::{Attempt, Fault};
use crate::replay::{Instance, Loads};
use crate::scop::Scop;
use crate::witness::At;

/// A cell, and which instances have touched it since it was last written.
#[derive(Default)]
struct History {
    writer: Option<usize>,
    readers: Vec<usize>,
}

/// Instances in textual order, rearranged as little as possible so that each comes behind what it needs.
pub(crate) fn rearranged(scop: &Scop, params: &[i64], instances: Vec<Instance>) -> Attempt<Vec<Instance>> {
    if scop.equations.is_empty() {
        return Ok(instances);
    }
    let mut accesses = Vec::new();
    let mut definitions: HashMap<(ArrayId, Vec<i64>), usize> = HashMap::new();
    for (number, (position, values)) in instances.iter().enumerate() {
        let statement = &scop.statements[*position];
        let mut loads = Loads { scop, at: At { params, iters: &statement.iters, values }, cells: Vec::new() };
        loads.expr(&statement.value)?;
        let targets = loads.all_cells(statement.write.array, &statement.write.index)?;
        if is_final(statement) && scop.equations.contains(statement.write.array) {
            definitions.extend(targets.iter().map(|target| (target.clone(), number)));
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
                    let definition =
                        definitions.get(&read).filter(|_| system.clauses.first() <= Some(&place(statement)));
                    match definition {
                        Some(definition) if *definition == number => {
                            return Err(Fault::bug("a cell is defined by itself"));
                        }
                        Some(definition) => order(*definition, number),
                        None => {}
                    }
                }
                None => {
                    let history = histories.entry(read).or_default();
                    history.writer.into_iter().for_each(|writer| order(writer, number));
                    history.readers.push(number);
                }
            }
        }
        for target in targets {
            let history = histories.entry(target).or_default();
            history.writer.into_iter().for_each(|writer| order(writer, number));
            history.readers.iter().for_each(|reader| order(*reader, number));
            *history = History { writer: Some(number), readers: Vec::new() };
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
        return Err(Fault::bug("equations have a cycle"));
    }
    Ok(rearranged)
}
