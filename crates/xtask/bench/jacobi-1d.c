#include "bench.h"

static __attribute__((noinline)) void jacobi(long n, long steps, double *restrict a, double *restrict b) {
    for (long t = 0; t < steps; t++) {
        for (long i = 1; i < n - 1; i++) b[i] = (a[i - 1] + a[i] + a[i + 1]) / 3;
        for (long i = 1; i < n - 1; i++) a[i] = (b[i - 1] + b[i] + b[i + 1]) / 3;
    }
}

int main(int argc, char **argv) {
    long n = argument(argc, argv, 1), steps = argument(argc, argv, 2);
    double *a = filled((size_t)n, 1), *b = filled((size_t)n, 2);
    MEASURE(argument(argc, argv, 3), jacobi(n, steps, a, b), a[n / 2]);
    return 0;
}
