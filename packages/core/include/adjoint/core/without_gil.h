// Gives the interpreter's lock up for a while, where there is one and this thread holds it.
#pragma once
#include <adjoint/core/object.h>

namespace adjoint {

struct WithoutGil {
  void* state = nullptr;
  explicit WithoutGil(bool wanted) { if (wanted && python_hooks.release_gil) state = python_hooks.release_gil(); }
  WithoutGil(const WithoutGil&) = delete;
  ~WithoutGil() { if (state) python_hooks.acquire_gil(state); }
};

}  // namespace adjoint
