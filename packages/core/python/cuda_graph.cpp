// CUDA graphs, for adjoint_core.cuda.
#include <adjoint/core/cuda/graph.h>

#include "module.h"

namespace adjoint::python {

namespace {

using cuda::Graph;
using Handle = std::pair<int64_t, uint64_t>;   // opaque to users, a pair as PyTorch's are

Handle handle_of(cuda::Pool pool) { return {0, pool}; }

Graph::Mode mode_of(const std::string& name) {
  if (name == "global") return Graph::Mode::global;
  if (name == "thread_local") return Graph::Mode::thread_local_;
  expect(name == "relaxed", "Unknown capture error mode. Expected `global`, `thread_local`, or `relaxed`, got ", name);
  return Graph::Mode::relaxed;
}

void warn(const char* text) {
  if (PyErr_WarnEx(PyExc_UserWarning, text, 1) < 0) throw nb::python_error();
}

void begin(Graph& g, const std::optional<Handle>& pool, const std::string& mode, bool watch_inputs) {
  expect(!pool || (pool->first == 0 && pool->second > 0), ErrorKind::value, "capture_begin: pool: expected what graph_pool_handle() or pool() returned");
  g.begin(pool ? pool->second : 0, mode_of(mode), watch_inputs);
}

void end(Graph& g) {
  if (g.end() == 0) warn("The CUDA Graph is empty. This usually means that the graph was attempted to be captured on wrong device or stream.");
}

void dump(Graph& g, nb::handle path) {
  if (!g.can_dump()) return warn("CUDA Graphs debug not enabled, set with [graph].enable_debug_mode()");
  const nb::object text = nb::module_::import_("os").attr("fspath")(path);
  g.dump(nb::cast<std::string>(text).c_str());
}

template <class T> uintptr_t raw(T* handle, const char* what) {
  expect(handle, what);
  return reinterpret_cast<uintptr_t>(handle);
}

}  // namespace

void bind_cuda_graphs(nb::module_& m) {
  nb::class_<Graph>(m, "CUDAGraph", nb::is_weak_referenceable(), "Work on a GPU that is recorded once and replayed as a whole, at the same addresses.\n\nArguments:\n    keep_graph: `capture_end` leaves making it executable to `instantiate`, or the first `replay`, and `raw_cuda_graph` can be asked.")
      .def(nb::init<bool>(), "keep_graph"_a = false)
      .def("capture_begin", begin, "pool"_a = nb::none(), "capture_error_mode"_a = "global", "check_input_liveness"_a = false,
           "Records, from now on, what is put on the current stream, which must not be the default one, and on streams that wait for it. What is allocated there comes from `pool` (of `graph_pool_handle` or another graph's `pool`) or a pool of its own. The mode says in which threads what could disturb the capture is an error: 'global', 'thread_local' or 'relaxed'. With check_input_liveness a replay is an error once memory that the graph uses, and did not allocate, was released.")
      .def("capture_end", end, "Ends the recording, on the stream where it began. Nothing has run yet.")
      .def("instantiate", &Graph::instantiate, "Makes a kept graph executable.")
      .def("replay", &Graph::replay, "Puts all of the recorded work on the current stream.")
      .def("reset", &Graph::reset, "Gives up the graph, and the memory that it alone uses; or a capture under way.")
      .def("pool", [](const Graph& g) {
        expect(g.pool(), "Called CUDAGraph::pool() without a preceding successful capture.");
        return handle_of(g.pool());
      }, "Where its memory comes from, for another graph to share.")
      .def("enable_debug_mode", &Graph::keep_recordings, "Keeps what is captured from now on for `debug_dump`.")
      .def("debug_dump", dump, nb::sig("def debug_dump(self, debug_path: str | os.PathLike[str]) -> None"), "debug_path"_a, "Writes the graph to a file, in the language of Graphviz. Needs `enable_debug_mode` before the capture, or keep_graph=True.")
      .def("raw_cuda_graph", [](const Graph& g) { return raw(g.recording(), "raw_cuda_graph: there is no captured graph, or keep_graph=True was not given"); }, "The driver's CUgraph, as an integer.")
      .def("raw_cuda_graph_exec", [](const Graph& g) { return raw(g.executable(), "raw_cuda_graph_exec: there is no executable graph"); }, "The driver's CUgraphExec, as an integer.");
  m.def("graph_pool_handle", [] { return handle_of(cuda::new_pool()); });
  m.def("is_current_stream_capturing", [] { return cuda::device_count() > 0 && cuda::capturing(cuda::current_stream(cuda::current_device())); });
}

}  // namespace adjoint::python
