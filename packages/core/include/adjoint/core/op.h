// The record of one operation: everything that any layer knows about it.
#pragma once
#include <adjoint/core/kernel.h>
#include <adjoint/core/rule.h>

namespace adjoint {

enum class Kind : uint8_t {
  elementwise,    // d[i] multiplies by the partial derivative: one rule is vjp and jvp
  linear,         // jointly linear in the inputs with a rule: jvp is the op itself, d[i] is its transpose
  multilinear,    // linear in each input with a rule
  custom,         // d[i] is the vjp, t[i] the jvp
};

struct Op;
struct Types { DType compute; DType out[max_outputs]; };  // compute: what the kernel sees value operands as

// A call under vmap: values with a batch dimension each (-1: none); results carry theirs in front.
struct BatchCall {
  const Op& op;
  Tensors x;
  std::span<const int> dims;
  int64_t size;
  const Attrs& attrs;
};

struct FieldList;   // op_fields.h

struct Op {
  const char* name;
  const char* torch = "";                                             // PyTorch's names where they are not the usual ones: "node|inputs|outputs|attributes" (eps?: none where negative; alpha=1: always so)
  void (*fields)(const Attrs*, FieldList&) = nullptr;                 // attributes by name, for kernels written elsewhere; of none: the names
  Kind kind = Kind::elementwise;
  int outputs = 1;
  bool variadic = false;                                              // a list of tensors: d[0] serves every input
  bool updates = false;                                               // the result is the first input, written to at positions: in place, only there
  bool keeps_numbers = false;                                         // beside half types a number stays float32, as the kernel computes
  uint32_t indices = 0;                                               // inputs that are positions or masks: never cast to the compute type
  Types (*types)(Tensors, const Attrs&) = nullptr;
  void (*shape)(Tensors, const Attrs&, Dims* out) = nullptr;          // null: broadcast of the inputs
  std::array<Rule, 4> d{};
  std::array<Rule, 4> t{};
  void (*make)(Tensors, const Attrs&, Tensor* out) = nullptr;         // what no kernel can do: results on another device than the inputs
  void (*batch)(const BatchCall&, Tensor* out) = nullptr;             // null: align (elementwise) or lane by lane
  void (*alias)(const TensorImpl& x, const Attrs&, TensorImpl& out) = nullptr;  // views: sets sizes, strides, data
  const char* doc = "";
  Kernel reference = nullptr;
  mutable Kernel kernel[device_types] = {};                           // registered by kernel packages; else the reference
  mutable bool reads_halves = false;                                  // the CPU's kernel computes floats of half types as they lie (InFloat)

  const Rule& rule(int i) const { return d[variadic ? 0 : i]; }
  bool differentiable(int i) const { return (variadic || i < 4) && rule(i); }
};

// The single door.
ADJOINT_API void apply(const Op& op, Tensors x, const Attrs& attrs, Tensor* y);
// An operand that its owner lends for the time of the call: counting it up and down would cost as much as a small kernel.
struct Lent {
  const TensorImpl* p;
  Lent(const Tensor& t) noexcept : p(t.get()) {}
};
static_assert(sizeof(Lent) == sizeof(Tensor));
inline Tensor apply(const Op& op, std::initializer_list<Lent> x, const Attrs& attrs = {}) {
  Tensor y[max_outputs];
  apply(op, Tensors(reinterpret_cast<const Tensor*>(x.begin()), x.size()), attrs, y);
  return std::move(y[0]);
}
// As apply, for an op that updates; in place where `Updating` names x, of which one update at most comes.
ADJOINT_API Tensor update(const Op& op, const Tensor& x, Tensors others, const Attrs& attrs);
class ADJOINT_API Updating {
 public:
  explicit Updating(const Tensor& x) noexcept;
  ~Updating();
  Updating(const Updating&) = delete;
  Updating& operator=(const Updating&) = delete;

 private:
  const TensorImpl* const outer_;
};
// Writes op(self, others...) into self.
ADJOINT_API void apply_inplace(const Op& op, const Tensor& self, Tensors others, const Attrs& attrs = {});

// Below all levels and tapes: memory only.
ADJOINT_API void run(const Op& op, Tensors x, const Attrs& attrs, Tensor* y);
ADJOINT_API void run_inplace(const Op& op, const Tensor& self, Tensors others, const Attrs& attrs);

// Installed by the engine; null when core stands alone.
struct EngineHooks {
  void (*apply)(const Op&, Tensors, const Attrs&, Tensor*) = nullptr;
  void (*apply_inplace)(const Op&, const Tensor&, Tensors, const Attrs&) = nullptr;
  const TensorImpl* (*memory)(const TensorImpl&) = nullptr;  // below a lifted tensor; null under vmap, where there are many
};
ADJOINT_API extern EngineHooks engine_hooks;

// The table.
ADJOINT_API std::span<const Op* const> all_ops();
ADJOINT_API const Op* find_op(const char* name) noexcept;
ADJOINT_API void register_kernel(const char* op, DeviceType device, Kernel kernel, bool reads_halves = false);

}  // namespace adjoint
