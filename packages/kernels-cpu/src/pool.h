// The thread pool: runs numbered blocks of work on the caller and its workers.
//
// How work is cut into blocks must depend on its shape alone; which thread runs a block is left to chance.
// Results are then the same bits for any number of threads.
#pragma once

#include <adjoint/core/borrowed.h>

#include <cstdint>

namespace adjoint::pool {

// The number of threads that work together, the caller included. At first initial_num_threads().
int num_threads();
void set_num_threads(int threads);

using Body = void (*)(void* context, int64_t block);

// body(context, b) once for each b in [0, blocks), in no order. Called from inside a body it runs serially.
// An exception of a body ends in the caller once every block has been given out.
void run(int64_t blocks, Body body, void* context);

// The same for a callable f(b).
inline void parallel(int64_t blocks, Borrowed<int64_t> f) {
  if (blocks == 1) return f(0);
  run(blocks, [](void* context, int64_t block) { (*static_cast<Borrowed<int64_t>*>(context))(block); }, &f);
}

// f(begin, end) over [0, n) in blocks of `grain` items, the last one shorter.
inline void parallel_for(int64_t n, int64_t grain, Borrowed<int64_t, int64_t> f) {
  if (n <= grain && n > 0) return f(0, n);
  parallel((n + grain - 1) / grain, [&](int64_t block) {
    const int64_t begin = block * grain, end = begin + grain;
    f(begin, end < n ? end : n);
  });
}

}  // namespace adjoint::pool
