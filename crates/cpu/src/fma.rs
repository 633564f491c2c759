//! Multiply-adds that are rounded once, on hosts without an instruction for them.
//!
//! In: three floats, or vectors of them.  Out: `x * y + z` to the last bit, by a few dozen instructions; what these cannot
//! decide takes a branch to Cranelift's own way, a call per element.
//!
//! For f32, the product is exact in f64 and so is all but the last bit of the sum. Rounding the sum a second time is right unless the
//! first rounding has made it a tie: unless it lies in the middle of two neighbours. For f64, the product is `p + e`
//! (Veltkamp and Dekker), its sum with `z` is `s + t + e` (Knuth), and the result `s + (t + e)`. The error of `t + e` is less than its
//! last bit, of which both `s` and every middle of two results are multiples; so, again, it matters only in a tie. Products that
//! are too small for an exact `e`, and infinities, are left to the call as well.

use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::immediates::Ieee64;
use cranelift_codegen::ir::{ConstantData, Endianness, InstBuilder, MemFlagsData, Type, Value, types};
use cranelift_frontend::FunctionBuilder;

/// `xs * ys + zs`, one by one; all are floats or 128-bit vectors of one type. `fused` says whether the host has the instruction.
pub(crate) fn multiply_add(
    b: &mut FunctionBuilder<'_>,
    fused: bool,
    operands: impl IntoIterator<Item = [Value; 3]>,
) -> Vec<Value> {
    let operands = operands.into_iter();
    if fused {
        return operands.map(|[x, y, z]| b.ins().fma(x, y, z)).collect();
    }
    let operands: Vec<[Value; 3]> = operands.collect();
    let tried: Vec<(Value, Value)> = operands.iter().map(|operands| attempt(b, *operands)).collect();
    let undecided = tried.iter().map(|(_, undecided)| *undecided).reduce(|one, other| b.ins().bor(one, other));
    let Some(undecided) = undecided else { return Vec::new() };
    let any = b.ins().vany_true(undecided);
    let (call, join) = (b.create_block(), b.create_block());
    b.set_cold_block(call);
    let usual: Vec<_> = tried.iter().map(|(result, _)| (*result).into()).collect();
    let results = tried.iter().map(|(result, _)| {
        let ty = b.func.dfg.value_type(*result);
        b.append_block_param(join, ty)
    });
    let results: Vec<Value> = results.collect();
    b.ins().brif(any, call, &[], join, &usual);
    b.seal_block(call);
    b.switch_to_block(call);
    let called: Vec<_> = operands.iter().map(|[x, y, z]| b.ins().fma(*x, *y, *z).into()).collect();
    b.ins().jump(join, &called);
    b.seal_block(join);
    b.switch_to_block(join);
    results
}

/// The result, and ones (as 32-bit integers) where it may be wrong.
fn attempt(b: &mut FunctionBuilder<'_>, operands: [Value; 3]) -> (Value, Value) {
    match b.func.dfg.value_type(operands[0]) {
        types::F32 => {
            let [x, y, z] = operands.map(|operand| {
                let wide = b.ins().fpromote(types::F64, operand);
                b.ins().scalar_to_vector(types::F64X2, wide)
            });
            let (sum, undecided) = of_singles(b, x, y, z);
            let sum = b.ins().extractlane(sum, 0);
            (b.ins().fdemote(types::F32, sum), undecided)
        }
        types::F64 => {
            let [x, y, z] = operands.map(|operand| b.ins().scalar_to_vector(types::F64X2, operand));
            let (sum, undecided) = of_doubles(b, x, y, z);
            (b.ins().extractlane(sum, 0), undecided)
        }
        types::F32X4 => {
            let [x, y, z] = operands.map(|operand| b.ins().fvpromote_low(operand));
            let (low, one) = of_singles(b, x, y, z);
            let [x, y, z] = operands.map(|operand| {
                let upper = exchange_halves(b, operand);
                b.ins().fvpromote_low(upper)
            });
            let (high, other) = of_singles(b, x, y, z);
            // The other half of each is zero.
            let (low, high) = (b.ins().fvdemote(low), b.ins().fvdemote(high));
            let high = exchange_halves(b, high);
            (b.ins().bor(low, high), b.ins().bor(one, other))
        }
        _ => of_doubles(b, operands[0], operands[1], operands[2]),
    }
}

/// Of numbers that f32 has, in f64: a sum that is still to be rounded to f32.
fn of_singles(b: &mut FunctionBuilder<'_>, x: Value, y: Value, z: Value) -> (Value, Value) {
    let product = b.ins().fmul(x, y);
    let sum = b.ins().fadd(product, z);
    // In the middle: of the 29 bits that go, the first alone is set. The halves of each number are looked at together.
    let bits = cast(b, types::I32X4, sum);
    let which = integers(b, [0x1fff_ffff, 0x7fff_ffff]);
    let bits = b.ins().band(bits, which);
    let middle = integers(b, [0x1000_0000, -1]);
    let middle = b.ins().icmp(IntCC::Equal, bits, middle);
    // More bits go from what is less than 2^-126; zero is what it is. No sum is so small that its upper half is zero.
    let (least, zero) = (integers(b, [0, 0x3810_0000]), integers(b, [0, 0]));
    let small = b.ins().icmp(IntCC::SignedGreaterThan, least, bits);
    let some = b.ins().icmp(IntCC::SignedGreaterThan, bits, zero);
    let small = b.ins().band(small, some);
    (sum, b.ins().bor(middle, small))
}

fn of_doubles(b: &mut FunctionBuilder<'_>, x: Value, y: Value, z: Value) -> (Value, Value) {
    let product = b.ins().fmul(x, y);
    let ([x_high, x_low], [y_high, y_low]) = (halves(b, x), halves(b, y));
    // Both errors are taken away, not added: as differences they are never -0, so that a sum of -0 stays one.
    let mut error = product;
    for (one, other) in [(x_high, y_high), (x_high, y_low), (x_low, y_high), (x_low, y_low)] {
        let part = b.ins().fmul(one, other);
        error = b.ins().fsub(error, part);
    }
    let sum = b.ins().fadd(product, z);
    let from_z = b.ins().fsub(sum, product);
    let from_product = b.ins().fsub(sum, from_z);
    let lost_of_product = b.ins().fsub(from_product, product);
    let lost_of_z = b.ins().fsub(from_z, z);
    let lost = b.ins().fadd(lost_of_product, lost_of_z);
    let rest = b.ins().fadd(lost, error);
    let result = b.ins().fsub(sum, rest);
    // What the last sum has lost is half a unit just where a little more of it would change the result. Infinities and NaN
    // have made it NaN, which differs from everything.
    let gone = b.ins().fsub(sum, result);
    let gone = b.ins().fsub(gone, rest);
    let little = number(b, 1.0 + 1.0 / (1 << 30) as f64);
    let more = b.ins().fmul(gone, little);
    let other = b.ins().fadd(result, more);
    let tie = b.ins().fcmp(FloatCC::NotEqual, result, other);
    let inexact = may_underflow(b, product, x, y);
    let undecided = b.ins().bor(tie, inexact);
    (result, cast(b, types::I32X4, undecided))
}

/// Two numbers of at most 26 bits whose sum is `x`. From what is too large comes an infinity, and a NaN in the end.
fn halves(b: &mut FunctionBuilder<'_>, x: Value) -> [Value; 2] {
    let factor = number(b, f64::from((1 << 27) + 1));
    let large = b.ins().fmul(x, factor);
    let rest = b.ins().fsub(large, x);
    let high = b.ins().fsub(large, rest);
    [high, b.ins().fsub(x, high)]
}

/// Ones where the error of a product may be too small for a float: the product is, and neither factor is zero.
fn may_underflow(b: &mut FunctionBuilder<'_>, product: Value, x: Value, y: Value) -> Value {
    let (least, zero) = (number(b, 2_f64.powi(-950)), number(b, 0.0));
    let sign = integers(b, [-1, i32::MAX]);
    let sign = cast(b, types::F64X2, sign);
    let size = b.ins().band(product, sign);
    let small = b.ins().fcmp(FloatCC::LessThan, size, least);
    let some_x = b.ins().fcmp(FloatCC::NotEqual, x, zero);
    let some_y = b.ins().fcmp(FloatCC::NotEqual, y, zero);
    let both = b.ins().band(some_x, some_y);
    b.ins().band(small, both)
}

fn number(b: &mut FunctionBuilder<'_>, value: f64) -> Value {
    let scalar = b.ins().f64const(Ieee64::with_bits(value.to_bits()));
    b.ins().splat(types::F64X2, scalar)
}

/// The lower and the upper half of each of two 64-bit numbers.
fn integers(b: &mut FunctionBuilder<'_>, halves: [i32; 2]) -> Value {
    let bytes: Vec<u8> = halves.into_iter().cycle().take(4).flat_map(i32::to_le_bytes).collect();
    let constant = b.func.dfg.constants.insert(ConstantData::from(&bytes[..]));
    b.ins().vconst(types::I32X4, constant)
}

fn cast(b: &mut FunctionBuilder<'_>, ty: Type, x: Value) -> Value {
    b.ins().bitcast(ty, MemFlagsData::new().with_endianness(Endianness::Little), x)
}

/// The upper two of four floats first, then the lower two.
fn exchange_halves(b: &mut FunctionBuilder<'_>, x: Value) -> Value {
    let order: [u8; 16] = std::array::from_fn(|byte| (byte as u8 + 8) % 16);
    let order = b.func.dfg.immediates.push(ConstantData::from(&order[..]));
    let bytes = cast(b, types::I8X16, x);
    let moved = b.ins().shuffle(bytes, bytes, order);
    cast(b, types::F32X4, moved)
}
