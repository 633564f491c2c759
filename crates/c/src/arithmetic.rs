//! Operators that C has no form for that is defined for all operands: static functions, written where they are used.
//!
//! Signed integers wrap, so sums and products are those of unsigned integers; division is Euclidean; shifts by any amount
//! are defined.

use program::{BinaryOp, ScalarType, UnaryOp};

use crate::emit::{Writer, c_type};

/// The unsigned type in which arithmetic on `ty` does not overflow.
fn wide(ty: ScalarType) -> &'static str {
    if ty.bytes() == 8 { "uint64_t" } else { "uint32_t" }
}

fn is_signed(ty: ScalarType) -> bool {
    ty.is_int() && !ty.is_unsigned()
}

fn function(name: &str, result: ScalarType, parameters: &str, body: &str) -> String {
    let lines: Vec<String> = body.lines().map(|line| format!("    {line}\n")).collect();
    format!("static inline {} {name}({parameters})\n{{\n{}}}\n", c_type(result), lines.concat())
}

impl Writer<'_> {
    /// The name of the function for an operator on integers.
    pub(crate) fn integer_binary(&mut self, op: BinaryOp, ty: ScalarType) -> Option<String> {
        let (t, u) = (c_type(ty), wide(ty));
        let width = 8 * ty.bytes();
        let infix = |op: &str| format!("return ({t})(({u})a {op} ({u})b);");
        let (word, body) = match op {
            BinaryOp::Add => ("add", infix("+")),
            BinaryOp::Sub => ("sub", infix("-")),
            BinaryOp::Mul => ("mul", infix("*")),
            BinaryOp::Min => return Some(self.extreme_of_integers("min", ty)),
            BinaryOp::Max => return Some(self.extreme_of_integers("max", ty)),
            BinaryOp::Div if is_signed(ty) => (
                "div",
                format!(
                    "if (b == -1) return ({t})(0 - ({u})a);\nconst {t} q = a / b, r = a % b;\n\
                     return r >= 0 ? q : b > 0 ? q - 1 : q + 1;"
                ),
            ),
            BinaryOp::Rem if is_signed(ty) => (
                "rem",
                format!("if (b == -1) return 0;\nconst {t} r = a % b;\nreturn r >= 0 ? r : b > 0 ? r + b : r - b;"),
            ),
            BinaryOp::Div => ("div", "return a / b;".to_owned()),
            BinaryOp::Rem => ("rem", "return a % b;".to_owned()),
            BinaryOp::Shl if is_signed(ty) => {
                ("shl", format!("return b >= 0 && b < {width} ? ({t})(({u})a << b) : 0;"))
            }
            BinaryOp::Shl => ("shl", format!("return b < {width} ? ({t})(({u})a << b) : 0;")),
            BinaryOp::Shr if is_signed(ty) => {
                ("shr", format!("return a >> (b >= 0 && b < {width} ? b : {});", width - 1))
            }
            BinaryOp::Shr => ("shr", format!("return b < {width} ? ({t})(a >> b) : 0;")),
            _ => return None,
        };
        let name = format!("{word}_{ty}");
        Some(self.helper(&name, || function(&name, ty, &format!("{t} a, {t} b"), &body)))
    }

    /// `min_i64` or `max_i64`.
    pub(crate) fn extreme_of_integers(&mut self, word: &str, ty: ScalarType) -> String {
        let (name, t) = (format!("{word}_{ty}"), c_type(ty));
        let op = if word == "min" { "<" } else { ">" };
        self.helper(&name, || function(&name, ty, &format!("{t} a, {t} b"), &format!("return a {op} b ? a : b;")))
    }

    pub(crate) fn integer_unary(&mut self, op: UnaryOp, ty: ScalarType) -> Option<String> {
        let (t, u) = (c_type(ty), wide(ty));
        let (word, body) = match op {
            UnaryOp::Neg => ("neg", format!("return ({t})(0 - ({u})a);")),
            UnaryOp::ABS => ("abs", format!("return a < 0 ? ({t})(0 - ({u})a) : a;")),
            _ => return None,
        };
        let name = format!("{word}_{ty}");
        Some(self.helper(&name, || function(&name, ty, &format!("{t} a"), &body)))
    }

    /// The name of the function for an operator on floats.
    pub(crate) fn float_binary(&mut self, op: BinaryOp, ty: ScalarType) -> Option<String> {
        let t = c_type(ty);
        let f = if ty == ScalarType::F32 { "f" } else { "" };
        let (word, body) = match op {
            // NaN if either is NaN; -0 is less than +0.
            BinaryOp::Min => (
                "min",
                "if (a != a || b != b) return a + b;\nreturn a < b || (a == b && signbit(a)) ? a : b;".to_owned(),
            ),
            BinaryOp::Max => (
                "max",
                "if (a != a || b != b) return a + b;\nreturn a > b || (a == b && !signbit(a)) ? a : b;".to_owned(),
            ),
            BinaryOp::Rem => ("rem", format!("const {t} r = fmod{f}(a, b);\nreturn r < 0 ? r + fabs{f}(b) : r;")),
            _ => return None,
        };
        let name = format!("{word}_{ty}");
        Some(self.helper(&name, || function(&name, ty, &format!("{t} a, {t} b"), &body)))
    }

    /// The function that takes a float to the nearest integer of a type, towards zero.
    pub(crate) fn saturating(&mut self, from: ScalarType, to: ScalarType) -> String {
        let name = format!("{from}_to_{to}");
        let bits = 8 * to.bytes();
        let f = if from == ScalarType::F32 { "f" } else { "" };
        let (least, low, high) = match is_signed(to) {
            true => (format!("INT{bits}_MIN"), format!("-0x1p{}{f}", bits - 1), format!("0x1p{}{f}", bits - 1)),
            false => ("0".to_owned(), format!("0.0{f}"), format!("0x1p{bits}{f}")),
        };
        let most = if is_signed(to) { format!("INT{bits}_MAX") } else { format!("UINT{bits}_MAX") };
        let body =
            format!("if (x != x) return 0;\nreturn x < {low} ? {least} : x >= {high} ? {most} : ({})x;", c_type(to));
        self.helper(&name, || function(&name, to, &format!("{} x", c_type(from)), &body))
    }
}
