// Products along one dimension, of floats in double arithmetic. Rows are cut, and their parts joined, by shape alone.
#include <adjoint/core/op_attrs.h>

#include <algorithm>

#include "compilers.h"
#include "isa.h"
#include "kernels.h"
#include "lines.h"
#include "pool.h"

namespace adjoint::cpu {

namespace {

constexpr int64_t block = 32768;  // elements of a line that are multiplied at a time
constexpr int64_t strip = 512;    // columns

template <class T> using Wide = std::conditional_t<std::is_same_v<T, int64_t>, uint64_t, double>;  // integers wrap

template <class T> struct ProductOfRow {
  template <int W> [[gnu::always_inline]] static inline void run(const T* x, int64_t n, Wide<T>* y) {
    constexpr int64_t lanes = 32;
    Wide<T> p[lanes];
    for (int64_t j = 0; j < lanes; j++) p[j] = 1;
    int64_t i = 0;
    for (; i + lanes <= n; i += lanes)
      for (int64_t j = 0; j < lanes; j++) p[j] *= static_cast<Wide<T>>(x[i + j]);
    for (int64_t j = 0; i < n; i++, j++) p[j] *= static_cast<Wide<T>>(x[i]);
    for (int64_t half = lanes / 2; half; half /= 2)
      for (int64_t j = 0; j < half; j++) p[j] *= p[j + half];
    *y = p[0];
  }
};

template <class T> struct ProductOfColumns {
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

// A unit of work is a part of one line, or of a strip of columns; `partial` holds its products.
template <class T> void products(const T* x, const Lines& s, T* y) {
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
      if (s.inner == 1) isa::call<ProductOfRow<T>>(from, rows, to);
      else isa::call<ProductOfColumns<T>>(from, s.inner, rows, std::min(width, s.inner - column), to);
    }
  });
  for (int64_t i = 0; i < s.outer * s.inner; i++) {
    Wide<T> p = partial[i / s.inner * parts * s.inner + i % s.inner];
    for (int64_t part = 1; part < parts; part++) p *= partial[(i / s.inner * parts + part) * s.inner + i % s.inner];
    y[i] = static_cast<T>(p);
  }
}

void kernel(const Launch& l) {
  const View &x = l.x[0], &y = l.y[0];
  const int dim = l.attrs.as<DimKeep>().dim;
  if (x.numel == 0 || is_complex(x.dtype)) return reference(l);
  const Lines lines(x, dim);
  if (x.dtype == DType::int64) return products(Contiguous(x).as<int64_t>(), lines, y.as<int64_t>());
  if (is_integral(x.dtype)) return reference(l);
  with_dense(x, y, [&](const View& in, const View& out) {
    with_real(in.dtype, [&](auto zero) { products(in.as<decltype(zero)>(), lines, out.as<decltype(zero)>()); });
  });
}

constexpr Entry entries[] = {{"prod", kernel}};

}  // namespace

Entries product_kernels() { return entries; }

}  // namespace adjoint::cpu
