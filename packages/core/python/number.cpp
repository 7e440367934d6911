// The operators of Tensor: straight from the interpreter's slots to the record.
#include <adjoint/core/observer.h>
#include <nanobind/nanobind.h>

#include <cmath>

#include "convert.h"
#include "number_operand.h"
#include "protocol.h"
#include "reference.h"
#include "tensor_type.h"
#include "warn.h"

namespace nb = nanobind;

namespace adjoint::python {

namespace {

PyObject* not_implemented() { return Py_NewRef(Py_NotImplemented); }

PyObject* call(const Op& op, Tensors x) {
  Tensor y[max_outputs];
  apply(op, x, {}, y);
  return wrap_tensor(std::move(y[0]));
}

// Records by name, found once: core keeps most of them to itself.
struct Name { char text[24]; consteval Name(const char* s) : text{} { for (int i = 0; s[i]; i++) text[i] = s[i]; } };
struct Record {
  const char* name;
  const Op* op = nullptr;
  const Op& get() {
    if (!op) [[unlikely]] expect(op = find_op(name), ErrorKind::not_implemented, name, ": no such operation");
    return *op;
  }
};
template <Name name> constinit inline Record record{name.text};

// One body for all records, to which each slot leads.
[[gnu::noinline]] PyObject* call_binary(Record& record, PyObject* a, PyObject* b) {
  return guarded([=, &record]() -> PyObject* {
    const Op& op = record.get();
    if (Number::is(b)) return call(op, Borrowed<2>(impl_of(a), Number(b).get()));
    if (Number::is(a)) return call(op, Borrowed<2>(Number(a).get(), impl_of(b)));
    if (is_tensor(a) && is_tensor(b)) return call(op, Borrowed<2>(impl_of(a), impl_of(b)));
    Tensor x[2];
    if (!as_operand(a, x[0]) || !as_operand(b, x[1])) return answer_operator(record.name, a, b);
    return call(op, x);
  });
}
template <Name name> PyObject* binary(PyObject* a, PyObject* b) { return call_binary(record<name>, a, b); }

[[gnu::noinline]] PyObject* call_inplace(Record& record, PyObject* a, PyObject* b) {
  return guarded([=, &record]() -> PyObject* {
    Tensor other;
    if (Number::is(b)) apply_inplace(record.get(), unwrap(a), Borrowed<1>(Number(b).get()));
    else if (const bool fits = as_operand(b, other); !fits || (may_be_answered() && is_answered(&b, 1, nullptr))) return answer_operator((std::string(record.name) + "_").c_str(), a, b);
    else apply_inplace(record.get(), unwrap(a), {&other, 1});
    return Py_NewRef(a);
  });
}
template <Name name> PyObject* inplace(PyObject* a, PyObject* b) { return call_inplace(record<name>, a, b); }

template <Name name> PyObject* unary(PyObject* a) {
  return guarded([=] { return call(record<name>.get(), Borrowed<1>(impl_of(a))); });
}

PyObject* power(PyObject* a, PyObject* b, PyObject* modulus) {
  if (modulus != Py_None) return not_implemented();
  if (PyBool_Check(b) && is_tensor(a)) return guarded([=] { return wrap_tensor(pow(unwrap(a), wrapped(b == Py_True))); });   // bools have such powers alone
  return binary<"pow">(a, b);
}
PyObject* inplace_power(PyObject* a, PyObject* b, PyObject*) { return inplace<"pow">(a, b); }
PyObject* positive(PyObject* a) {
  return guarded([=] {
    expect(impl_of(a)->dtype != DType::bool_, "The `+` operator, on a bool tensor is not supported.");
    return Py_NewRef(a);
  });
}
PyObject* invert(PyObject* a) {
  return guarded([=] {
    expect(!is_differentiable(impl_of(a)->dtype), ErrorKind::type, "~ (operator.invert) is only implemented on integer and Boolean-type tensors");
    return unary<"bitwise_not">(a);
  });
}

PyObject* matrix_multiply(PyObject* a, PyObject* b) {
  return guarded([=]() -> PyObject* {
    Tensor x, y;
    if (PyLong_Check(a) || PyLong_Check(b)) return not_implemented();   // a number, of any size
    if (!as_operand(a, x) || !as_operand(b, y)) return answer_operator("matmul", a, b);
    if ((x->flags | y->flags) & flag_wrapped) return not_implemented();
    return wrap_tensor(matmul(x, y));
  });
}

PyObject* compare(PyObject* a, PyObject* b, int how) {
  switch (how) {
    case Py_LT: return binary<"lt">(a, b);
    case Py_LE: return binary<"le">(a, b);
    case Py_EQ: return binary<"eq">(a, b);
    case Py_NE: return binary<"ne">(a, b);
    case Py_GT: return binary<"gt">(a, b);
    case Py_GE: return binary<"ge">(a, b);
  }
  return not_implemented();
}

// ---- conversion of one-element tensors

int truth(PyObject* a) {
  try {
    const TensorImpl* t = impl_of(a);
    expect(t->numel != 0, "Boolean value of Tensor with no values is ambiguous");
    expect(t->numel == 1, "Boolean value of Tensor with more than one value is ambiguous");
    return is_nonzero(unwrap(a));
  } catch (...) { raise(); return -1; }
}

Scalar value_of(PyObject* a) {
  expect(impl_of(a)->numel == 1, ErrorKind::value, "only one element tensors can be converted to Python scalars");
  return read_item(unwrap(a));
}

PyObject* as_int(PyObject* a) {
  return guarded([=]() -> PyObject* {
    const Scalar s = value_of(a);
    if (is_integral(s.dtype())) return whole_object(s);
    expect(!is_complex(s.dtype()) || s.to<Complex<double>>().im == 0, "value cannot be converted to type int64_t without overflow");
    return PyLong_FromDouble(s.to<double>());
  });
}

PyObject* as_float(PyObject* a) {
  return guarded([=] {
    warn_of_number(unwrap(a));
    const Scalar s = value_of(a);
    expect(!is_complex(s.dtype()) || s.to<Complex<double>>().im == 0, "value cannot be converted to type double without overflow");
    return PyFloat_FromDouble(s.to<double>());
  });
}

PyObject* as_index(PyObject* a) {
  return guarded([=] {
    expect(impl_of(a)->numel == 1 && is_integral(impl_of(a)->dtype), ErrorKind::type, "only integer tensors of a single element can be converted to an index");
    return PyLong_FromLongLong(value_of(a).to<int64_t>());
  });
}

// ---- containers

PyObject* iterate(PyObject* a) {
  return guarded([=]() -> PyObject* {
    expect(impl_of(a)->ndim() > 0, ErrorKind::type, "iteration over a 0-d tensor");
    TensorVector rows = unbind(unwrap(a), 0);
    Reference list(PyList_New(static_cast<Py_ssize_t>(rows.size())));
    for (size_t i = 0; list && i < rows.size(); i++) PyList_SetItem(list.get(), static_cast<Py_ssize_t>(i), wrap_tensor(std::move(rows[i])));
    return list ? PyObject_GetIter(list.get()) : nullptr;
  });
}

int contains(PyObject* a, PyObject* b) {
  try {
    Tensor element;
    expect(as_operand(b, element), "Tensor.__contains__ only supports Tensor or scalar, but you passed in a ", type_name(b));
    return is_nonzero(any(eq(element, unwrap(a))));
  } catch (...) { raise(); return -1; }
}

template <class F> PyType_Slot slot(int id, F* f) { return {id, reinterpret_cast<void*>(f)}; }

}  // namespace

Scalar read_item(const Tensor& x) {
  const Named named("item", {&x, 1}), inner("_local_scalar_dense", {&x, 1});
  return item(x);
}

bool is_nonzero(const Tensor& x) {
  const Named named("is_nonzero", {&x, 1});
  return read_item(x).to<bool>();
}

std::span<const PyType_Slot> number_slots() {
  static const PyType_Slot slots[] = {
      slot(Py_nb_add, binary<"add">), slot(Py_nb_inplace_add, inplace<"add">),
      slot(Py_nb_subtract, binary<"sub">), slot(Py_nb_inplace_subtract, inplace<"sub">),
      slot(Py_nb_multiply, binary<"mul">), slot(Py_nb_inplace_multiply, inplace<"mul">),
      slot(Py_nb_true_divide, binary<"div">), slot(Py_nb_inplace_true_divide, inplace<"div">),
      slot(Py_nb_floor_divide, binary<"floor_divide">), slot(Py_nb_inplace_floor_divide, inplace<"floor_divide">),
      slot(Py_nb_remainder, binary<"remainder">), slot(Py_nb_inplace_remainder, inplace<"remainder">),
      slot(Py_nb_power, power), slot(Py_nb_inplace_power, inplace_power),
      slot(Py_nb_and, binary<"bitwise_and">), slot(Py_nb_inplace_and, inplace<"bitwise_and">),
      slot(Py_nb_or, binary<"bitwise_or">), slot(Py_nb_inplace_or, inplace<"bitwise_or">),
      slot(Py_nb_xor, binary<"bitwise_xor">), slot(Py_nb_inplace_xor, inplace<"bitwise_xor">),
      slot(Py_nb_lshift, binary<"bitwise_left_shift">), slot(Py_nb_inplace_lshift, inplace<"bitwise_left_shift">),
      slot(Py_nb_rshift, binary<"bitwise_right_shift">), slot(Py_nb_inplace_rshift, inplace<"bitwise_right_shift">),
      slot(Py_nb_matrix_multiply, matrix_multiply),
      slot(Py_nb_negative, unary<"neg">), slot(Py_nb_positive, positive), slot(Py_nb_absolute, unary<"abs">), slot(Py_nb_invert, invert),
      slot(Py_nb_bool, truth), slot(Py_nb_int, as_int), slot(Py_nb_float, as_float), slot(Py_nb_index, as_index),
      slot(Py_tp_richcompare, compare), slot(Py_tp_iter, iterate), slot(Py_sq_contains, contains)};
  return slots;
}

}  // namespace adjoint::python
