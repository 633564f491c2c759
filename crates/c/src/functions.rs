//! Mathematical functions: the definitions of `math`, carried out by writing C.
//!
//! Every operation is one line; constants stand where they are used. What IEEE 754 rounds correctly comes from libm.

use std::marker::PhantomData;

use math::{Binary, Format, Ops, Unary};
use program::ScalarType;

use crate::emit::Writer;
use crate::expr::constant;
use crate::index::Level;

impl Writer<'_> {
    /// The name of the C function for a function of one float.
    pub(crate) fn function(&mut self, function: Unary, ty: ScalarType) -> String {
        let libm = match function {
            Unary::Sqrt => Some("sqrt"),
            Unary::Floor => Some("floor"),
            Unary::Ceil => Some("ceil"),
            Unary::Trunc => Some("trunc"),
            Unary::Abs => Some("fabs"),
            _ => None,
        };
        if let Some(name) = libm {
            return format!("{name}{}", if ty == ScalarType::F32 { "f" } else { "" });
        }
        let name = format!("{}_{ty}", function.name());
        match ty {
            ScalarType::F32 => self.define::<f32>(&name, &["x"], |text, x| function.apply(text, x[0])),
            _ => self.define::<f64>(&name, &["x"], |text, x| function.apply(text, x[0])),
        }
    }

    pub(crate) fn function_of_two(&mut self, function: Binary, ty: ScalarType) -> String {
        let name = format!("{}_{ty}", function.name());
        match ty {
            ScalarType::F32 => self.define::<f32>(&name, &["x", "y"], |text, x| function.apply(text, x[0], x[1])),
            _ => self.define::<f64>(&name, &["x", "y"], |text, x| function.apply(text, x[0], x[1])),
        }
    }

    /// The name of the C function between `f32` and a float that is only stored, as its bits.
    pub(crate) fn half(&mut self, from: ScalarType, to: ScalarType) -> String {
        let name = format!("{from}_to_{to}");
        if self.helpers.iter().any(|(known, _)| *known == name) {
            return name;
        }
        self.define_bits::<f32>();
        let mut text = Text { names: Vec::new(), lines: String::new(), depth: 1, format: PhantomData::<f32> };
        let x = text.name("x".to_owned());
        let result = match (from.half(), to.half()) {
            (Some(half), _) => half.widen(&mut text, x),
            (_, Some(half)) => half.narrow(&mut text, x),
            _ => x,
        };
        // The bits are computed with in 32 bits.
        let (taken, given) = if from.half().is_some() { ("uint32_t", "float") } else { ("float", "uint16_t") };
        let result = format!("({given}){}", text.names[result]);
        let body = format!("{}    return {result};\n", text.lines);
        self.helper(&name, || format!("static inline {given} {name}({taken} x)\n{{\n{body}}}\n"))
    }

    /// The functions between a float and its bits.
    fn define_bits<T: CFormat>(&mut self) {
        let (t, u) = (T::TYPE, T::BITS);
        for (bits, from, to) in [(format!("bits_{}", T::NAME), t, u), (format!("of_bits_{}", T::NAME), u, t)] {
            self.helper(&bits, || {
                format!(
                    "static inline {to} {bits}({from} a)\n{{\n    {to} b;\n    memcpy(&b, &a, sizeof b);\n    return b;\n}}\n"
                )
            });
        }
    }

    fn define<T: CFormat>(
        &mut self,
        name: &str,
        parameters: &[&str],
        work: impl FnOnce(&mut Text<T>, &[usize]) -> usize,
    ) -> String {
        if self.helpers.iter().any(|(known, _)| known == name) {
            return name.to_owned();
        }
        self.define_bits::<T>();
        let t = T::TYPE;
        let mut text = Text { names: Vec::new(), lines: String::new(), depth: 1, format: PhantomData::<T> };
        let parameters: Vec<usize> = parameters.iter().map(|name| text.name((*name).to_owned())).collect();
        let result = work(&mut text, &parameters);
        let declared: Vec<String> = parameters.iter().map(|id| format!("{t} {}", text.names[*id])).collect();
        let body = format!("{}    return {};\n", text.lines, text.names[result]);
        self.helper(name, || format!("static {t} {name}({})\n{{\n{body}}}\n", declared.join(", ")))
    }
}

/// How C names a format.
trait CFormat: Format {
    const NAME: &'static str;
    const TYPE: &'static str;
    /// Unsigned, because unsigned arithmetic wraps.
    const BITS: &'static str;
    const SIGNED: &'static str;
    /// What the names of libm's functions end with.
    const SUFFIX: &'static str;

    fn literal(self) -> String;
    fn integer(bits: Self::Bits) -> String;
}

impl CFormat for f32 {
    const NAME: &'static str = "f32";
    const TYPE: &'static str = "float";
    const BITS: &'static str = "uint32_t";
    const SIGNED: &'static str = "int32_t";
    const SUFFIX: &'static str = "f";

    fn literal(self) -> String {
        constant(program::Value::F32(self)).at(Level::Atom)
    }

    fn integer(bits: i32) -> String {
        format!("UINT32_C({:#x})", bits.cast_unsigned())
    }
}

impl CFormat for f64 {
    const NAME: &'static str = "f64";
    const TYPE: &'static str = "double";
    const BITS: &'static str = "uint64_t";
    const SIGNED: &'static str = "int64_t";
    const SUFFIX: &'static str = "";

    fn literal(self) -> String {
        constant(program::Value::F64(self)).at(Level::Atom)
    }

    fn integer(bits: i64) -> String {
        format!("UINT64_C({:#x})", bits.cast_unsigned())
    }
}

/// The body of a function under way. Values are numbers of names, or of constants.
struct Text<T> {
    names: Vec<String>,
    lines: String,
    depth: usize,
    format: PhantomData<T>,
}

impl<T: CFormat> Text<T> {
    fn name(&mut self, name: String) -> usize {
        self.names.push(name);
        self.names.len() - 1
    }

    fn line(&mut self, text: &str) {
        self.lines.push_str(&format!("{}{text}\n", "    ".repeat(self.depth)));
    }

    fn value(&mut self, ty: &str, text: &str) -> usize {
        let name = format!("v{}", self.names.len());
        self.line(&format!("const {ty} {name} = {text};"));
        self.name(name)
    }

    fn call(&mut self, name: &str, arguments: &[usize]) -> usize {
        let arguments: Vec<&str> = arguments.iter().map(|id| self.names[*id].as_str()).collect();
        let text = format!("{name}{}({})", T::SUFFIX, arguments.join(", "));
        self.value(T::TYPE, &text)
    }

    fn infix(&mut self, ty: &str, a: usize, op: &str, b: usize) -> usize {
        let text = format!("{} {op} {}", self.names[a], self.names[b]);
        self.value(ty, &text)
    }
}

/// Operations that are an operator of C.
macro_rules! infix {
    ($($name:ident $op:literal $ty:expr;)*) => {
        $(fn $name(&mut self, a: usize, b: usize) -> usize {
            self.infix($ty, a, $op, b)
        })*
    };
}

/// Operations that are a function of libm.
macro_rules! call {
    ($($name:ident($($operand:ident),*) $function:literal;)*) => {
        $(fn $name(&mut self, $($operand: usize),*) -> usize {
            self.call($function, &[$($operand),*])
        })*
    };
}

impl<T: CFormat> Ops for Text<T> {
    type Format = T;
    type F = usize;
    type I = usize;
    type B = usize;

    fn float(&mut self, value: T) -> usize {
        self.name(value.literal())
    }

    fn int(&mut self, value: T::Bits) -> usize {
        self.name(T::integer(value))
    }

    infix! {
        add "+" T::TYPE;
        sub "-" T::TYPE;
        mul "*" T::TYPE;
        div "/" T::TYPE;
        lt "<" "bool";
        le "<=" "bool";
        eq "==" "bool";
        and "&&" "bool";
        or "||" "bool";
        int_add "+" T::BITS;
        int_sub "-" T::BITS;
        int_and "&" T::BITS;
        int_or "|" T::BITS;
        int_xor "^" T::BITS;
    }

    call! {
        fma(a, b, c) "fma";
        sqrt(a) "sqrt";
        abs(a) "fabs";
        floor(a) "floor";
        ceil(a) "ceil";
        trunc(a) "trunc";
    }

    fn neg(&mut self, a: usize) -> usize {
        let text = format!("-{}", self.names[a]);
        self.value(T::TYPE, &text)
    }

    fn int_lt(&mut self, a: usize, b: usize) -> usize {
        let text = format!("({0}){1} < ({0}){2}", T::SIGNED, self.names[a], self.names[b]);
        self.value("bool", &text)
    }

    fn not(&mut self, a: usize) -> usize {
        let text = format!("!{}", self.names[a]);
        self.value("bool", &text)
    }

    fn select(&mut self, condition: usize, a: usize, b: usize) -> usize {
        let text = format!("{} ? {} : {}", self.names[condition], self.names[a], self.names[b]);
        self.value(T::TYPE, &text)
    }

    fn bits(&mut self, a: usize) -> usize {
        let text = format!("bits_{}({})", T::NAME, self.names[a]);
        self.value(T::BITS, &text)
    }

    fn of_bits(&mut self, a: usize) -> usize {
        let text = format!("of_bits_{}({})", T::NAME, self.names[a]);
        self.value(T::TYPE, &text)
    }

    fn shl(&mut self, a: usize, bits: u32) -> usize {
        let text = format!("{} << {bits}", self.names[a]);
        self.value(T::BITS, &text)
    }

    fn shr(&mut self, a: usize, bits: u32) -> usize {
        let text = format!("{} >> {bits}", self.names[a]);
        self.value(T::BITS, &text)
    }

    /// A branch around what is rare.
    fn rarely<const N: usize>(
        &mut self,
        needed: usize,
        usual: [usize; N],
        rare: impl FnOnce(&mut Self) -> [usize; N],
    ) -> [usize; N] {
        let results = usual.map(|usual| {
            let name = format!("v{}", self.names.len());
            self.line(&format!("{} {name} = {};", T::TYPE, self.names[usual]));
            self.name(name)
        });
        self.line(&format!("if ({}) {{", self.names[needed]));
        self.depth += 1;
        for (result, rare) in results.into_iter().zip(rare(self)) {
            self.line(&format!("{} = {};", self.names[result], self.names[rare]));
        }
        self.depth -= 1;
        self.line("}");
        results
    }
}
