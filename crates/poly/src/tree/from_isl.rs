//! From isl's tree to ours: the scheduler's proposal, or one that somebody has saved.

use isl::{Schedule, ScheduleNode, ScheduleNodeType as Kind, Set, UnionPwAff, UnionSet};
use program::Affine;

use super::{Band, Branch, Entry, Loop, LoopId, LoopKind, StatementId, Tree};
use crate::fault::Fault;
use crate::scop::Scop;
use crate::sets;
use crate::witness::{Sample, smallest};

/// Why there is no tree.
#[derive(Clone, Debug)]
pub enum Unread {
    /// It has something that cannot be judged; in words, behind "it has".
    Unsupported(String),
    /// It runs an instance that the program does not have.
    Superfluous {
        /// Of which statement.
        statement: StatementId,
        /// The instance, and the sizes.
        sample: Sample,
    },
}

enum Stop {
    Unread(Unread),
    Failed(Fault),
}

impl From<Fault> for Stop {
    fn from(fault: Fault) -> Stop {
        Stop::Failed(fault)
    }
}

impl From<isl::Error> for Stop {
    fn from(error: isl::Error) -> Stop {
        Stop::Failed(error.into())
    }
}

fn unsupported<T>(what: impl Into<String>) -> Result<T, Stop> {
    Err(Stop::Unread(Unread::Unsupported(what.into())))
}

/// Reads isl's tree. Its loops are named after an index that they count; flags and the marks of kinds are kept.
pub fn from_isl(scop: &Scop, schedule: &Schedule) -> diag::Result<Result<Tree, Unread>> {
    let mut reader = Reader { scop, loops: Vec::new(), branches: Vec::new() };
    let read = (|| {
        let root = schedule.get_root()?;
        let active = reader.active(root.domain_get_domain()?)?;
        reader.node(root.child(0)?, active, LoopKind::Serial)
    })();
    match read {
        Ok(()) => Ok(Ok(Tree::grow(reader.loops, reader.branches))),
        Err(Stop::Unread(unread)) => Ok(Err(unread)),
        Err(Stop::Failed(fault)) => Err(fault.of_function("schedule", &scop.function)),
    }
}

struct Reader<'a> {
    scop: &'a Scop,
    loops: Vec<Loop>,
    branches: Vec<Branch>,
}

/// A statement on its way down, with the instances that have come this far.
#[derive(Clone)]
struct Active {
    statement: StatementId,
    entries: Vec<Entry>,
    instances: Set,
}

impl Reader<'_> {
    /// The statements at the root. What the program does not have is an error; what it has and the tree has not is left out.
    fn active(&self, domain: UnionSet) -> Result<Vec<Active>, Stop> {
        let mut active = Vec::new();
        for (position, statement) in self.scop.statements.iter().enumerate() {
            let own = UnionSet::from_set(statement.domain.clone())?.universe()?;
            let Some(set) = domain.clone().intersect(own)?.sets()?.into_iter().next() else { continue };
            let strange = set.clone().subtract(statement.domain.clone())?;
            if let Some(sample) = smallest(strange, &self.scop.context)? {
                let statement = StatementId::new(position);
                return Err(Stop::Unread(Unread::Superfluous { statement, sample }));
            }
            let whole = Active {
                statement: StatementId::new(position),
                entries: Vec::new(),
                instances: statement.domain.clone(),
            };
            active.extend(self.narrow(whole, set)?);
        }
        Ok(active)
    }

    /// Those instances that are in `set`; none if there are none.
    fn narrow(&self, mut active: Active, set: Set) -> Result<Option<Active>, Stop> {
        let possible = active.instances.clone().intersect_params(self.scop.context.clone())?;
        if possible.is_subset(&set)? {
            return Ok(Some(active));
        }
        let rest = active.instances.clone().intersect(set.clone())?;
        if rest.is_empty()? {
            return Ok(None);
        }
        let iters = &self.scop.statements[active.statement.index()].iters;
        // What is known of the instances need not be said again.
        let condition = set.gist(possible)?;
        let Some(cond) = sets::condition(&self.scop.params, &condition, iters)? else {
            return unsupported("a condition with numbers past 64 bits");
        };
        active.entries.push(Entry::Only(cond));
        active.instances = rest;
        Ok(Some(active))
    }

    /// Those that a filter lets through.
    fn filter(&self, filter: &UnionSet, active: Vec<Active>) -> Result<Vec<Active>, Stop> {
        let mut inside = Vec::new();
        for statement in active {
            let own = UnionSet::from_set(statement.instances.clone())?.universe()?;
            if let Some(set) = filter.clone().intersect(own)?.sets()?.into_iter().next() {
                inside.extend(self.narrow(statement, set)?);
            }
        }
        Ok(inside)
    }

    /// `kind` is that of the next loop, which a mark has named.
    fn node(&mut self, node: ScheduleNode, active: Vec<Active>, kind: LoopKind) -> Result<(), Stop> {
        match node.get_type()? {
            Kind::Leaf => {
                let alone = active.len() == 1;
                for (place, mut active) in active.into_iter().enumerate() {
                    if !alone {
                        active.entries.push(Entry::Free(place as i64));
                    }
                    self.branches.push(Branch { statement: active.statement, entries: active.entries });
                }
                Ok(())
            }
            kind @ (Kind::Sequence | Kind::Set) => {
                for position in 0..node.n_children()? {
                    let child = node.get_child(position)?;
                    let place = position as i64;
                    let mut placed = active.clone();
                    for active in &mut placed {
                        active.entries.push(if kind == Kind::Set { Entry::Free(place) } else { Entry::Place(place) });
                    }
                    let inside = self.filter(&child.filter_get_filter()?, placed)?;
                    self.node(child.child(0)?, inside, LoopKind::Serial)?;
                }
                Ok(())
            }
            Kind::Filter => {
                let inside = self.filter(&node.filter_get_filter()?, active)?;
                self.node(node.child(0)?, inside, kind)
            }
            Kind::Mark => {
                let kind = LoopKind::from_mark(&node.mark_get_id()?.name()).unwrap_or(kind);
                self.node(node.child(0)?, active, kind)
            }
            Kind::Band => {
                let active = self.band(&node, active, kind)?;
                self.node(node.child(0)?, active, LoopKind::Serial)
            }
            Kind::Extension => unsupported("an extension node"),
            Kind::Expansion => unsupported("an expansion node"),
            Kind::Guard => unsupported("a guard node"),
            Kind::Context => unsupported("a context node"),
            kind => unsupported(format!("a {kind:?} node in the middle")),
        }
    }

    fn band(&mut self, node: &ScheduleNode, mut active: Vec<Active>, kind: LoopKind) -> Result<Vec<Active>, Stop> {
        if !node.band_get_ast_build_options()?.is_empty()? {
            return unsupported("options for loop generation");
        }
        let partial = node.band_get_partial_schedule()?;
        let permutable = node.band_get_permutable()?;
        let mut inner = false;
        for member in 0..node.band_n_member()? {
            let (inside, exprs) = self.member(&partial.get_at(member)?, active)?;
            active = inside;
            // What is no loop for any statement is their order.
            if exprs.iter().all(|expr| expr.as_constant().is_some()) {
                for (active, expr) in active.iter_mut().zip(&exprs) {
                    active.entries.push(Entry::Place(expr.constant));
                }
                continue;
            }
            let band = Band { inner, permutable, coincident: node.band_member_get_coincident(member)? };
            inner = true;
            let id = LoopId(self.loops.len() as u32);
            let (name, also) = self.name(&active, &exprs);
            let kind = if member == 0 { kind } else { LoopKind::Serial };
            self.loops.push(Loop { name, also, kind, separate: false, apart: true, extent: None, band });
            for (active, expr) in active.iter_mut().zip(exprs) {
                active.entries.push(Entry::Loop(id, expr));
            }
        }
        Ok(active)
    }

    /// The expressions of one member of a band, for the instances for which it has one.
    fn member(&self, partial: &UnionPwAff, active: Vec<Active>) -> Result<(Vec<Active>, Vec<Affine>), Stop> {
        let pieces = partial.get_pw_aff_list()?;
        let (mut inside, mut exprs) = (Vec::new(), Vec::new());
        for active in active {
            let statement = &self.scop.statements[active.statement.index()];
            let mut own = None;
            for piece in &pieces {
                if piece.get_domain_space()?.get_tuple_name(isl::Dim::Set)?.as_deref() == Some(&statement.name) {
                    own = Some(piece.clone());
                }
            }
            let Some(own) = own else { continue };
            let Some(active) = self.narrow(active, own.clone().domain()?)? else { continue };
            // isl simplifies an expression for the instances that it is restricted to; alone, it stays as it is.
            let mut pieces = own.pieces()?;
            if pieces.len() > 1 {
                pieces = own.intersect_domain(active.instances.clone())?.coalesce()?.pieces()?;
            }
            let mut found: Option<Affine> = None;
            for (_, aff) in pieces {
                let Some(expr) = sets::affine(&self.scop.params, &aff, &statement.iters)? else {
                    return unsupported("a time with numbers past 64 bits");
                };
                if found.as_ref().is_some_and(|known| *known != expr) {
                    return unsupported(format!("several expressions for the time of `{}`", statement.name));
                }
                found = Some(expr);
            }
            // A statement that never runs may have any time.
            exprs.push(found.unwrap_or_default());
            inside.push(active);
        }
        Ok((inside, exprs))
    }

    /// An index that the loop counts and none around it does, of the deepest statement that counts one alone; and what others call it.
    fn name(&self, active: &[Active], exprs: &[Affine]) -> (String, Vec<String>) {
        let statement = |number: &usize| &self.scop.statements[active[*number].statement.index()];
        let depth = |number: &usize| (exprs[*number].terms.len() == 1, statement(number).iters.len());
        let leader = (0..exprs.len()).rev().max_by_key(depth);
        let mut counted: Vec<&str> = Vec::new();
        if let Some(leader) = leader {
            exprs[leader].visit_iters(&mut |iter| counted.push(&self.scop.function.iter(iter).name));
        }
        let taken = |name: &str| {
            let around = active.iter().flat_map(|active| active.entries.iter().filter_map(Entry::as_loop));
            around.into_iter().any(|(id, _)| self.loops[id.index()].name == name)
        };
        // A loop of `2t + i` inside of one of `t` is the loop of `i`.
        let base = counted.iter().find(|name| !taken(name)).or(counted.first());
        let name = crate::model::unique(base.unwrap_or(&"c"), taken);
        let mut also: Vec<String> = Vec::new();
        for iter in exprs.iter().filter_map(Affine::as_iter) {
            let other = &self.scop.function.iter(iter).name;
            if *other != name && !also.contains(other) && !taken(other) {
                also.push(other.clone());
            }
        }
        (name, also)
    }
}
