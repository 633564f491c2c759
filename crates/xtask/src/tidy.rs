//! House rules that a program can check: crate edges, the shape of the tree, and what source files must not hold.
//!
//! In: the files of the workspace.  Out: every place that breaks a rule, as `file:line: what`.

mod edges;
mod files;

use std::fmt;
use std::fs;
use std::path::Path;

use crate::process::{capture, command, complain, say, workspace_root};

/// A place that breaks a rule. A whole file or folder has no line.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Problem {
    path: String,
    line: Option<usize>,
    message: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "{}:{line}: {}", self.path, self.message),
            None => write!(f, "{}: {}", self.path, self.message),
        }
    }
}

/// A text file of the workspace; the path is relative to its top, with forward slashes.
struct SourceFile {
    path: String,
    text: String,
}

pub(crate) fn check_workspace() -> Result<(), String> {
    let root = workspace_root();
    let listing = list_files(&root)?;
    let sources = read_texts(&root, &listing.all)?;

    let mut problems = files::check_top_level(&listing.committed);
    for file in &sources {
        problems.extend(files::check_name(&file.path));
        problems.extend(files::check_text(file));
    }
    problems.extend(files::check_unsafe_forbidden(&sources));
    problems.extend(files::check_bounds_proven(&sources));
    problems.extend(files::check_promises(&sources));
    problems.extend(edges::check_edges(&sources));
    problems.sort();

    for problem in &problems {
        complain(problem);
    }
    match problems.len() {
        0 => {
            say(format!("tidy: {} files, nothing to complain about", sources.len()));
            Ok(())
        }
        1 => Err("tidy found 1 problem".to_owned()),
        count => Err(format!("tidy found {count} problems")),
    }
}

struct Listing {
    /// What git tracks.
    committed: Vec<String>,
    /// Also what is new and not ignored: it will be committed next.
    all: Vec<String>,
}

/// Asks git; without it (a source archive) everything but build output counts.
fn list_files(root: &Path) -> Result<Listing, String> {
    let ask = |args: &[&str]| -> Option<Vec<String>> {
        let output = capture(&mut command("git", args)).ok()?;
        let names = String::from_utf8_lossy(&output.stdout).into_owned();
        Some(names.split('\0').filter(|name| !name.is_empty()).map(str::to_owned).collect())
    };
    if root.join(".git").exists()
        && let Some(committed) = ask(&["ls-files", "-z"])
        && let Some(all) = ask(&["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
    {
        return Ok(Listing { committed, all });
    }
    let mut all = Vec::new();
    walk(root, "", &mut all).map_err(|error| format!("cannot list the files of the workspace: {error}"))?;
    Ok(Listing { committed: all.clone(), all })
}

fn walk(folder: &Path, prefix: &str, found: &mut Vec<String>) -> std::io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
        if name == "target" || name == ".git" {
            continue;
        }
        let kind = entry.file_type()?;
        if kind.is_dir() {
            walk(&entry.path(), &format!("{name}/"), found)?;
        } else if kind.is_file() {
            found.push(name);
        }
    }
    Ok(())
}

/// Leaves out binary files and those that are deleted but still tracked.
fn read_texts(root: &Path, paths: &[String]) -> Result<Vec<SourceFile>, String> {
    let mut sources = Vec::new();
    for path in paths {
        match fs::read(root.join(path)) {
            Ok(bytes) => {
                if let Ok(text) = String::from_utf8(bytes) {
                    sources.push(SourceFile { path: path.clone(), text });
                }
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => return Err(format!("cannot read {path}: {error}")),
        }
    }
    Ok(sources)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn crate_edges_of_this_workspace_hold() {
        let root = workspace_root();
        let listing = list_files(&root).expect("the workspace can be listed");
        let sources = read_texts(&root, &listing.all).expect("the workspace can be read");
        let problems: Vec<_> = edges::check_edges(&sources).iter().map(Problem::to_string).collect();
        assert!(problems.is_empty(), "{}", problems.join("\n"));
    }

    #[test]
    fn walking_finds_what_git_lists_but_no_build_output() {
        let root = workspace_root();
        let mut walked = Vec::new();
        walk(&root, "", &mut walked).expect("the workspace can be listed");
        assert!(walked.iter().any(|path| path == "crates/xtask/src/tidy.rs"));
        assert!(!walked.iter().any(|path| path.starts_with("target/") || path.starts_with(".git/")));
    }

    #[test]
    fn problems_point_at_a_line() {
        let problem = Problem { path: "a.rs".to_owned(), line: Some(3), message: "no".to_owned() };
        assert_eq!(problem.to_string(), "a.rs:3: no");
        assert_eq!(Problem { line: None, ..problem }.to_string(), "a.rs: no");
    }
}
