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

namespace detail {
template <class T, size_t> using repeat_t = T;

template <class F, class T, size_t... I>
void elementwise_typed(const Launch& l, std::index_sequence<I...>) {
  using C = compute_t<T>;
  if constexpr (std::is_invocable_v<const F&, repeat_t<C, I>...>) {
    using R = std::invoke_result_t<const F&, repeat_t<C, I>...>;
    using Out = std::conditional_t<std::is_same_v<R, C>, T, R>;
    const F f = make_functor<F>(l.attrs);
    const View* const v[] = {&l.y[0], &l.x[I]...};
    for_rows(v, [&](char* const* p, const int64_t* s, int64_t n) {
      for (int64_t i = 0; i < n; i++)
        *reinterpret_cast<Out*>(p[0] + i * s[0]) = convert<Out>(f(convert<C>(*reinterpret_cast<const T*>(p[1 + I] + i * s[1 + I]))...));
    });
  } else {
    fail(ErrorKind::not_implemented, l.op, ": not implemented for ", l.x[0].dtype);
  }
}
}  // namespace detail

// All operands of one type; the result has the functor's type (the operands' type where that is what it computes).
template <class F, int N>
void elementwise(const Launch& l) {
  with_type(l.x[0].dtype, [&](auto tag) { detail::elementwise_typed<F, typename decltype(tag)::type>(l, std::make_index_sequence<N>{}); });
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
