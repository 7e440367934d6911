// What each record does to sparse operands, by its name: compositions of the dense operations on indices and values.
#include "sparse_kernels.h"

#include <adjoint/core/cuda/graph.h>
#include <adjoint/core/types.h>

#include <map>
#include <string_view>

namespace adjoint {

namespace sparse {

namespace {

bool is(const Tensor& t) { return t->keys & key_sparse; }
Tensor row(const Tensor& indices, int d) { return select(indices, 0, d); }
Tensor columns(const Tensor& indices, const Tensor& which) { return index_select(indices, 1, which); }
Tensor places_where(const Tensor& condition) { return select(nonzero(condition), 1, 0); }

Tensor with_values(const Tensor& x, const Tensor& values) {
  const Sparse& s = sparse_of(*x);
  return make_sparse(values, s.indices, x.sizes(), s.coalesced);
}

}  // namespace

Tensor flat(const Tensor& indices, const Dims& sizes) {
  Tensor r = zeros({indices.size(1)}, DType::int64, indices.device());
  for (int d = 0; d < indices.size(0); d++) r = add(mul(r, wrapped(sizes[d])), row(indices, d));
  return r;
}
Tensor positions(const Tensor& flat, const Dims& sizes, int dims) {
  const Tensor r = empty({dims, flat.numel()}, DType::int64, flat.device());
  Tensor rest = flat;
  for (int d = dims - 1; d >= 0 && flat.numel() > 0; d--) {
    copy_(row(r, d), remainder(rest, wrapped(sizes[d])));
    rest = floor_divide(rest, wrapped(sizes[d]));
  }
  return r;
}

Tensor grouped(const Tensor& values, const Tensor& group, int64_t places) {
  const DType t = values.dtype(), wide = t == DType::bool_ ? DType::int64 : t;
  Dims sizes = values.sizes();
  sizes[0] = places;
  return to_dtype(index_add(zeros(sizes, wide, values.device()), 0, group, to_dtype(values, wide)), t);
}

Tensor sorted(const Tensor& x) { return sparse_of(*x).coalesced ? x : coalesced(sparse_of(*x), x.sizes()); }

Tensor coalesced(const Sparse& s, const Dims& sizes) {
  cuda::expect_values(s.values, "coalesce");
  const Unique u = unique(flat(s.indices, sizes));
  return make_sparse(grouped(s.values, u.inverse, u.values.numel()), positions(u.values, sizes, static_cast<int>(s.indices.size(0))), sizes, true);
}

namespace {

// ---- between the layouts

Tensor add_into(const Tensor& dense, const Tensor& x) {
  const Sparse& s = sparse_of(*x);
  const TensorVector at = unbind(s.indices, 0);
  return at.empty() ? add(dense, sum(s.values, Dims{0})) : index_put(dense, at, s.values, true);
}

Tensor run_to_dense(const Op&, Tensors x, const Attrs&) {
  const Tensor s = x[0].dtype() == DType::bool_ ? sorted(x[0]) : x[0];   // bools do not add
  if (s.dtype() == DType::bool_) return to_dtype(add_into(zeros(s.sizes(), DType::uint8, s.device()), with_values(s, to_dtype(sparse_of(*s).values, DType::uint8))), DType::bool_);
  return add_into(zeros(s.sizes(), s.dtype(), s.device()), s);
}

Tensor run_to_sparse(const Op&, Tensors given, const Attrs& attrs) {
  const Tensor& x = given[0];
  const auto& [dims, c] = attrs.as<Sparsity>();
  cuda::expect_values(x, "to_sparse");
  Tensor there = ne(x, zeros({}, x.dtype()));
  Dims dense;
  for (int d = dims; d < x.dim(); d++) dense.push_back(d);
  if (!dense.empty()) there = any(there, dense);
  if (c.in_blocks()) there = where_blocks(there, c);
  const Tensor indices = contiguous(transpose(nonzero(there), 0, 1));
  if (c) expect_equal_batches(indices, x.sizes());
  return make_sparse(sparse_at(x, indices), indices, x.sizes(), true, c);
}

Tensor run_copy(const Op&, Tensors x, const Attrs&) { return to_dense(x[1]); }
Tensor run_coalesce(const Op&, Tensors x, const Attrs&) { return coalesced(sparse_of(*x[0]), x[0].sizes()); }
Tensor run_values(const Op&, Tensors x, const Attrs&) { return alias_of(sparse_of(*x[0]).values); }
Tensor run_identity(const Op&, Tensors x, const Attrs&) { return x[0]; }
Tensor run_clone(const Op&, Tensors x, const Attrs&) {
  const Sparse& s = sparse_of(*x[0]);
  return make_sparse(clone(s.values), clone(s.indices), x[0].sizes(), s.coalesced);
}

}  // namespace

Tensor values_at(const Tensor& given, const Tensor& indices) {
  const Tensor x = sorted(given);
  const Sparse& s = sparse_of(*x);
  Dims sizes = s.values.sizes(), one(sizes.size(), 1);
  sizes[0] = one[0] = indices.size(1);
  if (s.indices.size(1) == 0) return zeros(sizes, x.dtype(), x.device());
  const Tensor have = flat(s.indices, x.sizes()), want = flat(indices, x.sizes());
  const Tensor at = clamp(searchsorted(have, want), {}, wrapped(have.numel() - 1));
  return masked_fill(index_select(s.values, 0, at), reshape(ne(index_select(have, 0, at), want), one), zeros({}, x.dtype()));
}

namespace {

Tensor run_at(const Op&, Tensors x, const Attrs&) { return values_at(x[0], x[1]); }

// ---- element by element

Tensor on_values(const Op& op, const Tensor& x, const Attrs& attrs) {
  Tensor y[max_outputs];
  run(op, {&sparse_of(*x).values, 1}, attrs, y);
  return with_values(x, y[0]);
}
Tensor linear(const Op& op, Tensors x, const Attrs& attrs) { return on_values(op, x[0], attrs); }
Tensor keeping_zero(const Op& op, Tensors x, const Attrs& attrs) { return on_values(op, sorted(x[0]), attrs); }

// op(x, other), linear in x.
Tensor where_first(const Op& op, const Tensor& given, const Tensor& other, const Attrs& attrs, bool swapped = false) {
  const Tensor x = other.dim() > 0 ? sorted(given) : given;
  const Sparse& s = sparse_of(*x);
  Tensor beside = other;
  if (other.dim() > 0) {
    expect(broadcast(x.sizes(), other.sizes(), op.name) == x.sizes(), ErrorKind::not_implemented, op.name, ": a sparse tensor cannot be broadcast, got shapes ", x.sizes(), " and ", other.sizes());
    beside = is(other) ? values_at(other, s.indices) : sparse_at(expand(other, x.sizes()), s.indices);
  }
  const Tensor operands[] = {swapped ? beside : s.values, swapped ? s.values : beside};
  Tensor y[max_outputs];
  run(op, operands, attrs, y);
  return with_values(x, y[0]);
}
Tensor product(const Op& op, Tensors x, const Attrs& attrs) {
  const bool second = !is(x[0]) || (is(x[1]) && sparse_of(*x[1]).indices.size(1) < sparse_of(*x[0]).indices.size(1));
  return where_first(op, x[second], x[!second], attrs, second);
}
Tensor linear_in_first(const Op& op, Tensors x, const Attrs& attrs) {
  if (is(x[0])) return where_first(op, x[0], x[1], attrs);
  Tensor y[max_outputs];
  run(op, std::initializer_list<Tensor>{x[0], to_dense(x[1])}, attrs, y);
  return y[0];
}
Tensor power(const Op& op, Tensors x, const Attrs& attrs) {
  expect(x[1].dim() == 0 && !is(x[1]) && !is_complex(x[1].dtype()) && item(x[1]).to<double>() > 0, ErrorKind::not_implemented,
         "pow: a sparse tensor needs one positive exponent; use to_dense() first");
  return where_first(op, sorted(x[0]), x[1], attrs);
}

bool same_positions(const Tensor& a, const Tensor& b) {
  if (a.numel() != b.numel()) return false;
  return a->data == b->data || (a.device().type == DeviceType::cpu && item(all(eq(a, b))).to<bool>());
}

// add and sub: two sparse tensors joined, or a dense one with the sparse one added.
Tensor sum_of(const Op& op, Tensors x, const Attrs& attrs) {
  const DType t = op.types(x, attrs).out[0];
  const Tensor a = to_dtype(x[0], t), b = to_dtype(std::string_view(op.name) == "sub" ? neg(x[1]) : x[1], t);
  if (!is(a) || !is(b)) {
    const Tensor &dense = is(a) ? b : a, &s = is(a) ? a : b;
    return dense.sizes() == s.sizes() ? add_into(dense, s) : add(dense, to_dense(s));
  }
  const Sparse &p = sparse_of(*a), &q = sparse_of(*b);
  expect(a.sizes() == b.sizes() && p.indices.size(0) == q.indices.size(0), ErrorKind::shape, op.name, ": expected sizes of two sparse tensors to match, got ", a.sizes(), " and ", b.sizes());
  if (p.coalesced && q.coalesced && same_positions(p.indices, q.indices)) return with_values(a, add(p.values, q.values));
  const Tensor values[] = {p.values, q.values}, indices[] = {p.indices, q.indices};
  const Tensor y = make_sparse(cat(values), cat(indices, 1), a.sizes(), false);
  return p.coalesced && q.coalesced ? sorted(y) : y;
}

// ---- whole tensors

Tensor run_sum(const Op& op, Tensors given, const Attrs& attrs) {
  const auto& [dims, keepdim] = attrs.as<Reduce>();
  const Tensor x = given[0];
  const Sparse& s = sparse_of(*x);
  const int sparse_dims = static_cast<int>(s.indices.size(0));
  Dims kept_rows, within, sizes;
  bool reduces_rows = false;
  for (int d = 0; d < x.dim(); d++) {
    const bool away = dims.contains(d);
    if (!away || keepdim) sizes.push_back(away ? 1 : x.size(d));
    if (d < sparse_dims && away) reduces_rows = true;
    else if (d < sparse_dims) kept_rows.push_back(d);
    else if (away) within.push_back(d - sparse_dims + 1);
  }
  const DType t = op.types(given, attrs).out[0];
  Tensor values = to_dtype(s.values, t);
  if (kept_rows.empty()) {
    if (reduces_rows) within.insert(0, 0);
    return reshape(sum(values, within), sizes);
  }
  if (!within.empty()) values = sum(values, within, keepdim);
  TensorVector rows;
  for (int d = 0; d < sparse_dims; d++)
    if (!dims.contains(d)) rows.push_back(row(s.indices, d));
    else if (keepdim) rows.push_back(zeros({s.indices.size(1)}, DType::int64, x.device()));
  return sorted(make_sparse(values, stack(rows), sizes, s.coalesced && !reduces_rows));
}

Tensor run_any(const Op&, Tensors x, const Attrs& attrs) {
  expect(attrs.as<Reduce>().dims.size() == x[0].dim(), ErrorKind::not_implemented, "any: only over all dimensions of a sparse tensor");
  return any(sparse_of(*sorted(x[0])).values);
}

Tensor run_norm(const Op& op, Tensors x, const Attrs& attrs) {
  const VectorNorm& a = attrs.as<VectorNorm>();
  expect(a.dims.size() == x[0].dim() && a.p > 0, ErrorKind::not_implemented, op.name, ": only of a positive order and over all dimensions of a sparse tensor");
  return vector_norm(sparse_of(*sorted(x[0])).values, a.p);
}

// Columns of indices and values that stand at one position of a sparse dimension.
Tensor run_select(const Op&, Tensors given, const Attrs& attrs) {
  const At& a = attrs.as<At>();
  const Tensor x = sorted(given[0]);
  const Sparse& s = sparse_of(*x);
  Dims sizes = x.sizes();
  sizes.erase(a.dim);
  const int rows = static_cast<int>(s.indices.size(0));
  if (a.dim >= rows) return make_sparse(select(s.values, a.dim - rows + 1, a.index), s.indices, sizes, true);
  cuda::expect_values(s.indices, "select");
  const Tensor which = places_where(eq(row(s.indices, a.dim), wrapped(a.index)));
  TensorVector left;
  for (int d = 0; d < rows; d++)
    if (d != a.dim) left.push_back(row(s.indices, d));
  const Tensor values = index_select(s.values, 0, which);
  if (left.empty()) return sum(values, Dims{0});
  return make_sparse(values, columns(stack(left), which), sizes, true);
}

Tensor run_slice(const Op&, Tensors x, const Attrs& attrs) {
  const Sparse& s = sparse_of(*x[0]);
  const Slice& a = attrs.as<Slice>();
  const int rows = static_cast<int>(s.indices.size(0));
  Dims sizes = x[0].sizes();
  sizes[a.dim] = (a.stop - a.start + a.step - 1) / a.step;
  if (a.dim >= rows) return make_sparse(contiguous(slice(s.values, a.dim - rows + 1, a.start, a.stop, a.step)), s.indices, sizes, s.coalesced);
  cuda::expect_values(s.indices, "slice");
  const Tensor from_start = sub(row(s.indices, a.dim), wrapped(a.start));
  const Tensor inside = logical_and(ge(from_start, wrapped(int64_t{0})), lt(from_start, wrapped(a.stop - a.start)));
  const Tensor which = places_where(logical_and(inside, eq(remainder(from_start, wrapped(a.step)), wrapped(int64_t{0}))));
  const Tensor indices = columns(s.indices, which);
  copy_(row(indices, a.dim), floor_divide(index_select(from_start, 0, which), wrapped(a.step)));
  return make_sparse(index_select(s.values, 0, which), indices, sizes, s.coalesced);
}

// The sparse dimensions are those in front: of all ways to part the new sizes, the one that leaves dense dimensions as they are, else the one with most.
Tensor run_view(const Op& op, Tensors x, const Attrs& attrs) {
  const Sparse& s = sparse_of(*x[0]);
  const Dims& to = attrs.as<Sizes>().sizes;
  const int rows = static_cast<int>(s.indices.size(0)), dense = x[0].dim() - rows;
  Dims before, values{s.values.size(0)};
  for (int d = 0; d < rows; d++) before.push_back(x[0].size(d));
  int parted = -1;
  int64_t places = 1, wanted = 1;
  for (int64_t n : before) wanted *= n;
  for (int d = 0; d <= to.size(); d++) {
    if (places == wanted && parted != to.size() - dense) parted = d;
    if (d < to.size()) places *= to[d];
  }
  expect(parted > 0, ErrorKind::not_implemented, op.name, ": elements of sparse and of dense dimensions cannot be exchanged, got shape ", to, " for ", x[0].sizes(), " with ", rows, " sparse dimensions");
  for (int d = parted; d < to.size(); d++) values.push_back(to[d]);
  return make_sparse(reshape(s.values, values), positions(flat(s.indices, before), to, parted), to, s.coalesced);
}

Tensor permuted(const Tensor& x, const Dims& order, const char* op) {
  const Sparse& s = sparse_of(*x);
  const int rows = static_cast<int>(s.indices.size(0));
  Dims sizes, values{0};
  bool same = true;
  TensorVector at;
  for (int d = 0; d < order.size(); d++) {
    const int from = static_cast<int>(order[d]);
    expect((d < rows) == (from < rows), ErrorKind::not_implemented, op, ": exchanging sparse and dense dimensions is not supported");
    sizes.push_back(x.size(from));
    same = same && (d >= rows || d == from);
    if (d < rows) at.push_back(row(s.indices, from));
    else values.push_back(from - rows + 1);
  }
  return make_sparse(permute(s.values, values), at.empty() ? s.indices : stack(at), sizes, s.coalesced && same);
}
Tensor run_permute(const Op& op, Tensors x, const Attrs& attrs) { return permuted(x[0], attrs.as<Sizes>().sizes, op.name); }
Tensor run_transpose(const Op& op, Tensors x, const Attrs& attrs) {
  Dims order;
  for (int d = 0; d < x[0].dim(); d++) order.push_back(d);
  if (const auto [a, b] = attrs.as<Dims2>(); !order.empty()) std::swap(order[a], order[b]);
  return permuted(x[0], order, op.name);
}

// Along a sparse dimension positions move; along a dense one zeros fill what the others have.
Tensor run_cat(const Op& op, Tensors x, const Attrs& attrs) {
  Dims sizes[max_outputs];
  op.shape(x, attrs, sizes);
  const DType dtype = result_type(x);
  for (const Tensor& t : x) expect(is(t), ErrorKind::value, "cat: sparse and dense tensors are not concatenated; use to_dense() or to_sparse() first");
  const int dim = attrs.as<Dim>().dim, rows = static_cast<int>(sparse_of(*x[0]).indices.size(0));
  TensorVector indices, values;
  int64_t start = 0;
  for (const Tensor& t : x) {
    const Sparse& s = sparse_of(*t);
    expect(s.indices.size(0) == rows, ErrorKind::value, "cat: expected ", rows, " sparse dimensions in all, got ", s.indices.size(0));
    Tensor at = s.indices, v = to_dtype(s.values, dtype);
    if (dim < rows && start > 0) {
      at = clone(at);
      copy_(row(at, dim), add(row(at, dim), wrapped(start)));
    } else if (dim >= rows) {
      Dims before = v.sizes(), after = v.sizes();
      const int d = dim - rows + 1;
      before[d] = start;
      after[d] = sizes[0][dim] - start - t.size(dim);
      v = cat(TensorVector{zeros(before, dtype, v.device()), v, zeros(after, dtype, v.device())}, d);
    }
    indices.push_back(at);
    values.push_back(v);
    start += t.size(dim);
  }
  return make_sparse(cat(values, 0), cat(indices, 1), sizes[0], false);
}

// ---- products of matrices

// By a dense matrix, or a batch by as many: as the blocks along the diagonal of one matrix. `rows` and `columns` are dimensions of the sparse operand.
Tensor by_dense(const Tensor& sparse, int rows, int columns, const Tensor& dense) {
  const Sparse& s = sparse_of(*sparse);
  const int64_t batch = dense.dim() > 2 ? dense.size(0) : 1, n = sparse.size(rows), m = dense.size(-1);
  const auto in_blocks = [&](int d) {
    return dense.dim() > 2 ? add(mul(row(s.indices, 0), wrapped(sparse.size(d))), row(s.indices, d)) : row(s.indices, d);
  };
  const Tensor y = sparse_matmul(s.values, in_blocks(rows), in_blocks(columns), reshape(dense, {batch * dense.size(-2), m}), batch * n);
  return dense.dim() > 2 ? reshape(y, {batch, n, m}) : y;
}

Tensor run_matmul(const Op& op, Tensors x, const Attrs& attrs) {
  Dims sizes[max_outputs];
  op.types(x, attrs);
  op.shape(x, attrs, sizes);
  const bool both = is(x[0]) && is(x[1]), batches = !both && x[0].dim() == 3 && x[1].dim() == 3 && x[0].size(0) == x[1].size(0);
  for (const Tensor& t : x)
    expect((batches || t.dim() == 2) && (!is(t) || sparse_of(*t).values.dim() == 1), ErrorKind::not_implemented,
           "matmul: sparse tensors without dense dimensions are multiplied as matrices, or a batch by as many dense ones, got shapes ", x[0].sizes(), " and ", x[1].sizes());
  if (both) return sparse_by_sparse(x[0], x[1], sizes[0]);
  const int last = x[0].dim() - 1;
  if (is(x[0])) return by_dense(x[0], last - 1, last, x[1]);
  return contiguous(mT(by_dense(x[1], last, last - 1, mT(x[0]))));
}

}  // namespace

}  // namespace sparse

SparseKernel sparse_kernel(const char* name) {
  using namespace sparse;
  static const std::map<std::string_view, SparseKernel> table = [] {
    std::map<std::string_view, SparseKernel> t{
        {"add", sum_of}, {"alias", run_identity}, {"any", run_any}, {"cat", run_cat}, {"clone", run_clone}, {"coalesce", run_coalesce}, {"copy", run_copy}, {"div", linear_in_first}, {"masked_gradient", run_identity}, {"matmul", run_matmul},
        {"mul", product}, {"permute", run_permute}, {"pow", power}, {"select", run_select}, {"slice", run_slice}, {"sparse_at", run_at}, {"sparse_coo_tensor", run_coo}, {"sparse_layout", run_layout}, {"sparse_values", run_values}, {"sub", sum_of},
        {"sum", run_sum}, {"to_dense", run_to_dense}, {"to_sparse", run_to_sparse}, {"transpose", run_transpose}, {"vector_norm", run_norm}, {"view", run_view}};
    for (const char* op : {"conj", "contiguous", "neg", "to_dtype"}) t[op] = linear;
    for (const char* op : {"abs", "angle", "asin", "asinh", "atan", "atanh", "ceil", "deg2rad", "erf", "erfinv", "expm1", "floor", "frac", "isinf", "isnan", "leaky_relu", "log1p", "nan_to_num", "rad2deg", "relu", "round",
                           "sgn", "sign", "sin", "sinh", "sqrt", "square", "tan", "tanh", "trunc"})
      t[op] = keeping_zero;
    for (const char* op : {"erf_derivative", "relu_derivative", "tanh_derivative"}) t[op] = linear_in_first;
    return t;
  }();
  const auto found = table.find(name);
  return found == table.end() ? nullptr : found->second;
}

}  // namespace adjoint
