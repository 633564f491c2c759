//! Which crate may use which: the table of the architecture, held against the manifests.
//!
//! Development dependencies are free, because tests may start from text; everything else is an arrow of the design.

use std::collections::{BTreeMap, BTreeSet};

use super::{Problem, SourceFile};

/// Our crates and what each may use. A new arrow is an architecture change: `docs/architecture.md` changes with it.
const MAY_USE: [(&str, &[&str]); 18] = [
    ("diag", &[]),
    ("index", &[]),
    ("math", &[]),
    ("isl", &[]),
    ("syntax", &["diag"]),
    ("program", &["syntax", "index", "math", "diag"]),
    ("layout", &["isl", "diag"]),
    ("poly", &["isl", "program", "loops", "diag"]),
    ("steps", &["isl", "syntax", "program", "layout", "poly", "diag"]),
    ("choice", &["program", "poly", "steps", "diag"]),
    ("loops", &["program", "index", "diag"]),
    ("interp", &["program", "loops", "index", "math", "diag"]),
    // The loop tree speaks of the scalar types and buffers of `program`, so its consumers do as well.
    ("cpu", &["loops", "program", "math", "diag"]),
    ("ptx", &["loops", "program", "index", "math", "diag"]),
    ("c", &["loops", "program", "math", "diag"]),
    (
        "farkas",
        &[
            "diag", "isl", "syntax", "program", "layout", "poly", "steps", "choice", "loops", "interp", "cpu", "ptx",
            "c",
        ],
    ),
    ("cli", &["farkas"]),
    ("xtask", &[]),
];

/// Crates that must not reach another one, not even through others, and why.
const NEVER_REACHES: [(&str, &str, &str); 5] = [
    ("interp", "isl", "the reference semantics must not share a mistake with the optimiser"),
    ("cpu", "isl", "a back end takes finished loops"),
    ("ptx", "isl", "a back end takes finished loops"),
    ("c", "isl", "a back end takes finished loops"),
    ("syntax", "isl", "text never reaches isl"),
];

/// Foreign crates (by the start of their name) that a few of ours hide from the rest.
const HIDDEN: [(&str, &[&str]); 5] = [
    ("isl-rs", &["isl"]),
    ("pest", &["syntax", "ptx"]),
    ("cranelift", &["cpu"]),
    ("iced-x86", &["cpu"]),
    ("cudarc", &["ptx"]),
];

#[derive(Debug, PartialEq, Eq)]
struct Dependency {
    /// The package's name, without our `farkas-`.
    package: String,
    /// Only for tests and benchmarks.
    development: bool,
    line: usize,
}

pub(super) fn check_edges(sources: &[SourceFile]) -> Vec<Problem> {
    let mut problems = Vec::new();
    let mut uses: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    for file in sources {
        let Some(name) = file.path.strip_prefix("crates/").and_then(|path| path.strip_suffix("/Cargo.toml")) else {
            continue;
        };
        let mut report = |line, message| problems.push(Problem { path: file.path.clone(), line, message });
        let Some((_, allowed)) = MAY_USE.iter().find(|(known, _)| *known == name) else {
            report(None, format!("`{name}` is not in the crate table; add it there and to docs/architecture.md"));
            continue;
        };
        for dependency in dependencies(&file.text).iter().filter(|dependency| !dependency.development) {
            let package = dependency.package.as_str();
            let ours = MAY_USE.iter().any(|(known, _)| *known == package);
            if ours && !allowed.contains(&package) {
                report(Some(dependency.line), format!("`{name}` may not use `{package}`"));
            }
            let hidden = |(start, owners): &&(&str, &[&str])| package.starts_with(start) && !owners.contains(&name);
            if let Some((_, owners)) = HIDDEN.iter().find(hidden) {
                let owners: Vec<_> = owners.iter().map(|owner| format!("`{owner}`")).collect();
                report(Some(dependency.line), format!("only {} may use `{package}`", owners.join(" and ")));
            }
            if ours {
                uses.entry(name).or_default().insert(package.to_owned());
            }
        }
    }
    for (from, to, reason) in NEVER_REACHES {
        if let Some(route) = find_route(&uses, from, to) {
            let message = format!("`{from}` reaches `{to}` ({}); {reason}", route.join(" → "));
            problems.push(Problem { path: format!("crates/{from}/Cargo.toml"), line: None, message });
        }
    }
    problems
}

/// The crates on a shortest way from `from` to `to`.
fn find_route(uses: &BTreeMap<&str, BTreeSet<String>>, from: &str, to: &str) -> Option<Vec<String>> {
    let mut routes = vec![vec![from.to_owned()]];
    let mut seen = BTreeSet::from([from.to_owned()]);
    while !routes.is_empty() {
        let mut longer = Vec::new();
        for route in routes {
            let end = route.last()?;
            if end == to {
                return Some(route);
            }
            for next in uses.get(end.as_str()).into_iter().flatten() {
                if seen.insert(next.clone()) {
                    longer.push(route.iter().cloned().chain([next.clone()]).collect());
                }
            }
        }
        routes = longer;
    }
    None
}

/// The dependencies in a manifest, read line by line: enough for the TOML that manifests are written in.
fn dependencies(manifest: &str) -> Vec<Dependency> {
    let mut found: Vec<Dependency> = Vec::new();
    let mut section = Section::Other;
    for (line, text) in (1..).zip(manifest.lines()) {
        let text = text.trim();
        if text.starts_with('#') {
            continue;
        }
        if let Some(header) = text.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
            let (new_section, dependency) = read_header(header.0, line);
            section = new_section;
            found.extend(dependency);
            continue;
        }
        let Some((key, value)) = text.split_once('=') else { continue };
        match section {
            Section::Other => {}
            Section::Dependencies { development } => {
                let alias = key.split('.').next().unwrap_or(key);
                let package = value_of(value, "package").unwrap_or(alias);
                found.push(Dependency { package: short_name(package), development, line });
            }
            Section::OneDependency => {
                if let (true, Some(dependency)) = (key.trim() == "package", found.last_mut()) {
                    dependency.package = short_name(value);
                }
            }
        }
    }
    found
}

#[derive(Clone, Copy)]
enum Section {
    /// `[dependencies]` and its kin: one dependency on each line.
    Dependencies {
        development: bool,
    },
    /// `[dependencies.name]`: properties of one dependency.
    OneDependency,
    Other,
}

/// What follows a header, and the dependency that the header itself names.
fn read_header(header: &str, line: usize) -> (Section, Option<Dependency>) {
    let kind = |part: &str| match part {
        "dependencies" | "build-dependencies" => Some(false),
        "dev-dependencies" => Some(true),
        _ => None,
    };
    let mut parts = header.rsplit('.').map(str::trim);
    let last = parts.next().unwrap_or_default();
    if let Some(development) = kind(last) {
        return (Section::Dependencies { development }, None);
    }
    match parts.next().and_then(kind) {
        Some(development) => {
            (Section::OneDependency, Some(Dependency { package: short_name(last), development, line }))
        }
        None => (Section::Other, None),
    }
}

/// `"b"` of `{ a = 1, key = "b" }`.
fn value_of<'a>(table: &'a str, key: &str) -> Option<&'a str> {
    let (_, rest) = table.split_once(key)?;
    rest.trim_start().strip_prefix('=')?.split('"').nth(1)
}

fn short_name(package: &str) -> String {
    let package = package.trim().trim_matches('"');
    package.strip_prefix("farkas-").unwrap_or(package).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn manifest(name: &str, dependencies: &str) -> SourceFile {
        SourceFile { path: format!("crates/{name}/Cargo.toml"), text: format!("[dependencies]\n{dependencies}") }
    }

    fn found(sources: &[SourceFile]) -> Vec<String> {
        check_edges(sources).iter().map(Problem::to_string).collect()
    }

    #[test]
    fn all_ways_to_write_a_dependency_are_read() {
        let text = "\
[package]
name = \"farkas-x\"
[dependencies]
diag.workspace = true
tree = { package = \"farkas-loops\", path = \"../loops\" }
# isl.workspace = true
[target.'cfg(unix)'.dependencies]
\"libc\" = \"1\"
[dev-dependencies]
proptest.workspace = true
[build-dependencies.cc]
version = \"1\"
[dependencies.renamed]
package = \"farkas-isl\"
features = [
    \"a\",
]
[lints]
workspace = true
";
        let read: Vec<_> = dependencies(text).into_iter().map(|d| (d.package, d.development, d.line)).collect();
        let expected = [
            ("diag", false, 4),
            ("loops", false, 5),
            ("libc", false, 8),
            ("proptest", true, 10),
            ("cc", false, 11),
            ("isl", false, 13),
        ];
        assert_eq!(read, expected.map(|(name, development, line)| (name.to_owned(), development, line)));
    }

    #[test]
    fn poly_may_not_use_syntax() {
        let sources = [manifest("poly", "isl.workspace = true\nsyntax.workspace = true\n")];
        assert_eq!(found(&sources), ["crates/poly/Cargo.toml:3: `poly` may not use `syntax`"]);
    }

    #[test]
    fn back_ends_may_not_reach_isl_by_a_detour() {
        let sources = [manifest("cpu", "loops.workspace = true\n"), manifest("loops", "isl.workspace = true\n")];
        assert_eq!(
            found(&sources),
            [
                "crates/loops/Cargo.toml:2: `loops` may not use `isl`",
                "crates/cpu/Cargo.toml: `cpu` reaches `isl` (cpu → loops → isl); a back end takes finished loops",
            ]
        );
    }

    #[test]
    fn tests_may_start_from_text() {
        let mut file = manifest("poly", "");
        file.text.push_str("[dev-dependencies]\nsyntax.workspace = true\n");
        assert!(found(&[file]).is_empty());
    }

    #[test]
    fn foreign_crates_stay_behind_their_owner() {
        let sources = [manifest("poly", "isl-rs = \"1\"\n"), manifest("cpu", "cranelift-jit.workspace = true\n")];
        assert_eq!(found(&sources), ["crates/poly/Cargo.toml:2: only `isl` may use `isl-rs`"]);
    }

    #[test]
    fn an_unknown_crate_is_an_architecture_change() {
        assert!(found(&[manifest("extra", "")])[0].contains("not in the crate table"));
    }
}
