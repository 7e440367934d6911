// Views that a function makes on its way to a result in new memory.
#pragma once
#include <adjoint/core/observer.h>

#include <utility>

namespace adjoint {

// While it stands, views of tensors without history are made without the word that lets writes to them, or to their base, reach each other: nobody
// writes to them, and none leaves the function. Only if the function's operands have no history and belong to no level, and nobody watches (as modes do):
// nothing of the user runs then.
class PassingViews {
 public:
  explicit PassingViews(Tensors x) noexcept : outer_(std::exchange(here, here || (!watched() && without_keys(x)))) {}
  PassingViews(const PassingViews&) = delete;
  ~PassingViews() { here = outer_; }

  ADJOINT_API static constinit thread_local bool here;

 private:
  static bool without_keys(Tensors x) noexcept {
    uint32_t keys = 0;
    for (const Tensor& t : x) if (t) keys |= t->keys;
    return !keys;
  }
  const bool outer_;
};

}  // namespace adjoint
