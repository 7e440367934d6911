#include <adjoint/core/error.h>
#include <adjoint/core/one_type.h>

namespace adjoint {

constinit thread_local bool casts_operands = false;

void expect_type(const char* op, const char* what, const Tensor& t, const char* of, const Tensor& like) {
  if (!t || t.dtype() == like.dtype() || casts_operands) return;
  fail(ErrorKind::runtime, op, ": expected ", what, " to have the same dtype as ", of, ", but got ", t.dtype(), " and ", like.dtype());
}

}  // namespace adjoint
