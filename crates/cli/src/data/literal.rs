//! Literals on the command line: `1.5`, `[1, 2, 3]`, `[[1, 2], [3, 4]]`.
//!
//! In: text.  Out: words and their shape; what the words mean is known only with the type of the argument.

use farkas::{Data, ScalarType, Value};

use crate::data::HostArray;

/// As many dimensions as an array may have.
const MAX_RANK: usize = 16;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Literal {
    pub(crate) shape: Vec<usize>,
    words: Vec<String>,
}

impl Literal {
    pub(crate) fn parse(text: &str) -> Result<Literal, String> {
        let mut rest = text.trim();
        let mut words = Vec::new();
        let shape = parse_item(&mut rest, 0, &mut words)?;
        if !rest.trim().is_empty() {
            return Err(format!("there is more after the end: `{}`", rest.trim()));
        }
        Ok(Literal { shape, words })
    }

    /// The elements in a type, or the first word that is none of its values.
    pub(crate) fn to_array(&self, ty: ScalarType) -> Result<HostArray, String> {
        let mut data = Data::zeros(ty, self.words.len()).ok_or("there is not enough memory")?;
        for (position, word) in self.words.iter().enumerate() {
            data.set(position, value(ty, word)?);
        }
        Ok(HostArray::new(data, 0, self.shape.clone()))
    }

    /// The value of a literal without brackets.
    pub(crate) fn to_value(&self, ty: ScalarType) -> Result<Value, String> {
        match self.words.as_slice() {
            [word] if self.shape.is_empty() => value(ty, word),
            _ => Err("one value is needed, not a list".to_string()),
        }
    }
}

/// A word or a list; the shape of what was read.
fn parse_item(rest: &mut &str, depth: usize, words: &mut Vec<String>) -> Result<Vec<usize>, String> {
    *rest = rest.trim_start();
    match rest.strip_prefix('[') {
        Some(_) if depth == MAX_RANK => Err(format!("lists are nested more than {MAX_RANK} deep")),
        Some(inside) => {
            *rest = inside;
            parse_list(rest, depth + 1, words)
        }
        None => {
            let end = rest.find([',', '[', ']']).unwrap_or(rest.len());
            let (word, after) = rest.split_at(end);
            *rest = after;
            let word = word.trim();
            if !is_word(word) {
                return Err(match word {
                    "" => "a value is missing".to_string(),
                    word => format!("`{word}` is not a number"),
                });
            }
            words.push(word.to_string());
            Ok(Vec::new())
        }
    }
}

/// The rest of a list, after its opening bracket.
fn parse_list(rest: &mut &str, depth: usize, words: &mut Vec<String>) -> Result<Vec<usize>, String> {
    let mut len = 0;
    let mut of_items: Option<Vec<usize>> = None;
    loop {
        *rest = rest.trim_start();
        if let Some(after) = rest.strip_prefix(']') {
            *rest = after;
            let mut shape = vec![len];
            shape.extend(of_items.unwrap_or_default());
            return Ok(shape);
        }
        if len > 0 {
            *rest = rest.strip_prefix(',').ok_or("a `,` or `]` is missing")?;
        }
        let shape = parse_item(rest, depth, words)?;
        match &of_items {
            Some(known) if *known != shape => return Err("the items of a list differ in length or depth".to_string()),
            _ => of_items = Some(shape),
        }
        len += 1;
    }
}

fn is_word(word: &str) -> bool {
    let unsigned = word.trim_start_matches(['+', '-']);
    unsigned.starts_with(|c: char| c.is_ascii_digit() || c == '.')
        || ["nan", "inf", "true", "false"].contains(&unsigned.to_ascii_lowercase().as_str())
}

fn value(ty: ScalarType, word: &str) -> Result<Value, String> {
    let lower = word.to_ascii_lowercase();
    let number = match lower.as_str() {
        "1" if ty == ScalarType::Bool => "true",
        "0" if ty == ScalarType::Bool => "false",
        number => number,
    };
    Value::parse(ty, number).ok_or_else(|| format!("`{word}` is not a value of type {ty}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_come_from_the_brackets() {
        let shape = |text: &str| Literal::parse(text).expect("a literal").shape;
        assert_eq!(shape("1.5"), [0; 0]);
        assert_eq!(shape("[]"), [0]);
        assert_eq!(shape("[[],[]]"), [2, 0]);
        assert_eq!(shape(" [ [1, -2 ,3],[nan,inf,-inf] ] "), [2, 3]);
    }

    #[test]
    fn malformed_literals_are_refused() {
        for text in ["", "[", "[1", "[1,", "[1,]", "[1]]", "[[1],2]", "[[1],[2,3]]", "x", "1 2,3", "[1][2]"] {
            assert!(Literal::parse(text).is_err(), "{text}");
        }
        assert!(Literal::parse(&"[".repeat(100_000)).is_err());
    }

    #[test]
    fn values_must_fit_their_type() {
        let convert = |text: &str, ty| Literal::parse(text).and_then(|literal| literal.to_array(ty));
        assert!(convert("[255]", ScalarType::U8).is_ok());
        assert!(convert("[256]", ScalarType::U8).is_err());
        assert!(convert("[1.5]", ScalarType::I32).is_err());
        assert!(convert("[1, 2]", ScalarType::F32).is_ok());
        assert!(convert("[true, 0]", ScalarType::Bool).is_ok());
        assert!(convert("[2]", ScalarType::Bool).is_err());
    }
}
