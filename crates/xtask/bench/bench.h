/* The frame around each kernel: `NAME SIZES… REPEAT` prints the best time in seconds. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static long argument(int argc, char **argv, int index) {
    long value = index < argc ? atol(argv[index]) : 0;
    if (value <= 0) {
        fprintf(stderr, "argument %d must be a positive number\n", index);
        exit(2);
    }
    return value;
}

/* `count` values in [0, 1), the same on every run. */
static double *filled(size_t count, unsigned long long seed) {
    double *data = malloc(count * sizeof *data);
    if (!data) {
        fprintf(stderr, "out of memory\n");
        exit(1);
    }
    for (size_t i = 0; i < count; i++) {
        seed = seed * 6364136223846793005ull + 1442695040888963407ull;
        data[i] = (double)(seed >> 11) * 0x1p-53;
    }
    return data;
}

/* Runs `call` `repeat` times, prints the shortest, and uses `result` so that no call can be left out. */
#define MEASURE(repeat, call, result)                           \
    do {                                                        \
        double best = 1e300;                                    \
        volatile double used;                                   \
        for (long r = 0; r < (repeat); r++) {                   \
            double start = now();                               \
            call;                                               \
            double spent = now() - start;                       \
            if (spent < best) best = spent;                     \
            used = (result);                                    \
            (void)used;                                         \
        }                                                       \
        printf("%.9f\n", best);                                 \
    } while (0)
