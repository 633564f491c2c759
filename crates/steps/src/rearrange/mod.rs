//! Steps that only change when instances run: tree in, tree out.
//!
//! A step edits the branches of the statements that it names, and the tree is grown again from them. Branches that share a
//! loop before go on sharing it as far as their entries still agree.

mod domain;
mod gather;
mod kinds;
mod map;
mod nesting;
mod order;
mod select;
mod shape;

use diag::{Diagnostic, Span};
use layout::iter::{Operation, SplitKind, SwizzleKind};
use poly::{Band, Branch, Loop, LoopId, Scop, Tree};

use crate::refusal::Drafted;
use crate::step::{Step, Verb};
use crate::verbs::verbs;

pub use gather::gathered;
pub(crate) use order::indices;
pub(crate) use select::{branches_of, statements, unknown_loop, with_loop};

pub(crate) type Applied<T> = Result<T, Box<Diagnostic>>;

/// Applies a step that only rearranges.
pub(crate) fn apply(scop: &Scop, tree: &Tree, step: &Step) -> Drafted<Tree> {
    let mut edit = Edit { scop, tree, step, loops: tree.table(), branches: tree.branches() };
    match &step.verb {
        Verb::Tile { loops, sizes, names } => nesting::tile(&mut edit, loops, sizes, names)?,
        Verb::Strip { loops, size, name } => nesting::strip(&mut edit, loops, *size, name.as_ref())?,
        Verb::Jam { loops, size, name } => nesting::jam(&mut edit, loops, *size, name.as_ref())?,
        Verb::Interchange { loops } => nesting::interchange(&mut edit, loops)?,
        Verb::Reorder { loops } => nesting::reorder(&mut edit, loops)?,
        Verb::Unroll { loops, size, name } => kinds::unroll(&mut edit, loops, *size, name.as_ref())?,
        Verb::Vectorize { loops, lanes, name } => kinds::vectorize(&mut edit, loops, *lanes, name.as_ref())?,
        Verb::Parallel { loops } => kinds::parallel(&mut edit, loops)?,
        Verb::Place { loops, axis } => kinds::place(&mut edit, loops, *axis)?,
        Verb::Separate { loops } => kinds::separate(&mut edit, loops)?,
        Verb::Skew { loops, factor } => shape::skew(&mut edit, loops, *factor)?,
        Verb::Shift { loops, distance } => shape::shift(&mut edit, loops, *distance)?,
        Verb::Reverse { loops } => shape::reverse(&mut edit, loops)?,
        Verb::Scale { loops, factor } => shape::scale(&mut edit, loops, *factor)?,
        Verb::Fuse { first, second, at } => order::fuse(&mut edit, first, second, at)?,
        Verb::Fission { first, second, at } => order::fission(&mut edit, first, second, at)?,
        Verb::Sequence { statements } => order::sequence(&mut edit, statements)?,
        Verb::Split { loops, condition } => order::split(&mut edit, loops, condition)?,
        Verb::Recount { loops, operation, names } => domain::recount(&mut edit, loops, operation, names)?,
        Verb::Loops { loops, text, predicate } => domain::count(&mut edit, loops, text, predicate.as_ref())?,
        Verb::Map { relations } => return Ok(map::map(&edit, relations)?),
        Verb::Rfactor { .. }
        | Verb::Pack { .. }
        | Verb::ComputeAt { .. }
        | Verb::Inline { .. }
        | Verb::Expand { .. }
        | Verb::Layout { .. }
        | Verb::Detach { .. }
        | Verb::Extend { .. } => {
            let message = format!("`{}` changes the statements, which is not possible here", verb_name(step));
            return Err(Diagnostic::error("E0512", step.span, message).into());
        }
    }
    Ok(Tree::grow(edit.loops, edit.branches))
}

/// A tree while a step changes it. Loops are named as in `tree`; new ones are only in `loops`.
struct Edit<'a> {
    scop: &'a Scop,
    tree: &'a Tree,
    step: &'a Step,
    loops: Vec<Loop>,
    branches: Vec<Branch>,
}

impl Edit<'_> {
    /// The source statement of a branch.
    fn source(&self, number: usize) -> &str {
        &self.scop.at(self.branches[number].statement).source
    }

    /// The statement of a branch.
    fn name(&self, number: usize) -> &str {
        &self.scop.at(self.branches[number].statement).name
    }

    fn add_loop(&mut self, found: Loop) -> LoopId {
        let id = LoopId(self.loops.len() as u32);
        self.loops.push(found);
        id
    }

    /// What isl has said about loops holds no longer where they have changed.
    fn forget_bands(&mut self, numbers: &[usize]) {
        for number in numbers {
            for (_, id, _) in self.branches[*number].loops() {
                self.loops[id.index()].band = Band::default();
            }
        }
    }

    /// Puts the parts of one statement among these branches into one nest.
    fn gather(&mut self, numbers: &[usize]) {
        gather::gather(self.scop, &self.loops, &mut self.branches, numbers);
    }

    fn misuse(&self, span: Span, what: impl Into<String>) -> Box<Diagnostic> {
        misuse(self.step, span, what)
    }

    /// The numbers of the step do not fit into 64 bits.
    fn overflow(&self) -> Box<Diagnostic> {
        overflow(self.step)
    }

    fn refuse(&self, span: Span, what: impl Into<String>) -> Diagnostic {
        Diagnostic::error("E0513", span, what)
    }
}

/// The verb of a step, as it is written.
pub(crate) fn verb_name(step: &Step) -> &'static str {
    match &step.verb {
        Verb::Tile { .. } => "tile",
        Verb::Strip { .. } => "strip",
        Verb::Jam { .. } => "jam",
        Verb::Unroll { .. } => "unroll",
        Verb::Vectorize { .. } => "vectorize",
        Verb::Parallel { .. } => "parallel",
        Verb::Place { .. } => "place",
        Verb::Separate { .. } => "separate",
        Verb::Interchange { .. } => "interchange",
        Verb::Reorder { .. } => "reorder",
        Verb::Skew { .. } => "skew",
        Verb::Shift { .. } => "shift",
        Verb::Reverse { .. } => "reverse",
        Verb::Scale { .. } => "scale",
        Verb::Fuse { .. } => "fuse",
        Verb::Fission { .. } => "fission",
        Verb::Sequence { .. } => "sequence",
        Verb::Split { .. } => "split",
        Verb::Recount { operation, .. } => match operation {
            Operation::Split { kind: SplitKind::Inner, .. } => "split",
            Operation::Split { kind: SplitKind::Outer, .. } => "outer_split",
            Operation::Merge => "merge",
            Operation::Resize { .. } => "resize",
            Operation::Swizzle(SwizzleKind::Xor) => "swizzle",
            Operation::Swizzle(SwizzleKind::CyclicShift) => "shift",
        },
        Verb::Loops { .. } => "loops",
        Verb::Map { .. } => "map",
        Verb::Rfactor { .. } => "rfactor",
        Verb::Pack { .. } => "pack",
        Verb::ComputeAt { .. } => "compute_at",
        Verb::Inline { .. } => "inline",
        Verb::Expand { .. } => "expand",
        Verb::Layout { .. } => "layout",
        Verb::Detach { .. } => "detach",
        Verb::Extend { .. } => "extend",
    }
}

/// A step whose operands do not fit its verb.
pub(crate) fn misuse(step: &Step, span: Span, what: impl Into<String>) -> Box<Diagnostic> {
    let mut diagnostic = Diagnostic::error("E0512", span, what);
    if let Some((_, help)) = verbs().find(|(name, _)| *name == verb_name(step)) {
        diagnostic = diagnostic.help(format!("the form is `{help}`"));
    }
    Box::new(diagnostic)
}

/// The numbers of a step do not fit into 64 bits.
pub(crate) fn overflow(step: &Step) -> Box<Diagnostic> {
    Box::new(Diagnostic::error("E0512", step.span, "the numbers of this step are too large"))
}
