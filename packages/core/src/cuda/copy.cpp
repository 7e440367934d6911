// Storage on a device, and the transfers that need no kernel.
#include <adjoint/core/cuda/graph.h>
#include <adjoint/core/cuda/memory.h>
#include <adjoint/core/cuda/work.h>
#include <adjoint/core/error.h>
#include <adjoint/core/without_gil.h>

#include <algorithm>
#include <cstring>

#include "cuda/pinned.h"

namespace adjoint::cuda {

namespace {

void release_block(void* context) noexcept {
  if (context) release(static_cast<Block*>(context));
}

Pointer pointer(const void* p) { return reinterpret_cast<Pointer>(p); }

void wait(const Stream& stream) {
  WithoutGil free(true);
  stream.synchronize();
}

template <class F> void put_copy(const char* name, size_t bytes, const Stream& stream, F&& f) {
  put({.kind = Work::Kind::copy, .name = name, .stream = stream, .bytes = bytes}, f);
}

// One side is the host.
void copy_host(const TensorImpl& to, const TensorImpl& from, size_t bytes, bool non_blocking) {
  const bool upload = to.device.type == DeviceType::cuda;
  const TensorImpl &far = upload ? to : from, &near = upload ? from : to;
  const int device = far.device.index;
  enter(device);
  const Stream& stream = current_stream(device);
  const bool pinned = is_pinned(*near.storage);
  if (Graph* graph = recorder(stream)) {
    if (!pinned || !non_blocking) fail_capturing("to, copy_: a copy to or from the host that waits; copies of pinned memory with non_blocking=True do not");
    graph->keep(*near.storage);
  }
  note_use(far, stream);
  if (upload) {
    put_copy(pinned ? "Memcpy HtoD (Pinned -> Device)" : "Memcpy HtoD (Pageable -> Device)", bytes, stream,
             [&] { check(driver().copy_to_device(pointer(to.data), from.data, bytes, stream.handle), "cuMemcpyHtoDAsync"); });
  } else {
    put_copy(pinned ? "Memcpy DtoH (Device -> Pinned)" : "Memcpy DtoH (Device -> Pageable)", bytes, stream,
             [&] { check(driver().copy_to_host(to.data, pointer(from.data), bytes, stream.handle), "cuMemcpyDtoHAsync"); });
  }
  if (pinned) note_copy(*near.storage, stream);
  if (!pinned || !non_blocking) wait(stream);
}

void copy_devices(const TensorImpl& to, const TensorImpl& from, size_t bytes) {
  const Stream &source = current_stream(from.device.index), &target = current_stream(to.device.index);
  if (capturing(source) != capturing(target)) fail_capturing("a copy between GPUs of which one does not take part in the capture");
  Event ready, done;
  ready.record(target);
  ready.wait(source);
  note_use(from, source);
  put_copy("Memcpy PtoP (Device -> Device)", bytes, source, [&] {
    check(driver().copy_between(pointer(to.data), context(to.device.index), pointer(from.data), context(from.device.index), bytes, source.handle), "cuMemcpyPeerAsync");
  });
  done.record(source);
  done.wait(target);
  note_use(to, target);
}

}  // namespace

void note_use(const TensorImpl& t, const Stream& stream) {
  if (t.storage && t.storage->deleter == release_block && t.storage->context) use(static_cast<Block*>(t.storage->context), stream);
}

size_t booked_bytes(const Storage& s) noexcept { return s.deleter == release_block && s.context ? size_of(static_cast<const Block*>(s.context)) : 0; }

int device_of(const void* p) {
  constexpr int device_ordinal = 9;
  enter(current_device());
  int index = 0;
  check(driver().pointer_attribute(&index, device_ordinal, pointer(p)), "cuPointerGetAttribute");
  return index;
}

Storage* make_storage(size_t bytes, Device device) {
  Block* b = bytes ? allocate(bytes, device.index) : nullptr;
  return Storage::borrow(b ? address(b) : nullptr, bytes, release_block, b, device);
}

void begin_call(Device device, std::span<const Tensor> operands) {
  enter(device.index);
  const Stream& stream = current_stream(device.index);
  for (const Tensor& t : operands) note_use(*t, stream);
}

namespace {

void set(void* data, size_t count, size_t itemsize, const void* value, StreamHandle stream) {
  const auto* bytes = static_cast<const unsigned char*>(value);
  const Pointer to = pointer(data);
  if (std::all_of(bytes, bytes + itemsize, [&](unsigned char b) { return b == bytes[0]; }))
    return check(driver().set8(to, bytes[0], count * itemsize, stream), "cuMemsetD8Async");
  uint32_t words[4] = {};
  std::memcpy(words, value, itemsize);
  if (itemsize == 2) return check(driver().set16(to, static_cast<uint16_t>(words[0]), count, stream), "cuMemsetD16Async");
  if (itemsize == 4) return check(driver().set32(to, words[0], count, stream), "cuMemsetD32Async");
  for (size_t i = 0; i < itemsize / 4; i++) check(driver().set_column32(to + 4 * i, itemsize, words[i], 1, count, stream), "cuMemsetD2D32Async");
}

}  // namespace

void fill(void* data, size_t count, size_t itemsize, const void* value, int device) {
  if (!count) return;
  enter(device);
  const Stream& stream = current_stream(device);
  put({.kind = Work::Kind::fill, .name = "Memset (Device)", .stream = stream, .bytes = count * itemsize}, [&] { set(data, count, itemsize, value, stream.handle); });
}

void read(void* host, const void* data, size_t bytes, int device) {
  if (!bytes) return;
  enter(device);
  const Stream& stream = current_stream(device);
  if (capturing(stream)) fail_capturing("item, tolist, bool: a value is read on the host, which has none before the replay");
  put_copy("Memcpy DtoH (Device -> Pageable)", bytes, stream, [&] { check(driver().copy_to_host(host, pointer(data), bytes, stream.handle), "cuMemcpyDtoHAsync"); });
  wait(stream);
}

void write(void* data, const void* host, size_t bytes, int device) {
  if (!bytes) return;
  enter(device);
  const Stream& stream = current_stream(device);
  put_copy("Memcpy HtoD (Pageable -> Device)", bytes, stream, [&] { check(driver().copy_to_device(pointer(data), host, bytes, stream.handle), "cuMemcpyHtoDAsync"); });
  wait(stream);
}

void copy_on(const Stream& stream, void* to, const void* from, size_t bytes) {
  put_copy("Memcpy DtoD (Device -> Device)", bytes, stream, [&] { check(driver().copy_on_device(pointer(to), pointer(from), bytes, stream.handle), "cuMemcpyDtoDAsync"); });
}

void copy(const TensorImpl& to, const TensorImpl& from, bool non_blocking) {
  const auto bytes = static_cast<size_t>(from.numel * itemsize(from.dtype));
  if (!bytes) return;
  if (to.device.type == DeviceType::cpu && from.device.type == DeviceType::cpu) {
    std::memcpy(to.data, from.data, bytes);
  } else if (to.device == from.device) {
    enter(to.device.index);
    const Stream& stream = current_stream(to.device.index);
    note_use(to, stream);
    note_use(from, stream);
    copy_on(stream, to.data, from.data, bytes);
  } else if (to.device.type == from.device.type) {
    copy_devices(to, from, bytes);
  } else {
    copy_host(to, from, bytes, non_blocking);
  }
}

}  // namespace adjoint::cuda
