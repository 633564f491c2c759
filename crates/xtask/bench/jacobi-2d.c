#include "bench.h"

#define AT(x, i, j) x[(i) * n + (j)]
#define STAR(x, i, j) (AT(x, i, j) + AT(x, i, j - 1) + AT(x, i, j + 1) + AT(x, i - 1, j) + AT(x, i + 1, j))

static __attribute__((noinline)) void jacobi(long n, long steps, double *restrict a, double *restrict b) {
    for (long t = 0; t < steps; t++) {
        for (long i = 1; i < n - 1; i++)
            for (long j = 1; j < n - 1; j++) AT(b, i, j) = 0.2 * STAR(a, i, j);
        for (long i = 1; i < n - 1; i++)
            for (long j = 1; j < n - 1; j++) AT(a, i, j) = 0.2 * STAR(b, i, j);
    }
}

int main(int argc, char **argv) {
    long n = argument(argc, argv, 1), steps = argument(argc, argv, 2);
    double *a = filled((size_t)(n * n), 1), *b = filled((size_t)(n * n), 2);
    MEASURE(argument(argc, argv, 3), jacobi(n, steps, a, b), AT(a, n / 2, n / 2));
    return 0;
}
