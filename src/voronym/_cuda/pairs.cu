// Search by pairs of cells: see voronym.refiners.pairs for the same search on the CPU.
//
// Compiled with -DDIM=<columns> -DWIDE=<columns of a padded row, a multiple of 4> -DPIECE=<columns at a time>
// -DSEATS=<room of a cell>. A warp visits a pair, a lane holds a record that may move: all of them where the
// pair has no more than 32 records, else a window of either cell. From the squared distances D among them and
// the sums A and B of a record's squared distances to all members of either cell, every swap and every shift is
// priced exactly. The move is drawn by exponential noise; without heat the best one is taken if it gains.
typedef unsigned long long u64;
typedef unsigned int u32;
typedef unsigned char u8;
#define FULL 0xffffffffu
#define WARPS 4
#define PIECES (WIDE / PIECE)

__device__ __forceinline__ u32 mix(u32 x) {
  x ^= x >> 16;
  x *= 0x7feb352dU;
  x ^= x >> 15;
  x *= 0x846ca68bU;
  return x ^ (x >> 16);
}

__device__ __forceinline__ float total(float x) {
  for (int o = 16; o; o >>= 1) x += __shfl_xor_sync(FULL, x, o);
  return x;
}

__device__ __forceinline__ float noise(u32& rng) {  // the binary logarithm of a number between 0 and 1
  rng ^= rng << 13;
  rng ^= rng >> 17;
  rng ^= rng << 5;
  return __log2f(fmaf((float)(rng >> 8), 5.9604645e-8f, 2.9802322e-8f));
}

// All blocks of a cooperative launch wait for each other.
__device__ __forceinline__ void barrier(u64* arrived) {
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    u64 ticket = atomicAdd(arrived, 1ull), target = (ticket / gridDim.x + 1) * gridDim.x, now;
    do {
      asm volatile("ld.acquire.gpu.u64 %0, [%1];" : "=l"(now) : "l"(arrived) : "memory");
    } while (now < target);
    __threadfence();
  }
  __syncthreads();
}

struct __align__(16) Warp {
  float rows[32][PIECE];  // some columns of up to 32 members; read four at a time, so first
  float D[32][33];        // squared distances between the records of the lanes
  float S[PIECES > 1 ? 32 : 1][33];  // the same to members, summed over the columns so far
  int place[2][32];       // lane of the t-th record of a side that may move
};

// Visit the cells p and q; return how many moves were made.
__device__ int visit(const float* __restrict__ X, int* seats, int* sizes, int p, int q, int k, float heat, float even,
                     float scale, int steps, u32 rng, int lane, Warp& my) {
  int n1 = __ldcg(sizes + p), n2 = __ldcg(sizes + q), all = n1 + n2;
  int *first = seats + (long long)p * SEATS, *second = seats + (long long)q * SEATS;
  // Who may move: windows of v1 and v2 members that begin anywhere.
  int v1 = min(n1, max(16, 32 - n2)), v2 = min(n2, 32 - v1);
  int o1 = v1 < n1 ? mix(rng + 1) % n1 : 0, o2 = v2 < n2 ? mix(rng + 2) % n2 : 0;
  o1 = __shfl_sync(FULL, o1, 0);
  o2 = __shfl_sync(FULL, o2, 0);
  int side = lane >= v1, seat = side ? (o2 + lane - v1) % n2 : (o1 + lane) % n1;
  bool mine = lane < v1 + v2;
  int id = mine ? __ldcg((side ? second : first) + seat) : __ldcg(first);
  // Squared distances of my record to all members, 32 members and PIECE columns at a time.
  float A = 0, B = 0;
  for (int base = 0; base < all; base += 32) {
    int t = base + lane, member = t < all ? __ldcg(t < n1 ? first + t : second + t - n1) : id;
    // The lane of this member, where it may move; windows are cyclic.
    int turn = t < n1 ? (t - o1 + n1) % n1 : (t - n1 - o2 + n2) % n2;
    int own = t >= all ? -1 : t < n1 ? (turn < v1 ? turn : -1) : (turn < v2 ? v1 + turn : -1);
    int many = min(32, all - base);
#pragma unroll 1
    for (int piece = 0; piece < PIECES; piece++) {
      float x[PIECE];
      const float4* from = (const float4*)(X + (long long)id * WIDE + piece * PIECE);
      const float4* row = (const float4*)(X + (long long)member * WIDE + piece * PIECE);
      __syncwarp();
#pragma unroll
      for (int c = 0; c < PIECE / 4; c++) {
        float4 v = __ldg(from + c);
        x[4 * c] = v.x;
        x[4 * c + 1] = v.y;
        x[4 * c + 2] = v.z;
        x[4 * c + 3] = v.w;
        *(float4*)&my.rows[lane][4 * c] = __ldg(row + c);
      }
      __syncwarp();
#pragma unroll 2
      for (int a = 0; a < many; a++) {
        float s = piece ? my.S[PIECES > 1 ? a : 0][lane] : 0.f;
#pragma unroll
        for (int c = 0; c < PIECE / 4; c++) {
          float4 w = *(const float4*)&my.rows[a][4 * c];
          float f = x[4 * c] - w.x;
          s = fmaf(f, f, s);
          f = x[4 * c + 1] - w.y;
          s = fmaf(f, f, s);
          f = x[4 * c + 2] - w.z;
          s = fmaf(f, f, s);
          f = x[4 * c + 3] - w.w;
          s = fmaf(f, f, s);
        }
        if (piece < PIECES - 1)
          my.S[PIECES > 1 ? a : 0][lane] = s;
        else {
          int at = __shfl_sync(FULL, own, a);
          if (at >= 0) my.D[at][lane] = s;
          if (base + a < n1)
            A += s;
          else
            B += s;
        }
      }
    }
  }
  // W is half the sum of all squared distances within a cell: n times the sum of squares about its mean.
  float W1, W2;
  if (v1 == n1 && v2 == n2) {
    W1 = 0.5f * total(mine && !side ? A : 0.f);
    W2 = 0.5f * total(mine && side ? B : 0.f);
  } else {  // some are not here: W = n sum|y|^2 - |sum y|^2, about the record of lane 0
    float s1 = 0, s2 = 0, l1 = 0, l2 = 0;
    int origin = __shfl_sync(FULL, id, 0);
    for (int j = 0; j < DIM; j++) {
      float zero = __ldg(X + (long long)origin * WIDE + j), a = 0, b = 0;
      for (int t = lane; t < all; t += 32) {
        float y = __ldg(X + (long long)__ldcg(t < n1 ? first + t : second + t - n1) * WIDE + j) - zero;
        if (t < n1) {
          a += y;
          s1 = fmaf(y, y, s1);
        } else {
          b += y;
          s2 = fmaf(y, y, s2);
        }
      }
      a = total(a);
      b = total(b);
      l1 = fmaf(a, a, l1);
      l2 = fmaf(b, b, l2);
    }
    W1 = n1 * total(s1) - l1;
    W2 = n2 * total(s2) - l2;
  }
  // Heat of the neighbourhood: what a record costs here, blended with what one costs in the whole table.
  float here = (W1 / n1 + W2 / n2) / all;
  float T = heat > 0.f ? heat * exp2f(even * __log2f(fmaxf(scale, 1e-30f)) + (1.f - even) * __log2f(fmaxf(here, 1e-30f))) : 0.f;
  float fading = T * 0.69314718f, gain = T > 0.f ? 0.f : 2e-5f * here;
  int rank = side ? lane - v1 : lane, moves = 0;
  if (mine) my.place[side][rank] = lane;
  __syncwarp();
  for (int step = 0; step < steps; step++) {
    float i1 = 1.f / n1, i2 = 1.f / n2, both = i1 + i2, own = A * i1 - B * i2, best = -gain;
    int choice = -1, others = side ? v1 : v2, rounds = (max(v1, v2) + 1) >> 1;
    // Every swap is priced by one of its two ends: that in the first cell where ranks have one parity.
    for (int x = 0, y = (rank & 1) ^ side; x < rounds; x++, y += 2) {
      bool there = mine && y < others;
      int o = my.place[side ^ 1][there ? y : 0];
      float theirs = __shfl_sync(FULL, own, o), change = (side ? own - theirs : theirs - own) - both * my.D[o][lane];
      change = fmaf(fading, noise(rng), change);
      if (there && change < best) {
        best = change;
        choice = o;
      }
    }
    if (all > 2 * k) {
      bool may = side ? n2 > k && n1 < 2 * k - 1 : n1 > k && n2 < 2 * k - 1;
      float change = side ? (W2 - B) / (n2 - 1) - W2 * i2 + (W1 + A) / (n1 + 1) - W1 * i1
                          : (W1 - A) / (n1 - 1) - W1 * i1 + (W2 + B) / (n2 + 1) - W2 * i2;
      change = fmaf(fading, noise(rng), change);
      // A shift changes how many of a side are here; a side of 32 has no seat for one more.
      if (mine && may && (side ? v1 : v2) < 32 && change < best) {
        best = change;
        choice = 32;
      }
    }
    u32 key = choice >= 0 ? __float_as_uint(-best) : 0u, top = __reduce_max_sync(FULL, key);
    if (top == 0) {
      if (T > 0.f) continue;
      break;
    }
    int who = __ffs(__ballot_sync(FULL, key == top)) - 1, what = __shfl_sync(FULL, choice, who);
    int from = __shfl_sync(FULL, side, who);
    moves++;
    if (what < 32) {  // a swap of a, in the first cell, and b
      int a = from ? what : who, b = from ? who : what;
      int rank_a = __shfl_sync(FULL, rank, a), rank_b = __shfl_sync(FULL, rank, b);
      int seat_a = __shfl_sync(FULL, seat, a), seat_b = __shfl_sync(FULL, seat, b);
      float between = my.D[a][b];
      W1 += __shfl_sync(FULL, A, b) - __shfl_sync(FULL, A, a) - between;
      W2 += __shfl_sync(FULL, B, a) - __shfl_sync(FULL, B, b) - between;
      float x = my.D[b][lane] - my.D[a][lane];
      A += x;
      B -= x;
      if (lane == a) {
        side = 1;
        rank = rank_b;
        seat = seat_b;
        my.place[1][rank_b] = a;
      }
      if (lane == b) {
        side = 0;
        rank = rank_a;
        seat = seat_a;
        my.place[0][rank_a] = b;
      }
    } else {  // a shift: the last seat of its cell moves into the one it leaves
      float x = my.D[who][lane], A_who = __shfl_sync(FULL, A, who), B_who = __shfl_sync(FULL, B, who);
      int hole = __shfl_sync(FULL, seat, who), rank_who = __shfl_sync(FULL, rank, who);
      int last = from ? n2 - 1 : n1 - 1, end = from ? v2 - 1 : v1 - 1;
      bool sits = mine && side == from && seat == last;
      if (!__any_sync(FULL, sits)) {
        if (lane == 0) (from ? second : first)[hole] = __ldcg((from ? second : first) + last);
      } else if (sits)
        seat = hole;
      int tail = my.place[from][end];
      __syncwarp();
      if (lane == tail && lane != who) {
        rank = rank_who;
        my.place[from][rank_who] = lane;
      }
      float sign = from ? -1.f : 1.f;
      A -= sign * x;
      B += sign * x;
      if (from) {
        W2 -= B_who;
        W1 += A_who;
        if (lane == who) {
          side = 0;
          rank = v1;
          seat = n1;
          my.place[0][v1] = lane;
        }
        n2--, n1++, v2--, v1++;
      } else {
        W1 -= A_who;
        W2 += B_who;
        if (lane == who) {
          side = 1;
          rank = v2;
          seat = n2;
          my.place[1][v2] = lane;
        }
        n1--, n2++, v1--, v2++;
      }
    }
    __syncwarp();
  }
  if (moves) {
    if (mine) (side ? second : first)[seat] = id;
    if (lane == 0) {
      sizes[p] = n1;
      sizes[q] = n2;
    }
  }
  __syncwarp();
  return moves;
}

// Rounds of disjoint pairs: each cell draws a neighbour and a key; a pair whose key is the highest at both ends
// is visited. Keys begin with the number of the round, so that they need no clearing within a launch.
extern "C" __global__ void __launch_bounds__(WARPS * 32)
    sweep(const float* __restrict__ X, int* seats, int* sizes, const int* __restrict__ neighbours, int stride, int near,
          u64* keys, int2* queue, int* queued, u64* arrived, int cells, int k, float heat, float fall, float even,
          float scale, int rounds, int steps, u32 seed, u64* moves) {
  __shared__ Warp room[WARPS];
  int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  int thread = blockIdx.x * blockDim.x + threadIdx.x, threads = gridDim.x * blockDim.x;
  u64 made = 0;
  for (int round = 0; round < rounds; round++) {
    u32 salt = mix((round + 1) * 0x9E3779B9u + seed);
    float T = heat * exp2f(-fall * round);
    if (thread == 0) queued[(round + 2) & 3] = 0;
    for (int p = thread; p < cells; p += threads) {
      u32 h = mix((u32)p ^ salt);
      int q = neighbours[(long long)p * stride + h % (u32)near];
      if (q == p) continue;
      u64 key = ((u64)(round + 1) << 48) | ((u64)(mix(h + 77) >> 16) << 32) | (u32)p;
      atomicMax(keys + p, key);
      atomicMax(keys + q, key);
    }
    barrier(arrived);
    for (int base = (thread >> 5) * 32; base < cells; base += threads) {
      int p = base + lane, q = 0;
      bool wins = false;
      if (p < cells) {
        u32 h = mix((u32)p ^ salt);
        q = neighbours[(long long)p * stride + h % (u32)near];
        u64 key = ((u64)(round + 1) << 48) | ((u64)(mix(h + 77) >> 16) << 32) | (u32)p;
        wins = q != p && __ldcg(keys + p) == key && __ldcg(keys + q) == key;
      }
      u32 ballot = __ballot_sync(FULL, wins);
      int at = 0;
      if (lane == 0 && ballot) at = atomicAdd(queued + (round & 3), __popc(ballot));
      at = __shfl_sync(FULL, at, 0) + __popc(ballot & ((1u << lane) - 1));
      if (wins) queue[(long long)(round & 1) * cells + at] = make_int2(p, q);
    }
    barrier(arrived);
    int many = __ldcg(queued + (round & 3));
    for (int v = thread >> 5; v < many; v += threads >> 5) {
      int2 pair = __ldcg(queue + (long long)(round & 1) * cells + v);
      u32 rng = mix(mix((u32)pair.x ^ salt) + 0x85ebca6bu * (lane + 1)) | 1u;
      made += visit(X, seats, sizes, pair.x, pair.y, k, T, even, scale, steps, rng, lane, room[warp]);
    }
  }
  if (lane == 0 && made) atomicAdd(moves, made);
}

// ---- what surrounds the search -------------------------------------------------------------------------------

// Rows of floats about the mean, padded with zeros.
extern "C" __global__ void pad(const double* X, int n, const double* mean, float* out) {
  long long t = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  if (t >= (long long)n * WIDE) return;
  int j = t % WIDE;
  out[t] = j < DIM ? (float)(X[t / WIDE * DIM + j] - mean[j]) : 0.f;
}

extern "C" __global__ void settle(const double* X, const int* seats, const int* sizes, int cells, double* centroids,
                                  double* cost) {
  int c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c >= cells) return;
  int n = sizes[c];
  const int* members = seats + (long long)c * SEATS;
  double sum = 0;
  for (int j = 0; j < DIM; j++) {
    double s = 0;
    for (int t = 0; t < n; t++) s += X[(long long)members[t] * DIM + j];
    s /= n;
    centroids[(long long)c * DIM + j] = s;
    for (int t = 0; t < n; t++) {
      double f = X[(long long)members[t] * DIM + j] - s;
      sum += f * f;
    }
  }
  cost[c] = sum;
}

// The neighbours of a cell from its list, itself left out; a short list is repeated.
extern "C" __global__ void strip(const int* lists, int length, int cells, int* neighbours, int stride) {
  int c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c >= cells) return;
  int have = 0;
  for (int t = 0; t < length && have < stride; t++) {
    int o = lists[(long long)c * length + t];
    if (o >= 0 && o != c) neighbours[(long long)c * stride + have++] = o;
  }
  for (int t = have; t < stride; t++) neighbours[(long long)c * stride + t] = have ? neighbours[(long long)c * stride + t % have] : c;
}

extern "C" __global__ void name(const int* seats, const int* sizes, int cells, int* labels) {
  int c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c >= cells) return;
  for (int t = 0; t < sizes[c]; t++) labels[seats[(long long)c * SEATS + t]] = c;
}

// Records in the order of their cells take their seats.
extern "C" __global__ void seat_all(const int* order, const int* start, int cells, int* seats, int* sizes) {
  int c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c >= cells) return;
  sizes[c] = start[c + 1] - start[c];
  for (int t = start[c]; t < start[c + 1]; t++) seats[(long long)c * SEATS + t - start[c]] = order[t];
}

// ---- a start: halves along the column that varies most, down to cells ----------------------------------------

__device__ int node_of(const int* start, int nodes, int t) {  // the last that begins at t or before
  int low = 0, high = nodes;
  while (high - low > 1) {
    int middle = (low + high) / 2;
    if (start[middle] <= t)
      low = middle;
    else
      high = middle;
  }
  return low;
}

extern "C" __global__ void widest(const float* __restrict__ X, const int* order, const int* start, int nodes, int* axis) {
  int node = (blockIdx.x * blockDim.x + threadIdx.x) >> 5, lane = threadIdx.x & 31;
  if (node >= nodes) return;
  int a = start[node], n = start[node + 1] - a, step = max(1, n / 512);
  float most = -1.f;
  int best = 0, count = 0;
  for (int t = lane * step; t < n; t += 32 * step) count++;
  float many = fmaxf(1.f, total((float)count));
  for (int j = 0; j < DIM; j++) {
    float s = 0, w = 0;
    for (int t = lane * step; t < n; t += 32 * step) {
      float x = X[(long long)order[a + t] * WIDE + j];
      s += x;
      w = fmaf(x, x, w);
    }
    s = total(s);
    w = total(w) - s * s / many;
    if (w > most) {
      most = w;
      best = j;
    }
  }
  if (lane == 0) axis[node] = best;
}

// The node, then the value along its axis, as bits that sort like the number.
extern "C" __global__ void sort_keys(const float* X, const int* order, int n, const int* start, int nodes, const int* axis,
                                     u64* keys) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t >= n) return;
  int node = node_of(start, nodes, t);
  u32 bits = __float_as_uint(X[(long long)order[t] * WIDE + axis[node]]);
  bits = bits >> 31 ? ~bits : bits | 0x80000000u;
  keys[t] = ((u64)node << 32) | bits;
}

extern "C" __global__ void permute(const int* order, const long long* by, int n, int* out) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t < n) out[t] = order[by[t]];
}
