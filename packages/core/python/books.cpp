// The allocator's books, for what reports memory.
#include <adjoint/core/books.h>

#include "module.h"

namespace adjoint::python {

void bind_books(nb::module_& m) {
  m.def("_memory_stats", [] {
    const MemoryStats s = memory_stats();
    return nb::make_tuple(s.live, s.peak, s.kept);
  }, "Bytes of large blocks (over 1 KiB): in use, the most since the last reset, kept for later.");
  m.def("_booked_bytes", [](size_t bytes, Device device) { return device.type == DeviceType::cuda ? cuda::booked_bytes(bytes) : booked_bytes(bytes); }, "bytes"_a, "device"_a = Device{},
        "What a block of so many bytes counts there; 0: it is small. On a GPU, at least that.");
  m.def("_reset_peak_memory", &reset_peak_memory, "From now on the peak is measured anew.");
  m.def("_empty_cache", &empty_cache, "Gives kept blocks back to the system.");
}

}  // namespace adjoint::python
