//! Cycles: cells that depend on themselves, found by walking the instances at small sizes.
//!
//! In: a Scop with equations and its dependences.  Out: a shortest cycle at the smallest sizes that have one, or nothing
//! within the bounds of the search, which proves nothing.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::time::Duration;

use diag::Diagnostic;
use isl::{Dim, Map, Set, Val};

use super::flow::is_own_accumulator;
use crate::deps::{Dependences, sink_and_array};
use crate::fault::{Attempt, Fault};
use crate::graph::DependenceGraph;
use crate::scop::{Access, ArrayOrigin, Scop, Statement};
use crate::witness::{At, Sample, show_cell, show_params, show_point, smallest};

/// How far parameters may be above the smallest values, in sum.
const FARTHEST: i64 = 8;
/// How many combinations of parameters are tried.
const MOST_SIZES: usize = 300;
/// How many pairs of instances are looked at for one combination, and for all.
const MOST_PAIRS: usize = 20_000;
const MOST_PAIRS_IN_ALL: usize = 100_000;
/// How many cells of a cycle a message lists.
const MOST_SHOWN: usize = 8;

/// A statement by position, and its iterators.
type Instance = (usize, Vec<i64>);

/// One read on the way round: `reader` needs the cell.
#[derive(Clone, Debug)]
struct Need {
    reader: Instance,
    array: String,
    cell: Vec<i64>,
}

/// Each cell is needed to define the one before it, and the first one to define the last.
#[derive(Clone, Debug)]
pub(super) struct Cycle {
    params: Vec<i64>,
    needs: Vec<Need>,
}

/// What the search came to.
pub(super) enum Search {
    Found(Cycle),
    /// There is none for so many combinations of small sizes.
    Nothing {
        tried: usize,
    },
}

/// A flow dependence within a component of the statement graph.
struct Edge {
    map: Map,
    source: usize,
    sink: usize,
    array: String,
}

pub(super) fn find(scop: &Scop, dependences: &Dependences) -> Attempt<Search> {
    let edges = edges(scop, dependences)?;
    let (mut spent, mut tried) = (0, 0);
    for params in sizes(scop)? {
        let mut graph = Graph::default();
        let mut pairs = 0;
        for edge in &edges {
            let set = fix(edge.map.clone(), &params)?.wrap()?;
            let Some(points) = points_up_to(&set, MOST_PAIRS - pairs)? else { return Ok(Search::Nothing { tried }) };
            pairs += points.len();
            points.iter().for_each(|point| graph.add(scop, edge, point));
        }
        if let Some(needs) = graph.shortest_cycle(scop) {
            return Ok(Search::Found(Cycle { params, needs }));
        }
        tried += 1;
        spent += pairs;
        if spent > MOST_PAIRS_IN_ALL {
            break;
        }
    }
    Ok(Search::Nothing { tried })
}

/// The points of a set, unless there are more than so many.
fn points_up_to(set: &Set, most: usize) -> Attempt<Option<Vec<Vec<i64>>>> {
    let dims = set.dim(Dim::Set)?;
    let mut points = Vec::new();
    let mut too_many = false;
    let walked = set.foreach_point(|point| {
        if points.len() == most {
            too_many = true;
            // Any error ends the walk.
            return Err(isl::Error::Budget { resource: isl::Resource::Operations, spent: Duration::ZERO });
        }
        let coordinates = (0..dims).map(|dim| point.get_coordinate_val(Dim::Set, dim)?.to_i64());
        points.push(coordinates.collect::<isl::Result<Option<Vec<i64>>>>()?);
        Ok(())
    });
    if too_many {
        return Ok(None);
    }
    walked?;
    points.into_iter().collect::<Option<Vec<_>>>().map(Some).ok_or_else(|| Fault::bug("an instance past 64 bits"))
}

fn edges(scop: &Scop, dependences: &Dependences) -> Attempt<Vec<Edge>> {
    let graph = DependenceGraph::new(scop, dependences).map_err(|error| Fault::bug(error.to_string()))?;
    let components = graph.components();
    let mut edges = Vec::new();
    for map in dependences.flow.maps()? {
        let (sink, array) = sink_and_array(&map)?;
        let (Some(source), Some(sink), Some(array)) = (map.get_tuple_name(Dim::In)?, sink, array) else { continue };
        let inside = |component: &Vec<&str>| component.contains(&source.as_str()) && component.contains(&sink.as_str());
        let position = |name: &str| scop.statements.iter().position(|statement| statement.name == name);
        let (Some(from), Some(to)) = (position(&source), position(&sink)) else { continue };
        if components.iter().any(inside) {
            edges.push(Edge { map, source: from, sink: to, array });
        }
    }
    // Before they are walked, the smallest cell is the same whatever order isl keeps its maps in.
    edges.sort_by(|one, two| (one.source, one.sink, &one.array).cmp(&(two.source, two.sink, &two.array)));
    Ok(edges)
}

fn fix(mut map: Map, params: &[i64]) -> Attempt<Map> {
    for (position, value) in params.iter().enumerate() {
        let value = Val::from_i64(map.context(), *value)?;
        map = map.fix_val(Dim::Param, position, value)?;
    }
    Ok(map)
}

/// Parameter values that the function accepts, in ascending order of their sum.
fn sizes(scop: &Scop) -> Attempt<Vec<Vec<i64>>> {
    let universe = Set::universe(scop.params.tuple(None, &[])?)?;
    let Some(Sample { params: least, .. }) = smallest(universe, &scop.context)? else { return Ok(Vec::new()) };
    let accepted = |params: &Vec<i64>| {
        let at = At { params, iters: &[], values: &[] };
        scop.function.context.iter().all(|requirement| at.cond(&requirement.cond) == Some(true))
    };
    let mut sizes = Vec::new();
    for sum in 0..=FARTHEST {
        for offsets in compositions(sum, least.len()) {
            // The sum of the smallest values is the smallest, but each alone may be smaller elsewhere.
            let params: Vec<i64> = least.iter().zip(&offsets).map(|(least, offset)| least + offset).collect();
            if accepted(&params) {
                sizes.push(params);
            }
        }
        if sizes.len() > MOST_SIZES {
            break;
        }
    }
    sizes.truncate(MOST_SIZES);
    Ok(sizes)
}

/// All ways to write `sum` as so many numbers that are not negative, in lexicographic order.
fn compositions(sum: i64, parts: usize) -> Vec<Vec<i64>> {
    match parts {
        0 if sum == 0 => vec![Vec::new()],
        0 => Vec::new(),
        1 => vec![vec![sum]],
        _ => (0..=sum)
            .flat_map(|first| {
                let rest = compositions(sum - first, parts - 1);
                rest.into_iter().map(move |rest| [vec![first], rest].concat())
            })
            .collect(),
    }
}

/// Instances, and for each those that it reads from.
#[derive(Default)]
struct Graph {
    numbers: HashMap<Instance, usize>,
    instances: Vec<Instance>,
    /// Per instance: the source, the array and the cell.
    reads: Vec<Vec<(usize, String, Vec<i64>)>>,
}

impl Graph {
    fn number(&mut self, instance: Instance) -> usize {
        if let Some(number) = self.numbers.get(&instance) {
            return *number;
        }
        let number = self.instances.len();
        self.numbers.insert(instance.clone(), number);
        self.instances.push(instance);
        self.reads.push(Vec::new());
        number
    }

    fn add(&mut self, scop: &Scop, edge: &Edge, numbers: &[i64]) {
        let (source, rest) = numbers.split_at(scop.statements[edge.source].iters.len());
        let (sink, cell) = rest.split_at(scop.statements[edge.sink].iters.len());
        let source = self.number((edge.source, source.to_vec()));
        let sink = self.number((edge.sink, sink.to_vec()));
        self.reads[sink].push((source, edge.array.clone(), cell.to_vec()));
    }

    /// The reads of a cycle with the fewest instances, from each reader to what it reads.
    fn shortest_cycle(&self, scop: &Scop) -> Option<Vec<Need>> {
        let mut graph = petgraph::graph::DiGraph::<(), ()>::new();
        let nodes: Vec<_> = self.instances.iter().map(|_| graph.add_node(())).collect();
        for (sink, reads) in self.reads.iter().enumerate() {
            reads.iter().for_each(|(source, ..)| {
                graph.add_edge(nodes[sink], nodes[*source], ());
            });
        }
        let mut best: Option<Vec<Need>> = None;
        for component in petgraph::algo::tarjan_scc(&graph) {
            let mut members: Vec<usize> = component.into_iter().map(|node| node.index()).collect();
            members.sort_by_key(|member| &self.instances[*member]);
            for start in members.iter().take(200) {
                if let Some(found) = self.way_back(*start)
                    && best.as_ref().is_none_or(|best| found.len() < best.len())
                {
                    best = Some(found);
                }
            }
        }
        best.map(|needs| shown(scop, needs))
    }

    /// The shortest way from an instance back to itself, along its reads.
    fn way_back(&self, start: usize) -> Option<Vec<Need>> {
        let mut reached: BTreeMap<usize, (usize, usize)> = BTreeMap::new();
        let mut waiting = VecDeque::from([start]);
        while let Some(reader) = waiting.pop_front() {
            for (position, (source, ..)) in self.reads[reader].iter().enumerate() {
                if reached.contains_key(source) {
                    continue;
                }
                reached.insert(*source, (reader, position));
                if *source == start {
                    let mut needs = Vec::new();
                    let mut at = start;
                    loop {
                        let (reader, position) = reached.get(&at).copied()?;
                        let (_, array, cell) = self.reads[reader].get(position)?;
                        let instance = self.instances[reader].clone();
                        needs.push(Need { reader: instance, array: array.clone(), cell: cell.clone() });
                        at = reader;
                        if at == start {
                            needs.reverse();
                            return Some(needs);
                        }
                    }
                }
                waiting.push_back(*source);
            }
        }
        None
    }
}

/// The needs in the user's words: those of accumulators are left out, and the smallest cell is needed last.
fn shown(scop: &Scop, needs: Vec<Need>) -> Vec<Need> {
    let of_user = |need: &Need| {
        let own = |array| is_own_accumulator(scop, &scop.statements[need.reader.0], array);
        scop.array_named(&need.array).is_some_and(|(id, array)| array.origin == ArrayOrigin::Declared && !own(id))
    };
    let mut needs: Vec<Need> = needs.into_iter().filter(of_user).collect();
    // The reader of a need defines the cell of the need before it.
    let cell = |need: &Need| (scop.array_named(&need.array).map(|(id, _)| id), need.cell.clone());
    if let Some(first) = (0..needs.len()).min_by_key(|position| cell(&needs[*position])) {
        let after = (first + 1) % needs.len();
        needs.rotate_left(after);
    }
    needs
}

impl Cycle {
    pub(super) fn explain(&self, scop: &Scop) -> Diagnostic {
        let cells: Vec<String> = self.needs.iter().map(|need| show_cell(&need.array, &need.cell)).collect();
        let first = cells.last().cloned().unwrap_or_default();
        let message = match cells.len() {
            1 => format!("no order exists: {first} is defined by itself"),
            number => format!("no order exists: {first} depends on itself, through {number} cells"),
        };
        let mut labels: Vec<(diag::Span, String)> = Vec::new();
        let mut certain = true;
        for (need, cell) in self.needs.iter().zip(&cells) {
            let statement = &scop.statements[need.reader.0];
            let span = self.span_of(scop, statement, need);
            let exact = self.read_of(scop, statement, need).is_none_or(Access::is_exact);
            certain &= exact;
            let reads = if exact { "reads" } else { "may read" };
            if labels.iter().all(|(known, _)| *known != span) {
                let at = show_point(&scop.function, &statement.iters, &need.reader.1);
                let at = if at.is_empty() { String::new() } else { format!(" at {at}") };
                labels.push((span, format!("`{}`{at} {reads} {cell}", statement.source)));
            }
        }
        let mut labels = labels.into_iter();
        let (span, here) = labels.next().unwrap_or((scop.function.span, String::new()));
        let diagnostic = Diagnostic::error("E0410", span, message).here(here).with_data(self.to_json(scop));
        let mut diagnostic = labels.fold(diagnostic, |diagnostic, (span, text)| diagnostic.label(span, text));
        if cells.len() > 1 {
            diagnostic = diagnostic.note(chain(&cells));
        }
        let values = show_params(&scop.function, &self.params);
        if !values.is_empty() {
            diagnostic = diagnostic.note(format!("this happens for {values}"));
        }
        if !certain {
            diagnostic = diagnostic.note("where data chooses a cell, all that it could choose count");
        }
        diagnostic.help(
            "each cell must be computable from others; if the value from before a change is meant, write a `for` loop",
        )
    }

    fn span_of(&self, scop: &Scop, statement: &Statement, need: &Need) -> diag::Span {
        self.read_of(scop, statement, need).map_or(statement.span, |read| read.span)
    }

    fn read_of<'s>(&self, scop: &'s Scop, statement: &'s Statement, need: &Need) -> Option<&'s Access> {
        let reads = statement.reads.iter().filter(|read| scop.array(read.array).name == need.array);
        let hit = reads.clone().find(|read| read.may_touch(&self.params, &statement.iters, &need.reader.1, &need.cell));
        hit.or_else(|| reads.clone().next())
    }

    /// The cycle as data.
    fn to_json(&self, scop: &Scop) -> serde_json::Value {
        let named = |names: Vec<&String>, values: &[i64]| {
            let pairs = names.into_iter().zip(values).map(|(name, value)| (name.clone(), (*value).into()));
            pairs.collect::<serde_json::Map<String, serde_json::Value>>()
        };
        let function = &scop.function;
        let needs = self.needs.iter().map(|need| {
            let statement = &scop.statements[need.reader.0];
            let iters = statement.iters.iter().map(|iter| &function.iter(*iter).name).collect();
            let span = self.span_of(scop, statement, need);
            serde_json::json!({
                "statement": statement.source, "values": named(iters, &need.reader.1), "array": need.array,
                "cell": need.cell, "start": span.start, "end": span.end,
            })
        });
        let params = named(function.params.iter().map(|param| &param.name).collect(), &self.params);
        serde_json::json!({ "kind": "cycle", "params": params, "reads": needs.collect::<Vec<_>>() })
    }
}

/// `U[0] needs U[1], U[1] needs U[0]`
fn chain(cells: &[String]) -> String {
    let last = cells.last().map_or("", String::as_str);
    let readers = std::iter::once(last).chain(cells.iter().map(String::as_str));
    let mut links: Vec<String> = readers.zip(cells).map(|(reader, cell)| format!("{reader} needs {cell}")).collect();
    if links.len() > MOST_SHOWN {
        let left_out = links.len() - MOST_SHOWN;
        let end = links.split_off(links.len() - 1);
        links.truncate(MOST_SHOWN - 1);
        links.push(format!("and so on over {left_out} more"));
        links.extend(end);
    }
    links.join(", ")
}
