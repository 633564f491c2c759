//! `run` lines: `N=4 x=[1, 2, 3, 4] => b=[0, 2, 2, 2]`, one call each, with `f:` in front if there are several
//! functions. Every engine executes it; they must agree with one another and with what is written.
//!
//! Names left of `=>` are sizes or arguments; `x:f32=…` gives an argument another type than the declared one, and
//! `x=iota` counts from 0. Right of it are results, or `error: text`.

use farkas::{Data, Error, Function};
use program::{Expr, ExprKind, Node, ReduceOp, Subscript};

use crate::case::Section;
use crate::engines::{self, Outputs};
use crate::stages::Compiled;
use crate::value::{self, Literal, Tolerance};
use crate::{Failure, pattern};

/// One line, taken apart.
pub(crate) struct Call {
    pub(crate) function: Option<String>,
    /// Name, type if it is given, value.
    pub(crate) given: Vec<(String, Option<String>, Literal)>,
    expected: Expected,
}

enum Expected {
    Error(String),
    Results(Vec<(String, Literal)>),
}

pub(crate) fn check(section: &mut Section, compiled: &Compiled, failures: &mut Vec<Failure>) -> String {
    let mut found = String::new();
    let mut calls = 0;
    for (line, number) in section.expected.lines().zip(section.line + 1..) {
        let (code, comment) = line.split_at(line.find('#').unwrap_or(line.len()));
        if code.trim().is_empty() {
            found.push_str(&format!("{line}\n"));
            continue;
        }
        calls += 1;
        match check_line(code, compiled) {
            Ok(()) => found.push_str(&format!("{line}\n")),
            Err(Wrong::Broken(why)) => {
                found.push_str(&format!("{line}\n"));
                failures.push(Failure::new(format!("line {number}: {why}")));
            }
            Err(Wrong::Differs(right)) => {
                let call = code.split("=>").next().unwrap_or(code).trim_end();
                let line = format!("{call} => {right}{}{comment}", if comment.is_empty() { "" } else { " " });
                let text = format!("line {number}:\n{}", pattern::diff(code, &line));
                failures.push(Failure { text, blessable: true });
                found.push_str(&format!("{line}\n"));
            }
        }
    }
    if calls == 0 {
        failures.push(Failure::new("the section `run` is empty"));
    }
    section.expected = found.clone();
    found
}

enum Wrong {
    /// The line cannot be read, or the engines do not agree.
    Broken(String),
    /// The engines agree on something else.
    Differs(String),
}

impl From<String> for Wrong {
    fn from(why: String) -> Self {
        Wrong::Broken(why)
    }
}

fn check_line(line: &str, compiled: &Compiled) -> Result<(), Wrong> {
    let call = parse(line)?;
    let scheduled = engines::find(&compiled.scheduled, &call)?;
    let original = engines::find(&compiled.original, &call)?;
    let function = compiled.program.functions.iter().find(|function| function.name == scheduled.name());
    let function = function.ok_or_else(|| Wrong::Broken("the function is not in the program".into()))?;

    let interpreted = engines::interpret(scheduled, &call)?;
    let mut others = vec![
        ("machine code", engines::call(scheduled, &call)?),
        ("machine code in the original order", engines::call(original, &call)?),
    ];
    // A call that is refused never reaches the loops.
    let is_refused = |error: &Error| match error {
        Error::Call(error) => !is_run_time(error),
        error => matches!(error, Error::Refused { .. }),
    };
    let runs = !interpreted.as_ref().is_err_and(is_refused);
    if runs {
        others.push(("the loops", engines::run_loops(scheduled, function, &call)?));
        others.push(("the loops in the original order", engines::run_loops(original, function, &call)?));
    }
    if let Some(prepared) = &compiled.prepared {
        let prepared = engines::find(prepared, &call)?;
        others.push(("machine code of the recipe", engines::call(prepared, &call)?));
        if runs {
            others.push(("the loops of the recipe", engines::run_loops(prepared, function, &call)?));
        }
    }
    if let Some(placed) = &compiled.placed {
        others.push(("the emulated GPU", engines::call(engines::find(placed, &call)?, &call)?));
    }
    let tolerance =
        if has_float_sums(&function.body) { Tolerance::Relative { f32: 1e-5, f64: 1e-12 } } else { Tolerance::None };
    for (engine, other) in &others {
        agree(scheduled, &call, &interpreted, other, engine, tolerance)?;
    }
    compare(&call, &interpreted)
}

fn is_run_time(error: &farkas::CallError) -> bool {
    matches!(error, farkas::CallError::Run(_) | farkas::CallError::Interpret(_))
}

fn agree(
    function: &Function,
    call: &Call,
    interpreted: &farkas::Result<Outputs>,
    other: &farkas::Result<Outputs>,
    engine: &str,
    tolerance: Tolerance,
) -> Result<(), Wrong> {
    let differ = |what: String| Err(Wrong::Broken(format!("the interpreter and {engine} differ: {what}")));
    match (interpreted, other) {
        (Ok(ours), Ok(theirs)) => {
            for ((name, a, shape), (_, b, _)) in ours.iter().zip(theirs) {
                if !value::close(a, b, tolerance) {
                    return differ(format!("{name}={} and {name}={}", value::show(a, shape), value::show(b, shape)));
                }
            }
            Ok(())
        }
        (Err(ours), Err(theirs)) => {
            // Wordings may differ, but not in what the line asks for.
            if let Expected::Error(text) = &call.expected
                && ours.to_string().contains(text.as_str())
                && !theirs.to_string().contains(text.as_str())
            {
                return differ(format!("error: {ours} and error: {theirs}"));
            }
            Ok(())
        }
        (Ok(_), Err(error)) => differ(format!("{} works, and error: {error}", function.name())),
        (Err(error), Ok(_)) => differ(format!("error: {error}, and {} works", function.name())),
    }
}

fn compare(call: &Call, found: &farkas::Result<Outputs>) -> Result<(), Wrong> {
    match (&call.expected, found) {
        (Expected::Error(text), Err(error)) if error.to_string().contains(text.as_str()) && !text.is_empty() => Ok(()),
        (_, Err(error)) => Err(Wrong::Differs(format!("error: {error}"))),
        (Expected::Error(_), Ok(outputs)) => Err(Wrong::Differs(show(outputs, None))),
        (Expected::Results(expected), Ok(outputs)) => {
            let mut right = !expected.is_empty();
            for (name, literal) in expected {
                let Some((_, data, shape)) = outputs.iter().find(|(output, ..)| output == name) else {
                    return Err(Wrong::Broken(format!("there is no result `{name}`")));
                };
                right &= is_expected(literal, data, shape)?;
            }
            if right { Ok(()) } else { Err(Wrong::Differs(show(outputs, Some(expected)))) }
        }
    }
}

fn is_expected(literal: &Literal, data: &Data, shape: &[usize]) -> Result<bool, String> {
    let expected = literal.data(data.ty())?;
    // Only `-0` asks for the sign of a zero.
    let zeros = literal.leaves()?.into_iter().enumerate().filter(|(_, leaf)| leaf.trim_matches(['0', '.']) == "-");
    for (position, _) in zeros {
        if data.get(position) != expected.get(position) {
            return Ok(false);
        }
    }
    let shape_fits = literal.shape() == shape || data.is_empty() && expected.is_empty();
    Ok(shape_fits && value::close(&expected, data, Tolerance::Relative { f32: 1e-6, f64: 1e-9 }))
}

/// The results as a line has them: those it names, or all.
fn show(outputs: &Outputs, named: Option<&Vec<(String, Literal)>>) -> String {
    let wanted =
        |name: &str| named.is_none_or(|named| named.is_empty() || named.iter().any(|(known, _)| known == name));
    let outputs = outputs.iter().filter(|(name, ..)| wanted(name));
    outputs.map(|(name, data, shape)| format!("{name}={}", value::show(data, shape))).collect::<Vec<_>>().join(" ")
}

fn parse(line: &str) -> Result<Call, String> {
    let (left, right) = line.split_once("=>").ok_or("a call reads `x=[1, 2] => y=[3, 4]`")?;
    let mut words = words(left).into_iter().peekable();
    let function = words.next_if(|word| word.ends_with(':')).map(|word| word.trim_end_matches(':').to_string());
    let given = words.map(|word| {
        let (name, value) = binding(&word)?;
        let (name, ty) = match name.split_once(':') {
            Some((name, ty)) => (name.to_string(), Some(ty.to_string())),
            None => (name, None),
        };
        Ok((name, ty, value))
    });
    let given = given.collect::<Result<Vec<_>, String>>()?;
    let expected = match right.trim().strip_prefix("error:") {
        Some(text) => Expected::Error(text.trim().to_string()),
        None => {
            let words = self::words(right);
            Expected::Results(words.iter().map(|word| binding(word)).collect::<Result<Vec<_>, String>>()?)
        }
    };
    Ok(Call { function, given, expected })
}

fn binding(word: &str) -> Result<(String, Literal), String> {
    let (name, value) = word.split_once('=').ok_or_else(|| format!("`{word}` does not read `name=value`"))?;
    Ok((name.to_string(), Literal::parse(value)?))
}

/// Parts between spaces, except inside brackets.
fn words(text: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut depth = 0_i32;
    for character in text.chars() {
        depth += match character {
            '[' => 1,
            ']' => -1,
            _ => 0,
        };
        match words.last_mut() {
            Some(word) if depth > 0 || !character.is_whitespace() => word.push(character),
            _ => words.push(String::new()),
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

/// Whether the program adds up or multiplies floats in an order that is free.
fn has_float_sums(nodes: &[Node]) -> bool {
    nodes.iter().any(|node| match node {
        Node::For(node) => has_float_sums(&node.body),
        Node::Each(each) => has_float_sums(&each.body),
        Node::Assign(assign) => sums_floats(&assign.value),
        Node::Scatter(scatter) => {
            let sums = matches!(scatter.op, ReduceOp::Sum | ReduceOp::Prod) && scatter.value.ty.is_float();
            sums || sums_floats(&scatter.value) || Subscript::data(&scatter.index).any(sums_floats)
        }
    })
}

fn sums_floats(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Const(_)
        | ExprKind::Index(_)
        | ExprKind::Scalar(_)
        | ExprKind::Counter(_)
        | ExprKind::Load { .. } => false,
        ExprKind::Gather { index, .. } => Subscript::data(index).any(sums_floats),
        ExprKind::Unary(_, operand) | ExprKind::Cast(operand) => sums_floats(operand),
        ExprKind::Binary(_, lhs, rhs) => sums_floats(lhs) || sums_floats(rhs),
        ExprKind::Select { cond, then, otherwise, .. } => [cond, then, otherwise].into_iter().any(|e| sums_floats(e)),
        ExprKind::Reduce { op, body, .. } | ExprKind::Fold { op, body, .. } => {
            matches!(op, ReduceOp::Sum | ReduceOp::Prod) && expr.ty.is_float() || sums_floats(body)
        }
    }
}
