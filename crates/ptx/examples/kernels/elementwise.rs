//! Kernels that treat every element alike.

use farkas_ptx::build::Builder;
use farkas_ptx::ir::{Address, BinaryOp, Cache, Compare, Kernel, Operand, Reg, Space, Special, TernaryOp, Type};

pub(crate) fn all() -> Vec<Kernel> {
    let mut all = vec![saxpy_wide(256)];
    for ty in [Type::F32, Type::F64, Type::S32, Type::S64, Type::S16, Type::U8] {
        all.push(axpy(ty, 256));
    }
    all
}

/// The number of the thread in the grid, along x.
pub(crate) fn global_index(b: &mut Builder) -> Reg {
    let block = b.mov(Type::U32, Special::CtaidX);
    let size = b.mov(Type::U32, Special::NtidX);
    let thread = b.mov(Type::U32, Special::TidX);
    b.mad(TernaryOp::MadLo, Type::U32, block, size, thread)
}

/// `base + index * bytes`.
pub(crate) fn element(b: &mut Builder, base: Reg, index: impl Into<Operand>, bytes: i64) -> Reg {
    b.mad(TernaryOp::MadWide, Type::U32, index, bytes, base)
}

/// `y[i] = a * x[i] + y[i]` for `i < n`.
pub(crate) fn axpy(ty: Type, threads: u32) -> Kernel {
    let mut b = Builder::new(format!("axpy_{}", ty.word()));
    b.max_threads([threads, 1, 1]);
    let (n, a) = (b.param("n", Type::U32), b.param("a", ty));
    let (x, y) = (b.param("x", Type::U64), b.param("y", Type::U64));
    let i = global_index(&mut b);
    let n = b.load_param(n);
    let outside = b.compare(Compare::Ge, Type::U32, i, n);
    let end = b.label("end");
    b.branch_if(outside, false, end);
    let (x, y) = (b.load_pointer(x), b.load_pointer(y));
    let bytes = i64::from(ty.bytes());
    let (x, y) = (element(&mut b, x, i, bytes), element(&mut b, y, i, bytes));
    // Bytes are computed with as 16-bit integers.
    let work = if ty == Type::U8 { Type::U16 } else { ty };
    let a = if ty == Type::U8 {
        let a = b.load_param(a);
        b.convert(Type::U16, Type::U8, a)
    } else {
        b.load_param(a)
    };
    let x = b.load(Space::Global, Cache::NonCoherent, ty, x);
    let old = b.load(Space::Global, Cache::Default, ty, y);
    let new = if work.is_float() {
        let new = b.reg(work);
        b.fma_into(work, new, a, x, old);
        new
    } else {
        b.mad(TernaryOp::MadLo, work, a, x, old)
    };
    b.store(Space::Global, ty, y, &[new]);
    b.place(end);
    b.ret();
    b.finish()
}

/// As [`axpy`], four elements for each thread; `n` is a multiple of four.
pub(crate) fn saxpy_wide(threads: u32) -> Kernel {
    let ty = Type::F32;
    let mut b = Builder::new("saxpy_wide");
    b.max_threads([threads, 1, 1]);
    let (n, a) = (b.param("n", Type::U32), b.param("a", ty));
    let (x, y) = (b.param("x", Type::U64), b.param("y", Type::U64));
    let i = global_index(&mut b);
    let i = b.binary(BinaryOp::Shl, Type::B32, i, 2);
    let n = b.load_param(n);
    let outside = b.compare(Compare::Ge, Type::U32, i, n);
    let end = b.label("end");
    b.branch_if(outside, false, end);
    let (x, y) = (b.load_pointer(x), b.load_pointer(y));
    let (x, y) = (element(&mut b, x, i, 4), element(&mut b, y, i, 4));
    let a = b.load_param(a);
    let xs = b.load_vector(Space::Global, Cache::NonCoherent, ty, 4, x);
    let ys = b.load_vector(Space::Global, Cache::Default, ty, 4, Address::at(y, 0));
    for (x, y) in xs.iter().zip(&ys) {
        b.fma_into(ty, *y, a, *x, *y);
    }
    b.store(Space::Global, ty, y, &ys);
    b.place(end);
    b.ret();
    b.finish()
}
