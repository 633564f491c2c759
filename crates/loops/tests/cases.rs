//! Every file in `tests/cases`: a kernel, then the name of a pass and what it makes of the kernel.
//!
//! `FARKAS_BLESS=1` writes the present results into the files.
#![expect(clippy::panic, reason = "a test fails by panicking")]

extern crate farkas_loops as loops;

use std::fs;
use std::path::Path;

use loops::{
    Kernel, apart, cascade, contract, fast, hoist, narrow, optimize, parse, partials, promote, rebase, scale, simplify,
    spread_sums, strips, unroll, verify,
};

fn pass(name: &str) -> fn(Kernel) -> Kernel {
    match name {
        "read" => |kernel| kernel,
        "simplify" => simplify,
        "strips" => |kernel| strips(simplify(kernel)),
        "partials" => |kernel| simplify(partials(simplify(kernel))),
        "cascade" => |kernel| cascade(optimize(kernel)),
        "apart" => |kernel| apart(simplify(kernel)),
        "fast" => |kernel| fast(simplify(kernel)),
        "unroll" => |kernel| unroll(simplify(kernel)),
        "rebase" => |kernel| rebase(simplify(kernel)),
        "scale" => |kernel| scale(simplify(kernel)),
        "narrow" => |kernel| narrow(simplify(kernel)),
        "contract" => |kernel| contract(simplify(kernel)),
        "promote" => |kernel| simplify(promote(simplify(kernel))),
        "hoist" => |kernel| hoist(simplify(kernel)),
        "spread" => |kernel| simplify(spread_sums(simplify(kernel), &mut |_| true)),
        "optimize" => optimize,
        _ => panic!("there is no pass `{name}`"),
    }
}

fn check(path: &Path) -> Result<(), String> {
    let text = fs::read_to_string(path).map_err(|error| error.to_string())?;
    let (input, rest) = text.split_once("--- ").ok_or("no section")?;
    let (name, expected) = rest.split_once('\n').ok_or("no section")?;
    let kernel = parse(input).map_err(|error| error.to_string())?;
    let kernel = verify(kernel).map_err(|error| format!("input: {error}"))?.into_kernel();
    let output = verify(pass(name)(kernel)).map_err(|error| format!("output: {error}"))?.to_string();
    if std::env::var_os("FARKAS_BLESS").is_some() {
        return fs::write(path, format!("{input}--- {name}\n{output}")).map_err(|error| error.to_string());
    }
    if output == expected { Ok(()) } else { Err(format!("expected\n{expected}\nfound\n{output}")) }
}

#[test]
fn passes_give_the_expected_text() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
    let mut paths: Vec<_> =
        fs::read_dir(folder).expect("the folder is there").map(|entry| entry.expect("readable").path()).collect();
    paths.sort();
    assert!(paths.len() > 10);
    let failures: Vec<String> =
        paths.iter().filter_map(|path| check(path).err().map(|error| format!("{}: {error}", path.display()))).collect();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
