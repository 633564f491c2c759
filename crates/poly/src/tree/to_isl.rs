//! From our tree to isl's: sequences, bands, and marks for what a band cannot say.

use isl::{AstLoopType, Id, MultiUnionPwAff, Schedule, Set, UnionMap, UnionSet};
use loops::Axis;
use program::Affine;

use super::times::frame;
use super::{Loop, LoopId, LoopKind, Node, StatementId, Tree};
use crate::fault::{Attempt, Fault};
use crate::scop::Scop;

/// What the marks above loops that are not serial say, and above those right inside of them for the generator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Marks {
    /// Their kind, for people: `parallel`, `vector(8)`, `unroll`. Statements that never run are left out.
    Kinds,
    /// Which loop it is, for the generator.
    Loops,
}

impl LoopKind {
    /// The mark of a kind in a saved tree.
    pub(crate) fn mark(self) -> Option<String> {
        match self {
            LoopKind::Serial => None,
            LoopKind::Parallel => Some("parallel".into()),
            LoopKind::Placed(axis) => Some(axis.name().into()),
            LoopKind::Vector(lanes) => Some(format!("vector({lanes})")),
            LoopKind::Unrolled => Some("unroll".into()),
        }
    }

    /// The kind that a mark in a loaded tree names.
    pub(crate) fn from_mark(mark: &str) -> Option<LoopKind> {
        match mark {
            "parallel" => Some(LoopKind::Parallel),
            "unroll" => Some(LoopKind::Unrolled),
            _ => {
                if let Some(axis) = Axis::named(mark) {
                    return Some(LoopKind::Placed(axis));
                }
                let lanes = mark.strip_prefix("vector(")?.strip_suffix(')')?;
                lanes.parse().ok().map(LoopKind::Vector)
            }
        }
    }
}

impl Tree {
    /// The tree as isl's.
    pub fn to_isl(&self, scop: &Scop, marks: Marks) -> Attempt<Schedule> {
        let domains: Vec<Set> = scop.statements.iter().map(|statement| statement.domain.clone()).collect();
        let mut idle = Vec::new();
        if marks == Marks::Kinds {
            for (position, domain) in domains.iter().enumerate() {
                if domain.clone().intersect_params(scop.context.clone())?.is_empty()? {
                    idle.push(StatementId::new(position));
                }
            }
        }
        if !idle.is_empty() {
            let mut branches = self.branches();
            branches.retain(|branch| !idle.contains(&branch.statement));
            return Tree::grow(self.table(), branches).to_isl_of(scop, marks, &domains);
        }
        self.to_isl_of(scop, marks, &domains)
    }

    /// Whether the loop around a serial one is of another kind. Where isl makes no loop of that, as of a single iteration, the one inside must
    /// not be taken for it.
    fn is_inside_of_another_kind(&self, id: LoopId) -> bool {
        self.branches().iter().any(|branch| {
            let around = branch.loops().take_while(|(_, own, _)| *own != id).last();
            branch.level_of(id).is_some() && around.is_some_and(|(_, own, _)| self.info(own).kind != LoopKind::Serial)
        })
    }

    fn to_isl_of(&self, scop: &Scop, marks: Marks, domains: &Vec<Set>) -> Attempt<Schedule> {
        Builder { scop, tree: self, marks }.node(&self.root, domains)
    }
}

struct Builder<'a> {
    scop: &'a Scop,
    tree: &'a Tree,
    marks: Marks,
}

/// The loops of one band, with what is inside them.
struct Members<'a> {
    loops: Vec<(LoopId, Vec<(StatementId, &'a Affine)>)>,
    body: &'a Node,
}

impl Builder<'_> {
    /// `domains` are the instances that have come this far, by statement.
    fn node(&self, node: &Node, domains: &Vec<Set>) -> Attempt<Schedule> {
        match node {
            Node::Leaf(statement) => Ok(Schedule::from_domain(domains[statement.index()].clone().to_union_set()?)?),
            Node::Seq(nodes) => self.join(nodes, domains, Schedule::sequence),
            Node::Set(nodes) => self.join(nodes, domains, Schedule::set),
            Node::Only { conds, body } => {
                let mut domains = domains.clone();
                for (id, cond) in conds {
                    let holds = frame(self.scop, &self.scop.statements[id.index()])?.cond(cond)?;
                    domains[id.index()] = domains[id.index()].clone().intersect(holds)?;
                }
                self.node(body, &domains)
            }
            Node::Loop { .. } => self.band(self.members(node), domains),
        }
    }

    fn join(
        &self,
        nodes: &[Node],
        domains: &Vec<Set>,
        join: fn(Schedule, Schedule) -> isl::Result<Schedule>,
    ) -> Attempt<Schedule> {
        let mut joined: Option<Schedule> = None;
        for node in nodes {
            let next = self.node(node, domains)?;
            joined = Some(match joined {
                Some(before) => join(before, next)?,
                None => next,
            });
        }
        match joined {
            Some(joined) => Ok(joined),
            None => Ok(Schedule::from_domain(UnionSet::empty(self.scop.params.space())?)?),
        }
    }

    fn band(&self, members: Members<'_>, domains: &Vec<Set>) -> Attempt<Schedule> {
        let scop = self.scop;
        let inside = self.node(members.body, domains)?;
        let mut band = UnionMap::empty(scop.params.space())?;
        let range = scop.params.tuple(None, &vec![""; members.loops.len()])?;
        let Some((_, first)) = members.loops.first() else { return Err(Fault::bug("a band of no loops")) };
        for (position, (statement, _)) in first.iter().enumerate() {
            let exprs: Vec<Affine> = members.loops.iter().map(|(_, exprs)| exprs[position].1.clone()).collect();
            let frame = frame(scop, &scop.statements[statement.index()])?;
            // Not restricted to the domain: a band knows its range even where nothing runs.
            band = band.union(frame.map(range.clone(), &exprs)?.to_union_map()?)?;
        }
        let schedule = inside.insert_partial_schedule(MultiUnionPwAff::from_union_map(band)?)?;
        let infos: Vec<&Loop> = members.loops.iter().map(|(id, _)| self.tree.info(*id)).collect();
        let plain = |info: &&Loop| !info.band.permutable && !info.band.coincident && !info.separate;
        let id = members.loops[0].0;
        let mark = match (infos[0].kind.mark(), self.marks) {
            (Some(mark), Marks::Kinds) => Some(mark),
            (Some(_), Marks::Loops) => Some(id.0.to_string()),
            (None, Marks::Loops) if self.tree.is_inside_of_another_kind(id) => Some(id.0.to_string()),
            (None, _) => None,
        };
        if mark.is_none() && infos.iter().all(plain) {
            return Ok(schedule);
        }
        let mut node = schedule.get_root()?.child(0)?.band_set_permutable(infos[0].band.permutable)?;
        for (position, info) in infos.iter().enumerate() {
            node = node.band_member_set_coincident(position, info.band.coincident)?;
            if info.separate && self.marks == Marks::Loops {
                node = node.band_member_set_ast_loop_type(position, AstLoopType::Separate)?;
            }
        }
        if let Some(mark) = mark {
            node = node.insert_mark(Id::new(scop.params.ctx(), &mark)?)?;
        }
        Ok(node.get_schedule()?)
    }

    /// The loop at `node` and those right inside that isl has put into one band with it. A loop with a kind stands alone. Bands
    /// are for people: loops are generated from single ones, whoever has made them.
    fn members<'n>(&self, node: &'n Node) -> Members<'n> {
        let tree = self.tree;
        let mut members = Members { loops: Vec::new(), body: node };
        while let Node::Loop { id, exprs, body } = members.body {
            let info = tree.info(*id);
            let serial = |id: &LoopId| tree.info(*id).kind == LoopKind::Serial;
            let joins = members.loops.is_empty()
                || self.marks == Marks::Kinds
                    && info.band.inner
                    && serial(id)
                    && members.loops.iter().all(|(id, _)| serial(id));
            if !joins {
                break;
            }
            members.loops.push((*id, exprs.iter().map(|(statement, expr)| (*statement, expr)).collect()));
            members.body = body;
        }
        members
    }
}
