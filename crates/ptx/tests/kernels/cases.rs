//! One launch for each example kernel, with the result computed here.

use farkas_ptx::emulate::Argument;
use farkas_ptx::ir::Type;

use crate::Value::{Buffer, Scalar};
use crate::matmul::{TILES, Tile};
use crate::{Case, elementwise, exchange, matmul, reduce, stencil};

pub(crate) fn all() -> Vec<Case> {
    let mut all = vec![wide(), row_sum(), normalise(), tree_sum(), prefix_sum(), histogram(), reverse(), filter()];
    all.extend([Type::F32, Type::F64, Type::S32, Type::S64, Type::S16, Type::U8].map(axpy));
    all.extend([(32, 8), (64, 4), (16, 16)].map(|(width, height)| jacobi(width, height)));
    all.extend([(32, 33), (16, 16)].map(|(size, stride)| transpose(size, stride)));
    all.extend(TILES.map(product));
    all.push(copy_async());
    all
}

/// Small whole numbers, so that sums are exact in any order.
fn numbers(count: usize, seed: u32) -> Vec<f32> {
    (0..count as u32).map(|i| (i.wrapping_mul(2_654_435_761).wrapping_add(seed) >> 24 & 15) as f32 - 7.0).collect()
}

fn f32s(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

fn u32s(values: &[u32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

/// 1,000 elements on blocks of 256: the last block is not full.
fn axpy(ty: Type) -> Case {
    let n = 1000;
    let bytes_of = |value: i64| match ty {
        Type::F32 => (value as f32).to_le_bytes().to_vec(),
        Type::F64 => (value as f64).to_le_bytes().to_vec(),
        _ => value.to_le_bytes()[..ty.bytes() as usize].to_vec(),
    };
    let all = |f: &dyn Fn(i64) -> i64| (0..n).flat_map(|i| bytes_of(f(i))).collect::<Vec<u8>>();
    let (x, y) = (|i: i64| i % 37 - 5, |i: i64| i % 11);
    Case {
        kernel: elementwise::axpy(ty, 256),
        grid: [4, 1, 1],
        block: [256, 1, 1],
        buffers: vec![("x", all(&x)), ("y", all(&y))],
        arguments: vec![Scalar(Argument::U32(n as u32)), Scalar(Argument::Bytes(bytes_of(3))), Buffer(0), Buffer(1)],
        expected: (1, all(&|i| 3 * x(i) + y(i))),
    }
}

fn wide() -> Case {
    let (x, y) = (numbers(1024, 1), numbers(1024, 2));
    let expected: Vec<f32> = x.iter().zip(&y).map(|(x, y)| 2.0 * x + y).collect();
    Case {
        kernel: elementwise::saxpy_wide(256),
        grid: [1, 1, 1],
        block: [256, 1, 1],
        buffers: vec![("x", f32s(&x)), ("y", f32s(&y))],
        arguments: vec![Scalar(Argument::U32(1024)), Scalar(Argument::F32(2.0)), Buffer(0), Buffer(1)],
        expected: (1, f32s(&expected)),
    }
}

fn row_sum() -> Case {
    let (rows, columns) = (3, 2048);
    let x = numbers(rows * columns, 3);
    let sums: Vec<f32> = x.chunks(columns).map(|row| row.iter().sum()).collect();
    Case {
        kernel: reduce::row_sum(256),
        grid: [rows as u32, 1, 1],
        block: [256, 1, 1],
        buffers: vec![("x", f32s(&x)), ("out", vec![0; rows * 4])],
        arguments: vec![Scalar(Argument::U32(columns as u32)), Buffer(0), Buffer(1)],
        expected: (1, f32s(&sums)),
    }
}

fn normalise() -> Case {
    let (rows, columns) = (2, 300);
    let x = numbers(rows * columns, 4);
    let expected: Vec<f32> = x
        .chunks(columns)
        .flat_map(|row| {
            let largest = row.iter().copied().fold(f32::NEG_INFINITY, f32::max);
            let sum: f32 = row.iter().map(|x| x - largest).sum();
            row.iter().map(move |x| (x - largest) / sum).collect::<Vec<_>>()
        })
        .collect();
    Case {
        kernel: reduce::normalise_rows(128),
        grid: [rows as u32, 1, 1],
        block: [128, 1, 1],
        buffers: vec![("x", f32s(&x)), ("y", vec![0; rows * columns * 4])],
        arguments: vec![Scalar(Argument::U32(columns as u32)), Buffer(0), Buffer(1)],
        expected: (1, f32s(&expected)),
    }
}

fn tree_sum() -> Case {
    let x = numbers(256, 5);
    let sums: Vec<f32> = x.chunks(128).map(|row| row.iter().sum()).collect();
    Case {
        kernel: reduce::tree_sum(128),
        grid: [2, 1, 1],
        block: [128, 1, 1],
        buffers: vec![("x", f32s(&x)), ("out", vec![0; 8])],
        arguments: vec![Buffer(0), Buffer(1)],
        expected: (1, f32s(&sums)),
    }
}

fn prefix_sum() -> Case {
    let x: Vec<u32> = (0..256).map(|i| i * 7 % 23).collect();
    let sums = x.chunks(128).flat_map(|row| {
        let mut sum = 0;
        row.iter().map(move |x| {
            sum += x;
            sum
        })
    });
    Case {
        kernel: reduce::prefix_sum(128),
        grid: [2, 1, 1],
        block: [128, 1, 1],
        buffers: vec![("x", u32s(&x)), ("y", vec![0; 1024])],
        arguments: vec![Buffer(0), Buffer(1)],
        expected: (1, u32s(&sums.collect::<Vec<_>>())),
    }
}

fn histogram() -> Case {
    let x: Vec<u32> = (0..384).map(|i| i * i * 31 + i).collect();
    let mut counts = [0; 32];
    x.iter().for_each(|x| counts[(x % 32) as usize] += 1);
    Case {
        kernel: exchange::histogram(128),
        grid: [3, 1, 1],
        block: [128, 1, 1],
        buffers: vec![("x", u32s(&x)), ("counts", vec![0; 128])],
        arguments: vec![Buffer(0), Buffer(1)],
        expected: (1, u32s(&counts)),
    }
}

fn reverse() -> Case {
    let x: Vec<f64> = (0..256).map(f64::from).collect();
    let bytes = |values: &[f64]| values.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<u8>>();
    let expected: Vec<f64> = x.chunks(128).flat_map(|row| row.iter().rev().copied()).collect();
    Case {
        kernel: exchange::reverse(128),
        grid: [2, 1, 1],
        block: [128, 1, 1],
        buffers: vec![("x", bytes(&x))],
        arguments: vec![Buffer(0)],
        expected: (0, bytes(&expected)),
    }
}

fn filter() -> Case {
    let x: Vec<u8> = (0..=255).map(|i: u8| i.wrapping_mul(5)).collect();
    let expected = x.chunks(128).flat_map(|row| {
        (0..128).map(|i| row[i].wrapping_add(if i == 0 { 0 } else { row[i - 1] })).collect::<Vec<u8>>()
    });
    Case {
        kernel: exchange::filter(128),
        grid: [2, 1, 1],
        block: [128, 1, 1],
        expected: (1, expected.collect()),
        buffers: vec![("x", x), ("y", vec![0; 256])],
        arguments: vec![Buffer(0), Buffer(1)],
    }
}

fn copy_async() -> Case {
    let x = numbers(2048, 9);
    let expected = x.chunks(1024).flat_map(|block| block.chunks(4).rev().flatten().copied());
    Case {
        kernel: exchange::copy_async(256),
        grid: [2, 1, 1],
        block: [256, 1, 1],
        expected: (1, f32s(&expected.collect::<Vec<_>>())),
        buffers: vec![("x", f32s(&x)), ("y", vec![0; 8192])],
        arguments: vec![Buffer(0), Buffer(1)],
    }
}

/// A grid of 2 × 2 tiles with a margin of one cell.
fn jacobi(width: u32, height: u32) -> Case {
    let (pitch, rows) = ((2 * width + 2) as usize, (2 * height + 2) as usize);
    let x = numbers(pitch * rows, 6);
    let mut expected = vec![0.0; pitch * rows];
    for i in 1..rows - 1 {
        for j in 1..pitch - 1 {
            let at = |di: usize, dj: usize| x[(i + di - 1) * pitch + j + dj - 1];
            expected[i * pitch + j] = (at(1, 1) + at(0, 1) + at(1, 0) + at(1, 2) + at(2, 1)) * 0.2;
        }
    }
    Case {
        kernel: stencil::jacobi(width, height),
        grid: [2, 2, 1],
        block: [width, height, 1],
        buffers: vec![("x", f32s(&x)), ("y", vec![0; pitch * rows * 4])],
        arguments: vec![Scalar(Argument::U32(pitch as u32)), Buffer(0), Buffer(1)],
        expected: (1, f32s(&expected)),
    }
}

fn transpose(size: u32, stride: u32) -> Case {
    let pitch = 2 * size as usize;
    let x = numbers(pitch * pitch, 7);
    let expected: Vec<f32> = (0..pitch * pitch).map(|at| x[at % pitch * pitch + at / pitch]).collect();
    Case {
        kernel: exchange::transpose(size, stride),
        grid: [2, 2, 1],
        block: [size, size, 1],
        buffers: vec![("x", f32s(&x)), ("y", vec![0; pitch * pitch * 4])],
        arguments: vec![Scalar(Argument::U32(pitch as u32)), Buffer(0), Buffer(1)],
        expected: (1, f32s(&expected)),
    }
}

/// Two tiles along the columns, and three along the depth.
fn product(tile: Tile) -> Case {
    let (m, n, k) = (tile.rows as usize, 2 * tile.columns as usize, 3 * tile.depth as usize);
    let (a, b) = (numbers(m * k, 10), numbers(k * n, 11));
    let mut c = vec![0.0; m * n];
    for i in 0..m {
        for l in 0..k {
            for j in 0..n {
                c[i * n + j] += a[i * k + l] * b[l * n + j];
            }
        }
    }
    Case {
        kernel: matmul::matmul(tile),
        grid: [2, 1, 1],
        block: [tile.threads(), 1, 1],
        buffers: vec![("a", f32s(&a)), ("b", f32s(&b)), ("c", vec![0; m * n * 4])],
        arguments: vec![
            Scalar(Argument::U32(n as u32)),
            Scalar(Argument::U32(k as u32)),
            Buffer(0),
            Buffer(1),
            Buffer(2),
        ],
        expected: (2, f32s(&c)),
    }
}
