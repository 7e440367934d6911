// Memory: per-thread lists for small blocks, kept large blocks (see src/allocator.cpp for the policy).
#pragma once
#include <adjoint/core/export.h>

#include <cstddef>
#include <cstdint>
#include <new>

namespace adjoint {

namespace detail {
// The address sanitizer must see the true end of each block, and its release: with it nothing is rounded or kept.
#if defined(__SANITIZE_ADDRESS__)
constexpr bool keep_blocks = false;
#else
constexpr bool keep_blocks = true;
#endif

struct SmallHeap {
  static constexpr size_t classes = 65, keep = 256;  // classes of 16 bytes up to 1 KiB
  struct Block { Block* next; };
  Block* head[classes];
  uint32_t count[classes];
};
constexpr size_t largest_small = 16 * (SmallHeap::classes - 1);
ADJOINT_API extern constinit thread_local SmallHeap* small_heap;
ADJOINT_API void* small_refill(size_t cls);
ADJOINT_API void small_spill(void* p) noexcept;
ADJOINT_API void* large_allocate(size_t bytes);
ADJOINT_API void large_free(void* p, size_t bytes) noexcept;
}  // namespace detail

inline void* allocate(size_t bytes) {
  const size_t cls = (bytes + 15) >> 4;
  if (cls >= detail::SmallHeap::classes) return detail::large_allocate(bytes);
  if constexpr (!detail::keep_blocks) return ::operator new(bytes);
  if (auto* heap = detail::small_heap)
    if (auto* block = heap->head[cls]) {
      heap->head[cls] = block->next;
      heap->count[cls]--;
      return block;
    }
  return detail::small_refill(cls);
}

inline void deallocate(void* p, size_t bytes) noexcept {
  const size_t cls = (bytes + 15) >> 4;
  if (cls >= detail::SmallHeap::classes) return detail::large_free(p, bytes);
  if constexpr (!detail::keep_blocks) return ::operator delete(p);
  auto* heap = detail::small_heap;
  if (!heap || heap->count[cls] >= detail::SmallHeap::keep) return detail::small_spill(p);
  auto* block = static_cast<detail::SmallHeap::Block*>(p);
  block->next = heap->head[cls];
  heap->head[cls] = block;
  heap->count[cls]++;
}

// Of lists, which are no memory of tensors, however long: calls, as they stand in many places.
ADJOINT_API void* allocate_list(size_t bytes);
ADJOINT_API void deallocate_list(void* p, size_t bytes) noexcept;

class ADJOINT_API OutOfMemory final : public std::bad_alloc {
 public:
  explicit OutOfMemory(size_t bytes);
  explicit OutOfMemory(const char* text);   // of a GPU
  const char* what() const noexcept override { return text_; }

 private:
  char text_[500];
};

struct MemoryStats { size_t live, peak, kept; };  // bytes of large blocks (> 1 KiB)
ADJOINT_API MemoryStats memory_stats() noexcept;
ADJOINT_API void reset_peak_memory() noexcept;
ADJOINT_API void empty_cache() noexcept;

}  // namespace adjoint
