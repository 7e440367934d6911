// Streams, events, properties and memory of GPUs, for adjoint_core.cuda.
#include <adjoint/core/cuda/memory.h>
#include <adjoint/core/without_gil.h>

#include "cuda_device.h"
#include "module.h"

namespace adjoint::python {

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

namespace {

Device device_at(int index) { return {DeviceType::cuda, static_cast<int8_t>(index)}; }
const cuda::Stream& or_current(const std::optional<cuda::Stream>& s) { return s ? *s : cuda::current_stream(index_of(nb::none(), "stream")); }

using cuda::Stream, cuda::Event;

// Streams are contexts, also nested ones: what was current outside.
thread_local std::vector<std::pair<int, Stream>> outside;

void enter_stream(const Stream& s) {
  outside.emplace_back(cuda::current_device(), cuda::current_stream(s.device));
  cuda::set_device(s.device);
  cuda::current_stream(s.device) = s;
}
void exit_stream() {
  expect(!outside.empty(), "Stream.__exit__: this thread has entered no stream");
  const auto [device, before] = outside.back();
  outside.pop_back();
  cuda::current_stream(before.device) = before;
  cuda::set_device(device);
}

std::string text_of(const char* what, const void* handle, const Device* device) {
  std::ostringstream text;
  text << "<adjoint.cuda." << what;
  if (device) text << " device=" << *device << " cuda_stream=";
  else text << ' ';
  if (handle || device) text << "0x" << std::hex << reinterpret_cast<uintptr_t>(handle) << '>';
  else text << "uninitialized>";
  return text.str();
}

void bind_streams(nb::module_& m) {
  nb::class_<Stream>(m, "Stream", "A queue of work on a GPU: what is put on it runs in order. As a context: this thread's current stream.\n\nArguments:\n    device: a cuda device, an index, or None for the current one.\n    priority: negative: before the work of other streams.")
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
      .def("__enter__", [](nb::handle self) {
        enter_stream(nb::cast<const Stream&>(self));
        return nb::borrow(self);
      })
      .def("__exit__", [](const Stream&, nb::args) { exit_stream(); })
      .def_prop_ro("cuda_stream", [](const Stream& s) { return reinterpret_cast<uintptr_t>(s.handle); }, "The driver's handle, as an integer.")
      .def("__cuda_stream__", [](const Stream& s) { return std::pair(0, reinterpret_cast<uintptr_t>(s.handle)); }, "The version of this protocol, and the driver's handle: for other libraries.")
      .def_prop_ro("device", [](const Stream& s) { return device_at(s.device); })
      .def_prop_ro("priority", &cuda::priority_of, "-1: before the work of other streams; else 0.")
      .def_static("priority_range", [] { return std::pair(0, -1); }, "The least and the greatest priority.")
      .def("__eq__", [](const Stream& s, nb::handle o) { return nb::isinstance<Stream>(o) && nb::cast<const Stream&>(o) == s; }, "other"_a.none())
      .def("__hash__", [](const Stream& s) { return reinterpret_cast<uintptr_t>(s.handle) * 31 + static_cast<uintptr_t>(s.device); })
      .def("__repr__", [](const Stream& s) {
        const Device device = device_at(s.device);
        return text_of("Stream", s.handle, &device);
      });
  m.def("capture_stream", [](nb::handle device) { return cuda::capture_stream(index_of(device, "graph")); }, "device"_a = nb::none());
  m.def("external_stream", [](uintptr_t handle, nb::handle device) { return cuda::external_stream(reinterpret_cast<cuda::StreamHandle>(handle), index_of(device, "ExternalStream")); }, "stream_ptr"_a, "device"_a = nb::none());
  m.def("current_stream", [](nb::handle device) { return cuda::current_stream(index_of(device, "current_stream")); }, "device"_a = nb::none());
  m.def("set_stream", [](const Stream& s) {
    const Stream before = cuda::current_stream(s.device);
    cuda::current_stream(s.device) = s;
    return before;
  }, "stream"_a);
  m.def("default_stream", [](nb::handle device) { return Stream{nullptr, static_cast<int8_t>(index_of(device, "default_stream"))}; }, "device"_a = nb::none());
}

void bind_events(nb::module_& m) {
  nb::class_<Event>(m, "Event", "A point in the work of a stream.\n\nArguments:\n    enable_timing: whether `elapsed_time` can be asked.\n    blocking: whether the CPU sleeps in `synchronize`, instead of looking all the time.\n    interprocess: must be False: events are of one process.\n    external: whether it is recorded and waited for at each replay of a graph that captures this.")
      .def("__init__", [](Event* self, bool timing, bool blocking, bool interprocess, bool external) {
        expect(!interprocess, ErrorKind::not_implemented, "Event: interprocess=True: events cannot be shared between processes");
        new (self) Event({timing, blocking, external});
      }, "enable_timing"_a = false, "blocking"_a = false, "interprocess"_a = false, "external"_a = false)
      .def("record", [](Event& e, const std::optional<Stream>& s) { e.record(or_current(s)); }, "stream"_a = nb::none(), "Marks this point of the work of `stream`, or of the current one.")
      .def("wait", [](const Event& e, const std::optional<Stream>& s) { e.wait(or_current(s)); }, "stream"_a = nb::none(), "Work put on `stream`, or the current one, runs after it.")
      .def("synchronize", [](const Event& e) { WithoutGil free(true); e.synchronize(); }, "Waits for it.")
      .def("query", &Event::query, "Whether it has been reached.")
      .def("elapsed_time", &Event::elapsed, "end_event"_a, "Milliseconds between this event and `end_event`; both need enable_timing=True.")
      .def_prop_ro("device", [](const Event& e) -> std::optional<Device> {
        if (!e.handle()) return {};
        return device_at(e.device());
      }, "Of the stream that it was first recorded on; None before.")
      .def_prop_ro("cuda_event", [](const Event& e) { return reinterpret_cast<uintptr_t>(e.handle()); }, "The driver's handle, as an integer; 0 before the first record.")
      .def("__repr__", [](const Event& e) { return text_of("Event", e.handle(), nullptr); });
}

void bind_devices(nb::module_& m) {
  m.def("device_count", &cuda::device_count);
  m.def("is_initialized", [] { return cuda::in_use.load(); });
  m.def("current_device", [] { return index_of(nb::none(), "current_device"); });
  m.def("set_device", [](nb::handle device) { cuda::set_device(index_of(device, "set_device")); }, "device"_a);
  m.def("can_device_access_peer", [](nb::handle device, nb::handle peer) { return cuda::can_access_peer(index_of(device, "can_device_access_peer"), index_of(peer, "can_device_access_peer")); }, "device"_a, "peer_device"_a);
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
  bind_events(c);
  bind_devices(c);
  bind_cuda_memory(c);
  bind_cuda_kernels(c);
  bind_cuda_graphs(c);
  bind_device_methods();
  bind_cuda_arrays();
}

}  // namespace adjoint::python
