//! `farkas info`: what the functions of a file take and give.

use std::path::PathBuf;

use clap::Args;
use farkas::{Engine, Role, Signature};
use serde_json::{Value, json};

use crate::data::show::declaration;
use crate::failure::Failure;
use crate::files;
use crate::terminal::{self, Terminal};

/// Show what the functions of a program take and give
///
/// With --message-format=json: {"functions": [{"name", "params": ["N", …], "where": ["N >= 1", …], "args": [{"name",
/// "kind": "in|out|inout", "dtype": "f64", "shape": ["N", …]}, …]}, …]}. A scalar has the shape [].
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  farkas info examples/gemm.fks --message-format=json")]
pub(crate) struct Options {
    /// The program
    #[arg(value_name = "FILE")]
    file: PathBuf,
}

pub(crate) fn info(options: &Options, terminal: &Terminal) -> Result<(), Failure> {
    let source = files::read_source(&options.file)?;
    let functions = Engine::new().signatures(&source)?;
    if terminal.is_json() {
        let functions: Vec<Value> = functions.iter().map(to_json).collect();
        return terminal::data(&format!("{}\n", json!({ "functions": functions })));
    }
    let blocks: Vec<String> = functions.iter().map(to_text).collect();
    terminal::data(&blocks.join("\n"))
}

fn kind(role: Role) -> &'static str {
    match role {
        Role::Out => "out",
        Role::InOut => "inout",
        Role::In | Role::Local => "in",
    }
}

fn to_json(function: &Signature) -> Value {
    let args = function
        .args
        .iter()
        .map(|arg| json!({ "name": arg.name, "kind": kind(arg.role), "dtype": arg.ty.name(), "shape": arg.shape }));
    json!({
        "name": function.name,
        "params": function.params,
        "where": function.context,
        "args": args.collect::<Vec<_>>(),
    })
}

fn to_text(function: &Signature) -> String {
    let mut text = format!("fn {}", function.name);
    if !function.params.is_empty() {
        text.push_str(&format!("<{}>", function.params.join(", ")));
    }
    if !function.context.is_empty() {
        text.push_str(&format!(" where {}", function.context.join(", ")));
    }
    text.push('\n');
    for arg in &function.args {
        text.push_str(&format!("    {:<5}  {}\n", kind(arg.role), declaration(&arg.name, arg.ty, &arg.shape)));
    }
    text
}
