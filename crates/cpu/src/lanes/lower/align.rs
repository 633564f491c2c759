//! Where whole groups of lanes begin: at cache lines, if all rows of a loop reach theirs at once, or if what is stored goes past the caches.
//!
//! A vector loop over rows that begin anywhere pays twice for each load that reaches over the end of a line. If what it stores and what it loads
//! lie alike in their lines, as rows do whose distance is a whole number of lines, then the iterations up to the next line run first, under a
//! mask, and all others touch whole lines. Only where it does not matter which iterations are in a group together: what is written is touched
//! at the cell of its own iteration alone, and nothing is added up over lanes.
//!
//! A store into a line that is in no cache first fetches the line, although nothing of it will be left. An array that a kernel only writes, and
//! that is too large for the caches to keep, is written past them in whole lines (`Past`).

use loops::{ArrayDecl, ArrayId, Expr, ExprKind, For, Index, Kernel, Stmt, Target, VarId, Visit, lane_sums};
use program::Role;

use super::access::Place;
use super::{Argument, Lower, Nest};
use crate::lanes::ir::{Access, Op, Type, ValueId, WordOp};

/// With fewer rows to load from, or fewer groups of lanes, the first group costs what the others save.
const FEWEST_ROWS: usize = 3;
const FEWEST_GROUPS: i64 = 3;

/// What a body touches, and whether it does anything but load and store at subscripts; what is read at others is in `read` without them.
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
            Stmt::Scatter { array, .. } => {
                self.read.push((*array, Vec::new()));
                self.other = true;
            }
            _ => self.other = true,
        }
        self.descend_stmt(stmt);
    }

    fn expr(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Load { array, index } => self.read.push((*array, index.clone())),
            ExprKind::Gather { array, .. } => {
                self.read.push((*array, Vec::new()));
                self.other = true;
            }
            _ => {}
        }
        self.descend_expr(expr);
    }
}

/// What is written past the caches.
#[derive(Clone, Debug, Default)]
pub(crate) struct Past {
    /// Arrays of so many bytes or more.
    pub(crate) from: u64,
    /// The arrays that are only written.
    pub(crate) arrays: Vec<ArrayId>,
}

impl Past {
    /// The arrays of a kernel that are only written and may have so many bytes; none if no number is said.
    pub(crate) fn of(kernel: &Kernel, from: Option<u64>) -> Past {
        let Some(from) = from else { return Past::default() };
        let mut touched = Touched::default();
        touched.block(&kernel.body);
        let is_read = |array: ArrayId| touched.read.iter().any(|(read, _)| *read == array);
        let ids = (0..).map(ArrayId).zip(&kernel.arrays);
        let may_be_large = |decl: &ArrayDecl| {
            let elements = decl.shape.iter().try_fold(1_u64, |product, extent| match extent {
                Index::Const(extent) => Some(product.saturating_mul(extent.unsigned_abs())),
                _ => None,
            });
            elements.is_none_or(|elements| elements.saturating_mul(decl.ty.bytes() as u64) >= from)
        };
        let large = ids.filter(|(id, decl)| decl.role != Role::Local && !is_read(*id) && may_be_large(decl));
        Past { from, arrays: large.map(|(id, _)| id).collect() }
    }
}

/// What runs before the first whole group of lanes.
pub(super) struct Head {
    /// How many iterations, as a word from 0 to less than a group.
    pub(super) count: ValueId,
    /// The arrays that groups write past the caches, if this word is 1 and not 0; their elements have one size.
    pub(super) past: Option<(Vec<ArrayId>, ValueId)>,
}

impl Nest<'_> {
    /// What runs before the first whole group; the loop has been entered. None if it would gain nothing, or if it matters.
    pub(super) fn head(&mut self, r#for: &For, trips: ValueId) -> Lower<Option<Head>> {
        let mut touched = Touched::default();
        touched.block(&r#for.body);
        let few = self.constant_of(trips).is_some_and(|trips| trips < FEWEST_GROUPS * i64::from(self.program.lanes));
        if touched.other || few || r#for.step != 1 || !lane_sums(r#for)?.is_empty() {
            return Ok(None);
        }
        let Touched { read, written, .. } = touched;
        let own = |array: ArrayId| written.iter().find(|(known, _)| *known == array);
        let strays = |(array, index): &(ArrayId, Vec<Index>)| own(*array).is_some_and(|(_, own)| own != index);
        if read.iter().chain(&written).any(strays) {
            return Ok(None);
        }
        let mut stored = Vec::new();
        for (array, index) in &written {
            let place = self.place(*array, index)?;
            if !self.moves(place.group, r#for.var) {
                return Ok(None);
            }
            if self.is_unit(&place, r#for.var)? && !stored.contains(&place) {
                stored.push(place);
            }
        }
        let is_past = |place: &Place| self.memory.past.arrays.contains(&place.array);
        let (mut past, kept): (Vec<Place>, Vec<Place>) = stored.into_iter().partition(is_past);
        // What brings one of them to a line brings those to theirs that move as fast.
        let size = |place: &Place| self.kernel.arrays[place.array.index()].ty.bytes();
        let first = past.first().map(size);
        past.retain(|place| Some(size(place)) == first);
        if !past.is_empty() {
            return self.head_past(&past, trips).map(Some);
        }
        let Some(first) = kept.first().filter(|_| self.memory.aligns) else { return Ok(None) };
        let rows = self.single_rows(&read, r#for.var)?;
        if rows.len() < FEWEST_ROWS {
            return Ok(None);
        }
        let alike = self.alike(first, &rows)?;
        let enough = self.enough(trips);
        let pays = self.make(Type::Word, Op::Word(WordOp::And, alike, enough));
        Ok(Some(Head { count: self.up_to_line(first, pays)?, past: None }))
    }

    /// The head of a loop that stores to arrays that may go past the caches, all of them or none.
    fn head_past(&mut self, past: &[Place], trips: ValueId) -> Lower<Head> {
        let Some((first, others)) = past.split_first() else { return Err("nothing that is stored".to_owned()) };
        let mut holds = self.enough(trips);
        if !others.is_empty() {
            let alike = self.alike(first, others)?;
            holds = self.make(Type::Word, Op::Word(WordOp::And, holds, alike));
        }
        let from = self.word(i64::try_from(self.memory.past.from).unwrap_or(i64::MAX));
        for place in past {
            let decl = &self.kernel.arrays[place.array.index()];
            let (size, extents) = (decl.ty.bytes() as i64, decl.shape.clone());
            let bytes = self.argument(Argument::Stride(size, extents));
            let large = self.make(Type::Word, Op::Word(WordOp::Le, from, bytes));
            holds = self.make(Type::Word, Op::Word(WordOp::And, holds, large));
        }
        let count = self.up_to_line(first, holds)?;
        Ok(Head { count, past: Some((past.iter().map(|place| place.array).collect(), holds)) })
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

    /// Whether others lie like the first one in their lines, as 0 or 1.
    fn alike(&mut self, first: &Place, others: &[Place]) -> Lower<ValueId> {
        let within = self.word(self.line(first) - 1);
        let first = self.location(first)?;
        let mut apart = self.word(0);
        for place in others {
            let at = self.location(place)?;
            if at == first {
                continue;
            }
            let difference = self.make(Type::Word, Op::Word(WordOp::Sub, at, first));
            let difference = self.make(Type::Word, Op::Word(WordOp::And, difference, within));
            apart = self.add(apart, difference);
        }
        let zero = self.word(0);
        Ok(self.make(Type::Word, Op::Word(WordOp::Eq, apart, zero)))
    }

    /// Whether there are iterations enough for it to pay, as 0 or 1.
    fn enough(&mut self, trips: ValueId) -> ValueId {
        let fewest = self.word(FEWEST_GROUPS * i64::from(self.program.lanes));
        self.make(Type::Word, Op::Word(WordOp::Le, fewest, trips))
    }

    /// The number of iterations up to the next line of what is stored if `pays` is 1; if it is 0, none.
    fn up_to_line(&mut self, stored: &Place, pays: ValueId) -> Lower<ValueId> {
        let size = self.memory_type(stored.array).bytes() as i64;
        let at = self.location(stored)?;
        let zero = self.word(0);
        // All ones, or none.
        let pays = self.make(Type::Word, Op::Word(WordOp::Sub, zero, pays));
        let bytes = self.make(Type::Word, Op::Word(WordOp::Sub, zero, at));
        let (bits, below) = (self.word(i64::from(size.trailing_zeros())), self.word(self.line(stored) / size - 1));
        let count = self.make(Type::Word, Op::Word(WordOp::Shr, bytes, bits));
        let count = self.make(Type::Word, Op::Word(WordOp::And, count, below));
        Ok(self.make(Type::Word, Op::Word(WordOp::And, pays, count)))
    }

    /// The bytes of a line, or of all lanes if these are fewer.
    fn line(&self, place: &Place) -> i64 {
        let size = self.memory_type(place.array).bytes() as i64;
        (Access::LINE as i64).min(i64::from(self.program.lanes) * size)
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
