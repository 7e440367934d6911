// Pinned host memory: powers of two, kept after release. A block is handed out again when its last copies are done.
#include <adjoint/core/cuda/graph.h>
#include <adjoint/core/cuda/memory.h>
#include <adjoint/core/ops.h>

#include <algorithm>
#include <bit>
#include <mutex>
#include <vector>

#include "cuda/pinned.h"

namespace adjoint::cuda {

namespace {

struct PinnedBlock {
  void* data = nullptr;
  size_t size = 0;
  std::vector<std::pair<Stream, Event>> copies;   // the last one of each stream
  void wait() const { for (const auto& c : copies) c.second.synchronize(); }
  bool idle() const { return std::all_of(copies.begin(), copies.end(), [](const auto& c) { return c.second.query(); }); }
};

struct PinnedHeap {
  std::mutex mutex;
  std::vector<PinnedBlock*> free;
};

// Never destroyed: tensors of static objects may outlive it.
PinnedHeap& heap() {
  static auto* h = new PinnedHeap;
  return *h;
}

constexpr unsigned portable = 1;   // for all devices

PinnedBlock* take(size_t size) {
  std::lock_guard lock(heap().mutex);
  auto& free = heap().free;
  auto it = std::find_if(free.begin(), free.end(), [&](const PinnedBlock* b) { return b->size == size && b->idle(); });
  if (it == free.end()) return nullptr;
  PinnedBlock* b = *it;
  free.erase(it);
  b->copies.clear();
  return b;
}

void give_back_pinned(void* context) noexcept {
  if (forked()) return;
  std::lock_guard lock(heap().mutex);
  heap().free.push_back(static_cast<PinnedBlock*>(context));
}

// Blocks that nobody uses go back to the driver; when waiting, those under way too.
void trim(bool waiting) {
  std::lock_guard lock(heap().mutex);
  auto& free = heap().free;
  for (size_t i = free.size(); i-- > 0;) {   // one by one: an error leaves the others in the list
    PinnedBlock* b = free[i];
    if (waiting) b->wait();
    else if (!b->idle()) continue;
    check(driver().host_free(b->data), "cuMemFreeHost");
    free.erase(free.begin() + static_cast<std::ptrdiff_t>(i));
    delete b;
  }
}

Result take_from_driver(void** data, size_t size) {
  const Unrecorded guard;
  Result r = driver().host_allocate(data, size, portable);
  if (r != out_of_memory) return r;
  trim(true);   // what we keep may be what is missing
  return driver().host_allocate(data, size, portable);
}

}  // namespace

Storage* make_pinned(size_t bytes) {
  const size_t size = std::bit_ceil(std::max<size_t>(bytes, 512));
  PinnedBlock* b = take(size);
  if (!b) {
    enter(current_device());
    void* data = nullptr;
    const Result r = take_from_driver(&data, size);
    if (r == out_of_memory) throw OutOfMemory(bytes);
    check(r, "cuMemHostAlloc");
    b = new PinnedBlock{data, size, {}};
  }
  return Storage::borrow(b->data, bytes, give_back_pinned, b);
}

namespace {

// The values of x in pinned memory, in the order that they have there. From a GPU they arrive in time for its current stream.
Tensor pinned_copy(const Tensor& x) {
  Tensor y = alias_of(x);
  follow_layout(x, *y);
  const Tensor source = y->strides == x->strides ? x : clone_memory(x);
  Storage* const storage = make_pinned(static_cast<size_t>(x.numel() * itemsize(x.dtype())));
  y->storage->dec_ref();
  y->storage = storage;
  y->data = static_cast<char*>(storage->data);
  y->device = {};
  copy(*y, *source, true);
  return y;
}

}  // namespace

Tensor pinned(const Tensor& x) {
  expect(x->storage, "pin_memory: a tensor inside a transform has no memory of its own");
  expect(x.device().type == DeviceType::cpu, "cannot pin '", x.device(), "': only dense CPU tensors can be pinned");
  return is_pinned(*x->storage) ? x : pinned_copy(x);
}

Tensor offloaded(const Tensor& x) {
  expect(x->storage, "offload: a tensor inside a transform has no memory of its own");
  return pinned_copy(x);
}

Tensor uploaded(const Tensor& x, Device device) {
  device = resolved(device);
  const bool travels = device.type == DeviceType::cuda && x.device().type == DeviceType::cpu;
  return travels ? to_device(pinned_copy(x), device, true) : to_device(x, device);
}

bool is_pinned(const Storage& storage) noexcept { return storage.deleter == give_back_pinned; }

void empty_pinned_cache() { trim(false); }

void note_copy(const Storage& storage, const Stream& stream) {
  if (capturing(stream)) return;   // the graph keeps the block
  std::lock_guard lock(heap().mutex);
  auto& copies = static_cast<PinnedBlock*>(storage.context)->copies;
  auto it = std::find_if(copies.begin(), copies.end(), [&](const auto& c) { return c.first == stream; });
  if (it == copies.end()) it = copies.emplace(copies.end(), stream, Event());
  it->second.record(stream);
}

}  // namespace adjoint::cuda
