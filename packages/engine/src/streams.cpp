// Which stream a node's backward runs on.
#include "streams.h"

#include <adjoint/core/cuda/graph.h>
#include <adjoint/core/error.h>
#include <adjoint/engine/autograd.h>

namespace adjoint::engine {

std::atomic<bool> override_stale_capture_stream{false};

namespace {

// The GPU that a node's inputs were on, or its cotangents are.
int device_of(const Node& n, std::span<const Tensor> cotangents) {
  for (size_t i = 0; i < n.edges.size(); i++)
    if (const InputMeta* m = n.input_meta(i); m && m->device.type == DeviceType::cuda) return m->device.index;
  return gpu_of(cotangents);
}

void order(const cuda::Stream& first, const cuda::Stream& then) {
  if (first == then) return;
  cuda::Event event;
  event.record(first);
  event.wait(then);
}

// Where a node runs while `current` captures: a stream that is not part of the capture joins it by waiting, but the default one cannot.
cuda::Stream within_capture(const Node& n, const cuda::Stream& wanted, const cuda::Stream& current) {
  if (cuda::capturing(wanted)) return wanted;
  if (override_stale_capture_stream) return current;
  expect(wanted.handle, "backward: ", n.name(), " was made on the default stream, which cannot take part in the capture of a CUDA graph. Make its forward part "
         "of the capture or run it on a side stream, drop what keeps it alive from before, or allow the capture's stream: autograd.graph.set_override_stale_capture_stream(True)");
  return wanted;
}

}  // namespace

int gpu_of(std::span<const Tensor> x) noexcept {
  for (const Tensor& t : x)
    if (t && t->device.type == DeviceType::cuda) return t->device.index;
  return -1;
}

void keep_stream(Node& n, Tensors x) {
  if (!cuda::side_streams.load(std::memory_order_relaxed)) return;
  if (const int device = gpu_of(x); device >= 0) n.stream = cuda::current_stream(device).number;
}

void Streams::enter(const Node& n, std::span<const Tensor> cotangents) {
  const int device = device_of(n, cotangents);
  if (device < 0) return;
  any_ = true;
  Place& place = places_[device];
  cuda::Stream& current = cuda::current_stream(device);
  if (!place.touched) place = {true, current};
  cuda::Stream wanted = cuda::stream_at(device, n.stream);
  if (!(wanted == current) && cuda::capturing(current)) wanted = within_capture(n, wanted, current);
  order(current, wanted);
  current = wanted;
}

void Streams::finish() {
  for (int d = 0; any_ && d < cuda::max_devices; d++)
    if (places_[d].touched) order(cuda::current_stream(d), places_[d].before);
}

void Streams::restore() noexcept {
  for (int d = 0; any_ && d < cuda::max_devices; d++)
    if (places_[d].touched) cuda::current_stream(d) = places_[d].before;
}

}  // namespace adjoint::engine
