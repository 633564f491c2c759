//! Loads that overlap from one turn of a loop to the next become one load and shifts between registers.
//!
//! In: a program, and which arrays its pointers are into.  Out: the same program, where a loop that moves along memory by as much as its
//! lanes take loads `x[j-1]`, `x[j]` and `x[j+1]` as one: the lanes of the last one, and those that the turn before has loaded.
//! Not here: whether that pays, which is a matter of the instructions that a tier has.
//!
//! Loads that are apart by less than their lanes reach over the ends of cache lines, all but one of them, and then each takes as long as
//! two. Nothing outside of what was loaded before is touched: in front of the first turn, the lanes that it takes from the turn before are
//! loaded under a mask, and only if there is a first turn.

use std::collections::{BTreeMap, BTreeSet};

use super::ir::{Access, Address, Carried, Loop, Op, Program, Stmt, Type, UnaryOp, ValueId, WordOp};
use super::regions::Regions;
use super::verify::{Verified, verify};

/// The bytes of what turns hand on at most: with more, registers would run out.
const MOST_CARRIED: i64 = 512;

/// The same program with fewer loads. `regions` says, by slot, which array an address is into; stores to one change nothing in another.
pub(crate) fn slide(program: &Verified, regions: &[Option<u32>]) -> diag::Result<Verified> {
    let mut slides = Slides {
        program: Program::clone(program),
        regions: Regions::of(&program.body, regions),
        constants: BTreeMap::new(),
        entry: Vec::new(),
        known: Vec::new(),
    };
    let body = std::mem::take(&mut slides.program.body);
    slides.look(&body);
    let body = slides.block(body);
    let mut program = slides.program;
    program.body = slides.entry;
    program.body.extend(body);
    verify(program)
}

struct Slides {
    program: Program,
    /// What addresses point into, as far as that is known.
    regions: Regions,
    constants: BTreeMap<ValueId, i64>,
    /// What is made in front of everything.
    entry: Vec<Stmt>,
    known: Vec<(ValueId, Op)>,
}

/// What loads have in common that can be made of each other.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Stream {
    /// A pointer that steps by as much as the lanes take.
    base: ValueId,
    index: Option<(ValueId, u8)>,
    ty: Type,
    bytes: i32,
}

/// Loads of a stream that lie within the lanes of one.
#[derive(Debug)]
struct Cluster {
    stream: Stream,
    /// The offset of the last one.
    top: i32,
    /// How many lanes the first one is before it.
    most: i32,
}

impl Slides {
    /// Finds out which words are constants.
    fn look(&mut self, body: &[Stmt]) {
        for stmt in body {
            match stmt {
                Stmt::Let(value, Op::Const(constant)) => drop(self.constants.insert(*value, *constant)),
                Stmt::Loop(r#loop) => self.look(&r#loop.body),
                _ => {}
            }
        }
    }

    fn block(&mut self, body: Vec<Stmt>) -> Vec<Stmt> {
        let mut done = Vec::with_capacity(body.len());
        for stmt in body {
            match stmt {
                Stmt::Loop(mut r#loop) => {
                    r#loop.body = self.block(r#loop.body);
                    done.extend(self.r#loop(r#loop));
                }
                stmt => done.push(stmt),
            }
        }
        done
    }

    fn r#loop(&mut self, mut r#loop: Loop) -> Vec<Stmt> {
        let clusters = self.clusters(&r#loop);
        if clusters.is_empty() {
            return vec![Stmt::Loop(r#loop)];
        }
        let inits: BTreeMap<ValueId, ValueId> =
            r#loop.carried.iter().map(|carried| (carried.param, carried.init)).collect();
        let mut before = Vec::new();
        for cluster in clusters {
            let Cluster { stream: Stream { base, index, ty, bytes }, top, most } = cluster;
            let lanes = self.program.lanes as i32;
            let mask = self.last_lanes(i64::from(most));
            let [init, param, result] = [(); 3].map(|()| self.program.new_value(ty));
            let at = Address { base: inits[&base], index, offset: top - lanes * bytes };
            before.push(Stmt::Let(init, Op::Load { at, access: Access::Unit, mask: Some(mask) }));
            let mut members = r#loop.body.iter().filter_map(|stmt| cluster.member(stmt, &self.program));
            let Some((next, _)) = members.find(|(_, offset)| *offset == top) else { continue };
            let last = Op::Load { at: Address { base, index, offset: top }, access: Access::Unit, mask: None };
            let mut last = Some(Stmt::Let(next, last));
            let mut body = Vec::with_capacity(r#loop.body.len());
            for stmt in r#loop.body {
                let member = cluster.member(&stmt, &self.program);
                if member.is_some() {
                    body.extend(last.take());
                }
                match member {
                    Some((value, _)) if value == next => {}
                    Some((value, offset)) if offset < top => {
                        let back = ((top - offset) / bytes) as u32;
                        body.push(Stmt::Let(value, Op::Slide(param, next, self.program.lanes - back)));
                    }
                    _ => body.push(stmt),
                }
            }
            r#loop.body = body;
            r#loop.carried.push(Carried { init, param, next, result });
        }
        self.guarded(before, r#loop)
    }

    /// A loop, and what is done in front of it if it has any turns.
    fn guarded(&mut self, mut before: Vec<Stmt>, mut r#loop: Loop) -> Vec<Stmt> {
        if self.constants.get(&r#loop.trips).is_some_and(|trips| *trips > 0) {
            before.push(Stmt::Loop(r#loop));
            return before;
        }
        let made: BTreeSet<ValueId> = before
            .iter()
            .filter_map(|stmt| match stmt {
                Stmt::Let(value, _) => Some(*value),
                _ => None,
            })
            .collect();
        let zero = self.once(Type::Word, Op::Const(0));
        let some = self.program.new_value(Type::Word);
        let mut carried = Vec::new();
        for inner in r#loop.carried.iter_mut().filter(|inner| !made.contains(&inner.init)) {
            let ty = self.program.ty(inner.param);
            let [param, next] = [(); 2].map(|()| self.program.new_value(ty));
            carried.push(Carried { init: inner.init, param, next, result: inner.result });
            (inner.init, inner.result) = (param, next);
        }
        // What is done before reads the parameters, which the loop starts from.
        let params: BTreeMap<ValueId, ValueId> = carried.iter().map(|carried| (carried.init, carried.param)).collect();
        let renamed = |value: ValueId| params.get(&value).copied().unwrap_or(value);
        let before = before.into_iter().map(|stmt| match stmt {
            Stmt::Let(value, op) => Stmt::Let(value, op.renamed(renamed)),
            stmt => stmt,
        });
        let trips = r#loop.trips;
        let body = before.chain([Stmt::Loop(r#loop)]).collect();
        vec![Stmt::Let(some, Op::Word(WordOp::Lt, zero, trips)), Stmt::Loop(Loop { trips: some, carried, body })]
    }

    /// What can be loaded as one.
    fn clusters(&self, r#loop: &Loop) -> Vec<Cluster> {
        let Some(written) = self.regions.written(&r#loop.body) else { return Vec::new() };
        let mut inside: BTreeSet<ValueId> = r#loop.carried.iter().map(|carried| carried.param).collect();
        define(&r#loop.body, &mut inside);
        let mut streams: Vec<(Stream, BTreeSet<i32>)> = Vec::new();
        for stmt in &r#loop.body {
            let Stmt::Let(value, Op::Load { at, access: Access::Unit, mask: None }) = stmt else { continue };
            let Type::Lanes(element) = self.program.ty(*value) else { continue };
            let bytes = element.bytes() as i32;
            let steps = self.step(r#loop, at.base) == Some(i64::from(bytes) * i64::from(self.program.lanes));
            let stays = at.index.is_none_or(|(index, _)| !inside.contains(&index));
            let unchanged = self.regions.of_pointer(at.base).is_some_and(|region| !written.contains(&region));
            if !(matches!(bytes, 4 | 8) && steps && stays && unchanged) {
                continue;
            }
            let stream = Stream { base: at.base, index: at.index, ty: self.program.ty(*value), bytes };
            match streams.iter_mut().find(|(known, _)| *known == stream) {
                Some((_, offsets)) => drop(offsets.insert(at.offset)),
                None => streams.push((stream, BTreeSet::from([at.offset]))),
            }
        }
        let clusters = streams.into_iter().flat_map(|(stream, offsets)| self.clusters_of(stream, offsets));
        let mut left = MOST_CARRIED;
        let fits = clusters.take_while(|cluster| {
            left -= i64::from(self.program.lanes) * i64::from(cluster.stream.bytes);
            left >= 0
        });
        fits.collect()
    }

    /// From the last offset down, what lies within the lanes of one load.
    fn clusters_of(&self, stream: Stream, mut offsets: BTreeSet<i32>) -> Vec<Cluster> {
        let mut clusters = Vec::new();
        while let Some(top) = offsets.pop_last() {
            let apart = |offset: &i32| i64::from(top) - i64::from(*offset);
            let all = i64::from(self.program.lanes) * i64::from(stream.bytes);
            let near = |offset: &i32| apart(offset) < all && apart(offset) % i64::from(stream.bytes) == 0;
            let first = offsets.iter().copied().find(near);
            offsets.retain(|offset| !near(offset));
            let begins = i64::from(top) - all >= i64::from(i32::MIN);
            if let Some(first) = first.filter(|_| begins) {
                clusters.push(Cluster { stream, top, most: (top - first) / stream.bytes });
            }
        }
        clusters
    }

    /// By how many bytes a pointer of a loop moves per turn, if that is known.
    fn step(&self, r#loop: &Loop, pointer: ValueId) -> Option<i64> {
        let next = r#loop.carried.iter().find(|carried| carried.param == pointer)?.next;
        r#loop.body.iter().find_map(|stmt| match stmt {
            Stmt::Let(value, Op::Word(WordOp::Add, a, b)) if *value == next && *a == pointer => {
                self.constants.get(b).copied()
            }
            _ => None,
        })
    }

    /// The mask of so many lanes at the end.
    fn last_lanes(&mut self, count: i64) -> ValueId {
        let others = self.once(Type::Word, Op::Const(i64::from(self.program.lanes) - count));
        let others = self.once(Type::Mask, Op::Prefix(others));
        self.once(Type::Mask, Op::Unary(UnaryOp::Not, others))
    }

    /// Makes a value in front of everything, once.
    fn once(&mut self, ty: Type, op: Op) -> ValueId {
        if let Some((value, _)) = self.known.iter().find(|(_, known)| *known == op) {
            return *value;
        }
        let value = self.program.new_value(ty);
        self.entry.push(Stmt::Let(value, op));
        self.known.push((value, op));
        value
    }
}

impl Cluster {
    /// The value and the offset of a load that belongs to it.
    fn member(&self, stmt: &Stmt, program: &Program) -> Option<(ValueId, i32)> {
        let Stmt::Let(value, Op::Load { at, access: Access::Unit, mask: None }) = stmt else { return None };
        let Stream { base, index, ty, bytes } = self.stream;
        let apart = self.top.checked_sub(at.offset)?;
        let near = (0..=self.most * bytes).contains(&apart) && apart % bytes == 0;
        (at.base == base && at.index == index && program.ty(*value) == ty && near).then_some((*value, at.offset))
    }
}

/// What a body defines.
fn define(body: &[Stmt], defined: &mut BTreeSet<ValueId>) {
    for stmt in body {
        match stmt {
            Stmt::Let(value, _) => drop(defined.insert(*value)),
            Stmt::Loop(r#loop) => {
                defined.extend(r#loop.carried.iter().flat_map(|carried| [carried.param, carried.result]));
                define(&r#loop.body, defined);
            }
            Stmt::Store { .. } | Stmt::Scatter { .. } | Stmt::Check { .. } | Stmt::Fetch(_) => {}
        }
    }
}
