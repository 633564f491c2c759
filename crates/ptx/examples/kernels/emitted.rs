//! Loop trees whose kernels are the work of `emit`.

use farkas_ptx::emit;
use farkas_ptx::ir::{Module, Target};

pub(crate) const MATMUL: &str = "\
kernel matmul(N, M, K; A: in f32[N, K], B: in f32[K, M], C: out f32[N, M]) {
    local s: f32
    parallel for i in 0..N {
        parallel for j in 0..M {
            s = 0.0
            for k in 0..K {
                s += A[i, k] * B[k, j]
            }
            C[i, j] = s
        }
    }
}
";

pub(crate) const JACOBI: &str = "\
kernel jacobi(T, N; A: inout f64[N, N], B: inout f64[N, N]) {
    for t in 0..T {
        parallel for i in 1..N - 1 {
            parallel for j in 1..N - 1 {
                B[i, j] = 0.2 * (A[i, j] + A[i, j - 1] + A[i, j + 1] + A[i + 1, j] + A[i - 1, j])
            }
        }
        if t < T - 1 {
            parallel for i2 in 1..N - 1 {
                for j2 in 1..N - 1 {
                    A[i2, j2] = B[i2, j2] - 0.125
                }
            }
        }
    }
}
";

pub(crate) const TRIANGLE: &str = "\
kernel triangle(N; A: inout f64[N, N]) {
    for k in 0..N {
        parallel for i in k + 1..N by 3 {
            parallel for j in max(k, 2)..min(N, i + 4) by 2 {
                A[i, j] = A[i, j] - A[k, j] * 0.5
            }
        }
    }
}
";

pub(crate) const NARROW: &str = "\
kernel narrow(N; c: i8, on: bool, h: i16; a: in i8[N], b: in u8[N], x: in f64[N], d: in i64[N], s: out i8[N],
    u: out u8[N], w: out i16[N], f: out bool[N], g: inout bool[N], i: out i32[N], l: out i64[N], m: out i64[N]) {
    parallel for k in 0..N {
        s[k] = a[k] * c + i8(x[k] * 100.0) - -a[k]
        u[k] = b[k] + b[k] * 3 - u8(d[k])
        w[k] = abs(h * i16(a[k])) + i16(x[k] * 1e6)
        f[k] = (x[k] < 1.0 and on) or not (a[k] == -128) or a[k] != 3
        g[k] = select(x[k] > 0.0, g[k], b[k] < 100) == bool(x[k])
        i[k] = i32(d[k]) / 7 + i32(b[k]) % -5 + i32(a[k]) / -3
        l[k] = d[k] % 10 + i64(x[k] * 1e30) + i64(f[k]) + index(k)
        m[k] = max(d[k], i64(-5)) + min(i64(b[k]), 100)
    }
}
";

pub(crate) const HALVES: &str = "\
kernel halves(N; c: f16; a: in f16[N], b: in bf16[N], x: in f32[N], h: out f16[N], w: out bf16[N], f: out f32[N]) {
    parallel for k in 0..N {
        h[k] = f16(f32(a[k]) * f32(c) + x[k])
        w[k] = select(x[k] < 0.0, b[k], bf16(f32(b[k]) / 3.0))
        f[k] = f32(a[k]) + f32(b[k])
    }
}
";

pub(crate) const FLOATS: &str = "\
kernel floats(N; x: in f32[N], y: in f64[N], a: out f32[N], b: out f64[N], c: out bool[N]) {
    parallel for k in 0..N {
        a[k] = min(x[k], sqrt(x[k])) + ceil(f32(y[k])) * max(x[k], -0.0) - select(x[k] < 0.0, -x[k], x[k])
        b[k] = sqrt(abs(y[k])) / y[k] - floor(y[k]) + min(y[k], sqrt(y[k])) + max(-0.0, y[k] * 0.0)
        c[k] = sqrt(x[k]) != sqrt(x[k])
    }
}
";

pub(crate) const FUNCTIONS: &str = "\
kernel functions(N; x: in f64[N], y: out f64[N], z: out f32[N]) {
    parallel for k in 0..N {
        y[k] = exp(x[k]) + sin(x[k]) * pow(x[k], 0.3)
        z[k] = tanh(f32(x[k])) - log(f32(x[k]))
    }
}
";

pub(crate) const PRIVATES: &str = "\
kernel privates(N, M; x: in f64[N, M], y: out f64[N]) {
    array row: f64[M]
    array two: f64[2]
    parallel for i in 0..N private row {
        for j in 0..M {
            row[j] = x[i, j] * 2.0
        }
        alloc two in scratch {
            two[0] = 0.0
            two[1] = 1.0
            for k in 0..M {
                two[0] = two[0] + row[M - 1 - k]
                two[1] = two[1] * row[k]
            }
            y[i] = two[0] - two[1]
        }
    }
}
";

pub(crate) const ROWS: &str = "\
kernel rows(N; x: inout f64[N], y: out f64[N]) {
    parallel for i in 0..N {
        x[i] = x[i] + 1.0
        barrier
        y[i] = x[N - 1 - i]
    }
}
";

pub(crate) const SUM: &str = "\
kernel sum(N; x: in f64[N], s: out f64[], y: out f64[N]) {
    s[] = 0.0
    parallel for i in 0..N reducing s by + {
        s[] += x[i]
    }
    parallel for j in 0..N {
        y[j] = x[j] / s[]
    }
}
";

pub(crate) const HANDED: &str = "\
kernel handed(N; x: in f64[N], y: out f64[N]) {
    local s: f64
    s = x[0] * 2.0
    parallel for i in 0..N {
        y[i] = x[i] + s
    }
}
";

pub(crate) const UNSIGNED: &str = "\
kernel unsigned(N; c: u16, d: u64; a: in u16[N], b: in u32[N], e: in u64[N], s: in i8[N], x: in f64[N], t: in i64[N],
    u: out u16[N], v: out u32[N], w: out u64[N], y: out i8[N], z: out i64[N], r: out f32[N]) {
    parallel for k in 0..N {
        u[k] = bit_xor(a[k] * c, bit_not(a[k])) / 7 + shl(a[k], a[k] % 20)
        v[k] = shr(b[k], u32(a[k]) % 40) + u32(s[k]) - min(b[k], u32(x[k] * 1e9)) + -b[k]
        w[k] = max(e[k], d) % 1000 + u64(s[k]) + bit_and(e[k], u64(b[k])) + shl(d, e[k] % 80)
        y[k] = bit_or(shr(s[k], s[k]), shl(s[k], 1)) + i8(e[k]) + i8(b[k])
        z[k] = shr(t[k], i64(s[k])) + i64(b[k]) + i64(e[k]) + select(b[k] < 1000000000, t[k], i64(u16(t[k])))
        r[k] = f32(e[k]) + f32(b[k]) - f32(s[k])
    }
}
";

/// A block for each tile of C, a thread for each 4 × 4 of it, tiles of A and B in shared memory.
pub(crate) const TILED: &str = "\
kernel tiled(N, M, K; A: in f32[N, K], B: in f32[K, M], C: out f32[N, M]) {
    array a: f32[32, 8]
    array b: f32[8, 32]
    array c: f32[4, 4]
    parallel for i in 0..N by 32 {
        parallel for j in 0..M by 32 {
            alloc a in shared {
                alloc b in shared {
                    parallel for t in 0..64 {
                        alloc c in registers {
                            unroll for x0 in 0..4 {
                                unroll for y0 in 0..4 {
                                    c[x0, y0] = 0.0
                                }
                            }
                            for k in 0..K by 8 {
                                unroll for p in 0..4 {
                                    a[8 * p + floor(t / 8), t mod 8] = A[i + 8 * p + floor(t / 8), k + t mod 8]
                                    b[2 * p + floor(t / 32), t mod 32] = B[k + 2 * p + floor(t / 32), j + t mod 32]
                                }
                                barrier
                                unroll for l in 0..8 {
                                    unroll for x in 0..4 {
                                        unroll for y in 0..4 {
                                            c[x, y] += a[4 * floor(t / 8) + x, l] * b[l, 4 * (t mod 8) + y]
                                        }
                                    }
                                }
                                barrier
                            }
                            unroll for x1 in 0..4 {
                                unroll for y1 in 0..4 {
                                    C[i + 4 * floor(t / 8) + x1, j + 4 * (t mod 8) + y1] = c[x1, y1]
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}
";

/// Blocks whose loops follow each other: a row is copied, then used; the last block is not full.
pub(crate) const STAGED: &str = "\
kernel staged(T, N; x: in f64[T, N], y: out f64[T, N]) {
    array s: f64[66]
    array r: f64[64]
    parallel for b in 0..floor((N + 63) / 64) {
        alloc s in shared {
            alloc r in shared {
                for t in 0..T {
                    parallel for u in 0..66 {
                        s[u] = x[t, min(max(64 * b + u - 1, 0), N - 1)]
                    }
                    parallel for v in 0..64 {
                        r[v] = s[v] + s[v + 2]
                    }
                    parallel for w in 0..min(64, N - 64 * b) {
                        y[t, 64 * b + w] = r[w] + r[63 - w] * s[w + 1]
                    }
                }
            }
        }
    }
}
";

pub(crate) const ALL: [&str; 14] =
    [TILED, STAGED, UNSIGNED, MATMUL, JACOBI, TRIANGLE, NARROW, HALVES, FLOATS, FUNCTIONS, PRIVATES, ROWS, SUM, HANDED];

/// The modules of all trees for a target, each under a name of its own.
pub(crate) fn all(sm: u32) -> Result<Vec<(String, Module)>, String> {
    let translate = |text: &&str| {
        let tree = loops::verify(loops::parse(text).map_err(|error| error.to_string())?);
        let program =
            emit(&tree.map_err(|error| error.to_string())?, Target::sm(sm)).map_err(|error| error.to_string())?;
        Ok((format!("{}_sm_{sm}", program.loops.name), program.module.module().clone()))
    };
    ALL.iter().map(translate).collect()
}
