// Streams, events, properties and memory of GPUs, for adjoint_core.cuda.
#include <adjoint/core/cuda/memory.h>
#include <adjoint/core/without_gil.h>

#include "module.h"

namespace adjoint::python {

namespace {

// The device that a call means: an index, a device, or None for the current one.
int index_of(nb::handle which, const char* op) {
  Device d{DeviceType::cuda, -1};
  if (PyLong_Check(which.ptr())) {
    const auto index = nb::cast<int64_t>(which);
    expect(index >= 0 && index < 128, op, ": invalid device ordinal: got ", index);
    d.index = static_cast<int8_t>(index);
  } else if (!which.is_none()) {
    expect(api->device(which.ptr(), d), ErrorKind::type, op, ": expected a device, an index or None, got ", nb::repr(which).c_str());
    expect(d.type == DeviceType::cuda, ErrorKind::value, op, ": expected a cuda device, but got: ", d);
  }
  return cuda::resolved(d).index;
}

Device device_at(int index) { return {DeviceType::cuda, static_cast<int8_t>(index)}; }
const cuda::Stream& or_current(const std::optional<cuda::Stream>& s) { return s ? *s : cuda::current_stream(index_of(nb::none(), "stream")); }

void bind_streams(nb::module_& m) {
  using cuda::Stream, cuda::Event;
  nb::class_<Stream>(m, "Stream", "A queue of work on a GPU: what is put on it runs in order.\n\nArguments:\n    device: a cuda device, an index, or None for the current one.\n    priority: negative: before the work of other streams.")
      .def("__init__", [](Stream* self, nb::handle device, int priority) { new (self) Stream(cuda::new_stream(index_of(device, "Stream"), priority)); }, "device"_a = nb::none(), "priority"_a = 0)
      .def("synchronize", [](const Stream& s) { WithoutGil free(true); s.synchronize(); }, "Waits until all work on it is done.")
      .def("query", &Stream::query, "Whether all work on it is done.")
      .def("wait_event", [](const Stream& s, const Event& e) { e.wait(s); }, "event"_a, "Work put on it from now on runs after `event`.")
      .def("wait_stream", [](const Stream& s, const Stream& other) { Event e; e.record(other); e.wait(s); }, "stream"_a, "Work put on it from now on runs after the work on `stream` now.")
      .def("record_event", [](const Stream& s, nb::object event) {
        if (event.is_none()) event = nb::cast(Event());
        nb::cast<Event&>(event).record(s);
        return event;
      }, "event"_a = nb::none(), "Marks this point of its work; a new event if none is given.")
      .def_prop_ro("cuda_stream", [](const Stream& s) { return reinterpret_cast<uintptr_t>(s.handle); }, "The driver's handle, as an integer.")
      .def_prop_ro("device", [](const Stream& s) { return device_at(s.device); })
      .def("__eq__", [](const Stream& s, nb::handle o) { return nb::isinstance<Stream>(o) && nb::cast<const Stream&>(o) == s; }, "other"_a.none())
      .def("__hash__", [](const Stream& s) { return reinterpret_cast<uintptr_t>(s.handle) * 31 + static_cast<uintptr_t>(s.device); })
      .def("__repr__", [](const Stream& s) {
        std::ostringstream text;
        text << "<adjoint.cuda.Stream device=" << device_at(s.device) << " cuda_stream=0x" << std::hex << reinterpret_cast<uintptr_t>(s.handle) << ">";
        return text.str();
      });
  nb::class_<Event>(m, "Event", "A point in the work of a stream.\n\nArguments:\n    enable_timing: whether `elapsed_time` can be asked.\n    blocking, interprocess: have no effect.")
      .def("__init__", [](Event* self, bool timing, bool, bool) { new (self) Event(timing); }, "enable_timing"_a = false, "blocking"_a = false, "interprocess"_a = false)
      .def("record", [](Event& e, const std::optional<Stream>& s) { e.record(or_current(s)); }, "stream"_a = nb::none(), "Marks this point of the work of `stream`, or of the current one.")
      .def("wait", [](const Event& e, const std::optional<Stream>& s) { e.wait(or_current(s)); }, "stream"_a = nb::none(), "Work put on `stream`, or the current one, runs after it.")
      .def("synchronize", [](const Event& e) { WithoutGil free(true); e.synchronize(); }, "Waits for it.")
      .def("query", &Event::query, "Whether it has been reached.")
      .def("elapsed_time", &Event::elapsed, "end_event"_a, "Milliseconds between this event and `end_event`; both need enable_timing=True.")
      .def_prop_ro("cuda_event", [](const Event& e) { return reinterpret_cast<uintptr_t>(e.handle()); }, "The driver's handle, as an integer; 0 before the first record.");
  m.def("current_stream", [](nb::handle device) { return cuda::current_stream(index_of(device, "current_stream")); }, "device"_a = nb::none());
  m.def("set_stream", [](const Stream& s) {
    const Stream before = cuda::current_stream(s.device);
    cuda::current_stream(s.device) = s;
    return before;
  }, "stream"_a);
  m.def("default_stream", [](nb::handle device) { return Stream{nullptr, static_cast<int8_t>(index_of(device, "default_stream"))}; }, "device"_a = nb::none());
}

void bind_devices(nb::module_& m) {
  m.def("device_count", &cuda::device_count);
  m.def("current_device", [] { return index_of(nb::none(), "current_device"); });
  m.def("set_device", [](nb::handle device) { cuda::set_device(index_of(device, "set_device")); }, "device"_a);
  m.def("synchronize", [](nb::handle device) {
    const int index = index_of(device, "synchronize");
    WithoutGil free(true);
    cuda::synchronize(index);
  }, "device"_a = nb::none());
  m.def("properties", [](nb::handle device) {
    const cuda::Properties& p = cuda::properties(index_of(device, "get_device_properties"));
    nb::dict d;
    d["name"] = p.name;
    d["major"] = p.major;
    d["minor"] = p.minor;
    d["total_memory"] = p.total_memory;
    d["multi_processor_count"] = p.multiprocessors;
    d["warp_size"] = p.warp_size;
    d["max_threads_per_block"] = p.threads_per_block;
    d["max_threads_per_multi_processor"] = p.threads_per_multiprocessor;
    d["shared_memory_per_block"] = p.shared_per_block;
    d["shared_memory_per_block_optin"] = p.shared_per_block_optin;
    d["L2_cache_size"] = p.l2_bytes;
    d["is_integrated"] = p.integrated;
    return d;
  }, "device"_a = nb::none());
}

void bind_device_memory(nb::module_& m) {
  m.def("statistics", [](nb::handle device) {
    const cuda::Statistics s = cuda::statistics(index_of(device, "memory_stats"));
    nb::dict d;
    d["allocated_bytes.all.current"] = s.allocated;
    d["allocated_bytes.all.peak"] = s.peak_allocated;
    d["reserved_bytes.all.current"] = s.reserved;
    d["reserved_bytes.all.peak"] = s.peak_reserved;
    d["active.all.current"] = s.blocks;
    d["segment.all.current"] = s.segments;
    d["waiting.all.current"] = s.waiting;
    d["allocation.all.allocated"] = s.allocations;
    d["num_device_alloc"] = s.driver_allocations;
    return d;
  }, "device"_a = nb::none());
  m.def("reset_peaks", [](nb::handle device) { cuda::reset_peaks(index_of(device, "reset_peak_memory_stats")); }, "device"_a = nb::none());
  m.def("memory_info", [](nb::handle device) { return cuda::memory_info(index_of(device, "mem_get_info")); }, "device"_a = nb::none());
  m.def("empty_cache", &cuda::empty_cache);
  m.def("offload", &cuda::offloaded, "input"_a);
}

void bind_device_methods() {
  const Methods t;
  t.def("cuda", [](const Tensor& x, nb::handle device, bool non_blocking) { return to_device(x, device_at(index_of(device, "cuda")), non_blocking); },
        "device"_a = nb::none(), "non_blocking"_a = false, "This tensor on a GPU: the current one, or `device`.");
  t.def("pin_memory", [](const Tensor& x) { return cuda::pinned(x); }, "This tensor in host memory that copies to and from a GPU need not wait for.");
  t.def("is_pinned", [](const Tensor& x) { return x->storage && cuda::is_pinned(*x->storage); }, "Whether the memory is pinned.");
  t.def("record_stream", [](const Tensor& x, const cuda::Stream& s) { cuda::note_use(*x, s); }, nb::sig("def record_stream(self, stream: typing.Any) -> None"), "stream"_a,
        "Says that work on `stream` uses this tensor. Only needed for work that adjoint does not launch.");
}

}  // namespace

void bind_cuda(nb::module_& m) {
  nb::module_ c = m.def_submodule("_cuda", "The GPU runtime.");
  bind_streams(c);
  bind_devices(c);
  bind_device_memory(c);
  bind_cuda_kernels(c);
  bind_cuda_graphs(c);
  bind_device_methods();
  bind_cuda_arrays();
}

}  // namespace adjoint::python
