//! Syntax errors as the user sees them: statements, brackets, headers and recovery.

use super::errors_of;

/// Pairs of a source and its rendered errors.
pub(super) fn check(cases: &[(&str, &str)]) {
    for (text, expected) in cases {
        assert_eq!(format!("\n{}", errors_of(text)), *expected);
    }
}

#[test]
fn an_if_has_both_branches() {
    check(&[
        (
            "fn f() { s = if a > 0 1 else 2 }",
            "
error[E0001]: `if` without `then`
 --> f.fks:1:23
  |
1 | fn f() { s = if a > 0 1 else 2 }
  |                       ^ found `1` where `then` could be
  |
  = help: `if` is an expression with both branches: `if c then a else b`",
        ),
        (
            "fn f() { s = if a > 0 then 1 }",
            "
error[E0001]: `if` without `else`
 --> f.fks:1:30
  |
1 | fn f() { s = if a > 0 then 1 }
  |                              ^ found `}` where `else` could be
  |
  = help: `if` is an expression with both branches: `if c then a else b`",
        ),
        (
            "fn f() { if a > 0: s = 1 }",
            "
error[E0001]: unexpected `:`
 --> f.fks:1:18
  |
1 | fn f() { if a > 0: s = 1 }
  |                  ^ expected an operator or `{`
  |
  = help: the statements stand in braces: `if c { … } else { … }`",
        ),
        (
            "fn f() { if a > 0 then s = 1 }",
            "
error[E0001]: unexpected keyword `then`
 --> f.fks:1:19
  |
1 | fn f() { if a > 0 then s = 1 }
  |                   ^^^^ expected an operator or `{`
  |
  = help: statements stand in braces, `if c { … }`; with `then` it chooses a value, `y[i] = if c then a else b`",
        ),
        (
            "fn f() { s = a if a > 0 else 1 }",
            "
error[E0001]: unexpected keyword `else`
 --> f.fks:1:25
  |
1 | fn f() { s = a if a > 0 else 1 }
  |                         ^^^^ expected an operator or `{`
  |
  = help: the condition stands in front of both values: `if c then a else b`",
        ),
    ]);
}

#[test]
fn brackets_that_do_not_match() {
    check(&[
        (
            "fn f() { C[i, j = a + b
  D[i] = 2 }",
            "
error[E0001]: unexpected `D`
 --> f.fks:2:3
  |
1 | fn f() { C[i, j = a + b
  |           - this `[` is still open
2 |   D[i] = 2 }
  |   ^ expected an operator, `,`, `]`, `:` or `|`",
        ),
        (
            "fn f() { s = A[i + B[j) }",
            "
error[E0001]: unexpected `)`
 --> f.fks:1:23
  |
1 | fn f() { s = A[i + B[j) }
  |                     - ^ expected an operator, `,` or `]`
  |                     |
  |                     this `[` is still open
  |
  = help: a `]` is missing before this",
        ),
        (
            "fn f() { s = A[i; t = 2 }",
            "
error[E0001]: unexpected `;`
 --> f.fks:1:17
  |
1 | fn f() { s = A[i; t = 2 }
  |               - ^ expected an operator, `,` or `]`
  |               |
  |               this `[` is still open
  |
  = help: a `]` is missing before this",
        ),
        (
            "fn f<N>(A: f64[N]) {
    for i in 0..N {
        A[i] = 1
}",
            "
error[E0001]: unclosed `{`
 --> f.fks:1:20
  |
1 | fn f<N>(A: f64[N]) {
  |                    ^ never closed
...
4 | }
  |  - the file ends here",
        ),
        (
            "fn f() {
   x = 1

fn g() { y = 2 }",
            "
error[E0001]: unclosed `{`
 --> f.fks:1:8
  |
1 | fn f() {
  |        ^ never closed
...
4 | fn g() { y = 2 }
  | -- a new function begins here",
        ),
        (
            "fn f() { for i = 0..N { s = 1 } }",
            "
error[E0001]: unexpected `=`
 --> f.fks:1:16
  |
1 | fn f() { for i = 0..N { s = 1 } }
  |                ^ expected `in`
  |
  = help: write `for i in 0..N { … }`",
        ),
        (
            "fn f() { for i in N { s = 1 } }",
            "
error[E0001]: unexpected `{`
 --> f.fks:1:21
  |
1 | fn f() { for i in N { s = 1 } }
  |                     ^ expected an operator or `..`
  |
  = help: a range is written `0..N`; its end is not part of it",
        ),
        (
            "fn f() { for i in 0..=N { s = 1 } }",
            "
error[E0001]: unknown range `..=`
 --> f.fks:1:20
  |
1 | fn f() { for i in 0..=N { s = 1 } }
  |                    ^^^ expected `..`
  |
  = help: ranges leave out their end: `0..N` ends at `N - 1`",
        ),
        (
            "fn f() -> Y: f64 { Y = 1 }",
            "
error[E0001]: unexpected `Y`
 --> f.fks:1:11
  |
1 | fn f() -> Y: f64 { Y = 1 }
  |           ^ expected `(`
  |
  = help: results are named, in parentheses: `-> (Y: f64[N])`",
        ),
        (
            "fn f() { S: for i in 0..N { s = 1 } }",
            "
error[E0001]: a loop has no label
 --> f.fks:1:13
  |
1 | fn f() { S: for i in 0..N { s = 1 } }
  |             ^^^ expected `let` or an assignment",
        ),
        (
            "fn f() { s = 1 } }",
            "
error[E0001]: unexpected `}`
 --> f.fks:1:18
  |
1 | fn f() { s = 1 } }
  |                  ^ closes nothing",
        ),
        (
            "fn f() { s = (a + b }",
            "
error[E0001]: unexpected `}`
 --> f.fks:1:21
  |
1 | fn f() { s = (a + b }
  |              -      ^ expected an operator or `)`
  |              |
  |              this `(` is still open",
        ),
        (
            "fn f(a: f64 { s = 1 }",
            "
error[E0001]: unexpected `{`
 --> f.fks:1:13
  |
1 | fn f(a: f64 { s = 1 }
  |     -       ^ expected `,` or `)`
  |     |
  |     this `(` is still open",
        ),
        (
            "fn f() { s = f(a; b) }",
            "
error[E0001]: unexpected `;`
 --> f.fks:1:17
  |
1 | fn f() { s = f(a; b) }
  |               - ^ expected an operator, `,` or `)`
  |               |
  |               this `(` is still open",
        ),
    ]);
}

#[test]
fn statements_of_other_languages() {
    check(&[
        (
            "fn f() { return x }",
            "
error[E0001]: there is no `return`
 --> f.fks:1:10
  |
1 | fn f() { return x }
  |          ^^^^^^ not a statement
  |
  = help: name the result in `-> (Y: …)` and assign to it: `Y[i] = …`",
        ),
        (
            "fn f() { return }",
            "
error[E0001]: there is no `return`
 --> f.fks:1:10
  |
1 | fn f() { return }
  |          ^^^^^^ not a statement
  |
  = help: name the result in `-> (Y: …)` and assign to it: `Y[i] = …`",
        ),
        (
            "fn f() { A(i) = 3 }",
            "
error[E0001]: a call cannot be assigned
 --> f.fks:1:15
  |
1 | fn f() { A(i) = 3 }
  |               ^ the statement in front of this is a call
  |
  = help: elements are written in square brackets: `A[i] = …`",
        ),
        (
            "fn f() { s == 3 }",
            "
error[E0001]: `==` compares
 --> f.fks:1:12
  |
1 | fn f() { s == 3 }
  |            ^^ expected `=` or another assignment
  |
  = help: assign with `=`",
        ),
        (
            "fn f() { s max = 3 }",
            "
error[E0001]: unexpected `max`
 --> f.fks:1:12
  |
1 | fn f() { s max = 3 }
  |            ^^^ expected `=` or another assignment
  |
  = help: write `max=` without a space",
        ),
        (
            "fn f() { let x }",
            "
error[E0001]: unexpected `}`
 --> f.fks:1:16
  |
1 | fn f() { let x }
  |                ^ expected `:` or `=`
  |
  = help: give it a value, `let x = …`, or a type, `let x: f64[N]`",
        ),
        (
            "fn f() { s = a b }",
            "
error[E0001]: unexpected `b`
 --> f.fks:1:16
  |
1 | fn f() { s = a b }
  |                ^ expected an operator, or a statement that assigns
  |
  = help: to call a function, write `a(b)`; to multiply, `a * b`",
        ),
    ]);
}

#[test]
fn loops_and_ranges() {
    check(&[]);
}

#[test]
fn headers() {
    check(&[
        (
            "fn f(A) { s = 1 }",
            "
error[E0001]: unexpected `)`
 --> f.fks:1:7
  |
1 | fn f(A) { s = 1 }
  |       ^ expected `:`",
        ),
        (
            "fn f { s = 1 }",
            "
error[E0001]: unexpected `{`
 --> f.fks:1:6
  |
1 | fn f { s = 1 }
  |      ^ expected `(` or `<`",
        ),
        (
            "let x = 1",
            "
error[E0001]: unexpected keyword `let`
 --> f.fks:1:1
  |
1 | let x = 1
  | ^^^ expected a function
  |
  = help: a number for the whole file is a constant: `const K = 3`",
        ),
        (
            "fn f<>() { s = 1 }",
            "
error[E0001]: the parameter list is empty
 --> f.fks:1:5
  |
1 | fn f<>() { s = 1 }
  |     ^^ nothing inside
  |
  = help: leave out `<>`",
        ),
    ]);
}

#[test]
fn expressions_that_end_early() {
    check(&[
        (
            "fn f() { s = a + }",
            "
error[E0001]: unexpected `}`
 --> f.fks:1:18
  |
1 | fn f() { s = a + }
  |                  ^ expected an expression",
        ),
        (
            "fn f() { s = }",
            "
error[E0001]: unexpected `}`
 --> f.fks:1:14
  |
1 | fn f() { s = }
  |              ^ expected an expression",
        ),
    ]);
}

#[test]
fn every_broken_function_reports_its_first_error() {
    check(&[(
        "fn a() { x = }
fn b() { y = 2 }
fn c() { z = 99999999999999999999 }
fn d() { w = * }",
        "
error[E0001]: unexpected `}`
 --> f.fks:1:14
  |
1 | fn a() { x = }
  |              ^ expected an expression

error[E0004]: the integer is too large
 --> f.fks:3:14
  |
3 | fn c() { z = 99999999999999999999 }
  |              ^^^^^^^^^^^^^^^^^^^^ at most 18446744073709551615 fits
  |
  = help: write a float, such as `1e30`, if that is what is meant

error[E0001]: unexpected `*`
 --> f.fks:4:14
  |
4 | fn d() { w = * }
  |              ^ expected an expression",
    )]);
}
