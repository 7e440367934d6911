// Discrete Fourier transforms along one dimension: of complex numbers, and between real signals and half of their transform.
#include <adjoint/core/batch.h>
#include <adjoint/core/fft.h>
#include <adjoint/core/op_fields.h>
#include <adjoint/core/types.h>

#include "families.h"
#include "lanes.h"

namespace adjoint {

static void describe(const Fourier& a, FieldList& f) { f.add("dim", a.dim); f.add("inverse", a.inverse); f.add("scale", a.scale); f.add("length", a.size); }

namespace {

using Z = Complex<double>;

int64_t smallest_factor(int64_t n) {
  for (int64_t p = 2; p * p <= n; p++)
    if (n % p == 0) return p;
  return n;
}

// y = transform of the n elements x[0], x[step], ...; roots[j * step] is e^(-2 pi i j / n).
void transform(const Z* x, int64_t step, int64_t n, const std::vector<Z>& roots, Z* y) {
  if (n == 1) return void(y[0] = x[0]);
  const int64_t p = smallest_factor(n), m = n / p;
  std::vector<Z> parts(n);
  for (int64_t r = 0; r < p; r++) transform(x + r * step, step * p, m, roots, parts.data() + r * m);
  for (int64_t k = 0; k < n; k++) {
    y[k] = Z(0);
    for (int64_t r = 0; r < p; r++) y[k] += roots[r * k % n * step] * parts[r * m + k % m];
  }
}

// For each line: f(read its elements into x, ...) then the transform of n elements, then its elements written.
template <class Read, class Write> void lines(const Launch& l, int64_t n, Read&& read, Write&& write) {
  const Fourier& a = l.attrs.as<Fourier>();
  std::vector<Z> roots, x(n), y(n);
  for (int64_t j = 0; j < n; j++) roots.push_back(root_of_unity(j, n));
  for_lines<2>({&l.x[0], &l.y[0]}, a.dim, [&](char* const* p, const int64_t* s, int64_t) {
    for (int64_t i = 0; i < n; i++) {
      x[i] = read(p[0], s[0], i);
      if (a.inverse) x[i].im = -x[i].im;
    }
    transform(x.data(), 1, n, roots, y.data());
    for (int64_t i = 0; i < l.y[0].sizes[a.dim]; i++) write(p[1] + i * s[1], (a.inverse ? conj(y[i]) : y[i]) * a.scale);
  });
}
template <class F> void with_real(DType t, F&& f) {
  if (real_of(t) == DType::float32) f(TypeTag<float>{});
  else f(TypeTag<double>{});
}

void fft_kernel(const Launch& l) {
  with_real(l.x[0].dtype, [&](auto tag) {
    using R = typename decltype(tag)::type;
    const auto read = [real = !is_complex(l.x[0].dtype)](char* p, int64_t s, int64_t i) { return real ? Z(at<R>(p + i * s)) : Z(at<Complex<R>>(p + i * s)); };
    lines(l, l.x[0].sizes[l.attrs.as<Fourier>().dim], read, [](char* p, Z v) { at<Complex<R>>(p) = Complex<R>(v); });
  });
}
void rfft_kernel(const Launch& l) {
  with_real(l.x[0].dtype, [&](auto tag) {
    using R = typename decltype(tag)::type;
    lines(l, l.x[0].sizes[l.attrs.as<Fourier>().dim], [](char* p, int64_t s, int64_t i) { return Z(at<R>(p + i * s)); }, [](char* p, Z v) { at<Complex<R>>(p) = Complex<R>(v); });
  });
}
void irfft_kernel(const Launch& l) {
  const int64_t n = l.attrs.as<Fourier>().size;
  with_real(l.x[0].dtype, [&](auto tag) {
    using R = typename decltype(tag)::type;
    const auto read = [n](char* p, int64_t s, int64_t i) {   // the other half is conjugate; what is its own conjugate is real
      const Z v(at<Complex<R>>(p + std::min(i, n - i) * s));
      return 2 * i < n && i > 0 ? v : 2 * i > n ? conj(v) : Z(v.re);
    };
    lines(l, n, read, [](char* p, Z v) { at<R>(p) = static_cast<R>(v.re); });
  });
}

Types to_complex(Tensors x, const Attrs&) { return {x[0].dtype(), {complex_of(x[0].dtype())}}; }
Types to_real(Tensors x, const Attrs&) { return {x[0].dtype(), {real_of(x[0].dtype())}}; }
void half_shape(Tensors x, const Attrs& attrs, Dims* out) {
  const int dim = attrs.as<Fourier>().dim;
  out[0] = x[0].sizes();
  out[0][dim] = x[0].size(dim) / 2 + 1;
}
void signal_shape(Tensors x, const Attrs& attrs, Dims* out) {
  const Fourier& a = attrs.as<Fourier>();
  out[0] = x[0].sizes();
  out[0][a.dim] = a.size;
}

// x times `factor`, but for the elements of half a transform that stand for themselves alone: the first and, of an even signal, the last.
Tensor weighted(const Tensor& x, const Fourier& a, double factor) {
  const int64_t m = x.size(a.dim), last = a.size % 2 == 0 && m > 1;
  Dims between(x.dim(), 1), before(x.dim(), 0), after(x.dim(), 0);
  between[a.dim] = m - 1 - last;
  before[a.dim] = 1;
  after[a.dim] = last;
  return x * pad(full(between, factor, real_of(x.dtype()), x.device()), before, after, 1);
}
int checked_dim(const Tensor& x, int64_t dim, const char* op) {
  expect(!is_half(x.dtype()), op, ": Unsupported dtype ", x.dtype());
  expect(x.dim() > 0, op, ": Dimension specified as ", dim, " but tensor has no dimensions");
  const int d = wrap_dim(dim, x.dim(), op);
  expect(x.size(d) > 0, op, ": Invalid number of data points (0) specified");
  return d;
}

}  // namespace

const Op op_fft{.name = "fft", .torch = "FftC2C", .fields = fields_of<Fourier>, .kind = Kind::linear, .types = to_complex, .shape = shapes::same,
    .d = {rule([](V v, XShape<0> x, const Fourier& a) {
      const Tensor y = fft(v, a.dim, !a.inverse, a.scale);
      return is_complex(x.dtype) ? y : real(y);
    })},
    .batch = batch::shift<&Fourier::dim>, .doc = "The discrete Fourier transform along a dimension, or the inverse one, times a factor.", .reference = fft_kernel};
Tensor fft(const Tensor& x, int64_t dim, bool inverse, double scale) {
  const int d = checked_dim(x, dim, "fft");
  const DType t = to_floating(x.dtype());   // kernels on a GPU take complex numbers alone
  return apply(op_fft, {to_dtype(x, x.device().type == DeviceType::cuda ? complex_of(t) : t)}, Fourier{d, inverse, scale, 0});
}

const Op op_rfft{.name = "rfft", .torch = "FftR2C", .fields = fields_of<Fourier>, .kind = Kind::linear, .types = to_complex, .shape = half_shape,
    .d = {rule([](V v, const Fourier& a) { return irfft(weighted(v, a, 0.5), a.dim, a.size, a.scale); })},
    .batch = batch::shift<&Fourier::dim>, .doc = "The first half of the discrete Fourier transform of real numbers along a dimension, times a factor.", .reference = rfft_kernel};
Tensor rfft(const Tensor& x, int64_t dim, double scale) {
  const int d = checked_dim(x, dim, "rfft");
  expect(!is_complex(x.dtype()), "rfft: expects a real input tensor, but got ", x.dtype());
  return apply(op_rfft, {to_dtype(x, to_floating(x.dtype()))}, Fourier{d, false, scale, x.size(d)});
}

const Op op_irfft{.name = "irfft", .torch = "FftC2R", .fields = fields_of<Fourier>, .kind = Kind::linear, .types = to_real, .shape = signal_shape,
    .d = {rule([](V v, const Fourier& a) {
      const Tensor y = rfft(v, a.dim, a.scale);
      return weighted(y, a, 2);
    })},
    .batch = batch::shift<&Fourier::dim>, .doc = "The real numbers along a dimension whose discrete Fourier transform begins with x, times n and a factor.", .reference = irfft_kernel};
Tensor irfft(const Tensor& x, int64_t dim, int64_t n, double scale) {
  const int d = checked_dim(x, dim, "irfft");
  expect(n >= 1, "irfft: Invalid number of data points (", n, ") specified");
  expect(x.size(d) == n / 2 + 1, ErrorKind::shape, "irfft: a signal of ", n, " elements has ", n / 2 + 1, " elements of its transform, got ", x.size(d));
  return apply(op_irfft, {is_complex(x.dtype()) ? x : to_dtype(x, complex_of(to_floating(x.dtype())))}, Fourier{d, true, scale, n});
}

const Op* const fft_ops[] = {&op_fft, &op_irfft, &op_rfft};
Ops families::fft() { return fft_ops; }

}  // namespace adjoint
