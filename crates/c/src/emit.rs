//! The state of writing one function, and the order of its parts.

use std::collections::HashSet;
use std::fmt::Write;

use diag::{Source, Span};
use loops::{ArrayId, Kernel, Scoped};
use program::{Function, Role, ScalarType};

use crate::header;
use crate::names::Names;

/// A translation unit with one function for the kernel of `function`, a function of `source`.
pub fn emit(kernel: &loops::Verified, function: &Function, source: &Source) -> diag::Result<String> {
    if !kernel.is_in_bounds() {
        return Err(bug("subscripts that are not proven to be inside have no form in C"));
    }
    // C has no lanes: each has its own sum, so that results have the same bits as everywhere.
    let kernel = &kernel.with_sums_spread(|_| true);
    let mut writer = Writer {
        kernel,
        source,
        names: Names::of(kernel),
        helpers: Vec::new(),
        out: String::new(),
        depth: 1,
        scopes: vec![Scope { label: "done".to_owned(), status: "status".to_owned(), used: false }],
        sites: Vec::new(),
        declared: HashSet::new(),
        temporaries: 0,
        at: None,
        parallel: false,
    };
    let scoped = Scoped::of(&kernel.body);
    let whole: Vec<ArrayId> =
        array_ids(kernel).filter(|id| array_is_local(kernel, *id) && !scoped.contains(id)).collect();
    for array in &whole {
        writer.allocate(*array);
    }
    writer.block(&kernel.body)?;
    let body = std::mem::take(&mut writer.out);
    let mut text = header::comment(&mut writer, function);
    text.push_str(&header::includes(&writer));
    for (_, helper) in &writer.helpers {
        write!(text, "\n{helper}").map_err(bug)?;
    }
    text.push('\n');
    text.push_str(&header::opening(&mut writer, function, &whole, &body));
    text.push_str(&body);
    if writer.scopes[0].used {
        text.push_str("done:\n");
    }
    for array in &whole {
        writeln!(text, "    free({});", writer.names.arrays[array.index()]).map_err(bug)?;
    }
    text.push_str("    return status;\n}\n");
    Ok(text)
}

pub(crate) fn bug(what: impl std::fmt::Display) -> diag::Error {
    diag::Error::bug("c", what.to_string())
}

fn array_is_local(kernel: &Kernel, id: ArrayId) -> bool {
    kernel.arrays[id.index()].role == Role::Local
}

fn array_ids(kernel: &Kernel) -> impl Iterator<Item = ArrayId> {
    (0..).map(ArrayId).take(kernel.arrays.len())
}

/// A part of the text that a failed check leaves by a jump to its end.
#[derive(Debug)]
pub(crate) struct Scope {
    pub(crate) label: String,
    /// The variable that says why.
    pub(crate) status: String,
    /// Whether something jumps.
    pub(crate) used: bool,
}

/// What is known while a function is written.
pub(crate) struct Writer<'a> {
    pub(crate) kernel: &'a Kernel,
    pub(crate) source: &'a Source,
    pub(crate) names: Names,
    /// Static functions by name, each after those that it calls.
    pub(crate) helpers: Vec<(String, String)>,
    pub(crate) out: String,
    pub(crate) depth: usize,
    /// From the function to the innermost one around this place.
    pub(crate) scopes: Vec<Scope>,
    /// What the checks check; a check returns its number, from 1.
    pub(crate) sites: Vec<String>,
    /// Locals whose declaration is written.
    pub(crate) declared: HashSet<loops::LocalId>,
    pub(crate) temporaries: usize,
    /// Where in the source the present expression stands.
    pub(crate) at: Option<Span>,
    /// Whether there is a parallel loop.
    pub(crate) parallel: bool,
}

impl Writer<'_> {
    pub(crate) fn line(&mut self, text: impl std::fmt::Display) {
        let indent = "    ".repeat(self.depth);
        self.out.push_str(&format!("{indent}{text}\n"));
    }

    /// A line that begins at the margin of the block around.
    pub(crate) fn label(&mut self, label: &str) {
        let indent = "    ".repeat(self.depth.saturating_sub(1));
        self.out.push_str(&format!("{indent}{label}:\n"));
    }

    /// Writes what `work` writes, into a text of its own.
    pub(crate) fn aside(&mut self, work: impl FnOnce(&mut Self) -> diag::Result<()>) -> diag::Result<String> {
        let outer = std::mem::take(&mut self.out);
        let result = work(self);
        let inner = std::mem::replace(&mut self.out, outer);
        result.map(|()| inner)
    }

    /// Ends the innermost scope unless `holds`.
    pub(crate) fn require(&mut self, holds: &str, site: String) {
        let known = self.sites.iter().position(|known| *known == site);
        let number = known.unwrap_or_else(|| {
            self.sites.push(site);
            self.sites.len() - 1
        });
        let jump = self.jump(&(number + 1).to_string());
        self.line(format!("if (!({holds})) {jump}"));
    }

    /// Leaves the innermost scope, with a reason.
    pub(crate) fn jump(&mut self, status: &str) -> String {
        match self.scopes.last_mut() {
            Some(scope) => {
                scope.used = true;
                format!("{{ {} = {status}; goto {}; }}", scope.status, scope.label)
            }
            None => String::from(";"),
        }
    }

    pub(crate) fn temporary(&mut self) -> String {
        self.temporaries += 1;
        format!("t_{}", self.temporaries)
    }

    /// A static function, written unless it is there.
    pub(crate) fn helper(&mut self, name: &str, text: impl FnOnce() -> String) -> String {
        if !self.helpers.iter().any(|(known, _)| known == name) {
            self.helpers.push((name.to_owned(), text()));
        }
        name.to_owned()
    }
}

/// The type of an element.
pub(crate) fn c_type(ty: ScalarType) -> &'static str {
    match ty {
        ScalarType::F16 | ScalarType::BF16 => "uint16_t",
        ScalarType::F32 => "float",
        ScalarType::F64 => "double",
        ScalarType::I8 => "int8_t",
        ScalarType::I16 => "int16_t",
        ScalarType::I32 => "int32_t",
        ScalarType::I64 => "int64_t",
        ScalarType::U8 => "uint8_t",
        ScalarType::U16 => "uint16_t",
        ScalarType::U32 => "uint32_t",
        ScalarType::U64 => "uint64_t",
        ScalarType::Bool => "bool",
    }
}
