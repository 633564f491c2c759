//! Matrix multiplication with tiles in shared memory and in registers.

use farkas_ptx::build::Builder;
use farkas_ptx::ir::{Address, BinaryOp, Cache, Kernel, Operand, Reg, Space, Special, TernaryOp, Type};

use crate::elementwise::element;

/// `C = A B` in blocks of `rows × columns`, a thread for each `8 × 8` of it; `depth` columns of A at a time. Sizes are
/// multiples of the tile.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tile {
    pub(crate) rows: u32,
    pub(crate) columns: u32,
    pub(crate) depth: u32,
}

impl Tile {
    pub(crate) fn threads(self) -> u32 {
        self.rows * self.columns / 64
    }
}

pub(crate) const TILES: [Tile; 3] = [
    Tile { rows: 128, columns: 128, depth: 8 },
    Tile { rows: 64, columns: 64, depth: 8 },
    Tile { rows: 64, columns: 128, depth: 16 },
];

pub(crate) fn all() -> Vec<Kernel> {
    TILES.into_iter().map(matmul).collect()
}

/// The columns of a tile's rows in shared memory are apart by this much, so that transposed stores hit all banks.
const PADDING: u32 = 4;

/// Four values that a thread copies from global to shared memory.
struct Piece {
    from: Reg,
    to: Reg,
    values: Vec<Reg>,
}

pub(crate) fn matmul(tile: Tile) -> Kernel {
    let Tile { rows, columns, depth } = tile;
    let mut b = Builder::new(format!("matmul_{rows}x{columns}x{depth}"));
    b.max_threads([tile.threads(), 1, 1]);
    let stride = rows + PADDING;
    let a_room = b.shared("a_tile", 16, u64::from(stride * depth) * 4);
    let b_room = b.shared("b_tile", 16, u64::from(columns * depth) * 4);
    let (n, k) = (b.param("n", Type::U32), b.param("k", Type::U32));
    let (pa, pb, pc) = (b.param("a", Type::U64), b.param("b", Type::U64), b.param("c", Type::U64));
    let (n, k) = (b.load_param(n), b.load_param(k));
    let (pa, pb, pc) = (b.load_pointer(pa), b.load_pointer(pb), b.load_pointer(pc));
    let thread = b.mov(Type::U32, Special::TidX);
    let (bx, by) = (b.mov(Type::U32, Special::CtaidX), b.mov(Type::U32, Special::CtaidY));
    let top = b.binary(BinaryOp::MulLo, Type::U32, by, i64::from(rows));
    let left = b.binary(BinaryOp::MulLo, Type::U32, bx, i64::from(columns));

    let mut a_pieces = a_pieces(&mut b, tile, (pa, k, top), Operand::Variable(a_room), thread);
    let mut b_pieces = b_pieces(&mut b, tile, (pb, n, left), Operand::Variable(b_room), thread);
    let b_step = b.binary(BinaryOp::MulWide, Type::U32, n, i64::from(depth * 4));

    // The thread's cells: four rows (columns) near the start of the tile and four in its second half.
    let across = columns / 8;
    let column = b.binary(BinaryOp::And, Type::B32, thread, i64::from(across) - 1);
    let row = b.binary(BinaryOp::Shr, Type::U32, thread, i64::from(across.ilog2()));
    let a_start = b.mov(Type::U32, Operand::Variable(a_room));
    let b_start = b.mov(Type::U32, Operand::Variable(b_room));
    let a_at = b.mad(TernaryOp::MadLo, Type::U32, row, 16, a_start);
    let b_at = b.mad(TernaryOp::MadLo, Type::U32, column, 16, b_start);
    let cells: Vec<Reg> = (0..64).map(|_| b.mov(Type::F32, Operand::f32(0.0))).collect();

    load(&mut b, &mut a_pieces, &mut b_pieces, b_step, depth);
    let (head, last) = (b.label("tile"), b.label("last"));
    let rest = b.mov(Type::S32, k);
    b.place(head);
    for piece in &a_pieces {
        for (word, value) in (0..).zip(&piece.values) {
            let place = Address::at(piece.to, i64::from(word * stride * 4));
            b.store(Space::Shared, Type::F32, place, &[*value]);
        }
    }
    for piece in &b_pieces {
        b.store(Space::Shared, Type::F32, piece.to, &piece.values);
    }
    b.barrier();
    // The next tile is on its way while this one is used.
    b.binary_into(BinaryOp::Add, Type::S32, rest, rest, -i64::from(depth));
    let ends = b.compare(farkas_ptx::ir::Compare::Le, Type::S32, rest, 0);
    b.branch_if(ends, false, last);
    load(&mut b, &mut a_pieces, &mut b_pieces, b_step, depth);
    multiply(&mut b, tile, stride, a_at, b_at, &cells);
    b.barrier();
    b.branch(head);
    b.place(last);
    multiply(&mut b, tile, stride, a_at, b_at, &cells);

    let row = b.mad(TernaryOp::MadLo, Type::U32, row, 4, top);
    let column = b.mad(TernaryOp::MadLo, Type::U32, column, 4, left);
    for (number, cells) in (0..).zip(cells.chunks(8)) {
        let row = b.add(Type::U32, row, half(number, rows));
        let index = b.mad(TernaryOp::MadLo, Type::U32, row, n, column);
        let to = element(&mut b, pc, index, 4);
        b.store(Space::Global, Type::F32, to, &cells[..4]);
        b.store(Space::Global, Type::F32, Address::at(to, i64::from(columns * 2)), &cells[4..]);
    }
    b.ret();
    b.finish()
}

/// The offset of a thread's row (or column) `number` in its tile: 0..4, or that in the second half.
fn half(number: u32, extent: u32) -> i64 {
    i64::from(number % 4 + number / 4 * (extent / 2))
}

/// Four values along a row of A for each thread, stored as a column.
fn a_pieces(b: &mut Builder, tile: Tile, (pa, k, top): (Reg, Reg, Reg), room: Operand, thread: Reg) -> Vec<Piece> {
    let stride = tile.rows + PADDING;
    let in_row = tile.depth / 4;
    let start = b.mov(Type::U32, room);
    let quarter = b.binary(BinaryOp::And, Type::B32, thread, i64::from(in_row) - 1);
    let row = b.binary(BinaryOp::Shr, Type::U32, thread, i64::from(in_row.ilog2()));
    let at_once = tile.threads() / in_row;
    let pieces = (0..tile.rows / at_once).map(|round| {
        let row = b.add(Type::U32, row, i64::from(round * at_once));
        let global = b.add(Type::U32, top, row);
        let index = b.binary(BinaryOp::MulLo, Type::U32, global, k);
        let index = b.mad(TernaryOp::MadLo, Type::U32, quarter, 4, index);
        let from = element(b, pa, index, 4);
        let place = b.mad(TernaryOp::MadLo, Type::U32, quarter, i64::from(stride * 4), row);
        let to = b.mad(TernaryOp::MadLo, Type::U32, place, 4, start);
        Piece { from, to, values: (0..4).map(|_| b.reg(Type::F32)).collect() }
    });
    pieces.collect()
}

/// Four values along a row of B for each thread.
fn b_pieces(b: &mut Builder, tile: Tile, (pb, n, left): (Reg, Reg, Reg), room: Operand, thread: Reg) -> Vec<Piece> {
    let in_row = tile.columns / 4;
    let start = b.mov(Type::U32, room);
    let column = b.binary(BinaryOp::And, Type::B32, thread, i64::from(in_row) - 1);
    let row = b.binary(BinaryOp::Shr, Type::U32, thread, i64::from(in_row.ilog2()));
    let at_once = tile.threads() / in_row;
    let column = b.binary(BinaryOp::Shl, Type::B32, column, 2);
    let pieces = (0..tile.depth / at_once).map(|round| {
        let row = b.add(Type::U32, row, i64::from(round * at_once));
        let index = b.mad(TernaryOp::MadLo, Type::U32, row, n, column);
        let index = b.add(Type::U32, index, left);
        let from = element(b, pb, index, 4);
        let place = b.mad(TernaryOp::MadLo, Type::U32, row, i64::from(tile.columns), column);
        let to = b.mad(TernaryOp::MadLo, Type::U32, place, 4, start);
        Piece { from, to, values: (0..4).map(|_| b.reg(Type::F32)).collect() }
    });
    pieces.collect()
}

/// Loads all pieces and moves their pointers to the next tile.
fn load(b: &mut Builder, a_pieces: &mut [Piece], b_pieces: &mut [Piece], b_step: Reg, depth: u32) {
    let one = |b: &mut Builder, piece: &Piece, step: Operand| {
        let (space, cache, ty) = (Space::Global, Cache::NonCoherent, Type::F32);
        b.push(farkas_ptx::ir::Op::Load { space, cache, ty, dst: piece.values.clone(), from: piece.from.into() });
        b.binary_into(BinaryOp::Add, Type::U64, piece.from, piece.from, step);
    };
    a_pieces.iter().for_each(|piece| one(b, piece, Operand::Int(i64::from(depth * 4))));
    b_pieces.iter().for_each(|piece| one(b, piece, b_step.into()));
}

/// Adds the product of the tiles in shared memory to the thread's cells.
fn multiply(b: &mut Builder, tile: Tile, stride: u32, a_at: Reg, b_at: Reg, cells: &[Reg]) {
    let eight = |b: &mut Builder, base: Reg, offset: u32, extent: u32| {
        let mut values = Vec::with_capacity(8);
        for half in [0, extent / 2] {
            let from = Address::at(base, i64::from((offset + half) * 4));
            values.extend(b.load_vector(Space::Shared, Cache::Default, Type::F32, 4, from));
        }
        values
    };
    for k in 0..tile.depth {
        let a = eight(b, a_at, k * stride, tile.rows);
        let bs = eight(b, b_at, k * tile.columns, tile.columns);
        for (a, cells) in a.iter().zip(cells.chunks(8)) {
            for (b_value, cell) in bs.iter().zip(cells) {
                b.fma_into(Type::F32, *cell, *a, *b_value, *cell);
            }
        }
    }
}
