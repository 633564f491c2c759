//! The text form: what is printed reads back, and errors name their line.

extern crate farkas_loops as loops;

mod generate;

use loops::{Kernel, VarId, optimize, parse, simplify, verify};
use proptest::collection::vec;
use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn a_random_kernel_reads_back_as_itself(bytes in vec(any::<u8>(), 0..400)) {
        let kernel = generate::kernel(&bytes);
        let text = kernel.to_string();
        prop_assert_eq!(parse(&text).map_err(|error| format!("{error} in\n{text}")), Ok(kernel));
    }

    #[test]
    fn passes_give_verified_kernels(bytes in vec(any::<u8>(), 0..400)) {
        let kernel = generate::kernel(&bytes);
        prop_assert!(verify(kernel.clone()).is_ok());
        let once = optimize(kernel);
        let text = once.to_string();
        prop_assert!(verify(once.clone()).is_ok(), "{:?} in\n{text}", verify(once));
        prop_assert_eq!(parse(&text).map(|kernel| kernel.to_string()), Ok(text.clone()));
    }

    #[test]
    fn what_is_simple_stays_as_it_is(bytes in vec(any::<u8>(), 0..400)) {
        let once = simplify(generate::kernel(&bytes));
        prop_assert_eq!(simplify(once.clone()).to_string(), once.to_string());
    }

    #[test]
    fn no_text_makes_the_reader_panic(text in "[a-z0-9 .\\[\\](){}<>=:;,+*/%#\n-]{0,80}") {
        let _ = parse(&text);
        let _ = parse(&format!("kernel f(n; a: inout f64[n]) {{ for c in 0..n {{ a[c] = {text} }} }}"));
    }
}

#[test]
fn names_that_clash_are_changed() {
    let mut kernel: Kernel = parse(
        "kernel f(N; A: out f64[N]) { local t: f64 for i in 0..N { for j in 0..i { t = 1.0 A[j] = t } } for k in 0..N { A[k] = 2.0 } }",
    )
    .expect("well-formed");
    kernel.arrays[0].name = "for".to_owned();
    kernel.locals[0].name = "N".to_owned();
    kernel.vars = vec!["c".to_owned(), "c".to_owned(), "c".to_owned()];
    let text = kernel.to_string();
    for part in ["for_1: out", "local N_1", "for c in", "for c_1 in 0..c", "N_1 = 1.0"] {
        assert!(text.contains(part), "{part} is missing in\n{text}");
    }
    assert!(!text.contains("c_2"), "loops beside each other share a name:\n{text}");
    assert_eq!(parse(&text).expect("reads back").to_string(), text);
}

#[test]
fn an_invalid_kernel_can_be_printed() {
    let mut kernel = parse("kernel f(N) { for c in 0..N { } }").expect("well-formed");
    if let Some(loops::Stmt::For(f)) = kernel.body.first_mut() {
        f.var = VarId(7);
    }
    assert!(kernel.to_string().contains("for ?7 in"));
}

#[test]
fn errors_say_line_and_reason() {
    let deep = format!("kernel f(; a: out f64[]) {{ a[] = {}1.0{} }}", "(".repeat(9999), ")".repeat(9999));
    let chain = format!("kernel f(; a: out f64[]) {{ a[] = 1.0{} }}", " + 1.0".repeat(9999));
    let cases = [
        ("kernel f() {", "line 1: expected a name, found the end"),
        ("kernel f(N) {\n x = 1\n}", "line 2: `x` is not declared"),
        ("kernel f(N) {\n N = 1\n}", "line 2: `N` cannot be assigned to"),
        ("kernel f(N, N) { }", "line 1: `N` is already declared"),
        ("kernel f(N) { for i in 0..N { for i in 0..N { } } }", "`i` is already declared"),
        ("kernel f(; a: out i8[]) { a[] = 128 }", "`128` does not fit i8"),
        ("kernel f(; a: out f64[]) { a[] = 1.0q }", "`q` is not a suffix"),
        ("kernel f(; a: out f64[]) { a[] = foo(1.0) }", "no function `foo`"),
        ("kernel f(N; a: out f64[N]) { a[N * N] = 1.0 }", "expected an integer literal"),
        ("kernel f(; a: out bool[]) { a[] = 1 < 2 < 3 }", "comparisons do not chain"),
        ("kernel f(; a: out f64[]) { a[] = $ }", "unexpected character '$'"),
        ("kernel f(; a: out f64[]) { a[] -= 1.0 }", "expected `=` or an update such as `+=` or `max=`, found `-`"),
        ("kernel f(; a: out f64[]) { a[] pow= 1.0 }", "expected `=` or an update"),
        ("kernel f(N) { parallel for i in 0..N reducing s by + { } }", "`s` is not declared"),
        (
            "kernel f(N; s: out f64[]) { parallel for i in 0..N reducing s by - { } }",
            "expected the operator of a reduction",
        ),
        ("kernel f(N) { parallel for i in 0..N private N { } }", "`N` is not an array"),
        ("kernel f(N) { for i in 0..N private N { } }", "expected `{`, found `private`"),
        (
            "kernel f(; s: out f64[]) { alloc s in heap { } }",
            "expected `scratch`, `shared` or `registers`, found `heap`",
        ),
        (deep.as_str(), "nested deeper than"),
        (chain.as_str(), "nested deeper than"),
    ];
    for (text, message) in cases {
        let error = parse(text).expect_err(message).to_string();
        assert!(error.contains(message), "{error:?} does not say {message:?}");
    }
}
