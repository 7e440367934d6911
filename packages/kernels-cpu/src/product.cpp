// Products along one dimension, of floats in double arithmetic. Rows are cut, and their parts joined, by shape alone.
#include <adjoint/core/op_attrs.h>

#include <algorithm>

#include "compilers.h"
#include "flushed.h"
#include "isa.h"
#include "kernels.h"
#include "lines.h"
#include "pool.h"

namespace adjoint::cpu {

namespace {

constexpr int64_t block = 32768;  // elements of a line that are multiplied at a time
constexpr int64_t strip = 512;    // columns

template <class T> struct WideOf { using type = double; };
template <> struct WideOf<int64_t> { using type = uint64_t; };  // integers wrap
template <> struct WideOf<Complex<float>> { using type = Complex<double>; };
template <class T> using Wide = typename WideOf<T>::type;

template <class T> struct ProductOfRows {
  template <int W> [[gnu::always_inline]] static inline void run(const T* x, int64_t n, int64_t rows, Wide<T>* y) {
    for (int64_t r = 0; r < rows; r++, x += n) y[r] = n < few ? in_order(x, n) : n < 8 * many ? in_lanes<W, few>(x, n) : in_lanes<W, many>(x, n);
  }

 private:
  static constexpr int64_t few = 8, many = 32;
  [[gnu::always_inline]] static inline Wide<T> in_order(const T* x, int64_t n) {
    Wide<T> p = 1;
    for (int64_t i = 0; i < n; i++) p *= static_cast<Wide<T>>(x[i]);
    return p;
  }
  template <int W, int64_t lanes> [[gnu::always_inline]] static inline Wide<T> in_lanes(const T* x, int64_t n) {
    if constexpr (is_complex_v<T>) return of_parts<W>(x, n);
    else return of_numbers<lanes>(x, n);
  }
  // Sixteen products at a time, in vectors of real and of imaginary parts.
  template <int W> [[gnu::always_inline]] static inline Wide<T> of_parts(const T* x, int64_t n) {
    constexpr int64_t width = W / 8, vectors = 16 / width;
    typedef double Vector __attribute__((vector_size(W)));
    typedef float Half __attribute__((vector_size(W / 2), aligned(4), may_alias));
    typedef std::enable_if_t<(W > 0), int32_t> Places __attribute__((vector_size(W / 2)));
    Places even;
    for (int j = 0; j < width; j++) even[j] = 2 * j;
    Vector re[vectors], im[vectors];
#pragma GCC unroll 8
    for (int v = 0; v < vectors; v++) re[v] = Vector{} + 1., im[v] = Vector{};
    int64_t i = 0;
    for (; i + 16 <= n; i += 16)
#pragma GCC unroll 8
      for (int v = 0; v < vectors; v++) {
        const Half* const from = reinterpret_cast<const Half*>(x + i + v * width);
        const Half low = from[0], high = from[1];
        const Vector a = __builtin_convertvector(shuffle(low, high, even), Vector), b = __builtin_convertvector(shuffle(low, high, even + 1), Vector), before = re[v];
        re[v] = before * a - im[v] * b, im[v] = before * b + im[v] * a;
      }
    Wide<T> p(1);
#pragma GCC unroll 8
    for (int v = 0; v < vectors; v++)
      for (int j = 0; j < width; j++) p *= Wide<T>(re[v][j], im[v][j]);
    for (; i < n; i++) p *= static_cast<Wide<T>>(x[i]);
    return p;
  }
  template <int64_t lanes> [[gnu::always_inline]] static inline Wide<T> of_numbers(const T* x, int64_t n) {
    Wide<T> p[lanes];
    for (int64_t j = 0; j < lanes; j++) p[j] = 1;
    int64_t i = 0;
    for (; i + lanes <= n; i += lanes)
      for (int64_t j = 0; j < lanes; j++) p[j] *= static_cast<Wide<T>>(x[i + j]);
    for (int64_t j = 0; i < n; i++, j++) p[j] *= static_cast<Wide<T>>(x[i]);
    for (int64_t half = lanes / 2; half; half /= 2)
      for (int64_t j = 0; j < half; j++) p[j] *= p[j + half];
    return p[0];
  }
};

template <class T> struct ProductOfColumns {
  static constexpr bool narrow = is_complex_v<T>;
  template <int W> [[gnu::always_inline]] static inline void run(const T* x, int64_t down, int64_t rows, int64_t columns, Wide<T>* y) {
    for (int64_t j = 0; j < columns; j++) y[j] = 1;
    int64_t i = 0;
    for (; i + 4 <= rows; i += 4) {
      const T *a = x + i * down, *b = a + down, *c = b + down, *d = c + down;
      ADJOINT_INDEPENDENT
      for (int64_t j = 0; j < columns; j++)
        y[j] *= (static_cast<Wide<T>>(a[j]) * static_cast<Wide<T>>(b[j])) * (static_cast<Wide<T>>(c[j]) * static_cast<Wide<T>>(d[j]));
    }
    for (; i < rows; i++)
      ADJOINT_INDEPENDENT
      for (int64_t j = 0; j < columns; j++) y[j] *= static_cast<Wide<T>>(x[i * down + j]);
  }
};

// Of floats, which are multiplied in double: doubles below the normal ones are 0 as floats.
template <class T> constexpr bool may_flush = std::is_same_v<real_t<T>, float>;

template <class K, class... A> void multiply(bool flush, A... args) {
  const Flushed flushed(flush);
  isa::call<K>(args...);
}

template <class T> void short_rows(const T* x, const Lines& s, T* y) {
  constexpr int64_t most = 256;
  pool::parallel_for(s.outer, std::max<int64_t>(1, block / s.n), [&](int64_t begin, int64_t end) {
    Wide<T> found[most];
    for (int64_t r = begin; r < end; r += most) {
      const int64_t rows = std::min(most, end - r);
      multiply<ProductOfRows<T>>(may_flush<T>, x + r * s.n, s.n, rows, static_cast<Wide<T>*>(found));
      for (int64_t i = 0; i < rows; i++) y[r + i] = static_cast<T>(found[i]);
    }
  });
}

// A unit of work is a part of one line, or of a strip of columns; `partial` holds its products.
template <class T> void products(const T* x, const Lines& s, T* y) {
  if (s.inner == 1 && s.n <= block) return short_rows(x, s, y);
  const int64_t parts = (s.n + block - 1) / block, width = std::min(strip, s.inner), strips = (s.inner + width - 1) / width;
  const Buffer memory(s.outer * parts * s.inner * static_cast<int64_t>(sizeof(Wide<T>)));
  Wide<T>* const partial = memory.as<Wide<T>>();
  const int64_t work = std::min(s.n, block) * width;
  pool::parallel_for(s.outer * parts * strips, std::max<int64_t>(1, block / work), [&](int64_t begin, int64_t end) {
    for (int64_t u = begin; u < end; u++) {
      const int64_t column = u % strips * width, part = u / strips % parts, plane = u / strips / parts;
      const int64_t first = part * block, rows = std::min(block, s.n - first);
      const T* const from = x + (plane * s.n + first) * s.inner + column;
      Wide<T>* const to = partial + (plane * parts + part) * s.inner + column;
      if (s.inner == 1) multiply<ProductOfRows<T>>(may_flush<T>, from, rows, int64_t{1}, to);
      else multiply<ProductOfColumns<T>>(may_flush<T>, from, s.inner, rows, std::min(width, s.inner - column), to);
    }
  });
  for (int64_t plane = 0; plane < s.outer; plane++, y += s.inner) {
    Wide<T>* const found = partial + plane * parts * s.inner;
    for (int64_t i = s.inner; i < parts * s.inner; i++) found[i % s.inner] *= found[i];
    for (int64_t j = 0; j < s.inner; j++) y[j] = static_cast<T>(found[j]);
  }
}

void kernel(const Launch& l) {
  const View &x = l.x[0], &y = l.y[0];
  const int dim = l.attrs.as<DimKeep>().dim;
  const DType type = widened(x.dtype);
  auto typed = [&](auto zero) {
    using T = decltype(zero);
    const LinesOf in(x, dim, type, false);
    if (type == y.dtype) return products(in.as<T>(), in.lines, y.as<T>());
    const Dense wide(y, type);
    products(in.as<T>(), in.lines, wide.view.template as<T>());
    cast(y, wide.view);
  };
  if (x.numel == 0) return reference(l);
  switch (type) {
    case DType::float32: return typed(0.f);
    case DType::float64: return typed(0.);
    case DType::int64: return typed(int64_t{});
    case DType::complex64: return typed(Complex<float>{});
    default: return reference(l);
  }
}

constexpr Entry entries[] = {{"prod", kernel}};

}  // namespace

Entries product_kernels() { return entries; }

}  // namespace adjoint::cpu
