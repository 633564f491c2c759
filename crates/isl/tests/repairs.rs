//! The faults of isl 0.27 that `.cargo/isl.site` repairs stay repaired.
//!
//! Not here: whole programs that met them (`tests/cases/run/halved-rows-*`).

#![expect(clippy::unwrap_used, reason = "a test that fails says so by panicking")]

use farkas_isl as isl;
use isl::{Context, Map};

#[test]
fn coalescing_finds_a_part_empty_by_its_divisions() {
    // No i is 2 modulo 3 and odd under these bounds, which shows only when the coefficients are reduced.
    let context = Context::new().unwrap();
    let map = Map::read_from_str(
        &context,
        "{ [i, j] -> [k] : exists (e, f: i = 2 + 3e and i = 1 + 2f and 4 <= i + 3j - 3k <= 6 and \
         2 <= 3i - j - 3k <= 5 and 2i - j + 3k = 3); [i, j] -> [k] : i = 0 }",
    )
    .unwrap();
    let coalesced = map.clone().coalesce().unwrap();
    assert!(coalesced.is_equal(&map).unwrap());
    assert_eq!(coalesced.to_string(), "{ [i = 0, j] -> [k] }");
}
