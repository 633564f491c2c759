//! The text forms of the stages, as `--emit` names them.

use std::fmt;
use std::str::FromStr;

/// A stage whose result can be seen as text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Emit {
    /// The syntax tree.
    Ast,
    /// The typed array program.
    Program,
    /// Statements as sets and maps.
    Statements,
    /// Dependences, and the graph of statements.
    Deps,
    /// The graph of statements for Graphviz.
    DepsDot,
    /// The schedule tree, as YAML.
    Schedule,
    /// The schedule as a script.
    Script,
    /// Where the cells of arrays live.
    Layouts,
    /// The loop tree.
    Loops,
    /// The loops as C99.
    C,
    /// Kernels for NVIDIA's GPUs.
    Ptx,
    /// The lane programs of vector loops.
    Lanes,
    /// Cranelift's intermediate form.
    Clif,
    /// Machine code.
    Asm,
}

impl Emit {
    /// All of them, in the order of the pipeline.
    pub const ALL: [Emit; 14] = [
        Emit::Ast,
        Emit::Program,
        Emit::Statements,
        Emit::Deps,
        Emit::DepsDot,
        Emit::Schedule,
        Emit::Script,
        Emit::Layouts,
        Emit::Loops,
        Emit::C,
        Emit::Ptx,
        Emit::Lanes,
        Emit::Clif,
        Emit::Asm,
    ];

    /// As `--emit` spells it.
    pub fn name(self) -> &'static str {
        match self {
            Emit::Ast => "ast",
            Emit::Program => "program",
            Emit::Statements => "statements",
            Emit::Deps => "deps",
            Emit::DepsDot => "deps-dot",
            Emit::Schedule => "schedule",
            Emit::Script => "script",
            Emit::Layouts => "layouts",
            Emit::Loops => "loops",
            Emit::C => "c",
            Emit::Ptx => "ptx",
            Emit::Lanes => "lanes",
            Emit::Clif => "clif",
            Emit::Asm => "asm",
        }
    }
}

impl fmt::Display for Emit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Emit {
    type Err = String;

    fn from_str(name: &str) -> Result<Emit, String> {
        let known = Emit::ALL.map(Emit::name);
        Emit::ALL
            .into_iter()
            .find(|emit| emit.name() == name)
            .ok_or_else(|| format!("`{name}` is none of {}", known.join(", ")))
    }
}
