// Shared by record.cpp and inplace.cpp: operands brought up to date, and nodes made from them.
#pragma once
#include <adjoint/core/op_attrs.h>
#include <adjoint/engine/autograd.h>

namespace adjoint::engine {

// The given tensors, which the caller keeps alive; references are counted only for those that had to be replaced.
class Operands {
 public:
  explicit Operands(Tensors given);
  operator Tensors() const { return {reinterpret_cast<const Tensor*>(heap_.empty() ? inline_ : heap_.data()), count_}; }
  uint32_t level = 0;      // the innermost among them
  Slot* slot = nullptr;
  bool dispatched = false; // one of them is of a class that answers calls itself
  bool taped = false;      // one of them has history, or was computed from it without recording

 private:
  static_assert(sizeof(Tensor) == sizeof(TensorImpl*));
  static constexpr size_t inline_count = 4;
  size_t count_;
  TensorImpl* inline_[inline_count];
  Vector<TensorImpl*> heap_;
  Vector<Tensor> replaced_;
};

size_t references(const TensorImpl& t);            // to it, Python's too
// Empty if nothing is to be recorded.
Ref<OpNode> make_node(const Op& op, Tensors in, const Attrs& attrs, uint32_t level, const Slot* s);
void name_in_composition(Node& n);                 // of the composition that runs
void save_outputs(OpNode& n, Tensors y);
void record(Ref<OpNode> n, Tensors y, uint32_t level);
void mark_intermediates(const Op& op, Tensors in, Tensors y);   // what was not recorded in a Function's forward
bool dense(const Tensor& t);                       // neither gaps between elements nor two at one place
bool is_leaf_or_view_of_one(const Tensor& self);   // of a leaf that requires grad: no write to it can be recorded
void check_creation(const Tensor& self, uint32_t level);   // raises if no write through this view may be recorded
// Before a write: a base whose level has ended becomes an alias of its primal, and its views follow it. Whether it had one.
bool leave_dead_levels(const Tensor& self);
const Op& as_strided_op();
Tensor strided_tangent(const Tensor& x, const Strided& a);   // of as_strided(x)
void apply_inplace_recorded(const Op& op, const Tensor& self, Tensors others, const Attrs& attrs);

}  // namespace adjoint::engine
