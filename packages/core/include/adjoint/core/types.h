// Type rules of records: what the kernel computes in and what comes out.
#pragma once
#include <adjoint/core/in_float.h>

#include <optional>

namespace adjoint {

ADJOINT_API DType result_type(Tensors x);                 // PyTorch's promotion: dimensioned > 0-d > Python numbers
ADJOINT_API bool numbers_only(Tensors x);                // Python numbers all: what comes of them is one too
// The half type of all floating-point tensors among the arguments, if they have one in common.
class HalfType {
 public:
  template <class A> void see(const A& x) {
    if constexpr (std::is_convertible_v<const A&, const Tensor&>) see_type(x);
  }
  std::optional<DType> type() const { return single_ && !InFloat::here ? type_ : std::nullopt; }

 private:
  void see_type(const Tensor& x) {
    if (!x || is_integral(x.dtype()) || x->flags & flag_wrapped) return;
    single_ = single_ && is_half(x.dtype()) && type_.value_or(x.dtype()) == x.dtype();
    type_ = x.dtype();
  }
  std::optional<DType> type_;
  bool single_ = true;
};
template <class... A> std::optional<DType> half_type(const A&... a) {
  HalfType t;
  (t.see(a), ...);
  return t.type();
}
inline DType to_floating(DType t) { return is_integral(t) ? default_dtype() : t; }
inline Types all(DType t) { return {t, {t, t, t}}; }

namespace types {
ADJOINT_API Types promoted(Tensors, const Attrs&);        // add, mul: the common type
ADJOINT_API Types floating(Tensors, const Attrs&);        // sin, div: the common type, integers become the default floating type
ADJOINT_API Types compared(Tensors, const Attrs&);        // eq, lt: computes in the common type, gives bool
ADJOINT_API Types first(Tensors, const Attrs&);           // that of the first input
ADJOINT_API Types last(Tensors, const Attrs&);            // where: common type of all but the first (a mask)
ADJOINT_API Types accumulated(Tensors, const Attrs&);     // sum: bool and integers give int64
ADJOINT_API Types real_part(Tensors, const Attrs&);       // abs, real: complex gives its real type
ADJOINT_API Types with_index(Tensors, const Attrs&);      // max, sort: the type of the first input, then int64
ADJOINT_API Types boolean(Tensors, const Attrs&);         // isnan: any type gives bool
ADJOINT_API Types positions(Tensors, const Attrs&);       // argmax: any type gives int64
}  // namespace types

namespace shapes {
ADJOINT_API void same(Tensors, const Attrs&, Dims* out);  // all outputs like input 0
}

}  // namespace adjoint
