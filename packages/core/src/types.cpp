// Type rules of records.
#include <adjoint/core/types.h>

namespace adjoint {

DType result_type(Tensors x) {
  const DType one = x[0].dtype();
  bool same = true;
  for (size_t i = 1; i < x.size(); i++) same = same && x[i].dtype() == one;
  if (same && !(x[0]->flags & flag_wrapped)) return one;
  // A Python number beside a tensor that is at least as general.
  if (x.size() == 2 && x[1]->flags & flag_wrapped && !(x[0]->flags & flag_wrapped) && category(x[1].dtype()) <= category(one)) return one;
  // Priority: tensors with dimensions, 0-d tensors, Python numbers. A weaker group only raises the category.
  int best[3] = {-1, -1, -1};
  for (const Tensor& t : x) {
    int& b = best[t->flags & flag_wrapped ? 2 : t.dim() == 0];
    const DType d = t->flags & flag_wrapped && is_floating(t.dtype()) ? default_dtype()
                    : t->flags & flag_wrapped && is_complex(t.dtype()) ? complex_of(default_dtype()) : t.dtype();
    b = b < 0 ? static_cast<int>(d) : static_cast<int>(promote(static_cast<DType>(b), d));
  }
  int r = -1;
  for (int b : best) {
    if (b < 0) continue;
    if (r < 0) { r = b; continue; }
    const DType strong = static_cast<DType>(r), weak = static_cast<DType>(b);
    if (category(weak) > category(strong)) r = static_cast<int>(is_complex(weak) && is_floating(strong) ? (is_half(strong) || strong == DType::float32 ? DType::complex64 : DType::complex128) : weak);
  }
  return static_cast<DType>(r);
}

bool numbers_only(Tensors x) {
  for (const Tensor& t : x)
    if (!(t->flags & flag_wrapped)) return false;
  return true;
}

namespace {
// Rules compute with Python numbers alone (log of a base, 1 minus a weight): as Python does, not in the default type.
DType number_type(Tensors x) {
  DType t = x[0].dtype();
  for (const Tensor& y : x) t = promote(t, y.dtype());
  return t;
}
DType common(Tensors x) { return numbers_only(x) ? number_type(x) : result_type(x); }
DType common_floating(Tensors x) {
  if (!numbers_only(x)) return to_floating(result_type(x));
  const DType t = number_type(x);
  return is_integral(t) ? DType::float64 : t;
}
}  // namespace

namespace types {

Types promoted(Tensors x, const Attrs&) { return all(common(x)); }
Types floating(Tensors x, const Attrs&) { return all(common_floating(x)); }
Types compared(Tensors x, const Attrs&) { return {result_type(x), {DType::bool_}}; }
Types first(Tensors x, const Attrs&) { return all(x[0].dtype()); }
Types last(Tensors x, const Attrs&) { return all(result_type(x.subspan(1))); }
Types accumulated(Tensors x, const Attrs&) { return all(is_integral(x[0].dtype()) ? DType::int64 : x[0].dtype()); }
Types real_part(Tensors x, const Attrs&) { return {x[0].dtype(), {real_of(x[0].dtype())}}; }
Types with_index(Tensors x, const Attrs&) { return {x[0].dtype(), {x[0].dtype(), DType::int64}}; }
Types boolean(Tensors x, const Attrs&) { return {x[0].dtype(), {DType::bool_}}; }
Types positions(Tensors x, const Attrs&) { return {x[0].dtype(), {DType::int64}}; }

}  // namespace types

void shapes::same(Tensors x, const Attrs&, Dims* out) {
  for (int i = 0; i < max_outputs; i++) out[i] = x[0].sizes();
}

}  // namespace adjoint
