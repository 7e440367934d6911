// A function that a caller lends for the time of a call: a walk that takes one is compiled once, for every loop body.
#pragma once
#include <memory>
#include <type_traits>

namespace adjoint {

template <class... A> class Borrowed {
 public:
  template <class F>
  Borrowed(F&& f)
      : f_(const_cast<void*>(static_cast<const void*>(std::addressof(f)))),
        call_([](void* g, A... args) { (*static_cast<std::remove_reference_t<F>*>(g))(args...); }) {}
  void operator()(A... args) const { call_(f_, args...); }

 private:
  void* f_;
  void (*call_)(void*, A...);
};

}  // namespace adjoint
