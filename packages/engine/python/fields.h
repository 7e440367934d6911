// The attributes of a call as Python values, by the names that the record gives them.
#pragma once
#include <adjoint/core/op.h>
#include <adjoint/core/op_fields.h>

#include "callable.h"

namespace adjoint::engine::python {

inline nb::object value(const Field& f) {
  if (f.dims) return nb::cast(*f.dims);
  if (f.real) return nb::cast(f.number);
  return f.flag ? nb::cast(f.whole != 0) : nb::cast(f.whole);
}

inline nb::dict attributes(const Op& op, const Attrs& attrs) {
  FieldList fields;
  if (op.fields) op.fields(&attrs, fields);
  nb::dict d;
  for (int i = 0; i < fields.count; i++) d[fields.field[i].name] = value(fields.field[i]);
  return d;
}

}  // namespace adjoint::engine::python
