//! Definitions are straight-line code: recorded once, without knowing the argument, a definition gives the same bits as when
//! it is computed directly, for every argument. And no step is in vain, so that emitters need not look for those.
//!
//! The recorder is also what the smallest emitter looks like: it keeps the provided methods of `Ops` as they are.

use crate::reference::{self, Random};
use farkas_math::{Binary, Format, Ops, Plain, Unary};

/// A recorded value.
#[derive(Clone, Copy, Debug)]
enum Value<T: Format> {
    Float(T),
    Int(T::Bits),
    Bool(bool),
}

#[derive(Clone, Copy)]
struct Float(usize);
#[derive(Clone, Copy)]
struct Int(usize);
#[derive(Clone, Copy)]
struct Bool(usize);

type Step<T> = Box<dyn Fn(&[Value<T>]) -> Value<T>>;

/// What a definition did: each step computes from the values of earlier ones. The arguments come first.
struct Tape<T: Format> {
    arity: usize,
    steps: Vec<Step<T>>,
    used: Vec<bool>,
}

#[expect(clippy::panic, reason = "a test helper: the tape is typed, so this does not happen")]
fn float<T: Format>(values: &[Value<T>], id: Float) -> T {
    match values[id.0] {
        Value::Float(value) => value,
        other => panic!("{other:?} is not a float"),
    }
}

#[expect(clippy::panic, reason = "a test helper: the tape is typed, so this does not happen")]
fn int<T: Format>(values: &[Value<T>], id: Int) -> T::Bits {
    match values[id.0] {
        Value::Int(value) => value,
        other => panic!("{other:?} is not an integer"),
    }
}

#[expect(clippy::panic, reason = "a test helper: the tape is typed, so this does not happen")]
fn boolean<T: Format>(values: &[Value<T>], id: Bool) -> bool {
    match values[id.0] {
        Value::Bool(value) => value,
        other => panic!("{other:?} is not a condition"),
    }
}

impl<T: Format> Tape<T> {
    fn new(arity: usize) -> Tape<T> {
        Tape { arity, steps: Vec::new(), used: vec![false; arity] }
    }

    fn push(&mut self, operands: &[usize], step: impl Fn(&[Value<T>]) -> Value<T> + 'static) -> usize {
        operands.iter().for_each(|operand| self.used[*operand] = true);
        self.steps.push(Box::new(step));
        self.used.push(false);
        self.arity + self.steps.len() - 1
    }

    fn check_use(&mut self, result: Float, name: &str) {
        self.used[result.0] = true;
        let idle = self.used.iter().position(|used| !used);
        assert_eq!(idle, None, "{name}: a step of {} is not used", self.used.len());
    }

    fn run(&self, arguments: &[T], result: Float) -> T {
        let mut values: Vec<Value<T>> = arguments.iter().map(|argument| Value::Float(*argument)).collect();
        for step in &self.steps {
            let value = step(&values);
            values.push(value);
        }
        float(&values, result)
    }
}

macro_rules! record {
    ($($name:ident($($operand:ident: $kind:ident),*) -> $result:ident;)*) => {
        $(fn $name(&mut self, $($operand: $kind),*) -> $result {
            let operands: Vec<Option<usize>> = vec![$(record!(@id $kind $operand)),*];
            let operands: Vec<usize> = operands.into_iter().flatten().collect();
            $result(self.push(&operands, move |values| {
                Value::$result(Plain::<T>::new().$name($(record!(@get $kind values $operand)),*))
            }))
        })*
    };
    (@id u32 $operand:ident) => { None };
    (@id $kind:ident $operand:ident) => { Some($operand.0) };
    (@get Float $values:ident $operand:ident) => { float($values, $operand) };
    (@get Int $values:ident $operand:ident) => { int($values, $operand) };
    (@get Bool $values:ident $operand:ident) => { boolean($values, $operand) };
    (@get u32 $values:ident $operand:ident) => { $operand };
}

impl<T: Format> Ops for Tape<T>
where
    Plain<T>: Ops<Format = T, F = T, I = T::Bits, B = bool>,
{
    type Format = T;
    type F = Float;
    type I = Int;
    type B = Bool;

    fn float(&mut self, value: T) -> Float {
        Float(self.push(&[], move |_| Value::Float(value)))
    }

    fn int(&mut self, value: T::Bits) -> Int {
        Int(self.push(&[], move |_| Value::Int(value)))
    }

    record! {
        add(a: Float, b: Float) -> Float;
        sub(a: Float, b: Float) -> Float;
        mul(a: Float, b: Float) -> Float;
        div(a: Float, b: Float) -> Float;
        fma(a: Float, b: Float, c: Float) -> Float;
        sqrt(a: Float) -> Float;
        neg(a: Float) -> Float;
        abs(a: Float) -> Float;
        floor(a: Float) -> Float;
        ceil(a: Float) -> Float;
        trunc(a: Float) -> Float;
        lt(a: Float, b: Float) -> Bool;
        le(a: Float, b: Float) -> Bool;
        eq(a: Float, b: Float) -> Bool;
        int_lt(a: Int, b: Int) -> Bool;
        and(a: Bool, b: Bool) -> Bool;
        or(a: Bool, b: Bool) -> Bool;
        not(a: Bool) -> Bool;
        select(condition: Bool, a: Float, b: Float) -> Float;
        bits(a: Float) -> Int;
        of_bits(a: Int) -> Float;
        int_add(a: Int, b: Int) -> Int;
        int_sub(a: Int, b: Int) -> Int;
        int_and(a: Int, b: Int) -> Int;
        int_or(a: Int, b: Int) -> Int;
        int_xor(a: Int, b: Int) -> Int;
        shl(a: Int, bits: u32) -> Int;
        shr(a: Int, bits: u32) -> Int;
    }
}

const ARGUMENTS: u64 = 400;

#[test]
fn recorded_functions_of_one_argument_agree() {
    for &function in Unary::ALL {
        let mut tape32 = Tape::<f32>::new(1);
        let result32 = function.apply(&mut tape32, Float(0));
        let mut tape64 = Tape::<f64>::new(1);
        let result64 = function.apply(&mut tape64, Float(0));
        tape32.check_use(result32, function.name());
        tape64.check_use(result64, function.name());
        let mut random = Random(7);
        for position in 0..ARGUMENTS {
            let x = reference::argument_f64(&mut random, position);
            let (direct, recorded) = (function.f64(x), tape64.run(&[x], result64));
            assert!(same(direct, recorded), "{}({x:e}): {direct:e}, recorded {recorded:e}", function.name());
            // Half of them of any size, the others as above.
            let x = if position.is_multiple_of(2) { f32::from_bits(random.bits() as u32) } else { x as f32 };
            let (direct, recorded) = (function.f32(x), tape32.run(&[x], result32));
            let agree = same(direct.into(), recorded.into());
            assert!(agree, "{}({x:e}): {direct:e}, recorded {recorded:e}", function.name());
        }
    }
}

#[test]
fn recorded_functions_of_two_arguments_agree() {
    for &function in Binary::ALL {
        let mut tape32 = Tape::<f32>::new(2);
        let result32 = function.apply(&mut tape32, Float(0), Float(1));
        let mut tape64 = Tape::<f64>::new(2);
        let result64 = function.apply(&mut tape64, Float(0), Float(1));
        tape32.check_use(result32, function.name());
        tape64.check_use(result64, function.name());
        let mut random = Random(8);
        for position in 0..ARGUMENTS {
            let (x, y) = reference::arguments_f64(function, &mut random, position);
            let (direct, recorded) = (function.f64(x, y), tape64.run(&[x, y], result64));
            assert!(same(direct, recorded), "{}({x:e}, {y:e}): {direct:e}, recorded {recorded:e}", function.name());
            let (x, y) = reference::arguments_f32(function, &mut random, position);
            let (direct, recorded) = (function.f32(x, y), tape32.run(&[x, y], result32));
            let agree = same(direct.into(), recorded.into());
            assert!(agree, "{}({x:e}, {y:e}): {direct:e}, recorded {recorded:e}", function.name());
        }
    }
}

fn same(a: f64, b: f64) -> bool {
    a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan()
}
