// Direct calls: all arguments given by position, each of the plain type. They skip nanobind, which costs as much as a small
// op; any other call (keywords, defaults, conversions, what is refused) goes to the function that nanobind bound.
#pragma once
#include <optional>
#include <tuple>

#include "module.h"
#include "number_operand.h"
#include "tensor_type.h"

namespace adjoint::python {

using DirectCall = PyObject* (*)(const void* f, PyObject* const* args, size_t count);   // null without an error: not such a call

void make_direct_types();
// A function of Python that looks for __torch_function__ first; `plain` names those of its calls that need no Python, if there are any.
// `inner` is the function without its wrappers, `rounds` whether one of those looks after half types, `node` how one names the result's node.
nb::object make_asking(nb::object f, const std::optional<std::string>& plain, nb::object inner, bool rounds, const std::optional<nb::capsule>& node);
void ask_before_calls();                  // from now on calls look for __torch_function__ first; see protocol.h
void make_all_direct(nb::handle scope);   // every function takes `out`, and its errors name it
// From now on `name` of `scope` tries `call` first. `f` lives as long as the process.
void make_direct(nb::handle scope, const char* name, DirectCall call, const void* f);

// A parameter: what it takes, and what it hands to the function.
template <class P> class Direct;
template <> class Direct<Tensor> {
 public:
  bool load(PyObject* o) {
    if (!is_tensor(o)) return false;
    p_ = impl_of(o);
    return true;
  }
  const Tensor& value() const { return reinterpret_cast<const Tensor&>(p_); }   // Python keeps it alive

 private:
  TensorImpl* p_ = nullptr;
};
template <> class Direct<Operand> {
 public:
  bool load(PyObject* o) {
    if (is_tensor(o)) p_ = impl_of(o);
    else if (Number::is(o)) p_ = number_.emplace(o).get();
    else return false;
    return true;
  }
  const Tensor& value() const { return reinterpret_cast<const Tensor&>(p_); }

 private:
  TensorImpl* p_ = nullptr;
  std::optional<Number> number_;
};
template <> class Direct<int64_t> {
 public:
  bool load(PyObject* o) {
    if (!PyLong_CheckExact(o)) return false;
    int overflow = 0;
    value_ = PyLong_AsLongLongAndOverflow(o, &overflow);
    return !overflow;
  }
  int64_t value() const { return value_; }

 private:
  int64_t value_ = 0;
};

template <class F, class... P> PyObject* call_directly(const void* f, PyObject* const* args, size_t count) {
  if (count != sizeof...(P)) return nullptr;
  return guarded([&]() -> PyObject* {
    return [&]<size_t... I>(std::index_sequence<I...>) -> PyObject* {
      std::tuple<Direct<P>...> in;
      if (!(std::get<I>(in).load(args[I]) && ...)) return nullptr;
      return wrap_tensor((*static_cast<const F*>(f))(std::get<I>(in).value()...));
    }(std::index_sequence_for<P...>());
  });
}

// (x, 2, 3) and (x, (2, 3)): the sizes as separate arguments, or as one sequence. Empty: neither.
Dims separate_dims(PyObject* const* args, size_t count);
template <class F> PyObject* call_with_dims(const void* f, PyObject* const* args, size_t count) {
  Direct<Tensor> x;
  if (count < 2 || count > Dims::inline_capacity + 1 || !x.load(args[0])) return nullptr;
  const Dims dims = separate_dims(args + 1, count - 1);
  if (dims.empty()) return nullptr;
  return guarded([&] { return wrap_tensor((*static_cast<const F*>(f))(x.value(), dims)); });
}

inline nb::handle tensor_scope() { return reinterpret_cast<PyObject*>(api->tensor_type); }
template <class... P, class F> void direct(nb::handle scope, const char* name, F f) { make_direct(scope, name, call_directly<F, P...>, new F(f)); }
template <class... P, class F> void direct_both(nb::handle m, const char* name, F f) {
  direct<P...>(m, name, f);
  direct<P...>(tensor_scope(), name, f);
}
inline void direct_inplace(const char* name, const Op& op) {   // x.op_(other)
  direct<Tensor, Operand>(tensor_scope(), name, [&op](const Tensor& x, const Tensor& other) {
    apply_inplace(op, x, {&other, 1});
    return x;
  });
}
template <class F> void direct_dims(const char* name, F f) { make_direct(tensor_scope(), name, call_with_dims<F>, new F(f)); }

}  // namespace adjoint::python
