// Shared by record.cpp and inplace.cpp: operands brought up to date, and nodes made from them.
#pragma once
#include <adjoint/engine/autograd.h>

namespace adjoint::engine {

class Operands {
 public:
  explicit Operands(Tensors given);
  operator Tensors() const { return {heap_.empty() ? inline_ : heap_.data(), count_}; }
  Tensor* data() { return heap_.empty() ? inline_ : heap_.data(); }
  uint32_t level = 0;      // the innermost among them
  Slot* slot = nullptr;

 private:
  static constexpr size_t inline_count = 4;
  size_t count_;
  Tensor inline_[inline_count];
  std::vector<Tensor> heap_;
};

// Empty if nothing is to be recorded.
Ref<OpNode> make_node(const Op& op, Tensors in, const Attrs& attrs, uint32_t level, const Slot* s);
void save_outputs(OpNode& n, Tensors y);
void record(Ref<OpNode> n, Tensors y, uint32_t level);
void apply_inplace_recorded(const Op& op, const Tensor& self, Tensors others, const Attrs& attrs);

}  // namespace adjoint::engine
