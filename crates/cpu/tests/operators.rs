//! Every operator on every type it takes, at the edges of the type, against Rust's own arithmetic and `math`.

use program::{BinaryOp, Data, Fault, FaultKind, ScalarType, UnaryOp, Value, bf16, f16};

mod run;
use run::{output, run};

const BINARY: [BinaryOp; 23] = [
    BinaryOp::Add,
    BinaryOp::Sub,
    BinaryOp::Mul,
    BinaryOp::Div,
    BinaryOp::Rem,
    BinaryOp::Min,
    BinaryOp::Max,
    BinaryOp::Function(math::Binary::Pow),
    BinaryOp::Function(math::Binary::Atan2),
    BinaryOp::Function(math::Binary::Hypot),
    BinaryOp::And,
    BinaryOp::Or,
    BinaryOp::BitAnd,
    BinaryOp::BitOr,
    BinaryOp::BitXor,
    BinaryOp::Shl,
    BinaryOp::Shr,
    BinaryOp::Eq,
    BinaryOp::Ne,
    BinaryOp::Lt,
    BinaryOp::Le,
    BinaryOp::Gt,
    BinaryOp::Ge,
];

fn edges(ty: ScalarType) -> Vec<Value> {
    let floats = [
        0.0,
        -0.0,
        1.0,
        -1.0,
        0.5,
        -2.5,
        3.7,
        127.6,
        -129.0,
        255.5,
        256.0,
        32767.9,
        -32769.0,
        2147483648.0,
        -2147483649.0,
        9.3e18,
        -9.3e18,
        1e-310,
        1e300,
        -1e300,
        f64::MAX,
        f64::MIN_POSITIVE,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::NAN,
    ];
    match ty {
        ScalarType::F16 => floats.iter().map(|v| Value::F16(f16::from_f64(*v))).collect(),
        ScalarType::BF16 => floats.iter().map(|v| Value::BF16(bf16::from_f64(*v))).collect(),
        ScalarType::F32 => floats.iter().map(|v| Value::F32(*v as f32)).collect(),
        ScalarType::F64 => floats.iter().map(|v| Value::F64(*v)).collect(),
        ScalarType::Bool => vec![Value::Bool(false), Value::Bool(true)],
        _ => {
            let mut numbers = vec![0, 1, -1, 2, -2, 3, -3, 5, 7, -7, 8, 10, 16, -16, 64, 100, 127, -128, 255];
            numbers.extend([i64::from(i16::MIN), i64::from(i16::MAX), i64::from(i32::MIN), i64::from(i32::MAX)]);
            numbers.extend([i64::from(i32::MIN) + 1, i64::MIN, i64::MIN + 1, i64::MAX, 1 << 24, (1 << 53) + 1]);
            let mut values: Vec<Value> = Vec::new();
            for number in numbers {
                let value = Value::from_i64(ty, number);
                if !values.contains(&value) {
                    values.push(value);
                }
            }
            values
        }
    }
}

fn data(ty: ScalarType, values: &[Value]) -> Data {
    let mut data = Data::zeros(ty, values.len()).expect("small");
    for (position, value) in values.iter().enumerate() {
        assert!(data.set(position, *value));
    }
    data
}

/// `None` where the operator does not apply, or fails.
fn binary(op: BinaryOp, a: Value, b: Value) -> Option<Value> {
    macro_rules! compare {
        ($a:expr, $b:expr) => {
            match op {
                BinaryOp::Eq => return Some(Value::Bool($a == $b)),
                BinaryOp::Ne => return Some(Value::Bool($a != $b)),
                BinaryOp::Lt => return Some(Value::Bool($a < $b)),
                BinaryOp::Le => return Some(Value::Bool($a <= $b)),
                BinaryOp::Gt => return Some(Value::Bool($a > $b)),
                BinaryOp::Ge => return Some(Value::Bool($a >= $b)),
                _ => {}
            }
        };
    }
    macro_rules! int {
        ($variant:ident, $a:expr, $b:expr) => {{
            compare!($a, $b);
            Value::$variant(match op {
                BinaryOp::Add => $a.wrapping_add($b),
                BinaryOp::Sub => $a.wrapping_sub($b),
                BinaryOp::Mul => $a.wrapping_mul($b),
                BinaryOp::Div if $b != 0 => $a.wrapping_div_euclid($b),
                BinaryOp::Rem if $b != 0 => $a.wrapping_rem_euclid($b),
                BinaryOp::Min => $a.min($b),
                BinaryOp::Max => $a.max($b),
                BinaryOp::BitAnd => $a & $b,
                BinaryOp::BitOr => $a | $b,
                BinaryOp::BitXor => $a ^ $b,
                // Bit by bit: the machine's own shifts take the amount modulo the width.
                BinaryOp::Shl | BinaryOp::Shr => {
                    let steps = if ($b as i128) < 0 { 64 } else { ($b as i128).min(64) };
                    (0..steps).fold($a, |bits, _| if op == BinaryOp::Shl { bits.wrapping_add(bits) } else { bits >> 1 })
                }
                _ => return None,
            })
        }};
    }
    macro_rules! float {
        ($variant:ident, $float:ident, $a:expr, $b:expr) => {{
            compare!($a, $b);
            let nan = $a.is_nan() || $b.is_nan();
            Value::$variant(match op {
                BinaryOp::Add => $a + $b,
                BinaryOp::Sub => $a - $b,
                BinaryOp::Mul => $a * $b,
                BinaryOp::Div => $a / $b,
                BinaryOp::Rem => $a.rem_euclid($b),
                BinaryOp::Min | BinaryOp::Max if nan => $a + $b,
                BinaryOp::Min => {
                    if $a.total_cmp(&$b).is_le() {
                        $a
                    } else {
                        $b
                    }
                }
                BinaryOp::Max => {
                    if $a.total_cmp(&$b).is_ge() {
                        $a
                    } else {
                        $b
                    }
                }
                BinaryOp::Function(function) => function.$float($a, $b),
                _ => return None,
            })
        }};
    }
    Some(match (a, b) {
        (Value::F32(a), Value::F32(b)) => float!(F32, f32, a, b),
        (Value::F64(a), Value::F64(b)) => float!(F64, f64, a, b),
        (Value::I8(a), Value::I8(b)) => int!(I8, a, b),
        (Value::I16(a), Value::I16(b)) => int!(I16, a, b),
        (Value::I32(a), Value::I32(b)) => int!(I32, a, b),
        (Value::I64(a), Value::I64(b)) => int!(I64, a, b),
        (Value::U8(a), Value::U8(b)) => int!(U8, a, b),
        (Value::U16(a), Value::U16(b)) => int!(U16, a, b),
        (Value::U32(a), Value::U32(b)) => int!(U32, a, b),
        (Value::U64(a), Value::U64(b)) => int!(U64, a, b),
        (Value::Bool(a), Value::Bool(b)) => {
            compare!(a, b);
            Value::Bool(match op {
                BinaryOp::And | BinaryOp::Min => a & b,
                BinaryOp::Or | BinaryOp::Max => a | b,
                _ => return None,
            })
        }
        _ => return None,
    })
}

fn unary(op: UnaryOp, a: Value) -> Option<Value> {
    macro_rules! int {
        ($variant:ident, $a:expr) => {
            Value::$variant(match op {
                UnaryOp::Neg => $a.wrapping_neg(),
                UnaryOp::ABS => $a.wrapping_abs(),
                UnaryOp::BitNot => !$a,
                _ => return None,
            })
        };
    }
    macro_rules! unsigned {
        ($variant:ident, $a:expr) => {
            Value::$variant(match op {
                UnaryOp::Neg => $a.wrapping_neg(),
                UnaryOp::ABS => $a,
                UnaryOp::BitNot => !$a,
                _ => return None,
            })
        };
    }
    macro_rules! float {
        ($variant:ident, $float:ident, $a:expr) => {
            Value::$variant(match op {
                UnaryOp::Neg => -$a,
                UnaryOp::Not | UnaryOp::BitNot => return None,
                UnaryOp::Function(function) => function.$float($a),
            })
        };
    }
    Some(match a {
        Value::F16(_) | Value::BF16(_) => return None,
        Value::F32(a) => float!(F32, f32, a),
        Value::F64(a) => float!(F64, f64, a),
        Value::I8(a) => int!(I8, a),
        Value::I16(a) => int!(I16, a),
        Value::I32(a) => int!(I32, a),
        Value::I64(a) => int!(I64, a),
        Value::U8(a) => unsigned!(U8, a),
        Value::U16(a) => unsigned!(U16, a),
        Value::U32(a) => unsigned!(U32, a),
        Value::U64(a) => unsigned!(U64, a),
        Value::Bool(a) if op == UnaryOp::Not => Value::Bool(!a),
        Value::Bool(_) => return None,
    })
}

fn cast(to: ScalarType, a: Value) -> Value {
    macro_rules! number {
        ($a:expr) => {
            match to {
                ScalarType::F16 => Value::F16(f16::from_f32($a as f32)),
                ScalarType::BF16 => Value::BF16(bf16::from_f32($a as f32)),
                ScalarType::F32 => Value::F32($a as f32),
                ScalarType::F64 => Value::F64($a as f64),
                ScalarType::I8 => Value::I8($a as i8),
                ScalarType::I16 => Value::I16($a as i16),
                ScalarType::I32 => Value::I32($a as i32),
                ScalarType::I64 => Value::I64($a as i64),
                ScalarType::U8 => Value::U8($a as u8),
                ScalarType::U16 => Value::U16($a as u16),
                ScalarType::U32 => Value::U32($a as u32),
                ScalarType::U64 => Value::U64($a as u64),
                ScalarType::Bool => Value::Bool($a as f64 != 0.0),
            }
        };
    }
    match a {
        Value::F16(a) => number!(a.to_f32()),
        Value::BF16(a) => number!(a.to_f32()),
        Value::F32(a) => number!(a),
        Value::F64(a) => number!(a),
        Value::I8(a) => number!(a),
        Value::I16(a) => number!(a),
        Value::I32(a) => number!(a),
        Value::I64(a) => number!(a),
        Value::U8(a) => number!(a),
        Value::U16(a) => number!(a),
        Value::U32(a) => number!(a),
        Value::U64(a) => number!(a),
        Value::Bool(a) => number!(u8::from(a)),
    }
}

/// The operator between two operands, in the text form.
fn infix(op: BinaryOp, a: &str, b: &str) -> String {
    match op {
        op if op.is_bitwise() => format!("{}({a}, {b})", op.name()),
        BinaryOp::Min | BinaryOp::Max | BinaryOp::Function(_) => format!("{}({a}, {b})", op.name()),
        _ => format!("{a} {} {b}", op.name()),
    }
}

#[test]
fn binary_operators_agree_with_rust() {
    for ty in ScalarType::ALL {
        for op in BINARY {
            let values = edges(ty);
            let pairs: Vec<(Value, Value, Value)> =
                values.iter().flat_map(|a| values.iter().filter_map(|b| Some((*a, *b, binary(op, *a, *b)?)))).collect();
            let Some((_, _, first)) = pairs.first() else { continue };
            let result = first.ty();
            let text = format!(
                "kernel t(N; X: in {ty}[N], Y: in {ty}[N], Z: out {result}[N]) {{
                    for i in 0..N {{ Z[i] = {} }}
                }}",
                infix(op, "X[i]", "Y[i]")
            );
            let column = |pick: fn(&(Value, Value, Value)) -> Value| pairs.iter().map(pick).collect::<Vec<_>>();
            let (x, y, z) = (column(|pair| pair.0), column(|pair| pair.1), column(|pair| pair.2));
            let out = Data::zeros(result, pairs.len()).expect("small");
            let got = output(&text, &[pairs.len() as i64], &[data(ty, &x), data(ty, &y)], out);
            for (position, (a, b, expected)) in pairs.iter().enumerate() {
                assert_eq!(got.get(position), Some(*expected), "{ty}: {}", infix(op, &a.to_string(), &b.to_string()));
            }
            assert_eq!(got, data(result, &z));
        }
    }
}

/// Constants are divided by without tests, and folded.
#[test]
fn constant_right_operands_agree_with_rust() {
    for ty in ScalarType::ALL.into_iter().filter(|ty| ty.is_int() || *ty == ScalarType::F32) {
        let values = edges(ty);
        for op in BINARY {
            for b in &values {
                let expected: Vec<Value> = values.iter().filter_map(|a| binary(op, *a, *b)).collect();
                let [first, ..] = expected.as_slice() else { continue };
                if expected.len() != values.len() || matches!(b, Value::F32(b) if !b.is_finite()) {
                    continue;
                }
                let (result, count) = (first.ty(), values.len());
                let text = format!(
                    "kernel t(X: in {ty}[{count}], Z: out {result}[{count}]) {{
                        for i in 0..{count} {{ Z[i] = {} }}
                    }}",
                    infix(op, "X[i]", &format!("({b})"))
                );
                let got = output(&text, &[], &[data(ty, &values)], data(result, &expected));
                assert_eq!(got, data(result, &expected), "{ty} {} {b}", op.name());
            }
        }
    }
}

#[test]
fn unary_operators_agree_with_rust() {
    let operators = UnaryOp::FUNCTIONS.into_iter().chain([UnaryOp::Neg, UnaryOp::Not, UnaryOp::BitNot]);
    for op in operators {
        for ty in ScalarType::ALL {
            let values = edges(ty);
            let expected: Vec<Value> = values.iter().filter_map(|a| unary(op, *a)).collect();
            if expected.is_empty() {
                continue;
            }
            let text = format!(
                "kernel t(N; X: in {ty}[N], Z: out {ty}[N]) {{ for i in 0..N {{ Z[i] = {} (X[i]) }} }}",
                op.name()
            );
            let out = Data::zeros(ty, values.len()).expect("small");
            let got = output(&text, &[values.len() as i64], &[data(ty, &values)], out);
            for (position, a) in values.iter().enumerate() {
                assert_eq!(got.get(position), Some(expected[position]), "{} of {ty} {a}", op.name());
            }
        }
    }
}

#[test]
fn casts_agree_with_rust() {
    for from in ScalarType::ALL {
        for to in ScalarType::ALL {
            // What is only stored is converted by way of `f32`.
            if from.half().or(to.half()).is_some() && from != to && ![from, to].contains(&ScalarType::F32) {
                continue;
            }
            let values = edges(from);
            let text =
                format!("kernel t(N; X: in {from}[N], Z: out {to}[N]) {{ for i in 0..N {{ Z[i] = {to}(X[i]) }} }}");
            let out = Data::zeros(to, values.len()).expect("small");
            let got = output(&text, &[values.len() as i64], &[data(from, &values)], out);
            for (position, a) in values.iter().enumerate() {
                assert_eq!(got.get(position), Some(cast(to, *a)), "{from} {a} as {to}");
            }
        }
    }
}

#[test]
fn scalars_of_every_type_arrive() {
    for ty in ScalarType::ALL {
        let text = format!("kernel t(x: f64, y: {ty}; Z: out {ty}[1]) {{ Z[0] = y }}");
        for value in edges(ty) {
            let mut arrays = [Data::zeros(ty, 1).expect("small")];
            run(&text, &[], &[Value::F64(3.5), value], &mut arrays).expect("runs");
            assert_eq!(arrays[0].get(0), Some(value));
        }
    }
}

#[test]
fn division_by_zero_is_reported_and_never_traps() {
    use farkas_cpu::CallError;
    for ty in ScalarType::ALL.into_iter().filter(|ty| ty.is_int()) {
        for op in ["/", "%"] {
            for divisor in ["Y[0]", "0"] {
                let text = format!("kernel t(Y: in {ty}[1], Z: out {ty}[1]) {{ Z[0] = Y[0] {op} {divisor} }}");
                let mut arrays = [Data::zeros(ty, 1).expect("small"), Data::zeros(ty, 1).expect("small")];
                assert_eq!(
                    run(&text, &[], &[], &mut arrays),
                    Err(CallError::Fault(Fault::new(FaultKind::DivisionByZero, None))),
                    "{ty} {op} {divisor}"
                );
            }
        }
    }
}
