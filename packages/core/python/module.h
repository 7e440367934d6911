// The parts of adjoint_core._core, one function a file.
#pragma once
#include <adjoint/core/borrowed.h>

#include "plain.h"

namespace adjoint::python {

using namespace nb::literals;

// What stands beside a function where it is bound, of a type that is not another one for each length of a text.
inline const char* beside(const char* text) { return text; }
template <class T> const T& beside(const T& x) { return x; }

// These are there once for each list of types, not for each function.
template <class Function, class... Extra> [[gnu::cold, gnu::noinline]] void define(nb::handle scope, const char* name, const Function& f, const Extra&... extra) {
  nb::cpp_function_def(late_call(f.add(scope, name, false, extra...), f), nb::scope(scope), nb::name(name), extra...);
}
template <class Function, class... Extra> [[gnu::cold, gnu::noinline]] void define_method(const char* name, const Function& f, const Extra&... extra) {
  const nb::handle type = reinterpret_cast<PyObject*>(api->tensor_type);
  nb::cpp_function_def(late_call(f.add(type, name, true, extra...), f), nb::scope(type), nb::name(name), nb::is_method(), extra...);
}
template <class Function, class... Extra> [[gnu::cold, gnu::noinline]] void define_both(nb::handle scope, const char* name, const Function& f, const Extra&... extra) {
  const nb::handle type = reinterpret_cast<PyObject*>(api->tensor_type);
  const Plain& plain = f.add(scope, name, false, "input"_a, extra...);
  add_plain_method(name, plain);
  nb::cpp_function_def(late_call(plain, f), nb::scope(scope), nb::name(name), "input"_a, extra...);
  nb::cpp_function_def(late_call(plain, f), nb::scope(type), nb::name(name), nb::is_method(), extra...);
}

// Adds methods to the raw Tensor type, and functions to the module.
struct Methods {
  nb::handle type = reinterpret_cast<PyObject*>(api->tensor_type);
  template <class F, class... Extra> const Methods& def(const char* name, const F& f, const Extra&... extra) const {
    if constexpr (PlainOf<F>::possible) define_method(name, PlainOf<F>(f), beside(extra)...);
    else nb::cpp_function_def(f, nb::scope(type), nb::name(name), nb::is_method(), extra...);
    return *this;
  }
};

// A function of the module.
template <class F, class... Extra> void function(nb::module_& m, const char* name, const F& f, const Extra&... extra) {
  if constexpr (PlainOf<F>::possible) define(m, name, PlainOf<F>(f), beside(extra)...);
  else m.def(name, f, extra...);
}

// The same callable as function and as method; the first parameter is called `input` in the function.
template <class F, class... Extra> void both(nb::module_& m, const char* name, const F& f, const Extra&... extra) {
  if constexpr (PlainOf<F>::possible) {
    define_both(m, name, PlainOf<F>(f), beside(extra)...);
  } else {
    m.def(name, f, "input"_a, extra...);
    Methods().def(name, f, extra...);
  }
}

using Rewriting = adjoint::Borrowed<const Tensor&, Tensor&>;
Tensor rewritten(const Tensor& x, Rewriting f);   // out.cpp
Tensor updated_by(const Tensor& x, Rewriting f);

// f(x) into x, for what is not the in-place form of one record: what f saves must not be overwritten.
template <class F> Tensor into(const Tensor& x, F&& f) {
  return rewritten(x, [&](const Tensor& from, Tensor& y) { y = f(from); });
}

inline std::optional<Reduction> reduction_named(const std::string& name) {
  if (name == "mean") return Reduction::mean;
  if (name == "sum") return Reduction::sum;
  if (name == "none") return Reduction::none;
  return {};
}

// f(x), written into x if `inplace`.
template <class F> Tensor perhaps_into(const Tensor& x, bool inplace, F&& f) { return inplace ? into(x, f) : f(x); }

// The same for an f that is one update of x at positions: it is written to there.
template <class F> Tensor updated(const Tensor& x, F&& f) {
  return updated_by(x, [&](const Tensor& from, Tensor& y) { y = f(from); });
}
// Warns where x is expanded memory that is to be written to at positions, which PyTorch does: what is written last stays. Where that would be
// recorded, or is written from lanes, it raises here, as all other writes do.
void warn_if_expanded(const Tensor& x, std::initializer_list<Tensors> from, const char* name, const char* assignment);

template <class F, class C, class... A> auto into_first(F f, Tensor (C::*)(const Tensor&, A...) const) {
  return [f](const Tensor& self, A... a) { return into(self, [&](const Tensor& x) { return f(x, a...); }); };
}

// Also the method `name_`, which writes the result of f into its tensor.
template <class F, class... Extra> void both_and_inplace(nb::module_& m, const char* name, F f, const Extra&... extra) {
  both(m, name, f, extra...);
  Methods().def((std::string(name) + "_").c_str(), into_first(f, &F::operator()), extra...);
}

template <class F, class C, class... A> auto update_first(F f, Tensor (C::*)(const Tensor&, A...) const) {
  return [f](const Tensor& self, A... a) { return updated(self, [&](const Tensor& x) { return f(x, a...); }); };
}
template <class F, class... Extra> void both_and_update(nb::module_& m, const char* name, F f, const Extra&... extra) {
  both(m, name, f, extra...);
  Methods().def((std::string(name) + "_").c_str(), update_first(f, &F::operator()), extra...);
}

// view(2, -1) and view((2, -1)).
Dims dims_of(const nb::args& args, const char* op);

void bind_memory(nb::module_& m);
void bind_books(nb::module_& m);
void bind_buffer(nb::module_& m);
void bind_numpy(nb::module_& m);
void bind_dlpack(nb::module_& m);
void bind_create(nb::module_& m);
void bind_random(nb::module_& m);
void bind_elementwise(nb::module_& m);
void bind_reduce(nb::module_& m);
void bind_view(nb::module_& m);
void bind_rearrange(nb::module_& m);
void bind_gathering(nb::module_& m);
void bind_sparse(nb::module_& m);
void bind_linalg(nb::module_& m);
void bind_factor(nb::module_& m);
void bind_fft(nb::module_& m);
void bind_nn(nb::module_& m);
void bind_functional(nb::module_& m);
void bind_composed(nb::module_& m);
void bind_plain(nb::module_& m);
void bind_registry(nb::module_& m);
void bind_cuda(nb::module_& m);
void bind_cuda_arrays();
Tensor from_cuda_array(nb::handle array);   // that has __cuda_array_interface__
void bind_cuda_graphs(nb::module_& m);
void bind_cuda_kernels(nb::module_& m);
void bind_cuda_memory(nb::module_& m);
nb::list attribute_names(const std::string& op);   // of a record

}  // namespace adjoint::python
