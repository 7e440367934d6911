// Plain calls: every argument of the type itself, by position or by its name. What nanobind is told of a function's parameters says how to
// read such a call, so the functions that are bound need no further word; any other call goes to the function that nanobind bound.
#pragma once
#include <adjoint/core/ops.h>
#include <adjoint/python/caster.h>

#include <array>
#include <optional>
#include <span>

#include "memory_format.h"
#include "number_operand.h"
#include "tensor_type.h"

namespace adjoint::python {

namespace nb = nanobind;

enum class PlainKind : uint8_t { tensor, operand, integer, number, boolean, scalar, dims, dtype, device, format, text, object, tensors };

class PlainArguments;
struct PlainType { PlainKind kind; bool none; };

// One function, or one of several of a name, and its parameters.
struct Plain {
  static constexpr size_t most = 12;
  struct Parameter {
    PyObject *name = nullptr, *otherwise = nullptr;   // otherwise: what it is if it is not given
    PlainKind kind{};
    bool none = false;                                // None is a value
  };
  using Body = PyObject* (*)(const void* f, PlainArguments& given);
  Body body;
  const void* f;
  Plain* next = nullptr;
  size_t count = 0, positional = 0;
  std::array<Parameter, most> parameters;

  void describe(size_t at, const char* name, bool none, PyObject* otherwise);
};

void add_plain_method(const char* name, const Plain& function);   // the same as a method: what it is called on has no name
// Behind the others of its name. `f` lives as long as the process.
Plain& add_plain(nb::handle scope, const char* name, Plain::Body body, const void* f, std::span<const PlainType> types);
const Plain* find_plain(nb::handle scope, const std::string& name);   // the first of this name; they live as long as the process

// Null without an error: no plain call of any of them.
PyObject* call_plainly(const Plain* first, PyObject* const* args, size_t count, PyObject* names);

// An argument that nanobind leaves to be read here.
struct Unread { PyObject* object = nullptr; uint32_t flags = 0; };
PyObject* call_converting(const Plain& plain, std::span<const Unread> args);   // as nanobind reads them: what can be made of the type will do

// The arguments of one call.
class PlainArguments {
 public:
  bool load(const Plain& plain, PyObject* const* objects);
  bool convert(const Plain& plain, std::span<const Unread> args);

  struct Slot {
    Slot() noexcept {}
    bool none = false;
    union {
      TensorImpl* tensor;
      int64_t integer;
      double number;
      bool boolean;
      Scalar scalar;
      DType dtype;
      Device device;
      MemoryFormat format;
      PyObject* object;
      int at;
    };
  };
  Slot slots[Plain::most];
  static constexpr size_t most_dims = 4, most_texts = 2;
  Dims dims[most_dims];
  std::optional<Number> numbers[3];
  std::string texts[most_texts];
  TensorVector tensors;

 private:
  bool load(Slot& slot, const Plain::Parameter& parameter, PyObject* o);
  bool convert(Slot& slot, const Plain::Parameter& parameter, const Unread& given);
  TensorVector made_;   // of numbers
  int dims_ = 0, numbers_ = 0, texts_ = 0;
  bool listed_ = false;
};

// What a parameter of a type takes, and how the function gets it.
template <class P> struct Taken { static constexpr bool possible = false; };
template <PlainKind K> struct TakenAs { static constexpr bool possible = true; static constexpr PlainKind kind = K; };
template <> struct Taken<Tensor> : TakenAs<PlainKind::tensor> { static const Tensor& get(PlainArguments& g, size_t i) { return reinterpret_cast<const Tensor&>(g.slots[i].tensor); } };
template <> struct Taken<Operand> : TakenAs<PlainKind::operand> { static const Operand& get(PlainArguments& g, size_t i) { return reinterpret_cast<const Operand&>(g.slots[i].tensor); } };
template <> struct Taken<int64_t> : TakenAs<PlainKind::integer> { static int64_t get(PlainArguments& g, size_t i) { return g.slots[i].integer; } };
template <> struct Taken<double> : TakenAs<PlainKind::number> { static double get(PlainArguments& g, size_t i) { return g.slots[i].number; } };
template <> struct Taken<bool> : TakenAs<PlainKind::boolean> { static bool get(PlainArguments& g, size_t i) { return g.slots[i].boolean; } };
template <> struct Taken<Scalar> : TakenAs<PlainKind::scalar> { static const Scalar& get(PlainArguments& g, size_t i) { return g.slots[i].scalar; } };
template <> struct Taken<Dims> : TakenAs<PlainKind::dims> { static const Dims& get(PlainArguments& g, size_t i) { return g.dims[g.slots[i].at]; } };
template <> struct Taken<DType> : TakenAs<PlainKind::dtype> { static DType get(PlainArguments& g, size_t i) { return g.slots[i].dtype; } };
template <> struct Taken<Device> : TakenAs<PlainKind::device> { static Device get(PlainArguments& g, size_t i) { return g.slots[i].device; } };
template <> struct Taken<MemoryFormat> : TakenAs<PlainKind::format> { static MemoryFormat get(PlainArguments& g, size_t i) { return g.slots[i].format; } };
template <> struct Taken<std::string> : TakenAs<PlainKind::text> { static const std::string& get(PlainArguments& g, size_t i) { return g.texts[g.slots[i].at]; } };
template <> struct Taken<nb::object> : TakenAs<PlainKind::object> { static const nb::object& get(PlainArguments& g, size_t i) { return reinterpret_cast<const nb::object&>(g.slots[i].object); } };
template <> struct Taken<TensorVector> : TakenAs<PlainKind::tensors> { static const TensorVector& get(PlainArguments& g, size_t) { return g.tensors; } };
template <class T> struct Taken<std::optional<T>> : Taken<T> {
  static std::optional<T> get(PlainArguments& g, size_t i) {
    if (g.slots[i].none) return {};
    return Taken<T>::get(g, i);
  }
};
static_assert(sizeof(Operand) == sizeof(Tensor) && sizeof(nb::object) == sizeof(PyObject*));

template <class P> constexpr bool may_be_none = false;
template <class T> constexpr bool may_be_none<std::optional<T>> = true;

inline PyObject* returned(Tensor&& x) { return wrap_tensor(std::move(x)); }
inline PyObject* returned(const Tensor& x) { return wrap_tensor(x); }
inline PyObject* returned(nb::object&& o) { return o.release().ptr(); }
template <class R> PyObject* returned(R&& r) { return nb::cast(std::forward<R>(r)).release().ptr(); }

// Reads what stands beside a function where it is bound.
class PlainReader {
 public:
  PlainReader(Plain& plain, size_t first) : plain_(plain), at_(first) {}
  template <uint32_t F, bool L> void see(const nb::arg_t<F, L>& a) { add(a.name_, F & nb::detail::cast_flags::accepts_none, nullptr); }
  template <uint32_t F, bool L> void see(const nb::arg_v_t<F, L>& a) { add(a.name_, F & nb::detail::cast_flags::accepts_none, a.value.ptr()); }
  void see(nb::kw_only) { plain_.positional = at_; }
  template <class T> void see(const T&) {}   // what a function says of itself

 private:
  void add(const char* name, bool none, PyObject* otherwise) { plain_.describe(at_++, name, none, otherwise); }
  Plain& plain_;
  size_t at_;
};

template <class... A> constexpr size_t count_of([[maybe_unused]] PlainKind kind) {
  return (0 + ... + (Taken<A>::kind == kind));
}
// Whether all parameters are of types that PlainArguments has room for.
template <class R, class... A> constexpr bool is_plain() {
  if constexpr (!(Taken<A>::possible && ...) || sizeof...(A) > Plain::most || std::is_void_v<R>) return false;
  else return count_of<A...>(PlainKind::dims) <= PlainArguments::most_dims && count_of<A...>(PlainKind::text) <= PlainArguments::most_texts && count_of<A...>(PlainKind::tensors) <= 1;
}

// What is compiled for each function; the rest is there once for each list of types.
template <class R, class... A> struct PlainFunction {
  static constexpr bool possible = is_plain<R, A...>();
  Plain::Body body = nullptr;
  const void* f = nullptr;

  template <class Function> explicit PlainFunction(const Function& function) {
    using F = std::decay_t<Function>;
    constexpr bool stateless = std::is_empty_v<F> && std::is_default_constructible_v<F>;
    if constexpr (!stateless) f = new F(function);
    body = [](const void* g, PlainArguments& given) -> PyObject* {
      return [&]<size_t... I>(std::index_sequence<I...>) {
        if constexpr (stateless) return returned(F{}(Taken<A>::get(given, I)...));
        else return returned((*static_cast<const F*>(g))(Taken<A>::get(given, I)...));
      }(std::index_sequence_for<A...>());
    };
  }
  template <class... Extra> Plain& add(nb::handle scope, const char* name, bool method, const Extra&... extra) const {
    static constexpr std::array<PlainType, sizeof...(A)> types{{{Taken<A>::kind, may_be_none<A>}...}};
    Plain& plain = add_plain(scope, name, body, f, types);
    PlainReader reader(plain, method);
    (reader.see(extra), ...);
    return plain;
  }
};

// What nanobind knows of such a function: types and names. Objects go as they are to where its plain calls are made, which converts them.
template <class A> struct Late : Unread {};
template <class R> struct Done { PyObject* object = nullptr; };
template <class R, class... A> struct LateCall {
  const Plain* plain;
  Done<R> operator()(const Late<A>&... args) const {
    const std::array<Unread, sizeof...(A)> all{args...};
    return {call_converting(*plain, all)};
  }
};
template <class R, class... A> LateCall<R, A...> late_call(const Plain& plain, const PlainFunction<R, A...>&) { return {&plain}; }

// The signature of a function, and what is made of it here.
template <class F> struct Shape : Shape<decltype(&F::operator())> {};
template <class R, class... A> struct Shape<R (*)(A...)> { using type = PlainFunction<R, std::remove_cvref_t<A>...>; };
template <class C, class R, class... A> struct Shape<R (C::*)(A...) const> : Shape<R (*)(A...)> {};
template <class F> using PlainOf = typename Shape<std::decay_t<F>>::type;

}  // namespace adjoint::python

NAMESPACE_BEGIN(NB_NAMESPACE)
NAMESPACE_BEGIN(detail)

template <class A> struct has_arg_defaults<adjoint::python::Late<A>> : has_arg_defaults<A> {};
template <class A> struct type_caster<adjoint::python::Late<A>> {
  NB_TYPE_CASTER(adjoint::python::Late<A>, make_caster<remove_opt_mono_t<A>>::Name)
  bool from_python(handle h, uint32_t flags, cleanup_list*) noexcept {
    value = {h.ptr(), flags};
    return true;
  }
};
template <class R> struct type_caster<adjoint::python::Done<R>> {
  static constexpr auto Name = make_caster<R>::Name;
  static handle from_cpp(adjoint::python::Done<R> r, rv_policy, cleanup_list*) noexcept { return r.object; }
};

NAMESPACE_END(detail)
NAMESPACE_END(NB_NAMESPACE)
