//! A stored text with what it is for and a hash, so that anything that happened to it shows.

use std::fmt;

use super::Key;

/// The first line; another number for another form.
const HEADER: &str = concat!("farkas ", env!("CARGO_PKG_VERSION"), " stored 1");

/// Why what was stored is not used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unusable {
    /// Of another version, or no file of ours.
    Foreign,
    /// It says that it is for something else.
    OtherKey,
    /// It is not what was written.
    Damaged,
}

impl fmt::Display for Unusable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Unusable::Foreign => "it is not of this version of Farkas",
            Unusable::OtherKey => "it is for something else",
            Unusable::Damaged => "it is damaged",
        })
    }
}

fn digest(key: &Key, text: &str) -> blake3::Hash {
    let mut hasher = blake3::Hasher::new();
    hasher.update(HEADER.as_bytes()).update(key.bytes()).update(text.as_bytes());
    hasher.finalize()
}

/// The text as it is stored.
pub(crate) fn seal(key: &Key, text: &str) -> Vec<u8> {
    format!("{HEADER}\n{key}\n{}\n{text}", digest(key, text).to_hex()).into_bytes()
}

/// The text that was stored under the key.
pub(crate) fn open<'a>(key: &Key, stored: &'a [u8]) -> Result<&'a str, Unusable> {
    let stored = std::str::from_utf8(stored).map_err(|_| Unusable::Damaged)?;
    let rest = stored.strip_prefix(HEADER).and_then(|rest| rest.strip_prefix('\n')).ok_or(Unusable::Foreign)?;
    let (named, rest) = rest.split_once('\n').ok_or(Unusable::Damaged)?;
    if named != key.to_string() {
        return Err(Unusable::OtherKey);
    }
    let (hash, text) = rest.split_once('\n').ok_or(Unusable::Damaged)?;
    if hash == digest(key, text).to_hex().as_str() { Ok(text) } else { Err(Unusable::Damaged) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_sealed_is_opened_and_nothing_else() {
        let key = Key::of_text("one");
        let sealed = seal(&key, "kernel f() {\n}\n");
        assert_eq!(open(&key, &sealed), Ok("kernel f() {\n}\n"));
        assert_eq!(open(&Key::of_text("two"), &sealed), Err(Unusable::OtherKey));
        assert_eq!(open(&key, b""), Err(Unusable::Foreign));
        for position in 0..sealed.len() {
            assert!(open(&key, &sealed[..position]).is_err(), "cut at {position}");
            let mut changed = sealed.clone();
            changed[position] ^= 1;
            assert!(open(&key, &changed).is_err(), "changed at {position}");
        }
    }
}
