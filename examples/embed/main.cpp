// The derivative of a function from plain C++: no Python in the process.
#include <adjoint/engine/autograd.h>

#include <cmath>
#include <cstdio>

using namespace adjoint;

int main() {
  engine::install();
  const Tensor x = full({3}, 0.5, DType::float64);
  engine::set_requires_grad(x, true);
  const Tensor y = sum(sin(x) * x);
  engine::backward({&y, 1}, {}, false, false);
  const double expected = std::cos(0.5) * 0.5 + std::sin(0.5);
  const double got = engine::gradient(x).data<double>()[0];
  std::printf("y = %.6f, dy/dx = %.6f, expected %.6f\n", *y.data<double>(), got, expected);
  return std::abs(got - expected) < 1e-12 ? 0 : 1;
}
