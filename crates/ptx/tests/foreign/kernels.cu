// Kernels as people write them, for the emulator's tests.

extern "C" __global__ void saxpy(int n, float a, const float *x, float *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
}

extern "C" __global__ void block_sum(const float *x, float *out, int n) {
    __shared__ float partial[256];
    int t = threadIdx.x;
    float sum = 0;
    for (int i = blockIdx.x * blockDim.x + t; i < n; i += gridDim.x * blockDim.x) sum += x[i];
    partial[t] = sum;
    __syncthreads();
    for (int width = blockDim.x / 2; width > 0; width /= 2) {
        if (t < width) partial[t] += partial[t + width];
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = partial[0];
}

extern "C" __global__ void warp_max(const int *x, int *out) {
    int value = x[blockIdx.x * 32 + threadIdx.x];
    for (int distance = 16; distance > 0; distance /= 2) {
        int other = __shfl_down_sync(0xffffffffu, value, distance);
        value = max(value, other);
    }
    if (threadIdx.x == 0) out[blockIdx.x] = value;
}

extern "C" __global__ void tiled_matmul(const float *a, const float *b, float *c, int n) {
    __shared__ float as[16][16];
    __shared__ float bs[16][17];
    int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
    float sum = 0;
    for (int tile = 0; tile < n; tile += 16) {
        as[threadIdx.y][threadIdx.x] = a[row * n + tile + threadIdx.x];
        bs[threadIdx.y][threadIdx.x] = b[(tile + threadIdx.y) * n + column];
        __syncthreads();
        for (int k = 0; k < 16; k++) sum += as[threadIdx.y][k] * bs[k][threadIdx.x];
        __syncthreads();
    }
    c[row * n + column] = sum;
}

extern "C" __global__ void collatz(const unsigned *start, unsigned *steps, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned long long value = start[i];
    unsigned count = 0;
    while (value != 1) {
        value = value % 2 == 0 ? value / 2 : 3 * value + 1;
        count++;
    }
    steps[i] = count;
}

extern "C" __global__ void bytes(const signed char *x, unsigned char *y, short *z, double *w, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        y[i] = (unsigned char)(x[i] < 0 ? -x[i] : x[i]);
        z[i] = (short)(x[i] * 300);
        w[i] = x[i] / 3.0 + floor(x[i] * 0.5);
    }
}

extern "C" __global__ void count_odd(const int *x, unsigned *total, int n) {
    extern __shared__ unsigned counters[];
    if (threadIdx.x == 0) counters[0] = 0;
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && x[i] % 2 != 0) atomicAdd(&counters[0], 1u);
    __syncthreads();
    if (threadIdx.x == 0) atomicAdd(total, counters[0]);
}
