// Work shared by threads: core runs it on one, a kernel package puts its pool here.
#pragma once
#include <adjoint/core/borrowed.h>
#include <adjoint/core/export.h>

#include <cstdint>

namespace adjoint {

// f(begin, end) over [0, n) in pieces of `grain`, on any thread: so results must not depend on how it is cut.
ADJOINT_API extern void (*parallel_for)(int64_t n, int64_t grain, Borrowed<int64_t, int64_t> f);
ADJOINT_API extern int (*num_threads)();   // that share it

}  // namespace adjoint
