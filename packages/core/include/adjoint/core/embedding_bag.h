// Bags: the rows of a table that lists name, taken together.
#pragma once
#include <adjoint/core/op.h>
#include <adjoint/core/op_fields.h>

#include <vector>

namespace adjoint {

enum class BagMode : int { sum, mean, max };
// rows: of the transposed sum's result. padding: a row that does not count (-1: none). closed: the last offset ends the last bag.
struct Bags { int64_t rows, padding; int mode; bool closed; };
inline void describe(const Bags& a, FieldList& f) { f.add("rows", a.rows); f.add("padding", a.padding); f.add("mode", a.mode); f.add("closed", a.closed); }

extern const Op op_embedding_bag, op_embedding_bag_vjp;

// Where each bag begins in the list, and where the last one ends; raises unless all rows are of `rows` and bags follow each other.
ADJOINT_API std::vector<int64_t> bag_bounds(const View& index, const View& offsets, int64_t rows, const Bags& a);

// What each bag makes of the rows of `weight`, (rows, features), that its part of `index` names. Bags are the rows of a 2-d `index`; of a 1-d
// one they begin at `offsets`. `weights`, of index's sizes, multiply the rows of a sum. Empty bags give 0.
ADJOINT_API Tensor embedding_bag(const Tensor& weight, const Tensor& index, const Tensor& offsets, const Tensor& weights, BagMode mode, int64_t padding_idx, bool include_last_offset);

}  // namespace adjoint
