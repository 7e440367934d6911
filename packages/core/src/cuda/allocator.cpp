// The caching allocator of device memory. Memory comes from the driver in segments (2 MiB for small requests, 20 MiB or more for
// large ones), each of one stream. Free pieces of up to 1 MiB lie in lists by size (multiples of 512 bytes), larger ones in a tree;
// the smallest that fits is taken and split, neighbours join on release. A released piece may be used again at once by its own
// stream, whose work runs in order; where other streams used it, it waits for one event of each.
// What is allocated while a graph is captured comes from a pool that nothing else takes from, so that its addresses hold at each replay;
// meanwhile no events are asked for, and nothing goes back to the driver.
#include <adjoint/core/allocator.h>
#include <adjoint/core/cuda/graph.h>
#include <adjoint/core/cuda/memory.h>
#include <adjoint/core/error.h>

#include <algorithm>
#include <bit>
#include <cstdio>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <vector>

#include "watched_here.h"

namespace adjoint::cuda {

struct FreePieces;

struct Block {
  Pointer data;
  size_t size;
  Stream stream;
  FreePieces* home;            // of its stream
  Block *before, *after;       // neighbours in the segment
  Block *next, **link;         // in a free list, and what points here
  bool small, used;
  uint32_t pending;            // events it waits for
  std::vector<Stream> users;   // other streams
};

namespace {

constexpr size_t unit = 512, small_limit = size_t(1) << 20, small_segment = size_t(2) << 20, large_segment = size_t(20) << 20;
constexpr size_t bins = small_limit / unit;

struct BySize {
  using is_transparent = void;
  bool operator()(const Block* a, const Block* b) const { return a->size != b->size ? a->size < b->size : a->data < b->data; }
  bool operator()(const Block* a, size_t size) const { return a->size < size; }
  bool operator()(size_t size, const Block* b) const { return size < b->size; }
};

}  // namespace

// The free pieces of one stream, and of one pool. Bin i holds pieces of (i + 1) units; the last one of small segments holds all above the limit too.
struct FreePieces {
  Block* bin[bins + 1] = {};
  uint64_t filled[(bins + 64) / 64] = {};
  std::set<Block*, BySize> large;

  static size_t bin_of(size_t size) { return std::min(size / unit - 1, bins); }
  void put(Block* b) {
    if (!b->small) { large.insert(b); return; }
    const size_t i = bin_of(b->size);
    b->next = bin[i];
    b->link = &bin[i];
    if (b->next) b->next->link = &b->next;
    bin[i] = b;
    filled[i / 64] |= uint64_t(1) << i % 64;
  }
  void remove(Block* b) {
    if (!b->small) { large.erase(b); return; }
    *b->link = b->next;
    if (b->next) b->next->link = b->link;
    const size_t i = bin_of(b->size);
    if (!bin[i]) filled[i / 64] &= ~(uint64_t(1) << i % 64);
  }
  Block* smallest(size_t size, bool small) {
    if (!small) {
      auto it = large.lower_bound(size);
      return it == large.end() ? nullptr : *it;
    }
    size_t word = bin_of(size) / 64;
    uint64_t bits = filled[word] & ~uint64_t(0) << bin_of(size) % 64;
    while (!bits && ++word < std::size(filled)) bits = filled[word];
    return bits ? bin[word * 64 + static_cast<size_t>(std::countr_zero(bits))] : nullptr;
  }
  template <class F> void each(F&& f) {
    for (Block* first : bin)
      for (Block *b = first, *next; b; b = next) { next = b->next; f(b); }
    for (auto it = large.begin(); it != large.end();) f(*it++);
  }
};

namespace {

class DeviceHeap {
 public:
  Block* allocate(size_t bytes, const Stream& stream, Pool pool) {
    const size_t size = std::max(unit, (bytes + unit - 1) / unit * unit);
    std::lock_guard lock(mutex_);
    if (stats_.waiting) collect(false);
    FreePieces& home = home_of(stream, pool);
    const bool small = size <= small_limit;
    Block* b = home.smallest(size, small);
    if (b) home.remove(b);
    else b = segment(bytes, size, small, stream, home);
    split(b, size);
    b->used = true;
    stats_.allocations++;
    stats_.blocks++;
    stats_.allocated += b->size;
    stats_.peak_allocated = std::max(stats_.peak_allocated, stats_.allocated);
    return b;
  }
  void release(Block* b) noexcept {
    std::lock_guard lock(mutex_);
    b->used = false;
    stats_.blocks--;
    stats_.allocated -= b->size;
    if (b->users.empty()) [[likely]] return put_back(b);
    stats_.waiting++;
    b->pending = 1;
    if (captures) released_in_capture_.push_back(b);
    else wait_for_users(b);
  }
  void use(Block* b, const Stream& stream) {
    std::lock_guard lock(mutex_);
    if (std::find(b->users.begin(), b->users.end(), stream) == b->users.end()) b->users.push_back(stream);
  }
  Statistics statistics() {
    std::lock_guard lock(mutex_);
    return stats_;
  }
  void reset_peaks() {
    std::lock_guard lock(mutex_);
    stats_.peak_allocated = stats_.allocated;
    stats_.peak_reserved = stats_.reserved;
  }
  void empty_cache() {
    std::lock_guard lock(mutex_);
    collect(false);
    trim();
  }

 private:
  FreePieces& home_of(const Stream& s, Pool pool) {
    const std::pair key(s.handle, pool);
    if (last_home_ && last_key_ == key) return *last_home_;
    auto& home = homes_[key];
    if (!home) home = std::make_unique<FreePieces>();
    last_key_ = key;
    return *(last_home_ = home.get());
  }
  Block* segment(size_t bytes, size_t size, bool small, const Stream& stream, FreePieces& home) {
    const size_t whole = small ? small_segment : size < large_segment / 2 ? large_segment : (size + small_segment - 1) / small_segment * small_segment;
    Pointer data = 0;
    const Unrecorded guard;
    Result r = driver().allocate(&data, whole);
    if (r == out_of_memory && !captures) {   // what we keep may be what is missing
      collect(true);
      trim();
      r = driver().allocate(&data, whole);
    }
    if (r == out_of_memory) throw OutOfMemory(bytes, stream.device, stats_.allocated, stats_.reserved);
    check(r, "cuMemAlloc");
    stats_.driver_allocations++;
    stats_.segments++;
    stats_.reserved += whole;
    stats_.peak_reserved = std::max(stats_.peak_reserved, stats_.reserved);
    return new Block{data, whole, stream, &home, nullptr, nullptr, nullptr, nullptr, small, false, 0, {}};
  }
  void split(Block* b, size_t size) {
    const size_t rest = b->size - size;
    if (rest < (b->small ? unit : small_limit)) return;
    auto* r = new Block{b->data + size, rest, b->stream, b->home, b, b->after, nullptr, nullptr, b->small, false, 0, {}};
    if (b->after) b->after->before = r;
    b->after = r;
    b->size = size;
    b->home->put(r);
  }
  static bool is_free(const Block* b) { return b && !b->used && !b->pending; }
  void put_back(Block* b) {
    if (Block* o = b->before; is_free(o)) {
      o->home->remove(o);
      b->data = o->data;
      b->size += o->size;
      b->before = o->before;
      if (b->before) b->before->after = b;
      delete o;
    }
    if (Block* o = b->after; is_free(o)) {
      o->home->remove(o);
      b->size += o->size;
      b->after = o->after;
      if (b->after) b->after->before = b;
      delete o;
    }
    b->home->put(b);
  }
  // b->pending is 1 until all are noted.
  void wait_for_users(Block* b) {
    for (const Stream& s : b->users) {
      auto event = std::make_unique<Event>();
      try { event->record(s); }
      catch (const Error&) { continue; }   // the driver is gone or the device has failed: nothing runs there any more
      b->pending++;
      waiting_.push_back({std::move(event), b});
    }
    b->users.clear();
    one_less(b);
  }
  void one_less(Block* b) {
    if (--b->pending) return;
    stats_.waiting--;
    put_back(b);
  }
  // Takes back blocks whose foreign uses are over; `wait`: after waiting for them.
  void collect(bool wait) {
    if (captures) return;
    for (Block* b : std::exchange(released_in_capture_, {})) wait_for_users(b);
    for (auto it = waiting_.begin(); it != waiting_.end();) {
      if (wait) it->event->synchronize();
      else if (!it->event->query()) { ++it; continue; }
      Block* b = it->block;
      it = waiting_.erase(it);
      one_less(b);
    }
  }
  void trim() {
    for (auto& [key, home] : homes_) {
      if (key.second && pool_in_use(key.second)) continue;
      home->each([&](Block* b) {
        if (b->before || b->after) return;
        b->stream.synchronize();
        home->remove(b);
        check(driver().free(b->data), "cuMemFree");
        stats_.segments--;
        stats_.reserved -= b->size;
        delete b;
      });
    }
  }

  struct Waiting { std::unique_ptr<Event> event; Block* block; };
  std::mutex mutex_;
  using HomeKey = std::pair<StreamHandle, Pool>;
  std::map<HomeKey, std::unique_ptr<FreePieces>> homes_;
  FreePieces* last_home_ = nullptr;
  HomeKey last_key_;
  std::deque<Waiting> waiting_;
  std::vector<Block*> released_in_capture_;
  Statistics stats_{};
};

// Never destroyed: tensors of static objects may outlive it.
DeviceHeap& heap(int device) {
  static auto* heaps = new DeviceHeap[max_devices];
  return heaps[device];
}

}  // namespace

namespace {

// Of the whole piece, as statistics() counts.
void tell(const Block* b, bool freed) noexcept {
  const auto bytes = static_cast<int64_t>(b->size);
  if (watched_here()) tell_memory(b, freed ? -bytes : bytes, {DeviceType::cuda, b->stream.device});
}

}  // namespace

Block* allocate(size_t bytes, int device) {
  enter(device);
  const Stream& stream = current_stream(device);
  const Graph* graph = recorder(stream);
  Block* b = heap(device).allocate(bytes, stream, graph ? graph->pool() : 0);
  tell(b, false);
  return b;
}
void release(Block* b) noexcept {
  tell(b, true);
  heap(b->stream.device).release(b);
}
void* address(const Block* b) noexcept { return reinterpret_cast<void*>(b->data); }
void use(Block* b, const Stream& stream) {
  if (b->stream == stream) [[likely]] return;
  heap(b->stream.device).use(b, stream);
}

Statistics statistics(int device) { return heap(device).statistics(); }
void reset_peaks(int device) { heap(device).reset_peaks(); }
void empty_cache() {
  if (captures) fail_capturing("empty_cache waits for streams");
  for (int i = 0; i < device_count(); i++)
    if (heap(i).statistics().reserved) {
      enter(i);
      heap(i).empty_cache();
    }
}
std::pair<size_t, size_t> memory_info(int device) {
  enter(device);
  size_t available = 0, all = 0;
  check(driver().memory_info(&available, &all), "cuMemGetInfo");
  return {available, all};
}

}  // namespace adjoint::cuda
