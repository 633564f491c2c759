//! Parting: some instances of a statement become a statement of their own.
//!
//! In: a legal schedule, and a [`Draft`] in which a statement has lost instances to a new one that does the same, in the same loops.  Out: the
//! new program with its dependences.
//! Every instance is still there, under one of two names, and runs when it ran; so the dependences are the old ones with the names
//! changed, and no flow is analysed.
//! Not here: moving the two apart, which is proven like any tree.

use std::rc::Rc;

use isl::{Dim, Map, UnionMap};

use super::Subject;
use super::rewriting::{Draft, Rewriting};
use crate::deps::{Dependences, sink_and_array};
use crate::fault::{Attempt, Fault};
use crate::scop::{Access, Scop, Statement};
use crate::tree::Tree;

/// Checks a draft in which `part` has been made of instances of `whole`.
pub fn prove_parting(before: &Rc<Subject>, mut draft: Draft, whole: &str, part: &str) -> diag::Result<Rewriting> {
    let tree = Tree::grow(std::mem::take(&mut draft.loops), std::mem::take(&mut draft.branches));
    let renamed = || -> Attempt<Dependences> {
        let old = named(&before.scop, whole)?;
        let (rest, part) = (named(&draft.scop, whole)?, named(&draft.scop, part)?);
        check_same(old, rest, part)?;
        Renaming::new(rest, part)?.of_all(&before.dependences, &before.scop)
    };
    let dependences = renamed().map_err(|fault| fault.at("legality"))?;
    draft.scop.adopt(&tree);
    let written = Some(before.written.clone().unwrap_or_else(|| Rc::clone(before)));
    Ok(Rewriting::Done(Rc::new(Subject::new(draft.scop, dependences, written)), tree))
}

fn named<'a>(scop: &'a Scop, name: &str) -> Attempt<&'a Statement> {
    scop.statement(name).ok_or_else(|| Fault::bug(format!("no statement {name} to part")))
}

/// The two do what the one did, each instance in one of them.
fn check_same(old: &Statement, rest: &Statement, part: &Statement) -> Attempt<()> {
    let alike = |access: (&Access, &Access)| access.0.array == access.1.array && access.0.index == access.1.index;
    let same = |new: &Statement| {
        new.iters == old.iters
            && new.kind == old.kind
            && new.value == old.value
            && alike((&new.write, &old.write))
            && new.reads.len() == old.reads.len()
            && new.reads.iter().zip(&old.reads).all(alike)
            && new.block.is_none()
    };
    let taken = part.domain.clone().reset_space(old.domain.get_space()?)?;
    let apart = rest.domain.clone().intersect(taken.clone())?.is_empty()?;
    let whole = rest.domain.clone().union(taken)?.is_equal(&old.domain)?;
    if same(rest) && same(part) && apart && whole {
        Ok(())
    } else {
        Err(Fault::bug(format!("{} and {} are not what {} was", rest.name, part.name, old.name)))
    }
}

/// From the instances of the old program to those of the new one.
struct Renaming {
    whole: String,
    /// `{ old -> new }` for the statement that was parted.
    names: UnionMap,
}

impl Renaming {
    fn new(rest: &Statement, part: &Statement) -> Attempt<Renaming> {
        let kept = rest.domain.clone().identity()?;
        let new = part.domain.get_space()?;
        let across = rest.domain.get_space()?.map_from_domain_and_range(new)?;
        let taken = Map::identity(across)?.intersect_range(part.domain.clone())?;
        Ok(Renaming { whole: rest.name.clone(), names: UnionMap::from_map(kept)?.add_map(taken)? })
    }

    fn of_all(&self, old: &Dependences, scop: &Scop) -> Attempt<Dependences> {
        let mut without_source = scop.nothing()?;
        for read in old.without_source.maps()? {
            let own = self.is_whole(read.get_tuple_name(Dim::In)?);
            let read = UnionMap::from_map(read)?;
            let read = if own { read.apply_domain(self.names.clone())? } else { read };
            without_source = without_source.union(read)?;
        }
        Ok(Dependences {
            flow: self.of_pairs(&old.flow, scop)?,
            anti: self.of_pairs(&old.anti, scop)?,
            output: self.of_pairs(&old.output, scop)?,
            reduction: self.of_pairs(&old.reduction, scop)?,
            without_source,
            strict: old.strict,
            exact: old.exact,
        })
    }

    fn is_whole(&self, name: Option<String>) -> bool {
        name.as_ref() == Some(&self.whole)
    }

    /// `{ source -> [sink -> cell] }` with new names for both ends.
    fn of_pairs(&self, pairs: &UnionMap, scop: &Scop) -> Attempt<UnionMap> {
        let mut all = scop.nothing()?;
        for pair in pairs.maps()? {
            let source = self.is_whole(pair.get_tuple_name(Dim::In)?);
            let sink = self.is_whole(sink_and_array(&pair)?.0);
            let mut pair = UnionMap::from_map(pair)?;
            if source {
                pair = pair.apply_domain(self.names.clone())?;
            }
            if sink {
                let ends = pair.clone().range()?.unwrap()?;
                let renamed = ends.clone().domain_map()?.apply_range(self.names.clone())?;
                pair = pair.apply_range(renamed.range_product(ends.range_map()?)?)?;
            }
            all = all.union(pair)?;
        }
        Ok(all)
    }
}
