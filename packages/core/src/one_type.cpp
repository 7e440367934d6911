// Operands of one type, and which of them need not be as autocast makes them so.
#include <adjoint/core/error.h>
#include <adjoint/core/in_float.h>
#include <adjoint/core/one_type.h>

namespace adjoint {

constinit thread_local bool autocast_on[device_types] = {};

bool may_autocast(const Tensor& t) noexcept {
  return t && is_floating(t.dtype()) && t.dtype() != DType::float64 && !(t->flags & flag_wrapped) && autocast_on[static_cast<size_t>(t.device().type)];
}

void expect_type(const char* op, const char* what, const Tensor& t, const char* of, const Tensor& like) {
  if (!t || seen_type(t) == seen_type(like) || (may_autocast(t) && may_autocast(like))) return;
  fail(ErrorKind::runtime, op, ": expected ", what, " to have the same dtype as ", of, ", but got ", t.dtype(), " and ", like.dtype());
}

}  // namespace adjoint
