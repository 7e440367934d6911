// On GPUs a node runs on the stream of its forward call, and a leaf accumulates on the stream of its first use.
#pragma once
#include <adjoint/core/cuda/stream.h>
#include <adjoint/engine/node.h>

namespace adjoint::engine {

// The GPU of the first of these that is on one; -1 without.
int gpu_of(std::span<const Tensor> x) noexcept;

// The streams of one backward. Work goes on where the node's stream says, after all that was done before on other streams, so that
// cotangents and their sums are in order; at the end, the streams that were current wait for it.
class Streams {
 public:
  Streams() = default;
  Streams(const Streams&) = delete;
  ~Streams() { restore(); }
  void enter(const Node& n, std::span<const Tensor> cotangents);
  void finish();

 private:
  void restore() noexcept;
  struct Place { bool touched = false; cuda::Stream before; };
  bool any_ = false;
  Place places_[cuda::max_devices];
};

}  // namespace adjoint::engine
