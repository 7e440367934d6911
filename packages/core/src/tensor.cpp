// Tensor: layout, lifetime, making plain memory.
#include <adjoint/core/cuda/memory.h>
#include <adjoint/core/ops.h>
#include <adjoint/core/sparse.h>

#include <algorithm>

#include "watched_here.h"

namespace adjoint {

constinit thread_local uint32_t level_top = 0;

TensorImpl::~TensorImpl() {
  if (storage) storage->dec_ref();
}

void TensorImpl::visit_refs(RefVisitor& v) const {
  for (const Ref<Object>* r : {&grad_fn, &meta, &face, &view})
    if (*r) v.object(r->get());
}

void TensorImpl::clear_refs() {
  for (Ref<Object>* r : {&grad_fn, &meta, &view}) *r = nullptr;
}

namespace {

// Every shape passes here, so that code below may rely on it: kernels keep arrays of Dims::max, and counts do not overflow.
int64_t checked_numel(const Dims& sizes) {
  expect(sizes.size() <= Dims::max, ErrorKind::shape, "tensors have at most ", Dims::max, " dimensions, got ", sizes.size());
  const int64_t n = sizes.product();
  expect(n != Dims::too_many, ErrorKind::shape, "a tensor of shape ", sizes, " has too many elements");
  return n;
}

}  // namespace

void TensorImpl::set_contiguous_strides() {
  const int n = sizes.size();
  numel = checked_numel(sizes);
  strides.resize(n);
  uint64_t step = 1;   // of a tensor without elements, it may wrap
  for (int i = n; i-- > 0;) {
    strides[i] = static_cast<int64_t>(step);
    step *= static_cast<uint64_t>(sizes[i] > 1 ? sizes[i] : 1);
  }
  flags |= flag_contiguous;
}

void TensorImpl::update_layout() {
  numel = checked_numel(sizes);
  int64_t expected = 1;
  flags |= flag_contiguous;
  if (numel == 0) return;
  for (int i = sizes.size(); i-- > 0;) {
    if (sizes[i] == 1) continue;
    if (strides[i] != expected) { flags &= ~flag_contiguous; return; }
    expected *= sizes[i];
  }
}

Tensor empty(const Dims& sizes, DType dtype, Device device) {
  for (int64_t n : sizes) expect(n >= 0, "empty: Trying to create tensor with negative dimension ", n, ": ", sizes);
  Tensor t = Tensor::take(TensorImpl::make());
  t->sizes = sizes;
  t->set_contiguous_strides();
  t->dtype = dtype;
  t->device = device.type == DeviceType::cuda ? cuda::resolved(device) : device;
  int64_t bytes;
  expect(!__builtin_mul_overflow(t->numel, itemsize(dtype), &bytes), ErrorKind::shape, "empty: Storage size calculation overflowed with sizes=", sizes, " of ", dtype);
  t->storage = Storage::make(bytes, t->device);
  t->data = static_cast<char*>(t->storage->data);
  return t;
}

Tensor empty_dense(const TensorImpl& like, DType dtype) {
  Tensor t = Tensor::take(TensorImpl::make());
  t->sizes = like.sizes;
  if (like.contiguous()) t->strides = like.strides;
  else t->set_contiguous_strides();
  t->numel = like.numel;
  t->dtype = dtype;
  t->device = like.device;
  t->storage = Storage::make(like.numel * itemsize(dtype), like.device);
  t->data = static_cast<char*>(t->storage->data);
  return t;
}

// Much memory is left to the kernel of copies, on all threads.
static void fill(TensorImpl& t, char* value) {
  const Kernel copy = op_clone.kernel[static_cast<int>(DeviceType::cpu)];
  if (t.numel < 1024 || !copy)
    return with_bytes(itemsize(t.dtype), [&](auto zero) {
      using T = decltype(zero);
      std::fill_n(reinterpret_cast<T*>(t.data), t.numel, *reinterpret_cast<const T*>(value));
    });
  const Dims still(t.sizes.size(), 0);
  const View x{value, t.sizes.data(), still.data(), t.sizes.size(), t.dtype, t.numel};
  const View y{t.data, t.sizes.data(), t.strides.data(), t.sizes.size(), t.dtype, t.numel};
  copy({{&x, 1}, {&y, 1}, {}, "full"});
}

Element::Element(const Scalar& value, DType dtype) {
  with_type(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    *reinterpret_cast<T*>(bytes) = value.to<T>();
  });
}

Tensor full(const Dims& sizes, const Scalar& value, DType dtype, Device device) {
  Tensor t = empty(sizes, dtype, device);
  Element element(value, dtype);
  if (t.device().type == DeviceType::cpu) fill(*t, element.bytes);
  else if (t.device().type == DeviceType::cuda) cuda::fill(t->data, static_cast<size_t>(t.numel()), static_cast<size_t>(itemsize(dtype)), element.bytes, t.device().index);
  return t;
}

Tensor wrapped(const Scalar& value) {
  Tensor t = Tensor::take(TensorImpl::make());
  t->flags |= flag_wrapped;
  t->storage = storage_of_number(sizeof(Complex<double>));   // room for every number
  t->data = static_cast<char*>(t->storage->data);
  set_number(*t, value);
  return t;
}

void set_number(TensorImpl& t, const Scalar& value) {
  t.dtype = value.dtype();
  t.birth = level_top;
  t.storage->version = Storage::first_version();
  switch (category(t.dtype)) {
    case 0: *reinterpret_cast<bool*>(t.data) = value.to<bool>(); break;
    case 1: *reinterpret_cast<int64_t*>(t.data) = value.to<int64_t>(); break;
    case 2: *reinterpret_cast<double*>(t.data) = value.to<double>(); break;
    default: *reinterpret_cast<Complex<double>*>(t.data) = value.to<Complex<double>>();
  }
}

Tensor alias_of(const Tensor& x) {
  Tensor t = Tensor::take(TensorImpl::make());
  t->storage = x->storage;
  if (t->storage) t->storage->inc_ref();
  if (x->keys & key_sparse) t->face = x->face, t->keys = key_sparse;
  t->data = x->data;
  t->sizes = x->sizes;
  t->strides = x->strides;
  t->numel = x->numel;
  t->dtype = x->dtype;
  t->device = x->device;
  t->flags = x->flags & flag_contiguous;
  t->birth = x->birth;   // what is written to it lands in memory as old as x
  return t;
}

Scalar item(const Tensor& x) {
  expect(x.numel() == 1, "a Tensor with ", x.numel(), " elements cannot be converted to Scalar");
  const TensorImpl* memory = x->keys & key_lifted ? engine_hooks.memory(*x) : x.get();
  if (memory && memory->keys & key_sparse) return item(to_dense(alias_of(Tensor(const_cast<TensorImpl*>(memory)))));
  expect(memory, "item: vmap: It looks like you're either (1) calling .item() on a Tensor or (2) attempting to use a Tensor in some data-dependent control flow; each member of the batch has its own value");
  expect_memory(*memory, "item");
  return with_type(x.dtype(), [&](auto tag) -> Scalar {
    using T = typename decltype(tag)::type;
    T v;
    if (memory->device.type == DeviceType::cpu) v = *reinterpret_cast<const T*>(memory->data);
    else cuda::read(&v, memory->data, sizeof v, memory->device.index);
    if constexpr (std::is_same_v<T, bool>) return Scalar(v);
    else if constexpr (std::is_same_v<T, uint64_t>) return Scalar(v);
    else if constexpr (std::is_integral_v<T>) return Scalar(static_cast<int64_t>(v));
    else if constexpr (is_complex_v<T>) return Scalar(convert<Complex<double>>(v));
    else return Scalar(convert<double>(v));
  });
}

Dims contiguous_strides(const Dims& sizes) {
  Dims s(sizes.size(), 1);
  uint64_t step = 1;   // of no elements, it may wrap
  for (int i = sizes.size() - 1; i-- > 0;) s[i] = static_cast<int64_t>(step *= static_cast<uint64_t>(std::max<int64_t>(sizes[i + 1], 1)));
  return s;
}

Dims broadcast(const Dims& a, const Dims& b, const char* op) {
  const int n = std::max(a.size(), b.size());
  Dims r(n, 1);
  for (int i = 1; i <= n; i++) {
    const int64_t p = i <= a.size() ? a[a.size() - i] : 1, q = i <= b.size() ? b[b.size() - i] : 1;
    expect(p == q || p == 1 || q == 1, ErrorKind::shape, op, ": The size of tensor a (", p, ") must match the size of tensor b (", q,
           ") at non-singleton dimension ", n - i, ", got shapes ", a, " and ", b);
    r[n - i] = p == 1 ? q : p;
  }
  return r;
}

int wrap_dim(int64_t dim, int ndim, const char* op) {
  const int n = std::max(ndim, 1);
  expect(dim >= -n && dim < n, ErrorKind::index, op, ": Dimension out of range (expected to be in range of [", -n, ", ", n - 1, "], but got ", dim, ")");
  return static_cast<int>(dim < 0 ? dim + n : dim);
}

bool overlaps_itself(const TensorImpl& x) {
  if (x.contiguous()) return false;
  int order[Dims::max], n = 0;
  for (int i = 0; i < x.ndim(); i++)
    if (x.sizes[i] > 1) order[n++] = i;
  std::sort(order, order + n, [&](int a, int b) { return x.strides[a] < x.strides[b]; });
  int64_t reach = 0;  // the largest offset of the dimensions so far
  for (int k = 0; k < n; k++) {
    if (x.strides[order[k]] <= reach) return true;
    reach += x.strides[order[k]] * (x.sizes[order[k]] - 1);
  }
  return false;
}

}  // namespace adjoint
