//! Tiers: one schedule gives the same bits, however wide the registers are.

use std::time::Duration;

use farkas::{Engine, Machine, Module, Options, Style, Tier};

use crate::example::Example;
use crate::threads;

pub(crate) fn agree(example: &Example) -> Result<(), String> {
    let narrow = compile(example, options(Tier::Baseline))?;
    for tier in Tier::ALL.into_iter().filter(|tier| *tier != Tier::Baseline && tier.is_available()) {
        let wide = threads::loaded(&narrow, options(tier), |options| compile(example, options))?;
        threads::compare(example, &narrow, &wide).map_err(|why| format!("{tier}: {why}"))?;
    }
    Ok(())
}

/// For a machine that is not this one, so that the schedule does not depend on the tier. Code in narrow pieces is long, and machines that run tests
/// are busy.
fn options(tier: Tier) -> Options {
    let time_limit = Duration::from_secs(60);
    Options { cpu: Some(tier), machine: Some(Machine::REFERENCE), time_limit, ..Options::default() }
}

fn compile(example: &Example, options: Options) -> Result<Module, String> {
    Engine::with_options(options).compile_source(&example.source).map_err(|error| error.render(Style::Plain))
}
