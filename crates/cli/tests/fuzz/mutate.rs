//! Changes to inputs: bytes, words, lines, numbers, and pieces of other inputs.

use crate::corpus::Corpus;
use crate::dice::Dice;

const WORDS: [&str; 48] = [
    "fn",
    "for",
    "in",
    "let",
    "where",
    "if",
    "then",
    "else",
    "sum",
    "max",
    "argmin",
    "any",
    "inout",
    "f64",
    "i64",
    "bool",
    "schedule",
    "tile",
    "parallel",
    "fuse",
    "skew",
    "rfactor",
    "pack",
    "layout",
    "compute_at",
    "detach",
    "at",
    "by",
    "as",
    "+",
    "-",
    "*",
    "/",
    "%",
    "<",
    "<=",
    "=",
    "..",
    "|",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    ",",
    ":",
    "#",
];

const NUMBERS: [&str; 16] = [
    "0",
    "1",
    "-1",
    "2",
    "3",
    "7",
    "2147483648",
    "9223372036854775807",
    "9223372036854775808",
    "9223372036854775806",
    "-9223372036854775808",
    "-9223372036854775807",
    "4611686018427387904",
    "18446744073709551616",
    "1e400",
    "1234567",
];

/// One to four changes to a text.
pub(crate) fn text(dice: &mut Dice, text: &mut Vec<u8>, corpus: &Corpus) {
    for _ in 0..*dice.among(&[1, 1, 2, 4]) {
        match dice.roll(12) {
            0 => bytes(dice, text),
            1 => {
                let word = *dice.among(&WORDS);
                insert(dice, text, word.as_bytes());
            }
            2..=4 => {
                let number = *dice.among(&NUMBERS);
                replace_word(dice, text, |word| word.iter().all(u8::is_ascii_digit), number);
            }
            5..=7 => {
                // One name for another: the same names come up everywhere.
                let name = *dice.among(&["i", "j", "k", "N", "M", "A", "B", "x", "S0", "S1", "t"]);
                replace_word(dice, text, |word| word.iter().all(u8::is_ascii_alphanumeric), name);
            }
            8 | 9 => lines(dice, text),
            10 => {
                let other = &dice.among(&corpus.cases).program;
                let other: Vec<&str> = other.lines().collect();
                if !other.is_empty() {
                    let line = format!("\n{}\n", other[dice.roll(other.len())]);
                    insert(dice, text, line.as_bytes());
                }
            }
            _ => {
                // Many of the same.
                let (start, end) = span(dice, text);
                let piece = text[start..end].to_vec();
                let times = *dice.among(&[2, 3, 20, 300]);
                if piece.len() * times < 100_000 {
                    insert(dice, text, &piece.repeat(times));
                }
            }
        }
    }
}

/// Flipped, lost, doubled or odd bytes.
pub(crate) fn bytes(dice: &mut Dice, text: &mut Vec<u8>) {
    if text.is_empty() {
        return;
    }
    let at = dice.roll(text.len());
    match dice.roll(4) {
        0 => text[at] ^= 1 << dice.roll(8),
        1 => _ = text.remove(at),
        2 => text.truncate(at),
        _ => text.insert(at, *dice.among(&[0, 9, 10, 32, 34, 0x7f, 0xc3, 0xff])),
    }
}

fn insert(dice: &mut Dice, text: &mut Vec<u8>, piece: &[u8]) {
    let at = dice.roll(text.len() + 1);
    let spaced = [b" ", piece, b" "].concat();
    text.splice(at..at, spaced);
}

fn span(dice: &mut Dice, text: &[u8]) -> (usize, usize) {
    let start = dice.roll(text.len() + 1);
    let length = dice.roll(60).min(text.len() - start);
    (start, start + length)
}

fn replace_word(dice: &mut Dice, text: &mut Vec<u8>, fits: impl Fn(&[u8]) -> bool, with: &str) {
    let is_word = |byte: u8| byte.is_ascii_alphanumeric();
    let mut words = Vec::new();
    let mut at = 0;
    while at < text.len() {
        let end = text[at..].iter().position(|byte| !is_word(*byte)).map_or(text.len(), |length| at + length);
        if end > at && fits(&text[at..end]) {
            words.push((at, end));
        }
        at = end.max(at) + 1;
    }
    if !words.is_empty() {
        let (start, end) = words[dice.roll(words.len())];
        text.splice(start..end, with.bytes());
    }
}

fn lines(dice: &mut Dice, text: &mut Vec<u8>) {
    let mut lines: Vec<Vec<u8>> = text.split(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
    let (a, b) = (dice.roll(lines.len()), dice.roll(lines.len()));
    match dice.roll(3) {
        0 => lines.swap(a, b),
        1 => _ = lines.remove(a),
        _ => lines.insert(b, lines[a].clone()),
    }
    *text = lines.join(&b'\n');
}
