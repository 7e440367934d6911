// Intrusive reference counting that Python can take over. This header knows no Python.
#pragma once
#include <adjoint/core/allocator.h>

#include <atomic>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <utility>

extern "C" {
struct _object;
typedef _object PyObject;
}

namespace adjoint {

// Filled in by adjoint_core._core when there is an interpreter; all null in a plain C++ program.
struct PythonHooks {
  void (*inc)(PyObject*) noexcept = nullptr;
  void (*dec)(PyObject*) noexcept = nullptr;
  uint32_t (*site)() noexcept = nullptr;         // the user's line, as an id
  void* (*release_gil)() noexcept = nullptr;     // null result: this thread did not hold it
  void (*acquire_gil)(void*) noexcept = nullptr;
  int (*attach)() noexcept = nullptr;            // a thread that Python may not know takes the lock, until `detach` of what this gives
  void (*detach)(int) noexcept = nullptr;
};
ADJOINT_API extern PythonHooks python_hooks;

class RefVisitor;

// The state word is either an odd number (2 * count + 1, owned by C++) or the PyObject* that owns this object;
// from then on every C++ reference is a Python reference, so identity, attributes and weakrefs hold.
class ADJOINT_API Object {
 public:
  Object() noexcept = default;
  Object(const Object&) = delete;
  Object& operator=(const Object&) = delete;
  static void* operator new(size_t bytes) { return allocate(bytes); }
  static void operator delete(void* p, size_t bytes) noexcept { deallocate(p, bytes); }
  virtual ~Object();
  virtual void visit_refs(RefVisitor&) const {}  // enumerates what a garbage collector must see
  virtual void clear_refs() {}                   // drops it

  void inc_ref() const noexcept {
    uintptr_t s = state_.load(std::memory_order_relaxed);
    if (s & 1) state_.fetch_add(2, std::memory_order_relaxed);
    else python_hooks.inc(reinterpret_cast<PyObject*>(s));
  }
  void dec_ref() const noexcept {
    uintptr_t s = state_.load(std::memory_order_acquire);
    if (!(s & 1)) return python_hooks.dec(reinterpret_cast<PyObject*>(s));
    // A sole owner needs no locked instruction: nobody else can take a reference.
    if (s == 3) const_cast<Object*>(this)->destroy_sole();
    else if (state_.fetch_sub(2, std::memory_order_acq_rel) == 3) const_cast<Object*>(this)->destroy();
  }
  PyObject* python() const noexcept {
    uintptr_t s = state_.load(std::memory_order_acquire);
    return s & 1 ? nullptr : reinterpret_cast<PyObject*>(s);
  }
  size_t use_count() const noexcept {  // 0 when Python owns it
    uintptr_t s = state_.load(std::memory_order_relaxed);
    return s & 1 ? s >> 1 : 0;
  }
  void set_python(PyObject* owner) noexcept { state_.store(reinterpret_cast<uintptr_t>(owner), std::memory_order_release); }
  void own() noexcept { state_.store(3, std::memory_order_relaxed); }  // a new object's first reference, without a locked instruction
  virtual void destroy();  // frees the object: by the last C++ reference, or by its Python owner
  virtual void destroy_sole() { destroy(); }   // the same, with that reference still counted

 protected:
  // For objects with a weak pointer to them: both are called under the lock of that pointer.
  bool try_inc_ref() const noexcept {            // false: the last reference has gone
    uintptr_t s = state_.load(std::memory_order_relaxed);
    do {
      if (!(s & 1)) return python_hooks.inc(reinterpret_cast<PyObject*>(s)), true;
      if (s == 1) return false;
    } while (!state_.compare_exchange_weak(s, s + 2, std::memory_order_relaxed));
    return true;
  }
  bool last_ref() const noexcept {               // drops one; for a sole owner without a locked instruction
    return state_.load(std::memory_order_acquire) == 3 || state_.fetch_sub(2, std::memory_order_acq_rel) == 3;
  }
  void destroy_in_turn();  // for what forms long chains: waits while another such object is being freed, so that nothing recurses

 private:
  mutable std::atomic<uintptr_t> state_{1};
};

class RefVisitor {
 public:
  virtual void object(const Object*) = 0;
  virtual void python(PyObject*) = 0;

 protected:
  ~RefVisitor() = default;
};

template <class T>
class Ref {
 public:
  Ref() noexcept = default;
  Ref(std::nullptr_t) noexcept {}
  explicit Ref(T* p) noexcept : p_(p) { if (p_) p_->inc_ref(); }
  Ref(const Ref& o) noexcept : Ref(o.p_) {}
  Ref(Ref&& o) noexcept : p_(std::exchange(o.p_, nullptr)) {}
  template <class U> requires std::convertible_to<U*, T*> Ref(Ref<U>&& o) noexcept : p_(o.release()) {}
  ~Ref() { if (p_) p_->dec_ref(); }
  Ref& operator=(Ref o) noexcept { std::swap(p_, o.p_); return *this; }
  static Ref take(T* p) noexcept {  // a new object nobody refers to yet
    Ref r;
    r.p_ = p;
    p->own();
    return r;
  }
  static Ref adopt(T* p) noexcept {  // a reference that is counted already
    Ref r;
    r.p_ = p;
    return r;
  }
  T* get() const noexcept { return p_; }
  T* operator->() const noexcept { return p_; }
  T& operator*() const noexcept { return *p_; }
  explicit operator bool() const noexcept { return p_; }
  bool operator==(const Ref& o) const noexcept { return p_ == o.p_; }
  T* release() noexcept { return std::exchange(p_, nullptr); }

 private:
  T* p_ = nullptr;
};

}  // namespace adjoint
