// Memory formats: the strides each asks for, and copies that have them.
#include "memory_format.h"

#include "value_types.h"

namespace adjoint::python {

namespace nb = nanobind;

namespace {

constexpr std::pair<const char*, MemoryFormat> names[] = {
    {"contiguous_format", MemoryFormat::contiguous}, {"preserve_format", MemoryFormat::preserve}, {"channels_last", MemoryFormat::channels_last}, {"channels_last_3d", MemoryFormat::channels_last_3d}};
const char* name(MemoryFormat format) { return names[static_cast<int>(format)].first; }

int rank(MemoryFormat format) { return format == MemoryFormat::channels_last ? 4 : 5; }
void check_rank(const Dims& sizes, MemoryFormat format) { expect(sizes.size() == rank(format), "required rank ", rank(format), " tensor to use ", name(format), " format"); }

// The dimensions from outermost to innermost: the channels, dimension 1, are last.
Dims channels_last(int n) {
  Dims order{0};
  for (int i = 2; i < n; i++) order.push_back(i);
  order.push_back(1);
  return order;
}
Dims inverse(const Dims& order) {
  Dims r(order.size(), 0);
  for (int i = 0; i < order.size(); i++) r[static_cast<int>(order[i])] = i;
  return r;
}

// Those of a tensor without gaps, dimensions of one element included.
Dims strides_in(const Dims& sizes, MemoryFormat format) {
  check_rank(sizes, format);
  const Dims order = channels_last(sizes.size());
  Dims strides(sizes.size(), 0);
  int64_t step = 1;
  for (int k = order.size(); k-- > 0;) {
    const int d = static_cast<int>(order[k]);
    strides[d] = step;
    step *= std::max<int64_t>(sizes[d], 1);
  }
  return strides;
}

}  // namespace

bool has_strides_of(const Tensor& x, MemoryFormat format) { return x.dim() == rank(format) && x->strides == strides_in(x.sizes(), format); }

bool is_in(const Tensor& x, MemoryFormat format) {
  if (format == MemoryFormat::contiguous || format == MemoryFormat::preserve) return x->contiguous();
  if (x.dim() != rank(format)) return false;
  const Dims order = channels_last(x.dim());
  int64_t step = 1;
  for (int k = order.size(); k-- > 0;) {
    const int d = static_cast<int>(order[k]);
    if (x.size(d) != 1 && x->strides[d] != step) return false;
    step *= x.size(d);
  }
  return true;
}

Tensor copy_in(const Tensor& x, MemoryFormat format) {
  if (format == MemoryFormat::preserve) return clone(x);
  if (format == MemoryFormat::contiguous) return x->contiguous() ? clone(x) : contiguous(x);
  check_rank(x.sizes(), format);
  const Dims order = channels_last(x.dim());
  const Tensor y = clone(permute(contiguous(permute(x, order)), inverse(order)));
  if (!y->storage) return y;   // inside a transform
  y->strides = strides_in(y.sizes(), format);
  y->update_layout();
  return y;
}

Tensor laid_out(Tensor fresh, MemoryFormat format, const Tensor& like) {
  if (format == MemoryFormat::contiguous || (format == MemoryFormat::preserve && like->contiguous())) return fresh;
  if (format == MemoryFormat::preserve) {
    follow_layout(like, *fresh);
  } else {
    fresh->strides = strides_in(fresh.sizes(), format);
  }
  fresh->update_layout();
  return fresh;
}

void bind_memory_format(nb::module_& m) {
  nb::enum_<MemoryFormat> type(m, "memory_format", "An order of elements in memory.");
  for (auto [text, format] : names) type.value(text, format);
  type.export_values();
  for (const char* method : {"__repr__", "__str__"}) type.def(method, [](MemoryFormat format) { return nb::str(printed(name(format)).c_str()); });
}

}  // namespace adjoint::python
