//! `farkas explore`: which schedules of a space are legal, and what stands in the way of the others?
//!
//! In: a function and a space.  Out: a table with a row per point, and a summary.
//! Not here: the judging, which is `farkas::explore`'s.

mod summary;
mod table;

use std::fmt::Write as _;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use clap::Args;
use farkas::explore::{self, Exploration, Judgement, Row, Space};
use farkas::{Engine, Role, Signature, Source};

use crate::commands::run::{self, inputs, inputs::Given};
use crate::commands::{Proof, choose_function};
use crate::data::spec::{self, Named, Origin};
use crate::failure::{Exit, Failure};
use crate::files::{self, Target};
use crate::progress::Progress;
use crate::terminal::{self, Terminal};
use summary::Summary;
use table::{Form, Table};

// Lines of at most 95 characters, or clap breaks them.
const AFTER_HELP: &str = "\
Examples:
  farkas explore examples/gemm.fks --space 'tile(i,j,k; 8,16,32,64), permute(i,j,k)'
  farkas explore examples/gemm.fks --space 'permute(i,j,k), parallel(k)' --strict-order
  farkas explore heat.fks --space 'skew(t,i; 0..2), tile(t,i; 8,32)' -o heat.csv
  farkas explore big.fks --space '…' --sample 2000 --seed 7 -o points.json
  farkas explore examples/matmul.fks --space 'permute(i,j,k)' --measure -D N=256,M=256,K=256

Dimensions of a space, of which a point takes one choice each, applied from left to right:
  tile(i,j; 8,16)               not at all, or with every combination of sizes
  permute(i,j,k)                every order of these loops
  skew(t,i; 0..2)               by each factor; ranges include both ends
  shift(S1[i]; -1..1)           by each distance
  strip(i; 0,8)  vectorize(i; 0,4)  unroll(i; 0,2,4)  jam(i; 0,2)
                                by each number; for these, skew and shift, not at all is
                                a choice only if 0 is among the numbers
  interchange(i,j)  reverse(i)  parallel(i)  fuse(S0,S1 at i)  fission(S0,S1 at i)
                                not at all, or once; without `at`, as far in as possible
  rfactor(S0[k])  pack(B at k)  compute_at(a at S1[i])  inline(a)
                                not at all, or once; these change the statements
Loops belong to the first nest that has them all; S0[i,j] means those of one statement.
They are applied to the schedule that `farkas run` would use for the same flags; --order original
applies them to the program as it is written, with its loops under their names.

The table has a column per dimension, the verdict (legal, illegal, refused if a transformation does
not apply, unknown if the budget ran out), an earlier point with the same schedule, and for illegal
points the dependence that is broken: kind, array, cell, both instances, and the sizes.

With --measure, legal points are also compiled and run, one of each schedule and one at a time. Inputs
that are not given with --in are pseudo-random. The table then has the shortest time of each, and the
summary names the fastest.

Exit codes: 0 every point was decided; 3 some are unknown; 1 the program is at fault; 2 usage.";

/// Decide the legality of every schedule in a space
///
/// Prints a short table and a summary; all rows go to a file with -o. With --message-format=json, stdout has one
/// object per point (unless they go to a file) and one for the summary.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Options {
    /// The program
    #[arg(value_name = "FILE")]
    file: PathBuf,

    /// The function to explore; not needed if the file has only one that no other one calls
    #[arg(long = "fn", value_name = "NAME")]
    function: Option<String>,

    /// The schedules, such as 'tile(i,j; 8,16), permute(i,j,k)'
    #[arg(long, value_name = "SPACE")]
    space: Space,

    /// Look at so many points, drawn without repetition, instead of all
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    sample: Option<u64>,

    /// Where the drawing of a sample starts
    #[arg(long, value_name = "S", default_value_t = 0)]
    seed: u64,

    /// How many points to judge at once [default: as many as the machine has cores]
    #[arg(long, value_name = "T")]
    threads: Option<NonZeroUsize>,

    /// Write all rows to a file: CSV if the name ends in .csv, JSON if it ends in .json
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Also run the legal points, and take their times
    #[arg(long)]
    measure: bool,

    /// Sizes for --measure, such as -D N=512,M=4
    #[arg(short = 'D', value_delimiter = ',', value_name = "NAME=SIZE,…", value_parser = spec::parse_size, requires = "measure")]
    sizes: Vec<Named<i64>>,

    /// The value of an argument for --measure, as for `farkas run` [default: rand:1, rand:2, …]
    #[arg(long = "in", value_name = "NAME=ORIGIN", value_parser = spec::parse_origin, requires = "measure")]
    inputs: Vec<Named<Origin>>,

    /// Run each point so many times, and take the shortest time
    #[arg(long, value_name = "R", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..), requires = "measure")]
    repeat: u32,

    #[command(flatten)]
    proof: Proof,
}

/// More points than this must be asked for with --sample.
const MAX_POINTS: usize = 1_000_000;

pub(crate) fn explore(options: &Options, terminal: &Terminal) -> Result<(), Failure> {
    let target = match &options.output {
        Some(path) => Some((Form::of(path)?, Target::new(path)?)),
        None => None,
    };
    let sample = options.sample.map(|sample| usize::try_from(sample).unwrap_or(usize::MAX));
    let size = options.space.size();
    if sample.unwrap_or(usize::MAX).min(size) > MAX_POINTS {
        return Err(Failure::usage(format!("the space has {size} points, and at most {MAX_POINTS} are looked at"))
            .help("draw some of them with --sample N"));
    }
    let source = options.proof.read(&options.file)?;
    let engine = Engine::with_options(options.proof.options()?);
    let function = choose_function(&source, engine.signatures(&source)?, options.function.as_deref())?;
    run::check_given(&options.sizes, &options.inputs, &function)?;

    let exploration = Exploration { sample, seed: options.seed, threads: options.threads };
    let progress = Progress::new(sample.unwrap_or(usize::MAX).min(size) as u64, "points");
    let started = Instant::now();
    let rows = explore::explore(&engine, &source, &function.name, &options.space, &exploration, &|done, _| {
        progress.tell(done as u64);
    });
    let time = started.elapsed();
    drop(progress);
    let mut rows = rows?;
    if options.measure {
        measure(options, &engine, &source, &function, &mut rows)?;
    }

    let table = Table::new(&options.space, &rows);
    let written = target.is_some();
    if let Some((form, target)) = target {
        files::commit(vec![target.stage(|out| table.write(form, out))?])?;
    }
    let summary = Summary::of(&options.space, &rows);
    terminal::data(&match terminal.is_json() {
        true => json_lines(&table, &summary, written),
        false if written => summary.to_text(),
        false => format!("{}\n{}", table.to_text(), summary.to_text()),
    })?;
    tell_rate(&rows, time);
    if summary.unknown > 0 { Err(Failure::Told(Exit::Budget)) } else { Ok(()) }
}

/// Runs the legal points. Their inputs are made once, in the shapes that the first of them needs.
fn measure(
    options: &Options,
    engine: &Engine,
    source: &Source,
    function: &Signature,
    rows: &mut [Row],
) -> Result<(), Failure> {
    let mut inputs = options.inputs.clone();
    for (seed, arg) in (1..).zip(function.args.iter().filter(|arg| arg.role != Role::Out)) {
        if !inputs.iter().any(|input| input.name == arg.name) {
            inputs.push(Named { name: arg.name.clone(), value: Origin::Random(seed) });
        }
    }
    let total = rows.iter().filter(|row| row.judgement == Judgement::Legal && row.same_as.is_none()).count();
    let progress = Progress::new(total as u64, "legal points");
    let mut done = 0;
    let mut given: Option<Given> = None;
    let measured = explore::measure(engine, source, &function.name, &options.space, rows, |compiled| {
        let given = match &mut given {
            Some(given) => given,
            None => {
                let shape_of = |args: &farkas::Args<'_>, name: &str| compiled.shape_of(args, name);
                given.insert(inputs::load(function, &shape_of, &options.sizes, &inputs)?)
            }
        };
        let (_, time) = run::execute(compiled, options.repeat, given, |_| {})?;
        done += 1;
        progress.tell(done);
        Ok::<_, Failure>(time)
    });
    drop(progress);
    measured
}

fn json_lines(table: &Table<'_>, summary: &Summary, written: bool) -> String {
    let mut lines = String::new();
    if !written {
        for row in table.to_json() {
            // Writing to a string does not fail.
            let _ = writeln!(lines, "{row}");
        }
    }
    let _ = writeln!(lines, "{}", summary.to_json());
    lines
}

fn tell_rate(rows: &[Row], time: Duration) {
    let seconds = time.as_secs_f64();
    let rate = rows.len() as f64 / seconds.max(1e-9);
    terminal::note(format_args!("time: {} points in {seconds:.2} s, {rate:.0} points/s", rows.len()));
}
