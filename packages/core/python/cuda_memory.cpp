// The memory of GPUs and the books of its allocator, for adjoint_core.cuda.
#include <adjoint/core/cuda/memory.h>
#include <adjoint/core/cuda/statistics.h>
#include <adjoint/core/error.h>

#include <mutex>
#include <unordered_map>

#include "cuda_device.h"

namespace adjoint::python {

namespace {

nb::dict statistics_of(int device) {
  cuda::Statistics s = cuda::statistics(device);
  nb::dict d;
  s.each([&](const std::string& name, const cuda::Counts& counts) {
    for (const auto& [pool, count] : {std::pair(".all.", counts.all), std::pair(".large_pool.", counts.large), std::pair(".small_pool.", counts.small)}) {
      d[(name + pool + "current").c_str()] = count.current;
      d[(name + pool + "peak").c_str()] = count.peak;
      d[(name + pool + "allocated").c_str()] = count.in;
      d[(name + pool + "freed").c_str()] = count.out;
    }
  });
  d["waiting.all.current"] = s.active.all.current - s.allocations.all.current;
  d["num_alloc_retries"] = s.retries;
  d["num_ooms"] = s.failures;
  d["num_device_alloc"] = s.driver_allocations;
  d["num_device_free"] = s.driver_frees;
  return d;
}

nb::dict described(const cuda::Segment& s) {
  constexpr const char* states[] = {"active_allocated", "active_pending_free", "inactive"};
  nb::list blocks;
  size_t total = 0, allocated = 0, active = 0, requested = 0;
  for (const cuda::Piece& p : s.pieces) {
    nb::dict b;
    b["address"] = p.data;
    b["size"] = p.size;
    b["requested_size"] = p.state == cuda::Piece::in_use ? p.requested : 0;
    b["state"] = states[p.state];
    b["frames"] = nb::list();
    blocks.append(b);
    total += p.size;
    if (p.state == cuda::Piece::in_use) allocated += p.size, requested += p.requested;
    if (p.state != cuda::Piece::free) active += p.size;
  }
  nb::dict d;
  d["device"] = static_cast<int>(s.stream.device);
  d["address"] = s.pieces.front().data;
  d["total_size"] = total;
  d["allocated_size"] = allocated;
  d["active_size"] = active;
  d["requested_size"] = requested;
  d["stream"] = reinterpret_cast<uintptr_t>(s.stream.handle);
  d["segment_type"] = s.small ? "small" : "large";
  d["segment_pool_id"] = std::pair(0, s.pool);
  d["is_expandable"] = false;
  d["frames"] = nb::list();
  d["blocks"] = blocks;
  return d;
}

nb::list snapshot() {
  nb::list all;
  for (int device = 0; device < cuda::device_count(); device++)
    for (const cuda::Segment& s : cuda::snapshot(device)) all.append(described(s));
  return all;
}

// What was allocated by address, for other libraries.
struct LentBlocks {
  std::mutex mutex;
  std::unordered_map<uintptr_t, cuda::Block*> blocks;
};
LentBlocks& lent() {
  static auto* l = new LentBlocks;
  return *l;
}

uintptr_t allocate(int64_t bytes, nb::handle device, std::optional<cuda::Stream> stream) {
  expect(bytes >= 0, ErrorKind::value, "caching_allocator_alloc: size must not be negative, got ", bytes);
  const int index = stream ? stream->device : index_of(device, "caching_allocator_alloc");
  if (bytes == 0) return 0;
  cuda::Stream& current = cuda::current_stream(index);
  const cuda::Stream before = std::exchange(current, stream.value_or(cuda::Stream{nullptr, static_cast<int8_t>(index)}));
  cuda::Block* b = nullptr;
  try {
    b = cuda::allocate(static_cast<size_t>(bytes), index);
  } catch (...) {
    current = before;
    throw;
  }
  current = before;
  const auto address = reinterpret_cast<uintptr_t>(cuda::address(b));
  std::lock_guard lock(lent().mutex);
  lent().blocks[address] = b;
  return address;
}

void release(uintptr_t address) {
  if (!address) return;
  std::lock_guard lock(lent().mutex);
  auto it = lent().blocks.find(address);
  expect(it != lent().blocks.end(), ErrorKind::value, "caching_allocator_delete: expected an address that caching_allocator_alloc returned, got ", address);
  cuda::release(it->second);
  lent().blocks.erase(it);
}

}  // namespace

void bind_cuda_memory(nb::module_& m) {
  m.def("statistics", [](nb::handle device) { return statistics_of(index_of(device, "memory_stats")); }, "device"_a = nb::none());
  m.def("reset_peaks", [](nb::handle device) { cuda::reset_peaks(index_of(device, "reset_peak_memory_stats")); }, "device"_a = nb::none());
  m.def("reset_totals", [](nb::handle device) { cuda::reset_totals(index_of(device, "reset_accumulated_memory_stats")); }, "device"_a = nb::none());
  m.def("snapshot", &snapshot);
  m.def("set_memory_limit", [](size_t bytes, nb::handle device) { cuda::set_memory_limit(bytes, index_of(device, "set_per_process_memory_fraction")); }, "bytes"_a, "device"_a = nb::none());
  m.def("memory_info", [](nb::handle device) { return cuda::memory_info(index_of(device, "mem_get_info")); }, "device"_a = nb::none());
  m.def("caching_allocator_alloc", &allocate, "size"_a, "device"_a = nb::none(), "stream"_a = nb::none());
  m.def("caching_allocator_delete", &release, "mem_ptr"_a);
  m.def("empty_cache", &cuda::empty_cache);
  m.def("uploaded", &cuda::uploaded, "input"_a, "device"_a, "A constant made on the CPU, on a device: nothing waits, and graphs keep it.");
  m.def("offload", &cuda::offloaded, "input"_a);
}

}  // namespace adjoint::python
