// nanobind casters of the core's value types. Include after setting up `adjoint::python::api` (import_api()).
#pragma once
#include <adjoint/python/api.h>

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

namespace adjoint::python {

// An operand that may also be a Python number.
struct Operand { Tensor t; operator const Tensor&() const noexcept { return t; } };

}  // namespace adjoint::python

NAMESPACE_BEGIN(NB_NAMESPACE)
NAMESPACE_BEGIN(detail)

template <> struct type_caster<adjoint::Tensor> {
  NB_TYPE_CASTER(adjoint::Tensor, const_name("Tensor"))
  bool from_python(handle h, uint32_t flags, cleanup_list*) noexcept {
    if (h.is_none()) { value = {}; return !(flags & (uint32_t) cast_flags::manual); }   // of arguments, only those that say .none() get here; never by nb::cast
    if (!adjoint::python::is_tensor(h.ptr())) return false;
    value = adjoint::python::unwrap(h.ptr());
    return true;
  }
  static handle from_cpp(const adjoint::Tensor& x, rv_policy, cleanup_list*) noexcept { return adjoint::python::wrap(x); }
  static handle from_cpp(adjoint::Tensor&& x, rv_policy, cleanup_list*) noexcept { return adjoint::python::wrap(std::move(x)); }
};

// A sequence of tensors has no gaps: None among them is refused.
template <> struct type_caster<adjoint::TensorVector> : list_caster<adjoint::TensorVector, adjoint::Tensor> {
  using Base = list_caster<adjoint::TensorVector, adjoint::Tensor>;
  bool from_python(handle h, uint32_t flags, cleanup_list* cleanup) noexcept { return Base::from_python(h, flags | (uint32_t) cast_flags::manual, cleanup); }
};

template <> struct type_caster<adjoint::Scalar> {
  static constexpr auto Name = const_name("float | int | bool | complex");
  using Value = adjoint::Scalar;
  template <typename T> using Cast = movable_cast_t<T>;
  template <typename T> static constexpr bool can_cast() { return true; }
  adjoint::Scalar value{0};
  explicit operator adjoint::Scalar*() { return &value; }
  explicit operator adjoint::Scalar&() { return value; }
  explicit operator adjoint::Scalar&&() { return std::move(value); }
  bool from_python(handle h, uint32_t, cleanup_list*) noexcept {
    if (adjoint::python::is_tensor(h.ptr()) && adjoint::python::impl_of(h.ptr())->numel == 1) {
      try { value = adjoint::item(adjoint::python::unwrap(h.ptr())); }
      catch (const adjoint::Error&) { return false; }   // inside vmap it has no one value
      return true;
    }
    if (adjoint::python::api->scalar(h.ptr(), value)) return true;
    PyErr_Clear();
    return false;
  }
  static handle from_cpp(const adjoint::Scalar& s, rv_policy, cleanup_list*) noexcept {
    switch (adjoint::category(s.dtype())) {
      case 0: return PyBool_FromLong(s.to<bool>());
      case 1: return adjoint::python::whole_object(s);
      case 2: return PyFloat_FromDouble(s.to<double>());
    }
    const auto z = s.to<adjoint::Complex<double>>();
    return PyComplex_FromDoubles(z.re, z.im);
  }
};

template <> struct type_caster<adjoint::python::Operand> {
  NB_TYPE_CASTER(adjoint::python::Operand, const_name("Tensor | float | int | bool | complex"))
  bool from_python(handle h, uint32_t, cleanup_list*) noexcept {
    if (h.is_none()) { value.t = {}; return true; }
    if (adjoint::python::is_tensor(h.ptr())) { value.t = adjoint::python::unwrap(h.ptr()); return true; }
    adjoint::Scalar s{0};
    if (!adjoint::python::api->scalar(h.ptr(), s)) { PyErr_Clear(); return false; }
    value.t = adjoint::wrapped(s);
    return true;
  }
  static handle from_cpp(const adjoint::python::Operand& x, rv_policy, cleanup_list*) noexcept { return adjoint::python::wrap(x.t); }
};

template <> struct type_caster<adjoint::Dims> {
  NB_TYPE_CASTER(adjoint::Dims, const_name("int | collections.abc.Sequence[int]"))
  bool from_python(handle h, uint32_t, cleanup_list*) noexcept {
    if (adjoint::python::api->dims(h.ptr(), value)) return true;
    PyErr_Clear();
    return false;
  }
  static handle from_cpp(const adjoint::Dims& d, rv_policy, cleanup_list*) noexcept { return adjoint::python::api->size(d); }
};

template <> struct type_caster<adjoint::DType> {
  NB_TYPE_CASTER(adjoint::DType, const_name("dtype"))
  bool from_python(handle h, uint32_t, cleanup_list*) noexcept { return adjoint::python::api->dtype(h.ptr(), value); }
  static handle from_cpp(adjoint::DType t, rv_policy, cleanup_list*) noexcept { return handle(adjoint::python::api->dtypes[static_cast<int>(t)]).inc_ref(); }
};

template <> struct type_caster<adjoint::Device> {
  NB_TYPE_CASTER(adjoint::Device, const_name("device | str"))
  bool from_python(handle h, uint32_t, cleanup_list*) noexcept { return adjoint::python::api->device(h.ptr(), value); }
  static handle from_cpp(adjoint::Device d, rv_policy, cleanup_list*) noexcept { return adjoint::python::api->device_object(d); }
};

NAMESPACE_END(detail)
NAMESPACE_END(NB_NAMESPACE)
