//! Finding what a step speaks of: statements and loops by name.

use diag::Diagnostic;
use poly::{Branch, Scop, StatementId, Tree};

use super::{Applied, Edit};
use crate::step::{Loops, Target, Word};

/// The statements that `name` means: a source statement with all its parts, or one part.
pub(crate) fn statements(scop: &Scop, name: &Word) -> Applied<Vec<StatementId>> {
    let all = || scop.statements.iter().enumerate();
    let mut found: Vec<usize> =
        all().filter(|(_, statement)| statement.name == name.text).map(|(position, _)| position).collect();
    if found.is_empty() {
        found = all().filter(|(_, statement)| statement.source == name.text).map(|(position, _)| position).collect();
    }
    if found.is_empty() {
        let mut known: Vec<&str> = scop.statements.iter().map(|statement| statement.source.as_str()).collect();
        known.dedup();
        let diagnostic = Diagnostic::error("E0511", name.span, format!("there is no statement `{}`", name.text))
            .note(format!("the statements are {}", known.join(", ")));
        return Err(Box::new(diagnostic));
    }
    Ok(found.into_iter().map(StatementId::new).collect())
}

/// The branches of some statements, from left to right.
pub(crate) fn branches_of(branches: &[Branch], statements: &[StatementId]) -> Vec<usize> {
    (0..branches.len()).filter(|number| statements.contains(&branches[*number].statement)).collect()
}

/// The branches that have a loop `name`.
pub(crate) fn with_loop(tree: &Tree, branches: &[Branch], name: &Word) -> Applied<Vec<usize>> {
    let has = |number: &usize| tree.loop_named(&branches[*number], &name.text).is_some();
    let found: Vec<usize> = (0..branches.len()).filter(has).collect();
    if found.is_empty() {
        return Err(unknown_loop(tree, branches.iter(), name));
    }
    Ok(found)
}

/// No loop of these branches is called so.
pub(crate) fn unknown_loop<'a>(tree: &Tree, among: impl Iterator<Item = &'a Branch>, name: &Word) -> Box<Diagnostic> {
    let mut known: Vec<&str> = Vec::new();
    for branch in among {
        for (_, id, _) in branch.loops() {
            let own = tree.info(id).name.as_str();
            if !known.contains(&own) {
                known.push(own);
            }
        }
    }
    let known =
        if known.is_empty() { "there are no loops here".into() } else { format!("the loops are {}", known.join(", ")) };
    Box::new(Diagnostic::error("E0511", name.span, format!("there is no loop `{}`", name.text)).note(known))
}

impl Edit<'_> {
    /// The branches of a statement.
    pub(super) fn statement(&self, name: &Word) -> Applied<Vec<usize>> {
        Ok(branches_of(&self.branches, &statements(self.scop, name)?))
    }

    /// The branches that a step speaks of, each of whose loops some of them have.
    pub(super) fn targets(&self, loops: &Loops) -> Applied<Vec<usize>> {
        let mut found = Vec::new();
        for target in &loops.targets {
            match target {
                Target::Everywhere(name) => found.extend(with_loop(self.tree, &self.branches, name)?),
                Target::Of(statement, names) => {
                    let own = self.statement(statement)?;
                    let has = |number: &usize, name: &Word| {
                        self.tree.loop_named(&self.branches[*number], &name.text).is_some()
                    };
                    if let Some(unknown) = names.iter().find(|name| !own.iter().any(|number| has(number, name))) {
                        return Err(unknown_loop(self.tree, own.iter().map(|number| &self.branches[*number]), unknown));
                    }
                    found.extend(own);
                }
            }
        }
        found.sort_unstable();
        found.dedup();
        Ok(found)
    }
}
