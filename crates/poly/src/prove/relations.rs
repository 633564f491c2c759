//! The dependences of a program, one by one: which statement each comes from, which it goes to, and which instances it orders.
//!
//! Every question of the gate is about pairs of instances; that they meet in some cell matters only for witnesses. Taking the cell out of a
//! relation is what costs, so it is done once per program.

use isl::{Dim, Map, Set};

use super::Subject;
use crate::deps::{DependenceKind, sink_and_array};
use crate::fault::{Attempt, Fault};
use crate::scop::Scop;
use crate::tree::StatementId;

/// One dependence between two statements, or a statement and itself.
#[derive(Clone, Debug)]
pub(super) struct Relation {
    pub(super) kind: DependenceKind,
    pub(super) source: StatementId,
    pub(super) sink: StatementId,
    /// `{ source -> [sink -> cell] }`
    pub(super) cells: Map,
    /// `{ source -> sink }`, for the sizes that are possible.
    pub(super) pairs: Map,
}

impl Relation {
    /// The pairs at sizes in `context`, which are some of the possible ones.
    pub(super) fn within(&self, scop: &Scop, context: &Set) -> Attempt<Map> {
        let pairs = self.pairs.clone();
        Ok(if context.is_equal(&scop.context)? { pairs } else { pairs.intersect_params(context.clone())? })
    }
}

impl Subject {
    /// All of them, in the order in which they are told.
    pub(super) fn relations(&self) -> Attempt<&[Relation]> {
        if let Some(known) = self.relations.get() {
            return Ok(known);
        }
        let find = |name: Option<String>| {
            let mut statements = self.scop.statements.iter();
            let position = statements.position(|statement| Some(&statement.name) == name.as_ref());
            position.map(StatementId::new).ok_or_else(|| Fault::bug("a dependence of an unknown statement"))
        };
        let mut all = Vec::new();
        for kind in DependenceKind::ALL {
            for cells in self.dependences.of_kind(kind).maps()? {
                let (source, sink) = (find(cells.get_tuple_name(Dim::In)?)?, find(sink_and_array(&cells)?.0)?);
                let pairs = cells.clone().range_factor_domain()?.intersect_params(self.scop.context.clone())?;
                all.push(Relation { kind, source, sink, cells, pairs });
            }
        }
        Ok(self.relations.get_or_init(|| all))
    }
}
