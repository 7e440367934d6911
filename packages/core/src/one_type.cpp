#include <adjoint/core/error.h>
#include <adjoint/core/in_float.h>
#include <adjoint/core/one_type.h>

namespace adjoint {

constinit thread_local bool casts_operands = false;

namespace {
// As autocast does: not numbers in double.
bool is_cast(const Tensor& t) { return is_floating(t.dtype()) && t.dtype() != DType::float64; }
}  // namespace

void expect_type(const char* op, const char* what, const Tensor& t, const char* of, const Tensor& like) {
  if (!t || seen_type(t) == seen_type(like) || (casts_operands && is_cast(t) && is_cast(like))) return;
  fail(ErrorKind::runtime, op, ": expected ", what, " to have the same dtype as ", of, ", but got ", t.dtype(), " and ", like.dtype());
}

}  // namespace adjoint
