/* The textbook order: each element of C is one dot product. */
#include "bench.h"

static __attribute__((noinline)) void matmul(long n, long m, long k, const double *restrict a,
                                             const double *restrict b, double *restrict c) {
    for (long i = 0; i < n; i++)
        for (long j = 0; j < m; j++) {
            double sum = 0;
            for (long l = 0; l < k; l++) sum += a[i * k + l] * b[l * m + j];
            c[i * m + j] = sum;
        }
}

int main(int argc, char **argv) {
    long n = argument(argc, argv, 1), m = argument(argc, argv, 2), k = argument(argc, argv, 3);
    double *a = filled((size_t)(n * k), 1), *b = filled((size_t)(k * m), 2), *c = filled((size_t)(n * m), 3);
    MEASURE(argument(argc, argv, 4), matmul(n, m, k, a, b, c), c[n * m - 1]);
    return 0;
}
