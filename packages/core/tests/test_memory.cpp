// The allocator and the reference counts, from one thread and from several.
#include <adjoint/core/ops.h>

#include <cstring>
#include <mutex>

#include "check.h"

using namespace adjoint;
using test::check;
using test::in_threads;

namespace {

constexpr int threads = 4;

void statistics() {
  const MemoryStats before = memory_stats();
  constexpr size_t bytes = size_t(3) << 20;
  void* p = allocate(bytes);
  check(reinterpret_cast<uintptr_t>(p) % 64 == 0, "large blocks are aligned");
  check(memory_stats().live >= before.live + bytes, "live counts large blocks", memory_stats().live);
  deallocate(p, bytes);
  check(memory_stats().live == before.live && memory_stats().peak >= bytes, "release is counted", memory_stats().live);
  empty_cache();
  check(memory_stats().kept == 0, "empty_cache keeps nothing", memory_stats().kept);
}

void failed_allocation() {
  const size_t before = memory_stats().live;
  bool failed = false;
  try {
    deallocate(allocate(size_t(1) << 60), size_t(1) << 60);
  } catch (const std::bad_alloc&) {
    failed = true;
  }
  check(failed, "more memory than there is");
  check(memory_stats().live == before && memory_stats().peak < size_t(1) << 60, "what failed is not counted", memory_stats().peak);
}

struct Block { unsigned char* data; size_t bytes; unsigned char mark; };

// Blocks of all sizes wander from the thread that made them to one that frees them, in threads that end.
void blocks_that_change_threads() {
  const size_t before = memory_stats().live;
  std::mutex mutex;
  std::vector<Block> market;
  for (int round = 0; round < 3; round++)
    in_threads(threads, [&](int me) {
      uint32_t random = 12345u + static_cast<uint32_t>(me);
      for (int i = 0; i < 2000; i++) {
        random = random * 1664525u + 1013904223u;
        const size_t bytes = 1 + (random >> 16) % (i % 50 ? 20000 : 100000);
        const Block mine{static_cast<unsigned char*>(allocate(bytes)), bytes, static_cast<unsigned char>(random >> 24)};
        std::memset(mine.data, mine.mark, bytes);
        Block other{};
        {
          std::lock_guard lock(mutex);
          market.push_back(mine);
          if (market.size() > 100) {
            std::swap(market[random % market.size()], market.back());
            other = market.back();
            market.pop_back();
          }
        }
        if (!other.data) continue;
        check(other.data[0] == other.mark && other.data[other.bytes - 1] == other.mark, "a block is one owner's");
        deallocate(other.data, other.bytes);
      }
    });
  for (const Block& b : market) deallocate(b.data, b.bytes);
  check(memory_stats().live == before, "every block came back", memory_stats().live);
}

// One tensor, its storage and its views, taken and dropped by all threads at once.
void shared_tensors() {
  Tensor x = full({64, 64}, 2.0, DType::float32);
  in_threads(threads, [&](int me) {
    for (int i = 0; i < 200; i++) {
      const Tensor handle = x, row = select(handle, 0, (me * 16 + i) % 64), y = add(mul(row, row), select(x, 1, i % 64));
      check(item(sum(y)).to<double>() == 64 * 6, "reading a shared tensor");
    }
  });
  check(x->use_count() == 1 && x->storage->refs == 1, "every reference came back", x->use_count(), x->storage->refs);
}

// The last reference may go in any thread.
void last_reference_elsewhere() {
  for (int i = 0; i < 200; i++) {
    const Tensor x = full({i % 2 ? 8 : 800}, 1.0, DType::float64);
    std::vector<Tensor> handles(threads, x);
    in_threads(threads, [&](int me) { handles[me] = me % 2 ? add(handles[me], handles[me]) : Tensor(); });
    check(x->use_count() == 1, "use_count", x->use_count());
  }
}

}  // namespace

int main() {
  statistics();
  failed_allocation();
  blocks_that_change_threads();
  shared_tensors();
  last_reference_elsewhere();
  return test::failures;
}
