//! Syntax errors of scripts as the user sees them.

use diag::{Style, render};

use super::script::script_source;
use crate::parse_script;

/// Pairs of a script and its rendered errors.
fn check(cases: &[(&str, &str)]) {
    for (text, expected) in cases {
        let source = script_source(text);
        let Err(errors) = parse_script(&source) else { panic!("this should not parse:\n{text}") };
        assert_eq!(format!("\n{}", render(&source, &errors, Style::Plain)), *expected);
    }
}

#[test]
fn what_could_stand_there_is_said() {
    check(&[
        (
            "schedule g { tile S0[i] 64 }",
            "
error[E0001]: unexpected `64`
 --> s.sched:1:25
  |
1 | schedule g { tile S0[i] 64 }
  |                         ^^ expected `,`, `by`, `as`, `at`, `where` or the end of the step",
        ),
        (
            "schedule g { tile 64 }",
            "
error[E0001]: unexpected `64`
 --> s.sched:1:19
  |
1 | schedule g { tile 64 }
  |                   ^^ expected a name, `by`, `as`, `at`, `where` or the end of the step",
        ),
        (
            "schedule g { 64 }",
            "
error[E0001]: unexpected `64`
 --> s.sched:1:14
  |
1 | schedule g { 64 }
  |              ^^ expected a step or `}`",
        ),
        (
            "schedule g { for i }",
            "
error[E0001]: unexpected keyword `for`
 --> s.sched:1:14
  |
1 | schedule g { for i }
  |              ^^^ expected a step or `}`",
        ),
        (
            "schedule g { fuse S0, at i }",
            "
error[E0001]: unexpected `at`
 --> s.sched:1:23
  |
1 | schedule g { fuse S0, at i }
  |                       ^^ expected a name",
        ),
        (
            "schedule g { tile S0[i] at at }",
            "
error[E0001]: unexpected `at`
 --> s.sched:1:28
  |
1 | schedule g { tile S0[i] at at }
  |                            ^^ expected a name",
        ),
        (
            "schedule g { split S0[i] where i < 5 6 }",
            "
error[E0001]: unexpected `6`
 --> s.sched:1:38
  |
1 | schedule g { split S0[i] where i < 5 6 }
  |                                      ^ expected an operator, `by`, `as`, `at`, `where` or the end of the step",
        ),
        (
            "schedule g { split S0[i] where i < }",
            "
error[E0001]: unexpected `}`
 --> s.sched:1:36
  |
1 | schedule g { split S0[i] where i < }
  |                                    ^ expected an expression",
        ),
        (
            "schedule { tile S0[i] }",
            "
error[E0001]: unexpected `{`
 --> s.sched:1:10
  |
1 | schedule { tile S0[i] }
  |          ^ expected a name",
        ),
        (
            "schedule g tile S0[i] }",
            "
error[E0001]: unexpected `tile`
 --> s.sched:1:12
  |
1 | schedule g tile S0[i] }
  |            ^^^^ expected `where` or `{`",
        ),
    ]);
}

#[test]
fn steps_and_targets_are_separated() {
    check(&[
        (
            "schedule g { parallel i j k l m }",
            "
error[E0001]: unexpected `j`
 --> s.sched:1:25
  |
1 | schedule g { parallel i j k l m }
  |                         ^ expected `,`, `by`, `as`, `at`, `where` or the end of the step
  |
  = help: separate targets by `,`, and steps by `;` or a new line",
        ),
        (
            "schedule g {
  fuse S0 S1 at i
  unroll i, by 4
}",
            "
error[E0001]: unexpected `S1`
 --> s.sched:2:11
  |
2 |   fuse S0 S1 at i
  |           ^^ expected `,`, `by`, `as`, `at`, `where` or the end of the step
  |
  = help: separate targets by `,`, and steps by `;` or a new line

error[E0001]: unexpected keyword `by`
 --> s.sched:3:13
  |
3 |   unroll i, by 4
  |             ^^ expected a name",
        ),
        (
            "schedule g { split S0[i] where i < 5 unroll i }",
            "
error[E0001]: unexpected `unroll`
 --> s.sched:1:38
  |
1 | schedule g { split S0[i] where i < 5 unroll i }
  |                                      ^^^^^^ expected the end of the step
  |
  = help: separate steps by `;` or a new line",
        ),
    ]);
}

#[test]
fn by_takes_integers() {
    check(&[
        (
            "schedule g { tile S0[i] by N }",
            "
error[E0001]: unexpected `N`
 --> s.sched:1:28
  |
1 | schedule g { tile S0[i] by N }
  |                            ^ expected an integer
  |
  = help: `by` takes integers, such as `64` or `-1`",
        ),
        (
            "schedule g { tile S0[i] by -N }",
            "
error[E0001]: unexpected `N`
 --> s.sched:1:29
  |
1 | schedule g { tile S0[i] by -N }
  |                             ^ expected an integer
  |
  = help: `by` takes integers, such as `64` or `-1`",
        ),
        (
            "schedule g { tile S0[i] by 1.5 }",
            "
error[E0001]: `1.5` is not an integer
 --> s.sched:1:28
  |
1 | schedule g { tile S0[i] by 1.5 }
  |                            ^^^ expected an integer
  |
  = help: `by` takes integers, such as `64` or `-1`",
        ),
        (
            "schedule g { tile S0[i] by 4, as it }",
            "
error[E0001]: unexpected `as`
 --> s.sched:1:31
  |
1 | schedule g { tile S0[i] by 4, as it }
  |                               ^^ expected an integer
  |
  = help: `by` takes integers, such as `64` or `-1`",
        ),
        (
            "schedule g { tile S0[i] by 9223372036854775808 }",
            "
error[E0004]: the integer is too large
 --> s.sched:1:28
  |
1 | schedule g { tile S0[i] by 9223372036854775808 }
  |                            ^^^^^^^^^^^^^^^^^^^ at most 9223372036854775807 fits",
        ),
        (
            "schedule g { tile S0[i] by -9223372036854775809 }",
            "
error[E0004]: the integer is too small
 --> s.sched:1:28
  |
1 | schedule g { tile S0[i] by -9223372036854775809 }
  |                            ^^^^^^^^^^^^^^^^^^^^ at least -9223372036854775808 fits",
        ),
    ]);
}

#[test]
fn lists_have_their_brackets() {
    check(&[
        (
            "schedule g { tile S0[i] as it, jt }",
            "
error[E0001]: unexpected `,`
 --> s.sched:1:30
  |
1 | schedule g { tile S0[i] as it, jt }
  |                              ^ expected `by`, `as`, `at`, `where` or the end of the step
  |
  = help: several names stand in parentheses: `as (it, jt)`",
        ),
        (
            "schedule g { tile S0(i, j) }",
            "
error[E0001]: unexpected `(`
 --> s.sched:1:21
  |
1 | schedule g { tile S0(i, j) }
  |                     ^ expected `,`, `by`, `as`, `at`, `where` or the end of the step
  |
  = help: loops stand in brackets: `S0[i, j]`",
        ),
        (
            "schedule g { tile(S0, i, 4) }",
            "
error[E0001]: unexpected `(`
 --> s.sched:1:18
  |
1 | schedule g { tile(S0, i, 4) }
  |                  ^ expected a name, `by`, `as`, `at`, `where` or the end of the step
  |
  = help: targets follow the verb: `tile S0[i, j] by 8, 8`",
        ),
        (
            "schedule g { tile S0[] }",
            "
error[E0001]: the index list is empty
 --> s.sched:1:22
  |
1 | schedule g { tile S0[] }
  |                      ^ expected an index
  |
  = help: a single value has no brackets: write just its name",
        ),
        (
            "schedule g { tile S0[i+1] }",
            "
error[E0001]: unexpected `+`
 --> s.sched:1:23
  |
1 | schedule g { tile S0[i+1] }
  |                     - ^ expected `,` or `]`
  |                     |
  |                     this `[` is still open",
        ),
        (
            "schedule g { split S0[i] where i < 5, j < 3 }",
            "
error[E0001]: unexpected `,`
 --> s.sched:1:37
  |
1 | schedule g { split S0[i] where i < 5, j < 3 }
  |                                     ^ expected an operator, `by`, `as`, `at`, `where` or the end of the step
  |
  = help: join conditions by `and`",
        ),
    ]);
}

#[test]
fn maps_have_their_form() {
    check(&[
        (
            "schedule g { map S0[i] -> [i] }",
            "
error[E0001]: unexpected `->`
 --> s.sched:1:24
  |
1 | schedule g { map S0[i] -> [i] }
  |                        ^^ expected `,`, `by`, `as`, `at`, `where` or the end of the step
  |
  = help: maps stand in braces: `map { S0[i] -> [i] }`",
        ),
        (
            "schedule g { map { S0[i] => [i] } }",
            "
error[E0001]: unexpected `=>`
 --> s.sched:1:26
  |
1 | schedule g { map { S0[i] => [i] } }
  |                          ^^ expected `->`
  |
  = help: a map is written `S0[i, j] -> [j, i]`",
        ),
        (
            "schedule g { map { S0[i] -> i } }",
            "
error[E0001]: unexpected `i`
 --> s.sched:1:29
  |
1 | schedule g { map { S0[i] -> i } }
  |                             ^ expected `[`
  |
  = help: the new loops stand in brackets: `-> [i + j, j]`",
        ),
        (
            "schedule g { map { S0[i] -> [i], S1[i] -> [i] } }",
            "
error[E0001]: unexpected `,`
 --> s.sched:1:32
  |
1 | schedule g { map { S0[i] -> [i], S1[i] -> [i] } }
  |                                ^ expected `;` or `}`
  |
  = help: separate maps by `;` or a new line",
        ),
        (
            "schedule g { map { S0[i] -> [i] S1[i] -> [i] } }",
            "
error[E0001]: unexpected `S1`
 --> s.sched:1:33
  |
1 | schedule g { map { S0[i] -> [i] S1[i] -> [i] } }
  |                                 ^^ expected `;` or `}`
  |
  = help: separate maps by `;` or a new line",
        ),
        (
            "schedule g { map { } }",
            "
error[E0001]: unexpected `}`
 --> s.sched:1:20
  |
1 | schedule g { map { } }
  |                    ^ expected a name
  |
  = help: leave out the braces, or write a map: `{ S0[i] -> [i] }`",
        ),
    ]);
}

#[test]
fn a_clause_comes_once() {
    check(&[
        (
            "schedule g { tile S0[i] by 1 as x by 2 }",
            "
error[E0001]: a second `by` in one step
 --> s.sched:1:35
  |
1 | schedule g { tile S0[i] by 1 as x by 2 }
  |                         --        ^^ again here
  |                         |
  |                         first here
  |
  = help: list all integers in one: `by 64, 64`",
        ),
        (
            "schedule g { split S0[i] where i < 5 where i > 2 }",
            "
error[E0001]: a second `where` in one step
 --> s.sched:1:38
  |
1 | schedule g { split S0[i] where i < 5 where i > 2 }
  |                          -----       ^^^^^ again here
  |                          |
  |                          first here
  |
  = help: join the conditions by `and`",
        ),
        (
            "schedule g { map { S0 -> [0] } { S1 -> [1] } }",
            "
error[E0001]: a second map in one step
 --> s.sched:1:32
  |
1 | schedule g { map { S0 -> [0] } { S1 -> [1] } }
  |                  - first here  ^ again here
  |
  = help: write all maps in one pair of braces, separated by `;`",
        ),
    ]);
}

#[test]
fn brackets_that_do_not_match() {
    check(&[
        (
            "schedule a {
  parallel i; unroll j by 2
",
            "
error[E0001]: unclosed `{`
 --> s.sched:1:12
  |
1 | schedule a {
  |            ^ never closed
2 |   parallel i; unroll j by 2
  |                            - the file ends here",
        ),
        (
            "schedule a { tile S0[i",
            "
error[E0001]: unclosed `[`
 --> s.sched:1:21
  |
1 | schedule a { tile S0[i
  |                     ^ - the file ends here
  |                     |
  |                     never closed",
        ),
        (
            "schedule a {
  parallel i

schedule b {}",
            "
error[E0001]: unclosed `{`
 --> s.sched:1:12
  |
1 | schedule a {
  |            ^ never closed
...
4 | schedule b {}
  | -------- a new schedule begins here",
        ),
        (
            "schedule a { tile S0[i] by 4 }}",
            "
error[E0001]: unexpected `}`
 --> s.sched:1:31
  |
1 | schedule a { tile S0[i] by 4 }}
  |                               ^ closes nothing",
        ),
    ]);
}

#[test]
fn what_does_not_belong_into_a_script() {
    check(&[
        (
            "tile S0[i]",
            "
error[E0001]: unexpected `tile`
 --> s.sched:1:1
  |
1 | tile S0[i]
  | ^^^^ expected a schedule
  |
  = help: steps stand in a schedule: `schedule name { … }`, with the name of a function",
        ),
        (
            "fn f() {}",
            "
error[E0001]: unexpected keyword `fn`
 --> s.sched:1:1
  |
1 | fn f() {}
  | ^^ expected a schedule",
        ),
        (
            "schedule g { tile schedule }",
            "
error[E0001]: unexpected keyword `schedule`
 --> s.sched:1:19
  |
1 | schedule g { tile schedule }
  |                   ^^^^^^^^ expected a name, `by`, `as`, `at`, `where` or the end of the step",
        ),
        (
            "schedule g { split S0[i] where i < 5 && i > 2 }",
            "
error[E0001]: unknown operator `&&`
 --> s.sched:1:38
  |
1 | schedule g { split S0[i] where i < 5 && i > 2 }
  |                                      ^^ not an operator
  |
  = help: write `and`",
        ),
        (
            "schedule g { tile S0[µ] }",
            "
error[E0001]: the character `µ` (U+00B5) does not belong to the language
 --> s.sched:1:22
  |
1 | schedule g { tile S0[µ] }
  |                      ^ not expected here
  |
  = help: names are made of `A`-`Z`, `a`-`z`, `0`-`9` and `_`",
        ),
        (
            "schedule g { tile S0[i] // c
}",
            "
error[E0001]: `//` does not begin a comment
 --> s.sched:1:25
  |
1 | schedule g { tile S0[i] // c
  |                         ^^ not expected here
  |
  = help: comments begin with `#` and end with the line",
        ),
        (
            "schedule g { split S0[i] where if a then b }",
            "
error[E0001]: `if` without `else`
 --> s.sched:1:44
  |
1 | schedule g { split S0[i] where if a then b }
  |                                            ^ found `}` where `else` could be
  |
  = help: `if` is an expression with both branches: `if c then a else b`",
        ),
    ]);
}

#[test]
fn every_broken_step_is_reported() {
    check(&[(
        "schedule a {
  tile S0[i
    j] by 4
  unroll i by 99999999999999999999
  shift S1[i] by -
  parallel +
  map {
    S0[i] -> [i +]
    S1[i] -> [i]
  }
  pack B at kt
  split S0[i] where i <
}
schedule b {
  fuse S0 at
  ; skew ] by 2 ; pack B at k
  vectorize j by x

schedule c { tile S0[i, for] } junk
schedule d { ok x }",
        "
error[E0001]: unexpected `j`
 --> s.sched:3:5
  |
2 |   tile S0[i
  |          - this `[` is still open
3 |     j] by 4
  |     ^ expected `,` or `]`

error[E0004]: the integer is too large
 --> s.sched:4:15
  |
4 |   unroll i by 99999999999999999999
  |               ^^^^^^^^^^^^^^^^^^^^ at most 9223372036854775807 fits

error[E0001]: unexpected `parallel`
 --> s.sched:6:3
  |
6 |   parallel +
  |   ^^^^^^^^ expected an integer
  |
  = help: `by` takes integers, such as `64` or `-1`

error[E0001]: unexpected `+`
 --> s.sched:6:12
  |
6 |   parallel +
  |            ^ expected a name, `by`, `as`, `at`, `where` or the end of the step

error[E0001]: unexpected `]`
 --> s.sched:8:18
  |
8 |     S0[i] -> [i +]
  |                  ^ expected an expression

error[E0001]: unexpected `}`
  --> s.sched:13:1
   |
13 | }
   | ^ expected an expression

error[E0001]: unexpected `;`
  --> s.sched:16:3
   |
16 |   ; skew ] by 2 ; pack B at k
   |   ^ expected a name

error[E0001]: unexpected `]`
  --> s.sched:16:10
   |
16 |   ; skew ] by 2 ; pack B at k
   |          ^ expected a name, `by`, `as`, `at`, `where` or the end of the step

error[E0001]: unexpected `x`
  --> s.sched:17:18
   |
17 |   vectorize j by x
   |                  ^ expected an integer
   |
   = help: `by` takes integers, such as `64` or `-1`

error[E0001]: unexpected keyword `for`
  --> s.sched:19:25
   |
19 | schedule c { tile S0[i, for] } junk
   |                     -   ^^^ expected a name or `]`
   |                     |
   |                     this `[` is still open

error[E0001]: unexpected `junk`
  --> s.sched:19:32
   |
19 | schedule c { tile S0[i, for] } junk
   |                                ^^^^ expected a schedule
   |
   = help: steps stand in a schedule: `schedule name { … }`, with the name of a function",
    )]);
}
