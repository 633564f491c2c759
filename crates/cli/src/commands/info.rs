//! `farkas info`: what the functions of a file take and give.

use std::path::PathBuf;

use clap::Args;
use farkas::{Engine, Role, Signature};
use serde_json::{Value, json};

use crate::data::show::declaration;
use crate::failure::Failure;
use crate::files;
use crate::terminal::{self, Terminal};

/// Show what the functions of a program take and give, or what is known about the machine
///
/// With --message-format=json: {"functions": [{"name", "params": ["N", …], "where": ["N >= 1", …], "args": [{"name",
/// "kind": "in|out|inout", "dtype": "f64", "shape": ["N", …]}, …]}, …]}. A scalar has the shape []. With
/// --machine as well: {"vector_bytes", "vector_registers", "cache_bytes": [first, second, last], "line_bytes", "threads", "small"}.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  farkas info examples/gemm.fks --message-format=json")]
pub(crate) struct Options {
    /// The program
    #[arg(value_name = "FILE", required_unless_present = "machine")]
    file: Option<PathBuf>,

    /// Show what is known about this machine instead, as schedules are chosen for it
    #[arg(long, conflicts_with = "file")]
    machine: bool,
}

pub(crate) fn info(options: &Options, terminal: &Terminal) -> Result<(), Failure> {
    let Some(file) = &options.file else { return machine(terminal) };
    let source = files::read_program(file, None)?;
    let functions = Engine::new().signatures(&source)?;
    if terminal.is_json() {
        let functions: Vec<Value> = functions.iter().map(to_json).collect();
        return terminal::data(&format!("{}\n", json!({ "functions": functions })));
    }
    let blocks: Vec<String> = functions.iter().map(to_text).collect();
    terminal::data(&blocks.join("\n"))
}

fn machine(terminal: &Terminal) -> Result<(), Failure> {
    let machine = farkas::machine::host(None);
    if !terminal.is_json() {
        return terminal::data(&machine.to_string());
    }
    let facts = json!({
        "vector_bytes": machine.vector_bytes,
        "vector_registers": machine.vector_registers,
        "cache_bytes": [machine.l1, machine.l2, machine.l3],
        "line_bytes": machine.line,
        "threads": machine.cores,
        "small": machine.small,
    });
    terminal::data(&format!("{facts}\n"))
}

fn kind(role: Role) -> &'static str {
    match role {
        Role::Out => "out",
        Role::InOut => "inout",
        Role::In | Role::Local => "in",
    }
}

fn to_json(function: &Signature) -> Value {
    let args = function.args.iter().map(
        |arg| json!({ "name": arg.name, "kind": kind(arg.role), "dtype": arg.ty.name(), "shape": texts(&arg.shape) }),
    );
    json!({
        "name": function.name,
        "params": function.params,
        "where": texts(&function.context),
        "args": args.collect::<Vec<_>>(),
    })
}

fn texts(parts: &[impl ToString]) -> Vec<String> {
    parts.iter().map(ToString::to_string).collect()
}

fn to_text(function: &Signature) -> String {
    let mut text = format!("fn {}", function.name);
    if !function.params.is_empty() {
        text.push_str(&format!("<{}>", function.params.join(", ")));
    }
    if !function.context.is_empty() {
        text.push_str(&format!(" where {}", texts(&function.context).join(", ")));
    }
    text.push('\n');
    for arg in &function.args {
        text.push_str(&format!("    {:<5}  {}\n", kind(arg.role), declaration(&arg.name, arg.ty, &arg.shape)));
    }
    text
}
