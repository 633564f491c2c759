//! `farkas eval`: the value of one expression.
//!
//! In: an expression.  Out: its value; errors point into the expression, though it is compiled inside a function.

use clap::Args as ClapArgs;
use farkas::diag::{Diagnostic, Span};
use farkas::{Args, Data, Engine, Error, ScalarType, Source};

use crate::data::spec::{self, Named};
use crate::data::{HostArray, show};
use crate::failure::Failure;
use crate::terminal::{self, Terminal};

/// Compile an expression and print its value
///
/// An expression has a scalar value: a reduction makes one of a range. Its type is i64, f64 or bool, the first that
/// fits.
#[derive(Debug, ClapArgs)]
#[command(after_help = "\
Examples:
  farkas eval 'sum[i: 0..10] i * i'
  farkas eval 'sqrt(2.0)'
  farkas eval 'sum[i: 1..N + 1] 1.0 / f64(i)' -D N=1000
  farkas eval 'all[n: 2..10, d: 2..n] (n % d != 0)'")]
pub(crate) struct Options {
    /// The expression
    #[arg(value_name = "EXPR", allow_hyphen_values = true)]
    expression: String,

    /// Sizes that the expression uses, such as -D N=512
    #[arg(short = 'D', value_delimiter = ',', value_name = "NAME=SIZE,…", value_parser = spec::parse_size)]
    sizes: Vec<Named<i64>>,
}

pub(crate) fn eval(options: &Options, terminal: &Terminal) -> Result<(), Failure> {
    if options.expression.trim().is_empty() {
        return Err(Failure::usage("the expression is empty"));
    }
    let expression = Expression { text: &options.expression, params: params(&options.sizes)? };
    let engine = Engine::new();
    expression.check_alone()?;
    // A `let` takes any type, so what is wrong here is wrong with the expression itself.
    let any = expression.wrapped(ScalarType::Bool, "value = true let result = ");
    engine.signatures(&any.source).map_err(|error| expression.error(error, any.start))?;

    let typed = [ScalarType::I64, ScalarType::F64, ScalarType::Bool].map(|ty| (ty, expression.wrapped(ty, "value = ")));
    let fits = typed.iter().find(|(_, wrapped)| engine.signatures(&wrapped.source).is_ok());
    let (ty, wrapped) = fits.unwrap_or(&typed[0]);
    let fail = |error| expression.error(error, wrapped.start);
    let function = engine.compile_only(&wrapped.source, "eval").map_err(fail)?;

    let mut value = HostArray::new(zero(*ty), 0, Vec::new());
    let mut args = Args::new();
    for size in &options.sizes {
        args.size(&size.name, size.value);
    }
    let (elements, shape) = value.parts_mut();
    args.elements_mut("value", elements, shape);
    function.call(&mut args).map_err(fail)?;
    match terminal.is_json() {
        true => terminal::data(&format!("{}\n", show::to_json("value", &value))),
        false => {
            let text: String = value.values().map(|value| value.to_string()).collect();
            terminal::data(&format!("{text}\n"))
        }
    }
}

fn params(sizes: &[Named<i64>]) -> Result<String, Failure> {
    let is_name = |name: &str| {
        name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
            && name.chars().all(|character| character.is_ascii_alphanumeric() || character == '_')
    };
    if let Some(size) = sizes.iter().find(|size| !is_name(&size.name)) {
        return Err(Failure::usage(format!("`{}` is not a name", size.name)));
    }
    let mut names: Vec<&str> = sizes.iter().map(|size| size.name.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    Ok(if names.is_empty() { String::new() } else { format!("<{}>", names.join(", ")) })
}

fn zero(ty: ScalarType) -> Data {
    match ty {
        ScalarType::Bool => Data::from(vec![false]),
        ScalarType::F64 => Data::from(vec![0.0f64]),
        _ => Data::from(vec![0i64]),
    }
}

struct Expression<'a> {
    text: &'a str,
    /// Its parameters as a function declares them.
    params: String,
}

/// A function with the expression in it, and where that starts.
struct Wrapped {
    source: Source,
    start: usize,
}

impl Expression<'_> {
    fn wrapped(&self, ty: ScalarType, before: &str) -> Wrapped {
        let head = format!("fn eval{}() -> (value: {ty}) {{ {before}", self.params);
        // The expression may end with a comment.
        let text = format!("{head}{}\n}}\n", self.text);
        Wrapped { source: Source::new("<expression>", text), start: head.len() }
    }

    /// It is an expression, and nothing but one: in brackets no further statement can stand, nor the end of the function.
    fn check_alone(&self) -> Result<(), Error> {
        let bare = self.wrapped(ScalarType::Bool, "value = ");
        farkas::syntax_tree(&bare.source).map_err(|error| self.error(error, bare.start))?;
        let text = format!("{}\n)", self.text);
        let enclosed = Expression { text: &text, params: self.params.clone() }.wrapped(ScalarType::Bool, "value = (");
        farkas::syntax_tree(&enclosed.source).map_err(|error| self.error(error, enclosed.start))?;
        Ok(())
    }

    /// An error about the function as one about the expression.
    fn error(&self, error: Error, start: usize) -> Error {
        let move_span = |span: Span| {
            let clamp = |offset: u32| (offset as usize).saturating_sub(start).min(self.text.len());
            Span::new(clamp(span.start), clamp(span.end))
        };
        match error {
            Error::User { diagnostics, .. } => {
                let end = start + self.text.len();
                let moved = |mut diagnostic: Diagnostic| {
                    if diagnostic.span().start as usize >= end {
                        diagnostic.message = "the expression is not complete".to_string();
                    }
                    diagnostic.labels.iter_mut().for_each(|label| label.span = move_span(label.span));
                    diagnostic
                };
                let diagnostics = diagnostics.into_iter().map(moved).collect();
                Error::User { source: Source::new("<expression>", self.text), diagnostics }
            }
            other => other,
        }
    }
}
