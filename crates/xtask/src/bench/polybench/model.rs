//! Does the cost by which schedules are chosen put them in the order in which they run? Kendall's tau of the two orders.
//!
//! In: what `farkas run --tune` says about the candidates of each kernel, on one thread.  Out: a table with a row per kernel, and one
//! number for all pairs of candidates. 1 is the same order, 0 no relation, -1 the opposite.
//! Pairs of different kernels mean nothing, nor do pairs whose times are closer than runs are to each other.

use super::super::table::Table;
use super::{Bench, Kernel, Options, kernels};
use crate::process::{build_farkas, capture, command, complain, heading, say};
use crate::setup;

/// Times that are closer than this, in parts of the shorter one, are the same.
const NOISE: f64 = 0.05;

/// A candidate: what it was expected to cost, and what it took in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Candidate {
    cost: u64,
    time: f64,
}

/// How many pairs are in the same order by cost and by time, in the opposite one, and how many have the same cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Pairs {
    agree: u32,
    disagree: u32,
    tied: u32,
}

impl Pairs {
    fn of(candidates: &[Candidate]) -> Pairs {
        let mut pairs = Pairs::default();
        for (number, a) in candidates.iter().enumerate() {
            for b in &candidates[number + 1..] {
                if (a.time - b.time).abs() <= NOISE * a.time.min(b.time) {
                    continue;
                }
                match a.cost.cmp(&b.cost) {
                    std::cmp::Ordering::Equal => pairs.tied += 1,
                    order if order == a.time.total_cmp(&b.time) => pairs.agree += 1,
                    _ => pairs.disagree += 1,
                }
            }
        }
        pairs
    }

    fn and(self, other: Pairs) -> Pairs {
        Pairs {
            agree: self.agree + other.agree,
            disagree: self.disagree + other.disagree,
            tied: self.tied + other.tied,
        }
    }

    /// Kendall's tau, in the form for ties on one side; none where there is nothing to compare.
    fn tau(self) -> Option<f64> {
        let decided = f64::from(self.agree + self.disagree);
        let all = decided + f64::from(self.tied);
        (decided > 0.0).then(|| (f64::from(self.agree) - f64::from(self.disagree)) / (decided * all).sqrt())
    }
}

/// Measures the candidates of each kernel, and prints how their orders agree.
pub(in crate::bench) fn measure(options: &Options) -> Result<(), String> {
    setup::set_up()?;
    let farkas = build_farkas()?;
    let folder = super::super::bench_folder(&farkas)?;
    let size = kernels::SIZES[options.size];
    heading(format!("Cost against time: the candidates of PolyBench {size}, one thread"));
    let chosen: Vec<&Kernel> = kernels::KERNELS.iter().filter(|kernel| options.wants(kernel.name)).collect();
    let mut table = Table::new(&["kernel", "candidates", "agree", "disagree", "same cost", "tau", "choice / best"]);
    let (mut all, mut failures) = (Pairs::default(), Vec::new());
    for (number, kernel) in chosen.iter().enumerate() {
        complain(format!("[{}/{}] {}", number + 1, chosen.len(), kernel.name));
        let bench = Bench { kernel, options, farkas: &farkas, folder: &folder };
        match bench.candidates() {
            Ok(candidates) => {
                let pairs = Pairs::of(&candidates);
                all = all.and(pairs);
                table.rows.push(row(kernel.name, &candidates, pairs));
            }
            Err(message) => failures.push(format!("{}: {message}", kernel.name)),
        }
    }
    table.rows.push(row("all pairs", &[], all));
    say(table.render());
    failures.iter().for_each(|failure| complain(format!("error: {failure}")));
    if failures.is_empty() { Ok(()) } else { Err(format!("{} kernels failed", failures.len())) }
}

fn row(name: &str, candidates: &[Candidate], pairs: Pairs) -> Vec<String> {
    let Pairs { agree, disagree, tied } = pairs;
    let tau = pairs.tau().map_or_else(|| "-".to_owned(), |tau| format!("{tau:.2}"));
    let best = candidates.iter().map(|candidate| candidate.time).fold(f64::INFINITY, f64::min);
    let lost = candidates.first().map_or_else(|| "-".to_owned(), |first| format!("{:.2}", first.time / best));
    let counts = [agree, disagree, tied].map(|count| count.to_string());
    let number = if candidates.is_empty() { "-".to_owned() } else { candidates.len().to_string() };
    [name.to_owned(), number].into_iter().chain(counts).chain([tau, lost]).collect()
}

impl Bench<'_> {
    /// What the command says about the candidates of a kernel, the one that it would choose first.
    fn candidates(&self) -> Result<Vec<Candidate>, String> {
        let (_, place, arguments) = self.lay_out()?;
        let setting = self.setting(&place, &arguments);
        let words = ["--tune", "--threads", "1", "--no-cache"].map(str::to_owned);
        let mut run = command(self.farkas, &[]);
        run.args(super::contenders::farkas_words(&setting, &words));
        let output = capture(&mut run)?;
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        let found: Vec<Candidate> = told.lines().filter_map(read_row).collect();
        if found.is_empty() { Err(format!("farkas told of no candidates:\n{told}")) } else { Ok(found) }
    }
}

/// A line such as `tune: 1. by cost, the best, cost 12: 0.345 ms`; others say nothing about the order by cost.
fn read_row(line: &str) -> Option<Candidate> {
    let (_, rest) = line.strip_prefix("tune: ")?.split_once(". by cost, ")?;
    let (_, rest) = rest.split_once(", cost ")?;
    let (cost, time) = rest.split_once(": ")?;
    Some(Candidate { cost: cost.parse().ok()?, time: time.strip_suffix(" ms")?.parse().ok()? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_the_command_are_read() {
        let best = read_row("tune: 1. by cost, the best, cost 12: 0.345 ms");
        assert_eq!(best, Some(Candidate { cost: 12, time: 0.345 }));
        for other in [
            "tune: 2. by cost, the second, cost 12: the same loops as 1",
            "tune: 5. for caches of half the size, cost 12: 0.345 ms",
            "tune: the fastest is: by cost, the best",
            "time: run 3.0 ms",
        ] {
            assert_eq!(read_row(other), None, "{other}");
        }
    }

    #[test]
    fn tau_is_that_of_the_two_orders() {
        let of = |pairs: &[(u64, f64)]| {
            let all: Vec<Candidate> = pairs.iter().map(|&(cost, time)| Candidate { cost, time }).collect();
            Pairs::of(&all)
        };
        assert_eq!(of(&[(1, 1.0), (2, 2.0), (3, 3.0)]).tau(), Some(1.0));
        assert_eq!(of(&[(1, 3.0), (2, 2.0), (3, 1.0)]).tau(), Some(-1.0));
        assert_eq!(of(&[(1, 1.0), (2, 3.0), (3, 2.0)]), Pairs { agree: 2, disagree: 1, tied: 0 });
        // Times that are too close say nothing, and costs that are the same say little.
        assert_eq!(of(&[(1, 1.0), (2, 1.01)]).tau(), None);
        assert_eq!(of(&[(1, 1.0), (1, 2.0), (2, 4.0)]), Pairs { agree: 2, disagree: 0, tied: 1 });
    }
}
