// The observers of a thread: few, told in the order in which they came.
#include <adjoint/core/cuda/work.h>
#include <adjoint/core/wrapper.h>

#include "watched_here.h"

#include <algorithm>
#include <utility>

namespace adjoint {

constinit std::atomic<uint32_t> observer_count{0};
constinit const std::atomic<uint32_t>* const observers = &observer_count;

constinit thread_local Composition composition{};

Observer::~Observer() = default;

namespace {

struct Present {
  static constexpr uint32_t most = 8;
  Observer* list[most];
  uint32_t count;
  bool busy;   // one of them is being told something
};
constinit thread_local Present present{};

struct Busy {
  Busy() { present.busy = true; }
  ~Busy() { present.busy = false; }
};

}  // namespace

void add_observer(Observer& o) {
  expect(std::find(present.list, present.list + present.count, &o) == present.list + present.count, "add_observer: an observer may watch a thread once at a time, got one that does");
  expect(present.count < Present::most, "add_observer: at most ", Present::most, " observers and profiles may watch a thread at once, got one more");
  present.list[present.count++] = &o;
  observer_count.fetch_add(1, std::memory_order_relaxed);
}

bool remove_observer(Observer& o) noexcept {
  Observer** end = present.list + present.count;
  Observer** kept = std::remove(present.list, end, &o);
  if (kept == end) return false;
  present.count--;
  observer_count.fetch_sub(1, std::memory_order_relaxed);
  return true;
}

Tensor (*make_wrapper)(const Dims&, const Dims&, DType, Device) = nullptr;

void watch_modes(int change) noexcept { observer_count.fetch_add(static_cast<uint32_t>(change), std::memory_order_relaxed); }

void* observers_here() noexcept { return &present; }
void swap_observers(void* there) noexcept { std::swap(present, *static_cast<Present*>(there)); }

void tell_memory(const void* block, int64_t bytes, Device where) noexcept {
  if (present.busy) return;
  Busy guard;
  for (uint32_t i = 0; i < present.count; i++) present.list[i]->memory(block, bytes, where);
}

void cuda::tell_work(const Work& work, bool put) noexcept {
  if (present.busy) return;
  Busy guard;
  for (uint32_t i = 0; i < present.count; i++) present.list[i]->work(work, put);
}

Watch::Watch(const Span& s) noexcept : span_(s), open_(present.count && !present.busy) {
  if (!open_) return;
  Busy guard;
  for (uint32_t i = 0; i < present.count; i++) present.list[i]->begin(span_);
}

// The first that has the results gives them.
bool Watch::supplied(Tensor* y) {
  if (!open_) return false;
  Busy guard;
  for (uint32_t i = 0; i < present.count; i++)
    if (present.list[i]->supply(span_, y)) return true;
  return false;
}

void Watch::end(Tensors y) {
  if (!open_) return;
  open_ = false;
  Busy guard;
  uint32_t i = 0;
  try {
    for (; i < present.count; i++) present.list[i]->end(span_, y);
  } catch (...) {
    while (++i < present.count) present.list[i]->fail(span_);
    throw;
  }
}

Watch::~Watch() {
  if (!open_) return;
  Busy guard;
  for (uint32_t i = 0; i < present.count; i++) present.list[i]->fail(span_);
}

}  // namespace adjoint
