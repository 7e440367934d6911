// The thread pool: runs numbered blocks of work on the caller and its workers.
//
// How work is cut into blocks must depend on its shape alone; which thread runs a block is left to chance.
// Results are then the same bits for any number of threads.
#pragma once

#include <cstdint>
#include <type_traits>

namespace adjoint::pool {

// The number of threads that work together, the caller included. At first ADJOINT_NUM_THREADS, OMP_NUM_THREADS
// or the number of cores that the process may use.
int num_threads();
void set_num_threads(int threads);

using Body = void (*)(void* context, int64_t block);

// body(context, b) once for each b in [0, blocks), in no order. Called from inside a body it runs serially.
// An exception of a body ends in the caller once every block has been given out.
void run(int64_t blocks, Body body, void* context);

// The same for a callable f(b).
template <class F>
void parallel(int64_t blocks, F&& f) {
  if (blocks == 1) return f(int64_t{0});
  using Callable = std::remove_reference_t<F>;
  run(
      blocks, [](void* context, int64_t block) { (*static_cast<Callable*>(context))(block); },
      const_cast<void*>(static_cast<const void*>(&f)));
}

// f(begin, end) over [0, n) in blocks of `grain` items, the last one shorter.
template <class F>
void parallel_for(int64_t n, int64_t grain, F&& f) {
  parallel((n + grain - 1) / grain, [&](int64_t block) {
    const int64_t begin = block * grain, end = begin + grain;
    f(begin, end < n ? end : n);
  });
}

}  // namespace adjoint::pool
