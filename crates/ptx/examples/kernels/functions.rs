//! Every mathematical function, applied to the elements of arrays.

use farkas_ptx::build::Builder;
use farkas_ptx::ir::{Cache, Compare, Kernel, Reg, Space, Type};
use farkas_ptx::mathematics::{binary, unary};

use crate::elementwise::{element, global_index};

const FLOATS: [Type; 2] = [Type::F32, Type::F64];

pub(crate) fn all() -> Vec<Kernel> {
    let ones = math::Unary::ALL.iter().flat_map(|function| FLOATS.map(|ty| of_one(*function, ty)));
    let twos = math::Binary::ALL.iter().flat_map(|function| FLOATS.map(|ty| of_two(*function, ty)));
    ones.chain(twos).collect()
}

/// `y[i] = function(x[i])` for `i < n`.
pub(crate) fn of_one(function: math::Unary, ty: Type) -> Kernel {
    map(&format!("{}_{}", function.name(), ty.word()), ty, &["x"], |b, x| unary(b, function, ty, x[0]))
}

/// `y[i] = function(x[i], z[i])` for `i < n`.
pub(crate) fn of_two(function: math::Binary, ty: Type) -> Kernel {
    map(&format!("{}_{}", function.name(), ty.word()), ty, &["x", "z"], |b, x| binary(b, function, ty, x[0], x[1]))
}

fn map(name: &str, ty: Type, inputs: &[&str], apply: impl FnOnce(&mut Builder, &[Reg]) -> Reg) -> Kernel {
    let mut b = Builder::new(name);
    b.max_threads([128, 1, 1]);
    let n = b.param("n", Type::U32);
    let inputs: Vec<_> = inputs.iter().map(|name| b.param(*name, Type::U64)).collect();
    let y = b.param("y", Type::U64);
    let i = global_index(&mut b);
    let n = b.load_param(n);
    let outside = b.compare(Compare::Ge, Type::U32, i, n);
    let end = b.label("end");
    b.branch_if(outside, false, end);
    let bytes = i64::from(ty.bytes());
    let mut values = Vec::new();
    for input in inputs {
        let input = b.load_pointer(input);
        let from = element(&mut b, input, i, bytes);
        values.push(b.load(Space::Global, Cache::NonCoherent, ty, from));
    }
    let result = apply(&mut b, &values);
    let y = b.load_pointer(y);
    let to = element(&mut b, y, i, bytes);
    b.store(Space::Global, ty, to, &[result]);
    b.place(end);
    b.ret();
    b.finish()
}
