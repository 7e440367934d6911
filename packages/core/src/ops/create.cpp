// Factories: plain tensors without history. Inside transforms they are constants.
#include <adjoint/core/cuda/memory.h>
#include <adjoint/core/observer.h>
#include <adjoint/core/ops.h>
#include <adjoint/core/sparse.h>

#include <algorithm>
#include <cmath>

namespace adjoint {

Tensor zeros(const Dims& sizes, DType dtype, Device device) {
  const Named named("zeros");
  return full(sizes, 0, dtype, device);
}
Tensor ones(const Dims& sizes, DType dtype, Device device) {
  const Named named("ones");
  return full(sizes, 1, dtype, device);
}
Tensor zeros_like(const Tensor& x) {
  const Named named("zeros_like", {&x, 1});
  return is_sparse(x) ? sparse_zeros(x) : full(x.sizes(), 0, x.dtype(), x.device());
}
Tensor ones_like(const Tensor& x) {
  const Named named("ones_like", {&x, 1});
  return full(x.sizes(), 1, x.dtype(), x.device());
}

namespace {

template <class T> int64_t arange_count(T start, T stop, T step) {
  expect(step != T(0), "arange: step must be nonzero");
  expect(step > T(0) ? start <= stop : start >= stop, "arange: upper bound and lower bound inconsistent with step sign");
  if constexpr (std::is_floating_point_v<T>) {
    const T n = std::ceil((stop - start) / step);
    expect(std::isfinite(n) && n < 0x1p62, "arange: unsupported range: ", start, " -> ", stop);
    return static_cast<int64_t>(n);
  } else {
    const uint64_t span = step > 0 ? uint64_t(stop) - uint64_t(start) : uint64_t(start) - uint64_t(stop);
    const uint64_t width = step > 0 ? uint64_t(step) : -uint64_t(step);
    return static_cast<int64_t>(span / width + (span % width != 0));
  }
}

// f(i) for each element i, in the wide type that f computes in.
template <class F> Tensor generate(const Dims& sizes, DType dtype, Device device, F&& f) {
  if (device.type == DeviceType::meta) return empty(sizes, dtype, device);
  Tensor t = empty(sizes, dtype);
  with_type(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    T* p = t.data<T>();
    for (int64_t i = 0; i < t.numel(); i++) p[i] = convert<T>(f(i));
  });
  return cuda::uploaded(t, device);
}

}  // namespace

Tensor arange(const Scalar& start, const Scalar& stop, const Scalar& step, DType dtype, Device device) {
  const Named named("arange");
  const bool whole = is_integral(start.dtype()) && is_integral(stop.dtype()) && is_integral(step.dtype());
  if (whole || is_integral(dtype)) {   // of integers: steps in them, and for int64 the length too
    for (const Scalar& v : {start, stop, step}) expect(v.dtype() != DType::uint64, "arange: value cannot be converted to type int64_t without overflow, got ", v.to<uint64_t>());
    const int64_t fraction_count = whole ? 0 : arange_count(start.to<double>(), stop.to<double>(), step.to<double>());
    const int64_t a = start.to<int64_t>(), s = step.to<int64_t>();
    expect(s != 0 || step.is_zero() || dtype != DType::int64, ErrorKind::value, "arange: step must be nonzero, got ", step.to<double>(), ", which is 0 as a whole number");
    const int64_t n = whole || dtype == DType::int64 ? arange_count(a, stop.to<int64_t>(), s) : fraction_count;
    return generate({n}, dtype, device, [=](int64_t i) { return a + i * s; });
  }
  const double a = start.to<double>(), s = step.to<double>();
  return generate({arange_count(a, stop.to<double>(), s)}, dtype, device, [=](int64_t i) { return a + static_cast<double>(i) * s; });
}

// The second half counts back from stop, so that both ends are exact.
Tensor linspace(double start, double stop, int64_t n, DType dtype, Device device) {
  const Named named("linspace");
  expect(n >= 0, "linspace: number of steps must be non-negative, got ", n);
  if (is_integral(dtype)) start = std::trunc(start), stop = std::trunc(stop);
  const double step = n > 1 ? (stop - start) / static_cast<double>(n - 1) : 0;
  return generate({n}, dtype, device, [=](int64_t i) { return i < (n + 1) / 2 ? start + step * static_cast<double>(i) : stop - step * static_cast<double>(n - 1 - i); });
}

Tensor eye(int64_t n, int64_t m, DType dtype, Device device) {
  const Named named("eye");
  expect(n >= 0, "eye: n must be greater or equal to 0, got ", n);
  expect(m >= 0, "eye: m must be greater or equal to 0, got ", m);
  if (device.type != DeviceType::cpu) return generate({n, m}, dtype, device, [=](int64_t i) { return i / m == i % m; });
  const Tensor y = zeros({n, m}, dtype, device);
  with_type(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    for (int64_t i = 0; i < std::min(n, m); i++) reinterpret_cast<T*>(y->data)[i * (m + 1)] = convert<T>(true);
  });
  return y;
}

}  // namespace adjoint
