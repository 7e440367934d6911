// Memory policy. Up to 1 KiB: per-thread lists by 16 bytes. Above: classes that are kept after release (a fresh page costs more
// than the work done on it), bounded by the larger of 256 MiB and the peak of live bytes; up to 16 KiB each thread has some of
// its own, for which it waits for nobody. Classes are an eighth of a power of two apart, from 2 MiB on a 32nd; there a kept block may
// be up to a quarter larger than asked for, and a new one takes the place of one that is kept and as much smaller. Blocks from 2 MiB up
// begin on a huge page; their last, incomplete one is made of ordinary pages.
#include <adjoint/core/books.h>
#include <adjoint/core/process.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <map>
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

constexpr size_t huge = size_t(2) << 20, kept_minimum = size_t(256) << 20;

void* fresh(size_t size) noexcept {
  const size_t alignment = keep_blocks && size >= huge ? huge : 64;   // what is asked for must be a multiple of it
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
void give_back(void* p) noexcept {
#if defined(_WIN32)
  _aligned_free(p);
#else
  std::free(p);
#endif
}

// A thread's blocks of one to sixteen KiB, by their rounded size. Like the small ones they are in nobody's books while they wait.
struct MiddleHeap {
  static constexpr size_t smallest = 1 << 10, largest = 16 << 10, classes = 33, keep = 4;
  static bool serves(size_t size) { return keep_blocks && size >= smallest && size <= largest; }
  static size_t class_of(size_t size) {
    const auto octave = std::bit_width(size) - std::bit_width(smallest);
    return 8 * static_cast<size_t>(octave) + ((size - (smallest << octave)) >> (octave + std::bit_width(smallest) - 4));
  }
  void* take(size_t size) {
    const size_t cls = class_of(size);
    return count[cls] ? blocks[cls][--count[cls]] : nullptr;
  }
  bool put(void* p, size_t size) noexcept {
    const size_t cls = class_of(size);
    if (count[cls] == keep) return false;
    blocks[cls][count[cls]++] = p;
    return true;
  }
  void clear() noexcept {
    for (size_t cls = 0; cls < classes; cls++)
      while (count[cls]) give_back(blocks[cls][--count[cls]]);
  }

 private:
  void* blocks[classes][keep];
  uint8_t count[classes] = {};
};
constinit thread_local MiddleHeap* middle_heap = nullptr;

struct HeapOwner {
  HeapOwner() {
    small_heap = static_cast<SmallHeap*>(std::calloc(1, sizeof(SmallHeap)));
    middle_heap = static_cast<MiddleHeap*>(std::calloc(1, sizeof(MiddleHeap)));
  }
  ~HeapOwner() {
    SmallHeap* heap = std::exchange(small_heap, nullptr);
    for (auto* block : heap->head)
      while (block) ::operator delete(std::exchange(block, block->next));
    std::free(heap);
    MiddleHeap* middle = std::exchange(middle_heap, nullptr);
    middle->clear();
    std::free(middle);
  }
};

size_t round_up(size_t bytes) {
  if (!keep_blocks) return bytes;
  const size_t step = std::bit_floor(bytes) / (bytes >= huge ? 32 : 8);
  return (bytes + step - 1) & ~(step - 1);
}

class LargeHeap {
 public:
  void* allocate(size_t bytes) {
    const size_t size = round_up(bytes);
    if (MiddleHeap::serves(size) && middle_heap)
      if (void* p = middle_heap->take(size)) return count(size), p;
    {
      std::lock_guard lock(mutex_);
      if (void* p = kept_block(size)) return count(size), p;
      give_back_smaller(size);
    }
    void* p = fresh(size);
    if (!p) {   // what we keep may be what is missing
      trim();
      p = fresh(size);
    }
    if (!p) throw OutOfMemory(bytes);
    count(size);
    return p;
  }
  void release(void* p, size_t bytes) noexcept {
    const size_t size = round_up(bytes);
    live_.fetch_sub(size, std::memory_order_relaxed);
    if (MiddleHeap::serves(size) && middle_heap && middle_heap->put(p, size)) return;
    std::lock_guard lock(mutex_);
    const size_t whole = whole_size(p, size);
    if (!keep_blocks || kept_ + whole > std::max(kept_minimum, highest_.load(std::memory_order_relaxed))) return give_back(p);
    free_[whole].push_back(p);
    kept_ += whole;
  }
  MemoryStats stats() {
    std::lock_guard lock(mutex_);
    return {live_, peak_, kept_};
  }
  void reset_peak() {
    peak_ = live_.load();
  }
  void trim() {
    std::lock_guard lock(mutex_);
    for (auto& [size, list] : free_) {
      for (void* p : list) give_back(p);
      list.clear();
    }
    kept_ = 0;
  }
  void lock() { mutex_.lock(); }
  void unlock() { mutex_.unlock(); }

 private:
  // One of this size, or, if it is large, of a little more; or none.
  void* kept_block(size_t size) {
    const auto [p, whole] = taken(size, size >= huge ? size + size / 4 : size);
    if (whole > size) larger_[p] = whole;
    return p;
  }
  // A large block that is kept and a little too small for `size`, if there is one: else sizes that grow would each leave a block behind.
  void give_back_smaller(size_t size) {
    if (size < huge) return;
    if (void* p = taken(size - size / 4, size).first) give_back(p);
  }
  // A kept block of at least one size and at most another, and its own; null and 0 if there is none.
  std::pair<void*, size_t> taken(size_t least, size_t most) {
    for (auto found = free_.lower_bound(least); found != free_.end() && found->first <= most; ++found) {
      if (found->second.empty()) continue;
      void* p = found->second.back();
      found->second.pop_back();
      kept_ -= found->first;
      return {p, found->first};
    }
    return {nullptr, 0};
  }
  // Of a block that was given out for `size`.
  size_t whole_size(void* p, size_t size) noexcept {
    const auto found = size >= huge ? larger_.find(p) : larger_.end();
    if (found == larger_.end()) return size;
    const size_t whole = found->second;
    larger_.erase(found);
    return whole;
  }
  void count(size_t size) {
    const size_t live = live_.fetch_add(size, std::memory_order_relaxed) + size;
    for (std::atomic<size_t>* most : {&peak_, &highest_})
      for (size_t seen = most->load(std::memory_order_relaxed); seen < live && !most->compare_exchange_weak(seen, live, std::memory_order_relaxed);) {}
  }

  std::mutex mutex_;
  std::map<size_t, std::vector<void*>> free_;       // by size
  std::unordered_map<void*, size_t> larger_;        // what was given out for less than its size
  std::atomic<size_t> live_ = 0, peak_ = 0, highest_ = 0;
  size_t kept_ = 0;
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
