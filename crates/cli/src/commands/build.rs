//! `farkas build`: the text forms of the stages.

use std::path::{Path, PathBuf};

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use farkas::{Emit, Source};

use crate::commands::{Compile, choose_function};
use crate::failure::{Failure, reason};
use crate::files::{self, Target};
use crate::terminal;

/// Compile, and print what the stages make of the program
///
/// Forms: ast (syntax tree), program (typed array program), statements (sets and maps, with the init, update and fini
/// of each reduction), deps (dependences and their graph), deps-dot (the graph for Graphviz), schedule (the schedule
/// tree, proven legal, as YAML), script (the same as a script to edit, for --schedule), layouts (where the cells of arrays live, and how innermost loops walk through them), loops (the loop tree), c (C99),
/// ptx (kernels for a GPU), lanes (what vector loops become), clif (Cranelift's form), asm (machine code).
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  farkas build examples/matmul.fks
  farkas build examples/matmul.fks --emit=statements
  farkas build examples/softmax.fks --emit=deps-dot | dot -Tsvg > deps.svg
  farkas build examples/jacobi-1d.fks --emit=script -o jacobi.sched
  farkas build examples/gemm.fks --emit=c -o gemm.c
  farkas build examples/matmul.fks --emit=layouts --specialize=N=64,M=64,K=64
  farkas build examples/matmul.fks --specialize=N=64,M=64,K=64
  farkas build examples/gemm.fks --emit=schedule,asm -o out/   # out/gemm.schedule, out/gemm.asm")]
pub(crate) struct Options {
    /// The program
    #[arg(value_name = "FILE")]
    file: PathBuf,

    /// Only this function; all of them if not given
    #[arg(long = "fn", value_name = "NAME")]
    function: Option<String>,

    /// What to print, in the order of the pipeline
    #[arg(long, value_delimiter = ',', value_name = "FORM,…", default_value = "loops", value_parser = emit_parser())]
    emit: Vec<Emit>,

    /// Write to a file, or, if this is a directory (or ends in `/`), to one file NAME.FORM per function and form
    #[arg(short, long, value_name = "FILE|DIR")]
    output: Option<PathBuf>,

    /// With --emit=layouts, draw arrays that are laid out: the offset of each cell, at the sizes of --specialize or small ones
    #[arg(long)]
    draw: bool,

    #[command(flatten)]
    compile: Compile,
}

fn emit_parser() -> impl TypedValueParser<Value = Emit> {
    PossibleValuesParser::new(Emit::ALL.map(Emit::name)).try_map(|name| name.parse::<Emit>())
}

/// One text form of one function, or of the file.
struct Section {
    function: Option<String>,
    emit: Emit,
    text: String,
}

pub(crate) fn build(options: &Options) -> Result<(), Failure> {
    if options.compile.is_for_sizes_of_run() {
        return Err(Failure::usage("--specialize needs sizes where nothing is run")
            .help("say them with it, such as --specialize=N=64,M=8"));
    }
    if options.draw && !options.emit.contains(&Emit::Layouts) {
        return Err(Failure::usage("--draw draws layouts").help("ask for them with --emit=layouts"));
    }
    let source = options.compile.read(&options.file)?;
    let sections = sections(options, &source)?;
    match &options.output {
        None => terminal::data(&joined(&sections)),
        Some(path) if is_directory(path) => write_each(path, &source, &sections),
        Some(path) => files::write_text(path, &joined(&sections)),
    }
}

fn sections(options: &Options, source: &Source) -> Result<Vec<Section>, Failure> {
    let mut emit = options.emit.clone();
    emit.sort();
    emit.dedup();
    let mut sections = Vec::new();
    if emit.contains(&Emit::Ast) {
        sections.push(Section { function: None, emit: Emit::Ast, text: farkas::syntax_tree(source)? });
        emit.retain(|emit| *emit != Emit::Ast);
    }
    if emit.is_empty() {
        return Ok(sections);
    }
    let engine = options.compile.drawing_engine(emit, options.draw)?;
    let program = engine.read(source)?;
    let signatures = program.signatures();
    let (one, all);
    let functions = if options.function.is_some() || signatures.is_empty() {
        let chosen = choose_function(source, signatures, options.function.as_deref())?;
        one = program.compile(&chosen.name)?;
        std::slice::from_ref(&one)
    } else {
        all = program.compile_all()?;
        all.functions()
    };
    for function in functions {
        let name = function.name().to_owned();
        let texts = function.texts().iter().cloned();
        sections.extend(texts.map(|(emit, text)| Section { function: Some(name.clone()), emit, text }));
    }
    Ok(sections)
}

/// The texts one after the other, with headings if there are several. Scripts alone say what they are for, and are one script together.
fn joined(sections: &[Section]) -> String {
    let mut joined = String::new();
    let is_script = sections.iter().all(|section| section.emit == Emit::Script);
    for section in sections {
        if sections.len() > 1 && !is_script {
            let of = section.function.as_ref().map_or(String::new(), |function| format!("{function}: "));
            joined.push_str(&format!("--- {of}{}\n", section.emit));
        }
        joined.push_str(&section.text);
        if !section.text.ends_with('\n') {
            joined.push('\n');
        }
    }
    joined
}

fn is_directory(path: &Path) -> bool {
    path.is_dir() || path.to_string_lossy().ends_with(std::path::is_separator)
}

fn write_each(directory: &Path, source: &Source, sections: &[Section]) -> Result<(), Failure> {
    let refuse = |error: std::io::Error| {
        Failure::usage(format!("cannot make the directory `{}`: {}", directory.display(), reason(&error)))
    };
    std::fs::create_dir_all(directory).map_err(refuse)?;
    let file_name = Path::new(source.name()).file_stem().map_or("program".into(), |stem| stem.to_string_lossy());
    let mut staged = Vec::new();
    for section in sections {
        let stem = section.function.as_deref().unwrap_or(&file_name);
        let path = directory.join(format!("{stem}.{}", section.emit));
        let alone = joined(&[Section { function: None, emit: section.emit, text: section.text.clone() }]);
        staged.push(Target::new(&path)?.stage(|out| out.write_all(alone.as_bytes()))?);
    }
    files::commit(staged)
}
