//! What the passes over loops leave of local arrays is what the proof of folded storage allows.
//!
//! `loops::narrow` and `loops::contract` argue about loops. Here each array that they made smaller is folded by a line of a schedule instead,
//! which is proven from the dependences: the two arguments know nothing of each other.
#![expect(clippy::panic, reason = "a test fails by panicking")]

use std::collections::BTreeMap;
use std::path::Path;

use farkas::{Emit, Engine, Error, Module, Options, Recipes, Schedule, Source, Style};

fn compile(source: &Source, script: Option<&str>) -> Result<Module, Error> {
    let schedule = script.map(|text| Schedule::Script(Source::new("folds.sched", text)));
    let (emit, recipes) = (vec![Emit::Statements, Emit::Script, Emit::Loops], Recipes::Always);
    Engine::with_options(Options { emit, recipes, schedule, ..Options::default() }).compile_source(source)
}

fn text_of(module: &Module, wanted: Emit) -> &str {
    let texts = module.functions()[0].texts();
    texts.iter().find(|(emit, _)| *emit == wanted).map_or_else(|| panic!("no {wanted:?}"), |(_, text)| text.as_str())
}

/// The names and ranks of the local arrays in loops; scalars have none.
fn locals(loops: &str) -> BTreeMap<&str, usize> {
    let declared = loops.lines().filter_map(|line| {
        let (name, ty) = line.trim_start().strip_prefix("array ")?.split_once(": ")?;
        let extents = ty.split_once('[')?.1.trim_end_matches(']');
        Some((name, if extents.is_empty() { 0 } else { extents.split(", ").count() }))
    });
    let scalars =
        loops.lines().filter_map(|line| Some((line.trim_start().strip_prefix("local ")?.split_once(':')?.0, 0)));
    declared.chain(scalars).collect()
}

/// The rank that an array has in the statements of a program; none if they do not have it.
fn rank_of(statements: &str, array: &str) -> Option<usize> {
    let at = statements.find(&format!("-> {array}["))?;
    let subscripts = statements[at..].split_once('[')?.1.split_once(']')?.0;
    Some(if subscripts.is_empty() { 0 } else { subscripts.split(", ").count() })
}

/// All ways to keep `kept` of the dimensions of an array, as places.
fn folds(rank: usize, kept: usize) -> Vec<String> {
    let choices = (0..1_u32 << rank).filter(|choice| choice.count_ones() as usize == kept);
    let place = |choice: u32, dim: usize| if choice >> dim & 1 == 1 { format!("d{dim}") } else { "0".to_owned() };
    let list = |choice: u32| (0..rank).map(|dim| place(choice, dim)).collect::<Vec<_>>().join(", ");
    choices.map(list).collect()
}

/// Folds every array of a program that loops have made smaller; the number of these arrays.
fn check(path: &Path) -> usize {
    let text = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let source = Source::new(path.display().to_string(), text);
    let render = |error: Error| -> Module { panic!("{}", error.render(Style::Plain)) };
    let chosen = compile(&source, None).unwrap_or_else(render);
    // Iterations that run at once have cells of their own, which is no folding.
    let script = text_of(&chosen, Emit::Script).lines().filter(|line| !line.trim_start().starts_with("parallel "));
    let script: Vec<&str> = script.collect();
    let module = compile(&source, Some(&script.join("\n"))).unwrap_or_else(render);
    let statements = text_of(&module, Emit::Statements);
    let mut smaller = 0;
    for (array, kept) in locals(text_of(&module, Emit::Loops)) {
        let Some(rank) = rank_of(statements, array).filter(|rank| *rank > kept) else { continue };
        smaller += 1;
        let cell = (0..rank).map(|dim| format!("d{dim}")).collect::<Vec<_>>().join(", ");
        let refusals: Vec<String> = folds(rank, kept)
            .into_iter()
            .map_while(|places| {
                let fold = format!("    layout {array}[{cell}] => [{places}]");
                let lines = [&script[..script.len() - 1], &[fold.as_str(), "}"]].concat().join("\n");
                compile(&source, Some(&lines)).err().map(|error| error.render(Style::Plain))
            })
            .collect();
        let proven = refusals.len() < folds(rank, kept).len();
        assert!(proven, "{}: `{array}` keeps {kept} of {rank} dimensions:\n{}", path.display(), refusals.join("\n"));
    }
    smaller
}

#[test]
fn arrays_that_loops_make_smaller_can_be_folded() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let names = [
        "softmax.fks",
        "row-softmax.fks",
        "row-statistics.fks",
        "ml/layernorm.fks",
        "ml/rmsnorm.fks",
        "ml/log-softmax.fks",
        "ml/attention.fks",
        "ml/gelu-mlp.fks",
        "ml/top-1.fks",
        "imaging/sobel.fks",
        "science/n-body.fks",
    ];
    let smaller: usize = names.iter().map(|name| check(&root.join(name))).sum();
    assert!(smaller >= 12, "only {smaller} arrays became smaller");
}
