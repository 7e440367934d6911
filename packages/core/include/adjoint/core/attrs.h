// The attributes of one call: any copyable struct. Small trivial ones live inline, others in a shared box.
#pragma once
#include <adjoint/core/object.h>

#include <cstring>
#include <type_traits>

namespace adjoint {

class Attrs {
 public:
  Attrs() noexcept = default;
  template <class A>
    requires(!std::is_same_v<std::decay_t<A>, Attrs>)
  Attrs(const A& a) {
    if constexpr (fits<A>) std::memcpy(inline_, &a, sizeof a);
    else { box_ = Ref<Object>(new Box<A>(a)); pointer_ = &static_cast<Box<A>*>(box_.get())->value; }
  }
  template <class A> const A& as() const noexcept {
    if constexpr (fits<A>) return *reinterpret_cast<const A*>(inline_);
    else return *static_cast<const A*>(pointer_);
  }

 private:
  template <class A> static constexpr bool fits = std::is_trivially_copyable_v<A> && sizeof(A) <= 32;
  template <class A> struct Box final : Object {
    explicit Box(const A& a) : value(a) {}
    A value;
  };
  alignas(16) char inline_[32] = {};
  Ref<Object> box_;
  const void* pointer_ = nullptr;
};

}  // namespace adjoint
