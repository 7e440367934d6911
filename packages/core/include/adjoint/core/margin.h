// The hinge between the classes a row should have and those it should not.
#pragma once
#include <adjoint/core/op.h>
#include <adjoint/core/op_fields.h>

namespace adjoint {

extern const Op op_margin, op_margin_vjp;
struct Hinge { double margin; bool ended; };
inline void describe(const Hinge& a, FieldList& f) { f.add("margin", a.margin); f.add("ended", a.ended); }

// x (..., classes), target (..., n): for each row the sum of max(0, margin - x[j] + x[i]) over its targets j and all classes i that are none, divided by
// the number of classes. `ended`: the first negative target ends a row's; else none may be.
ADJOINT_API Tensor margin_rows(const Tensor& x, const Tensor& target, double margin, bool ended);

}  // namespace adjoint
