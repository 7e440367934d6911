// Operations that the host computes for a GPU: operands are copied there, its own kernel runs, results are copied back.
#include "cuda/host.h"

#include <adjoint/core/cuda/graph.h>
#include <adjoint/core/cuda/kernel.h>
#include <adjoint/core/cuda/memory.h>
#include <adjoint/core/error.h>
#include <adjoint/core/without_gil.h>

#include "cuda/by_op.h"
#include "views.h"

namespace adjoint::cuda {

namespace {

struct HostEntry {
  const Op* op;
  std::string why;
  void (*warn)(const std::string&);
  std::atomic<bool> warned{false};
};

ByOp<HostEntry>& host_table() {
  static auto* t = new ByOp<HostEntry>;
  return *t;
}

size_t bytes_of(const View& v) { return static_cast<size_t>(v.numel * itemsize(v.dtype)); }

// f(a view of the same sizes without gaps, on the device).
template <class F> void through_dense(const View& v, const Launch& l, bool into, F&& f) {
  if (v.contiguous()) return f(v);
  const Tensor dense = empty(dims_of(v), v.dtype, l.device);
  const View d = view_of(*dense);
  if (!into) copy_kernel({{&v, 1}, {&d, 1}, l.attrs, l.op, false, l.device});
  f(d);
  if (into) copy_kernel({{&d, 1}, {&v, 1}, l.attrs, l.op, false, l.device});
}

Tensor on_host(const View& v, const Launch& l) {
  Tensor t = empty(dims_of(v), v.dtype, {});
  through_dense(v, l, false, [&](const View& dense) { read(t->data, dense.data, bytes_of(dense), l.device.index); });
  return t;
}

void run_on_host(const Launch& l) {
  HostEntry& e = *host_table().find(l.op);
  if (capturing(current_stream(l.device.index)))
    fail_capturing((std::string(l.op) + ": the CPU computes it, from values that there are none of before the replay").c_str());
  if (!e.warned.exchange(true)) e.warn(std::string(l.op) + ": on cuda this runs on the CPU, between copies: " + e.why);
  Vector<Tensor> made;
  std::vector<View> x, y;
  for (size_t i = 0; i < l.x.size(); i++) {
    const bool here = l.numbers >> i & 1;
    if (!here) made.push_back(on_host(l.x[i], l));
    x.push_back(here ? l.x[i] : view_of(*made.back()));
  }
  for (const View& v : l.y) {
    made.push_back(empty(dims_of(v), v.dtype, {}));
    y.push_back(view_of(*made.back()));
  }
  const Kernel registered = e.op->kernel[static_cast<int>(DeviceType::cpu)];
  {
    const WithoutGil free(true);
    (registered ? registered : e.op->reference)({x, y, l.attrs, l.op});
  }
  for (size_t i = 0; i < y.size(); i++)
    through_dense(l.y[i], l, true, [&](const View& dense) { write(dense.data, y[i].data, bytes_of(dense), l.device.index); });
}

}  // namespace

Kernel host_kernel(const Op& op) { return host_table().find(op.name) ? run_on_host : nullptr; }

void register_on_host(const char* name, std::string why, void (*warn)(const std::string&)) {
  const Op* op = find_op(name);
  expect(op && op->reference, ErrorKind::value, "register_on_host: no record with a kernel for the CPU is named '", name, "'");
  host_table().set(*op, new HostEntry{op, std::move(why), warn});
}

}  // namespace adjoint::cuda
