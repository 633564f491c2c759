//! Graph scripts: `graph; dim(x: 60, a: 3, b: 4, c: 5); tile(x -> a, b, c); forward(x -> a, b, c)`.
//!
//! Steps are separated by `;`. `dim` declares dimensions as name: size: stride, an optional kind before the name; `?` is
//! an unknown size. Edges and questions name dimensions on both sides of `->`. In a question, `k = 1` fixes an index
//! and `x by 3` moves one.

use std::collections::HashMap;

use diag::Span;

use super::{Answer, Located, map_text};
use crate::bridge::schedule_of_graph;
use crate::error::{Error, Result};
use crate::graph::{Affine, CoordinateGraph, Dimension, DimensionId, DimensionKind, Edge, Indices};
use crate::text::Cursor;
use crate::transform::{Axis, Expr, Solver, Transform};

const STEPS: &str = "dim, flatten, tile, join, split, sunder, pass, piecewise, flow, and the questions \
                     forward, reverse, stride, reverse_stride, map, schedule, dot";

/// Whether a text is a graph script.
pub(super) fn is_script(text: &str) -> bool {
    Cursor::new(text).name() == Some("graph")
}

pub(super) fn run(script: &str, solver: &Solver) -> Located<Answer> {
    Ok(follow(script, solver)?.answer())
}

/// The map of the last question.
pub(super) fn transform(script: &str, solver: &Solver) -> Located<Transform> {
    let at = |error: Error| (Span::new(0, script.len()), error);
    let missing = || Error::inadmissible("graph", "no question says where cells are; end with `forward(i, j -> x)`");
    follow(script, solver)?.last.ok_or_else(|| at(missing()))?.map_err(at)
}

fn follow<'a>(script: &str, solver: &'a Solver) -> Located<State<'a>> {
    let mut cursor = Cursor::new(script);
    cursor.name();
    let mut state =
        State { graph: CoordinateGraph::new(), names: HashMap::new(), shown: Vec::new(), last: None, solver };
    while cursor.eat(';') && cursor.peek().is_some() {
        let start = cursor.position();
        let Some(name) = cursor.name() else {
            let error = cursor.unexpected(&format!("a step, one of {STEPS}"));
            return Err((Span::new(start, start), error));
        };
        let named = Span::new(start, start + name.len());
        let step = state.step(name, named, &mut cursor);
        step.map_err(|error| (Span::new(start, cursor.position()), error))?;
    }
    let whole = Span::new(0, script.len());
    cursor.end().map_err(|error| (whole, error))?;
    Ok(state)
}

struct State<'a> {
    graph: CoordinateGraph,
    names: HashMap<String, DimensionId>,
    shown: Vec<String>,
    /// The map of the last question.
    last: Option<Result<Transform>>,
    solver: &'a Solver,
}

/// What a question gives: the indices, the names of those that are open, and what moves.
struct Given {
    indices: Indices,
    inputs: Vec<DimensionId>,
    moved: Option<(DimensionId, i64)>,
}

impl State<'_> {
    fn step(&mut self, name: &str, span: Span, cursor: &mut Cursor<'_>) -> Result<()> {
        if name == "dot" {
            self.shown.push(self.graph.to_dot().trim_end().to_owned());
            return Ok(());
        }
        cursor.expect('(')?;
        match name {
            "dim" => {
                self.dimension(cursor)?;
                while cursor.eat(',') {
                    self.dimension(cursor)?;
                }
            }
            "flatten" | "tile" | "join" | "split" | "sunder" | "pass" | "flow" => {
                let edge = match name {
                    "flatten" => Edge::Flatten,
                    "tile" => Edge::Tile,
                    "join" => Edge::Join,
                    "split" => Edge::Split,
                    "sunder" => Edge::Sunder,
                    "pass" => Edge::PassThrough,
                    _ => Edge::DataFlow,
                };
                let inputs = self.dimensions(cursor)?;
                arrow(cursor)?;
                let outputs = self.dimensions(cursor)?;
                self.graph.connect(edge, &inputs, &outputs)?;
            }
            "piecewise" => {
                let inputs = self.dimensions(cursor)?;
                arrow(cursor)?;
                let output = self.dimension_named(cursor)?;
                let mut parts = Vec::new();
                for _ in 0..3 {
                    cursor.expect(',')?;
                    parts.push(self.affine(cursor, &inputs)?);
                }
                let [condition, then, otherwise] =
                    <[Affine; 3]>::try_from(parts).map_err(|_| Error::profile("piecewise", "three expressions"))?;
                let edge = Edge::PiecewiseAffineJoin { condition, then, otherwise };
                self.graph.connect(edge, &inputs, &[output])?;
            }
            "forward" | "reverse" | "map" => self.index(name, cursor)?,
            "stride" | "reverse_stride" => self.stride(name, span, cursor)?,
            "schedule" => {
                let roots = self.dimensions(cursor)?;
                arrow(cursor)?;
                let loops = self.dimensions(cursor)?;
                self.shown.push(schedule_of_graph(&self.graph, &roots, &loops)?.to_string());
            }
            _ => {
                let message = format!("there is no step `{name}`; there are {STEPS}");
                return Err(Error::Syntax { at: span, message });
            }
        }
        cursor.expect(')')
    }

    /// `x: 60`, `row: 8: 10`, `thread t: 32`, `y: ?`.
    fn dimension(&mut self, cursor: &mut Cursor<'_>) -> Result<()> {
        let first = cursor.name().ok_or_else(|| cursor.unexpected("a name"))?;
        let (kind, name) = match cursor.name() {
            Some(name) => (kind(first, cursor)?, name),
            None => (DimensionKind::User, first),
        };
        if self.names.contains_key(name) {
            return Err(cursor.error_here(format!("there is a dimension `{name}` already")));
        }
        cursor.expect(':')?;
        let size = if cursor.eat('?') { None } else { Some(size(cursor)?) };
        let stride = if cursor.eat(':') { cursor.integer()? } else { 1 };
        let dimension = Dimension::new(name, kind, size, Expr::Const(stride));
        self.names.insert(name.to_owned(), self.graph.add(dimension));
        Ok(())
    }

    fn dimension_named(&self, cursor: &mut Cursor<'_>) -> Result<DimensionId> {
        let start = cursor.position();
        let name = cursor.name().ok_or_else(|| cursor.unexpected("the name of a dimension"))?;
        self.names.get(name).copied().ok_or_else(|| {
            let known = self.graph.dimensions().iter().map(|&id| self.name(id)).collect::<Vec<_>>().join(", ");
            let message = format!("there is no dimension `{name}`; there are {known}");
            Error::Syntax { at: Span::new(start, start + name.len()), message }
        })
    }

    fn dimensions(&self, cursor: &mut Cursor<'_>) -> Result<Vec<DimensionId>> {
        let mut all = vec![self.dimension_named(cursor)?];
        while cursor.eat(',') {
            all.push(self.dimension_named(cursor)?);
        }
        Ok(all)
    }

    fn name(&self, id: DimensionId) -> String {
        self.graph.dimension(id).name.clone()
    }

    /// `10*i - j + 50` over the given dimensions.
    fn affine(&self, cursor: &mut Cursor<'_>, over: &[DimensionId]) -> Result<Affine> {
        let mut affine = Affine { strides: vec![0; over.len()], constant: 0 };
        let mut sign = if cursor.eat('-') { -1 } else { 1 };
        loop {
            let digit = cursor.peek().is_some_and(|c| c.is_ascii_digit());
            let factor = if digit { cursor.integer()? } else { 1 };
            let overflow = || Error::Overflow { operation: "piecewise" };
            let factor = sign * factor;
            if !digit || cursor.eat('*') {
                let start = cursor.position();
                let id = self.dimension_named(cursor)?;
                let place = over.iter().position(|&found| found == id).ok_or_else(|| Error::Syntax {
                    at: Span::new(start, cursor.position()),
                    message: format!("`{}` is not on the left of `->`", self.name(id)),
                })?;
                affine.strides[place] = affine.strides[place].checked_add(factor).ok_or_else(overflow)?;
            } else {
                affine.constant = affine.constant.checked_add(factor).ok_or_else(overflow)?;
            }
            sign = match cursor.peek() {
                Some('+') => 1,
                Some('-') => -1,
                _ => return Ok(affine),
            };
            cursor.eat(if sign == 1 { '+' } else { '-' });
        }
    }

    fn given(&self, cursor: &mut Cursor<'_>) -> Result<Given> {
        let mut given = Given { indices: Indices::new(), inputs: Vec::new(), moved: None };
        loop {
            let id = self.dimension_named(cursor)?;
            if cursor.eat('=') {
                given.indices.insert(id, Expr::Const(cursor.integer()?));
            } else {
                given.indices.insert(id, Expr::Input(given.inputs.len()));
                given.inputs.push(id);
            }
            let here = cursor.position();
            if let Some(word) = cursor.name() {
                if word != "by" || given.moved.is_some() {
                    let at = Span::new(here, here + word.len());
                    return Err(Error::Syntax { at, message: "expected `,` or `->`, or `by` once".to_owned() });
                }
                given.moved = Some((id, cursor.integer()?));
            }
            if !cursor.eat(',') {
                return Ok(given);
            }
        }
    }

    fn axes(&self, ids: &[DimensionId]) -> Result<Vec<Axis>> {
        ids.iter().map(|&id| self.graph.axis(id)).collect()
    }

    fn index(&mut self, question: &str, cursor: &mut Cursor<'_>) -> Result<()> {
        let given = self.given(cursor)?;
        arrow(cursor)?;
        let wanted = self.dimensions(cursor)?;
        let index = match question {
            "forward" => self.graph.forward(&given.indices, &wanted)?,
            "reverse" => self.graph.reverse(&given.indices, &wanted)?,
            _ => self.graph.forward(&given.indices, &wanted).or_else(|error| {
                // Backwards if that leads anywhere; otherwise the way forward is the one to explain.
                self.graph.reverse(&given.indices, &wanted).map_err(|_| error)
            })?,
        };
        let inputs = given.inputs.iter().map(|&id| self.name(id)).collect::<Vec<_>>();
        for (&id, index) in wanted.iter().zip(&index) {
            self.shown.push(format!("{} = {}", self.name(id), index.display(&inputs)));
        }
        let axes = self.axes(&given.inputs).and_then(|inputs| Ok((inputs, self.axes(&wanted)?)));
        self.last = Some(axes.and_then(|(inputs, outputs)| Transform::new(inputs, outputs, index)));
        Ok(())
    }

    fn stride(&mut self, question: &str, span: Span, cursor: &mut Cursor<'_>) -> Result<()> {
        let given = self.given(cursor)?;
        arrow(cursor)?;
        let wanted = self.dimensions(cursor)?;
        let Some((moved, step)) = given.moved else {
            return Err(Error::Syntax { at: span, message: format!("write {question}(x by 3 -> a, b)") });
        };
        let step = Expr::Const(step);
        let strides = if question == "stride" {
            self.graph.forward_stride(&given.indices, moved, &step, &wanted)?
        } else {
            self.graph.reverse_stride(&given.indices, moved, &step, &wanted)?
        };
        let inputs = given.inputs.iter().map(|&id| self.name(id)).collect::<Vec<_>>();
        for (&id, stride) in wanted.iter().zip(&strides) {
            let conditions = stride.exact.iter().map(|exact| exact.describe(&self.graph, &inputs));
            let conditions = conditions.collect::<Vec<_>>();
            let when = if conditions.is_empty() { "always".to_owned() } else { conditions.join(" and ") };
            let step = stride.step.display(&inputs);
            self.shown
                .push(format!("{} moves by {step}, exact if {when}", self.name(id)).replace("if always", "always"));
            if let (false, Ok(axes)) = (conditions.is_empty(), self.axes(&given.inputs))
                && let Ok(set) = stride.exact_set(self.solver, &axes)
            {
                self.shown.push(format!("  that is {set}"));
            }
        }
        Ok(())
    }

    fn answer(mut self) -> Answer {
        let mut notes = Vec::new();
        let map = self.last.take().and_then(|transform| map_text(self.solver, &transform, &mut notes));
        if self.shown.is_empty() {
            let (dimensions, edges) = (self.graph.dimensions().len(), self.graph.edges().len());
            self.shown.push(format!("{dimensions} dimensions, {edges} edges"));
        }
        Answer { result: self.shown.join("\n"), map, notes, table: None }
    }
}

fn arrow(cursor: &mut Cursor<'_>) -> Result<()> {
    if cursor.eat('-') { cursor.expect('>') } else { Err(cursor.unexpected("`->`")) }
}

fn size(cursor: &mut Cursor<'_>) -> Result<Expr> {
    match cursor.name() {
        Some(parameter) => Ok(Expr::param(parameter)),
        None => match cursor.integer()? {
            size if size >= 1 => Ok(Expr::Const(size)),
            size => Err(Error::inadmissible("dim", format!("the size {size} is not positive"))),
        },
    }
}

fn kind(word: &str, cursor: &mut Cursor<'_>) -> Result<DimensionKind> {
    Ok(match word {
        "user" => DimensionKind::User,
        "linear" => DimensionKind::Linear,
        "tile" => DimensionKind::Tile,
        "loop" => DimensionKind::Loop,
        "block" => DimensionKind::Block,
        "thread" => DimensionKind::Thread,
        "register" => DimensionKind::Register,
        _ => {
            let kinds = "user, linear, tile, loop, block, thread and register";
            return Err(cursor.error_here(format!("there is no kind `{word}` of dimension; there are {kinds}")));
        }
    })
}
