/* One loop for each line of the program. */
#include "bench.h"

static __attribute__((noinline)) void chain(long n, double a, double b, const double *restrict x,
                                            double *restrict y, double *restrict w, double *restrict z) {
    for (long i = 0; i < n; i++) y[i] = a * x[i] + b;
    for (long i = 0; i < n; i++) w[i] = y[i] * y[i] + x[i];
    for (long i = 0; i < n; i++) z[i] = a * w[i] - y[i];
}

int main(int argc, char **argv) {
    long n = argument(argc, argv, 1);
    double *x = filled((size_t)n, 1), *y = filled((size_t)n, 2), *w = filled((size_t)n, 3), *z = filled((size_t)n, 4);
    MEASURE(argument(argc, argv, 2), chain(n, 1.5, 0.5, x, y, w, z), z[n - 1]);
    return 0;
}
