//! Loops from files that someone has changed, with a hash that is right: none that is accepted leaves its arrays, or has iterations at
//! once that meet.
//!
//! `FARKAS_MUTATIONS=10000` is the long form.

use interp::Env;
use program::{Data, Role, ScalarType};

use crate::{Cache, Engine, Function, Options};

const PROGRAMS: [&str; 10] = [
    "fn f<N, M, K>(A: f64[N, K], B: f64[K, M]) -> (C: f64[N, M]) { C[i, j] = sum[k] A[i, k] * B[k, j] }
     schedule f {
         tile S0[i, j, k] by 2, 3, 2 as (it, jt, kt)
         parallel it
     }",
    "fn f<N, M>(x: f64[N, M]) -> (s: f64[N]) { s[i] = sum[j] x[i, j] }
     schedule f { parallel i }",
    "fn f<N>(inout x: f64[N]) where N >= 3 {
         for t in 0..3 { for i in 1..N - 1 { x[i] = x[i - 1] + x[i + 1] } }
     }",
    "fn f<N>(x: f64[N, N]) -> (y: f64[N]) where N >= 1 { y[i] = sum[j | j <= i] x[i, j] }
     schedule f { strip S0[i] by 4 as it }",
    "fn f<N, M>(x: f64[M], at: i64[N]) -> (y: f64[N]) { y[i] = x[at[i]] }
     schedule f { parallel i }",
    "fn f<N>(x: f64[2 * N]) -> (y: f64[N]) { y[i] = if i >= 1 then x[2 * i - 1] else x[2 * i + 1] }",
    "fn f<N>(x: f32[N], n: i64[N]) -> (y: f32[N]) { let t[i] = x[i] * 2; y[i] = t[N - 1 - i] + t[i] }
     schedule f { vectorize i by 4 }",
    // What recipes make: packed tiles, some of which every thread has for itself.
    "fn f<N, M, K>(A: f64[N, K], B: f64[K, M]) -> (C: f64[N, M]) { C[i, j] = sum[k] A[i, k] * B[k, j] }",
    "fn f<N, M>(A: f64[N, M]) -> (C: f64[N, N]) {
         C[i, j | j <= i] = sum[k] A[i, k] * A[j, k]
         C[i, j | j > i] = 0
     }",
    // Rows that all iterations read, and one of them might write.
    "fn f<N>(inout A: f64[N, N]) {
         for k in 0..N { A[i, j | i > k and j > k] = A[i, j] - A[i, k] * A[k, j] }
     }
     schedule f { parallel i }",
];

/// A generator of numbers that are the same every time, and different with another seed.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap_or(0) % bound.max(1)
    }
}

/// The words of a text: names, numbers, and everything else one by one.
fn words(text: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for c in text.chars() {
        match words.last_mut() {
            Some(word) if is_name(c) && word.chars().all(is_name) => word.push(c),
            _ => words.push(c.to_string()),
        }
    }
    words
}

fn is_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

fn mutate(text: &str, numbers: &mut Numbers) -> String {
    let mut words = words(text);
    for _ in 0..1 + numbers.below(2) {
        let at = numbers.below(words.len());
        let other = numbers.below(words.len());
        match numbers.below(5) {
            0 | 1 => {
                // A number that is a little off.
                let mut positions = (0..words.len()).cycle().skip(at).take(words.len());
                if let Some(found) = positions.find(|position| words[*position].parse::<i64>().is_ok()) {
                    let value: i64 = words[found].parse().unwrap_or(0);
                    words[found] = [value.wrapping_add(1), value.wrapping_sub(1), value.wrapping_mul(2), i64::MAX, 0]
                        [numbers.below(5)]
                    .to_string();
                }
            }
            2 => words[at] = words[other].clone(),
            3 => words.swap(at, other),
            _ => {
                words.remove(at);
            }
        }
    }
    words.concat()
}

fn compiled(program: &str) -> Function {
    let options = Options { cache: Cache::Off, ..Options::default() };
    let module = Engine::with_options(options).compile(program).unwrap_or_else(|error| panic!("{error}: {program}"));
    module.functions()[0].clone()
}

/// What the loops make of some arguments, run in an order that the seed decides.
fn run(kernel: &loops::Verified, size: i64, seed: u64) -> Result<Vec<Option<Data>>, interp::Error> {
    let params = vec![size; kernel.params.len()];
    let arrays = kernel.arrays.iter().map(|array| {
        let length = array.shape.iter().map(|extent| extent.value(&params, &[]).unwrap_or(0)).product::<i64>();
        let length = usize::try_from(length).unwrap_or(0);
        (array.role != Role::Local).then(|| match array.ty {
            ScalarType::F64 => Data::from((0..length).map(|at| at as f64).collect::<Vec<_>>()),
            ScalarType::F32 => Data::from((0..length).map(|at| at as f32).collect::<Vec<_>>()),
            _ => Data::from((0..length).map(|at| at as i64).collect::<Vec<_>>()),
        })
    });
    let mut env = Env { params: params.clone(), scalars: Vec::new(), arrays: arrays.collect() };
    interp::run_concurrently(kernel, &mut env, seed)?;
    Ok(env.arrays)
}

#[test]
fn changed_loops_with_a_right_hash_stay_inside_their_arrays() {
    let count = std::env::var("FARKAS_MUTATIONS").ok().and_then(|count| count.parse().ok()).unwrap_or(3500_usize);
    let mut numbers = Numbers(std::process::id().into());
    let seed = numbers.0;
    let (mut refused, mut accepted) = (0, 0);
    for program in PROGRAMS {
        let function = compiled(program);
        let text = function.code().generated.to_string();
        let ctx = isl::Context::new().unwrap_or_else(|error| panic!("{error}"));
        let reprove = |text: &str| {
            let kernel = loops::parse(text).map_err(|error| error.to_string())?;
            let kernel = loops::verify(kernel).map_err(|error| error.to_string())?;
            poly::reprove(&ctx, function.program(), kernel)
        };
        assert_eq!(reprove(&text).map(|_| ()), Ok(()), "unchanged: {text}");
        for _ in 0..count / PROGRAMS.len() {
            let changed = mutate(&text, &mut numbers);
            let Ok(kernel) = reprove(&changed) else {
                refused += 1;
                continue;
            };
            accepted += 1;
            let kernel = kernel.optimized().verified().unwrap_or_else(|error| panic!("{error}: {changed}"));
            // Tiles of recipes are larger.
            for size in if text.contains("_packed") { [3, 7, 25] } else { [3, 4, 7] } {
                if !loops::index_arithmetic_fits(&kernel, &vec![size; kernel.params.len()]) {
                    continue;
                }
                let results = [1, 2].map(|order| run(&kernel, size, order));
                for result in &results {
                    if let Err(error @ interp::Error::OutOfBounds { .. }) = result {
                        panic!("seed {seed}, size {size}: {error}\n{changed}\nof\n{text}");
                    }
                }
                // All numbers are small and whole, so that sums are exact in any order.
                if let [Ok(one), Ok(other)] = &results {
                    let (one, other) = (format!("{one:?}"), format!("{other:?}"));
                    assert_eq!(one, other, "seed {seed}, size {size}: iterations meet in\n{changed}\nof\n{text}");
                }
            }
        }
    }
    assert!(accepted > 0 && refused > accepted, "{accepted} of {} are accepted", accepted + refused);
}
