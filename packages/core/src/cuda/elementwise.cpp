// Elementwise kernels: the arguments are the inputs, then (unless all lie alike, without gaps) sizes and each operand's strides,
// then attributes, then the output and the number of elements. Constants: the number of dimensions (0: without gaps), the block.
#include <adjoint/core/cuda/kernel.h>
#include <adjoint/core/cuda/memory.h>
#include <adjoint/core/error.h>
#include <adjoint/core/op_fields.h>

#include <algorithm>
#include <climits>

#include "cuda/by_op.h"
#include "cuda/host.h"

namespace adjoint::cuda {

namespace {

constexpr int most_operands = 5, most_dims = 8;

struct ElementwiseEntry { const Op* op; std::unique_ptr<ElementwiseKernel> kernel; };

ByOp<ElementwiseEntry>& elementwise_table() {
  static auto* t = new ByOp<ElementwiseEntry>;
  return *t;
}

// The operands' common shape with dimensions joined that lie one behind the other, outermost (by the output) first.
struct Walk {
  int ndim = 0;
  int64_t sizes[most_dims];
  int64_t strides[most_operands][most_dims];
  bool wide = false;   // positions need 64 bits

  Walk(const View* const* v, int operands, const char* op) {
    const View& out = *v[operands - 1];
    for (int64_t d : order_by_strides(out.strides, out.ndim))
      if (out.sizes[d] != 1) append(v, operands, static_cast<int>(d), op);
    for (int k = 0; k < operands; k++) {
      int64_t reach = 0;
      for (int d = 0; d < ndim; d++) reach += (sizes[d] - 1) * strides[k][d];
      wide = wide || reach > INT_MAX;
    }
  }
  // One line, each operand in steps of one; an operand of one value has `numbers` set.
  bool dense(int operands, uint32_t numbers) const {
    if (ndim == 0) return true;
    bool result = ndim == 1;
    for (int k = 0; k < operands; k++) result = result && (numbers >> k & 1 || strides[k][0] == 1);
    return result;
  }

 private:
  void append(const View* const* v, int operands, int d, const char* op) {
    const int64_t size = v[operands - 1]->sizes[d];
    bool joins = ndim > 0;
    for (int k = 0; k < operands && joins; k++) joins = strides[k][ndim - 1] == v[k]->strides[d] * size;
    if (!joins) expect(ndim++ < most_dims, ErrorKind::not_implemented, op, ": operands on cuda may have at most ", most_dims, " dimensions that do not lie one behind the other");
    sizes[ndim - 1] = joins ? sizes[ndim - 1] * size : size;
    for (int k = 0; k < operands; k++) strides[k][ndim - 1] = v[k]->strides[d];
  }
};

void add_walk(Arguments& a, const Walk& w, int operands) {
  for (int d = 0; d < w.ndim; d++) a.plain_integer(w.sizes[d], w.wide);
  for (int k = 0; k < operands; k++)
    for (int d = 0; d < w.ndim; d++) {
      const int64_t s = w.strides[k][d];
      if (d == w.ndim - 1 && s == 1) a.integer(s);
      else a.plain_integer(s, w.wide);
    }
}

void add_fields(Arguments& a, const ElementwiseEntry& e, const Launch& l) {
  if (e.kernel->fields.empty()) return;
  FieldList list;
  e.op->fields(&l.attrs, list);
  for (int i : e.kernel->fields) a.number(list.field[i].number, real_of(l.x[0].dtype));
}

void launch_with(const ElementwiseEntry& e, const Launch& l) {
  const View& out = l.y[0];
  const int inputs = static_cast<int>(l.x.size());
  expect(inputs < most_operands, ErrorKind::not_implemented, l.op, ": kernels on cuda take at most ", most_operands - 1, " operands, got ", inputs);
  Arguments a;
  for (int i = 0; i < inputs; i++) {
    if (l.numbers >> i & 1) a.value(l.x[i].data, l.x[i].dtype);
    else a.pointer(l.x[i].data, l.x[i].dtype);
  }
  int ndim = 0;
  if (!l.flat) {
    const View* v[most_operands];
    for (int i = 0; i < inputs; i++) v[i] = &l.x[i];
    v[inputs] = &out;
    const Walk w(v, inputs + 1, l.op);
    if (!w.dense(inputs + 1, l.numbers)) {
      add_walk(a, w, inputs + 1);
      ndim = w.ndim;
    }
  }
  add_fields(a, e, l);
  a.pointer(out.data, out.dtype);
  a.plain_integer(out.numel, out.numel > INT_MAX);
  a.constant(ndim);
  a.constant(e.kernel->block);
  const int64_t blocks = (out.numel + e.kernel->block - 1) / e.kernel->block;
  e.kernel->kernel.launch(a, static_cast<uint32_t>(blocks), 1, 1, l.device.index);
}

void launch_elementwise(const Launch& l) { launch_with(*elementwise_table().find(l.op), l); }

bool same_layout(const View& x, const View& y) {
  const View* const v[] = {&x, &y};
  return Walk(v, 2, "copy").dense(2, 0);
}

}  // namespace

void register_elementwise(const char* name, std::unique_ptr<ElementwiseKernel> kernel) {
  const Op* op = find_op(name);
  expect(op, ErrorKind::value, "register_elementwise: no record named '", name, "'");
  expect(kernel->block > 0, ErrorKind::value, "register_elementwise: ", name, ": the block must be positive, got ", kernel->block);
  expect(kernel->fields.empty() || op->fields, ErrorKind::value, "register_elementwise: ", name, " has no attributes");
  elementwise_table().set(*op, new ElementwiseEntry{op, std::move(kernel)});
  if (!op->kernel[static_cast<int>(DeviceType::cuda)]) register_kernel(op->name, DeviceType::cuda, launch_elementwise);
}

void (*kernel_loader)() = nullptr;
const char* const no_kernel = ": no kernel for device cuda; kernels for GPUs come with adjoint_kernels_triton: pip install \"adjoint[triton]\"";

void load_kernels() {
  static std::atomic<bool> loaded{false};
  if (loaded || !kernel_loader) return;
  kernel_loader();   // again next time, if it fails
  loaded = true;
}

Kernel find_kernel(const Op& op) {
  load_kernels();
  const Kernel here = op.kernel[static_cast<int>(DeviceType::cuda)], k = here ? here : host_kernel(op);
  expect(k, ErrorKind::not_implemented, op.name, kernel_loader ? ": no kernel for device cuda" : no_kernel);
  return k;
}

void copy_kernel(const Launch& l) {
  const View &from = l.x.back(), &to = l.y[0];
  const bool number = l.numbers >> (l.x.size() - 1) & 1;
  if (to.numel == 0) return;
  if (number && from.dtype == to.dtype && to.contiguous())
    return fill(to.data, static_cast<size_t>(to.numel), static_cast<size_t>(itemsize(to.dtype)), from.data, l.device.index);
  if (!number && from.dtype == to.dtype && same_layout(from, to))
    return copy_on(current_stream(l.device.index), to.data, from.data, static_cast<size_t>(to.numel * itemsize(to.dtype)));
  load_kernels();
  static const char* const name = find_op("to_dtype")->name;
  const ElementwiseEntry* e = elementwise_table().find(name);
  expect(e, ErrorKind::not_implemented, l.op, no_kernel);
  launch_with(*e, {{&from, 1}, l.y, l.attrs, name, false, l.device, number});
}

}  // namespace adjoint::cuda
