//! Steps that change which loops there are and how they nest: tile, strip, interchange, reorder, jam.
//!
//! A nest is what stands in the outermost of the named loops; it is changed as a whole. A source statement with a reduction
//! has parts, of which the init and the fini lack the reduced loops: each part is changed as far as it has the loops.
//! Several source statements must all have the same of them.

use poly::{Entry, Loop, LoopId, LoopKind};

use super::{Applied, Edit};
use crate::step::{Loops, Word};

/// The new loop over pieces of another, and how many iterations make a piece.
pub(super) struct Pieces {
    pub(super) id: LoopId,
    pub(super) size: i64,
}

impl Edit<'_> {
    /// The levels of the named loops in a branch, in the order of the names; without those that it lacks.
    pub(super) fn levels(&self, number: usize, names: &[&Word]) -> Vec<usize> {
        let branch = &self.branches[number];
        names.iter().filter_map(|name| self.tree.loop_named(branch, &name.text)).map(|(level, ..)| level).collect()
    }

    /// The branches, nest by nest. Nothing else may be in a nest, and what shares it must have the same loops.
    pub(super) fn nests(&self, numbers: &[usize], names: &[&Word]) -> Applied<Vec<Vec<usize>>> {
        let mut nests: Vec<(LoopId, Vec<usize>)> = Vec::new();
        for number in numbers {
            let Some(level) = self.levels(*number, names).into_iter().min() else { continue };
            let Some((id, _)) = self.branches[*number].entries[level].as_loop() else { continue };
            match nests.iter_mut().find(|(known, _)| *known == id) {
                Some((_, nest)) => nest.push(*number),
                None => nests.push((id, vec![*number])),
            }
        }
        for (id, nest) in &nests {
            self.refuse_strangers(*id, nest, names)?;
            self.refuse_different_loops(nest, names)?;
        }
        Ok(nests.into_iter().map(|(_, nest)| nest).collect())
    }

    /// Other statements inside the loops would silently be left behind.
    fn refuse_strangers(&self, id: LoopId, nest: &[usize], names: &[&Word]) -> Applied<()> {
        let inside = |number: &usize| self.branches[*number].level_of(id).is_some() && !nest.contains(number);
        let Some(stranger) = (0..self.branches.len()).find(inside) else { return Ok(()) };
        let (this, name) = (nest[0], &self.tree.info(id).name);
        let span =
            names.iter().find(|word| self.tree.info(id).is_called(&word.text)).map_or(self.step.span, |word| word.span);
        // Parts of one statement go by their own names.
        let parts = self.source(this) == self.source(stranger);
        let call = |number: usize| if parts { self.name(number) } else { self.source(number) };
        let (one, two) = if stranger < this { (stranger, this) } else { (this, stranger) };
        let help =
            format!("name both statements, or separate them first: `fission {}, {} at {name}`", call(one), call(two));
        let diagnostic = self.refuse(span, format!("loop `{name}` also contains `{}`", call(stranger)));
        Err(Box::new(diagnostic.help(help)))
    }

    /// Statements that share a loop are changed together, so they need the same loops.
    fn refuse_different_loops(&self, nest: &[usize], names: &[&Word]) -> Applied<()> {
        if nest.iter().all(|number| self.source(*number) == self.source(nest[0])) {
            return Ok(());
        }
        let has = |number: usize, name: &Word| self.tree.loop_named(&self.branches[number], &name.text).is_some();
        for name in names {
            if let Some(lacks) = nest.iter().find(|number| !has(**number, name)) {
                let diagnostic = self.refuse(name.span, format!("`{}` has no loop `{}`", self.name(*lacks), name.text));
                let help = "statements that share a loop are changed together; name the loops that all have";
                return Err(Box::new(diagnostic.help(help)));
            }
        }
        Ok(())
    }

    /// A condition between the loops keeps them apart.
    pub(super) fn refuse_splits(&self, number: usize, levels: &[usize]) -> Applied<()> {
        let (Some(first), Some(last)) = (levels.iter().min(), levels.iter().max()) else { return Ok(()) };
        let between = &self.branches[number].entries[*first..=*last];
        if between.iter().any(|entry| matches!(entry, Entry::Only(_))) {
            let what = "loops inside a `split` cannot be rearranged; split afterwards";
            return Err(self.misuse(self.step.span, what));
        }
        Ok(())
    }

    /// New loops over pieces of the named ones, by the names given or by theirs with a suffix.
    pub(super) fn pieces(
        &mut self,
        loops: &[&Word],
        sizes: &[i64],
        given: &[Word],
        suffix: &str,
    ) -> Applied<Vec<Pieces>> {
        let mut pieces = Vec::new();
        for (position, found) in loops.iter().enumerate() {
            let (name, span) = match given.get(position) {
                Some(word) => (word.text.clone(), word.span),
                None => (format!("{}{suffix}", found.text), found.span),
            };
            if self.loops.iter().any(|known| known.is_called(&name)) {
                let what = format!("there is a loop `{name}` already; choose a name with `as`");
                return Err(self.misuse(span, what));
            }
            let id = self.add_loop(Loop::named(name));
            pieces.push(Pieces { id, size: sizes[position] });
        }
        Ok(pieces)
    }

    /// The entry of a loop over pieces, for the loop at `level`.
    fn piece(&self, number: usize, level: usize, pieces: &Pieces) -> Applied<Entry> {
        let Some((_, expr)) = self.branches[number].entries[level].as_loop() else { return Err(self.overflow()) };
        let expr = expr.div(pieces.size).ok_or_else(|| self.overflow())?;
        Ok(Entry::Loop(pieces.id, expr))
    }

    /// One loop in pieces, for every branch that has it; with the loop itself right inside, or innermost.
    pub(super) fn cut(
        &mut self,
        loops: &Loops,
        size: i64,
        name: Option<&Word>,
        innermost: bool,
    ) -> Applied<Vec<LoopId>> {
        let numbers = self.targets(loops)?;
        if innermost {
            self.gather(&numbers);
        }
        let names = loops.names();
        let nests = self.nests(&numbers, &names)?;
        let pieces = self.pieces(&names, &[size], name.map_or(&[], std::slice::from_ref), "o")?;
        let mut cut = Vec::new();
        for nest in &nests {
            for number in nest {
                let Some(level) = self.levels(*number, &names).first().copied() else { continue };
                let piece = self.piece(*number, level, &pieces[0])?;
                if innermost {
                    let last = self.branches[*number].entries.len() - 1;
                    self.refuse_splits(*number, &[level, last])?;
                }
                let entries = &mut self.branches[*number].entries;
                let inner = std::mem::replace(&mut entries[level], piece);
                cut.extend(inner.as_loop().map(|(id, _)| id));
                let at = if innermost { entries.len() } else { level + 1 };
                entries.insert(at, inner);
            }
            self.forget_bands(nest);
        }
        Ok(cut)
    }
}

pub(super) fn tile(edit: &mut Edit<'_>, loops: &Loops, sizes: &[i64], names: &[Word]) -> Applied<()> {
    let numbers = edit.targets(loops)?;
    edit.gather(&numbers);
    let tiled = loops.names();
    let nests = edit.nests(&numbers, &tiled)?;
    let tiles = edit.pieces(&tiled, sizes, names, "t")?;
    for nest in nests {
        for number in &nest {
            let levels = edit.levels(*number, &tiled);
            edit.refuse_splits(*number, &levels)?;
            let mut added = Vec::new();
            for (name, tile) in tiled.iter().zip(&tiles) {
                if let Some((level, ..)) = edit.tree.loop_named(&edit.branches[*number], &name.text) {
                    added.push(edit.piece(*number, level, tile)?);
                }
            }
            let (Some(first), Some(last)) = (levels.iter().min().copied(), levels.iter().max().copied()) else {
                continue;
            };
            let entries = &mut edit.branches[*number].entries;
            // The tiled loops take each other's places in the order in which they are named; loops between them end up
            // inside, and positions stay where they are.
            let mut wanted: Vec<Entry> = levels.iter().map(|level| entries[*level].clone()).collect();
            wanted.reverse();
            let mut inside = Vec::new();
            let mut between = Vec::new();
            for (level, entry) in entries[first..=last].iter().enumerate() {
                if levels.contains(&(first + level)) {
                    between.extend(wanted.pop());
                } else if entry.as_loop().is_some() {
                    inside.push(entry.clone());
                } else {
                    between.push(entry.clone());
                }
            }
            between.extend(inside);
            entries.splice(first..=last, added.into_iter().chain(between));
        }
        edit.forget_bands(&nest);
    }
    Ok(())
}

pub(super) fn strip(edit: &mut Edit<'_>, loops: &Loops, size: i64, name: Option<&Word>) -> Applied<()> {
    edit.cut(loops, size, name, false).map(drop)
}

pub(super) fn jam(edit: &mut Edit<'_>, loops: &Loops, size: i64, name: Option<&Word>) -> Applied<()> {
    for id in edit.cut(loops, size, name, true)? {
        edit.loops[id.index()].kind = LoopKind::Unrolled;
    }
    Ok(())
}

/// The named loops take each other's places, in the order in which they are named; others stay where they are.
pub(super) fn reorder(edit: &mut Edit<'_>, loops: &Loops) -> Applied<()> {
    let numbers = edit.targets(loops)?;
    edit.gather(&numbers);
    let names = loops.names();
    for nest in edit.nests(&numbers, &names)? {
        for number in &nest {
            let wanted = edit.levels(*number, &names);
            edit.refuse_splits(*number, &wanted)?;
            let entries = &mut edit.branches[*number].entries;
            let mut places = wanted.clone();
            places.sort_unstable();
            let found: Vec<Entry> = wanted.iter().map(|level| entries[*level].clone()).collect();
            for (place, entry) in places.into_iter().zip(found) {
                entries[place] = entry;
            }
        }
        edit.forget_bands(&nest);
    }
    Ok(())
}

/// A part that has only one of the two keeps its loops.
pub(super) fn interchange(edit: &mut Edit<'_>, loops: &Loops) -> Applied<()> {
    let numbers = edit.targets(loops)?;
    edit.gather(&numbers);
    let names = loops.names();
    for nest in edit.nests(&numbers, &names)? {
        for number in &nest {
            let [one, two] = edit.levels(*number, &names)[..] else { continue };
            edit.refuse_splits(*number, &[one, two])?;
            edit.branches[*number].entries.swap(one, two);
        }
        edit.forget_bands(&nest);
    }
    Ok(())
}
