//! Statements and loops of a nest.

use std::collections::BTreeMap;

use diag::deadline;
use loops::{ArrayId, For, Index, LocalId, Stmt, VarId, VarsUsed, Visit};

use super::align::Head;
use super::cells::Candidate;
use super::{Lower, Nest, State};
use crate::lanes::ir::{self, Access, Carried, Loop, Op, Type, ValueId, WordOp};
use crate::linear::Linear;

/// A loop of fewer iterations is over before what it asks for has arrived.
const FEW_TRIPS: i64 = 16;

impl Nest<'_> {
    /// The whole of it: a vector loop, or a serial loop around such loops.
    pub(super) fn root(&mut self, r#for: &For) -> Lower<()> {
        if !r#for.kind.is_vector() {
            self.check_locals(r#for)?;
        }
        self.r#for(r#for)
    }

    /// A vector loop: whole groups of lanes, then the rest under a mask, then what lanes have in common.
    fn vector(&mut self, r#for: &For) -> Lower<()> {
        self.check_locals(r#for)?;
        let (mut trips, lo) = self.bounds(r#for)?;
        if self.constant_of(trips).is_none() {
            // A number below zero would leave a rest.
            let zero = self.word(0);
            trips = self.make(Type::Word, Op::Word(WordOp::Max, trips, zero));
        }
        let pointers = self.state.pointers.clone();
        self.vector = Some(r#for.var);
        self.step = r#for.step;
        self.start_sums(r#for)?;
        self.enter_loop(r#for.var, lo)?;
        let head = self.head(r#for, trips)?;
        if let Some(Head { count, .. }) = head {
            let zero = self.word(0);
            let some = self.make(Type::Word, Op::Word(WordOp::Lt, zero, count));
            self.guarded(some, |nest| {
                nest.under_prefix(count, &r#for.body)?;
                nest.advance_by(r#for.var, count)
            })?;
            trips = self.make(Type::Word, Op::Word(WordOp::Sub, trips, count));
        }
        let lanes = i64::from(self.program.lanes);
        let step = lanes.checked_mul(r#for.step).ok_or("a step that is too large")?;
        let (groups, rest) = match self.constant_of(trips) {
            Some(trips) => (self.word(trips / lanes), self.word(trips % lanes)),
            None => {
                let (bits, low) = (self.word(i64::from(lanes.trailing_zeros())), self.word(lanes - 1));
                let groups = self.make(Type::Word, Op::Word(WordOp::Shr, trips, bits));
                (groups, self.make(Type::Word, Op::Word(WordOp::And, trips, low)))
            }
        };
        let past = head.and_then(|head| head.past);
        self.groups_of_lanes(r#for, groups, step, past)?;
        let zero = self.word(0);
        let some = match self.constant_of(rest) {
            Some(rest) => self.word(i64::from(rest > 0)),
            None => self.make(Type::Word, Op::Word(WordOp::Lt, zero, rest)),
        };
        self.guarded(some, |nest| nest.under_prefix(rest, &r#for.body))?;
        self.finish_sums(trips)?;
        self.leave_loop(r#for.var, pointers);
        self.vector = None;
        self.step = 1;
        Ok(())
    }

    /// The loop over whole groups, and in front of it, where stores may go past the caches, the same loop with such stores: only one of them runs.
    fn groups_of_lanes(
        &mut self,
        r#for: &For,
        mut groups: ValueId,
        step: i64,
        past: Option<(Vec<ArrayId>, ValueId)>,
    ) -> Lower<()> {
        if let Some((arrays, holds)) = past {
            let zero = self.word(0);
            let all = self.make(Type::Word, Op::Word(WordOp::Sub, zero, holds));
            let streamed = self.make(Type::Word, Op::Word(WordOp::And, groups, all));
            groups = self.make(Type::Word, Op::Word(WordOp::Sub, groups, streamed));
            self.streamed = arrays;
            self.counted(streamed, Some((r#for.var, step)), |nest| nest.group(r#for))?;
            self.streamed.clear();
        }
        self.counted(groups, Some((r#for.var, step)), |nest| nest.group(r#for))
    }

    /// What whole groups of lanes do, and ask for.
    fn group(&mut self, r#for: &For) -> Lower<()> {
        self.stmts(&r#for.body)?;
        let ahead: Vec<_> = self.memory.ahead.by(r#for.var).map(|(array, index)| (array, index.to_vec())).collect();
        for (array, index) in ahead {
            // A row that is too far away is not asked for.
            let Ok(place) = self.place(array, &index) else { continue };
            let (at, access) = self.address(&place)?;
            if access == Access::Unit {
                self.fetch(at, (0..self.bytes_of_lanes(array)).step_by(Access::LINE));
            }
        }
        Ok(())
    }

    fn bytes_of_lanes(&self, array: ArrayId) -> usize {
        self.memory_type(array).bytes() * self.program.lanes as usize
    }

    /// Asks for the lines on which some bytes behind an address are.
    fn fetch(&mut self, at: ir::Address, bytes: impl Iterator<Item = usize>) {
        for byte in bytes {
            if let Some(offset) = at.offset.checked_add(byte as i32) {
                self.body.push(ir::Stmt::Fetch(ir::Address { offset, ..at }));
            }
        }
    }

    /// Asks for the cells that the next iteration of the loop around the lanes will keep in registers: it would wait for all of them at its
    /// beginning, and there is enough time until then.
    fn fetch_next(&mut self, cells: &[Candidate]) -> Lower<()> {
        let Some((rows, step)) = self.rows.filter(|_| self.memory.fetches && self.mask.is_none()) else {
            return Ok(());
        };
        let mut further: BTreeMap<usize, ValueId> = BTreeMap::new();
        for Candidate { place, conditions } in cells {
            let (at, access) = self.address(place)?;
            if !conditions.is_empty() || !self.moves(place.group, rows) || access != Access::Unit {
                continue;
            }
            let base = match further.get(&place.group) {
                Some(base) => *base,
                None => {
                    let movement = self.movement(place.group, rows)?;
                    let movement = self.scaled_once(movement, step);
                    self.add(at.base, movement)
                }
            };
            further.insert(place.group, base);
            // The last lane may be on one more line.
            let bytes = self.bytes_of_lanes(place.array);
            self.fetch(ir::Address { base, ..at }, (0..bytes).step_by(Access::LINE).chain([bytes - 1]));
        }
        Ok(())
    }

    /// The first lanes of a group, so many.
    fn under_prefix(&mut self, count: ValueId, body: &[Stmt]) -> Lower<()> {
        let mask = self.make(Type::Mask, Op::Prefix(count));
        self.mask = Some(mask);
        self.base_mask = Some(mask);
        let result = self.stmts(body);
        self.mask = None;
        self.base_mask = None;
        result
    }

    /// Locals that the loop sets belong to its iterations.
    fn check_locals(&self, r#for: &For) -> Lower<()> {
        let mut all = Reads::default();
        all.block(&self.kernel.body);
        let mut inside = Reads::default();
        inside.block(&r#for.body);
        for local in &inside.set {
            let count = |found: &[LocalId]| found.iter().filter(|found| *found == local).count();
            if count(&all.read) != count(&inside.read) {
                return Err("a local that is set inside and read outside".to_owned());
            }
            // In one order, an iteration could see what the one before has set; then nobody sets it in front of the loop.
            if r#for.kind.is_ordered() && count(&all.set) != count(&inside.set) {
                return Err("a local that is set inside and outside".to_owned());
            }
        }
        Ok(())
    }

    /// The number of iterations and where they begin.
    fn bounds(&mut self, r#for: &For) -> Lower<(ValueId, ValueId)> {
        if let Ok(lo) = self.linear(&r#for.lo) {
            return Ok((self.trips(&lo, r#for)?, self.linear_word(&lo)?));
        }
        let (lo, hi) = (self.index_word(&r#for.lo)?, self.index_word(&r#for.hi)?);
        let length = self.make(Type::Word, Op::Word(WordOp::Sub, hi, lo));
        Ok((self.divided(length, r#for.step)?, lo))
    }

    /// The number of iterations, as a word. Not below zero if it is a constant.
    fn trips(&mut self, lo: &Linear, r#for: &For) -> Lower<ValueId> {
        let step = r#for.step;
        if let Ok(hi) = self.linear(&r#for.hi) {
            let length = hi.plus(lo, -1);
            if let Some(length) = length.as_constant() {
                let trips = length.checked_add(step - 1).ok_or("a bound that is too large")?.div_euclid(step);
                return Ok(self.word(trips.max(0)));
            }
            let length = self.linear_word(&length)?;
            return self.divided(length, step);
        }
        let hi = self.index_word(&r#for.hi)?;
        let lo = self.linear_word(lo)?;
        let length = self.make(Type::Word, Op::Word(WordOp::Sub, hi, lo));
        self.divided(length, step)
    }

    /// Divided by a step and rounded up.
    fn divided(&mut self, length: ValueId, step: i64) -> Lower<ValueId> {
        if step == 1 {
            return Ok(length);
        }
        if step.count_ones() != 1 {
            return Err("a step inside that is not a power of two".to_owned());
        }
        let (round, bits) = (self.word(step - 1), self.word(i64::from(step.trailing_zeros())));
        let rounded = self.add(length, round);
        Ok(self.make(Type::Word, Op::Word(WordOp::Shr, rounded, bits)))
    }

    pub(super) fn stmts(&mut self, stmts: &[Stmt]) -> Lower<()> {
        stmts.iter().try_for_each(|stmt| self.stmt(stmt))
    }

    fn stmt(&mut self, stmt: &Stmt) -> Lower<()> {
        if deadline::is_over() {
            return Err("there is no time for it".to_owned());
        }
        match stmt {
            Stmt::For(r#for) => self.r#for(r#for),
            Stmt::If { cond, then, otherwise } => {
                self.prepare_locals(then);
                self.prepare_locals(otherwise);
                if self.is_uniform(cond) {
                    let holds = self.cond_word(cond)?;
                    self.guarded(holds, |nest| nest.stmts(then))?;
                    if otherwise.is_empty() {
                        return Ok(());
                    }
                    let other = self.opposite(holds);
                    return self.guarded(other, |nest| nest.stmts(otherwise));
                }
                let holds = self.cond_mask(cond)?;
                let outer = self.mask;
                self.mask = Some(self.and(outer, holds));
                self.stmts(then)?;
                if !otherwise.is_empty() {
                    let other = self.not(holds);
                    self.mask = Some(self.and(outer, other));
                    self.stmts(otherwise)?;
                }
                self.mask = outer;
                Ok(())
            }
            Stmt::Store { array, index, value } => {
                let ty = value.ty;
                let value = self.expr(value)?;
                let place = self.place(*array, index)?;
                if self.cell(&place).is_some() {
                    return self.set_cell(&place, ty, value);
                }
                let value = self.stored(ty, value);
                let (at, mut access) = self.address(&place)?;
                if access == Access::Same && self.vector.is_some() {
                    // One lane after the other, so that the last one stays.
                    access = Access::Strided(self.word(0));
                }
                if access == Access::Unit && self.mask.is_none() && self.streamed.contains(array) {
                    access = Access::Streamed;
                }
                self.body.push(ir::Stmt::Store { value, at, access, mask: self.mask });
                self.forget(*array);
                Ok(())
            }
            Stmt::Update { target, op, value } => self.update(target, *op, value),
            Stmt::Set { local, value } => {
                let ty = value.ty;
                let mut new = self.expr(value)?;
                if let Some(old) = self.state.locals.get(&local.0).copied() {
                    new = self.kept(ty, new, old, self.base_mask);
                }
                self.state.locals.insert(local.0, new);
                Ok(())
            }
            Stmt::Scatter { array, index, op, value, at } => self.scatter(*array, index, *op, value, *at),
            Stmt::Each(_) => Err("a loop whose bounds depend on data".to_owned()),
            Stmt::Alloc { .. } | Stmt::Barrier => Err("a buffer or barrier inside".to_owned()),
        }
    }

    fn r#for(&mut self, r#for: &For) -> Lower<()> {
        if r#for.kind.is_vector() && self.vector.is_none() {
            return self.vector(r#for);
        }
        if !r#for.kind.is_ordered() {
            return Err("a parallel or vector loop inside".to_owned());
        }
        if self.differs_by_lane(&r#for.lo) || self.differs_by_lane(&r#for.hi) {
            return Err("a loop inside whose bounds differ by lane".to_owned());
        }
        self.prepare_locals(&r#for.body);
        let (trips, lo) = self.bounds(r#for)?;
        let cells = self.promotable(r#for);
        if cells.is_empty() {
            return self.serial(r#for, lo, trips);
        }
        // The cells are sure to exist only if the loop runs.
        let zero = self.word(0);
        let some = match self.constant_of(trips) {
            Some(trips) => self.word(i64::from(trips > 0)),
            None => self.make(Type::Word, Op::Word(WordOp::Lt, zero, trips)),
        };
        self.guarded(some, |nest| {
            nest.open_cells(&cells)?;
            if nest.constant_of(trips).is_none_or(|trips| trips >= FEW_TRIPS) {
                nest.fetch_next(&cells)?;
            }
            nest.serial(r#for, lo, trips)?;
            nest.close_cells(&cells)
        })
    }

    fn serial(&mut self, r#for: &For, lo: ValueId, trips: ValueId) -> Lower<()> {
        let (pointers, rows) = (self.state.pointers.clone(), self.rows);
        if self.vector.is_none() {
            self.rows = Some((r#for.var, r#for.step));
        }
        self.enter_loop(r#for.var, lo)?;
        self.counted(trips, Some((r#for.var, r#for.step)), |nest| nest.stmts(&r#for.body))?;
        self.rows = rows;
        self.leave_loop(r#for.var, pointers);
        Ok(())
    }

    /// Forgets a variable, and where its loop has left the pointers.
    fn leave_loop(&mut self, var: VarId, pointers: BTreeMap<usize, ValueId>) {
        self.state.pointers = pointers;
        self.state.vars.remove(&var.0);
    }

    pub(super) fn differs_by_lane(&self, index: &Index) -> bool {
        let Some(vector) = self.vector else { return false };
        VarsUsed::of_indices([index]).into_iter().any(|var| var == vector)
    }

    /// Puts the variable and the pointers of the groups that move with it to where the loop starts.
    fn enter_loop(&mut self, var: VarId, lo: ValueId) -> Lower<()> {
        self.state.vars.insert(var.0, lo);
        for group in 0..self.groups_known {
            if !self.moves(group, var) {
                continue;
            }
            let (pointer, movement) = (self.pointer(group)?, self.movement(group, var)?);
            let start = match (self.constant_of(lo), self.constant_of(movement)) {
                (Some(lo), _) => self.scaled_once(movement, lo),
                (_, Some(movement)) => self.times(lo, movement),
                _ => self.make(Type::Word, Op::Word(WordOp::Mul, lo, movement)),
            };
            let pointer = self.add(pointer, start);
            self.state.pointers.insert(group, pointer);
        }
        Ok(())
    }

    /// Steps the variable and its pointers.
    fn advance(&mut self, var: VarId, step: i64) -> Lower<()> {
        let by = self.word(step);
        let value = *self.state.vars.get(&var.0).ok_or("a loop variable without a value")?;
        let next = self.add(value, by);
        self.state.vars.insert(var.0, next);
        for group in 0..self.groups_known {
            if self.moves(group, var) {
                let movement = self.movement(group, var)?;
                let movement = self.scaled_once(movement, step);
                let pointer = self.pointer(group)?;
                let pointer = self.add(pointer, movement);
                self.state.pointers.insert(group, pointer);
            }
        }
        Ok(())
    }

    /// The same by a number that is not known.
    fn advance_by(&mut self, var: VarId, count: ValueId) -> Lower<()> {
        let value = *self.state.vars.get(&var.0).ok_or("a loop variable without a value")?;
        let next = self.add(value, count);
        self.state.vars.insert(var.0, next);
        for group in 0..self.groups_known {
            if self.moves(group, var) {
                let movement = self.movement(group, var)?;
                let bytes = match self.constant_of(movement) {
                    Some(movement) => self.times(count, movement),
                    None => self.make(Type::Word, Op::Word(WordOp::Mul, count, movement)),
                };
                let pointer = self.pointer(group)?;
                let pointer = self.add(pointer, bytes);
                self.state.pointers.insert(group, pointer);
            }
        }
        Ok(())
    }

    /// Something that happens if a word is 1 and not if it is 0.
    pub(super) fn guarded(&mut self, holds: ValueId, body: impl FnOnce(&mut Self) -> Lower<()>) -> Lower<()> {
        self.counted(holds, None, body)
    }

    /// A loop that carries everything that changes.
    fn counted(
        &mut self,
        trips: ValueId,
        step: Option<(VarId, i64)>,
        body: impl FnOnce(&mut Self) -> Lower<()>,
    ) -> Lower<()> {
        let advance = |nest: &mut Self| step.map_or(Ok(()), |(var, step)| nest.advance(var, step));
        match self.constant_of(trips) {
            Some(trips) if trips <= 0 => return Ok(()),
            Some(1) => {
                body(self)?;
                return advance(self);
            }
            _ => {}
        }
        let outside = std::mem::take(&mut self.body);
        self.loaded.clear();
        let mut before = self.state.clone();
        let inits: Vec<ValueId> = before.values().into_iter().map(|value| *value).collect();
        let params = self.renew(&inits);
        body(self)?;
        advance(self)?;
        self.loaded.clear();
        self.drop_new(&before);
        let nexts: Vec<ValueId> = self.state.values().into_iter().map(|value| *value).collect();
        let results = self.renew(&inits);
        if nexts.len() != inits.len() {
            return Err("a loop lost a value".to_owned());
        }
        let all = inits.into_iter().zip(params).zip(nexts).zip(results);
        let carried = all.map(|(((init, param), next), result)| Carried { init, param, next, result }).collect();
        let body = std::mem::replace(&mut self.body, outside);
        self.body.push(ir::Stmt::Loop(Loop { trips, carried, body }));
        Ok(())
    }

    /// New names for everything that changes.
    fn renew(&mut self, like: &[ValueId]) -> Vec<ValueId> {
        let fresh: Vec<ValueId> = like
            .iter()
            .map(|value| {
                let ty = self.program.ty(*value);
                self.program.new_value(ty)
            })
            .collect();
        for (place, value) in self.state.values().into_iter().zip(&fresh) {
            *place = *value;
        }
        fresh
    }

    /// What a loop body made does not outlive it.
    fn drop_new(&mut self, before: &State) {
        self.state.vars.retain(|key, _| before.vars.contains_key(key));
        self.state.locals.retain(|key, _| before.locals.contains_key(key));
        self.state.pointers.retain(|key, _| before.pointers.contains_key(key));
        self.state.cells.truncate(before.cells.len());
    }

    /// Gives locals that are set inside a value from before, so that the loop can carry them out.
    fn prepare_locals(&mut self, body: &[Stmt]) {
        let mut found = Reads::default();
        found.block(body);
        for local in found.set {
            if !self.state.locals.contains_key(&local.0) {
                let ty = self.kernel.locals[local.index()].ty;
                let value = match ty {
                    program::ScalarType::Bool => self.all_lanes(false),
                    ty => self.splat(program::Value::from_i64(ty, 0)),
                };
                self.state.locals.insert(local.0, value);
            }
        }
    }
}

/// Where locals are set and read.
#[derive(Default)]
struct Reads {
    set: Vec<LocalId>,
    read: Vec<LocalId>,
}

impl Visit for Reads {
    fn stmt(&mut self, stmt: &Stmt) {
        match stmt {
            Stmt::Set { local, .. } => self.set.push(*local),
            // An update reads what was there, but where all lanes share the target it is no reason to keep them apart.
            Stmt::Update { target: loops::Target::Local(local), .. } => self.read.push(*local),
            _ => {}
        }
        self.descend_stmt(stmt);
    }

    fn expr(&mut self, expr: &loops::Expr) {
        if let loops::ExprKind::Local(local) = &expr.kind {
            self.read.push(*local);
        }
        self.descend_expr(expr);
    }
}
