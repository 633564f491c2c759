//! What the command line says about data: `-D N=4`, `--in A=rand:1`, `--out C=@c.npy`.
//!
//! In: words of the command line.  Out: what they mean, before any file is touched.

use std::path::PathBuf;

use crate::data::literal::Literal;

/// What stands before and after the `=`.
#[derive(Clone, Debug)]
pub(crate) struct Named<T> {
    pub(crate) name: String,
    pub(crate) value: T,
}

/// Where the elements of an array come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    File(PathBuf),
    Random(u64),
    Iota,
    Zeros,
    Ones,
    Literal(Literal),
}

pub(crate) const ORIGINS: &str = "@FILE.npy, rand:SEED, iota, zeros, ones, a number, or a list such as [[1,2],[3,4]]";

/// `N=512`
pub(crate) fn parse_size(text: &str) -> Result<Named<i64>, String> {
    let (name, value) = split(text, "N=512")?;
    let value: i64 = value.parse().map_err(|_| format!("the size `{value}` is not an integer"))?;
    if value < 0 {
        return Err(format!("sizes are never negative, and {value} is"));
    }
    Ok(Named { name, value })
}

/// `A=rand:1`
pub(crate) fn parse_origin(text: &str) -> Result<Named<Origin>, String> {
    let (name, value) = split(text, "A=rand:1")?;
    let value = match value {
        "iota" => Origin::Iota,
        "zeros" => Origin::Zeros,
        "ones" => Origin::Ones,
        _ => {
            if let Some(path) = value.strip_prefix('@') {
                Origin::File(file(path)?)
            } else if let Some(seed) = value.strip_prefix("rand:") {
                let seed = seed.parse().map_err(|_| format!("the seed `{seed}` is not an integer from 0 to 2^64-1"))?;
                Origin::Random(seed)
            } else if value == "rand" {
                return Err(format!("a seed is missing; write {name}=rand:1"));
            } else if value.ends_with(".npy") {
                return Err(format!("a file is marked by `@`; write {name}=@{value}"));
            } else {
                Origin::Literal(Literal::parse(value).map_err(|why| format!("{why}; expected {ORIGINS}"))?)
            }
        }
    };
    Ok(Named { name, value })
}

/// `C=@c.npy`
pub(crate) fn parse_target(text: &str) -> Result<Named<PathBuf>, String> {
    let (name, value) = split(text, "C=@c.npy")?;
    match value.strip_prefix('@') {
        Some(path) => Ok(Named { value: file(path)?, name }),
        None => Err(format!("a file is marked by `@`; write {name}=@{value}")),
    }
}

fn split<'a>(text: &'a str, example: &str) -> Result<(String, &'a str), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.trim().is_empty() => Ok((name.trim().to_string(), value.trim())),
        _ => Err(format!("expected NAME=VALUE, such as {example}")),
    }
}

fn file(path: &str) -> Result<PathBuf, String> {
    if path.is_empty() { Err("the name of a file is missing after `@`".to_string()) } else { Ok(PathBuf::from(path)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn origins_are_told_apart() {
        let origin = |text: &str| parse_origin(text).expect("an origin").value;
        assert_eq!(origin("A=@dir/a=b.npy"), Origin::File("dir/a=b.npy".into()));
        assert_eq!(origin("A=rand:18446744073709551615"), Origin::Random(u64::MAX));
        assert_eq!(origin("A=iota"), Origin::Iota);
        assert!(matches!(origin("A=-1.5"), Origin::Literal(_)));
        for text in ["A", "=1", "A=", "A=@", "A=rand", "A=rand:x", "A=rand:-1", "A=a.npy", "A=what"] {
            assert!(parse_origin(text).is_err(), "{text}");
        }
    }
}
