//! Products in blocks of threads, for GPUs: a block computes a square of the result, a thread one cell of it, and what a square reads of both operands goes
//! through shared memory, piece by piece.
//!
//! In: contractions (`contraction`), each in a nest of its own.  Out: steps that tile, pack and place them. Without its steps such a nest is as good as any
//! other, so one that does not fit is no error.

use std::rc::Rc;

use poly::{Access, Axis, Dim};
use program::IterId;
use steps::{Loops, Place, Step, Verb, Word};

use super::Plan;
use super::contraction::{Contraction, mentions, shared};

/// Rows, columns and terms of a piece: 256 threads of a block copy one cell of each operand, and add up 16 terms.
const SIDE: i64 = 16;

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

    /// Copies what a piece reads of an operand into shared memory, neighbours by neighbouring threads.
    fn stage(&self, plan: &mut Plan, read: &Access, at: &str) -> diag::Result<bool> {
        let subject = Rc::clone(&plan.state.subject);
        let moving = |position: usize| {
            let along = read.index.get(position).and_then(|subscript| subscript.as_affine());
            [self.rows, self.columns, self.terms].iter().any(|iter| mentions(along, *iter))
        };
        let moving: Vec<usize> = (0..read.index.len()).filter(|position| moving(*position)).collect();
        let [down, across] = moving[..] else { return Ok(false) };
        let array = Word::new(&subject.scop.array(read.array).name);
        let place = Place { statement: Some(Word::new(self.statement.clone())), at: Word::new(at) };
        let reads = shared(&subject.scop, &self.statement, read);
        let verb = Verb::Pack { array, reads, at: Some(place), panels: Vec::new(), name: None };
        if !plan.take(Step::new(verb), "in shared memory")? {
            return Ok(false);
        }
        let known = |name: &str| subject.scop.statement(name).is_some();
        let scop = &Rc::clone(&plan.state.subject).scop;
        let Some(copy) = scop.statements.iter().find(|statement| !known(&statement.name)) else { return Ok(false) };
        let own = &copy.iters[copy.iters.len() - read.index.len()..];
        for (position, dim) in [(down, Dim::Y), (across, Dim::X)] {
            let loops = Loops::of(copy.name.clone(), [scop.function.iter(own[position]).name.clone()]);
            if !plan.take(Step::new(Verb::Place { loops, axis: Axis::Thread(dim) }), "")? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}
