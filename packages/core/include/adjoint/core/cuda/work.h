// Work for a device, told to this thread's observers before it is put on its stream and after: they record events around it. While nobody
// watches: one load and branch. What a graph captures does not run, and is not told; a replay is one piece of work.
#pragma once
#include <adjoint/core/cuda/graph.h>
#include <adjoint/core/observer.h>

namespace adjoint::cuda {

struct Work {
  enum class Kind : uint8_t { kernel, copy, fill };
  Kind kind;
  const char* name;
  Stream stream;
  size_t bytes = 0;                                    // copied or filled
  unsigned grid[3] = {}, threads = 0, shared = 0;      // of a kernel: blocks, threads and bytes of a block
};

ADJOINT_API void tell_work(const Work& work, bool put) noexcept;

template <class F> void put(const Work& work, F&& on_stream) {
  if (!watched() || capturing(work.stream)) return on_stream();
  tell_work(work, false);
  on_stream();   // an error: observers are not told that it was put there
  tell_work(work, true);
}

}  // namespace adjoint::cuda
