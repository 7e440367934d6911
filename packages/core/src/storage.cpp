// Storage: one block for header and small data, a separate one for large data.
#include <adjoint/core/cuda/memory.h>
#include <adjoint/core/inference.h>
#include <adjoint/core/shared_memory.h>

#include <new>

#include "watched_here.h"

namespace adjoint {

constinit thread_local bool inference_mode = false;

uint32_t Storage::first_version() noexcept { return inference_mode ? unversioned : 0; }

Storage* Storage::make(size_t nbytes, Device device) {
  if (device.type == DeviceType::meta) [[unlikely]] return borrow(nullptr, nbytes, [](void*) noexcept {}, nullptr, device);
  if (device.type != DeviceType::cpu) [[unlikely]] return cuda::make_storage(nbytes, device);
  const bool small = nbytes <= inline_bytes;
  const size_t block = header + (small ? nbytes : 0);
  void* data = small ? nullptr : allocate(nbytes);  // first: nothing is lost if it throws
  char* memory = static_cast<char*>(allocate(block));
  if (watched_here()) tell_memory(memory, static_cast<int64_t>(nbytes), device);
  return new (memory) Storage{1, first_version(), 0, static_cast<uint32_t>(block), small ? memory + header : data, nbytes, nullptr, nullptr, device};
}

Storage* Storage::borrow(void* data, size_t nbytes, Deleter deleter, void* context, Device device) {
  return new (allocate(header)) Storage{1, first_version(), 0, header, data, nbytes, deleter, context, device};
}

// Its context, without a deleter, is what sets it apart.
Storage* storage_of_number(size_t nbytes) {
  void* memory = allocate(Storage::header + nbytes);
  return new (memory) Storage{1, Storage::first_version(), 0, static_cast<uint32_t>(Storage::header + nbytes), static_cast<char*>(memory) + Storage::header, nbytes, nullptr, memory, {}};
}

void Storage::free() noexcept {
  if (watched_here() && !deleter && !context) tell_memory(this, -static_cast<int64_t>(nbytes), device);
  if (deleter) deleter(context);
  else if (data != reinterpret_cast<char*>(this) + header) deallocate(data, nbytes);
  const size_t bytes = block;
  this->~Storage();
  deallocate(this, bytes);
}

namespace {
void release_whole(void* s) noexcept { static_cast<Storage*>(s)->dec_ref(); }
}  // namespace

Storage* shared_by(const Storage* s) noexcept { return s->deleter == release_whole ? static_cast<Storage*>(s->context) : nullptr; }

Storage* sharing(Storage* from) {
  Storage* first = shared_by(from);
  Storage* whole = first && first->data == from->data ? first : from;
  whole->inc_ref();
  return Storage::borrow(whole->data, whole->nbytes, release_whole, whole, whole->device);
}

}  // namespace adjoint
