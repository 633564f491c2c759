//! Products in blocks of threads, for GPUs: what a tile of the result reads of both operands goes through shared memory, piece by piece.
//!
//! In: contractions (`contraction`), each in a nest of its own.  Out: steps that tile, pack and place them. Without its steps such a nest is as good as any
//! other, so one that does not fit is no error.
//!
//! Where the sizes are known to be whole numbers of large tiles, a thread computes many cells in registers, which every cell in shared memory is read for at
//! once, and all of its accesses are 128 bits wide. Otherwise a block computes a small square, a thread one cell of it: tiles that are not full then cost least.

use std::rc::Rc;

use poly::{Access, Axis, Dim, Scop, Statement, StatementKind};
use program::{BinaryOp, ExprKind, IterId};
use steps::{Loops, Operation, Place, SplitKind, Step, Verb, Word};

use super::Plan;
use super::contraction::{Contraction, mentions, shared};

/// Rows, columns and terms of a small piece: 256 threads of a block copy one cell of each operand, and add up 16 terms.
const SIDE: i64 = 16;

/// Threads along each side of a large tile.
const THREADS: i64 = 16;
/// Terms of a piece of a large tile: 256 threads copy 128 bits of each operand, and add up 8 terms for each of their cells.
const DEPTH: i64 = 8;
/// What a thread moves at once.
const WIDE_BYTES: i64 = 16;

/// The cells of a large tile: 16 × 16 threads with an even number of rows and twice as many neighbours as 128 bits hold, 8 × 8 cells of four bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Large {
    /// Cells in 128 bits.
    wide: i64,
}

impl Large {
    /// Rows of a thread, and as many columns, in two groups of neighbours.
    fn cells(self) -> i64 {
        2 * self.wide
    }

    /// Rows and columns of the tile.
    fn side(self) -> i64 {
        THREADS * self.cells()
    }
}

impl Contraction {
    /// Places a contraction on blocks and threads; whether that could be said.
    pub(crate) fn on_threads(&self, plan: &mut Plan) -> diag::Result<bool> {
        let subject = Rc::clone(&plan.state.subject);
        let (scop, name) = (&subject.scop, &self.statement);
        let Some(statement) = scop.statement(name) else { return Ok(false) };
        let called = |iter: IterId| scop.function.iter(iter).name.clone();
        let (rows, columns, terms) = (called(self.rows), called(self.columns), called(self.terms));
        let over = |loops: &[&str]| Loops::of(name.clone(), loops.iter().map(|name| (*name).to_string()));
        let outer = |name: &str| plan.fresh(&format!("{name}t"));
        let (it, jt, kt) = (outer(&rows), outer(&columns), outer(&terms));
        let place = |name: &str, axis: Axis| Verb::Place { loops: over(&[name]), axis };
        let mut steps = vec![
            (
                Verb::Tile {
                    loops: over(&[&rows, &columns, &terms]),
                    sizes: vec![SIDE; 3],
                    names: [&it, &jt, &kt].map(Word::new).to_vec(),
                },
                "a block computes a square of cells",
            ),
            (place(&it, Axis::Block(Dim::Y)), ""),
            (place(&jt, Axis::Block(Dim::X)), ""),
        ];
        match self.batch.as_slice() {
            [] => {}
            [batch] => steps.insert(1, (place(&called(*batch), Axis::Block(Dim::Z)), "")),
            _ => return Ok(false),
        }
        for (verb, why) in steps {
            if !plan.take(Step::new(verb), why)? {
                return Ok(false);
            }
        }
        for read in statement.reads.iter().filter(|read| read.array != statement.write.array) {
            if !self.stage(plan, read, &kt)? {
                return Ok(false);
            }
        }
        let own = [
            place(&rows, Axis::Thread(Dim::Y)),
            place(&columns, Axis::Thread(Dim::X)),
            Verb::Unroll { loops: over(&[&terms]), size: None, name: None },
        ];
        for verb in own {
            if !plan.take(Step::new(verb), "")? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether the contraction is made of whole large tiles: a product of two cells, each operand with plain subscripts, and sizes that are multiples of the tile's
    /// whatever the parameters are.
    pub(crate) fn has_large_tiles(&self, scop: &Scop) -> bool {
        self.large(scop).is_some()
    }

    fn large(&self, scop: &Scop) -> Option<Large> {
        let statement = scop.statement(&self.statement)?;
        let result = scop.array(statement.write.array);
        let large = Large { wide: WIDE_BYTES / result.ty.bytes() as i64 };
        let term = statement.term().ok()?;
        let is_load = |kind: &ExprKind| matches!(kind, ExprKind::Load { .. });
        let product =
            matches!(&term.kind, ExprKind::Binary(BinaryOp::Mul, one, two) if is_load(&one.kind) && is_load(&two.kind));
        let one_sum = statement.iters.len() == statement.kept + 1;
        if !product || !one_sum || !matches!(large.wide, 2 | 4) || self.batch.len() > 1 {
            return None;
        }
        let whole = |access: &Access| {
            let array = scop.array(access.array);
            array.ty == result.ty
                && access.index.iter().zip(&array.shape).all(|(subscript, extent)| {
                    let Some(iter) = subscript.as_affine().and_then(|at| at.as_iter()) else { return false };
                    let size = match iter {
                        iter if iter == self.rows || iter == self.columns => large.side(),
                        iter if iter == self.terms => DEPTH,
                        iter => return self.batch.contains(&iter),
                    };
                    extent.rem(size).and_then(|rest| rest.as_constant()) == Some(0)
                })
        };
        let mut accesses = statement.reads.iter().chain([&statement.write]);
        accesses.all(whole).then_some(large)
    }

    /// Places a contraction on blocks and threads in large tiles; whether that could be said.
    pub(crate) fn in_registers(&self, plan: &mut Plan) -> diag::Result<bool> {
        let subject = Rc::clone(&plan.state.subject);
        let (scop, name) = (&subject.scop, &self.statement);
        let (Some(statement), Some(large)) = (scop.statement(name), self.large(scop)) else { return Ok(false) };
        let called = |iter: IterId| scop.function.iter(iter).name.clone();
        let (rows, columns, terms) = (called(self.rows), called(self.columns), called(self.terms));
        let over = |loops: &[&str]| Loops::of(name.clone(), loops.iter().map(|name| (*name).to_string()));
        let outer = |name: &str| plan.fresh(&format!("{name}t"));
        let (it, jt, kt) = (outer(&rows), outer(&columns), outer(&terms));
        let tile = Verb::Tile {
            loops: over(&[&rows, &columns, &terms]),
            sizes: vec![large.side(), large.side(), DEPTH],
            names: [&it, &jt, &kt].map(Word::new).to_vec(),
        };
        if !plan.take(Step::new(tile), "a block computes a tile of cells")? {
            return Ok(false);
        }
        // What sets the cells to zero joins the block, so that they are in registers from the beginning.
        let start = self.start(scop, statement);
        let (mut it, mut jt) = (it, jt);
        let mut joined = plan.clone();
        let start = match start {
            Some(start) => match self.join(&mut joined, start, large)? {
                Some(names) => {
                    *plan = joined;
                    (it, jt) = names;
                    Some(start)
                }
                None => None,
            },
            None => None,
        };
        let place = |name: &str, axis: Axis| Verb::Place { loops: over(&[name]), axis };
        let batch = self.batch.iter().map(|batch| place(&called(*batch), Axis::Block(Dim::Z)));
        let blocks = [place(&it, Axis::Block(Dim::Y)), place(&jt, Axis::Block(Dim::X))];
        for verb in batch.chain(blocks) {
            if !plan.take(Step::new(verb), "")? {
                return Ok(false);
            }
        }
        for read in statement.reads.iter().filter(|read| read.array != statement.write.array) {
            if !self.stage_wide(plan, read, &kt, large)? {
                return Ok(false);
            }
        }
        if !self.cells_of_threads(plan, statement, Some(&terms), large)? {
            return Ok(false);
        }
        match start {
            Some(start) => self.cells_of_threads(plan, start, None, large),
            None => Ok(true),
        }
    }

    /// The statement that sets the cells of the sum to zero.
    fn start<'a>(&self, scop: &'a Scop, update: &Statement) -> Option<&'a Statement> {
        scop.statements.iter().find(|statement| {
            matches!(statement.kind, StatementKind::Init(_))
                && statement.source == update.source
                && statement.write.array == update.write.array
                && statement.iters == update.iters[..update.kept]
        })
    }

    /// Tiles the statement that begins the sums, and lets the sums join its tiles; the names of the loops over these.
    fn join(&self, plan: &mut Plan, start: &Statement, large: Large) -> diag::Result<Option<(String, String)>> {
        let scop = &Rc::clone(&plan.state.subject).scop;
        let called = |iter: IterId| scop.function.iter(iter).name.clone();
        let (rows, columns) = (called(self.rows), called(self.columns));
        let (it, jt) = (plan.fresh(&format!("{rows}t")), plan.fresh(&format!("{columns}t")));
        let tile = Verb::Tile {
            loops: Loops::of(start.name.clone(), [rows, columns]),
            sizes: vec![large.side(); 2],
            names: [&it, &jt].map(Word::new).to_vec(),
        };
        let (first, second) = (Word::new(start.name.clone()), Word::new(self.statement.clone()));
        let fuse = Verb::Fuse { first, second, at: Word::new(&jt) };
        let done = plan.take(Step::new(tile), "")? && plan.take(Step::new(fuse), "cells begin in registers")?;
        Ok(done.then_some((it, jt)))
    }

    /// Gives each thread its cells of a tile: neighbouring rows, and two groups of neighbouring columns, so that what the threads of a warp read at once lies side by side.
    fn cells_of_threads(
        &self,
        plan: &mut Plan,
        statement: &Statement,
        terms: Option<&str>,
        large: Large,
    ) -> diag::Result<bool> {
        let scop = &Rc::clone(&plan.state.subject).scop;
        let called = |iter: IterId| scop.function.iter(iter).name.clone();
        let (rows, columns) = (called(self.rows), called(self.columns));
        let over = |loops: &[&str]| Loops::of(statement.name.clone(), loops.iter().map(|name| (*name).to_string()));
        let fresh = |name: &str, kind: &str| plan.fresh(&format!("{name}{kind}"));
        let (iq, ir) = (fresh(&rows, "q"), fresh(&rows, "r"));
        let (jh, jw) = (fresh(&columns, "h"), fresh(&columns, "w"));
        let (jq, jr) = (fresh(&columns, "q"), fresh(&columns, "r"));
        let split = |name: &str, factor: i64, parts: [&String; 2]| Verb::Recount {
            loops: over(&[name]),
            operation: Operation::Split { kind: SplitKind::Inner, factor },
            names: parts.map(Word::new).to_vec(),
        };
        let inside: Vec<&str> = terms.into_iter().chain([&*ir, &*jh, &*jr]).collect();
        let order: Vec<&str> = [&*iq, &*jq].into_iter().chain(inside.iter().copied()).collect();
        let unrolled = inside.iter().map(|name| Verb::Unroll { loops: over(&[*name]), size: None, name: None });
        let steps = [
            split(&rows, large.cells(), [&iq, &ir]),
            split(&columns, THREADS * large.wide, [&jh, &jw]),
            split(&jw, large.wide, [&jq, &jr]),
            Verb::Reorder { loops: over(&order) },
            Verb::Place { loops: over(&[&*iq]), axis: Axis::Thread(Dim::Y) },
            Verb::Place { loops: over(&[&*jq]), axis: Axis::Thread(Dim::X) },
        ];
        for (number, verb) in steps.into_iter().chain(unrolled.collect::<Vec<_>>()).enumerate() {
            let why = if number == 0 { "a thread has many cells, in registers" } else { "" };
            if !plan.take(Step::new(verb), why)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Copies what a piece reads of an operand into shared memory, 128 bits for each thread, so that the cells for one term lie side by side.
    fn stage_wide(&self, plan: &mut Plan, read: &Access, at: &str, large: Large) -> diag::Result<bool> {
        let along = |iter: IterId| {
            let plain =
                |subscript: &program::Subscript| subscript.as_affine().and_then(|at| at.as_iter()) == Some(iter);
            read.index.iter().position(plain)
        };
        let Some(terms) = along(self.terms) else { return Ok(false) };
        let Some(cells) = along(self.rows).or_else(|| along(self.columns)) else { return Ok(false) };
        let panel = |position: usize| if position == cells { large.side() } else { 1 };
        let panels = if cells < terms { (0..read.index.len()).map(panel).collect() } else { Vec::new() };
        let Some(own) = self.pack(plan, read, at, panels)? else { return Ok(false) };
        let (down, across) = (&own.indices[cells.min(terms)], &own.indices[cells.max(terms)]);
        let over = |name: &str| Loops::of(own.name.clone(), [name.to_owned()]);
        let (groups, neighbours) = (plan.fresh(&format!("{across}q")), plan.fresh(&format!("{across}r")));
        let steps = [
            Verb::Recount {
                loops: over(across),
                operation: Operation::Split { kind: SplitKind::Inner, factor: large.wide },
                names: [&groups, &neighbours].map(Word::new).to_vec(),
            },
            Verb::Place { loops: over(down), axis: Axis::Thread(Dim::Y) },
            Verb::Place { loops: over(&groups), axis: Axis::Thread(Dim::X) },
            Verb::Unroll { loops: over(&neighbours), size: None, name: None },
        ];
        for verb in steps {
            if !plan.take(Step::new(verb), "")? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Copies what a piece reads of an operand into shared memory, neighbours by neighbouring threads.
    fn stage(&self, plan: &mut Plan, read: &Access, at: &str) -> diag::Result<bool> {
        let moving = |position: usize| {
            let along = read.index.get(position).and_then(|subscript| subscript.as_affine());
            [self.rows, self.columns, self.terms].iter().any(|iter| mentions(along, *iter))
        };
        let moving: Vec<usize> = (0..read.index.len()).filter(|position| moving(*position)).collect();
        let [down, across] = moving[..] else { return Ok(false) };
        let Some(own) = self.pack(plan, read, at, Vec::new())? else { return Ok(false) };
        for (position, dim) in [(down, Dim::Y), (across, Dim::X)] {
            let loops = Loops::of(own.name.clone(), [own.indices[position].clone()]);
            if !plan.take(Step::new(Verb::Place { loops, axis: Axis::Thread(dim) }), "")? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Keeps what a piece reads of an operand in a buffer.
    fn pack(&self, plan: &mut Plan, read: &Access, at: &str, panels: Vec<i64>) -> diag::Result<Option<Copy>> {
        let subject = Rc::clone(&plan.state.subject);
        let array = Word::new(&subject.scop.array(read.array).name);
        let place = Place { statement: Some(Word::new(self.statement.clone())), at: Word::new(at) };
        let reads = shared(&subject.scop, &self.statement, read);
        let verb = Verb::Pack { array, reads, at: Some(place), panels, name: None };
        if !plan.take(Step::new(verb), "in shared memory")? {
            return Ok(None);
        }
        let known = |name: &str| subject.scop.statement(name).is_some();
        let scop = &plan.state.subject.scop;
        let Some(copy) = scop.statements.iter().find(|statement| !known(&statement.name)) else { return Ok(None) };
        let own = &copy.iters[copy.iters.len() - read.index.len()..];
        let indices = own.iter().map(|iter| scop.function.iter(*iter).name.clone()).collect();
        Ok(Some(Copy { name: copy.name.clone(), indices }))
    }
}

/// A statement that copies an operand, and what its loops over the operand's subscripts are called.
struct Copy {
    name: String,
    indices: Vec<String>,
}
