//! Do iterations of a parallel loop stay apart? An answer in plain arithmetic, where there is one.
//!
//! In: the accesses of a parallel loop, each with what holds where it stands.  Out: `true` if, for every pair of which one writes, in
//! two different iterations, some subscript of the one is shown to be less than that of the other by substitution (`forms`), or all of them
//! being equal contradicts what holds there (`weights`), as for tiles that lean, whose cells depend on several loops.
//! Both iterations are in the same iterations of all loops around: only what is inside the loop is there twice.

use loops::{ArrayId, Cond, For, Index};

use super::forms::{Facts, Value};
use super::region::Region;
use super::weights::{Proofs, contradict};

/// So many pairs of accesses are looked at; of more, nothing is shown.
const MOST_PAIRS: usize = 2000;

/// What holds inside.
#[derive(Clone, Copy, Debug)]
pub(super) enum Scope<'a> {
    /// An iteration of a loop.
    Loop(&'a For),
    /// The condition, or that it does not hold.
    If(&'a Cond, bool),
}

impl Scope<'_> {
    fn is(&self, other: &Scope<'_>) -> bool {
        match (self, other) {
            (Scope::Loop(a), Scope::Loop(b)) => std::ptr::eq(*a, *b),
            (Scope::If(a, holds), Scope::If(b, does)) => std::ptr::eq(*a, *b) && holds == does,
            _ => false,
        }
    }
}

/// An access in a parallel loop.
#[derive(Debug)]
struct Access<'a> {
    array: ArrayId,
    /// Those that are index arithmetic.
    subscripts: Vec<Option<&'a Index>>,
    is_write: bool,
    /// The parallel loop, and what is between it and the access.
    scopes: Vec<Scope<'a>>,
}

/// The accesses of a parallel loop to arrays that it writes.
#[derive(Debug)]
pub(super) struct Accesses<'a> {
    region: Region<'a>,
    parallel: &'a For,
    /// How many scopes are around the loop.
    outer: usize,
    all: Vec<Access<'a>>,
}

impl<'a> Accesses<'a> {
    pub(super) fn new(region: Region<'a>, parallel: &'a For, outer: usize) -> Accesses<'a> {
        Accesses { region, parallel, outer, all: Vec::new() }
    }

    /// Each iteration has this array for itself.
    pub(super) fn own(&mut self, array: ArrayId) {
        self.region.own(array);
    }

    /// Keeps an access inside of all of `scopes`, unless the same is known.
    pub(super) fn record(
        &mut self,
        array: ArrayId,
        subscripts: &[Option<&'a Index>],
        is_write: bool,
        scopes: &[Scope<'a>],
    ) {
        if !self.region.watches(array) {
            return;
        }
        let scopes = scopes.get(self.outer..).unwrap_or_default();
        let alike = |known: &&mut Access<'a>| {
            let around = known.scopes.len() <= scopes.len() && known.scopes.iter().zip(scopes).all(|(a, b)| a.is(b));
            known.array == array && around && known.subscripts == subscripts
        };
        match self.all.iter_mut().find(alike) {
            // What holds around the known one holds here, too.
            Some(known) => known.is_write |= is_write,
            None => {
                let subscripts = subscripts.to_vec();
                self.all.push(Access { array, subscripts, is_write, scopes: scopes.to_vec() });
            }
        }
    }

    /// Whether no two iterations meet; `facts` are those around the loop.
    pub(super) fn are_apart(&self, facts: &mut Facts) -> bool {
        let mut pairs = 0;
        let mut hints = Hints::default();
        for (number, write) in self.all.iter().enumerate().filter(|(_, access)| access.is_write) {
            let mark = facts.mark();
            let one = self.enter(write, facts);
            let all = self.all.iter().enumerate().filter(|(_, other)| other.array == write.array);
            for (place, other) in all {
                // Pairs of writes come only once.
                if other.is_write && place < number {
                    continue;
                }
                pairs += 1;
                let inner = facts.mark();
                let two = self.enter(other, facts);
                let orders = if place == number { &[true][..] } else { &[true, false] };
                let apart = pairs <= MOST_PAIRS
                    && orders.iter().all(|is_first| {
                        let (before, after) = if *is_first { (&one, &two) } else { (&two, &one) };
                        let ordered = facts.mark();
                        if let (Some(before), Some(after)) = (before.variable, after.variable) {
                            facts.learn_distance(before, after, self.parallel.step);
                        }
                        let apart = is_apart(before, after, facts, &mut hints);
                        facts.forget(ordered);
                        apart
                    });
                facts.forget(inner);
                if !apart {
                    facts.forget(mark);
                    return false;
                }
            }
            facts.forget(mark);
        }
        true
    }

    /// Goes to an access in some iteration.
    fn enter(&self, access: &Access<'a>, facts: &mut Facts) -> Place {
        let mut own = None;
        for scope in &access.scopes {
            match scope {
                Scope::Loop(f) => {
                    let variable = facts.enter(f.var, &f.lo, &f.hi, f.step);
                    own = own.or(Some(variable));
                }
                Scope::If(cond, holds) => facts.assume(cond, *holds),
            }
        }
        let cell = access.subscripts.iter().map(|index| index.and_then(|index| facts.value(index))).collect();
        Place { variable: own, cell }
    }
}

/// An access in an iteration.
struct Place {
    /// That of the parallel loop.
    variable: Option<usize>,
    cell: Vec<Option<Value>>,
}

/// What most pairs of accesses have in common.
#[derive(Default)]
struct Hints {
    /// The dimension in which they are apart.
    dimension: usize,
    /// Whether the last of them took weights.
    weighed: bool,
    /// Why they are.
    proofs: Proofs,
}

/// Whether two accesses never touch the same cell: one of their subscripts is always less than that of the other, or not all can be equal.
fn is_apart(before: &Place, after: &Place, facts: &mut Facts, hints: &mut Hints) -> bool {
    let cells = before.cell.iter().zip(&after.cell);
    let pairs: Vec<(&Value, &Value)> = cells.filter_map(|(a, b)| a.as_ref().zip(b.as_ref())).collect();
    let proofs = &mut hints.proofs;
    let mut weigh =
        |facts: &mut Facts| facts.while_equal(&pairs, |forms| proofs.fit(forms) || contradict(forms, proofs));
    // Where weights were needed once, they most likely are again, and substitution would take longer to find nothing.
    let weighed = hints.weighed;
    if weighed && weigh(facts) {
        return true;
    }
    let dimensions = (0..pairs.len()).map(|number| (number + hints.dimension) % pairs.len());
    for dimension in dimensions {
        let (a, b) = pairs[dimension];
        if facts.are_soon_apart(a, b) {
            hints.dimension = dimension;
            return true;
        }
    }
    hints.weighed = !weighed && weigh(facts);
    hints.weighed
}
