//! Which arrays the pointers of a program are into, and which of them it stores to.
//!
//! In: a program, and what its slots are addresses into.  Out: the same for every word that is made of them.

use std::collections::{BTreeMap, BTreeSet};

use super::ir::{Address, Op, Stmt, ValueId, WordOp};

/// Arrays by number; different ones never overlap.
pub(crate) struct Regions(BTreeMap<ValueId, u32>);

impl Regions {
    /// `slots` says, by slot, which array an address is into.
    pub(crate) fn of(body: &[Stmt], slots: &[Option<u32>]) -> Regions {
        let mut regions = Regions(BTreeMap::new());
        regions.look(body, slots);
        regions
    }

    fn look(&mut self, body: &[Stmt], slots: &[Option<u32>]) {
        for stmt in body {
            match stmt {
                Stmt::Let(value, Op::Arg(slot)) => {
                    self.0.extend(slots.get(*slot as usize).copied().flatten().map(|region| (*value, region)));
                }
                Stmt::Let(value, Op::Word(WordOp::Add, a, b)) => {
                    if let (Some(region), None) | (None, Some(region)) = (self.0.get(a), self.0.get(b)) {
                        self.0.insert(*value, *region);
                    }
                }
                Stmt::Loop(r#loop) => {
                    for carried in &r#loop.carried {
                        if let Some(region) = self.0.get(&carried.init).copied() {
                            self.0.extend([(carried.param, region), (carried.result, region)]);
                        }
                    }
                    self.look(&r#loop.body, slots);
                }
                _ => {}
            }
        }
    }

    /// What a pointer is into, if that is known.
    pub(crate) fn of_pointer(&self, pointer: ValueId) -> Option<u32> {
        self.0.get(&pointer).copied()
    }

    /// What a body stores to; none if that is not known.
    pub(crate) fn written(&self, body: &[Stmt]) -> Option<BTreeSet<u32>> {
        let mut written = BTreeSet::new();
        for stmt in body {
            match stmt {
                Stmt::Store { at: Address { base, .. }, .. } | Stmt::Scatter { base, .. } => {
                    written.insert(self.of_pointer(*base)?);
                }
                Stmt::Loop(r#loop) => written.extend(self.written(&r#loop.body)?),
                Stmt::Let(..) | Stmt::Check { .. } | Stmt::Fetch(_) => {}
            }
        }
        Some(written)
    }

    /// The pointers into arrays that a body stores nothing to.
    pub(crate) fn only_read(&self, body: &[Stmt]) -> BTreeSet<ValueId> {
        let Some(written) = self.written(body) else { return BTreeSet::new() };
        self.0.iter().filter(|(_, region)| !written.contains(region)).map(|(pointer, _)| *pointer).collect()
    }
}
