// Kernels on several threads, called from several threads: the same bits as one thread gives.
#include <adjoint/core/ops.h>

#include <cblas.h>

#include <cstring>

#include "check.h"
#include "kernels.h"
#include "pool.h"

using namespace adjoint;
using test::check;
using test::in_threads;

namespace {

struct Case { const char* name; Tensor (*f)(const Tensor& x); };

// One of each family that cuts its work into blocks; x is a matrix.
const Case cases[] = {
    {"exp", [](const Tensor& x) { return exp(x); }},
    {"add of a transpose", [](const Tensor& x) { return add(x, mT(x)); }},
    {"greater", [](const Tensor& x) { return gt(x, mT(x)); }},
    {"gelu", [](const Tensor& x) { return gelu(x, false); }},
    {"contiguous", [](const Tensor& x) { return contiguous(mT(x)); }},
    {"cast", [](const Tensor& x) { return to_dtype(x, DType::float16); }},
    {"sum", [](const Tensor& x) { return sum(x); }},
    {"sum over rows", [](const Tensor& x) { return sum(x, Dims{0}); }},
    {"sum over columns", [](const Tensor& x) { return sum(x, Dims{1}); }},
    {"var", [](const Tensor& x) { return var(x, Dims{1}); }},
    {"amax", [](const Tensor& x) { return amax(x, Dims{0}); }},
    {"argmax", [](const Tensor& x) { return argmax(x, 1); }},
    {"softmax", [](const Tensor& x) { return softmax(x, 1); }},
    {"softmax over columns", [](const Tensor& x) { return softmax(x, 0); }},
    {"layer_norm", [](const Tensor& x) { return layer_norm(x, Dims{x.size(1)}, {}, {}, 1e-5); }},
    {"batch_norm_vjp", [](const Tensor& x) { return channels_vjp(x, mT(x), full({300}, 0.1, x.dtype()), full({300}, 0.9, x.dtype()), {}, 1e-5, false); }},
    {"cumsum", [](const Tensor& x) { return cumsum(x, 0); }},
    {"sort", [](const Tensor& x) { return sort(x, 1).indices; }},
    {"matmul", [](const Tensor& x) { return matmul(x, x); }},
};

bool same_bits(const Tensor& a, const Tensor& b) { return a.sizes() == b.sizes() && std::memcmp(a->data, b->data, a.numel() * itemsize(a.dtype())) == 0; }

}  // namespace

int main() {
  scipy_openblas_set_num_threads(1);
  cpu::for_entries([](const cpu::Entry& e) { register_kernel(e.name, DeviceType::cpu, e.kernel); });
  Generator generator{1};
  const Tensor x = randn({300, 300}, DType::float32, generator);
  for (const Case& c : cases) {
    pool::set_num_threads(1);
    const Tensor expected = contiguous(c.f(x));
    pool::set_num_threads(3);
    in_threads(3, [&](int) {
      for (int i = 0; i < 3; i++) check(same_bits(contiguous(c.f(x)), expected), "the same bits for any number of threads", c.name);
    });
  }
  return test::failures;
}
