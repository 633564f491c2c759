//! What the repository has: cases with their schedules, examples, layouts and expressions of the documentation.

use std::fs;
use std::path::{Path, PathBuf};

use crate::dice::Dice;

pub(crate) struct Case {
    pub(crate) program: String,
    pub(crate) script: Option<String>,
    pub(crate) tree: Option<String>,
}

pub(crate) struct Corpus {
    pub(crate) cases: Vec<Case>,
    pub(crate) layouts: Vec<String>,
    pub(crate) spaces: Vec<String>,
    pub(crate) expressions: Vec<String>,
}

impl Corpus {
    pub(crate) fn read() -> Corpus {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let mut paths = Vec::new();
        for folder in ["tests/cases", "examples"] {
            programs(&root.join(folder), &mut paths);
        }
        paths.sort();
        let texts = paths.iter().filter_map(|path| fs::read_to_string(path).ok());
        let cases: Vec<Case> = texts.map(|text| case(&text)).collect();
        assert!(cases.len() > 500, "the cases are not where they were");
        let layouts = fs::read_to_string(root.join("docs/layouts.md")).unwrap_or_default();
        let layouts: Vec<String> =
            layouts.lines().filter_map(|line| line.strip_prefix("> ")).map(str::to_owned).collect();
        assert!(layouts.len() > 5, "the layouts are not where they were");
        let owned = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
        Corpus {
            cases,
            layouts,
            spaces: owned(&[
                "tile(i,j,k; 8,16,32,64), permute(i,j,k)",
                "permute(i,j,k), parallel(k)",
                "skew(t,i; 0..2), tile(t,i; 8,32)",
                "reverse(i), fuse(S0,S1 at i), fission(S0,S1 at i)",
            ]),
            expressions: owned(&[
                "1 + 2 * 3",
                "sum[i: 0..10] i * i",
                "max[i: 0..9] (i % 4)",
                "sqrt(2.0) + 1e300",
                "7 / 0",
            ]),
        }
    }
}

fn programs(folder: &Path, found: &mut Vec<PathBuf>) {
    for path in fs::read_dir(folder).expect("a folder of the repository").flatten().map(|entry| entry.path()) {
        if path.is_dir() {
            programs(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "fks") {
            found.push(path);
        }
    }
}

/// A case file: the program, then sections that begin with `--- name`.
fn case(text: &str) -> Case {
    let mut case = Case { program: String::new(), script: None, tree: None };
    let mut section = "program";
    for line in text.lines() {
        if let Some(name) = line.strip_prefix("--- ") {
            section = name.split_whitespace().next().unwrap_or("");
            continue;
        }
        let into = match section {
            "program" => &mut case.program,
            "sched" => case.script.get_or_insert_default(),
            "tree" => case.tree.get_or_insert_default(),
            _ => continue,
        };
        into.push_str(line);
        into.push('\n');
    }
    case
}

/// A file of a few elements, or one whose header says so.
pub(crate) fn npy(dice: &mut Dice) -> Vec<u8> {
    let descr = dice.among(&["'<f8'", "'<f4'", "'>i8'", "'|b1'", "'<c16'", "[('a', '<f8')]"]);
    let shape =
        dice.among(&["(2, 3)", "(5,)", "()", "(0, 99999999999)", "(99999999999, 99999999999)", "(7, 7)", "(-1,)"]);
    let order = dice.among(&["False", "True", "Maybe"]);
    let header = format!("{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}, }}\n");
    let len = (header.len() as u16).to_le_bytes();
    let elements = vec![7; dice.roll(500)];
    [b"\x93NUMPY\x01\x00".as_slice(), &len, header.as_bytes(), &elements].concat()
}
