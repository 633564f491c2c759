//! What recipes cost where there is nothing to win: `cargo bench -p farkas --bench tiny [-- KERNEL… --threads=N --sizes=8,16 --small=0]`.
//!
//! Every PolyBench kernel at sizes 8 … 64, with recipes and without, in turn in one run; the best of several rounds counts, because others
//! use the machine too. A ratio is the time with recipes over that without: above 1.1 they have cost more than they may. `--small` says up to which
//! extents recipes are left out; with 0, they never are.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use farkas::{
    Buffer, Data, Engine, Function, Machine, Options, Prepared, Recipes, Role, ScalarType, Specialize, Threads, Value,
    machine,
};

const SIZES: [i64; 4] = [8, 16, 32, 64];
const ROUNDS: usize = 25;
/// About how long a round takes.
const ROUND: Duration = Duration::from_micros(400);
/// Recipes may cost so much.
const ALLOWED: f64 = 1.1;

type Failure = Box<dyn std::error::Error>;

#[expect(clippy::print_stdout, reason = "that is what a benchmark is for")]
fn main() -> Result<(), Failure> {
    let (options, wanted): (Vec<String>, Vec<String>) =
        std::env::args().skip(1).partition(|argument| argument.starts_with('-'));
    let threads = options.iter().find_map(|option| option.strip_prefix("--threads="));
    let threads = threads.map(str::parse).transpose()?.map_or(Threads::All, Threads::Count);
    let sizes = options.iter().find_map(|option| option.strip_prefix("--sizes="));
    let sizes = sizes.map(|sizes| sizes.split(',').map(str::parse).collect::<Result<Vec<i64>, _>>()).transpose()?;
    let sizes = sizes.unwrap_or_else(|| SIZES.to_vec());
    let small = options.iter().find_map(|option| option.strip_prefix("--small="));
    let host = machine::host(None);
    let machine = Machine { small: small.map(str::parse).transpose()?.unwrap_or(host.small), ..host };
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/polybench");
    let entries = fs::read_dir(folder)?.map(|entry| entry.map(|entry| entry.path()));
    let mut paths = entries.collect::<Result<Vec<_>, _>>()?;
    paths.sort();
    println!("{:16}{}", "", sizes.iter().map(|size| format!("{size:>24}")).collect::<String>());
    let (mut logs, mut above) = (Vec::new(), 0);
    for path in paths {
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        if !wanted.is_empty() && !wanted.contains(&name) {
            continue;
        }
        let text = fs::read_to_string(&path)?;
        let both =
            [compile(&text, Recipes::Auto, machine, &threads)?, compile(&text, Recipes::None, machine, &threads)?];
        let mut row = format!("{name:16}");
        for &size in &sizes {
            let [with, without] = measure(&both, size)?;
            let ratio = with / without;
            logs.push(ratio.ln());
            above += usize::from(ratio > ALLOWED);
            row += &format!("{with:9.2}{without:9.2}{ratio:6.2}");
        }
        println!("{row}");
    }
    let mean = (logs.iter().sum::<f64>() / logs.len() as f64).exp();
    println!("microseconds with recipes, without, and their ratio; above {ALLOWED}: {above}; geometric mean {mean:.3}");
    Ok(())
}

fn compile(text: &str, recipes: Recipes, machine: Machine, threads: &Threads) -> Result<Function, Failure> {
    let (machine, threads) = (Some(machine), threads.clone());
    let options = Options { recipes, machine, threads, specialize: Specialize::Never, ..Options::default() };
    let module = Engine::with_options(options).compile(text)?;
    module.functions().first().cloned().ok_or_else(|| "the file has no function".into())
}

/// The arguments of one function: what a call starts from, and what it works on.
struct Held {
    scalars: Vec<Value>,
    start: Vec<(Role, Data)>,
    used: Vec<Data>,
}

impl Held {
    fn new(function: &Function, size: i64) -> Result<Held, Failure> {
        let mut held = Held { scalars: Vec::new(), start: Vec::new(), used: Vec::new() };
        let mut scalars = 0_u32;
        for argument in &function.signature().args {
            let extents = argument.shape.iter().map(|extent| extent.value(&|_| Some(size)).unwrap_or(0));
            let len = extents.product::<i64>();
            if argument.shape.is_empty() && argument.role == Role::In {
                scalars += 1;
                let value = 1.0 + f64::from(scalars) / 8.0;
                held.scalars.push(if argument.ty == ScalarType::F32 { (value as f32).into() } else { value.into() });
                continue;
            }
            // Large diagonals, so that no sum that is divided by comes near zero.
            let element = |position: i64| {
                let diagonal = argument.shape.len() == 2 && position / size == position % size;
                if diagonal { size as f64 + 1.0 } else { (position % 7 + 1) as f64 / (8 * size) as f64 }
            };
            let elements = (0..len).map(element);
            let data = match argument.ty {
                ScalarType::F64 => Data::F64(elements.collect()),
                ScalarType::F32 => Data::F32(elements.map(|element| element as f32).collect()),
                ScalarType::I32 => Data::I32((0..len).map(|position| (position % 13) as i32 + 1).collect()),
                ScalarType::I8 => Data::I8((0..len).map(|position| (position % 4) as i8).collect()),
                other => return Err(format!("no kernel has arrays of {other}").into()),
            };
            held.used.push(data.clone());
            held.start.push((argument.role, data));
        }
        Ok(held)
    }

    /// What is read and written starts from the same values every time.
    fn restore(&mut self) {
        for ((role, start), used) in self.start.iter().zip(&mut self.used) {
            if *role == Role::InOut {
                match (start, used) {
                    (Data::F64(start), Data::F64(used)) => used.copy_from_slice(start),
                    (Data::F32(start), Data::F32(used)) => used.copy_from_slice(start),
                    (Data::I32(start), Data::I32(used)) => used.copy_from_slice(start),
                    (start, used) => used.clone_from(start),
                }
            }
        }
    }

    fn call(&mut self, prepared: &mut Prepared) -> Result<(), Failure> {
        self.restore();
        let mut buffers: Vec<Buffer<'_>> = Vec::new();
        for ((role, _), used) in self.start.iter().zip(&mut self.used) {
            buffers.push(match role {
                Role::In => Buffer::Read(used.as_slice()),
                _ => Buffer::Write(used.as_mut_slice()),
            });
        }
        Ok(prepared.call(&self.scalars, &mut buffers)?)
    }
}

/// Microseconds per call of each function, without what restoring its arguments takes.
fn measure(both: &[Function; 2], size: i64) -> Result<[f64; 2], Failure> {
    let mut held = [Held::new(&both[0], size)?, Held::new(&both[1], size)?];
    let params = both[0].signature().params.clone();
    let sizes: Vec<(&str, i64)> = params.iter().map(|name| (name.as_str(), size)).collect();
    let mut prepared = [both[0].prepare(&sizes)?, both[1].prepare(&sizes)?];
    let started = Instant::now();
    held[1].call(&mut prepared[1])?;
    let calls = (ROUND.as_secs_f64() / started.elapsed().as_secs_f64()).clamp(1.0, 500.0) as u32;
    let mut best = [f64::INFINITY; 2];
    let mut restoring = f64::INFINITY;
    for _ in 0..ROUNDS {
        for ((held, prepared), best) in held.iter_mut().zip(&mut prepared).zip(&mut best) {
            let started = Instant::now();
            for _ in 0..calls {
                held.call(prepared)?;
            }
            *best = best.min(started.elapsed().as_secs_f64());
        }
        let started = Instant::now();
        for _ in 0..calls {
            held[0].restore();
        }
        restoring = restoring.min(started.elapsed().as_secs_f64());
    }
    Ok(best.map(|time| (time - restoring).max(0.0) * 1e6 / f64::from(calls)))
}
