//! The kernels: sizes of each dataset, what fills their arguments, and the work that the mathematics asks for.

/// What an array holds before the first run; everything else is uniform in [0, 1), and scalars are in [`Kernel::scalars`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fill {
    Unit,
    Zero,
    /// Symmetric, with the extent added on the diagonal: positive definite, and safe to divide by.
    Dominant,
    /// So small that a Toeplitz matrix with ones on its diagonal stays positive definite.
    Small,
    /// One of four bases.
    Bases,
    /// Whole numbers from 1 to 999.
    Lengths,
}

pub(super) struct Kernel {
    pub(super) name: &'static str,
    /// Where the original program stands among the sources of PolyBench/C.
    pub(super) folder: &'static str,
    /// In the order of the program's parameters, for each of [`SIZES`].
    pub(super) sizes: [&'static [i64]; 5],
    pub(super) scalars: &'static [(&'static str, Scalar)],
    pub(super) fills: &'static [(&'static str, Fill)],
    /// How far sums of results may be apart, in parts of the sum, since the peers regroup; `None` if they say nothing.
    pub(super) tolerance: Option<f64>,
    /// Operations, and bytes that must move at least once (for sweeps in time: once per step), both by leading terms.
    pub(super) work: fn(&[f64]) -> (f64, f64),
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Scalar {
    Number(f64),
    /// The size at this place, as a number.
    Size(usize),
}
use Fill::{Bases, Dominant, Lengths, Small, Unit, Zero};
use Scalar::{Number, Size};

/// The datasets, by their names in PolyBench.
pub(super) const SIZES: [&str; 5] = ["mini", "small", "medium", "large", "extralarge"];

const ALPHA_BETA: &[(&str, Scalar)] = &[("alpha", Number(1.5)), ("beta", Number(1.2))];
const SQUARE: [&[i64]; 5] = [&[40], &[120], &[400], &[2000], &[4000]];
const PANEL: [&[i64]; 5] = [&[20, 30], &[60, 80], &[200, 240], &[1000, 1200], &[2000, 2600]];
const TABLE: [&[i64]; 5] = [&[28, 32], &[80, 100], &[240, 260], &[1200, 1400], &[2600, 3000]];
const TALL: [&[i64]; 5] = [&[38, 42], &[116, 124], &[390, 410], &[1900, 2100], &[1800, 2200]];

const fn kernel(
    name: &'static str,
    folder: &'static str,
    sizes: [&'static [i64]; 5],
    work: fn(&[f64]) -> (f64, f64),
) -> Kernel {
    Kernel { name, folder, sizes, scalars: &[], fills: &[], tolerance: Some(1e-5), work }
}

const BLAS: &str = "linear-algebra/blas";
const KERNELS_OF_ALGEBRA: &str = "linear-algebra/kernels";
const SOLVERS: &str = "linear-algebra/solvers";

pub(super) const KERNELS: [Kernel; 30] = [
    Kernel {
        scalars: &[("float_n", Size(1))],
        ..kernel("correlation", "datamining", TABLE, |s| (s[0] * s[0] * s[1], 8.0 * (s[0] * s[1] + s[0] * s[0])))
    },
    Kernel {
        scalars: &[("float_n", Size(1))],
        ..kernel("covariance", "datamining", TABLE, |s| (s[0] * s[0] * s[1], 8.0 * (s[0] * s[1] + s[0] * s[0])))
    },
    Kernel {
        scalars: ALPHA_BETA,
        ..kernel(
            "2mm",
            KERNELS_OF_ALGEBRA,
            [
                &[16, 18, 22, 24],
                &[40, 50, 70, 80],
                &[180, 190, 210, 220],
                &[800, 900, 1100, 1200],
                &[1600, 1800, 2200, 2400],
            ],
            |s| {
                let (i, j, k, l) = (s[0], s[1], s[2], s[3]);
                (2.0 * (i * j * k + i * j * l), 8.0 * (i * k + k * j + j * l + 2.0 * i * l))
            },
        )
    },
    kernel(
        "3mm",
        KERNELS_OF_ALGEBRA,
        [
            &[16, 18, 20, 22, 24],
            &[40, 50, 60, 70, 80],
            &[180, 190, 200, 210, 220],
            &[800, 900, 1000, 1100, 1200],
            &[1600, 1800, 2000, 2200, 2400],
        ],
        |s| {
            let (i, j, k, l, m) = (s[0], s[1], s[2], s[3], s[4]);
            (2.0 * (i * j * k + j * l * m + i * j * l), 8.0 * (i * k + k * j + j * m + m * l + i * l))
        },
    ),
    kernel("atax", KERNELS_OF_ALGEBRA, TALL, |s| (4.0 * s[0] * s[1], 8.0 * s[0] * s[1])),
    kernel("bicg", KERNELS_OF_ALGEBRA, TALL, |s| (4.0 * s[0] * s[1], 8.0 * s[0] * s[1])),
    kernel(
        "doitgen",
        KERNELS_OF_ALGEBRA,
        [&[8, 10, 12], &[20, 25, 30], &[40, 50, 60], &[140, 150, 160], &[220, 250, 270]],
        |s| (2.0 * s[0] * s[1] * s[2] * s[2], 16.0 * s[0] * s[1] * s[2]),
    ),
    kernel("mvt", KERNELS_OF_ALGEBRA, SQUARE, |s| (4.0 * s[0] * s[0], 8.0 * s[0] * s[0])),
    Kernel {
        scalars: ALPHA_BETA,
        ..kernel(
            "gemm",
            BLAS,
            [&[20, 25, 30], &[60, 70, 80], &[200, 220, 240], &[1000, 1100, 1200], &[2000, 2300, 2600]],
            |s| (2.0 * s[0] * s[1] * s[2], 8.0 * (s[0] * s[2] + s[2] * s[1] + 2.0 * s[0] * s[1])),
        )
    },
    Kernel { scalars: ALPHA_BETA, ..kernel("gemver", BLAS, SQUARE, |s| (10.0 * s[0] * s[0], 24.0 * s[0] * s[0])) },
    Kernel {
        scalars: ALPHA_BETA,
        ..kernel("gesummv", BLAS, [&[30], &[90], &[250], &[1300], &[2800]], |s| (4.0 * s[0] * s[0], 16.0 * s[0] * s[0]))
    },
    Kernel {
        scalars: ALPHA_BETA,
        ..kernel("symm", BLAS, PANEL, |s| (2.0 * s[0] * s[0] * s[1], 8.0 * (s[0] * s[0] / 2.0 + 3.0 * s[0] * s[1])))
    },
    Kernel {
        scalars: ALPHA_BETA,
        ..kernel("syr2k", BLAS, PANEL, |s| (2.0 * s[1] * s[1] * s[0], 8.0 * (2.0 * s[0] * s[1] + s[1] * s[1])))
    },
    Kernel {
        scalars: ALPHA_BETA,
        ..kernel("syrk", BLAS, PANEL, |s| (s[1] * s[1] * s[0], 8.0 * (s[0] * s[1] + s[1] * s[1])))
    },
    Kernel {
        scalars: &[("alpha", Number(1.5))],
        ..kernel("trmm", BLAS, PANEL, |s| (s[0] * s[0] * s[1], 8.0 * (s[0] * s[0] / 2.0 + 2.0 * s[0] * s[1])))
    },
    Kernel {
        fills: &[("A", Dominant)],
        ..kernel("cholesky", SOLVERS, SQUARE, |s| (s[0] * s[0] * s[0] / 3.0, 8.0 * s[0] * s[0]))
    },
    Kernel {
        fills: &[("r", Small)],
        ..kernel("durbin", SOLVERS, SQUARE, |s| (4.0 * s[0] * s[0] / 2.0 * 2.0, 24.0 * s[0]))
    },
    Kernel {
        fills: &[("A", Unit), ("R", Zero)],
        // With more columns than rows, the last of them are rounding errors of the others.
        tolerance: None,
        ..kernel("gramschmidt", SOLVERS, PANEL, |s| (2.0 * s[0] * s[1] * s[1], 8.0 * (2.0 * s[0] * s[1] + s[1] * s[1])))
    },
    Kernel {
        fills: &[("A", Dominant)],
        ..kernel("lu", SOLVERS, SQUARE, |s| (2.0 * s[0] * s[0] * s[0] / 3.0, 16.0 * s[0] * s[0]))
    },
    Kernel {
        fills: &[("A", Dominant)],
        ..kernel("ludcmp", SOLVERS, SQUARE, |s| (2.0 * s[0] * s[0] * s[0] / 3.0, 16.0 * s[0] * s[0]))
    },
    Kernel { fills: &[("L", Dominant)], ..kernel("trisolv", SOLVERS, SQUARE, |s| (s[0] * s[0], 4.0 * s[0] * s[0])) },
    Kernel {
        scalars: &[("alpha", Number(0.25))],
        // The coefficients need `exp`, which our C writes out in a way that -ffast-math takes apart.
        tolerance: None,
        ..kernel("deriche", "medley", [&[64, 64], &[192, 128], &[720, 480], &[4096, 2160], &[7680, 4320]], |s| {
            (32.0 * s[0] * s[1], 24.0 * s[0] * s[1])
        })
    },
    Kernel {
        fills: &[("path", Lengths)],
        ..kernel("floyd-warshall", "medley", [&[60], &[180], &[500], &[2800], &[5600]], |s| {
            (2.0 * s[0] * s[0] * s[0], 8.0 * s[0] * s[0] * s[0])
        })
    },
    Kernel {
        fills: &[("seq", Bases), ("table", Zero)],
        ..kernel("nussinov", "medley", [&[60], &[180], &[500], &[2500], &[5500]], |s| {
            (s[0] * s[0] * s[0] / 3.0, 4.0 * s[0] * s[0])
        })
    },
    kernel("adi", "stencils", [&[20, 20], &[40, 60], &[100, 200], &[500, 1000], &[1000, 2000]], |s| {
        (30.0 * s[0] * s[1] * s[1], 96.0 * s[0] * s[1] * s[1])
    }),
    kernel(
        "fdtd-2d",
        "stencils",
        [&[20, 20, 30], &[40, 60, 80], &[100, 200, 240], &[500, 1000, 1200], &[1000, 2000, 2600]],
        |s| (11.0 * s[0] * s[1] * s[2], 64.0 * s[0] * s[1] * s[2]),
    ),
    kernel("heat-3d", "stencils", [&[20, 10], &[40, 20], &[100, 40], &[500, 120], &[1000, 200]], |s| {
        (30.0 * s[0] * s[1] * s[1] * s[1], 32.0 * s[0] * s[1] * s[1] * s[1])
    }),
    kernel("jacobi-1d", "stencils", [&[20, 30], &[40, 120], &[100, 400], &[500, 2000], &[1000, 4000]], |s| {
        (6.0 * s[0] * s[1], 32.0 * s[1])
    }),
    kernel("jacobi-2d", "stencils", [&[20, 30], &[40, 90], &[100, 250], &[500, 1300], &[1000, 2800]], |s| {
        (10.0 * s[0] * s[1] * s[1], 32.0 * s[0] * s[1] * s[1])
    }),
    kernel("seidel-2d", "stencils", [&[20, 40], &[40, 120], &[100, 400], &[500, 2000], &[1000, 4000]], |s| {
        (9.0 * s[0] * s[1] * s[1], 16.0 * s[0] * s[1] * s[1])
    }),
];

#[cfg(test)]
mod tests {
    use super::*;

    /// Leading terms only, so a tenth off is fine; the figures are those of a count by hand at LARGE.
    #[test]
    fn work_is_of_the_right_size() {
        for (name, gigaflops) in [("gemm", 2.64), ("lu", 5.33), ("syrk", 1.44), ("jacobi-2d", 8.45), ("3mm", 5.4)] {
            let kernel = KERNELS.iter().find(|kernel| kernel.name == name).expect("the kernel is listed");
            let sizes: Vec<f64> = kernel.sizes[3].iter().map(|&size| size as f64).collect();
            let (operations, _) = (kernel.work)(&sizes);
            assert!((operations / 1e9 / gigaflops - 1.0).abs() < 0.1, "{name}: {operations}");
        }
    }
}
