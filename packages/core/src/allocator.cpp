// Memory policy. Up to 1 KiB: per-thread lists by 16 bytes. Above: classes at 1/8-power-of-two steps that are kept after
// release (a fresh page costs more than the work done on it), bounded by the larger of 256 MiB and the peak of live bytes.
// Blocks from 2 MiB up are aligned to huge pages.
#include <adjoint/core/books.h>
#include <adjoint/core/process.h>

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <new>
#include <unordered_map>
#include <utility>
#include <vector>
#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace adjoint {
namespace detail {

constinit thread_local SmallHeap* small_heap = nullptr;

namespace {

struct HeapOwner {
  HeapOwner() { small_heap = static_cast<SmallHeap*>(std::calloc(1, sizeof(SmallHeap))); }
  ~HeapOwner() {
    SmallHeap* heap = std::exchange(small_heap, nullptr);
    for (auto* block : heap->head)
      while (block) ::operator delete(std::exchange(block, block->next));
    std::free(heap);
  }
};

constexpr size_t huge = size_t(2) << 20, kept_minimum = size_t(256) << 20;

size_t round_up(size_t bytes) {
  if (!keep_blocks) return bytes;
  const size_t step = std::bit_floor(bytes) / 8;
  const size_t rounded = (bytes + step - 1) / step * step;
  return rounded >= huge ? (rounded + huge - 1) / huge * huge : rounded;
}

class LargeHeap {
 public:
  void* allocate(size_t bytes) {
    const size_t size = round_up(bytes);
    {
      std::lock_guard lock(mutex_);
      auto& list = free_[size];
      if (!list.empty()) {
        void* p = list.back();
        list.pop_back();
        kept_ -= size;
        count(size);
        return p;
      }
    }
    void* p = fresh(size);
    if (!p) {   // what we keep may be what is missing
      trim();
      p = fresh(size);
    }
    if (!p) throw OutOfMemory(bytes);
    std::lock_guard lock(mutex_);
    count(size);
    return p;
  }
  void release(void* p, size_t bytes) noexcept {
    const size_t size = round_up(bytes);
    std::lock_guard lock(mutex_);
    live_ -= size;
    if (!keep_blocks || kept_ + size > std::max(kept_minimum, highest_)) return give_back(p, size);
    free_[size].push_back(p);
    kept_ += size;
  }
  MemoryStats stats() {
    std::lock_guard lock(mutex_);
    return {live_, peak_, kept_};
  }
  void reset_peak() {
    std::lock_guard lock(mutex_);
    peak_ = live_;
  }
  void trim() {
    std::lock_guard lock(mutex_);
    for (auto& [size, list] : free_) {
      for (void* p : list) give_back(p, size);
      list.clear();
    }
    kept_ = 0;
  }
  void lock() { mutex_.lock(); }
  void unlock() { mutex_.unlock(); }

 private:
  void count(size_t size) {
    live_ += size;
    if (live_ > peak_) peak_ = live_;
    if (live_ > highest_) highest_ = live_;
  }
  static void* fresh(size_t size) noexcept {
    const size_t alignment = keep_blocks && size >= huge ? huge : 64;   // the size must be a multiple of it
#if defined(_WIN32)
    void* p = _aligned_malloc(size, alignment);
#else
    void* p = std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
#endif
#if defined(__linux__)
    if (p && size >= huge) madvise(p, size, MADV_HUGEPAGE);
#endif
    return p;
  }
  static void give_back(void* p, size_t) noexcept {
#if defined(_WIN32)
    _aligned_free(p);
#else
    std::free(p);
#endif
  }

  std::mutex mutex_;
  std::unordered_map<size_t, std::vector<void*>> free_;
  size_t live_ = 0, peak_ = 0, highest_ = 0, kept_ = 0;
};

// Never destroyed: tensors of other static objects may outlive it. A fork waits until no thread is at work on it: its child has
// the caller's thread only, and would wait forever for another one to leave.
LargeHeap& large_heap() {
  static LargeHeap* heap = [] {
    on_fork([] { large_heap().lock(); }, [] { large_heap().unlock(); }, [] { large_heap().unlock(); });
    return new LargeHeap;
  }();
  return *heap;
}

}  // namespace

void* small_refill(size_t cls) {
  static thread_local HeapOwner owner;
  (void)owner;
  return ::operator new(cls ? cls * 16 : 16);
}
void small_spill(void* p) noexcept { ::operator delete(p); }
void* large_allocate(size_t bytes) { return large_heap().allocate(bytes); }
void large_free(void* p, size_t bytes) noexcept { large_heap().release(p, bytes); }

}  // namespace detail

OutOfMemory::OutOfMemory(size_t bytes) { std::snprintf(text_, sizeof text_, "out of memory: tried to allocate %zu bytes", bytes); }
OutOfMemory::OutOfMemory(const char* text) { std::snprintf(text_, sizeof text_, "%s", text); }

size_t booked_bytes(size_t bytes) noexcept { return (bytes + 15) >> 4 >= detail::SmallHeap::classes ? detail::round_up(bytes) : 0; }
MemoryStats memory_stats() noexcept { return detail::large_heap().stats(); }
void reset_peak_memory() noexcept { detail::large_heap().reset_peak(); }
void empty_cache() noexcept { detail::large_heap().trim(); }

void* allocate_list(size_t bytes) { return bytes > detail::largest_small ? ::operator new(bytes) : allocate(bytes); }
void deallocate_list(void* p, size_t bytes) noexcept { bytes > detail::largest_small ? ::operator delete(p) : deallocate(p, bytes); }

}  // namespace adjoint
