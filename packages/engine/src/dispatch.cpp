// Who is asked, and what becomes of the answer.
#include <adjoint/engine/autograd.h>
#include <adjoint/engine/dispatch.h>

#include <algorithm>

namespace adjoint::engine {

const Dispatcher* dispatcher = nullptr;
constinit Slot below_all;
constinit thread_local int dispatch_modes = 0;
constinit thread_local bool dispatch_off = false;

bool is_asked(Tensors x) {
  if (!dispatcher) return false;
  return dispatch_modes || (!dispatch_off && std::any_of(x.begin(), x.end(), [](const Tensor& t) { return t->keys & key_dispatch; }));
}

namespace {

struct NothingRecorded : WindowGuard {
  NothingRecorded() : WindowGuard({~0u, ~0u}) {}
};

void expect_memory(const Op& op, Tensors x) {
  for (const Tensor& t : x) expect(!has_no_memory(t), op.name, ": a tensor of a class with __torch_dispatch__ has no values here: the class must answer the call");
}

// What is recorded must be a tensor of its own.
bool is_taken(const Tensor& y, Tensors x) {
  return y->grad_fn || std::any_of(x.begin(), x.end(), [&](const Tensor& t) { return t.is(y); });
}

}  // namespace

void run_or_ask(const Op& op, Tensors x, const Attrs& attrs, Tensor* y) {
  if (!is_asked(x)) {
    expect_memory(op, x);
    return run(op, x, attrs, y);
  }
  NothingRecorded guard;
  dispatcher->call(op, x, attrs, false, y);
  for (int k = 0; k < op.outputs; k++)
    if (is_taken(y[k], x)) y[k] = detach(y[k]);
}

void run_inplace_or_ask(const Op& op, Tensors x, const Attrs& attrs) {
  if (!is_asked(x)) {
    expect_memory(op, x);
    return run_inplace(op, x[0], x.subspan(1), attrs);
  }
  {
    NothingRecorded guard;
    dispatcher->call(op, x, attrs, true, nullptr);
  }
  if (has_no_memory(x[0])) bump_version(*bottom(x[0]));
}

}  // namespace adjoint::engine
