// Typed derivative rules: a lambda's parameter list says what the graph saves.
#pragma once
#include <adjoint/core/attrs.h>
#include <adjoint/core/tensor.h>

#include <array>
#include <new>

namespace adjoint {

struct InputMeta {
  Dims sizes;
  DType dtype;
  Device device;
  bool transposed = false;            // matrices that lie in memory column by column
};

// One application of an op, as its rules see it.
struct Call {
  Tensors x;                          // saved inputs (others are empty)
  Tensors y;                          // saved outputs
  Tensors v;                          // per output: cotangents; or, for a jvp rule, one tangent
  std::span<const InputMeta> inputs;
  const Attrs& attrs;
  int which;                          // the input the rule is for
  Tensor* made = nullptr;             // where a rule may leave the cotangents of the first `max_outputs` inputs, if it has them anyway
};

// What a rule may name. Tensors are only looked at: a copy of each would be a sixth of a rule's code.
namespace detail {
struct Direction : Tensor {};
template <int I> struct Input : Tensor {};
template <int I> struct Output : Tensor {};
}  // namespace detail
using V = const detail::Direction&;                     // the tangent, or the cotangent of output 0
template <int I> using X = const detail::Input<I>&;     // input I
template <int I = 0> using Y = const detail::Output<I>&;   // output I
template <int I> struct XShape { const Dims& sizes; DType dtype; bool transposed; };
struct Cotangents { Tensors v; };                       // of all outputs; absent ones are empty
struct Inputs { Tensors x; };                           // all inputs of a variadic op
struct Shapes { std::span<const InputMeta> x; };
struct Which { int i; };
struct Others { Tensor* made; };                        // `Call::made`

constexpr uint64_t saves_input(int i) { return uint64_t(1) << i; }
constexpr uint64_t saves_output(int i) { return uint64_t(1) << (32 + i); }
constexpr uint64_t saves_all_inputs = uint64_t(1) << 63;

constexpr int max_outputs = 3;
struct Rule {
  void (*f)(const Call&, Tensor* result) = nullptr;   // result: as many empty tensors as it may give
  uint64_t saves = 0;
  bool has_steps = false;                             // many, and it names elements, not shapes: an elementwise operation's may go by tiles
  explicit operator bool() const { return f; }
};
// An elementwise operation's rule of many steps on large operands: all steps for some elements before the next ones, while they are in the cache.
// False where operands are not plain memory of one shape.
ADJOINT_API bool call_by_tiles(const Rule& f, const Call& c, Tensor* result);

namespace detail {
template <class P> struct Param {  // anything else is the attribute struct
  static constexpr uint64_t saves = 0;
  static const P& get(const Call& c) { return c.attrs.as<P>(); }
};
template <> struct Param<Direction> {
  static constexpr uint64_t saves = 0;
  static V get(const Call& c) { return static_cast<V>(c.v[0]); }
};
template <int I> struct Param<Input<I>> {
  static constexpr uint64_t saves = saves_input(I);
  static X<I> get(const Call& c) { return static_cast<X<I>>(c.x[I]); }
};
template <int I> struct Param<Output<I>> {
  static constexpr uint64_t saves = saves_output(I);
  static Y<I> get(const Call& c) { return static_cast<Y<I>>(c.y[I]); }
};
template <int I> struct Param<XShape<I>> {
  static constexpr uint64_t saves = 0;
  static constexpr bool names_shapes = true;
  static XShape<I> get(const Call& c) { return {c.inputs[I].sizes, c.inputs[I].dtype, c.inputs[I].transposed}; }
};
template <> struct Param<Cotangents> {
  static constexpr uint64_t saves = 0;
  static Cotangents get(const Call& c) { return {c.v}; }
};
template <> struct Param<Inputs> {
  static constexpr uint64_t saves = saves_all_inputs;
  static Inputs get(const Call& c) { return {c.x}; }
};
template <> struct Param<Shapes> {
  static constexpr uint64_t saves = 0;
  static constexpr bool names_shapes = true;
  static Shapes get(const Call& c) { return {c.inputs}; }
};
template <> struct Param<Others> {
  static constexpr uint64_t saves = 0;
  static Others get(const Call& c) { return {c.made}; }
};
template <> struct Param<Which> {
  static constexpr uint64_t saves = 0;
  static Which get(const Call& c) { return {c.which}; }
};

template <class F, class R, class... P> constexpr Rule make_rule(R (F::*)(P...) const) {
  return {[](const Call& c, Tensor* result) {
            if constexpr (std::is_base_of_v<Tensor, R>) {
              *result = F{}(Param<std::decay_t<P>>::get(c)...);   // not made in its place: what a rule that throws had made there would be freed again
            } else {
              auto r = F{}(Param<std::decay_t<P>>::get(c)...);
              for (size_t i = 0; i < r.size(); i++) result[i] = std::move(r[i]);  // a jvp of several outputs
            }
          },
          (uint64_t(0) | ... | Param<std::decay_t<P>>::saves)};
}

template <class P> constexpr bool names_shapes = requires { Param<P>::names_shapes; };
template <class F, class R, class... P> constexpr bool names_elements_alone(R (F::*)(P...) const) { return !(names_shapes<std::decay_t<P>> || ...); }

// Calls f, with what it names of half types (by `saves`) in float.
ADJOINT_API void call_in_float(const Rule& f, const Call& c, Tensor* result);
}  // namespace detail

// rule([](V v, X<0> x) { return v * cos(x); })
template <class F> constexpr Rule rule(F) { return detail::make_rule(&F::operator()); }

// The same for a rule of many steps: what is of a half type comes to it as float, and its result is rounded once, where it leaves.
// A product with one other factor is no such rule: two roundings cost less than the conversions.
template <class F> constexpr Rule wide_rule(F) {
  constexpr Rule narrow = detail::make_rule(&F::operator());
  return {[](const Call& c, Tensor* result) { detail::call_in_float(detail::make_rule(&F::operator()), c, result); }, narrow.saves, detail::names_elements_alone(&F::operator())};
}

}  // namespace adjoint
