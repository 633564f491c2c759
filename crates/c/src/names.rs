//! Names: what the program calls things, as C may call them.
//!
//! In: a kernel.  Out: an identifier for each thing, all different, and none that C or our own code means.

use std::collections::HashSet;

use loops::{Kernel, Stmt, VarId};
use program::ScalarType;

/// The identifiers of one function.
#[derive(Debug)]
pub(crate) struct Names {
    pub(crate) function: String,
    pub(crate) params: Vec<String>,
    pub(crate) scalars: Vec<String>,
    pub(crate) arrays: Vec<String>,
    pub(crate) vars: Vec<String>,
    pub(crate) locals: Vec<String>,
    taken: HashSet<String>,
}

impl Names {
    pub(crate) fn of(kernel: &Kernel) -> Names {
        let mut names = Names {
            function: String::new(),
            params: Vec::new(),
            scalars: Vec::new(),
            arrays: Vec::new(),
            vars: Vec::new(),
            locals: Vec::new(),
            taken: HashSet::new(),
        };
        names.function = names.fresh(&kernel.name);
        names.params = kernel.params.iter().map(|name| names.fresh(name)).collect();
        names.scalars = kernel.scalars.iter().map(|scalar| names.fresh(&scalar.name)).collect();
        names.arrays = kernel.arrays.iter().map(|array| names.fresh(&array.name)).collect();
        names.vars = vec![String::new(); kernel.vars.len()];
        names.name_loops(&kernel.vars, &kernel.body, &mut Vec::new());
        names.locals = kernel.locals.iter().map(|local| names.fresh(&local.name)).collect();
        names
    }

    /// Loops beside each other may have variables of one name, loops in each other may not.
    fn name_loops(&mut self, given: &[String], stmts: &[Stmt], around: &mut Vec<VarId>) {
        for stmt in stmts {
            match stmt {
                Stmt::For(f) => {
                    let wanted = &given[f.var.index()];
                    let beside = (0..given.len()).find(|other| {
                        given[*other] == *wanted
                            && !self.vars[*other].is_empty()
                            && !around.iter().any(|var| self.vars[var.index()] == self.vars[*other])
                    });
                    self.vars[f.var.index()] = match beside {
                        Some(other) => self.vars[other].clone(),
                        None => self.fresh(wanted),
                    };
                    around.push(f.var);
                    self.name_loops(given, &f.body, around);
                    around.pop();
                }
                Stmt::If { then, otherwise, .. } => {
                    self.name_loops(given, then, around);
                    self.name_loops(given, otherwise, around);
                }
                Stmt::Alloc { body, .. } => self.name_loops(given, body, around),
                Stmt::Each(each) => self.name_loops(given, &each.body, around),
                Stmt::Set { .. } | Stmt::Store { .. } | Stmt::Update { .. } | Stmt::Scatter { .. } | Stmt::Barrier => {}
            }
        }
    }

    /// An identifier like `name` that nothing else has.
    pub(crate) fn fresh(&mut self, name: &str) -> String {
        let letters = name.chars().map(|letter| if letter.is_ascii_alphanumeric() { letter } else { '_' });
        let mut plain: String = letters.collect();
        // Names that begin with an underscore belong to the C implementation.
        if !plain.starts_with(|first: char| first.is_ascii_alphabetic()) {
            plain.insert(0, 'v');
        }
        if is_reserved(&plain) {
            plain.push('_');
        }
        let mut candidate = plain.clone();
        let mut number = 2;
        while !self.taken.insert(candidate.clone()) {
            candidate = format!("{plain}_{number}");
            number += 1;
        }
        candidate
    }
}

/// Whether C, its headers or our own static functions give the name a meaning.
fn is_reserved(name: &str) -> bool {
    const WORDS: &[&str] = &[
        "auto",
        "break",
        "case",
        "char",
        "const",
        "continue",
        "default",
        "do",
        "double",
        "else",
        "enum",
        "extern",
        "float",
        "for",
        "goto",
        "if",
        "inline",
        "int",
        "long",
        "register",
        "restrict",
        "return",
        "short",
        "signed",
        "sizeof",
        "static",
        "struct",
        "switch",
        "typedef",
        "union",
        "unsigned",
        "void",
        "volatile",
        "while",
        "bool",
        "true",
        "false",
        "asm",
        "NULL",
        "INFINITY",
        "NAN",
        "OMP",
        "main",
        "status",
        "done",
        "allocate",
        "floor_div",
        "floor_mod",
        "abs",
        "div",
        "exit",
        "free",
        "malloc",
        "rand",
        "system",
        "memcpy",
        "j0",
        "j1",
        "jn",
        "y0",
        "y1",
        "yn",
        "gamma",
        "lgamma",
        "tgamma",
        "signgam",
        "HUGE_VAL",
        "labs",
        "atof",
        "qsort",
        "nan",
        "drem",
        "scalb",
        "significand",
        "index",
        "random",
        "setkey",
        "alloca",
        "linux",
        "unix",
        "i386",
        "math_errhandling",
    ];
    // The functions of <math.h>, in all three types.
    const MATH: &[&str] = &[
        "acos",
        "asin",
        "atan",
        "atan2",
        "cbrt",
        "ceil",
        "cos",
        "cosh",
        "erf",
        "erfc",
        "exp",
        "exp2",
        "expm1",
        "fabs",
        "fdim",
        "floor",
        "fma",
        "fmax",
        "fmin",
        "fmod",
        "frexp",
        "hypot",
        "ilogb",
        "ldexp",
        "log",
        "log10",
        "log1p",
        "log2",
        "logb",
        "lrint",
        "lround",
        "modf",
        "nearbyint",
        "nextafter",
        "pow",
        "remainder",
        "remquo",
        "rint",
        "round",
        "scalbln",
        "scalbn",
        "sin",
        "sinh",
        "sqrt",
        "tan",
        "tanh",
        "trunc",
        "acosh",
        "asinh",
        "atanh",
        "copysign",
        "isnan",
        "isinf",
        "signbit",
        "isfinite",
        "isnormal",
        "fpclassify",
        "pow10",
        "exp10",
        "gamma",
    ];
    let is_math = |name: &str| MATH.contains(&name);
    let short = name.strip_suffix(['f', 'l']).unwrap_or(name);
    const OURS: &[&str] =
        &["add", "sub", "mul", "div", "rem", "min", "max", "shl", "shr", "neg", "abs", "bits", "of_bits"];
    let stem = ScalarType::ALL.iter().find_map(|ty| name.strip_suffix(&format!("_{ty}")));
    let ours = stem.is_some_and(|stem| OURS.contains(&stem) || is_math(stem) || stem.ends_with("_to"));
    let ours = ours || name.starts_with("t_");
    WORDS.contains(&name) || is_math(name) || is_math(short) || ours || name.ends_with("_t")
}
