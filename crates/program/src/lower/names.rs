//! Names and what they stand for, scope by scope.

use std::collections::HashMap;

use diag::Span;

use crate::{ArrayId, CounterId, IterId, ParamId, ScalarId};

#[derive(Clone, Copy, Debug)]
pub(super) enum Meaning {
    Param(ParamId),
    Scalar(ScalarId),
    Array(ArrayId),
    Iter(IterId),
    /// The index of a loop whose bounds depend on data.
    Counter(CounterId),
    /// A constant of the file, by position.
    Constant(usize),
    /// A table of the file, likewise.
    Table(usize),
    /// Declared, but its declaration was in error: uses are not reported again.
    Broken,
}

impl Meaning {
    pub(super) fn describe(self) -> &'static str {
        match self {
            Meaning::Param(_) => "a parameter",
            Meaning::Scalar(_) => "a scalar argument",
            Meaning::Array(_) => "an array",
            Meaning::Iter(_) | Meaning::Counter(_) => "an index",
            Meaning::Constant(_) => "a constant",
            Meaning::Table(_) => "a constant table",
            Meaning::Broken => "something whose declaration is in error",
        }
    }
}

#[derive(Debug, Default)]
pub(super) struct Scope {
    entries: Vec<(String, Meaning, Span)>,
    /// The entries of each name, innermost last.
    places: HashMap<String, Vec<usize>>,
    marks: Vec<usize>,
}

impl Scope {
    pub(super) fn enter(&mut self) {
        self.marks.push(self.entries.len());
    }

    pub(super) fn leave(&mut self) {
        let Some(mark) = self.marks.pop() else { return };
        for (name, ..) in self.entries.drain(mark..) {
            self.places.get_mut(&name).map(Vec::pop);
        }
    }

    pub(super) fn insert(&mut self, name: String, meaning: Meaning, span: Span) {
        self.places.entry(name.clone()).or_default().push(self.entries.len());
        self.entries.push((name, meaning, span));
    }

    /// Takes back a name of the innermost scope.
    pub(super) fn forget(&mut self, name: &str) {
        self.entries.retain(|(known, ..)| known != name);
        self.places.clear();
        for (place, (name, ..)) in self.entries.iter().enumerate() {
            self.places.entry(name.clone()).or_default().push(place);
        }
    }

    pub(super) fn lookup(&self, name: &str) -> Option<(Meaning, Span)> {
        let (_, meaning, span) = &self.entries[*self.places.get(name)?.last()?];
        Some((*meaning, *span))
    }

    /// The visible name closest to a misspelt one.
    pub(super) fn closest(&self, name: &str) -> Option<&str> {
        closest(name, self.entries.iter().map(|(known, ..)| known.as_str()))
    }

    /// Whether the declaration of a visible name was in error.
    pub(super) fn has_broken(&self) -> bool {
        self.entries.iter().any(|(_, meaning, _)| matches!(meaning, Meaning::Broken))
    }

    /// The names of the visible iteration variables.
    pub(super) fn loop_names(&self) -> Vec<String> {
        let loops = self.entries.iter().filter(|(_, meaning, _)| is_loop(meaning));
        loops.map(|(name, ..)| name.clone()).collect()
    }

    /// Whether a loop around depends on data.
    pub(super) fn counts(&self) -> bool {
        self.entries.iter().any(|(_, meaning, _)| matches!(meaning, Meaning::Counter(_)))
    }

    /// How many iteration variables are visible.
    pub(super) fn loops(&self) -> usize {
        self.entries.iter().filter(|(_, meaning, _)| is_loop(meaning)).count()
    }
}

fn is_loop(meaning: &Meaning) -> bool {
    matches!(meaning, Meaning::Iter(_) | Meaning::Counter(_))
}

/// The candidate that differs least from `name`, if it differs little.
pub(super) fn closest<'a>(name: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let allowed = (name.chars().count() / 3).max(1);
    candidates
        .map(|candidate| (strsim::damerau_levenshtein(name, candidate), candidate))
        .filter(|(distance, candidate)| *distance <= allowed && *distance < candidate.chars().count())
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}
