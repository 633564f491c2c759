/* As many multiply-adds as a product of matrices has, on registers: what the machine can do at best. */
#include "bench.h"

#if defined(__AVX512F__)
#define LANES 8
#elif defined(__AVX__)
#define LANES 4
#else
#define LANES 2
#endif
typedef double lanes __attribute__((vector_size(8 * LANES)));
enum { CHAINS = 10 };

static __attribute__((noinline)) void multiply_adds(long count, double *result) {
    lanes sums[CHAINS], x, y;
    for (int lane = 0; lane < LANES; lane++) x[lane] = 1 - 1e-9 * lane, y[lane] = 1e-9;
    for (int chain = 0; chain < CHAINS; chain++) sums[chain] = y * chain;
    for (long step = 0; step < count / (LANES * CHAINS); step++) {
        /* Hides from the compiler that the factor stays the same. */
        __asm__ volatile("" : "+x"(x));
#pragma GCC unroll 16
        for (int chain = 0; chain < CHAINS; chain++) sums[chain] = sums[chain] * x + y;
    }
    *result = 0;
    for (int chain = 0; chain < CHAINS; chain++)
        for (int lane = 0; lane < LANES; lane++) *result += sums[chain][lane];
}

int main(int argc, char **argv) {
    long n = argument(argc, argv, 1), m = argument(argc, argv, 2), k = argument(argc, argv, 3);
    double result;
    MEASURE(argument(argc, argv, 4), multiply_adds(n * m * k, &result), result);
    return 0;
}
