// Exact lists of the nearest and the farthest points.
//
// Compiled with -DDIM=<columns>. Points are rows of doubles. Distances that decide are sums of squares in
// double, column by column, without fused operations: they have the bits of the CPU's. A filter in float, by
// |x|^2 + |q|^2 - 2xq with a bound on its rounding, finds the candidates.
//
// Points leave and never come back, so a sorted list of the nearest stays right: those of it that still live
// are a prefix of the list that would be made now.
typedef unsigned long long u64;
typedef unsigned int u32;
typedef unsigned char u8;
#define FULL 0xffffffffu
#define NOBODY 0x7fffffff
#define LIST 64       // entries of a list
#define ROOM 1024     // candidates of a query, before they are sorted
#define TILE 256      // points of a tile, and threads of most blocks
#define QUERIES 64    // queries of a tile
#define GUESSED 8     // queries of a block that guesses thresholds
#define SLICE (DIM <= 16 ? DIM : 10)  // columns in shared memory at a time
#define SLICES ((DIM + SLICE - 1) / SLICE)
#define SLACK (1.0 + 1e-9)  // for bounds through square roots, which rounding does not respect
#define TINY 1e-290

__device__ __forceinline__ double square_sum(double sum, double difference) {
  return __dadd_rn(sum, __dmul_rn(difference, difference));
}

// ---- points in falling order of their distance to a mean ----------------------------------------------------

// Minus the distance to the mean; infinite for points that left, so that sorting puts them last.
extern "C" __global__ void radii(const double* X, const int* rows, int m, const u8* alive, const double* mean,
                                 double* out) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t >= m) return;
  int row = rows[t];
  double sum = 0;
  for (int j = 0; j < DIM; j++) {
    double f = X[(long long)row * DIM + j] - mean[j];
    sum += f * f;
  }
  out[t] = alive[row] ? -sqrt(sum) : 1e300;
}

// The first m points of an order, column by column: as they are, and centred in float.
extern "C" __global__ void arrange(const double* X, const int* rows, const long long* order, const double* radius,
                                   int m, const double* mean, int* index, double* rho, double* columns,
                                   float* centred) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t >= m) return;
  int row = rows[order[t]];
  index[t] = row;
  rho[t] = -radius[order[t]];
  for (int j = 0; j < DIM; j++) {
    double x = X[(long long)row * DIM + j];
    if (columns) columns[(long long)j * m + t] = x;
    centred[(long long)j * m + t] = (float)(x - mean[j]);
  }
}

extern "C" __global__ void queries(const double* X, const int* queue, int count, int stride, const double* mean,
                                   float* centred, double* radius, int* near_count, int* far_count) {
  int q = blockIdx.x * blockDim.x + threadIdx.x;
  if (q >= count) return;
  double sum = 0;
  for (int j = 0; j < DIM; j++) {
    double f = X[(long long)queue[q] * DIM + j] - mean[j];
    centred[(long long)j * stride + q] = (float)f;
    sum += f * f;
  }
  radius[q] = sqrt(sum);
  near_count[q] = far_count[q] = 0;
}

// ---- thresholds: how near and how far candidates must be, guessed from every step-th point -------------------

extern "C" __global__ void __launch_bounds__(TILE)
    thresholds(const float* __restrict__ centred, int m, int step, const int* __restrict__ index, const u8* alive,
               const float* __restrict__ asked, int stride, int count, int want, int far, double* near_limit,
               double* far_limit) {
  __shared__ float q[DIM][GUESSED];
  __shared__ float values[TILE];
  int tid = threadIdx.x, first = blockIdx.x * GUESSED;
  for (int e = tid; e < DIM * GUESSED; e += TILE) {
    int at = first + e % GUESSED;
    q[e / GUESSED][e % GUESSED] = at < count ? asked[(long long)(e / GUESSED) * stride + at] : 0.f;
  }
  __syncthreads();
  float least[GUESSED], most[GUESSED];
  for (int v = 0; v < GUESSED; v++) {
    least[v] = 3e38f;
    most[v] = -1.f;
  }
  for (long long t = (long long)tid * step; t < m; t += (long long)TILE * step) {
    if (!alive[index[t]]) continue;
    float sum[GUESSED] = {};
    for (int j = 0; j < DIM; j++) {
      float x = centred[(long long)j * m + t];
#pragma unroll
      for (int v = 0; v < GUESSED; v++) {
        float f = x - q[j][v];
        sum[v] = fmaf(f, f, sum[v]);
      }
    }
#pragma unroll
    for (int v = 0; v < GUESSED; v++) {
      least[v] = fminf(least[v], sum[v]);
      most[v] = fmaxf(most[v], sum[v]);
    }
  }
  for (int v = 0; v < GUESSED; v++)
    for (int side = 0; side <= far; side++) {  // the want-th of the threads' best, by counting who is better
      bool there = most[v] >= 0.f;
      float mine = !there ? 3e38f : side ? -most[v] : least[v];
      __syncthreads();
      values[tid] = mine;
      int have = __syncthreads_count(there), rank = 0;
      for (int t = 0; t < TILE; t++) rank += values[t] < mine || (values[t] == mine && t < tid);
      if (first + v >= count) continue;
      double* limit = (side ? far_limit : near_limit) + first + v;
      if (have == 0 && tid == 0) *limit = side ? 0.0 : 1e300;
      if (there && rank == min(want, have) - 1) *limit = side ? most[v] * (1.0 - 1e-5) : least[v] * (1.0 + 1e-5);
    }
}

// ---- the filter: all points by all queries, tile by tile -----------------------------------------------------

extern "C" __global__ void __launch_bounds__(TILE, 2)
    filter(const float* __restrict__ centred, int m, const int* __restrict__ index, const double* __restrict__ rho,
           const u8* alive, const float* __restrict__ asked, int stride, int count, const double* __restrict__ radius,
           const double* __restrict__ near_limit, const double* __restrict__ far_limit, int far, int* near_count,
           int* far_count, int* near_found, int* far_found, int tiles) {
  __shared__ float x[SLICE][TILE];
  __shared__ __align__(16) float q[SLICE][QUERIES];
  __shared__ float near_of[QUERIES], far_of[QUERIES];
  int tid = threadIdx.x, lane = tid & 31, warp = tid >> 5, first = blockIdx.x * TILE;
  double high = rho[first], low = rho[min(first + TILE, m) - 1];
  float norm[8];
#pragma unroll
  for (int u = 0; u < 8; u++) {
    int p = first + lane + 32 * u;
    float r = p < m ? (float)rho[p] : 1e18f;
    norm[u] = r * r;
  }
  bool loaded = false;
  for (int tile = 0; tile < tiles; tile++) {
    int start = (blockIdx.y * tiles + tile) * QUERIES;
    if (start >= count) break;
    int need = 0;
    __syncthreads();
    if (tid < QUERIES) {
      float a = -1e30f, b = 1e30f;
      if (start + tid < count) {
        double r = radius[start + tid], eps = 1e-6 * (high + r);
        double gap = fmax(fmax(low - r, r - high) - eps, 0.0), reach = high + r + eps;
        double least = near_limit[start + tid], most = far ? far_limit[start + tid] : 1e300;
        double error = (DIM + 8) * 1.2e-7 * (high * high + r * r);
        need = gap * gap <= least || reach * reach >= most;
        a = (float)fmin(least + error - r * r, 3e38);
        b = (float)fmin(most - error - r * r, 3e38);
      }
      near_of[tid] = a;
      far_of[tid] = b;
    }
    if (!__syncthreads_or(need)) continue;
    float dot[8][8];
#pragma unroll
    for (int v = 0; v < 8; v++)
#pragma unroll
      for (int u = 0; u < 8; u++) dot[v][u] = 0.f;
#pragma unroll 1
    for (int s = 0; s < SLICES; s++) {
      __syncthreads();
      if (SLICES > 1 || !loaded) {
        loaded = true;
        for (int e = tid; e < SLICE * TILE; e += TILE) {
          int j = s * SLICE + e / TILE, p = first + e % TILE;
          x[e / TILE][e % TILE] = j < DIM && p < m ? centred[(long long)j * m + p] : 0.f;
        }
      }
      for (int e = tid; e < SLICE * QUERIES; e += TILE) {
        int j = s * SLICE + e / QUERIES, at = start + e % QUERIES;
        q[e / QUERIES][e % QUERIES] = j < DIM && at < count ? asked[(long long)j * stride + at] : 0.f;
      }
      __syncthreads();
#pragma unroll
      for (int j = 0; j < SLICE; j++) {
        float4 a = *(const float4*)&q[j][warp * 8], b = *(const float4*)&q[j][warp * 8 + 4];
        float y[8] = {a.x, a.y, a.z, a.w, b.x, b.y, b.z, b.w};
#pragma unroll
        for (int u = 0; u < 8; u++) {
          float value = x[j][lane + 32 * u];
#pragma unroll
          for (int v = 0; v < 8; v++) dot[v][u] = fmaf(value, y[v], dot[v][u]);
        }
      }
    }
#pragma unroll
    for (int v = 0; v < 8; v++) {
      int at = start + warp * 8 + v;
      float a = near_of[warp * 8 + v], b = far_of[warp * 8 + v];
#pragma unroll
      for (int u = 0; u < 8; u++) {
        float d = fmaf(-2.f, dot[v][u], norm[u]);
        int p = first + lane + 32 * u;
        if ((d <= a || d >= b) && p < m && at < count) {
          int row = index[p];
          if (!alive[row]) continue;
          if (d <= a) {
            int place = atomicAdd(near_count + at, 1);
            if (place < ROOM) near_found[(long long)at * ROOM + place] = row;
          }
          if (d >= b) {
            int place = atomicAdd(far_count + at, 1);
            if (place < ROOM) far_found[(long long)at * ROOM + place] = row;
          }
        }
      }
    }
  }
}

// ---- the lists: exact distances of the candidates, sorted by distance and index ------------------------------

// Where more candidates came than there is room for, or too few, the list is left empty and counted.
extern "C" __global__ void __launch_bounds__(TILE)
    finish(const double* X, const int* queue, const int* slots, const int* near_count, const int* far_count,
           const int* near_found, const int* far_found, const double* near_limit, const double* far_limit, int far,
           int least, int* near_list, int* far_list, int* failed) {
  __shared__ u64 key[ROOM];
  __shared__ int id[ROOM];
  int q = blockIdx.x, tid = threadIdx.x;
  const double* y = X + (long long)queue[q] * DIM;
  for (int side = 0; side <= far; side++) {
    int count = side ? far_count[q] : near_count[q];
    if (tid == 0 && (count > ROOM || count < least)) atomicAdd(failed + side, 1);
    if (count > ROOM) count = 0;
    const int* found = (side ? far_found : near_found) + (long long)q * ROOM;
    double limit = side ? far_limit[q] : near_limit[q];
    int size = 32;
    while (size < count) size <<= 1;
    for (int t = tid; t < size; t += TILE) {
      u64 bits = ~0ull;
      int row = NOBODY;
      if (t < count) {
        row = found[t];
        double sum = 0;
        for (int j = 0; j < DIM; j++) sum = square_sum(sum, X[(long long)row * DIM + j] - y[j]);
        if (side ? sum < limit : sum > limit)
          row = NOBODY;  // beyond the threshold others may be missing
        else
          bits = side ? ~(u64)__double_as_longlong(sum) : (u64)__double_as_longlong(sum);
      }
      key[t] = bits;
      id[t] = row;
    }
    for (int run = 2; run <= size; run <<= 1)  // bitonic
      for (int stride = run >> 1; stride > 0; stride >>= 1) {
        __syncthreads();
        for (int t = tid; t < size / 2; t += TILE) {
          int a = 2 * t - (t & (stride - 1)), b = a + stride;
          bool larger = key[a] > key[b] || (key[a] == key[b] && id[a] > id[b]);
          if (larger == ((a & run) == 0)) {
            u64 k = key[a];
            key[a] = key[b];
            key[b] = k;
            int i = id[a];
            id[a] = id[b];
            id[b] = i;
          }
        }
      }
    __syncthreads();
    int* out = (side ? far_list : near_list) + (long long)slots[q] * LIST;
    for (int t = tid; t < LIST; t += TILE) out[t] = t < size && id[t] != NOBODY ? id[t] : -1;
    __syncthreads();
  }
}
