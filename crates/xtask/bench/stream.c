/* How fast long arrays come from memory: the better of reading one and of copying it. Prints bytes per second. */
#include <string.h>
#include "bench.h"

enum { LANES = 8, CHAINS = 8 };
typedef double lanes __attribute__((vector_size(8 * LANES)));

static __attribute__((noinline)) double read_all(size_t count, const lanes *data) {
    lanes sums[CHAINS];
    memset(sums, 0, sizeof sums);
    for (size_t i = 0; i + CHAINS <= count; i += CHAINS)
#pragma GCC unroll 8
        for (int chain = 0; chain < CHAINS; chain++) sums[chain] += data[i + chain];
    double total = 0;
    for (int chain = 0; chain < CHAINS; chain++)
        for (int lane = 0; lane < LANES; lane++) total += sums[chain][lane];
    return total;
}

int main(int argc, char **argv) {
    size_t bytes = (size_t)argument(argc, argv, 1);
    char *from = aligned_alloc(64, bytes), *to = aligned_alloc(64, bytes);
    if (!from || !to || bytes % (64 * CHAINS)) return 1;
    memset(from, 0, bytes);
    memset(to, 1, bytes);
    double most = 0;
    volatile double used = 0;
    for (long r = argument(argc, argv, 2); r > 0; r--) {
        double start = now();
        used = read_all(bytes / sizeof(lanes), (const lanes *)from);
        double rate = (double)bytes / (now() - start);
        if (rate > most) most = rate;
        start = now();
        memcpy(to, from, bytes);
        rate = 2 * (double)bytes / (now() - start);
        if (rate > most) most = rate;
        used = to[bytes / 2];
    }
    (void)used;
    printf("%.0f\n", most);
    return 0;
}
