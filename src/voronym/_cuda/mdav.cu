// MDAV along lists of the nearest and the farthest records (near.cu, which comes before this in one module).
//
// The host arranges the records that are left by their distance to the mean, makes lists for those that will
// soon be asked about, and lets one block walk as far as the lists reach.

__device__ __forceinline__ void add_exactly(double& high, double& low, double value) {
  double total = __dadd_rn(high, value), other = __dadd_rn(total, -high);
  low = __dadd_rn(low, __dadd_rn(__dadd_rn(high, -__dadd_rn(total, -other)), __dadd_rn(value, -other)));
  high = __dadd_rn(total, low);
  low = __dadd_rn(low, -__dadd_rn(high, -total));
}

// The sums of the columns as double-doubles, a block for each: high parts, then low parts.
extern "C" __global__ void __launch_bounds__(TILE) sums_of(const double* X, int n, double* sums) {
  __shared__ double highs[TILE], lows[TILE];
  int j = blockIdx.x, tid = threadIdx.x;
  double high = 0, low = 0;
  for (int i = tid; i < n; i += TILE) add_exactly(high, low, X[(long long)i * DIM + j]);
  highs[tid] = high;
  lows[tid] = low;
  __syncthreads();
  if (tid) return;
  high = low = 0;
  for (int t = 0; t < TILE; t++) {
    add_exactly(high, low, highs[t]);
    add_exactly(high, low, lows[t]);
  }
  sums[j] = high;
  sums[DIM + j] = low;
}

// plan[0]: how many will be asked about soon; plan[1]: length of the queue; plan[2]: slots in use.
extern "C" __global__ void __launch_bounds__(1024)
    upcoming(const int* index, int m, const u8* alive, const int* state, int most, int* up, int* plan) {
  __shared__ int counts[32];
  int tid = threadIdx.x, lane = tid & 31, warp = tid >> 5, have = 0;
  for (int base = state[2]; base < m && have < most; base += 1024) {
    int t = base + tid, row = t < m ? index[t] : 0;
    bool there = t < m && alive[row];
    u32 ballot = __ballot_sync(FULL, there);
    if (lane == 0) counts[warp] = __popc(ballot);
    __syncthreads();
    int before = 0, all = 0;
    for (int w = 0; w < 32; w++) {
      if (w < warp) before += counts[w];
      all += counts[w];
    }
    int rank = have + before + __popc(ballot & ((1u << lane) - 1));
    if (there && rank < most) up[rank] = row;
    have += all;
    __syncthreads();
  }
  if (tid == 0) {  // and those at which the last walk stopped, wherever they stand
    int number = min(have, most);
    for (int t = 5; t < 7; t++)
      if (state[t] >= 0 && alive[state[t]]) up[number++] = state[t];
    plan[0] = number;
    plan[1] = 0;
  }
}

__device__ __forceinline__ int living(const int* list, const u8* alive, int lane) {
  int count = 0;
  for (int t = lane; t < LIST; t += 32) {
    int row = list[t];
    count += __popc(__ballot_sync(FULL, row >= 0 && alive[row]));
  }
  return count;
}

// Put into the queue who needs lists: the upcoming (partners 0), or the first points that are far from them.
extern "C" __global__ void __launch_bounds__(TILE)
    enqueue(const int* up, int* plan, const u8* alive, int* slot, int slots, const int* near_list,
            const int* far_list, int k, int left, int partners, int* queue, int* queue_slot, int room, int* claim,
            int stamp) {
  int w = (blockIdx.x * blockDim.x + threadIdx.x) >> 5, lane = threadIdx.x & 31;
  if (w >= plan[0]) return;
  int who[8], number = 0, own = slot[up[w]];
  if (partners == 0) {
    who[0] = up[w];
    number = 1;
  } else if (own >= 0) {
    for (int t = lane; t < LIST && number < partners; t += 32) {
      int row = far_list[(long long)own * LIST + t];
      u32 ballot = __ballot_sync(FULL, row >= 0 && alive[row]);
      while (ballot && number < partners) {
        who[number++] = __shfl_sync(FULL, row, __ffs(ballot) - 1);
        ballot &= ballot - 1;
      }
    }
  }
  for (int e = 0; e < number; e++) {
    int row = who[e], at = slot[row];
    // A partner's list is asked after its finder's group left, which may take k of it.
    bool need = at < 0 || living(near_list + (long long)at * LIST, alive, lane) < min(partners ? 2 * k : k, left);
    if (!need && !partners) need = living(far_list + (long long)at * LIST, alive, lane) < min(k + 1, left);
    if (need && lane == 0 && atomicExch(claim + row, stamp) != stamp) {
      int place = atomicAdd(plan + 1, 1);
      if (place < room) {
        if (at < 0) at = atomicAdd(plan + 2, 1);
        if (at < slots) {
          slot[row] = at;
          queue[place] = row;
          queue_slot[place] = at;
        } else {  // no slot left: the last one takes what nobody will read
          queue[place] = row;
          queue_slot[place] = slots;
        }
      }
    }
    __syncwarp();
  }
}

// The first k living entries of a list; false where there are fewer. One warp.
__device__ bool choose(const int* list, const u8* alive, int k, int lane, int* members) {
  int count = 0;
#pragma unroll
  for (int part = 0; part < LIST / 32; part++) {
    int row = list[32 * part + lane];
    bool there = row >= 0 && alive[row];
    u32 ballot = __ballot_sync(FULL, there);
    int rank = count + __popc(ballot & ((1u << lane) - 1));
    if (there && rank < k) members[rank] = row;
    count += __popc(ballot);
  }
  __syncwarp();
  return count >= k;
}

#define READY 0
#define NO_LIST 1   // a list is missing or used up: plan again
#define NO_ORDER 2  // the mean moved too far from the order: arrange again
// state: how many are left, groups made, head of the order, why the walk stopped, rounds made, at whom (r and s).
// One block: all threads look for r, the first warp takes the groups, a thread for each column keeps the sums.
extern "C" __global__ void __launch_bounds__(TILE)
    walk(const double* __restrict__ columns, int m, const int* __restrict__ index, const double* __restrict__ rho,
         const double* __restrict__ centre, const double* __restrict__ X, u8* alive, const int* __restrict__ slot,
         const int* __restrict__ near_list, const int* __restrict__ far_list, int slots, int k, double* sums,
         int* state, int* labels, int reach, int rounds) {
  __shared__ double mean[DIM], high[DIM], low[DIM], part[TILE / 32], drift;
  __shared__ int members[2][32], who[TILE / 32], there[TILE / 32], why, both;
  int tid = threadIdx.x, lane = tid & 31, warp = tid >> 5;
  for (int j = tid; j < DIM; j += TILE) {
    high[j] = sums[j];
    low[j] = sums[DIM + j];
  }
  int left = state[0], group = state[1], head = state[2], done = 0;
  if (tid == 0) {
    why = READY;
    state[5] = state[6] = -1;
  }
  __syncthreads();
  while (left >= 2 * k && done < rounds) {
    double moved = 0;
    for (int j = tid; j < DIM; j += TILE) {
      double value = __ddiv_rn(high[j], (double)left), f = value - centre[j];
      mean[j] = value;
      moved += f * f;
    }
    for (int o = 16; o; o >>= 1) moved += __shfl_xor_sync(FULL, moved, o);
    if (lane == 0) part[warp] = moved;
    __syncthreads();
    if (tid == 0) {
      double total = 0;
      for (int w = 0; w < TILE / 32; w++) total += part[w];
      drift = sqrt(total) * SLACK;
    }
    __syncthreads();
    double best = -1;
    int r = NOBODY, found = 0;
    for (int base = head;; base += TILE) {
      if (base >= m) {
        found = 1;
        break;
      }
      double bound = rho[base] + drift;
      if (bound * bound * SLACK + TINY < best) {
        found = 1;
        break;
      }
      if (base - head > reach) break;
      int t = base + tid, row = NOBODY;
      double distance = -1;
      if (t < m && alive[index[t]]) {
        row = index[t];
        distance = 0;
        for (int j = 0; j < DIM; j++) distance = square_sum(distance, columns[(long long)j * m + t] - mean[j]);
      }
      u32 ballot = __ballot_sync(FULL, distance >= 0);
      for (int o = 16; o; o >>= 1) {
        double d = __shfl_xor_sync(FULL, distance, o);
        int i = __shfl_xor_sync(FULL, row, o);
        if (d > distance || (d == distance && i < row)) {
          distance = d;
          row = i;
        }
      }
      if (lane == 0) {
        part[warp] = distance;
        who[warp] = row;
        there[warp] = ballot != 0;
      }
      __syncthreads();
      int any = 0;
      for (int w = 0; w < TILE / 32; w++) {
        any |= there[w];
        if (part[w] > best || (part[w] == best && who[w] < r)) {
          best = part[w];
          r = who[w];
        }
      }
      __syncthreads();
      if (base == head && !any) head += TILE;  // all of them left
    }
    if (!found || r == NOBODY) {
      if (tid == 0) why = NO_ORDER;
      __syncthreads();
      break;
    }
    if (warp == 0) {
      int at = slot[r], s = -1, other = -1, fail = at < 0 || at >= slots;
      bool two = left >= 3 * k;
      if (!fail) fail = !choose(near_list + (long long)at * LIST, alive, k, lane, members[0]);
      if (!fail) {
        if (lane < k) alive[members[0][lane]] = 0;
        __syncwarp();
        if (two) {
#pragma unroll
          for (int p = 0; p < LIST / 32; p++) {
            int row = far_list[(long long)at * LIST + 32 * p + lane];
            u32 ballot = __ballot_sync(FULL, row >= 0 && alive[row]);
            if (s < 0 && ballot) s = __shfl_sync(FULL, row, __ffs(ballot) - 1);
          }
          if (s >= 0) other = slot[s];
          fail = s < 0 || other < 0 || other >= slots;
          if (!fail) fail = !choose(near_list + (long long)other * LIST, alive, k, lane, members[1]);
          if (lane < k) alive[(fail ? members[0] : members[1])[lane]] = fail ? 1 : 0;
        }
        if (!fail && lane < k) {
          labels[members[0][lane]] = group;
          if (two) labels[members[1][lane]] = group + 1;
        }
      }
      __syncwarp();
      if (lane == 0) {
        if (fail) {
          why = NO_LIST;
          state[5] = r;
          state[6] = s;
        }
        both = two;
      }
    }
    __syncthreads();
    if (why != READY) break;
    for (int j = tid; j < DIM; j += TILE) {
      double h = high[j], l = low[j];
      for (int half = 0; half <= both; half++)
        for (int i = 0; i < k; i += 8) {  // eight reads on their way at a time
          double value[8];
#pragma unroll
          for (int e = 0; e < 8; e++) value[e] = i + e < k ? X[(long long)members[half][i + e] * DIM + j] : 0.0;
#pragma unroll
          for (int e = 0; e < 8; e++)
            if (i + e < k) add_exactly(h, l, -value[e]);
        }
      high[j] = h;
      low[j] = l;
    }
    left -= both ? 2 * k : k;
    group += both ? 2 : 1;
    done++;
    __syncthreads();
  }
  for (int j = tid; j < DIM; j += TILE) {
    sums[j] = high[j];
    sums[DIM + j] = low[j];
  }
  if (tid == 0) {
    state[0] = left;
    state[1] = group;
    state[2] = head;
    state[3] = why;
    state[4] = done;
  }
}
