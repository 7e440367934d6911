// as_strided looks at memory: the tangent of its result is the same piece of the memory of the tangent.
#include "record.h"

namespace adjoint::engine {

namespace {

// How many elements the last one lies behind the first.
int64_t reach(const Dims& sizes, const Dims& strides) {
  int64_t last = 0;
  for (int i = 0; i < sizes.size(); i++) last += (sizes[i] - 1) * strides[i];
  return last;
}

bool same_strides(const TensorImpl& a, const TensorImpl& b) {
  for (int i = 0; i < a.sizes.size(); i++)
    if (a.sizes[i] > 1 && a.strides[i] != b.strides[i]) return false;
  return true;
}

// The farthest base of x's type.
TensorImpl& memory_root(TensorImpl& x) {
  TensorImpl* root = &x;
  while (root->view && view_info(*root)->parent->dtype == x.dtype) root = view_info(*root)->parent.get();
  return *root;
}

// Does the tangent's memory answer to that of the value, from `first` to `last` behind its first element?
bool covers(const Face& f, TensorImpl& value, const TensorImpl& tangent, int64_t first, int64_t last) {
  if (!same_strides(value, tangent)) return false;
  if (!f.owns_tangent) return dense(Tensor(&value)) && first >= 0 && last <= reach(value.sizes, value.strides);   // elsewhere lies what is not ours
  const int64_t start = tangent.offset(), size = static_cast<int64_t>(tangent.storage->nbytes) / itemsize(tangent.dtype);
  return start + first >= 0 && start + last < size;
}

// The tangent moves to memory of its own which goes as far as needed, with zeros where the value has no element.
void cover(Face& f, const TensorImpl& value, int64_t first, int64_t last) {
  const TensorImpl& tangent = memory_of(*f.tangent);
  if (f.owns_tangent && same_strides(value, tangent)) {   // as far as before, too: older views come along
    first = std::min(first, -tangent.offset());
    last = std::max(last, static_cast<int64_t>(tangent.storage->nbytes) / itemsize(tangent.dtype) - tangent.offset() - 1);
  }
  first = std::min<int64_t>(first, 0);
  last = std::max(last, reach(value.sizes, value.strides));
  const Tensor place = as_strided(zeros({last - first + 1}, f.value.dtype(), f.value.device()), value.sizes, value.strides, -first);
  copy_(place, f.tangent);
  f.tangent = place;
  f.owns_tangent = true;
}

}  // namespace

const Op& as_strided_op() {
  static const Op& op = *find_op("as_strided");
  return op;
}

Tensor strided_tangent(const Tensor& x, const Strided& a) {
  TensorImpl& root = memory_root(*x);
  Face& f = *static_cast<Face*>(root.face.get());
  TensorImpl& value = *bottom(f.value).get();
  if (value.sizes != f.value.sizes() || memory_of(*f.tangent).sizes != value.sizes) return as_strided(f.tangent, a.sizes, a.strides, a.offset);   // lanes
  if (a.sizes.product() == 0 || value.numel == 0) return zeros(a.sizes, x.dtype(), x.device());
  const int64_t first = a.offset - value.offset(), last = first + reach(a.sizes, a.strides);
  if (!covers(f, value, memory_of(*f.tangent), first, last)) {
    expect(!root.view, ErrorKind::not_implemented, "as_strided: forward mode is not implemented for a view of another type that does not hold all elements of the result");
    cover(f, value, first, last);
    root.epoch++;
  }
  return as_strided(f.tangent, a.sizes, a.strides, memory_of(*f.tangent).offset() + first);
}

}  // namespace adjoint::engine
