//! Tiers: one schedule gives the same bits, however wide the registers are.

use farkas::{Engine, Machine, Module, Options, Style, Tier};

use crate::example::Example;
use crate::threads;

pub(crate) fn agree(example: &Example) -> Result<(), String> {
    let narrow = compile(example, Tier::Baseline)?;
    for tier in Tier::ALL.into_iter().filter(|tier| *tier != Tier::Baseline && tier.is_available()) {
        threads::compare(example, &narrow, &compile(example, tier)?).map_err(|why| format!("{tier}: {why}"))?;
    }
    Ok(())
}

/// For a machine that is not this one, so that the schedule does not depend on the tier.
fn compile(example: &Example, tier: Tier) -> Result<Module, String> {
    let options = Options { cpu: Some(tier), machine: Some(Machine::REFERENCE), ..Options::default() };
    Engine::with_options(options).compile_source(&example.source).map_err(|error| error.render(Style::Plain))
}
