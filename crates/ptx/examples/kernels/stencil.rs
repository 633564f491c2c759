//! The five-point stencil through a tile in shared memory.

use farkas_ptx::build::Builder;
use farkas_ptx::ir::{Address, BinaryOp, Cache, Compare, Kernel, Operand, Space, Special, TernaryOp, Type};

use crate::elementwise::element;

pub(crate) fn all() -> Vec<Kernel> {
    vec![jacobi(32, 8), jacobi(64, 4), jacobi(16, 16)]
}

/// `y[i, j] = 0.2 * (x[i, j] + its four neighbours)` inside of a grid of `pitch` columns, whose inside is a multiple of
/// the tile. Threads load the tile with its margin together, then each computes one cell.
pub(crate) fn jacobi(width: u32, height: u32) -> Kernel {
    let mut b = Builder::new(format!("jacobi_{width}x{height}"));
    b.max_threads([width, height, 1]);
    let (columns, rows) = (width + 2, height + 2);
    let tile = b.shared("tile", 4, u64::from(columns * rows) * 4);
    let (pitch, x, y) = (b.param("pitch", Type::U32), b.param("x", Type::U64), b.param("y", Type::U64));
    let (pitch, x, y) = (b.load_param(pitch), b.load_pointer(x), b.load_pointer(y));
    let (tx, ty) = (b.mov(Type::U32, Special::TidX), b.mov(Type::U32, Special::TidY));
    let (bx, by) = (b.mov(Type::U32, Special::CtaidX), b.mov(Type::U32, Special::CtaidY));
    let left = b.binary(BinaryOp::MulLo, Type::U32, bx, i64::from(width));
    let top = b.binary(BinaryOp::MulLo, Type::U32, by, i64::from(height));
    let number = b.mad(TernaryOp::MadLo, Type::U32, ty, i64::from(width), tx);
    let start = b.mov(Type::U32, Operand::Variable(tile));
    // The tile with its margin, cell by cell in the order of memory.
    b.counted_loop(Type::U32, number, i64::from(columns * rows), i64::from(width * height), |b, cell| {
        let row = b.binary(BinaryOp::Div, Type::U32, cell, i64::from(columns));
        let column = b.binary(BinaryOp::Rem, Type::U32, cell, i64::from(columns));
        let (row, column) = (b.add(Type::U32, row, top), b.add(Type::U32, column, left));
        let index = b.mad(TernaryOp::MadLo, Type::U32, row, pitch, column);
        let from = element(b, x, index, 4);
        let value = b.load(Space::Global, Cache::NonCoherent, Type::F32, from);
        let offset = b.binary(BinaryOp::Shl, Type::B32, cell, 2);
        let to = b.add(Type::U32, start, offset);
        b.store(Space::Shared, Type::F32, to, &[value]);
    });
    b.barrier();
    let cell = b.mad(TernaryOp::MadLo, Type::U32, ty, i64::from(columns), tx);
    let offset = b.binary(BinaryOp::Shl, Type::B32, cell, 2);
    let corner = b.add(Type::U32, start, offset);
    let at = |row: u32, column: u32| Address::at(corner, i64::from((row * columns + column) * 4));
    let mut sum = b.load(Space::Shared, Cache::Default, Type::F32, at(1, 1));
    for (row, column) in [(0, 1), (1, 0), (1, 2), (2, 1)] {
        let value = b.load(Space::Shared, Cache::Default, Type::F32, at(row, column));
        sum = b.add(Type::F32, sum, value);
    }
    let result = b.binary(BinaryOp::Mul, Type::F32, sum, Operand::f32(0.2));
    let (row, column) = (b.add(Type::U32, top, ty), b.add(Type::U32, left, tx));
    let index = b.mad(TernaryOp::MadLo, Type::U32, row, pitch, column);
    let index = b.add(Type::U32, index, pitch);
    let to = element(&mut b, y, index, 4);
    // The last column of the inside is known to exist; the guard shows a predicated store.
    let inside = b.compare(Compare::Lt, Type::U32, column, pitch);
    b.guarded(inside, false, |b| b.store(Space::Global, Type::F32, Address::at(to, 4), &[result]));
    b.ret();
    b.finish()
}
