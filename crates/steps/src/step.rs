//! The steps as data: one variant per verb, with exactly its own operands.

use diag::Span;
use layout::iter::Operation;
use poly::Axis;
use program::{Affine, Cond, IterId};

/// A name in a step, and where it is written. Names are equal wherever they stand.
#[derive(Clone, Debug, Eq)]
pub struct Word {
    /// The name.
    pub text: String,
    /// Where it is written; empty for steps that nobody wrote.
    pub span: Span,
}

impl Word {
    /// A name that nobody wrote.
    pub fn new(text: impl Into<String>) -> Word {
        Word { text: text.into(), span: Span::default() }
    }
}

impl PartialEq for Word {
    fn eq(&self, other: &Word) -> bool {
        self.text == other.text
    }
}

/// One step of a schedule. Steps are equal if they do the same, wherever they stand.
#[derive(Clone, Debug)]
pub struct Step {
    /// What it does.
    pub verb: Verb,
    /// Where it is written; empty for steps that nobody wrote.
    pub span: Span,
}

impl PartialEq for Step {
    fn eq(&self, other: &Step) -> bool {
        self.verb == other.verb
    }
}

impl Step {
    /// A step that nobody wrote.
    pub fn new(verb: Verb) -> Step {
        Step { verb, span: Span::default() }
    }

    /// Whether it changes statements, and not only when they run.
    pub fn rewrites(&self) -> bool {
        matches!(
            self.verb,
            Verb::Rfactor { .. }
                | Verb::Pack { .. }
                | Verb::ComputeAt { .. }
                | Verb::Inline { .. }
                | Verb::Expand { .. }
                | Verb::Layout { .. }
                | Verb::Detach { .. }
                | Verb::Extend { .. }
        )
    }
}

/// What a step does, with its operands.
#[derive(Clone, Debug, PartialEq)]
pub enum Verb {
    /// Run the loops block by block.
    Tile {
        /// The loops, in the order in which they nest inside a block.
        loops: Loops,
        /// A size per loop.
        sizes: Vec<i64>,
        /// A name per new loop, or none.
        names: Vec<Word>,
    },
    /// Cut a loop into pieces, in place.
    Strip {
        /// The loop.
        loops: Loops,
        /// Iterations per piece.
        size: i64,
        /// Of the loop over pieces.
        name: Option<Word>,
    },
    /// Unroll an outer loop and run its copies innermost.
    Jam {
        /// The loop.
        loops: Loops,
        /// How many copies.
        size: i64,
        /// Of the loop over pieces.
        name: Option<Word>,
    },
    /// Run iterations as straight code.
    Unroll {
        /// The loop.
        loops: Loops,
        /// How many; all if not given.
        size: Option<i64>,
        /// Of the loop over pieces.
        name: Option<Word>,
    },
    /// Run iterations in lockstep.
    Vectorize {
        /// The loop.
        loops: Loops,
        /// How many.
        lanes: u32,
        /// Of the loop over vectors.
        name: Option<Word>,
    },
    /// Run the iterations of a loop in any order, also at once.
    Parallel {
        /// The loop.
        loops: Loops,
    },
    /// The same, and say where the iterations run on a GPU.
    Place {
        /// The loop.
        loops: Loops,
        /// There.
        axis: Axis,
    },
    /// Cut a loop where the statements in it change, so that none of them needs a condition.
    Separate {
        /// The loop.
        loops: Loops,
    },
    /// Swap two loops.
    Interchange {
        /// The two.
        loops: Loops,
    },
    /// Put loops into another order.
    Reorder {
        /// The loops, in the order in which they shall nest.
        loops: Loops,
    },
    /// Add a multiple of one loop to another.
    Skew {
        /// The one, then the other.
        loops: Loops,
        /// How often.
        factor: i64,
    },
    /// Start a loop later or earlier.
    Shift {
        /// The loop.
        loops: Loops,
        /// By how many iterations.
        distance: i64,
    },
    /// Run a loop backwards.
    Reverse {
        /// The loop.
        loops: Loops,
    },
    /// Leave gaps between iterations.
    Scale {
        /// The loop.
        loops: Loops,
        /// From one to the next.
        factor: i64,
    },
    /// Share loops.
    Fuse {
        /// Whose loops.
        first: Word,
        /// Who joins them.
        second: Word,
        /// The innermost of the loops.
        at: Word,
    },
    /// Give each its own loop.
    Fission {
        /// The last statement in the first loop.
        first: Word,
        /// The first statement in the second loop.
        second: Word,
        /// The loop to divide.
        at: Word,
    },
    /// Change the order of statements that share their outer loops.
    Sequence {
        /// In this order.
        statements: Vec<Word>,
    },
    /// Run some instances before the others.
    Split {
        /// The loop that is divided.
        loops: Loops,
        /// Of the instances that come first.
        condition: Condition,
    },
    /// Count loops in another way, by an operation on their domains.
    Recount {
        /// One loop, or two.
        loops: Loops,
        /// What is done to them.
        operation: Operation,
        /// Of the loops that come of it, or none.
        names: Vec<Word>,
    },
    /// The same, by several operations.
    Loops {
        /// The loops that are counted in another way.
        loops: Loops,
        /// The operations, in the notation of `layout`.
        text: Word,
        /// Which iterations of the new loops run: a condition on what any of the domains counts. Those that have instances, if not given.
        predicate: Option<Condition>,
    },
    /// Give the times of statements directly.
    Map {
        /// A relation per statement.
        relations: Vec<Relation>,
    },
    /// Accumulate each iteration of a reduction's loop on its own, then combine.
    Rfactor {
        /// The loop.
        loops: Loops,
        /// Of the partial results, and of the loop that combines them.
        names: Vec<Word>,
    },
    /// Keep what an iteration of a loop uses of an array in a buffer.
    Pack {
        /// The array.
        array: Word,
        /// The indices that are the subscripts of the reads in question; all uses of the array if not given.
        reads: Option<Vec<Word>>,
        /// The loop; the whole call if none is given.
        at: Option<Place>,
        /// How many neighbours stay together in the buffer, per subscript; none for the order of the array.
        panels: Vec<i64>,
        /// Of the buffer.
        name: Option<Word>,
    },
    /// Compute a local array inside a loop that reads it, as far as it is needed there.
    ComputeAt {
        /// The array.
        array: Word,
        /// The loop.
        at: Place,
        /// Of the buffer.
        name: Option<Word>,
    },
    /// Compute the cells of a local array where they are read.
    Inline {
        /// The array.
        array: Word,
    },
    /// Give a local array cells of its own for each iteration of loops around all that use it.
    Expand {
        /// The array.
        array: Word,
        /// The indices of the loops.
        indices: Vec<Word>,
        /// Of the new array.
        name: Option<Word>,
    },
    /// Make a statement of its own of some instances.
    Detach {
        /// The statement.
        statement: Word,
        /// Of the instances that leave it.
        condition: Condition,
        /// Of the statement that they become.
        name: Option<Word>,
    },
    /// Keep the cells of an array in other places.
    Layout {
        /// The array.
        array: Word,
        /// Where its cells are.
        storage: Storage,
        /// Of the array that an argument is copied to.
        name: Option<Word>,
        /// Whether callers hand an argument over so, and nothing is copied.
        given: bool,
        /// What is written to the places that hold no cell: a number, or the name of a reduction for its neutral element.
        fill: Option<Word>,
    },
    /// Let a reduction run on, over holes.
    Extend {
        /// The loop over its terms.
        loops: Loops,
        /// To a multiple of this.
        size: i64,
    },
}

/// Where the cells of an array are.
#[derive(Clone, Debug)]
pub enum Storage {
    /// `A[i, j] => [i / 4, j, i % 4] in [N / 4 + 1, M, 4]`
    Map {
        /// The place of a cell, over its subscripts.
        places: Formula<Vec<Affine>>,
        /// How many places there are, per dimension; as many as the cells need if not given.
        shape: Option<Vec<Affine>>,
    },
    /// `A by 4, 1`: neighbours that stay together, per subscript, as in the buffer of `pack`.
    Panels(Vec<i64>),
    /// `A[i, j] = split(j, 8); reorder(jo, i, ji)`: in one of the notations of `layout`.
    Notation {
        /// Names for the subscripts; none for the usual ones.
        inputs: Vec<Word>,
        /// As it is written.
        text: String,
        /// Where.
        span: Span,
    },
}

impl PartialEq for Storage {
    fn eq(&self, other: &Storage) -> bool {
        match (self, other) {
            (Storage::Map { places: a, shape: b }, Storage::Map { places: c, shape: d }) => a == c && b == d,
            (Storage::Panels(one), Storage::Panels(two)) => one == two,
            (Storage::Notation { inputs: a, text: b, .. }, Storage::Notation { inputs: c, text: d, .. }) => {
                a == c && b == d
            }
            _ => false,
        }
    }
}

/// Loops of some statements. All statements that are named have the same loops named.
#[derive(Clone, Debug, PartialEq)]
pub struct Loops {
    /// At least one.
    pub targets: Vec<Target>,
}

/// Whose loops.
#[derive(Clone, Debug, PartialEq)]
pub enum Target {
    /// `i`: the loop of every statement that has one.
    Everywhere(Word),
    /// `S0[i, j]`: these loops around a statement.
    Of(Word, Vec<Word>),
}

impl Loops {
    /// Loops of one statement.
    pub fn of(statement: impl Into<String>, loops: impl IntoIterator<Item = String>) -> Loops {
        Loops { targets: vec![Target::Of(Word::new(statement), loops.into_iter().map(Word::new).collect())] }
    }

    /// The names of the loops, which all targets share.
    pub fn names(&self) -> Vec<&Word> {
        match self.targets.first() {
            Some(Target::Everywhere(name)) => vec![name],
            Some(Target::Of(_, names)) => names.iter().collect(),
            None => Vec::new(),
        }
    }
}

/// `kt`, or `S0[kt]`: a loop to do something in.
#[derive(Clone, Debug, PartialEq)]
pub struct Place {
    /// The statement around which it is, if that is said.
    pub statement: Option<Word>,
    /// The loop.
    pub at: Word,
}

/// Something over indices that are named, and bound to iterators when it is known of which statement.
#[derive(Clone, Debug, PartialEq)]
pub struct Formula<T> {
    inputs: Vec<Word>,
    /// `IterId(n)` in it is the n-th input; nobody else sees it.
    body: T,
}

/// The instances that a split puts first, or that become another statement.
pub type Condition = Formula<Cond>;

impl<T> Formula<T> {
    /// `body` over `inputs`, its iterators numbered as the inputs are.
    pub fn new(inputs: Vec<Word>, body: T) -> Formula<T> {
        Formula { inputs, body }
    }

    /// The indices.
    pub fn inputs(&self) -> &[Word] {
        &self.inputs
    }

    /// What is said of them, for printing: iterators are numbered as the inputs are.
    pub(crate) fn body(&self) -> &T {
        &self.body
    }
}

impl Formula<Cond> {
    /// The condition with iterators for the inputs; `None` on overflow.
    pub(crate) fn bind(&self, iters: &[IterId]) -> Option<Cond> {
        self.body.substitute(&|input| iters.get(input.index()).map(|iter| Affine::iter(*iter)))
    }
}

impl Formula<Vec<Affine>> {
    /// The expressions with iterators for the inputs; `None` on overflow.
    pub(crate) fn bind(&self, iters: &[IterId]) -> Option<Vec<Affine>> {
        let bound = |expr: &Affine| expr.substitute(&|input| iters.get(input.index()).map(|iter| Affine::iter(*iter)));
        self.body.iter().map(bound).collect()
    }
}

/// `S0[i, j] -> [i + j, j]`
#[derive(Clone, Debug)]
pub struct Relation {
    /// The statement.
    pub statement: Word,
    /// Its times.
    pub times: Formula<Vec<Affine>>,
    /// Where it is written.
    pub span: Span,
}

impl PartialEq for Relation {
    fn eq(&self, other: &Relation) -> bool {
        self.statement == other.statement && self.times == other.times
    }
}
