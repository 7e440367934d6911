// Sparse tensors below all levels and tapes: how they are made, read and written.
#include <adjoint/core/ops.h>
#include <adjoint/core/sparse.h>

#include "ops/sparse_kernels.h"

namespace adjoint {

void Sparse::visit_refs(RefVisitor& v) const {
  for (const Tensor* t : {&indices, &values})
    if (*t) v.object(t->get());
}

const TensorImpl* sparse_below(const Tensor& x) {
  const TensorImpl* t = x->keys & key_lifted ? engine_hooks.memory(*x) : x.get();
  return t && t->keys & key_sparse ? t : nullptr;
}

const Sparse& expect_sparse(const Tensor& x, const char* op) {
  const TensorImpl* t = sparse_below(x);
  expect(t, op, ": expected a tensor of layout sparse_coo, got one of layout strided (inside vmap: no values of its own)");
  return sparse_of(*t);
}

const char* layout_name(const TensorImpl& x) {
  static constexpr const char* names[] = {"sparse_coo", "sparse_csr", "sparse_csc", "sparse_bsr", "sparse_bsc"};
  return x.keys & key_sparse ? names[static_cast<int>(sparse_of(x).compression.layout)] : "strided";
}

Tensor make_sparse(const Tensor& values, const Tensor& indices, const Dims& sizes, bool coalesced, const Compression& c) {
  Tensor t = Tensor::take(TensorImpl::make());
  t->sizes = sizes;
  t->set_contiguous_strides();   // also counts and checks
  t->strides = Dims(sizes.size(), 0);
  t->flags &= ~flag_contiguous;   // no kernel may take it for memory
  t->dtype = values.dtype();
  t->device = values.device();
  t->storage = Storage::make(0, t->device);   // for its version
  t->data = nullptr;
  t->keys = key_sparse;
  auto* s = new Sparse;
  t->face = Ref<Object>(s);
  s->indices = alias_of(indices);
  s->values = alias_of(values);
  s->coalesced = coalesced || indices.size(1) < 2;
  s->compression = c;
  return t;
}

Tensor sparse_zeros(const Tensor& like) {
  const Sparse& s = expect_sparse(like, "zeros_like");
  Dims sizes = s.values.sizes();
  sizes[0] = 0;
  return make_sparse(empty(sizes, like.dtype(), like.device()), empty({s.indices.size(0), 0}, DType::int64, like.device()), like.sizes(), true, s.compression);
}

namespace {
// Without histories, so that the kernels may be written from public operations.
TensorVector plain(Tensors x) {
  TensorVector r;
  for (const Tensor& t : x) {
    r.push_back(alias_of(t));
    r.back()->flags = t->flags;
  }
  return r;
}
}  // namespace

void run_sparse(const Op& op, Tensors x, const Attrs& attrs, Tensor* y) {
  common_device(op, x);
  const SparseKernel kernel = sparse_kernel(op.name);
  if (!kernel)
    for (const Tensor& t : x) expect_strided(*t, op.name);
  y[0] = sparse::with_layout_of(op, x, attrs, kernel(op, plain(x), attrs));
}

// The result takes the place of what self held; copy(self, source) holds the source from then on.
void run_sparse_inplace(const Op& op, const Tensor& self, Tensors others, const Attrs& attrs) {
  Tensor y;
  if (std::string_view(op.name) == "copy") {
    const Tensor& source = others[0];
    const bool zero = source.dim() == 0 && !(source->keys & key_sparse) && item(source).is_zero();
    expect(zero || (source->keys & key_sparse && source.sizes() == self.sizes()), ErrorKind::not_implemented,
           "copy_: a tensor of layout sparse_coo takes zero or a sparse tensor of its shape, ", self.sizes());
    y = zero ? sparse_zeros(self) : sparse_layout(clone(alias_of(source)), sparse_of(*self).compression);
  } else {
    TensorVector x{self};
    x.insert(x.end(), others.begin(), others.end());
    Tensor r[max_outputs];
    run(op, x, attrs, r);
    y = r[0];
    expect(y->keys & key_sparse, ErrorKind::not_implemented, op.name, "_: the result is dense and cannot be written to a tensor of layout sparse_coo");
    expect(y.sizes() == self.sizes(), ErrorKind::shape, op.name, "_: output with shape ", self.sizes(), " doesn't match the broadcast shape ", y.sizes());
  }
  expect(category(y.dtype()) <= category(self.dtype()), op.name, "_: result type ", y.dtype(), " can't be cast to the desired output type ", self.dtype());
  if (y.dtype() != self.dtype()) y = to_dtype(y, self.dtype());
  Sparse& to = *static_cast<Sparse*>(self->face.get());
  const Sparse& from = sparse_of(*y);
  to.indices = from.indices;
  to.values = from.values;
  to.coalesced = from.coalesced;
  to.compression = from.compression;
  bump_version(*self);
}

}  // namespace adjoint
