// Scalar functions of comparisons, logic and bits.
#pragma once
#include <adjoint/core/functors/number.h>

namespace adjoint::functors {

struct Eq { template <class T> bool operator()(T a, T b) const { return a == b; } };
struct Ne { template <class T> bool operator()(T a, T b) const { return !(a == b); } };
struct Lt { template <Ordered T> bool operator()(T a, T b) const { return a < b; } };
struct Le { template <Ordered T> bool operator()(T a, T b) const { return a <= b; } };
struct Gt { template <Ordered T> bool operator()(T a, T b) const { return a > b; } };
struct Ge { template <Ordered T> bool operator()(T a, T b) const { return a >= b; } };

struct LogicalAnd { template <class T> bool operator()(T a, T b) const { return is_nonzero(a) & is_nonzero(b); } };
struct LogicalOr { template <class T> bool operator()(T a, T b) const { return is_nonzero(a) | is_nonzero(b); } };
struct LogicalXor { template <class T> bool operator()(T a, T b) const { return is_nonzero(a) != is_nonzero(b); } };

struct BitwiseAnd { template <std::integral T> T operator()(T a, T b) const { return static_cast<T>(a & b); } };
struct BitwiseOr { template <std::integral T> T operator()(T a, T b) const { return static_cast<T>(a | b); } };
struct BitwiseXor { template <std::integral T> T operator()(T a, T b) const { return static_cast<T>(a ^ b); } };

// By a negative number or by all bits, every bit leaves.
template <Integer T> bool leaves_nothing(T shift) {
  if constexpr (std::is_signed_v<T>) {
    if (shift < 0) return true;
  }
  return shift >= static_cast<T>(8 * sizeof(T));
}
struct BitwiseLeftShift {
  template <Integer T> T operator()(T a, T b) const {
    return leaves_nothing(b) ? T(0) : static_cast<T>(static_cast<Wrapping<T>>(a) << b);
  }
};
struct BitwiseRightShift {
  template <Integer T> T operator()(T a, T b) const {
    return leaves_nothing(b) ? (a < T(0) ? static_cast<T>(-1) : T(0)) : static_cast<T>(a >> b);
  }
};

}  // namespace adjoint::functors
