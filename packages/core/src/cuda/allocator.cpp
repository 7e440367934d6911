// The caching allocator of device memory. Memory comes from the driver in segments (2 MiB for small requests, 20 MiB or more for
// large ones), each of one stream. The smallest free piece that fits is taken and split, neighbours join on release. A released piece
// may be used again at once by its own stream, whose work runs in order; where other streams used it, it waits for one event of each.
// What is allocated while a graph is captured comes from a pool that nothing else takes from, so that its addresses hold at each replay;
// meanwhile no events are asked for, and nothing goes back to the driver.
#include <adjoint/core/allocator.h>
#include <adjoint/core/cuda/graph.h>
#include <adjoint/core/cuda/memory.h>
#include <adjoint/core/cuda/statistics.h>
#include <adjoint/core/error.h>

#include <algorithm>
#include <deque>
#include <iomanip>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "cuda/free_pieces.h"
#include "cuda/pinned.h"
#include "watched_here.h"

namespace adjoint::cuda {

namespace {

constexpr size_t unit = FreePieces::unit, small_limit = FreePieces::small_limit, small_segment = size_t(2) << 20, large_segment = size_t(20) << 20;

size_t piece_of(size_t bytes) { return std::max(unit, (bytes + unit - 1) / unit * unit); }

std::string readable(size_t bytes) {
  const char* const names[] = {" bytes", " KiB", " MiB", " GiB", " TiB"};
  auto n = static_cast<double>(bytes);
  size_t i = 0;
  for (; n >= 1024 && i + 1 < std::size(names); i++) n /= 1024;
  std::ostringstream text;
  text << std::fixed << std::setprecision(i ? 2 : 0) << n << names[i];
  return text.str();
}

class DeviceHeap {
 public:
  Block* allocate(size_t bytes, const Stream& stream, Pool pool) {
    const size_t size = piece_of(bytes);
    std::lock_guard lock(mutex_);
    if (!waiting_.empty() || !postponed_.empty()) collect(false);
    FreePieces& home = home_of(stream, pool);
    const bool small = size <= small_limit;
    Block* b = home.smallest(size, small);
    if (b) take_out(b);
    else b = segment(bytes, size, small, stream, home);
    split(b, size);
    b->used = true;
    b->requested = bytes;
    b->serial = ++last_serial_;
    count_use(b, 1);
    count_active(b, 1);
    return b;
  }
  void release(Block* b) noexcept {
    std::lock_guard lock(mutex_);
    b->used = false;
    count_use(b, -1);
    if (b->users.empty()) [[likely]] return put_back(b);
    b->pending = 1;
    if (captures) postponed_.push_back(b);
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
  template <class F> void each_count(F&& f) {
    std::lock_guard lock(mutex_);
    stats_.each([&](const char*, Counts& c) { f(c.all), f(c.small), f(c.large); });
  }
  void reset_totals() {
    each_count([](Count& c) { c.in = c.out = 0; });
    std::lock_guard lock(mutex_);
    stats_.retries = stats_.failures = stats_.driver_allocations = stats_.driver_frees = 0;
  }
  std::vector<Segment> snapshot() {
    std::lock_guard lock(mutex_);
    std::vector<Segment> all;
    for (const auto& [data, first] : segments_) {
      Segment s{first->stream, first->home->pool, first->small, {}};
      for (const Block* b = first; b; b = b->after) s.pieces.push_back({b->data, b->size, b->requested, b->used ? Piece::in_use : b->pending ? Piece::waiting : Piece::free});
      all.push_back(std::move(s));
    }
    return all;
  }
  bool still_allocated(Pointer address, uint64_t serial) {
    std::lock_guard lock(mutex_);
    auto it = segments_.upper_bound(address);
    if (it == segments_.begin()) return false;
    const Block* b = std::prev(it)->second;
    while (b && b->data < address) b = b->after;
    return b && b->data == address && b->used && b->serial == serial;
  }
  void limit(size_t bytes) {
    std::lock_guard lock(mutex_);
    limit_ = bytes;
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
    if (!home) home = std::make_unique<FreePieces>(pool);
    last_key_ = key;
    return *(last_home_ = home.get());
  }
  Result take_from_driver(Pointer* data, size_t whole) {
    if (static_cast<size_t>(stats_.reserved_bytes.all.current) + whole > limit_) return out_of_memory;
    const Unrecorded guard;
    return driver().allocate(data, whole);
  }
  Block* segment(size_t bytes, size_t size, bool small, const Stream& stream, FreePieces& home) {
    const size_t whole = small ? small_segment : size < large_segment / 2 ? large_segment : (size + small_segment - 1) / small_segment * small_segment;
    home.segments++;   // so that it is not given up
    Pointer data = 0;
    try {
      Result r = take_from_driver(&data, whole);
      if (r == out_of_memory && !captures) {   // what we keep may be what is missing
        stats_.retries++;
        collect(true);
        trim();
        r = take_from_driver(&data, whole);
      }
      if (r == out_of_memory) fail_allocating(bytes, whole, stream.device);
      check(r, "cuMemAlloc");
    } catch (...) {
      home.segments--;
      throw;
    }
    stats_.driver_allocations++;
    stats_.segments.add(1, small);
    stats_.reserved_bytes.add(static_cast<int64_t>(whole), small);
    return segments_[data] = new Block{data, whole, 0, stream, &home, nullptr, nullptr, nullptr, nullptr, small, false, 0, 0, {}};
  }
  [[noreturn]] void fail_allocating(size_t bytes, size_t whole, int device) {
    stats_.failures++;
    const auto held = static_cast<size_t>(stats_.reserved_bytes.all.current), used = static_cast<size_t>(stats_.allocated_bytes.all.current);
    size_t available = 0, all = 0;
    std::ostringstream text;
    text << "CUDA out of memory. Tried to allocate " << readable(bytes) << ". GPU " << device << " has a total capacity of " << readable(properties(device).total_memory);
    if (!driver().memory_info(&available, &all)) text << " of which " << readable(available) << " is free";
    text << ". Tensors hold " << readable(used) << ", and " << readable(held - used) << " more are kept for others to come. ";
    if (held + whole > limit_) text << "set_per_process_memory_fraction allows " << readable(limit_) << " in all. ";
    if (captures) text << "During a capture nothing goes back to the driver: empty_cache() before it.";
    else if (held - used >= bytes) text << "What is kept lies in pieces: tensors of fewer different sizes, made in the same order at each step, leave fewer of them.";
    else text << "Smaller batches, utils.checkpoint and autograd.graph.save_on_cpu need less.";
    throw OutOfMemory(text.str().c_str());
  }

  void split(Block* b, size_t size) {
    const size_t rest = b->size - size;
    if (rest < (b->small ? unit : small_limit)) return;
    auto* r = new Block{b->data + size, rest, 0, b->stream, b->home, b, b->after, nullptr, nullptr, b->small, false, 0, 0, {}};
    if (b->after) b->after->before = r;
    b->after = r;
    b->size = size;
    put_in(r);
  }
  static bool is_free(const Block* b) { return b && !b->used && !b->pending; }
  // Free pieces, in and out of their lists: whoever has neighbours cannot go back to the driver.
  void put_in(Block* b) {
    count_split(b, 1);
    b->home->put(b);
  }
  void take_out(Block* b) {
    count_split(b, -1);
    b->home->remove(b);
  }
  void put_back(Block* b) {
    count_active(b, -1);
    if (is_free(b->before)) {
      b = b->before;
      take_out(b);
      join(b);
    }
    if (is_free(b->after)) {
      take_out(b->after);
      join(b);
    }
    put_in(b);
  }
  static void join(Block* b) {   // with the piece behind it
    Block* o = b->after;
    b->size += o->size;
    b->after = o->after;
    if (b->after) b->after->before = b;
    delete o;
  }

  // b->pending is 1 until all are noted.
  void wait_for_users(Block* b) {
    while (!b->users.empty()) {
      auto event = std::make_unique<Event>();
      try {
        event->record(b->users.back());
      } catch (const Error&) {   // again later, whatever is wrong with the device
        postponed_.push_back(b);
        return;
      }
      b->users.pop_back();
      b->pending++;
      waiting_.push_back({std::move(event), b});
    }
    one_less(b);
  }
  void one_less(Block* b) {
    if (!--b->pending) put_back(b);
  }
  // Takes back blocks whose foreign uses are over; `wait`: after waiting for them.
  void collect(bool wait) {
    if (captures) return;
    for (Block* b : std::exchange(postponed_, {})) wait_for_users(b);
    for (auto it = waiting_.begin(); it != waiting_.end();) {
      if (wait) it->event->synchronize();
      else if (!it->event->query()) { ++it; continue; }
      Block* b = it->block;
      it = waiting_.erase(it);
      one_less(b);
    }
  }
  // Gives back segments that are free, but for those of graphs, and forgets homes without any.
  void trim() {
    for (auto it = segments_.begin(); it != segments_.end();) {
      Block* b = it->second;
      if (!is_free(b) || b->after || (b->home->pool && pool_in_use(b->home->pool))) { ++it; continue; }
      if (b->home->pool) check(driver().synchronize(), "cuCtxSynchronize");   // replays may have run on any stream
      else b->stream.synchronize();
      check(driver().free(b->data), "cuMemFree");
      stats_.driver_frees++;
      stats_.segments.add(-1, b->small);
      stats_.reserved_bytes.add(-static_cast<int64_t>(b->size), b->small);
      b->home->remove(b);
      b->home->segments--;
      delete b;
      it = segments_.erase(it);
    }
    last_home_ = nullptr;
    std::erase_if(homes_, [](const auto& home) { return home.second->segments == 0; });
  }

  void count_use(const Block* b, int sign) {
    stats_.allocations.add(sign, b->small);
    stats_.allocated_bytes.add(sign * static_cast<int64_t>(b->size), b->small);
    stats_.requested_bytes.add(sign * static_cast<int64_t>(b->requested), b->small);
  }
  void count_active(const Block* b, int sign) {
    stats_.active.add(sign, b->small);
    stats_.active_bytes.add(sign * static_cast<int64_t>(b->size), b->small);
  }
  void count_split(const Block* b, int sign) {
    if (!b->before && !b->after) return;
    stats_.split.add(sign, b->small);
    stats_.split_bytes.add(sign * static_cast<int64_t>(b->size), b->small);
  }

  struct Waiting { std::unique_ptr<Event> event; Block* block; };
  std::mutex mutex_;
  using HomeKey = std::pair<StreamHandle, Pool>;
  std::map<HomeKey, std::unique_ptr<FreePieces>> homes_;
  FreePieces* last_home_ = nullptr;
  HomeKey last_key_;
  std::map<Pointer, Block*> segments_;   // the first piece of each
  std::deque<Waiting> waiting_;
  std::vector<Block*> postponed_;        // released, and their users are not yet waited for
  size_t limit_ = ~size_t(0);
  uint64_t last_serial_ = 0;
  Statistics stats_{};
};

// Never destroyed: tensors of static objects may outlive it.
DeviceHeap& heap(int device) {
  static auto* heaps = new DeviceHeap[max_devices];
  return heaps[device];
}

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
  if (forked()) return;
  tell(b, true);
  heap(b->stream.device).release(b);
}
void* address(const Block* b) noexcept { return reinterpret_cast<void*>(b->data); }
size_t size_of(const Block* b) noexcept { return b->size; }
size_t booked_bytes(size_t bytes) noexcept { return bytes ? piece_of(bytes) : 0; }
uint64_t pool_of(const Block* b) noexcept { return b->home->pool; }
uint64_t serial_of(const Block* b) noexcept { return b->serial; }
bool still_allocated(const void* address, uint64_t serial, int device) { return heap(device).still_allocated(reinterpret_cast<Pointer>(address), serial); }
void use(Block* b, const Stream& stream) {
  if (captures.load(std::memory_order_relaxed))
    if (Graph* graph = recorder(stream)) graph->note_input(b);
  if (b->stream == stream) [[likely]] return;
  heap(b->stream.device).use(b, stream);
}

Statistics statistics(int device) { return heap(device).statistics(); }
void reset_peaks(int device) {
  heap(device).each_count([](Count& c) { c.peak = c.current; });
}
void reset_totals(int device) { heap(device).reset_totals(); }
std::vector<Segment> snapshot(int device) { return heap(device).snapshot(); }
void set_memory_limit(size_t bytes, int device) { heap(device).limit(bytes); }
void empty_cache() {
  if (captures) fail_capturing("empty_cache waits for streams");
  empty_pinned_cache();
  for (int i = 0; i < device_count(); i++)
    if (heap(i).statistics().segments.all.current) {
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
