//! Where whole groups of lanes begin: at cache lines, if all rows of a loop reach theirs at once.
//!
//! A vector loop over rows that begin anywhere pays twice for each load that reaches over the end of a line. If what it stores and what it loads
//! lie alike in their lines, as rows do whose distance is a whole number of lines, then the iterations up to the next line run first, under a
//! mask, and all others touch whole lines. Only where it does not matter which iterations are in a group together: what is written is touched
//! at the cell of its own iteration alone, and nothing is added up over lanes.

use loops::{ArrayId, Expr, ExprKind, For, Index, Stmt, Target, VarId, Visit, lane_sums};

use super::access::Place;
use super::{Lower, Nest};
use crate::lanes::ir::{Op, Type, ValueId, WordOp};

/// Bytes of a cache line, and of the largest register.
const LINE: i64 = 64;
/// With fewer rows to load from, or fewer groups of lanes, the first group costs what the others save.
const FEWEST_ROWS: usize = 3;
const FEWEST_GROUPS: i64 = 3;

/// What a body touches; none if it does anything but load and store at subscripts.
#[derive(Default)]
struct Touched {
    read: Vec<(ArrayId, Vec<Index>)>,
    written: Vec<(ArrayId, Vec<Index>)>,
    other: bool,
}

impl Visit for Touched {
    fn stmt(&mut self, stmt: &Stmt) {
        match stmt {
            Stmt::Store { array, index, .. } => self.written.push((*array, index.clone())),
            Stmt::Update { target: Target::Cell { array, index }, .. } => {
                self.read.push((*array, index.clone()));
                self.written.push((*array, index.clone()));
            }
            Stmt::Set { .. } | Stmt::If { .. } => {}
            _ => self.other = true,
        }
        self.descend_stmt(stmt);
    }

    fn expr(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Load { array, index } => self.read.push((*array, index.clone())),
            ExprKind::Gather { .. } => self.other = true,
            _ => {}
        }
        self.descend_expr(expr);
    }
}

impl Nest<'_> {
    /// How many iterations run before the first whole group, as a word from 0 to less than a group; the loop has been entered. None if they
    /// would gain nothing, or if it matters.
    pub(super) fn head(&mut self, r#for: &For, trips: ValueId) -> Lower<Option<ValueId>> {
        let mut touched = Touched::default();
        touched.block(&r#for.body);
        let few = self.constant_of(trips).is_some_and(|trips| trips < FEWEST_GROUPS * i64::from(self.program.lanes));
        if !self.aligns || touched.other || few || r#for.step != 1 || !lane_sums(r#for)?.is_empty() {
            return Ok(None);
        }
        let Touched { read, written, .. } = touched;
        let own = |array: ArrayId| written.iter().find(|(known, _)| *known == array);
        let strays = |(array, index): &(ArrayId, Vec<Index>)| own(*array).is_some_and(|(_, own)| own != index);
        if read.iter().chain(&written).any(strays) {
            return Ok(None);
        }
        let mut stored = None;
        for (array, index) in &written {
            let place = self.place(*array, index)?;
            if !self.moves(place.group, r#for.var) {
                return Ok(None);
            }
            if stored.is_none() && self.is_unit(&place, r#for.var)? {
                stored = Some(place);
            }
        }
        let Some(stored) = stored else { return Ok(None) };
        let rows = self.single_rows(&read, r#for.var)?;
        if rows.len() < FEWEST_ROWS {
            return Ok(None);
        }
        self.head_of(&stored, &rows, trips).map(Some)
    }

    /// The places that are read, each in a row of its own: of neighbours, one straddles anyway.
    fn single_rows(&mut self, read: &[(ArrayId, Vec<Index>)], var: VarId) -> Lower<Vec<Place>> {
        let mut rows: Vec<Vec<Place>> = Vec::new();
        for (array, index) in read {
            let place = self.place(*array, index)?;
            if !self.is_unit(&place, var)? {
                continue;
            }
            let same_row = |row: &&mut Vec<Place>| row[0].group == place.group && row[0].shift == place.shift;
            match rows.iter_mut().find(same_row) {
                Some(row) if row.contains(&place) => {}
                Some(row) => row.push(place),
                None => rows.push(vec![place]),
            }
        }
        Ok(rows.into_iter().filter(|row| row.len() == 1).flatten().collect())
    }

    /// The number of iterations up to the next line of what is stored, if rows lie like it in their lines and there are iterations enough; else 0.
    fn head_of(&mut self, stored: &Place, rows: &[Place], trips: ValueId) -> Lower<ValueId> {
        let size = self.memory_type(stored.array).bytes() as i64;
        let lanes = i64::from(self.program.lanes);
        let line = LINE.min(lanes * size);
        let within = self.word(line - 1);
        let stored_at = self.location(stored)?;
        let mut apart = self.word(0);
        for place in rows {
            let at = self.location(place)?;
            if at == stored_at {
                continue;
            }
            let difference = self.make(Type::Word, Op::Word(WordOp::Sub, at, stored_at));
            let difference = self.make(Type::Word, Op::Word(WordOp::And, difference, within));
            apart = self.add(apart, difference);
        }
        let (zero, fewest) = (self.word(0), self.word(FEWEST_GROUPS * lanes));
        let alike = self.make(Type::Word, Op::Word(WordOp::Eq, apart, zero));
        let enough = self.make(Type::Word, Op::Word(WordOp::Le, fewest, trips));
        let pays = self.make(Type::Word, Op::Word(WordOp::And, alike, enough));
        // All ones, or none.
        let pays = self.make(Type::Word, Op::Word(WordOp::Sub, zero, pays));
        let bytes = self.make(Type::Word, Op::Word(WordOp::Sub, zero, stored_at));
        let (bits, below) = (self.word(i64::from(size.trailing_zeros())), self.word(line / size - 1));
        let count = self.make(Type::Word, Op::Word(WordOp::Shr, bytes, bits));
        let count = self.make(Type::Word, Op::Word(WordOp::And, count, below));
        Ok(self.make(Type::Word, Op::Word(WordOp::And, pays, count)))
    }

    /// The address of an access in the first lane, as a word.
    fn location(&mut self, place: &Place) -> Lower<ValueId> {
        let at = self.first(place)?;
        let offset = self.word(i64::from(at.offset));
        let base = self.add(at.base, offset);
        Ok(at.index.map_or(base, |(shift, _)| self.add(base, shift)))
    }

    fn is_unit(&mut self, place: &Place, var: VarId) -> Lower<bool> {
        let apart = self.movement(place.group, var)?;
        Ok(self.constant_of(apart) == Some(self.memory_type(place.array).bytes() as i64))
    }
}
