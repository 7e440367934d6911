// Comparisons, logic and bits.
#include <adjoint/core/functors/compare.h>
#include <adjoint/core/functors/unary.h>

#include "by_bits.h"
#include "elementwise.h"

namespace adjoint::cpu {

namespace {

using namespace functors;

template <class F> constexpr Kernel compare = kernel_all_widths<F, 2>;
template <class F> constexpr Kernel bits = kernel_for<F, 2, Cost::cheap, bool, uint8_t, int8_t, int16_t, int32_t, int64_t>;
template <class F> constexpr Kernel shift = kernel_for<F, 2, Cost::cheap, int16_t, int32_t, int64_t>;

// A number is true where a bit is set that is no sign.
template <class F> struct OfBits {
  static constexpr bool narrow = true;
  uint64_t signs;
  template <std::unsigned_integral T> bool operator()(T a) const { return F{}((a & static_cast<T>(~signs)) != 0); }
  template <std::unsigned_integral T> bool operator()(T a, T b) const { return F{}((a & static_cast<T>(~signs)) != 0, (b & static_cast<T>(~signs)) != 0); }
};
template <class F, int N> void logic(const Launch& l) {
  if (l.x[0].dtype == DType::complex128) return reference(l);
  const OfBits<F> f{sign_bits(l.x[0].dtype)};
  run_bits<OfBits<F>, N, uint8_t, uint16_t, uint32_t, uint64_t>(l, l.y[0], f);
}

// A loop that makes bools of bools is no vector.
void bitwise_not(const Launch& l) {
  l.x[0].dtype == DType::bool_ ? logic<LogicalNot, 1>(l) : kernel_for<BitwiseNot, 1, Cost::cheap, uint8_t, int32_t, int64_t>(l);
}

constexpr Entry entries[] = {
    {"bitwise_and", bits<BitwiseAnd>},
    {"bitwise_left_shift", shift<BitwiseLeftShift>},
    {"bitwise_not", bitwise_not},
    {"bitwise_or", bits<BitwiseOr>},
    {"bitwise_right_shift", shift<BitwiseRightShift>},
    {"bitwise_xor", bits<BitwiseXor>},
    {"eq", compare<Eq>},
    {"ge", compare<Ge>},
    {"gt", compare<Gt>},
    {"le", compare<Le>},
    {"logical_and", logic<LogicalAnd, 2>},
    {"logical_not", logic<LogicalNot, 1>},
    {"logical_or", logic<LogicalOr, 2>},
    {"logical_xor", logic<LogicalXor, 2>},
    {"lt", compare<Lt>},
    {"ne", compare<Ne>},
};

}  // namespace

Entries compare_kernels() { return entries; }

}  // namespace adjoint::cpu
