// The tensor: strided memory plus what the engine hangs on it.
#pragma once
#include <adjoint/core/dims.h>
#include <adjoint/core/object.h>
#include <adjoint/core/scalar.h>
#include <adjoint/core/storage.h>

namespace adjoint {

// Bits that send a call from the fast path to the engine (`keys`), and plain facts (`flags`).
enum Key : uint32_t {
  key_tape = 1,    // has history: grad_fn, or a leaf that requires grad
  key_lifted = 2,  // a face of a level: no memory of its own, `face` holds the value below
  key_view = 4,    // a view whose base the engine may rebase
  key_sparse = 8,  // no elements in memory: `face` holds indices and values (sparse.h)
};
enum Flag : uint16_t {
  flag_contiguous = 1,
  flag_wrapped = 2,      // made from a Python number: weakest in type promotion
  flag_tracked = 4,      // a Python object hangs on it or upstream of it: the collector must see it
};

// Serial of this thread's innermost level (0: none). The engine sets it; core only stamps it on new tensors.
ADJOINT_API extern constinit thread_local uint32_t level_top;

class ADJOINT_API TensorImpl final : public Object {
 public:
  Storage* storage = nullptr;  // null for a lifted tensor
  char* data = nullptr;        // storage's data plus the offset
  Dims sizes, strides;         // strides in elements
  int64_t numel = 1;
  DType dtype = DType::float32;
  Device device;
  uint16_t flags = flag_contiguous;
  uint32_t keys = 0;
  uint32_t out_nr = 0;         // which output of grad_fn
  uint32_t birth = level_top;  // serial of the innermost level when it was made
  uint32_t epoch = 0;          // of a base: grows when its views must be replayed
  uint32_t form = 0;           // grows when its shape is changed in place (t_, squeeze_): older views do not fit it any more
  Ref<Object> grad_fn;         // engine: Node
  Ref<Object> meta;            // engine: grad, hooks, name
  Ref<Object> face;            // engine: level, value, tangent or batch dimension; of a sparse tensor: indices and values
  Ref<Object> view;            // engine: base and the record to replay

  ~TensorImpl() override;
  void visit_refs(RefVisitor&) const override;
  void clear_refs() override;

  int ndim() const noexcept { return sizes.size(); }
  bool contiguous() const noexcept { return flags & flag_contiguous; }
  void set_contiguous_strides();   // from sizes; also sets numel and the flag
  void update_layout();            // recomputes numel and the flag from sizes and strides
  int64_t offset() const noexcept { return (data - static_cast<char*>(storage->data)) / itemsize(dtype); }
  static TensorImpl* make() { return new TensorImpl; }
};

// A counted handle; empty handles stand for "no tensor" (an undefined gradient, a zero tangent).
class Tensor {
 public:
  Tensor() noexcept = default;
  explicit Tensor(TensorImpl* p) noexcept : p_(p) {}
  static Tensor take(TensorImpl* p) noexcept { Tensor t; t.p_ = Ref<TensorImpl>::take(p); return t; }
  TensorImpl* operator->() const noexcept { return p_.get(); }
  TensorImpl& operator*() const noexcept { return *p_; }
  TensorImpl* get() const noexcept { return p_.get(); }
  explicit operator bool() const noexcept { return static_cast<bool>(p_); }
  bool is(const Tensor& o) const noexcept { return p_ == o.p_; }

  const Dims& sizes() const noexcept { return p_->sizes; }
  int64_t size(int i) const noexcept { return p_->sizes[i < 0 ? i + p_->sizes.size() : i]; }
  int dim() const noexcept { return p_->sizes.size(); }
  int64_t numel() const noexcept { return p_->numel; }
  DType dtype() const noexcept { return p_->dtype; }
  Device device() const noexcept { return p_->device; }
  template <class T> T* data() const noexcept { return reinterpret_cast<T*>(p_->data); }

 private:
  Ref<TensorImpl> p_;
};
using Tensors = std::span<const Tensor>;

// Plain memory.
ADJOINT_API Tensor empty(const Dims& sizes, DType dtype = DType::float32, Device device = {});
ADJOINT_API Tensor empty_dense(const TensorImpl& like, DType dtype);   // row-major, sizes and device of `like`
ADJOINT_API Tensor full(const Dims& sizes, const Scalar& value, DType dtype, Device device = {});
ADJOINT_API Tensor wrapped(const Scalar& value);            // a Python number as a 0-d tensor, weakest in promotion
ADJOINT_API void set_number(TensorImpl& t, const Scalar& value);   // makes it what wrapped(value) is
ADJOINT_API Tensor alias_of(const Tensor& x);               // same memory, sizes and strides; no history
// Of a tensor on device meta nothing can be read.
inline void expect_memory(const TensorImpl& x, const char* op) {
  expect(x.device.type != DeviceType::meta, ErrorKind::not_implemented, op, ": Cannot copy out of meta tensor; no data!");
}
ADJOINT_API Scalar item(const Tensor& x);                   // the value of a one-element tensor
ADJOINT_API Dims contiguous_strides(const Dims& sizes);
ADJOINT_API Dims broadcast(const Dims& a, const Dims& b, const char* op);
ADJOINT_API int wrap_dim(int64_t dim, int ndim, const char* op);
ADJOINT_API bool overlaps_itself(const TensorImpl& x);      // two indices may share memory (expand)

}  // namespace adjoint
