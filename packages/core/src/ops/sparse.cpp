// Operations between sparse and dense tensors: their records. What other records do to sparse operands is in sparse_kernels.cpp.
#include <adjoint/core/cuda/graph.h>
#include <adjoint/core/sparse.h>
#include <adjoint/core/types.h>

#include "families.h"
#include "sparse_kernels.h"

namespace adjoint {

namespace {

struct Coo { Dims sizes; bool coalesced; };
Tensor indices_of(const Tensor& x) { return alias_of(expect_sparse(x, "sparse").indices); }
Tensor coo(const Tensor& values, const Tensor& indices, const Dims& sizes, bool coalesced);
Tensor in_layout_of(const Sparse& s, const Tensor& x);
struct Relayout { Compression to, from; };

}  // namespace

const Op op_sparse_coo_tensor{.name = "sparse_coo_tensor", .torch = "SparseCooTensorWithDimsAndTensors", .kind = Kind::linear, .indices = 2, .types = types::first, .shape = shapes::same,
    .d = {rule([](V v, X<1> indices) { return sparse_at(v, indices); })},
    .doc = "The sparse tensor with `values` at `indices`, (sparse dims, n); values at one position add up."};

const Op op_sparse_values{.name = "sparse_values", .torch = "Values", .kind = Kind::custom, .types = types::first, .shape = shapes::same,
    .d = {rule([](V v, X<0> x) { return in_layout_of(expect_sparse(x, "values"), coo(v, indices_of(x), x.sizes(), true)); })},
    .t = {rule([](V v, X<0> x) { return sparse_at(v, indices_of(x)); })},
    .doc = "The values of a coalesced sparse tensor, (n, dense dims...)."};

const Op op_sparse_at{.name = "sparse_at", .kind = Kind::linear, .indices = 2, .types = types::first, .shape = shapes::same,
    .d = {rule([](V v, X<1> indices, XShape<0> x) { return coo(v, indices, x.sizes, false); })},
    .doc = "The values of a sparse tensor at `indices`, zero where it specifies none."};

const Op op_to_dense{.name = "to_dense", .kind = Kind::linear, .types = types::first, .shape = shapes::same,
    .d = {rule([](V v, const sparse::Sparsity& a) { return to_sparse(v, a.dims, a.compression); })},
    .doc = "The strided tensor with the values of a sparse one."};

const Op op_to_sparse{.name = "to_sparse", .kind = Kind::linear, .types = types::first, .shape = shapes::same,
    .d = {rule([](V v) { return to_dense(v); })},
    .doc = "The elements of `x` that are not zero, as a sparse tensor."};

const Op op_coalesce{.name = "coalesce", .kind = Kind::linear, .types = types::first, .shape = shapes::same,
    .d = {rule([](V v) -> Tensor { return v; })},
    .doc = "A sparse tensor in row-major order, values at one position added."};

const Op op_sparse_layout{.name = "sparse_layout", .kind = Kind::linear, .types = types::first, .shape = shapes::same,
    .d = {rule([](V v, const Relayout& a) -> Tensor { return is_sparse(v) ? sparse_layout(v, a.from) : Tensor(v); })},
    .doc = "A sparse tensor in another sparse layout."};

const Op op_masked_gradient{.name = "masked_gradient", .kind = Kind::custom, .types = types::first, .shape = shapes::same,
    .d = {rule([](V v, X<0> x) { return sparse_mask(v, x); })}, .t = {rule([](V v) -> Tensor { return v; })},
    .doc = "A sparse tensor, whose gradient is taken only where it specifies values."};

namespace {

Tensor in_layout_of(const Sparse& s, const Tensor& x) { return s.compression ? sparse_layout(x, s.compression) : x; }
Tensor coo(const Tensor& values, const Tensor& indices, const Dims& sizes, bool coalesced) { return apply(op_sparse_coo_tensor, {values, indices}, Coo{sizes, coalesced}); }

// The smallest and the largest position of each dimension, (2, sparse dims); there is at least one.
Tensor bounds_of(const Tensor& indices) {
  const Tensor both[] = {amin(indices, Dims{1}), amax(indices, Dims{1})};
  return to_device(stack(both), {});
}

void check_bounds(const Tensor& bounds, const Dims& sizes) {
  const int64_t* p = bounds.data<int64_t>();
  for (int i = 0; i < bounds.numel(); i++) {
    const int d = i % static_cast<int>(bounds.size(1));
    expect(p[i] >= 0 && p[i] < sizes[d], ErrorKind::index, "sparse_coo_tensor: size is inconsistent with indices: for dim ", d, ", size is ", sizes[d], " but found index ", p[i]);
  }
}

// The smallest sizes that hold all positions.
Dims inferred_sizes(const Tensor& values, const Tensor& bounds, int64_t sparse_dims) {
  Dims sizes;
  for (int d = 0; d < sparse_dims; d++) {
    const int64_t last = bounds ? bounds.data<int64_t>()[sparse_dims + d] : -1;
    expect(last < INT64_MAX, ErrorKind::index, "sparse_coo_tensor: index ", last, " is too large");
    sizes.push_back(last + 1);
  }
  for (int d = 1; d < values.dim(); d++) sizes.push_back(values.size(d));
  return sizes;
}

}  // namespace

Tensor sparse_coo(const Tensor& values, const Tensor& given, const std::optional<Dims>& sizes, bool coalesced) {
  const TensorImpl* memory = given->keys & key_lifted ? engine_hooks.memory(*given) : given.get();
  expect(memory && !(memory->keys & key_sparse), "sparse_coo_tensor: indices must be a strided tensor outside of vmap");
  expect(is_integral(given.dtype()) && given.dtype() != DType::bool_, ErrorKind::type, "sparse_coo_tensor: indices must be an int64 tensor, got ", given.dtype());
  expect(given.dim() == 2, ErrorKind::shape, "sparse_coo_tensor: indices must be sparse_dim x nnz, but got: ", given.sizes());
  expect(!is_sparse(values), ErrorKind::type, "sparse_coo_tensor: values must be a strided tensor");
  expect(values.dim() >= 1, ErrorKind::shape, "sparse_coo_tensor: values must have a first dimension of size nnz, got a 0-d tensor");
  expect(values.size(0) == given.size(1), ErrorKind::shape, "sparse_coo_tensor: indices and values must have same nnz, but got nnz from indices: ", given.size(1), ", nnz from values: ", values.size(0));
  cuda::expect_values(values, "sparse_coo_tensor");
  const Tensor indices = contiguous(to_device(to_dtype(alias_of(Tensor(const_cast<TensorImpl*>(memory))), DType::int64), values.device()));
  const Tensor bounds = indices.numel() > 0 ? bounds_of(indices) : Tensor();
  const Dims shape = sizes ? *sizes : inferred_sizes(values, bounds, indices.size(0));
  for (int64_t n : shape) expect(n >= 0, ErrorKind::shape, "sparse_coo_tensor: sizes must not be negative, got ", shape);
  expect(shape.size() == indices.size(0) + values.dim() - 1, ErrorKind::shape, "sparse_coo_tensor: 'len(size) == sparse_dim + dense_dim' is not satisfied: len(size) = ", shape.size(),
         ", sparse_dim = ", indices.size(0), ", dense_dim = ", values.dim() - 1);
  for (int d = 1; d < values.dim(); d++)
    expect(values.size(d) == shape[static_cast<int>(indices.size(0)) + d - 1], ErrorKind::shape, "sparse_coo_tensor: values has incorrect size ", values.sizes(), " for a tensor of size ", shape);
  if (bounds) check_bounds(bounds, shape);
  return coo(values, indices, shape, coalesced);
}

Tensor to_sparse(const Tensor& x, std::optional<int64_t> sparse_dims, const Compression& c) {
  const int64_t dims = sparse_dims.value_or(x.dim());
  if (is_sparse(x)) {
    expect(!sparse_dims || dims == expect_sparse(x, "to_sparse").indices.size(0), ErrorKind::not_implemented, "to_sparse: changing the number of sparse dimensions is not supported");
    return sparse_layout(x, c);
  }
  if (c) sparse::expect_compressible(x, dims, c);
  expect(dims > 0 || x.dim() == 0, "to_sparse: sparse_dim must be greater than 0, got ", dims);
  expect(dims <= x.dim(), "to_sparse: sparse_dim argument must be in [0,", x.dim(), "] range, but ", dims, " is given");
  return apply(op_to_sparse, {x}, sparse::Sparsity{static_cast<int>(dims), c});
}
Tensor sparse_layout(const Tensor& x, const Compression& c) {
  const Sparse& s = expect_sparse(x, "sparse_layout");
  if (c == s.compression) return x;
  if (c) sparse::expect_compressible(x, s.indices.size(0), c);
  return apply(op_sparse_layout, {x}, Relayout{c, s.compression});
}
Tensor to_dense(const Tensor& x) {
  if (!is_sparse(x)) return x;
  const Sparse& s = expect_sparse(x, "to_dense");
  return apply(op_to_dense, {x}, sparse::Sparsity{static_cast<int>(s.indices.size(0)), s.compression});
}
Tensor coalesce(const Tensor& x) { return expect_sparse(x, "coalesce").coalesced ? x : apply(op_coalesce, {x}); }
Tensor sparse_values(const Tensor& x) {
  expect(expect_sparse(x, "values").coalesced, "Cannot get values on an uncoalesced tensor, please call .coalesce() first");
  return apply(op_sparse_values, {x});
}
Tensor masked_gradient(const Tensor& x) { return apply(op_masked_gradient, {x}); }

Tensor sparse_at(const Tensor& x, const Tensor& indices) {
  if (is_sparse(x)) return apply(op_sparse_at, {x, indices});
  const Tensor plain = alias_of(indices);
  const TensorVector at = unbind(plain, 0);
  return at.empty() ? expand(unsqueeze(x, 0), [&] { Dims s = x.sizes(); s.insert(0, indices.size(1)); return s; }()) : index(x, at);
}
Tensor sparse_mask(const Tensor& x, const Tensor& mask) {
  expect(x.sizes() == mask.sizes(), ErrorKind::shape, "sparse_mask: operands must have the same size, got ", x.sizes(), " and ", mask.sizes());
  const Sparse& m = expect_sparse(mask, "sparse_mask");
  expect(x.device() == mask.device(), "sparse_mask: Expected all tensors to be on the same device, but found at least two devices, ", x.device(), " and ", mask.device());
  const Tensor indices = m.coalesced ? m.indices : sparse_of(*sparse::coalesced(m, mask.sizes())).indices;
  return in_layout_of(m, coo(sparse_at(x, indices), indices, mask.sizes(), true));
}

namespace sparse {
const Compression& wanted_layout(const Attrs& attrs) { return attrs.as<Relayout>().to; }
Tensor run_coo(const Op&, Tensors x, const Attrs& attrs) { const Coo& a = attrs.as<Coo>(); return make_sparse(x[0], x[1], a.sizes, a.coalesced); }
}  // namespace sparse

const Op* const sparse_ops[] = {&op_coalesce, &op_masked_gradient, &op_sparse_at, &op_sparse_coo_tensor, &op_sparse_layout, &op_sparse_values, &op_to_dense, &op_to_sparse};
Ops families::sparse() { return sparse_ops; }

}  // namespace adjoint
