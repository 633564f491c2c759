//! What stands around the statements: the comment, the includes, and the function's parameters.

use std::fmt::Write;

use loops::{ArrayId, ParamId};
use program::{ArgRef, Derived, DerivedOp, Function, Role};

use crate::emit::{Writer, c_type};
use crate::index::Level;

/// The comment that says what the function takes and returns.
pub(crate) fn comment(writer: &mut Writer<'_>, function: &Function) -> String {
    let mut text = format!("/*\n * {}\n *\n", signature_text(writer, function));
    text.push_str(" * Sizes come first, then the arguments in the order of the signature; arrays are row-major and do not overlap.\n");
    let requirements: Vec<&str> = function.context.iter().map(|requirement| requirement.text.as_str()).collect();
    if !requirements.is_empty() {
        text.push_str(&format!(" * It needs {}.\n", requirements.join(", ").replace("*/", "* /")));
    }
    text.push_str(" * Returns 0");
    if writer.helpers.iter().any(|(name, _)| name == "allocate") {
        text.push_str(", -1 without memory");
    }
    if !writer.sites.is_empty() {
        text.push_str(", or the number of what is wrong with the data:");
        for (number, site) in (1..).zip(&writer.sites) {
            text.push_str(&format!("\n *   {number}: {}", site.replace("*/", "* /")));
        }
        text.push('\n');
    } else {
        text.push_str(".\n");
    }
    text.push_str(" *\n * Results do not depend on the compiler as long as it keeps to IEEE 754: cc -std=c99 -O3 (not -ffast-math), -lm");
    text.push_str(if writer.parallel { ", and -fopenmp for threads.\n */\n" } else { ".\n */\n" });
    text
}

/// The function in the source, from its name up to its body.
fn signature_text(writer: &Writer<'_>, function: &Function) -> String {
    let from_name = writer.source.text().get(function.span.range().start..).unwrap_or_default();
    let head = from_name.split('{').next().unwrap_or_default();
    let head = head.split_whitespace().collect::<Vec<_>>().join(" ");
    format!("fn {}", head.replace("*/", "* /").replace("/*", "/ *"))
}

pub(crate) fn includes(writer: &Writer<'_>) -> String {
    let mut text = "#include <math.h>\n#include <stdbool.h>\n#include <stdint.h>\n#include <stdlib.h>\n".to_owned();
    if writer.helpers.iter().any(|(name, _)| name.starts_with("bits_")) {
        text.push_str("#include <string.h>\n");
    }
    text.push_str("\n#ifdef __clang__\n#pragma STDC FP_CONTRACT OFF\n#endif\n");
    if writer.parallel {
        text.push_str(
            "\n#ifdef _OPENMP\n#define OMP(directive) _Pragma(#directive)\n#else\n#define OMP(directive)\n#endif\n",
        );
    }
    text
}

/// The head of the function, and the variables that its body finds.
pub(crate) fn opening(writer: &mut Writer<'_>, function: &Function, whole: &[ArrayId], body: &str) -> String {
    let mut derived = String::new();
    let mut parameters = Vec::new();
    let mut names = Vec::new();
    for (position, param) in function.params.iter().enumerate() {
        let name = writer.names.params[position].clone();
        match &param.derived {
            Some(how) => {
                let value = value_of(writer, how);
                let _ = writeln!(derived, "    const int64_t {name} = {value};");
            }
            None => parameters.push(format!("int64_t {name}")),
        }
        names.push(name);
    }
    // The loops may lack some local arrays; the arguments are there in the same order.
    let in_loops = writer.kernel.arrays.iter().zip(&writer.names.arrays).filter(|(array, _)| array.role != Role::Local);
    let ids = function.array_ids().filter(|id| function.array(*id).role != Role::Local);
    let arrays: Vec<(program::ArrayId, String)> = ids.zip(in_loops.map(|(_, name)| name.clone())).collect();
    for argument in &function.signature {
        match argument {
            ArgRef::Scalar(id) => {
                let name = writer.names.scalars[id.index()].clone();
                parameters.push(format!("{} {name}", c_type(function.scalar(*id).ty)));
                names.push(name);
            }
            ArgRef::Array(id) => {
                let array = function.array(*id);
                let Some((_, name)) = arrays.iter().find(|(known, _)| known == id).cloned() else { continue };
                let constness = if array.role == Role::In { "const " } else { "" };
                parameters.push(format!("{constness}{} *restrict {name}", c_type(array.ty)));
                names.push(name);
            }
        }
    }
    let mut text =
        format!("int {}({})\n{{\n{derived}    int status = 0;\n", writer.names.function, parameters.join(", "));
    let everything = format!("{derived}{body}");
    for name in names.iter().filter(|name| !mentions(&everything, name)) {
        text.push_str(&format!("    (void){name};\n"));
    }
    for name in names.iter().filter(|name| mentions(&derived, name) && !mentions(body, name)) {
        // It is defined for what is derived from it, or for nobody.
        if derived.contains(&format!("const int64_t {name} =")) {
            text.push_str(&format!("    (void){name};\n"));
        }
    }
    for array in whole {
        let ty = writer.kernel.arrays[array.index()].ty;
        text.push_str(&format!("    {} *restrict {} = NULL;\n", c_type(ty), writer.names.arrays[array.index()]));
    }
    text
}

/// Whether a text has a word.
fn mentions(text: &str, word: &str) -> bool {
    text.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_').any(|found| found == word)
}

fn value_of(writer: &mut Writer<'_>, derived: &Derived) -> String {
    let index = |affine: &program::Affine| {
        loops::Index::of_affine(affine, &|id: ParamId| Some(loops::Index::Param(id)), &|_| None)
    };
    let mut side = |affine| index(affine).map(|index| writer.index(&index));
    let (Some(lhs), Some(rhs)) = (side(&derived.lhs), side(&derived.rhs)) else { return "0".to_owned() };
    let (a, b) = (lhs.at(Level::Prefix), rhs.at(Level::Prefix));
    match derived.op {
        DerivedOp::Product => format!("{a} * {b}"),
        DerivedOp::Quotient => format!("{a} / {b}"),
        DerivedOp::Min => format!("{a} < {b} ? {a} : {b}"),
        DerivedOp::Max => format!("{a} > {b} ? {a} : {b}"),
    }
}
