// Forward and backward in several threads at once; for the thread sanitizer as much as for the results.
#include <adjoint/engine/autograd.h>

#include "check.h"

using namespace adjoint;
using test::check;
using test::in_threads;

namespace {

constexpr int threads = 4, rounds = 100;

Tensor leaf(const Dims& sizes, double value) {
  Tensor x = full(sizes, value, DType::float64);
  engine::set_requires_grad(x, true);
  return x;
}
void backward(const Tensor& y, bool retain_graph = false) { engine::backward({&y, 1}, {}, retain_graph, false); }
double first(const Tensor& x) { return x.data<double>()[0]; }

// Nothing is shared but the library.
void separate_graphs() {
  in_threads(threads, [](int me) {
    for (int i = 0; i < rounds; i++) {
      const Tensor x = leaf({4, 4}, me + 1);
      backward(sum(matmul(x, x) * tanh(x * 0.)) + sum(exp(x * 0.)) * 0. + sum(x * x));
      check(engine::gradient(x).sizes() == Dims{4, 4}, "a graph of one's own");
    }
  });
}

// The weights belong to all threads: each records on them, runs backward into them, and drops its graph.
void shared_leaf() {
  const Tensor w = leaf({8}, 1);
  in_threads(threads, [&](int) {
    for (int i = 0; i < rounds; i++) backward(sum(w * w));
  });
  check(first(engine::gradient(w)) == 2. * threads * rounds, "no gradient is lost", first(engine::gradient(w)));
}

// The node of the leaf goes with the last graph on it, while another thread asks for it.
void node_of_a_shared_leaf() {
  const Tensor w = leaf({2}, 1);
  in_threads(threads, [&](int) {
    for (int i = 0; i < 20 * rounds; i++) {
      const engine::Edge e = engine::gradient_edge(w), same = engine::gradient_edge(w);
      check(e.node == same.node, "a leaf has one node");
    }
  });
  check(w->use_count() == 1 && !engine::meta(w)->accumulator, "and none when no graph is left", w->use_count());
}

// One graph, several backward passes over it.
void shared_graph() {
  const Tensor x = leaf({8}, 3), y = sum(exp(x * 0.) * x * x);
  in_threads(threads, [&](int) {
    for (int i = 0; i < rounds; i++) {
      const Tensor g = engine::grad({&y, 1}, {&x, 1}, {}, true, false)[0];
      check(first(g) == 6, "a retained graph can be run by all threads", first(g));
    }
  });
  in_threads(threads, [&](int) { backward(y, true); });
  check(first(engine::gradient(x)) == 6. * threads, "and into one leaf", first(engine::gradient(x)));
}

// Modes belong to a thread.
void modes() {
  const Tensor x = leaf({2}, 3);
  in_threads(threads, [&](int me) {
    for (int i = 0; i < rounds; i++) {
      engine::WindowGuard guard;
      engine::set_grad_enabled(me % 2 == 0);
      check(engine::requires_grad(x * x) == (me % 2 == 0), "each thread records or does not");
    }
  });
}

}  // namespace

int main() {
  engine::install();
  separate_graphs();
  shared_leaf();
  node_of_a_shared_leaf();
  shared_graph();
  modes();
  return test::failures;
}
