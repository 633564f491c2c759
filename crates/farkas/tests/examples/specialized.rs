//! Code for the very sizes of a call gives the same bits as code for all sizes.

use farkas::{Engine, Module, Options, Recipes, Specialize, Style};

use crate::example::Example;
use crate::threads;

pub(crate) fn agree(example: &Example) -> Result<(), String> {
    let general = compile(example, Specialize::Never)?;
    let special = compile(example, Specialize::Always)?;
    threads::compare(example, &general, &special)?;
    let sized = |module: &Module| module.functions().iter().map(|function| function.specialized().len()).sum::<usize>();
    let takes_sizes = special.functions().iter().any(|function| !function.signature().params.is_empty());
    match (sized(&general), sized(&special)) {
        (0, made) if (made > 0) == takes_sizes => Ok(()),
        made => Err(format!("code for {made:?} sizes was made")),
    }
}

fn compile(example: &Example, specialize: Specialize) -> Result<Module, String> {
    // Recipes at all sizes, which are small here.
    let options = Options { specialize, recipes: Recipes::Always, ..Options::default() };
    Engine::with_options(options).compile_source(&example.source).map_err(|error| error.render(Style::Plain))
}
