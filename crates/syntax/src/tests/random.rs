//! Random programs and random noise.

use proptest::prelude::*;

use super::{source, tree_of};
use crate::{format, parse};

const SOUP: [&str; 75] = [
    "rank",
    "reduce",
    "take",
    "(reduce 1 +)",
    "fn",
    "let",
    "for",
    "in",
    "by",
    "rev",
    "where",
    "inout",
    "if",
    "then",
    "else",
    "and",
    "or",
    "not",
    "true",
    "sum",
    "min",
    "max",
    "any",
    "argmin",
    "scan",
    "f64",
    "x",
    "A",
    "N",
    "0",
    "1",
    "1.5",
    "1e9",
    ".5",
    "2x",
    "99999999999999999999",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    "<",
    ">",
    ",",
    ";",
    ":",
    ":=",
    "=",
    "==",
    "!=",
    "<=",
    "->",
    "..",
    "..=",
    "+",
    "-",
    "*",
    "**",
    "&",
    "^",
    "<<",
    ">>",
    "~",
    "0xF",
    "/",
    "%",
    "|",
    "||",
    "&&",
    "!",
    "+=",
    "min=",
    "# c\n",
    "µ",
];

/// White space between tokens: mostly a space, sometimes a newline or a comment.
fn gap() -> impl Strategy<Value = String> {
    prop_oneof![
        12 => Just(" ".to_owned()),
        2 => Just("\n".to_owned()),
        1 => Just("\n\n\n".to_owned()),
        1 => "[a-z ]{0,8}".prop_map(|words| format!(" # {words}\n")),
        1 => "[a-z ]{0,8}".prop_map(|words| format!("\n\n  # {words}\n")),
    ]
}

fn expr() -> impl Strategy<Value = Vec<String>> {
    let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
    let leaf = prop_oneof![
        "[a-e][a-z]{0,30}_".prop_map(|name| vec![name]),
        (0..1000_i32).prop_map(|value| vec![value.to_string()]),
        Just(vec!["1_0.5e-3".to_owned()]),
        Just(vec!["true".to_owned()]),
    ];
    leaf.prop_recursive(5, 40, 3, move |inner| {
        let two = (inner.clone(), inner.clone());
        let three = (inner.clone(), inner.clone(), inner.clone());
        let infix = prop::sample::select(vec![
            "+",
            "-",
            "*",
            "/",
            "%",
            "and",
            "or",
            "=",
            "==",
            "<",
            ">=",
            "&",
            "^",
            "<<",
            ">>",
            "( + rank 1 0 )",
            "( f rank 1 )",
            "( ( = rank 1 1 ) rank 1 - 2 )",
        ]);
        let prefix = prop::sample::select(vec![
            "-",
            "~",
            "not",
            "sum [ k ]",
            "max [ k , l : 0 .. 4 , ]",
            "( reduce 2 and )",
            "( oblique + )",
            "( ( reduce 1 * ) rank 2 )",
            "( take N - 1 rank - 1 )",
            "( transpose 1 0 )",
        ]);
        let bracket = prop::sample::select(vec![("f (", ")"), ("A [", "]"), ("(", ")")]);
        prop_oneof![
            (two.clone(), infix).prop_map(move |((a, b), op)| [a, words(op), b].concat()),
            (inner.clone(), prefix).prop_map(move |(a, op)| [words(op), a].concat()),
            (inner.clone(), bracket).prop_map(move |(a, (open, close))| [words(open), a, words(close)].concat()),
            three
                .clone()
                .prop_map(move |(a, b, c)| [words("f ("), a, words(","), b, words(","), c, words(", )")].concat()),
            three.prop_map(move |(a, b, c)| [words("if"), a, words("then"), b, words("else"), c].concat()),
            two.prop_map(move |(a, b)| [words("sum [ k |"), a, words("]"), b].concat()),
        ]
    })
}

fn stmt() -> impl Strategy<Value = Vec<String>> {
    let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
    let leaf = prop_oneof![
        expr().prop_map(move |e| [words("let x ="), e].concat()),
        (expr(), expr()).prop_map(move |(g, e)| [words("S : C [ i , j : 0 .. N |"), g, words("] +="), e].concat()),
        expr().prop_map(move |e| [words("let t : f64 ["), e, words(", ] ;")].concat()),
        (expr(), expr()).prop_map(move |(i, e)| [words("C ["), i, words("] max="), e].concat()),
        (expr(), expr()).prop_map(move |(a, b)| [words("L : g ("), a, words(","), b, words(", )")].concat()),
        expr().prop_map(move |e| [words("let ( p , q , ) = g ("), e, words(")")].concat()),
    ];
    leaf.prop_recursive(3, 8, 3, move |inner| {
        (expr(), expr(), prop::collection::vec(inner, 0..4)).prop_map(move |(lo, hi, body)| {
            [words("for i in"), lo, words(".."), hi, words("by 2 rev {"), body.concat(), words("}")].concat()
        })
    })
}

fn program() -> impl Strategy<Value = String> {
    let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
    let function =
        (prop::collection::vec(stmt(), 0..4), expr(), any::<bool>()).prop_map(move |(body, context, long)| {
            let args =
                if long { "A : f64 [ N , M ] , inout a_rather_long_name_of_an_array : f64 [ N , M ] , " } else { "" };
            let head = format!("fn f < N , > ( {args}B : f64 ) -> ( y : f32 ) where");
            [words(&head), context, words(", {"), body.concat(), words("}")].concat()
        });
    let constant = prop_oneof![
        expr().prop_map(move |e| [words("const A ="), e, words(";")].concat()),
        (expr(), expr())
            .prop_map(move |(a, b)| { [words("const A : f64 [ 2 ] = ["), a, words(","), b, words(", ]")].concat() }),
        (expr(), expr()).prop_map(move |(a, b)| [words("const A = [ ["), a, words("] , ["), b, words("] ]")].concat()),
    ];
    let item = prop_oneof![2 => function, 1 => constant];
    prop::collection::vec(item, 0..4).prop_map(|items| items.concat()).prop_flat_map(|tokens| {
        let gaps = prop::collection::vec(gap(), tokens.len() + 1);
        (Just(tokens), gaps).prop_map(|(tokens, gaps)| {
            let pieces = tokens.iter().zip(&gaps[1..]).map(|(token, gap)| format!("{token}{gap}"));
            format!("{}{}", gaps[0], pieces.collect::<String>())
        })
    })
}

/// The comments of a text, each without trailing white space.
fn comments_of(text: &str) -> Vec<String> {
    let comments = text.lines().filter_map(|line| line.find('#').map(|at| line[at..].trim_end().to_owned()));
    comments.collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn token_soup_never_panics(picks in prop::collection::vec(0..SOUP.len(), 0..60), framed: bool) {
        let soup = picks.iter().map(|&pick| SOUP[pick]).collect::<Vec<_>>().join(" ");
        let text = if framed { format!("fn f() {{ s = {soup} }}") } else { soup };
        if parse(&source(&text)).is_ok() {
            let formatted = format(&source(&text)).unwrap();
            prop_assert_eq!(tree_of(&formatted), tree_of(&text));
        } else {
            super::errors_of(&text);
        }
    }

    #[test]
    fn any_text_never_panics(text in any::<String>()) {
        if parse(&source(&text)).is_err() {
            super::errors_of(&text);
        }
    }

    #[test]
    fn formatting_keeps_the_tree_and_the_comments_and_is_stable(text in program()) {
        let formatted = format(&source(&text)).unwrap();
        prop_assert_eq!(tree_of(&formatted), tree_of(&text));
        prop_assert_eq!(comments_of(&formatted), comments_of(&text));
        prop_assert_eq!(format(&source(&formatted)).unwrap(), formatted);
    }
}
