// Modes: which faces a thread records (a window of level serials instead of one flag), layout of gradients; anomaly detection.
#pragma once
#include <adjoint/core/tensor.h>

#include <atomic>

namespace adjoint::engine {

struct Window { uint32_t lo = 0, hi = ~0u; };
ADJOINT_API extern constinit thread_local Window window;

inline bool recording(uint32_t level) { return window.lo <= level && level <= window.hi; }
ADJOINT_API bool grad_enabled();
ADJOINT_API void set_grad_enabled(bool enabled);

// Nodes made while it is enabled remember the whole forward stack; backward names the node that fails or makes a nan.
// Of the process, not of a thread: a backward in another thread is to be watched, too.
struct Anomaly { std::atomic<bool> enabled{false}, check_nan{true}; };
ADJOINT_API extern constinit Anomaly anomaly;
ADJOINT_API extern constinit thread_local bool grad_layout_policy;   // a first gradient is laid out like its leaf

ADJOINT_API extern constinit thread_local bool multithreading;       // nodes of a GPU run on the thread of that GPU
ADJOINT_API extern constinit thread_local bool forward_mode;         // dual levels carry tangents

// In the forward of a custom Function nothing is recorded. What is computed there from tensors with history is marked, so that
// saving it, and differentiating through it later, can be refused.
ADJOINT_API extern constinit thread_local bool marks_intermediates;
constexpr uint32_t key_intermediate = 16;   // one more of the keys of tensor.h

// Restores the window when it goes.
struct WindowGuard {
  const Window saved = window;
  WindowGuard() = default;
  explicit WindowGuard(Window w) { window = w; }
  WindowGuard(const WindowGuard&) = delete;
  ~WindowGuard() { window = saved; }
};
struct NoGrad : WindowGuard {
  NoGrad() { window.lo = level_top + 1; }
};

}  // namespace adjoint::engine
