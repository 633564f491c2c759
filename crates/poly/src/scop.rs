//! The Scop: a function as statements over integer sets, with what each instance reads and writes.

use std::fmt;

use diag::Span;
use isl::{Map, Set, UnionMap, UnionSet};
use program::{
    Affine, ArrayId, Cond, Each, Expr, ExprKind, Function, IterId, ReduceOp, Role, ScalarType, Subscript, Value,
};

use crate::equations::Equations;
use crate::fault::{Attempt, Fault};
use crate::sets::{Frame, Params};
use crate::tree::{Entry, StatementId, Tree};
use crate::witness::At;

/// A function as sets and maps.
#[derive(Clone, Debug)]
pub struct Scop {
    /// The program that it is made of.
    pub function: Function,
    /// The sizes, as isl knows them.
    pub params: Params,
    /// The parameter values that are possible: not negative, and as `where` says.
    pub context: Set,
    /// The function's arrays under the same ids, then accumulators of reductions and what transformations add.
    pub arrays: Vec<ScopArray>,
    /// In textual order; their positions are their ids.
    pub statements: Vec<Statement>,
    /// The arrays whose clauses have no order of their own.
    pub equations: Equations,
    /// The order in which the program is written.
    pub order: Tree,
}

/// An array as the Scop names it.
#[derive(Clone, Debug)]
pub struct ScopArray {
    /// Unique in the Scop, and its tuple name in maps.
    pub name: String,
    /// Of its cells.
    pub ty: ScalarType,
    /// Extents over the parameters. Those of an array of ours may be negative where there is nothing to keep in it.
    pub shape: Vec<Affine>,
    /// What bounds the first extent besides, for a buffer of something that may be smaller than a tile of it.
    pub first_at_most: Option<Affine>,
    /// Whether callers see it, and how.
    pub role: Role,
    /// Where it comes from.
    pub origin: ArrayOrigin,
    /// The first so many dimensions give an accumulator cells of its own in every iteration of ordered loops; it could do
    /// without them.
    pub expanded: usize,
    /// How its cells came to be where they are, if a layout has moved them; `shape` is that of their places.
    pub laid: Option<Laid>,
    /// Where it is declared.
    pub span: Span,
}

/// A layout that an array has been given.
#[derive(Clone, Debug)]
pub struct Laid {
    /// The extents that its subscripts have in the program.
    pub shape: Vec<Affine>,
    /// Where a cell is; `IterId(n)` is the n-th subscript of the program.
    pub places: Vec<Affine>,
    /// The names of the subscripts, for people.
    pub names: Vec<String>,
    /// What is in the places that hold no cell, if somebody has seen to that.
    pub fill: Option<Value>,
}

/// Where an array comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArrayOrigin {
    /// The program declares it.
    Declared,
    /// It holds partial results of a reduction.
    Accumulator,
    /// It holds, for some iterations of a loop, what they need of another array.
    Buffer,
}

/// What is run once for each point of a set: one store, or a loop that data bounds.
#[derive(Clone, Debug)]
pub struct Statement {
    /// Unique in the Scop, and its tuple name in sets and maps.
    pub name: String,
    /// The name of the source statement it comes from.
    pub source: String,
    /// What part of an assignment it is.
    pub kind: StatementKind,
    /// Its dimensions, outermost first.
    pub iters: Vec<IterId>,
    /// How many of them, counted from the outermost, belong to `for` loops, whose order is the program's.
    pub ordered: usize,
    /// How many of them, counted from the outermost, are not reduced: all, except in an update.
    pub kept: usize,
    /// Its instances.
    pub domain: Set,
    /// What it stores to.
    pub write: Access,
    /// What it loads, also for its conditions.
    pub reads: Vec<Access>,
    /// A loop whose bounds depend on data, which is the statement as a whole; `value` then says nothing.
    pub block: Option<Block>,
    /// What is done in loops inside the statement.
    pub inside: Vec<Inside>,
    /// What is stored. Reductions in it have become loads of their accumulators.
    pub value: Expr,
    /// When an instance runs in the program as it is written: places and loops in turn, outermost first.
    pub time: Vec<Affine>,
    /// The assignment in the source.
    pub span: Span,
}

/// A loop whose bounds depend on data, as one statement. It may write everything that it writes to, and reads it.
#[derive(Clone, Debug)]
pub struct Block {
    pub each: Each,
    /// What it writes besides the first access.
    pub writes: Vec<Access>,
}

/// Accesses in loops inside a statement, over the iterators of these as well: what is proven to be in bounds. The statement itself
/// has the same accesses, to all cells that come into question.
#[derive(Clone, Debug)]
pub struct Inside {
    pub iters: Vec<IterId>,
    pub writes: Vec<Access>,
    pub reads: Vec<Access>,
}

/// The part that a statement has in an assignment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StatementKind {
    /// A statement without reductions.
    Assign,
    /// Sets an accumulator to the neutral element.
    Init(ReduceOp),
    /// Adds one term to an accumulator. The order of the updates of one cell is free.
    Update(ReduceOp),
    /// Uses finished accumulators.
    Fini,
}

/// One array reference of a statement.
#[derive(Clone, Debug)]
pub struct Access {
    /// Of which array.
    pub array: ArrayId,
    /// Which cell, by iterators and data.
    pub index: Vec<Subscript>,
    /// Where it stands in the source.
    pub span: Span,
    /// From the instances that perform it to the cell; to all cells that come into question if it depends on data.
    pub map: Map,
}

impl Access {
    /// Whether the cell of an instance is known, rather than a matter of data.
    pub fn is_exact(&self) -> bool {
        self.index.iter().all(|subscript| matches!(subscript, Subscript::Affine(_)))
    }

    /// The subscripts of an exact access.
    pub fn affine_index(&self) -> Attempt<Vec<Affine>> {
        Subscript::all_affine(&self.index).ok_or_else(|| Fault::bug("a cell that depends on data is taken as known"))
    }

    /// `verb`, or `may verb` where that is a matter of data.
    pub(crate) fn verb(&self, verb: &str) -> String {
        if self.is_exact() { verb.to_string() } else { format!("may {}", verb.trim_end_matches('s')) }
    }

    /// Whether an instance touches the cell, or may.
    pub(crate) fn may_touch(&self, params: &[i64], iters: &[IterId], values: &[i64], cell: &[i64]) -> bool {
        let at = At { params, iters, values };
        let agrees = |(subscript, coordinate): (&Subscript, &i64)| match subscript {
            Subscript::Affine(affine) => at.affine(affine) == Some(*coordinate),
            Subscript::Data(_) => true,
        };
        self.index.len() == cell.len() && self.index.iter().zip(cell).all(agrees)
    }
}

impl Statement {
    /// Whether it updates cells that depend on data, which its instances may share.
    pub fn scatters(&self) -> bool {
        self.kind.is_update() && (self.block.is_some() || !self.write.is_exact())
    }

    /// Everything it writes.
    pub fn writes(&self) -> impl Iterator<Item = &Access> {
        std::iter::once(&self.write).chain(self.block.iter().flat_map(|block| &block.writes))
    }

    /// Whether it has loops of its own, so that its value is more than an expression.
    pub fn has_loops(&self) -> bool {
        let mut loops = self.block.is_some();
        self.value.visit(&mut |part| loops |= matches!(part.kind, ExprKind::Fold { .. }));
        loops
    }

    /// What an update adds to its accumulator: the value of an update is the accumulator combined with this.
    pub fn term(&self) -> Attempt<&Expr> {
        match (&self.value.kind, self.kind) {
            (ExprKind::Binary(_, _, term), StatementKind::Update(_)) => Ok(term),
            _ => Err(Fault::bug(format!("{} is no update", self.name))),
        }
    }
}

impl Scop {
    /// The array of an id.
    pub fn array(&self, id: ArrayId) -> &ScopArray {
        &self.arrays[id.index()]
    }

    /// The statement of a name.
    pub fn statement(&self, name: &str) -> Option<&Statement> {
        self.statements.iter().find(|statement| statement.name == name)
    }

    /// The array of a name, with its id.
    pub fn array_named(&self, name: &str) -> Option<(ArrayId, &ScopArray)> {
        let position = self.arrays.iter().position(|array| array.name == name)?;
        Some((ArrayId(position as u32), &self.arrays[position]))
    }

    /// Makes a tree, which is legal, the order in which the program is written. Equations have found their order then.
    pub(crate) fn adopt(&mut self, tree: &Tree) {
        self.equations = Equations::default();
        self.order = tree.clone();
        for branch in tree.branches() {
            let component = |entry: &Entry| match entry {
                Entry::Place(place) | Entry::Free(place) => Some(Affine::constant(*place)),
                Entry::Loop(_, expr) => Some(expr.clone()),
                Entry::Only(_) => None,
            };
            self.statements[branch.statement.index()].time = branch.entries.iter().filter_map(component).collect();
        }
    }

    /// Whether a condition holds for every instance of a statement.
    pub fn always(&self, statement: &Statement, cond: &Cond) -> diag::Result<bool> {
        let holds = || -> Attempt<bool> {
            let frame = Frame::new(&self.params, &self.function, Some(&statement.name), &statement.iters)?;
            Ok(statement.domain.is_subset(&frame.cond(cond)?)?)
        };
        holds().map_err(|fault| fault.at("schedule"))
    }

    /// A statement by its id.
    pub fn at(&self, id: StatementId) -> &Statement {
        &self.statements[id.index()]
    }

    /// All instances.
    pub fn domain(&self) -> isl::Result<UnionSet> {
        let mut union = UnionSet::empty(self.params.space())?;
        for statement in &self.statements {
            union = union.add_set(statement.domain.clone())?;
        }
        Ok(union)
    }

    /// The reads of accumulators by their own updates, and all other reads. Equation arrays are not among them.
    pub fn reads(&self) -> isl::Result<(UnionMap, UnionMap)> {
        let (mut of_updates, mut others) = (self.nothing()?, self.nothing()?);
        for statement in &self.statements {
            for read in statement.reads.iter().filter(|read| !self.equations.contains(read.array)) {
                if statement.kind.is_update() && !statement.kind.replaces() && read.array == statement.write.array {
                    of_updates = of_updates.add_map(read.map.clone())?;
                } else {
                    others = others.add_map(read.map.clone())?;
                }
            }
        }
        Ok((of_updates, others))
    }

    /// The empty relation.
    pub fn nothing(&self) -> isl::Result<UnionMap> {
        UnionMap::empty(self.params.space())
    }

    /// Writes of the statements for which `wanted` holds, except to equation arrays.
    pub fn writes(&self, wanted: impl Fn(StatementKind) -> bool) -> isl::Result<UnionMap> {
        let mut writes = self.nothing()?;
        for statement in self.statements.iter().filter(|statement| wanted(statement.kind)) {
            for write in statement.writes().filter(|write| !self.equations.contains(write.array)) {
                writes = writes.add_map(write.map.clone())?;
            }
        }
        Ok(writes)
    }

    /// The extents of an array as a box of cells.
    pub fn cells(&self, id: ArrayId) -> Attempt<Set> {
        let array = self.array(id);
        let dims = vec![""; array.shape.len()];
        let space = self.params.tuple(Some(&array.name), &dims)?;
        let mut set = Set::universe(space.clone())?;
        for (position, extent) in array.shape.iter().enumerate() {
            set = set.intersect(crate::sets::below(&space, position, extent)?)?;
        }
        if let Some(at_most) = &array.first_at_most {
            set = set.intersect(crate::sets::below(&space, 0, at_most)?)?;
        }
        Ok(set)
    }

    /// An access in the user's names.
    pub fn show_access(&self, array: ArrayId, index: &[Subscript]) -> String {
        let name = &self.array(array).name;
        if index.is_empty() { name.clone() } else { format!("{name}[{}]", self.lender().show_subscripts(index)) }
    }
}

impl StatementKind {
    /// As listings of statements call it.
    pub fn name(self) -> String {
        match self {
            StatementKind::Assign => "assign".into(),
            StatementKind::Init(op) => format!("init of {}", op.name()),
            StatementKind::Update(op) => format!("update of {}", op.name()),
            StatementKind::Fini => "fini".into(),
        }
    }

    /// Whether it adds to what is in its cell.
    pub fn is_update(self) -> bool {
        matches!(self, StatementKind::Update(_))
    }

    /// Whether it replaces the value of a cell chosen by data, so that its order counts.
    pub(crate) fn replaces(self) -> bool {
        matches!(self, StatementKind::Update(ReduceOp::Last | ReduceOp::Once))
    }
}

impl fmt::Display for Scop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "scop {}", self.function.name)?;
        writeln!(f, "context {}", self.context)?;
        for array in &self.arrays {
            let origin = match array.origin {
                ArrayOrigin::Declared => continue,
                ArrayOrigin::Accumulator => "accumulator",
                ArrayOrigin::Buffer => "buffer",
            };
            writeln!(f, "{origin} {}: {}[{}]", array.name, array.ty, self.function.show_list(&array.shape))?;
        }
        for statement in &self.statements {
            writeln!(f, "\n{}: {}", statement.name, statement.kind.name())?;
            writeln!(f, "    domain {}", statement.domain)?;
            for write in statement.writes() {
                writeln!(f, "    write  {}", write.map)?;
            }
            for read in &statement.reads {
                writeln!(f, "    read   {}", read.map)?;
            }
            writeln!(f, "    order  [{}]", self.function.show_list(&statement.time))?;
            if let Some(block) = &statement.block {
                writeln!(f, "    for {} …", self.function.counter(block.each.range.counter).name)?;
                continue;
            }
            let target = self.show_access(statement.write.array, &statement.write.index);
            writeln!(f, "    {target} = {}", self.show_value(&statement.value))?;
        }
        Ok(())
    }
}

impl Scop {
    fn show_value(&self, value: &Expr) -> String {
        self.lender().show_expr(value)
    }

    /// Accumulators are arrays that the function does not know, so it is lent them to show expressions.
    fn lender(&self) -> Function {
        let mut lender = self.function.clone();
        lender.arrays = self
            .arrays
            .iter()
            .map(|array| program::Array {
                name: array.name.clone(),
                ty: array.ty,
                shape: array.shape.clone(),
                role: array.role,
                span: array.span,
            })
            .collect();
        lender
    }
}
