/* A sparse matrix in compressed rows times a vector, from the files that `farkas run` reads. */
#include <string.h>
#include "bench.h"
#include "arrays.h"

static __attribute__((noinline)) void spmv(long n, const int *restrict indptr, const int *restrict indices,
                                           const double *restrict data, const double *restrict x, double *restrict y) {
    for (long i = 0; i < n; i++) {
        double sum = 0;
        for (int k = indptr[i]; k < indptr[i + 1]; k++) sum += data[k] * x[indices[k]];
        y[i] = sum;
    }
}

int main(int argc, char **argv) {
    if (argc < 5) return 2;
    const char *folder = argv[1];
    size_t n = (size_t)argument(argc, argv, 2), z = (size_t)argument(argc, argv, 3);
    int *indptr = read_array(folder, "indptr", (n + 1) * sizeof *indptr);
    int *indices = read_array(folder, "indices", z * sizeof *indices);
    double *data = read_array(folder, "data", z * sizeof *data), *x = read_array(folder, "x", n * sizeof *x);
    double *y = allocate_array(n * sizeof *y);
    MEASURE(argument(argc, argv, 4), spmv((long)n, indptr, indices, data, x, y), y[n / 2]);
    return 0;
}
