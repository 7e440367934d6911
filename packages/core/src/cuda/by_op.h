// Finds what belongs to a record by its name's address: read without a lock, filled while kernels register.
#pragma once
#include <adjoint/core/op.h>

#include <atomic>
#include <mutex>

namespace adjoint::cuda {

template <class T> class ByOp {
 public:
  T* find(const char* name) const noexcept {
    for (size_t i = place(name);; i = (i + 1) % size) {
      const Op* op = entry_[i].op.load(std::memory_order_acquire);
      if (!op) return nullptr;
      if (op->name == name) return entry_[i].value.load(std::memory_order_acquire);
    }
  }
  void set(const Op& op, T* value) {   // never removed: what was there stays, for calls under way
    std::lock_guard lock(mutex_);
    size_t i = place(op.name);
    while (entry_[i].op.load() && entry_[i].op.load() != &op) i = (i + 1) % size;
    entry_[i].value = value;
    entry_[i].op = &op;
  }

 private:
  static constexpr size_t size = 1024;   // a few times the number of records
  static size_t place(const char* name) { return (reinterpret_cast<uintptr_t>(name) * 0x9E3779B97F4A7C15u >> 40) % size; }
  struct Entry { std::atomic<const Op*> op{nullptr}; std::atomic<T*> value{nullptr}; };
  Entry entry_[size];
  std::mutex mutex_;
};

}  // namespace adjoint::cuda
