// Reverse mode from C++: values, higher orders, a deep graph, what is freed and when, hooks.
#include <adjoint/engine/autograd.h>

#include <cmath>

#include "check.h"

using namespace adjoint;
using test::check;
using test::check_raises;

namespace {

Tensor leaf(const Dims& sizes, double value) {
  Tensor x = full(sizes, value, DType::float64);
  engine::set_requires_grad(x, true);
  return x;
}
void backward(const Tensor& y, bool retain_graph = false, bool create_graph = false) { engine::backward({&y, 1}, {}, retain_graph, create_graph); }
double first(const Tensor& x) { return x.data<double>()[0]; }
bool close(double a, double b) { return std::abs(a - b) <= 1e-12 * std::abs(b); }

void values() {
  const Tensor x = leaf({3}, 0.5), w = leaf({2, 1}, 2);
  backward(sum(exp(x) * w));
  check(close(first(engine::gradient(x)), 4 * std::exp(0.5)), "a gradient summed over what was broadcast", first(engine::gradient(x)));
  check(engine::gradient(w).sizes() == Dims{2, 1} && close(first(engine::gradient(w)), 3 * std::exp(0.5)), "and of the operand that was broadcast");
  backward(sum(x * 1.));
  check(close(first(engine::gradient(x)), 4 * std::exp(0.5) + 1), "gradients add up", first(engine::gradient(x)));
}

void higher_orders() {
  const Tensor x = leaf({}, 2);
  Tensor y = x * x * x * x;
  for (const double expected : {32., 48., 48., 24.}) {
    y = engine::grad({&y, 1}, {&x, 1}, {}, true, true)[0];
    check(close(first(y), expected), "derivatives of x^4 at 2", first(y));
  }
}

// Neither running nor freeing it may recurse.
void deep_graph() {
  const Tensor x = leaf({}, 1);
  Tensor y = x;
  for (int i = 0; i < 200000; i++) y = y + 1.;
  backward(y);
  check(first(engine::gradient(x)) == 1, "a chain of 200000 nodes", first(engine::gradient(x)));
}

void freed_graph() {
  const Tensor x = leaf({2}, 3), y = sum(x * x);
  backward(y, true);
  backward(y);
  check(first(engine::gradient(x)) == 12, "retain_graph lets a second backward run", first(engine::gradient(x)));
  check_raises(ErrorKind::runtime, "a third does not", [&] { backward(y); });
  const Tensor z = x * x, total = sum(z * z), one = full({2}, 1.0, DType::float64);
  apply_inplace(op_add, z, {&one, 1});
  check_raises(ErrorKind::runtime, "a saved tensor that was written to", [&] { backward(total); });
}

void graph_outlives_the_leaf() {
  Tensor x = leaf({2}, 3);
  const Tensor y = sum(x * x);
  const TensorImpl* address = x.get();
  x = {};
  check(engine::gradient_edge(y).node && address->use_count() > 0, "the graph keeps its leaf");
  backward(y);
}

struct Doubled final : engine::TensorHook {
  Tensor call(const Tensor& g) override { calls++; return g * 2.; }
  int calls = 0;
};

void hooks() {
  const Tensor x = leaf({2}, 3), y = x * x;
  const Ref<Doubled> hook(new Doubled);
  Ref<engine::TensorHook> given(hook.get());
  engine::node(y)->hooks().tensor.push_back({0, given});
  backward(sum(y));
  check(hook->calls == 1 && first(engine::gradient(x)) == 12, "a hook replaces the cotangent", first(engine::gradient(x)));
}

void no_recording() {
  const Tensor x = leaf({2}, 3);
  engine::NoGrad guard;
  const Tensor y = x * x;
  check(!y->grad_fn && engine::is_leaf(y), "nothing is recorded under NoGrad");
  check_raises(ErrorKind::runtime, "and backward has nothing to run", [&] { backward(sum(y)); });
}

}  // namespace

int main() {
  engine::install();
  values();
  higher_orders();
  deep_graph();
  freed_graph();
  graph_outlives_the_leaf();
  hooks();
  no_recording();
  return test::failures;
}
