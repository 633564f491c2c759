/* The whole chain in one loop, as one would write it by hand. */
#include "bench.h"

static __attribute__((noinline)) void chain(long n, double a, double b, const double *restrict x,
                                            double *restrict z) {
    for (long i = 0; i < n; i++) {
        double y = a * x[i] + b;
        double w = y * y + x[i];
        z[i] = a * w - y;
    }
}

int main(int argc, char **argv) {
    long n = argument(argc, argv, 1);
    double *x = filled((size_t)n, 1), *z = filled((size_t)n, 2);
    MEASURE(argument(argc, argv, 2), chain(n, 1.5, 0.5, x, z), z[n - 1]);
    return 0;
}
