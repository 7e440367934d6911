// Comparisons, logic and bits: nothing here has a derivative.
#include <adjoint/core/elementwise.h>
#include <adjoint/core/functors/compare.h>
#include <adjoint/core/ops.h>
#include <adjoint/core/types.h>

#include "families.h"

namespace adjoint {

const Op op_eq{.name = "eq", .types = types::compared,
    .doc = "Whether `a == b`, elementwise.", .reference = elementwise<functors::Eq, 2>};
Tensor eq(const Tensor& a, const Tensor& b) { return apply(op_eq, {a, b}); }

const Op op_ne{.name = "ne", .types = types::compared,
    .doc = "Whether `a != b`, elementwise.", .reference = elementwise<functors::Ne, 2>};
Tensor ne(const Tensor& a, const Tensor& b) { return apply(op_ne, {a, b}); }

const Op op_lt{.name = "lt", .types = types::compared,
    .doc = "Whether `a < b`, elementwise.", .reference = elementwise<functors::Lt, 2>};
Tensor lt(const Tensor& a, const Tensor& b) { return apply(op_lt, {a, b}); }

const Op op_le{.name = "le", .types = types::compared,
    .doc = "Whether `a <= b`, elementwise.", .reference = elementwise<functors::Le, 2>};
Tensor le(const Tensor& a, const Tensor& b) { return apply(op_le, {a, b}); }

const Op op_gt{.name = "gt", .types = types::compared,
    .doc = "Whether `a > b`, elementwise.", .reference = elementwise<functors::Gt, 2>};
Tensor gt(const Tensor& a, const Tensor& b) { return apply(op_gt, {a, b}); }

const Op op_ge{.name = "ge", .types = types::compared,
    .doc = "Whether `a >= b`, elementwise.", .reference = elementwise<functors::Ge, 2>};
Tensor ge(const Tensor& a, const Tensor& b) { return apply(op_ge, {a, b}); }

const Op op_logical_and{.name = "logical_and", .types = types::compared,
    .doc = "Whether `a` and `b` are both nonzero, elementwise.", .reference = elementwise<functors::LogicalAnd, 2>};
Tensor logical_and(const Tensor& a, const Tensor& b) { return apply(op_logical_and, {a, b}); }

const Op op_logical_or{.name = "logical_or", .types = types::compared,
    .doc = "Whether `a` or `b` is nonzero, elementwise.", .reference = elementwise<functors::LogicalOr, 2>};
Tensor logical_or(const Tensor& a, const Tensor& b) { return apply(op_logical_or, {a, b}); }

const Op op_logical_xor{.name = "logical_xor", .types = types::compared,
    .doc = "Whether exactly one of `a` and `b` is nonzero, elementwise.", .reference = elementwise<functors::LogicalXor, 2>};
Tensor logical_xor(const Tensor& a, const Tensor& b) { return apply(op_logical_xor, {a, b}); }

const Op op_bitwise_and{.name = "bitwise_and", .types = types::promoted,
    .doc = "Bits set in both `a` and `b`.", .reference = elementwise<functors::BitwiseAnd, 2>};
Tensor bitwise_and(const Tensor& a, const Tensor& b) { return apply(op_bitwise_and, {a, b}); }

const Op op_bitwise_or{.name = "bitwise_or", .types = types::promoted,
    .doc = "Bits set in `a` or `b`.", .reference = elementwise<functors::BitwiseOr, 2>};
Tensor bitwise_or(const Tensor& a, const Tensor& b) { return apply(op_bitwise_or, {a, b}); }

const Op op_bitwise_xor{.name = "bitwise_xor", .types = types::promoted,
    .doc = "Bits set in exactly one of `a` and `b`.", .reference = elementwise<functors::BitwiseXor, 2>};
Tensor bitwise_xor(const Tensor& a, const Tensor& b) { return apply(op_bitwise_xor, {a, b}); }

const Op op_bitwise_left_shift{.name = "bitwise_left_shift", .types = types::promoted,
    .doc = "The bits of `a` moved up by `b`.", .reference = elementwise<functors::BitwiseLeftShift, 2>};
Tensor bitwise_left_shift(const Tensor& a, const Tensor& b) { return apply(op_bitwise_left_shift, {a, b}); }

const Op op_bitwise_right_shift{.name = "bitwise_right_shift", .types = types::promoted,
    .doc = "The bits of `a` moved down by `b`, the sign kept.", .reference = elementwise<functors::BitwiseRightShift, 2>};
Tensor bitwise_right_shift(const Tensor& a, const Tensor& b) { return apply(op_bitwise_right_shift, {a, b}); }

const Op* const compare_ops[] = {
    &op_bitwise_and, &op_bitwise_left_shift, &op_bitwise_or, &op_bitwise_right_shift, &op_bitwise_xor, &op_eq, &op_ge, &op_gt, &op_le,
    &op_logical_and, &op_logical_or, &op_logical_xor, &op_lt, &op_ne,
};
Ops families::compare() { return compare_ops; }

}  // namespace adjoint
