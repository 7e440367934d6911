// A block of memory with the version counter that all its views share.
#pragma once
#include <adjoint/core/allocator.h>
#include <adjoint/core/device.h>

#include <atomic>

namespace adjoint {

struct Storage {
  using Deleter = void (*)(void* context) noexcept;
  std::atomic<uint32_t> refs;
  uint32_t version;    // bumped by every in-place write
  uint32_t site;       // the user's line of the last in-place write
  uint32_t block;      // bytes of this block (small data follow the header)
  void* data;
  size_t nbytes;
  Deleter deleter;     // set for memory of others (NumPy, DLPack)
  void* context;
  Device device;
  static constexpr size_t header = 64, inline_bytes = 64;

  void inc_ref() noexcept { refs.fetch_add(1, std::memory_order_relaxed); }
  void dec_ref() noexcept {
    if (refs.load(std::memory_order_acquire) == 1 || refs.fetch_sub(1, std::memory_order_acq_rel) == 1) free();
  }
  ADJOINT_API static uint32_t first_version() noexcept;   // of memory made now
  ADJOINT_API static Storage* make(size_t nbytes, Device device = {});
  ADJOINT_API static Storage* borrow(void* data, size_t nbytes, Deleter deleter, void* context, Device device = {});

 private:
  ADJOINT_API void free() noexcept;
};
static_assert(sizeof(Storage) <= Storage::header);

}  // namespace adjoint
