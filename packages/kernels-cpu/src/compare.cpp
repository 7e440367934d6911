// Comparisons, logic and bits.
#include <adjoint/core/functors/compare.h>

#include "elementwise.h"

namespace adjoint::cpu {

namespace {

using namespace functors;

template <class F> constexpr Kernel compare = kernel_all_widths<F, 2>;
template <class F> constexpr Kernel logic = kernel_for<F, 2, Cost::cheap, bool, float, double, int32_t, int64_t>;
template <class F> constexpr Kernel bits = kernel_for<F, 2, Cost::cheap, bool, uint8_t, int8_t, int16_t, int32_t, int64_t>;
template <class F> constexpr Kernel shift = kernel_for<F, 2, Cost::cheap, int16_t, int32_t, int64_t>;

constexpr Entry entries[] = {
    {"bitwise_and", bits<BitwiseAnd>},
    {"bitwise_left_shift", shift<BitwiseLeftShift>},
    {"bitwise_or", bits<BitwiseOr>},
    {"bitwise_right_shift", shift<BitwiseRightShift>},
    {"bitwise_xor", bits<BitwiseXor>},
    {"eq", compare<Eq>},
    {"ge", compare<Ge>},
    {"gt", compare<Gt>},
    {"le", compare<Le>},
    {"logical_and", logic<LogicalAnd>},
    {"logical_or", logic<LogicalOr>},
    {"logical_xor", logic<LogicalXor>},
    {"lt", compare<Lt>},
    {"ne", compare<Ne>},
};

}  // namespace

Entries compare_kernels() { return entries; }

}  // namespace adjoint::cpu
