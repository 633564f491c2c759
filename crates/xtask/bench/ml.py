"""Kernels of machine learning in NumPy, Numba and JAX, and the arguments of the same kernels in Farkas.

`ml.py list`: the workloads, one line each: name, then the words after `farkas run`, `{}` for the folder of arrays.
`ml.py prepare NAME FOLDER`: writes the arrays of a workload.
`ml.py PEER NAME FOLDER REPEAT`: prints the best time in seconds and the sum of the result; `none` if the peer has no version.
"""

import os
import sys
import time

for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ[variable] = "1"
os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
os.environ["JAX_PLATFORMS"] = "cpu"
# JAX makes as many threads as there are processors that it may run on, whatever the variables say.
if hasattr(os, "sched_setaffinity"):
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})

import numpy as np


def gelu(np, x):
    return x / 2 * (1 + np.tanh(np.float32(0.7978845608) * (x + np.float32(0.044715) * x * x * x)))


def softmax(np, x):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def layernorm(np, gain, bias, x):
    centred = x - x.mean(axis=1, keepdims=True)
    return centred / np.sqrt((centred * centred).mean(axis=1, keepdims=True) + np.float32(1e-5)) * gain + bias


def attention(np, q, k, v):
    score = np.matmul(q, k.swapaxes(-1, -2)) / np.sqrt(np.float32(q.shape[-1]))
    return np.matmul(softmax(np, score), v)


def convolution_channels_inside(np, x, k):
    height, width = x.shape[1] - k.shape[0] + 1, x.shape[2] - k.shape[1] + 1
    parts = [
        np.tensordot(x[:, r : r + height, s : s + width, :], k[r, s], axes=1)
        for r in range(k.shape[0])
        for s in range(k.shape[1])
    ]
    return sum(parts)


def convolution_channels_outside(np, x, k, bias):
    padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
    inside = convolution_channels_inside(np, np.moveaxis(padded, 1, 3), k.transpose(2, 3, 1, 0))
    return np.moveaxis(inside, 3, 1) + bias[None, :, None, None]


def jax_convolution_inside(x, k):
    from jax import lax

    return lax.conv_general_dilated(x, k, (1, 1), "VALID", dimension_numbers=("NHWC", "HWIO", "NHWC"))


def jax_convolution_outside(x, k, bias):
    from jax import lax

    layout = ("NCHW", "OIHW", "NCHW")
    return lax.conv_general_dilated(x, k, (1, 1), "SAME", dimension_numbers=layout) + bias[None, :, None, None]


def numba_chain(x, y, z):
    for i in range(x.shape[0]):
        z[i] = max(2 * x[i] + y[i], 0)


def numba_row_sums(x, y):
    for b in range(x.shape[0]):
        total = np.float32(0)
        for j in range(x.shape[1]):
            total += x[b, j]
        y[b] = total


def numba_transpose(x, y):
    for j in range(x.shape[1]):
        for i in range(x.shape[0]):
            y[j, i] = x[i, j]


def numba_softmax(x, y):
    for b in range(x.shape[0]):
        largest = x[b, 0]
        for j in range(x.shape[1]):
            largest = max(largest, x[b, j])
        total = np.float32(0)
        for j in range(x.shape[1]):
            e = np.exp(x[b, j] - largest)
            y[b, j] = e
            total += e
        for j in range(x.shape[1]):
            y[b, j] /= total


def numba_layernorm(gain, bias, x, y):
    count = np.float32(x.shape[1])
    for b in range(x.shape[0]):
        mean = np.float32(0)
        for j in range(x.shape[1]):
            mean += x[b, j]
        mean /= count
        variance = np.float32(0)
        for j in range(x.shape[1]):
            variance += (x[b, j] - mean) * (x[b, j] - mean)
        scale = np.float32(1) / np.sqrt(variance / count + np.float32(1e-5))
        for j in range(x.shape[1]):
            y[b, j] = (x[b, j] - mean) * scale * gain[j] + bias[j]


def numba_gelu(x, y):
    for b in range(x.shape[0]):
        for j in range(x.shape[1]):
            u = x[b, j]
            y[b, j] = u / 2 * (1 + np.tanh(np.float32(0.7978845608) * (u + np.float32(0.044715) * u * u * u)))


def mlp(np, x, w1, b1, w2, b2):
    return gelu(np, x @ w1 + b1) @ w2 + b2


class Workload:
    def __init__(self, program, sizes, arrays, numpy, numba=None, result=None, jax=None, scalars=()):
        self.program, self.sizes, self.arrays, self.scalars = program, sizes, arrays, scalars
        # `numpy` takes the module, so that JAX runs the same lines unless it has its own.
        self.numpy, self.numba, self.result, self.jax = numpy, numba, result, jax


def square(n, type="f4"):
    program = "examples/ml/matmul-f32.fks" if type == "f4" else "examples/matmul.fks"
    return product(program, n, n, n, type)


def product(program, n, m, k, type="f4"):
    arrays = {"A": ((n, k), type), "B": ((k, m), type)}
    return Workload(program, dict(N=n, M=m, K=k), arrays, lambda np, a, b: a @ b)


ROWS = dict(B=5000, N=5000)
MATRIX = ((5000, 5000), "f4")
WORKLOADS = {
    "matmul f32 256": square(256),
    "matmul f32 512": square(512),
    "matmul f32 1024": square(1024),
    "matmul f32 2048": square(2048),
    "matmul f32 4096": square(4096),
    "matmul f64 1024": square(1024, "f8"),
    "matmul f32 4096x32x4096": product("examples/ml/matmul-f32.fks", 4096, 4096, 32),
    "matmul f32 32x4096x4096": product("examples/ml/matmul-f32.fks", 32, 4096, 4096),
    "batched matmul 32x256": Workload(
        "examples/ml/batched-matmul.fks",
        dict(B=32, N=256, M=256, K=256),
        {"X": ((32, 256, 256), "f4"), "Y": ((32, 256, 256), "f4")},
        lambda np, x, y: np.matmul(x, y),
    ),
    "conv2d nchw": Workload(
        "examples/ml/conv2d-nchw.fks",
        dict(B=4, C=64, F=64, H=56, W=56, P=1),
        {"X": ((4, 64, 56, 56), "f4"), "K": ((64, 64, 3, 3), "f4"), "bias": ((64,), "f4")},
        convolution_channels_outside,
        jax=jax_convolution_outside,
    ),
    "conv2d nhwc": Workload(
        "examples/ml/conv2d-nhwc.fks",
        dict(B=4, C=64, F=64, H=56, W=56, R=3, S=3),
        {"X": ((4, 58, 58, 64), "f4"), "K": ((3, 3, 64, 64), "f4")},
        convolution_channels_inside,
        jax=jax_convolution_inside,
    ),
    "attention": Workload(
        "examples/ml/attention.fks",
        dict(B=1, H=8, N=512, M=512, D=64, E=64),
        {name: ((1, 8, 512, 64), "f4") for name in "QKV"},
        attention,
    ),
    "gelu mlp": Workload(
        "examples/ml/gelu-mlp.fks",
        dict(B=256, D=768, F=3072),
        {"X": ((256, 768), "f4"), "W1": ((768, 3072), "f4"), "b1": ((3072,), "f4"), "W2": ((3072, 768), "f4"), "b2": ((768,), "f4")},
        mlp,
    ),
    "softmax": Workload("examples/softmax.fks", ROWS, {"X": MATRIX}, softmax, numba_softmax, MATRIX),
    "layernorm": Workload(
        "examples/ml/layernorm.fks",
        ROWS,
        {"gain": ((5000,), "f4"), "bias": ((5000,), "f4"), "X": MATRIX},
        layernorm,
        numba_layernorm,
        MATRIX,
        scalars=[("eps", "1e-5")],
    ),
    "gelu": Workload("crates/xtask/bench/gelu.fks", ROWS, {"X": MATRIX}, gelu, numba_gelu, MATRIX),
    "row sums": Workload(
        "crates/xtask/bench/row-sums.fks", ROWS, {"X": MATRIX}, lambda np, x: x.sum(axis=1), numba_row_sums, ((5000,), "f4")
    ),
    "transpose": Workload(
        "crates/xtask/bench/transpose.fks",
        dict(N=5000, M=5000),
        {"X": MATRIX},
        lambda np, x: x.T.copy(),
        numba_transpose,
        MATRIX,
    ),
    "chain": Workload(
        "crates/xtask/bench/chain.fks",
        dict(N=25000000),
        {"x": ((25000000,), "f4"), "y": ((25000000,), "f4")},
        lambda np, x, y: np.maximum(2 * x + y, 0),
        numba_chain,
        ((25000000,), "f4"),
    ),
}


def best_of(repeat, call):
    call()
    times = []
    for _ in range(repeat):
        start = time.perf_counter()
        result = call()
        times.append(time.perf_counter() - start)
    return min(times), result


def run(peer, workload, folder, repeat):
    arrays = [np.load(os.path.join(folder, name + ".npy")) for name in workload.arrays]
    if peer == "numpy":
        return best_of(repeat, lambda: workload.numpy(np, *arrays))
    if peer == "numba":
        if not workload.numba:
            return None
        import numba

        compiled = numba.njit(workload.numba, fastmath=True, error_model="numpy")
        shape, type = workload.result
        result = np.zeros(shape, type)
        best, _ = best_of(repeat, lambda: compiled(*arrays, result))
        return best, result
    import jax
    import jax.numpy as jnp

    jax.config.update("jax_enable_x64", True)
    function = jax.jit(workload.jax or (lambda *arrays: workload.numpy(jnp, *arrays)))
    moved = [jax.device_put(array) for array in arrays]
    return best_of(repeat, lambda: function(*moved).block_until_ready())


def main():
    match sys.argv[1:]:
        case ["list"]:
            for name, workload in WORKLOADS.items():
                words = [workload.program]
                for size, value in workload.sizes.items():
                    words += ["-D", f"{size}={value}"]
                for scalar, value in workload.scalars:
                    words += ["--in", f"{scalar}={value}"]
                for array in workload.arrays:
                    words += ["--in", f"{array}=@{{}}/{array}.npy"]
                print("\t".join([name, *words]))
        case ["prepare", name, folder]:
            random = np.random.default_rng(1)
            for array, (shape, type) in WORKLOADS[name].arrays.items():
                np.save(os.path.join(folder, array + ".npy"), random.random(shape).astype(type))
        case [("numpy" | "numba" | "jax") as peer, name, folder, repeat]:
            outcome = run(peer, WORKLOADS[name], folder, int(repeat))
            if outcome is None:
                print("none")
            else:
                print(f"{outcome[0]:.9f}")
                print(f"{np.asarray(outcome[1], dtype=np.float64).sum():.17g}")
        case _:
            sys.exit(__doc__)


main()
