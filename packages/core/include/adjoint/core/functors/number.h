// What scalar functions ask of their operands' type, and integer arithmetic that wraps.
#pragma once
#include <adjoint/core/attrs.h>
#include <adjoint/core/complex.h>
#include <adjoint/core/op_attrs.h>

#include <concepts>
#include <type_traits>

namespace adjoint::functors {

template <class T> concept Real = std::floating_point<T>;
template <class T> concept Field = Real<T> || is_complex_v<T>;
template <class T> concept Integer = std::integral<T> && !std::is_same_v<T, bool>;
template <class T> concept Number = Integer<T> || Field<T>;
template <class T> concept Ordered = std::integral<T> || Real<T>;

// The unsigned type that arithmetic on integers T is done in: signed overflow is undefined, and small types become int.
template <Integer T> using Wrapping = std::make_unsigned_t<std::common_type_t<T, int>>;

template <class T> bool is_nan(T x) {
  if constexpr (is_complex_v<T>) return x.re != x.re || x.im != x.im;
  else return x != x;
}
template <class T> bool is_nonzero(T x) {
  if constexpr (is_complex_v<T>) return x.re != 0 || x.im != 0;
  else return x != T(0);
}

}  // namespace adjoint::functors
