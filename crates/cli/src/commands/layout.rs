//! `farkas layout`: a calculator for layouts, loops and coordinates.
//!
//! In: a script, or one JSON question per line on stdin.  Out: results, maps, drawings.
//! Not here: the script language, which is `layout::calculator`'s.

use std::io::{self, BufRead, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use farkas::diag::Span;
use farkas::layout::Solver;
use farkas::layout::calculator::{self, Answer, Table};
use farkas::{Error, Source};
use serde_json::{Value, json};

use super::parse_seconds;
use crate::failure::{Exit, Failure, reason};
use crate::files::{self, Target};
use crate::terminal::{self, Terminal};

// Lines of at most 95 characters, or clap breaks them.
const AFTER_HELP: &str = "\
Examples:
  farkas layout 'composition((4,8):(8,1), 2:4)'
  farkas layout 'complement((2,3):(1,2), 12)'
  farkas layout 'raked_product((2,2):(1,2), (2,3):(1,2))' --draw
  farkas layout 'composed(swizzle(2,0,3), 0, (4,8):(8,1))' -o swizzle.svg
  farkas layout 'split(N, 4); merge; predicate'
  farkas layout 'split(15, 6); split(io, 2); split(ii, 4); predicate; allocation' --draw
  farkas layout 'split(N, 6); split(io, 2) == split(N, 12); split(ii, 6)'
  farkas layout 'graph; dim(x: 60, a: 12, b: 5); tile(x -> a, b); stride(x by 2 -> a, b)'
  farkas layout --jsonl < questions.jsonl > answers.jsonl

Scripts:
  Expressions over CuTe layouts: shape:stride, nested, as in ((2,4),3):((1,6),2). [2:1, 4:2] is a
  tiler. The functions are those of CuTe (coalesce, composition, complement, logical_divide,
  zipped_divide, blocked_product, right_inverse, swizzle, …), those of tuple morphisms, and those
  of maps: injective, surjective, bijective, image, holes, inverse, equivalent.
  Steps over loops: split, merge, resize, swizzle, reorder and the like, separated by `;`, and the
  questions predicate, index, holes, allocation, correctness, layout and more. Extents may be
  parameters.
  Coordinate graphs: `graph`, then dimensions, edges, and questions along them.
  `==` between two scripts asks whether they are the same map, extents included. A word that does
  not exist is answered by those that do. See docs/layouts.md.

JSON lines:
  {\"op\": \"composition\", \"in\": {\"A\": {\"shape\": [4, 8], \"stride\": [8, 1]},
                                 \"B\": {\"shape\": 2, \"stride\": 4}}}
  is answered by {\"ok\": {\"shape\": 2, \"stride\": …}} or {\"err\": \"why not\"}, one line each.";

/// Calculate with layouts, loops and coordinates
///
/// Prints the result of a script, the table of indices with --draw, its isl map if it has one, and notes. With
/// --message-format=json: {"result", "map", "notes", "table"}, where a table is a list of rows and null is a hole.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Options {
    /// An expression over layouts, or steps over loops; `-` reads it from stdin
    #[arg(required_unless_present = "jsonl", value_name = "SCRIPT")]
    script: Option<String>,

    /// Draw the table of indices: the first mode runs down, all others run right; `.` is a hole
    #[arg(long)]
    draw: bool,

    /// Draw it into a file instead: SVG if the name ends in .svg, text if it ends in .txt
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Time for each question to the solver
    #[arg(long, value_name = "SECONDS", default_value = "2", value_parser = parse_seconds)]
    time_limit: Duration,

    /// Answer one JSON question per line of stdin with one line; a bad one is answered by {"err": …}
    #[arg(long, conflicts_with_all = ["script", "draw", "output"])]
    jsonl: bool,
}

pub(crate) fn layout(options: &Options, terminal: &Terminal) -> Result<(), Failure> {
    let source = match options.script.as_deref() {
        None => return answer_lines(),
        Some("-") => files::read_stdin()?,
        Some(script) => Source::new("<script>", script),
    };
    let target = match &options.output {
        Some(path) => Some((Form::of(path)?, Target::new(path)?)),
        None => None,
    };
    let failed = |error| match error {
        farkas::diag::Error::User(diagnostics) => Error::User { source: source.clone(), diagnostics },
        farkas::diag::Error::Budget { stage, spent } => Error::Budget { stage, spent },
        farkas::diag::Error::Bug { stage, what } => Error::Bug { stage, what },
    };
    let solver = Solver::with_time(options.time_limit).map_err(|error| failed(error.into_diag(Span::default())))?;
    let answer = calculator::evaluate_with(source.text(), &solver).map_err(failed)?;
    let table = match options.draw || target.is_some() {
        true => Some(answer.table.as_ref().ok_or_else(|| nothing_to_draw(&answer))?),
        false => None,
    };
    if let (Some((form, target)), Some(table)) = (target, table) {
        let drawing = match form {
            Form::Svg => table.to_svg(),
            Form::Text => table.to_text(),
        };
        files::commit(vec![target.stage(|out| out.write_all(drawing.as_bytes()))?])?;
    }
    match terminal.is_json() {
        true => terminal::data(&format!("{}\n", to_json(&answer))),
        false => terminal::data(&to_text(&answer, table.filter(|_| options.draw))),
    }
}

/// How a drawing is stored.
#[derive(Clone, Copy)]
enum Form {
    Svg,
    Text,
}

impl Form {
    fn of(path: &Path) -> Result<Form, Failure> {
        match path.extension().and_then(|extension| extension.to_str()) {
            Some("svg") => Ok(Form::Svg),
            Some("txt") => Ok(Form::Text),
            _ => {
                let message = format!("the name of a drawing ends in .svg or .txt, not as `{}` does", path.display());
                Err(Failure::usage(message))
            }
        }
    }
}

fn nothing_to_draw(answer: &Answer) -> Failure {
    let message = format!("there is no table to draw for {}", answer.result);
    let help = "layouts and loops of known extents are drawn, up to 4096 cells".to_string();
    Failure::Message { exit: Exit::Program, message, helps: vec![help] }
}

fn to_text(answer: &Answer, table: Option<&Table>) -> String {
    let mut text = format!("{}\n", answer.result);
    if let Some(table) = table {
        text.push_str(&table.to_text());
    }
    if let Some(map) = &answer.map {
        text.push_str(&format!("map: {map}\n"));
    }
    for note in &answer.notes {
        text.push_str(&format!("note: {note}\n"));
    }
    text
}

fn to_json(answer: &Answer) -> Value {
    let table = answer.table.as_ref().map(|table| table.cells.chunks(table.columns.max(1)).collect::<Vec<_>>());
    json!({ "result": answer.result, "map": answer.map, "notes": answer.notes, "table": table })
}

/// No question is longer than this.
const MAX_LINE: usize = 1 << 24;

/// Answers every line. Answers are held back only while more questions are at hand, so that a program on the other
/// end of both pipes can wait for each.
fn answer_lines() -> Result<(), Failure> {
    let mut input = BufReader::with_capacity(1 << 16, io::stdin().lock());
    let mut output = BufWriter::with_capacity(1 << 16, io::stdout().lock());
    let mut line = Vec::new();
    loop {
        if input.buffer().is_empty() {
            output.flush().map_err(|error| Failure::stdout(&error))?;
        }
        line.clear();
        match input.read_until(b'\n', &mut line) {
            Ok(0) => return Ok(()),
            Ok(_) => {}
            Err(error) => return Err(Failure::usage(format!("cannot read stdin: {}", reason(&error)))),
        }
        let answer = match std::str::from_utf8(&line) {
            _ if line.len() > MAX_LINE => json!({ "err": "the line is too long" }).to_string(),
            Ok(line) => calculator::jsonl(line.trim_end_matches(['\n', '\r'])),
            Err(_) => json!({ "err": "the line is not UTF-8" }).to_string(),
        };
        writeln!(output, "{answer}").map_err(|error| Failure::stdout(&error))?;
    }
}
