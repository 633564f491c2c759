//! Versions for some sizes: which sizes they are for, and that the same program means the same on either side of a border.
#![expect(clippy::unwrap_used, reason = "tests")]

use farkas::{Emit, Engine, Machine, Options, Recipes, Source};

/// What stands before the braces of each schedule that is chosen.
fn heads(program: &str, machine: Machine) -> Vec<String> {
    let recipes = Recipes::Auto;
    let options = Options { emit: vec![Emit::Script], recipes, machine: Some(machine), ..Options::default() };
    let module = Engine::with_options(options).compile_source(&Source::new("f.fks", program)).unwrap();
    let texts = module.functions()[0].texts();
    let script = texts.iter().find(|(emit, _)| *emit == Emit::Script).unwrap().1.clone();
    let heads = script.lines().filter_map(|line| line.strip_suffix(" {")?.strip_prefix("schedule "));
    heads.map(str::to_string).collect()
}

const PRODUCT: &str = "fn f<N, M, K>(A: f32[N, K], B: f32[K, M]) -> (C: f32[N, M]) {
    C[i, j] = sum[k] A[i, k] * B[k, j]
}";

#[test]
fn operands_are_read_where_they_are_for_few_rows_and_for_columns_that_fit_into_a_cache() {
    let heads = heads(PRODUCT, Machine { small: 4, ..Machine::REFERENCE });
    assert_eq!(heads, ["f where N <= 384 or (M <= 512 and K <= 512)", "f"]);
}

#[test]
fn where_nothing_is_too_small_all_sizes_have_the_same_schedule() {
    assert_eq!(heads(PRODUCT, Machine::REFERENCE), ["f"]);
}

#[test]
fn columns_that_do_not_lie_side_by_side_are_packed_at_all_sizes() {
    let turned = PRODUCT.replace("B: f32[K, M]", "B: f32[M, K]").replace("B[k, j]", "B[j, k]");
    let heads = heads(&turned, Machine { small: 4, ..Machine::REFERENCE });
    assert_eq!(heads, ["f where N <= 8 and M <= 8 and K <= 8", "f"]);
}

#[test]
fn a_triangle_has_plain_loops_for_small_sizes_too() {
    let triangle = PRODUCT.replace("A: f32[N, K]", "A: f32[N, N]").replace("B: f32[K, M]", "B: f32[N, M]");
    let triangle = triangle.replace("f<N, M, K>", "f<N, M>").replace("sum[k]", "sum[k | k <= i]");
    let heads = heads(&triangle, Machine { small: 4, ..Machine::REFERENCE });
    let small = "f where N <= 8 and M <= 8";
    assert_eq!(heads, [small, "f where N <= 384 or (M <= 512 and N <= 512)", "f"]);
}
