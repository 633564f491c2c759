//! Loop scripts: `split(N, 4); merge; predicate`.
//!
//! Steps are separated by `;`. The first names the roots: `domain(N, 8)`, or an operation on an extent. Later steps
//! name loops as the script prints them (`i`, `io`, `ii`, …), or leave them out for the innermost ones. A name that is
//! no loop is a parameter.

use diag::Span;

use super::draw::{MAX_CELLS, Table};
use super::properties::describe;
use super::{Answer, Located, map_text};
use crate::bridge::graph_of;
use crate::error::{Error, Result};
use crate::iter::{Consumer, DomainId, Reduction, Schedule, SplitKind, SwizzleKind, requirement};
use crate::text::Cursor;
use crate::transform::{Axis, Expr, Params, Solver, Transform, Truth};

const STEPS: &str = "domain, split, outer_split, merge, resize, swizzle, shift, reorder, broadcast, and the questions \
                     predicate, index, extents, item, holes, image, injective, surjective, bijective, inverse, \
                     allocation, correctness, layout, map, dot";

/// Whether a text is a loop script and not an expression over layouts.
pub(super) fn is_script(text: &str) -> bool {
    let mut cursor = Cursor::new(text);
    text.contains(';') || matches!(cursor.name(), Some("domain" | "split" | "outer_split" | "merge" | "resize"))
}

/// Whether a text is steps on axes that are there already.
pub(super) fn is_step(text: &str) -> bool {
    let mut cursor = Cursor::new(text);
    match cursor.name() {
        // `swizzle(2, 0, 3)` is a swizzle of a layout's index.
        Some("swizzle") => cursor.eat('(') && !cursor.peek().is_some_and(|letter| letter.is_ascii_digit()),
        Some("reorder" | "shift") => true,
        _ => is_script(text),
    }
}

/// From axes to what steps make of them.
pub(super) fn storage(script: &str, axes: Vec<Axis>, solver: &Solver) -> Located<Transform> {
    let at = |error: Error| (Span::new(0, script.len()), error);
    schedule(script, axes, solver)?.loops_of_roots().map_err(at)
}

/// Axes with steps on them.
pub(super) fn schedule(script: &str, axes: Vec<Axis>, solver: &Solver) -> Located<Schedule> {
    let at = |error: Error| (Span::new(0, script.len()), error);
    let state = State { schedule: Some(Schedule::new(axes)), shown: Vec::new(), solver };
    follow_from(state, script)?.schedule().cloned().map_err(at)
}

/// An argument: a name or a number.
#[derive(Clone, Debug)]
enum Word {
    Name(String, Span),
    Number(i64),
}

pub(super) fn run(script: &str, solver: &Solver) -> Located<Answer> {
    follow(script, solver)?.answer().map_err(|error| (Span::new(0, script.len()), error))
}

/// The map that a script stands for: from roots to loops, or the other way if a loop is a broadcast.
pub(super) fn transform(script: &str, solver: &Solver) -> Located<Transform> {
    let at = |error: Error| (Span::new(0, script.len()), error);
    let mut state = follow(script, solver)?;
    let schedule = state.schedule().map_err(at)?;
    schedule.loops_of_roots().or_else(|_| schedule.roots_of_loops()).map_err(at)
}

fn follow<'a>(script: &str, solver: &'a Solver) -> Located<State<'a>> {
    follow_from(State { schedule: None, shown: Vec::new(), solver }, script)
}

fn follow_from<'a>(mut state: State<'a>, script: &str) -> Located<State<'a>> {
    let mut cursor = Cursor::new(script);
    loop {
        let start = cursor.position();
        let here = |cursor: &mut Cursor<'_>| Span::new(start, cursor.position());
        let Some(name) = cursor.name() else {
            let error = cursor.unexpected(&format!("a step, one of {STEPS}"));
            return Err((here(&mut cursor), error));
        };
        let words = arguments(&mut cursor).map_err(|error| (here(&mut cursor), error))?;
        let span = here(&mut cursor);
        state.step(name, Span::new(start, start + name.len()), &words).map_err(|error| (span, error))?;
        if !cursor.eat(';') || cursor.peek().is_none() {
            break;
        }
    }
    cursor.end().map_err(|error| (Span::new(0, script.len()), error))?;
    Ok(state)
}

fn arguments(cursor: &mut Cursor<'_>) -> Result<Vec<Word>> {
    let mut words = Vec::new();
    if !cursor.eat('(') {
        return Ok(words);
    }
    while !cursor.eat(')') {
        if !words.is_empty() {
            cursor.expect(',')?;
        }
        let start = cursor.position();
        words.push(match cursor.name() {
            Some(name) => {
                // `j.o` is the outer part of `j`, which is called `jo`.
                let mut name = name.to_owned();
                while cursor.eat('.') {
                    name.push_str(cursor.name().ok_or_else(|| cursor.unexpected("a name"))?);
                }
                Word::Name(name, Span::new(start, cursor.position()))
            }
            None => Word::Number(cursor.integer()?),
        });
    }
    Ok(words)
}

struct State<'a> {
    schedule: Option<Schedule>,
    shown: Vec<String>,
    solver: &'a Solver,
}

impl State<'_> {
    fn schedule(&mut self) -> Result<&mut Schedule> {
        self.schedule.as_mut().ok_or_else(|| {
            Error::inadmissible("script", "there is no loop yet; begin with `domain(N)` or `split(N, 4)`")
        })
    }

    /// Takes the loops that a step is about off its arguments: by name, by extent if there is no schedule yet, or the
    /// innermost ones.
    fn targets(&mut self, count: usize, numbers: usize, words: &mut Vec<Word>) -> Result<Vec<DomainId>> {
        let named = words.len() > numbers;
        if self.schedule.is_none() && named {
            let roots = words.drain(..words.len() - numbers).collect::<Vec<_>>();
            self.schedule = Some(Schedule::new(axes(&roots)?));
            return Ok(self.schedule()?.loops().to_vec());
        }
        let schedule = self.schedule()?;
        if named {
            let names = words.drain(..words.len() - numbers).collect::<Vec<_>>();
            return names.iter().map(|word| find(schedule, word)).collect();
        }
        let loops = schedule.loops();
        if loops.len() < count {
            return Err(Error::inadmissible("script", format!("{count} loops are needed, there are {}", loops.len())));
        }
        Ok(loops[loops.len() - count..].to_vec())
    }

    fn step(&mut self, name: &str, span: Span, words: &[Word]) -> Result<()> {
        let mut words = words.to_vec();
        match name {
            "domain" => {
                if self.schedule.is_some() {
                    return Err(Error::inadmissible("domain", "the roots are there already"));
                }
                self.schedule = Some(Schedule::new(axes(&words)?));
            }
            "split" | "outer_split" => {
                let kind = if name == "split" { SplitKind::Inner } else { SplitKind::Outer };
                let targets = self.targets(1, 1, &mut words)?;
                let (&[target], &[Word::Number(factor)]) = (&targets[..], &words[..]) else {
                    return Err(usage(span, "split(loop, factor)"));
                };
                self.schedule()?.split(target, factor, kind)?;
            }
            "merge" => {
                let targets = self.targets(2, 0, &mut words)?;
                let &[outer, inner] = &targets[..] else { return Err(usage(span, "merge(outer, inner)")) };
                self.schedule()?.merge(outer, inner)?;
            }
            "resize" => {
                let targets = self.targets(1, 2, &mut words)?;
                let (&[target], &[Word::Number(left), Word::Number(right)]) = (&targets[..], &words[..]) else {
                    return Err(usage(span, "resize(loop, left, right)"));
                };
                self.schedule()?.resize(target, left, right)?;
            }
            "swizzle" | "shift" => {
                let kind = if name == "swizzle" { SwizzleKind::Xor } else { SwizzleKind::CyclicShift };
                let targets = self.targets(2, 0, &mut words)?;
                let &[x, y] = &targets[..] else { return Err(usage(span, "swizzle(x, y)")) };
                self.schedule()?.swizzle(kind, x, y)?;
            }
            "reorder" => {
                let schedule = self.schedule()?;
                let order = words.iter().map(|word| match word {
                    Word::Number(position) => usize::try_from(*position).ok(),
                    name => find(schedule, name)
                        .ok()
                        .and_then(|domain| schedule.loops().iter().position(|&found| found == domain)),
                });
                let order = order.collect::<Option<Vec<_>>>().ok_or_else(|| usage(span, "reorder(loop, loop, …)"))?;
                schedule.reorder(&order)?;
            }
            "broadcast" => {
                let [word] = &words[..] else { return Err(usage(span, "broadcast(extent)")) };
                let extent = extent(word)?;
                self.schedule()?.broadcast("b", extent);
            }
            "allocation" => {
                let shown = self.allocation(&words)?;
                self.shown.push(shown);
            }
            "item" => {
                let shown = self.item(span, &words)?;
                self.shown.push(shown);
            }
            "correctness" => {
                let shown = self.correctness(span, &words)?;
                self.shown.push(shown);
            }
            "predicate" | "index" | "extents" | "holes" | "image" | "injective" | "surjective" | "bijective"
            | "inverse" | "layout" | "map" | "dot" => {
                if !words.is_empty() {
                    return Err(usage(span, &format!("{name}, without arguments")));
                }
                let shown = self.show(name)?;
                self.shown.push(shown);
            }
            _ => {
                let message = format!("there is no step `{name}`; there are {STEPS}");
                return Err(Error::Syntax { at: span, message });
            }
        }
        Ok(())
    }

    fn show(&mut self, what: &str) -> Result<String> {
        let schedule = self.schedule()?.clone();
        Ok(match what {
            "predicate" => {
                let (full, minimal) = (schedule.full_predicate()?, schedule.smallest_predicate(self.solver)?);
                let confirmed = match schedule.confirm(&minimal, self.solver) {
                    _ if minimal == full => "the same".to_owned(),
                    Ok(Truth::Yes) => "equivalent, says isl".to_owned(),
                    Ok(Truth::No(sample)) => format!("NOT equivalent at {sample}"),
                    Ok(unknown @ Truth::Unknown { .. }) => format!("isl: {unknown}"),
                    Err(error) => format!("not confirmed: {error}"),
                };
                format!("full:    {full}\nminimal: {minimal} ({confirmed})")
            }
            "index" => {
                let roots = schedule.roots_of_loops()?;
                let names = roots.input_names();
                let lines = roots.outputs().iter().zip(roots.index());
                lines
                    .map(|(axis, expr)| format!("{} = {}", axis.name, expr.display(&names)))
                    .collect::<Vec<_>>()
                    .join("\n")
            }
            "extents" => schedule
                .loop_axes()
                .iter()
                .map(|axis| format!("{}: {}", axis.name, axis.extent))
                .collect::<Vec<_>>()
                .join(", "),
            "holes" | "image" | "injective" | "surjective" | "bijective" => {
                let answer = describe(self.solver, what, &schedule.loops_of_roots()?)?;
                if what.ends_with("jective") { format!("{what}: {answer}") } else { answer }
            }
            // The schedule knows the way back; isl need only say that there is one.
            "inverse" => match self.solver.injective(&schedule.loops_of_roots()?)? {
                Truth::Yes => schedule.roots_of_loops()?.to_string(),
                other => format!("not known to be injective: {other}"),
            },
            "layout" => schedule.to_layout()?.to_string(),
            "dot" => graph_of(&schedule)?.graph.to_dot(),
            _ => self.solver.map(&schedule.roots_of_loops()?)?.to_string(),
        })
    }

    /// The allocation over the loops, or over the named domains.
    fn allocation(&mut self, words: &[Word]) -> Result<String> {
        let schedule = self.schedule()?.clone();
        let domains = words.iter().map(|word| match word {
            Word::Name(name, span) => schedule.domain_named(name).ok_or_else(|| Error::Syntax {
                at: *span,
                message: format!("there is no domain `{name}` in {schedule} or before"),
            }),
            number => find(&schedule, number),
        });
        let domains = domains.collect::<Result<Vec<_>>>()?;
        let mut allocation = schedule.allocation(if domains.is_empty() { schedule.loops() } else { &domains })?;
        if allocation.items.is_none() {
            allocation.items = schedule.count_items(self.solver).ok().flatten().map(Expr::Const);
        }
        let holes = allocation.holes(&Params::new()).ok().flatten();
        let holes = holes.map_or(String::new(), |holes| format!(", {holes} holes"));
        let items = allocation.items.map_or("an unknown number of".to_owned(), |items| items.to_string());
        Ok(format!("{} cells for {items} items{holes}", allocation.cells))
    }

    /// The item at a point of the loops.
    fn item(&mut self, span: Span, words: &[Word]) -> Result<String> {
        let schedule = self.schedule()?;
        let point = words.iter().map(|word| match word {
            Word::Number(coordinate) => Some(*coordinate),
            Word::Name(..) => None,
        });
        let point = point.collect::<Option<Vec<_>>>().filter(|point| point.len() == schedule.loops().len());
        let point = point.ok_or_else(|| usage(span, "item(a number for each loop)"))?;
        let params = Params::new();
        let roots = schedule.roots_of_loops()?;
        let at = roots.evaluate(&point, &params)?;
        for condition in schedule.full_predicate()?.conditions {
            let (index, extent) =
                (condition.index.evaluate(&point, &params)?, condition.extent.evaluate(&[], &params)?);
            if index < 0 || index >= extent {
                return Ok(format!("a hole: {} = {index} is not in 0..{extent}", condition.name));
            }
        }
        let names = roots.outputs().iter().map(|axis| &axis.name);
        Ok(names.zip(at).map(|(name, at)| format!("{name} = {at}")).collect::<Vec<_>>().join(", "))
    }

    /// What a consumer needs of the holes: `correctness(sum)` over all roots, or over the named ones.
    fn correctness(&mut self, span: Span, words: &[Word]) -> Result<String> {
        let schedule = self.schedule()?;
        let usage =
            || usage(span, "correctness(pointwise, sum, product, min, max, any, all, argmin or argmax, root, …)");
        let Some((Word::Name(consumer, _), rest)) = words.split_first() else { return Err(usage()) };
        let roots = rest.iter().map(|word| match word {
            Word::Name(name, span) => {
                let root = schedule.roots().iter().copied().find(|&root| schedule.axis(root).name == *name);
                root.ok_or_else(|| Error::Syntax { at: *span, message: format!("there is no root `{name}`") })
            }
            Word::Number(_) => Err(usage()),
        });
        let roots = roots.collect::<Result<Vec<_>>>()?;
        let roots = if roots.is_empty() { schedule.roots() } else { &roots };
        let reduction = consumer.strip_prefix("scan_").unwrap_or(consumer);
        let reduction = match reduction {
            "pointwise" => return Ok(format!("{consumer}: {}", requirement(Consumer::Pointwise, true))),
            "sum" => Reduction::Sum,
            "product" => Reduction::Product,
            "min" => Reduction::Min,
            "max" => Reduction::Max,
            "any" => Reduction::Any,
            "all" => Reduction::All,
            "argmin" => Reduction::ArgMin,
            "argmax" => Reduction::ArgMax,
            _ => return Err(usage()),
        };
        let holes = schedule.has_holes_along(roots);
        let who = if consumer.starts_with("scan_") { Consumer::Scan(reduction) } else { Consumer::Reduce(reduction) };
        let names = roots.iter().map(|&root| schedule.axis(root).name.as_str()).collect::<Vec<_>>().join(", ");
        let why = if holes { "holes" } else { "no holes" };
        Ok(format!("{consumer} along {names}: {} ({why} there)", requirement(who, holes)))
    }

    fn answer(mut self) -> Result<Answer> {
        let schedule = self.schedule()?.clone();
        let mut notes = Vec::new();
        let map = map_text(self.solver, &schedule.roots_of_loops(), &mut notes);
        let mut lines = vec![schedule.to_string()];
        lines.append(&mut self.shown);
        Ok(Answer { result: lines.join("\n"), map, notes, table: table(&schedule).ok().flatten() })
    }
}

/// The items of the loops: the innermost loop runs right, all others down.
pub(super) fn table(schedule: &Schedule) -> Result<Option<Table>> {
    let extents = schedule.loops().iter().map(|&domain| schedule.extent(domain).constant()).collect::<Option<Vec<_>>>();
    let Some(extents) = extents else { return Ok(None) };
    let total = extents.iter().try_fold(1i64, |product, &extent| product.checked_mul(extent));
    let Some(total) = total.filter(|&total| total <= MAX_CELLS) else { return Ok(None) };
    let (roots, predicate) = (schedule.roots_of_loops()?, schedule.full_predicate()?);
    let params = Params::new();
    let mut cells = Vec::new();
    for number in 0..total {
        let mut rest = number;
        let mut point = vec![0; extents.len()];
        for (coordinate, extent) in point.iter_mut().zip(&extents).rev() {
            *coordinate = rest % extent;
            rest /= extent;
        }
        let mut item = true;
        for condition in &predicate.conditions {
            let index = condition.index.evaluate(&point, &params)?;
            item &= index >= 0 && index < condition.extent.evaluate(&[], &params)?;
        }
        let mut linear = 0;
        for (axis, coordinate) in roots.outputs().iter().zip(roots.evaluate(&point, &params)?) {
            let extent = axis.extent.evaluate(&[], &params)?;
            let Some(next) = i64::checked_mul(linear, extent).and_then(|row| row.checked_add(coordinate)) else {
                return Ok(None);
            };
            linear = next;
        }
        cells.push(item.then_some(linear));
    }
    let columns = extents.last().copied().unwrap_or(1);
    Ok(Some(Table { columns: usize::try_from(columns).unwrap_or(1), cells }))
}

fn usage(span: Span, wanted: &str) -> Error {
    Error::Syntax { at: span, message: format!("write {wanted}") }
}

fn extent(word: &Word) -> Result<Expr> {
    match word {
        Word::Name(name, _) => Ok(Expr::param(name.clone())),
        Word::Number(extent) if *extent >= 1 => Ok(Expr::Const(*extent)),
        Word::Number(extent) => Err(Error::inadmissible("domain", format!("the extent {extent} is not positive"))),
    }
}

fn axes(words: &[Word]) -> Result<Vec<Axis>> {
    const NAMES: [&str; 8] = ["i", "j", "k", "l", "m", "n", "p", "q"];
    words
        .iter()
        .enumerate()
        .map(|(position, word)| {
            let name = NAMES.get(position).map_or(format!("d{position}"), |name| (*name).to_owned());
            Ok(Axis::new(name, extent(word)?))
        })
        .collect()
}

fn find(schedule: &Schedule, word: &Word) -> Result<DomainId> {
    match word {
        Word::Name(name, span) => schedule.loop_named(name).ok_or_else(|| {
            let loops = schedule.loop_axes().into_iter().map(|axis| axis.name).collect::<Vec<_>>().join(", ");
            Error::Syntax { at: *span, message: format!("there is no loop `{name}`; there are {loops}") }
        }),
        Word::Number(position) => {
            let domain = usize::try_from(*position).ok().and_then(|position| schedule.loops().get(position));
            domain.copied().ok_or_else(|| Error::inadmissible("script", format!("there is no loop {position}")))
        }
    }
}
