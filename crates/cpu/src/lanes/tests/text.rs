//! What the reader and the verifier refuse, and in which words.

use crate::lanes::{parse, verify};

/// A program with these lines as its body.
fn program(body: &str) -> String {
    format!("lanes 8 \"test\" slots 2 {{\n{body}\n}}\n")
}

fn refused(body: &str) -> String {
    match parse(&program(body)) {
        Err(error) => error.to_string(),
        Ok(program) => match verify(program) {
            Err(error) => error.to_string(),
            Ok(_) => String::new(),
        },
    }
}

#[test]
fn a_sum_reads_back_as_it_was_written() {
    let text = program(
        "    v0: word = arg 0
    v1: f32 = splat -0.0
    v2: word = const 3
    loop v2 {
        carry v3: word = v0, v7 -> v8
        carry v4: f32 = v1, v6 -> v9
        v5: f32 = load [v3 + 0]
        v6: f32 = add v4, v5
        v7: word = word.add v3, v2
    }
    v10: f32 = reduce.add v9
    store v10, [v0 + 4] same",
    );
    let read = parse(&text).expect("the text is right");
    assert_eq!(read.to_string(), text);
    verify(read).expect("the program is right");
}

#[test]
fn mistakes_are_named() {
    let cases = [
        ("v0: f32 = splat 1.0\nv0: f32 = splat 1.0", "line 3: v0 is defined twice"),
        ("v0: bool = iota", "line 2: `bool` is no type of lanes"),
        ("v0: f32 = frobnicate v1", "line 2: `frobnicate` is no operation"),
        ("v1: word = const 1", "line 3: v0 is never defined"),
        ("v0: word = arg 2", "there is no slot 2"),
        ("v0: f32 = splat 1.0\nv1: i32 = splat 1\nv2: f32 = add v0, v1", "v1 is i32, not f32"),
        ("v0: f32 = splat 1.0\nv1: f32 = and v0, v0", "and of f32"),
        ("v0: i8 = iota\nv1: i8 = shl v0, 1", "a shift of i8"),
        ("v0: word = const 1\nv1: word = arg 0\nv2: word = word.shl v0, v1", "no constant to shift by"),
        ("v0: word = arg 0\nv1: f32 = load [v0 + v0 * 3 + 0]", "scale 3"),
        (
            "v0: word = arg 0\nloop v0 {\nv1: f32 = splat 1.0\n}\nstore v1, [v0 + 0]",
            "v1 is used where it is not defined",
        ),
        ("v0: f32 = splat 1.0\nv1: mask = prefix v0", "v0 is f32, not word"),
    ];
    for (body, expected) in cases {
        let message = refused(body);
        assert!(message.contains(expected), "{message:?} instead of {expected:?} for\n{body}");
    }
    assert!(verify(parse("lanes 3 \"odd\" slots 0 {\n}\n").expect("it reads")).is_err());
}
