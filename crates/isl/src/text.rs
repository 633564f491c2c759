//! Reading isl's own notation, for tests, experiments and the texts inside saved schedules.
//!
//! In: text, checked for length and nesting before isl's recursive parser sees it.  Out: an object, if all of the text
//! was used.
//! Not here: programs; sets that come from users are built from affine expressions.

use std::ffi::{c_char, c_int, c_void};

use crate::runtime::{Arg, Call, Context, Error, Result, Ret};
use crate::{
    Aff, BasicMap, BasicSet, Map, MultiAff, MultiUnionPwAff, MultiVal, PwAff, PwMultiAff, Set, Space, UnionMap,
    UnionPwAff, UnionPwMultiAff, UnionSet, Val,
};

/// The longest text that is parsed.
const MAX_LENGTH: usize = 1 << 20;
/// The deepest nesting, which bounds the recursion of the parser.
const MAX_DEPTH: usize = 200;

unsafe extern "C" {
    fn isl_stream_new_str(ctx: *mut c_void, text: *const c_char) -> *mut c_void;
    fn isl_stream_free(stream: *mut c_void);
    fn isl_stream_is_empty(stream: *mut c_void) -> c_int;
}

/// The C function that reads one type from a stream.
type Read = unsafe extern "C" fn(*mut c_void) -> *mut c_void;

/// Reads all of `text` with `read`.
///
/// # Safety
/// `read` takes an `isl_stream *` that it keeps and gives an object of the C type of `T`.
unsafe fn read<T: Ret<Raw = *mut c_void>>(
    context: &Context,
    text: &str,
    function: &'static str,
    read: Read,
) -> Result<T> {
    check(text)?;
    let mut call = Call::new(function);
    call.admit(&context)?;
    call.admit(&text)?;
    call.begin()?;
    // SAFETY: the context is live; the text is kept by `call` and the stream is freed before it; `read` keeps the
    // stream, as promised.
    let (raw, rest) = unsafe {
        let stream = isl_stream_new_str(context.as_ptr(), Arg::into_raw(text, &call));
        let raw = if stream.is_null() { std::ptr::null_mut() } else { read(stream) };
        let rest = !stream.is_null() && isl_stream_is_empty(stream) == 0;
        isl_stream_free(stream);
        (raw, rest)
    };
    // SAFETY: `raw` comes from `read`, which gives an object of this type.
    let object = unsafe { call.finish(raw) }?;
    if rest {
        return refuse("there is more after the end");
    }
    Ok(object)
}

fn refuse<T>(problem: impl Into<String>) -> Result<T> {
    Err(Error::Text { problem: problem.into() })
}

/// Refuses text that could exhaust the stack of the parser, or that is meant for one of its other input formats.
fn check(text: &str) -> Result<()> {
    if text.len() > MAX_LENGTH {
        return refuse(format!("longer than {MAX_LENGTH} bytes"));
    }
    let depth = nesting(text);
    if depth > MAX_DEPTH {
        return refuse(format!("nested more than {MAX_DEPTH} deep"));
    }
    if text.contains('#') {
        return refuse("a comment");
    }
    let parts = text.match_indices(':').map(|(at, _)| &text[at + 1..]);
    if std::iter::once(text).chain(parts).any(is_of_another_format) {
        return refuse("a matrix or a schedule tree where an object in isl's notation belongs");
    }
    Ok(())
}

/// Whether isl takes a text, or the rest of one behind a colon, for a matrix of PolyLib, which begins with two numbers, or for a schedule tree,
/// which begins with `domain:`, where it expects a set or a relation. Its readers of both trust their input: sizes that no memory has wrap around,
/// and a number where text belongs is followed as a pointer.
fn is_of_another_format(text: &str) -> bool {
    let first = text.trim_start();
    let after_number = first.trim_start_matches(|c: char| c.is_ascii_digit());
    if after_number.len() < first.len() {
        return after_number.trim_start().starts_with(|c: char| c.is_ascii_digit());
    }
    let key = first.strip_prefix('{').unwrap_or(first).trim_start();
    let after_key = key.strip_prefix("domain").or_else(|| key.strip_prefix("\"domain\""));
    after_key.is_some_and(|rest| rest.trim_start().starts_with(':'))
}

/// An upper bound on how deep the parser recurses: open brackets, prefix operators and conditionals not yet closed by a
/// bracket, and the factors of a product.
fn nesting(text: &str) -> usize {
    // Per open bracket, the prefix operators met inside it.
    let mut open = vec![0_usize];
    let (mut depth, mut deepest) = (0_usize, 0_usize);
    let mut previous = '\0';
    let mut factors = 0;
    for (start, c) in text.char_indices() {
        let word_starts = !previous.is_alphanumeric() && previous != '_';
        match c {
            '(' | '[' | '{' => {
                open.push(0);
                depth += 1;
            }
            ')' | ']' | '}' if open.len() > 1 => {
                depth -= 1 + open.pop().unwrap_or_default();
            }
            '?' | '!' | '\u{ac}' => count(&mut open, &mut depth),
            '-' if previous == '-' => count(&mut open, &mut depth),
            '*' => factors += 1,
            '+' | '<' | '>' | '=' | ':' => factors = 0,
            'n' if word_starts && text[start..].starts_with("not ") => {
                count(&mut open, &mut depth);
            }
            'e' if word_starts && text[start..].starts_with("exists ") => {
                count(&mut open, &mut depth);
            }
            // A new element or piece begins: what came before is done.
            ';' | ',' if open.len() > 1 => {
                factors = 0;
                depth -= open.last_mut().map(std::mem::take).unwrap_or_default();
            }
            _ => {}
        }
        if !c.is_whitespace() {
            previous = c;
        } else if previous.is_alphanumeric() {
            previous = ' ';
        }
        deepest = deepest.max(depth + factors);
    }
    deepest
}

fn count(open: &mut [usize], depth: &mut usize) {
    if let Some(prefixes) = open.last_mut() {
        *prefixes += 1;
        *depth += 1;
    }
}

macro_rules! readable {
    ($($type:ident, $c_name:literal;)*) => {$(
        impl $type {
            /// Reads isl's notation; all of `text` must be used.
            pub fn read_from_str(context: &Context, text: &str) -> Result<$type> {
                unsafe extern "C" {
                    #[link_name = $c_name]
                    fn raw(stream: *mut c_void) -> *mut c_void;
                }
                // SAFETY: the function of isl that reads this type.
                unsafe { read(context, text, $c_name, raw) }
            }
        }
    )*};
}

readable! {
    Val, "isl_stream_read_val";
    MultiVal, "isl_stream_read_multi_val";
    Space, "isl_stream_read_space";
    Aff, "isl_stream_read_aff";
    PwAff, "isl_stream_read_pw_aff";
    MultiAff, "isl_stream_read_multi_aff";
    PwMultiAff, "isl_stream_read_pw_multi_aff";
    UnionPwAff, "isl_stream_read_union_pw_aff";
    UnionPwMultiAff, "isl_stream_read_union_pw_multi_aff";
    MultiUnionPwAff, "isl_stream_read_multi_union_pw_aff";
    BasicSet, "isl_stream_read_basic_set";
    Set, "isl_stream_read_set";
    Map, "isl_stream_read_map";
    UnionSet, "isl_stream_read_union_set";
    UnionMap, "isl_stream_read_union_map";
}

impl BasicMap {
    /// Reads isl's notation; all of `text` must be used, and it must be one conjunction.
    pub fn read_from_str(context: &Context, text: &str) -> Result<BasicMap> {
        let mut conjunctions = Map::read_from_str(context, text)?.basic_maps()?;
        match (conjunctions.pop(), conjunctions.is_empty()) {
            (Some(only), true) => Ok(only),
            _ => refuse("not a single conjunction"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{is_of_another_format, nesting};

    #[test]
    fn matrices_and_trees_are_told_from_objects() {
        for text in ["1 3", "  12\t7 0", "domain: 5", " { domain : 5 }", "\"domain\": 5", "{ \"domain\": 5 }"] {
            assert!(is_of_another_format(text), "{text}");
        }
        for text in ["", "7", "7/8", "12 x", "{ domain[i] }", "{ [domain] : domain = 3 }", "{ [1, 2] }"] {
            assert!(!is_of_another_format(text), "{text}");
        }
    }

    #[test]
    fn nesting_counts_what_the_parser_recurses_on() {
        assert_eq!(nesting("{ [i] : 0 <= i < 10 }"), 2);
        assert_eq!(nesting(&"(".repeat(50)), 50);
        assert!(nesting(&"- ".repeat(50)) >= 25);
        assert!(nesting(&"1 * ".repeat(50)) >= 50);
        assert!(nesting(&"not ".repeat(50)) >= 50);
        assert!(nesting(&"exists a: ".repeat(50)) >= 50);
    }

    #[test]
    fn many_pieces_are_not_deep() {
        let pieces = "[i] : exists (e: i = 2e) or not (i = -3); ".repeat(500);
        assert!(nesting(&format!("{{ {pieces} }}")) < 10);
    }
}
