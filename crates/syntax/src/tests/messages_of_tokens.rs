//! Syntax errors as the user sees them: operators, names, numbers and indices.

use super::messages::check;

#[test]
fn operators_of_other_languages() {
    check(&[
        (
            "fn f() { C[i] := 1 }",
            "
error[E0001]: unknown operator `:=`
 --> f.fks:1:15
  |
1 | fn f() { C[i] := 1 }
  |               ^^ not an operator
  |
  = help: assign with `=`",
        ),
        (
            "fn f() { s := 1 }",
            "
error[E0001]: unknown operator `:=`
 --> f.fks:1:12
  |
1 | fn f() { s := 1 }
  |            ^^ not an operator
  |
  = help: assign with `=`",
        ),
        (
            "fn f() { let s := 1 }",
            "
error[E0001]: unknown operator `:=`
 --> f.fks:1:16
  |
1 | fn f() { let s := 1 }
  |                ^^ not an operator
  |
  = help: assign with `=`",
        ),
        (
            "fn f() { s = a && b }",
            "
error[E0001]: unknown operator `&&`
 --> f.fks:1:16
  |
1 | fn f() { s = a && b }
  |                ^^ not an operator
  |
  = help: write `and`",
        ),
        (
            "fn f() { s = a || b }",
            "
error[E0001]: unknown operator `||`
 --> f.fks:1:16
  |
1 | fn f() { s = a || b }
  |                ^^ not an operator
  |
  = help: write `or`",
        ),
        (
            "fn f() { s = sum[k | a || b] x }",
            "
error[E0001]: unknown operator `||`
 --> f.fks:1:24
  |
1 | fn f() { s = sum[k | a || b] x }
  |                        ^^ not an operator
  |
  = help: write `or`",
        ),
        (
            "fn f() { s = !a }",
            "
error[E0001]: unknown operator `!`
 --> f.fks:1:14
  |
1 | fn f() { s = !a }
  |              ^ not an operator
  |
  = help: write `not`",
        ),
        (
            "fn f() { s = a // 2 }",
            "
error[E0001]: unknown operator `//`
 --> f.fks:1:16
  |
1 | fn f() { s = a // 2 }
  |                ^^ not an operator
  |
  = help: write `/`: of integers it is the quotient rounded down, as of a remainder that is never negative",
        ),
        (
            "fn f() { s = a ** 2 }",
            "
error[E0001]: unknown operator `**`
 --> f.fks:1:16
  |
1 | fn f() { s = a ** 2 }
  |                ^^ not an operator
  |
  = help: multiply instead, `x * x`, or write `pow(x, y)`",
        ),
        (
            "fn f() // comment
{ s = 1 }",
            "
error[E0001]: `//` does not begin a comment
 --> f.fks:1:8
  |
1 | fn f() // comment
  |        ^^ not expected here
  |
  = help: comments begin with `#` and end with the line",
        ),
        (
            "fn f() { s = a => b }",
            "
error[E0001]: unknown operator `=>`
 --> f.fks:1:16
  |
1 | fn f() { s = a => b }
  |                ^^ not an operator
  |
  = help: write `>=`",
        ),
        (
            "fn f() { i++ }",
            "
error[E0001]: unknown operator `++`
 --> f.fks:1:11
  |
1 | fn f() { i++ }
  |           ^^ not an operator
  |
  = help: write `+= 1`",
        ),
        (
            "fn f() { s = c ? a : b }",
            "
error[E0001]: unknown operator `?`
 --> f.fks:1:16
  |
1 | fn f() { s = c ? a : b }
  |                ^ not an operator
  |
  = help: write `if c then a else b`",
        ),
    ]);
}

#[test]
fn characters_that_do_not_belong() {
    check(&[
        (
            "fn f() { s = a × b }",
            "
error[E0001]: the character `×` (U+00D7) does not belong to the language
 --> f.fks:1:16
  |
1 | fn f() { s = a × b }
  |                ^ not expected here
  |
  = help: write `*`",
        ),
        (
            "fn f() { s = α }",
            "
error[E0001]: the character `α` (U+03B1) does not belong to the language
 --> f.fks:1:14
  |
1 | fn f() { s = α }
  |              ^ not expected here
  |
  = help: names are made of `A`-`Z`, `a`-`z`, `0`-`9` and `_`",
        ),
        (
            r#"fn f() { s = "hi" }"#,
            r#"
error[E0001]: there are no strings
 --> f.fks:1:14
  |
1 | fn f() { s = "hi" }
  |              ^ not expected here"#,
        ),
    ]);
}

#[test]
fn index_lists() {
    check(&[
        (
            "fn f() { s = A[] }",
            "
error[E0001]: the index list is empty
 --> f.fks:1:16
  |
1 | fn f() { s = A[] }
  |                ^ expected an index
  |
  = help: a single value has no brackets: write just its name",
        ),
        (
            "fn f() { A[] = 1 }",
            "
error[E0001]: the index list is empty
 --> f.fks:1:12
  |
1 | fn f() { A[] = 1 }
  |            ^ expected an index
  |
  = help: a single value has no brackets: write just its name",
        ),
        (
            "fn f() { s = sum[] x }",
            "
error[E0001]: the index list is empty
 --> f.fks:1:18
  |
1 | fn f() { s = sum[] x }
  |                  ^ expected an index
  |
  = help: name the index to reduce over: `sum[k] …`",
        ),
        (
            "fn f(A: f64[]) { s = 1 }",
            "
error[E0001]: an array has extents
 --> f.fks:1:13
  |
1 | fn f(A: f64[]) { s = 1 }
  |             ^ expected an extent
  |
  = help: name the extents, and declare them between `<` and `>`: `fn f<N>(x: f64[N])`",
        ),
        (
            "fn f() { s = A[i][j] }",
            "
error[E0001]: one pair of brackets holds all indices
 --> f.fks:1:18
  |
1 | fn f() { s = A[i][j] }
  |                  ^ a second pair
  |
  = help: separate the indices by commas: `A[i, j]`",
        ),
        (
            "fn f() { s = a | }",
            "
error[E0001]: unexpected `}`
 --> f.fks:1:18
  |
1 | fn f() { s = a | }
  |                  ^ expected an expression",
        ),
        (
            "fn f() { s = A[i | i > 0] }",
            "
error[E0001]: unexpected `|`
 --> f.fks:1:18
  |
1 | fn f() { s = A[i | i > 0] }
  |               -  ^ expected an operator, `,` or `]`
  |               |
  |               this `[` is still open
  |
  = help: `|` begins a guard in an index list: `A[i | i > 0]`; write `or` for a choice
  = help: for the bits that either has, put the operator into parentheses: `(i | 1)`",
        ),
    ]);
}

#[test]
fn keywords_are_not_names() {
    check(&[
        (
            "fn f() { let in = 1 }",
            "
error[E0001]: `in` is a keyword and cannot be a name
 --> f.fks:1:14
  |
1 | fn f() { let in = 1 }
  |              ^^ expected a name
  |
  = help: choose another name, such as `in_`",
        ),
        (
            "fn f(for: f64) { let x = 1 }",
            "
error[E0001]: `for` is a keyword and cannot be a name
 --> f.fks:1:6
  |
1 | fn f(for: f64) { let x = 1 }
  |      ^^^ expected an argument or `)`
  |
  = help: choose another name, such as `for_`",
        ),
        (
            "fn f() { s = in + 1 }",
            "
error[E0001]: `in` is a keyword and cannot be a name
 --> f.fks:1:14
  |
1 | fn f() { s = in + 1 }
  |              ^^ expected an expression
  |
  = help: choose another name, such as `in_`",
        ),
        (
            "fn f() { s = schedule f { } }",
            "
error[E0001]: a schedule cannot stand here
 --> f.fks:1:14
  |
1 | fn f() { s = schedule f { } }
  |              ^^^^^^^^ expected an expression
  |
  = help: schedules stand outside of functions and begin a line: `schedule f { … }`",
        ),
        (
            "fn f() { s = scan A }",
            "
error[E0001]: `scan` stands in front of a reduction
 --> f.fks:1:14
  |
1 | fn f() { s = scan A }
  |              ^^^^
  |
  = help: name what is accumulated, and how far: `scan sum[k | k <= i] …`",
        ),
        (
            "fn f() { max[i] = 3 }",
            "
error[E0001]: `max` cannot be the name of an array
 --> f.fks:1:10
  |
1 | fn f() { max[i] = 3 }
  |          ^^^ `max[` begins a reduction",
        ),
        (
            "fn f() { let sum[i] = 3 }",
            "
error[E0001]: `sum` cannot be the name of an array
 --> f.fks:1:14
  |
1 | fn f() { let sum[i] = 3 }
  |              ^^^ `sum[` begins a reduction",
        ),
    ]);
}

#[test]
fn reductions_have_brackets() {
    check(&[
        (
            "fn f() { s = sum(k, A[k]) }",
            "
error[E0001]: `sum` is a reduction, not a function
 --> f.fks:1:14
  |
1 | fn f() { s = sum(k, A[k]) }
  |              ^^^ expected `[` and its indices
  |
  = help: name the index in brackets: `sum[k] A[k]`",
        ),
        (
            "fn f() { s = 1 + sum(k: 0..K) A[k] }",
            "
error[E0001]: `sum` is a reduction, not a function
 --> f.fks:1:18
  |
1 | fn f() { s = 1 + sum(k: 0..K) A[k] }
  |                  ^^^ expected `[` and its indices
  |
  = help: name the index in brackets: `sum[k] A[k]`",
        ),
        (
            "fn f() { s = sum k A[k] }",
            "
error[E0001]: `sum` is a reduction, not a function
 --> f.fks:1:14
  |
1 | fn f() { s = sum k A[k] }
  |              ^^^ expected `[` and its indices
  |
  = help: name the index in brackets: `sum[k] A[k]`",
        ),
    ]);
}

#[test]
fn numbers() {
    check(&[
        (
            "fn f() { s = .5 }",
            "
error[E0001]: `.5` is not a number
 --> f.fks:1:14
  |
1 | fn f() { s = .5 }
  |              ^^ a digit is missing
  |
  = note: the point of a number has a digit on both sides
  = help: write `0.5`",
        ),
        (
            "fn f() { s = 1. + 2 }",
            "
error[E0001]: `1.` is not a number
 --> f.fks:1:14
  |
1 | fn f() { s = 1. + 2 }
  |              ^^ a digit is missing
  |
  = note: the point of a number has a digit on both sides
  = help: write `1.0`",
        ),
        (
            "fn f() { s = 2x }",
            "
error[E0001]: `2x` is not a number
 --> f.fks:1:14
  |
1 | fn f() { s = 2x }
  |              ^^ not a number
  |
  = help: to multiply, write `2 * x`",
        ),
        (
            "fn f() { s = 1.5f }",
            "
error[E0001]: `1.5f` is not a number
 --> f.fks:1:14
  |
1 | fn f() { s = 1.5f }
  |              ^^^^ not a number
  |
  = help: numbers have no suffix; write a cast: `f32(…)`",
        ),
        (
            "fn f() { s = 0x1G }",
            "
error[E0001]: `0x1G` is not a number
 --> f.fks:1:14
  |
1 | fn f() { s = 0x1G }
  |              ^^^^ not a number
  |
  = help: numbers are written `12`, `1.5`, `1e-3`, `0xFF` or `0b101`",
        ),
        (
            "fn f() { s = 99999999999999999999 }",
            "
error[E0004]: the integer is too large
 --> f.fks:1:14
  |
1 | fn f() { s = 99999999999999999999 }
  |              ^^^^^^^^^^^^^^^^^^^^ at most 18446744073709551615 fits
  |
  = help: write a float, such as `1e30`, if that is what is meant",
        ),
        (
            "fn f() { s = 1e999 }",
            "
error[E0004]: the number is too large for `f64`
 --> f.fks:1:14
  |
1 | fn f() { s = 1e999 }
  |              ^^^^^ at most about 1.8e308 fits
  |
  = help: write `inf` for infinity",
        ),
    ]);
}
