// Reference loops of elementwise ops. A functor is the scalar function: struct Sin { template <class T> T operator()(T) const; },
// constructed from the attributes where it has any. kernels-cpu runs the same functors through vector loops.
#pragma once
#include <adjoint/core/iterate.h>

#include <utility>

namespace adjoint {

template <class F> F make_functor(const Attrs& a) {
  if constexpr (std::is_constructible_v<F, const Attrs&>) return F(a);
  else return F{};
}

// The type that all operands have, but for numbers beside half types (Op::keeps_numbers); float, if half types are among them or come to it (InFloat).
inline DType operand_type(const Launch& l) {
  const DType first = l.x[0].dtype, y = l.y[0].dtype;
  if (is_half(y)) return y;
  if (!is_half(first)) return first;
  bool mixed = y == DType::float32;
  for (size_t i = 1; i < l.x.size(); i++) mixed = mixed || l.x[i].dtype != first;
  return mixed ? DType::float32 : first;
}

namespace detail {
template <class T, size_t> using repeat_t = T;

// The types that the reference loops compute in. Integers wrap when they are stored, and half types are rounded then.
constexpr DType wide_type(DType t) {
  if (is_half(t)) return DType::float32;
  return is_integral(t) && t != DType::bool_ && t != DType::uint64 ? DType::int64 : t;
}
template <class F> decltype(auto) with_wide_type(DType t, F&& f) {
  switch (wide_type(t)) {
    case DType::bool_: return f(TypeTag<bool>{});
    case DType::uint64: return f(TypeTag<uint64_t>{});
    case DType::int64: return f(TypeTag<int64_t>{});
    case DType::float32: return f(TypeTag<float>{});
    case DType::float64: return f(TypeTag<double>{});
    case DType::complex64: return f(TypeTag<Complex<float>>{});
    default: return f(TypeTag<Complex<double>>{});
  }
}

// A functor over dense operands of a wide type, and over all elements of l's N inputs.
using DenseLoop = void (*)(char* y, const char* const* x, const void* functor, int64_t n);
template <int N> ADJOINT_API void run_wide(const Launch& l, DenseLoop loop, const void* functor);

template <class F, class C, size_t... I>
void elementwise_typed(const Launch& l, const F& f, std::index_sequence<I...>) {
  if constexpr (std::is_invocable_v<const F&, repeat_t<C, I>...>) {
    using R = std::invoke_result_t<const F&, repeat_t<C, I>...>;
    const auto loop = [](char* y, const char* const* x, const void* functor, int64_t n) {
      for (int64_t i = 0; i < n; i++) reinterpret_cast<R*>(y)[i] = (*static_cast<const F*>(functor))(reinterpret_cast<const C*>(x[I])[i]...);
    };
    run_wide<sizeof...(I)>(l, loop, &f);
  } else {
    fail(ErrorKind::not_implemented, l.op, ": not implemented for ", l.x[0].dtype);
  }
}
}  // namespace detail

// All operands of one type; the result has the functor's type (the operands' type where that is what it computes).
template <class F, int N>
void elementwise(const Launch& l) {
  const F f = make_functor<F>(l.attrs);
  constexpr auto inputs = std::make_index_sequence<N>{};
  switch (detail::wide_type(operand_type(l))) {
    case DType::bool_: return detail::elementwise_typed<F, bool>(l, f, inputs);
    case DType::uint64: return detail::elementwise_typed<F, uint64_t>(l, f, inputs);
    case DType::int64: return detail::elementwise_typed<F, int64_t>(l, f, inputs);
    case DType::float32: return detail::elementwise_typed<F, float>(l, f, inputs);
    case DType::float64: return detail::elementwise_typed<F, double>(l, f, inputs);
    case DType::complex64: return detail::elementwise_typed<F, Complex<float>>(l, f, inputs);
    default: return detail::elementwise_typed<F, Complex<double>>(l, f, inputs);
  }
}

// f(bool, a, b...): a mask first, then N - 1 operands of one type (where, masked_fill).
template <class F, int N>
void masked_elementwise(const Launch& l) {
  with_type(l.x[1].dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const F f = make_functor<F>(l.attrs);
    if constexpr (N == 2) {
      const View* const v[] = {&l.y[0], &l.x[0], &l.x[1]};
      for_rows(v, [&](char* const* p, const int64_t* s, int64_t n) {
        for (int64_t i = 0; i < n; i++)
          *reinterpret_cast<T*>(p[0] + i * s[0]) = f(*reinterpret_cast<const bool*>(p[1] + i * s[1]), *reinterpret_cast<const T*>(p[2] + i * s[2]));
      });
    } else {
      const View* const v[] = {&l.y[0], &l.x[0], &l.x[1], &l.x[2]};
      for_rows(v, [&](char* const* p, const int64_t* s, int64_t n) {
        for (int64_t i = 0; i < n; i++)
          *reinterpret_cast<T*>(p[0] + i * s[0]) =
              f(*reinterpret_cast<const bool*>(p[1] + i * s[1]), *reinterpret_cast<const T*>(p[2] + i * s[2]), *reinterpret_cast<const T*>(p[3] + i * s[3]));
      });
    }
  });
}

}  // namespace adjoint
