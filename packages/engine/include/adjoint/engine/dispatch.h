// __torch_dispatch__: calls that Python answers below all levels and tapes, for tensors of classes that ask for it and while a mode is entered.
#pragma once
#include <adjoint/core/wrapper.h>
#include <adjoint/engine/level.h>

namespace adjoint::engine {

struct Dispatcher {
  // Answers op(x...): the results in y, which may be anything. Of a call in place x[0] is written to, and y is not looked at.
  void (*call)(const Op& op, Tensors x, const Attrs& attrs, bool in_place, Tensor* y);
  Tensor (*detached)(const Tensor& t);   // another one with its values
};
ADJOINT_API extern const Dispatcher* dispatcher;              // Python's; null until a class or a mode comes
ADJOINT_API extern constinit thread_local int dispatch_modes;  // that are to be asked in this thread
ADJOINT_API extern constinit thread_local bool dispatch_off;   // classes are not asked

extern constinit Slot below_all;   // where wrappers stand: its serial stays 0, which is the level of their faces

bool is_asked(Tensors x);
inline bool has_no_memory(const Tensor& t) { return t->keys & key_dispatch && t->keys & key_lifted && face(t)->slot == &below_all; }
// A tensor that is nothing but its class: sizes, strides, type and device. Reading its values is an error.
Tensor wrapper(const Dims& sizes, const Dims& strides, DType dtype, Device device);

// In place of run and run_inplace, where somebody may have to be asked.
void run_or_ask(const Op& op, Tensors x, const Attrs& attrs, Tensor* y);
void run_inplace_or_ask(const Op& op, Tensors x, const Attrs& attrs);

}  // namespace adjoint::engine
