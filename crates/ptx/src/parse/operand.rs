//! Operands as they are written, before their names mean anything.

use pest::iterators::Pair;

use super::Rule;

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Raw<'a> {
    Name(&'a str),
    Int(i64),
    F32(u32),
    F64(u64),
    /// `{a, b}`
    Vector(Vec<Raw<'a>>),
    /// `[a+4]`
    Address(Box<Raw<'a>>, i64),
    /// `!%p`
    Negated(&'a str),
    /// `%p|%q`
    Pair(&'a str, &'a str),
    /// The arguments of a call.
    List,
}

pub(super) fn read_operand(pair: Pair<'_, Rule>) -> Result<Raw<'_>, String> {
    let text = pair.as_str();
    let mut parts = pair.clone().into_inner().filter(|part| part.as_rule() != Rule::not);
    match pair.as_rule() {
        Rule::operand => parts.next().map_or(Ok(Raw::List), read_operand),
        Rule::vector => Ok(Raw::Vector(parts.map(read_operand).collect::<Result<_, _>>()?)),
        Rule::address => {
            let base = parts.next().map_or(Ok(Raw::Int(0)), read_operand)?;
            let offset = parts.next().map_or(Ok(0), |offset| integer(offset.as_str()))?;
            Ok(Raw::Address(Box::new(base), offset))
        }
        Rule::negated => Ok(Raw::Negated(parts.next().map_or("", |name| name.as_str()))),
        Rule::pair => {
            let mut name = || parts.next().map_or("", |name| name.as_str());
            Ok(Raw::Pair(name(), name()))
        }
        Rule::name => Ok(Raw::Name(text)),
        Rule::integer => Ok(Raw::Int(integer(text)?)),
        Rule::bits => bits(text),
        Rule::decimal => text.parse::<f64>().map(|value| Raw::F64(value.to_bits())).map_err(|_| wrong(text)),
        _ => Ok(Raw::List),
    }
}

fn wrong(text: &str) -> String {
    format!("`{text}` is no number")
}

/// Decimal, `0x`, `0b` or octal; a `U` at the end changes nothing in 64 bits.
fn integer(text: &str) -> Result<i64, String> {
    let (negative, digits) = text.strip_prefix('-').map_or((false, text), |digits| (true, digits));
    let digits = digits.strip_suffix(['u', 'U']).unwrap_or(digits);
    let lower = digits.to_ascii_lowercase();
    let value = if let Some(hex) = lower.strip_prefix("0x") {
        u64::from_str_radix(hex, 16)
    } else if let Some(binary) = lower.strip_prefix("0b") {
        u64::from_str_radix(binary, 2)
    } else if lower.len() > 1 && lower.starts_with('0') {
        u64::from_str_radix(&lower, 8)
    } else {
        lower.parse()
    };
    let value = value.map_err(|_| wrong(text))? as i64;
    Ok(if negative { value.wrapping_neg() } else { value })
}

/// `0f3F800000` or `0d3FF0000000000000`.
fn bits(text: &str) -> Result<Raw<'_>, String> {
    let (negative, digits) = text.strip_prefix('-').map_or((false, text), |digits| (true, digits));
    let (kind, hex) = digits.split_at(2);
    let sign = |width: u32| if negative { 1u64 << (width - 1) } else { 0 };
    let value = u64::from_str_radix(hex, 16).map_err(|_| wrong(text))?;
    match kind.to_ascii_lowercase().as_str() {
        "0f" if hex.len() == 8 => Ok(Raw::F32((value ^ sign(32)) as u32)),
        "0d" if hex.len() == 16 => Ok(Raw::F64(value ^ sign(64))),
        _ => Err(wrong(text)),
    }
}
