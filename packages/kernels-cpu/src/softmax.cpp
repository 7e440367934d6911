// softmax, log_softmax, logsumexp. A row stays in the first-level cache through all its passes.
#include <adjoint/core/math/exp.h>
#include <adjoint/core/math/log.h>
#include <adjoint/core/op_attrs.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "compilers.h"
#include "dot.h"
#include "fold.h"
#include "isa.h"
#include "kernels.h"
#include "lines.h"
#include "pool.h"

namespace adjoint::cpu {

namespace {

constexpr int64_t grain = 16384;

enum class Form { plain, logarithm, sum };  // softmax, log_softmax, logsumexp

template <Form form, class T> struct SoftmaxRows {
  // Rows of n elements; y has rows of n, or of one for a sum, where `scratch` takes the exponentials.
  template <int W> [[gnu::always_inline]] static inline void run(const T* x, T* y, T* scratch, int64_t n, int64_t rows) {
    for (int64_t r = 0; r < rows; r++, x += n) {
      const T m = extreme_row<W, Largest<T>>(x, n, Same{});
      const T shift = form == Form::sum && !(m > -math::infinity<T> && m < math::infinity<T>) ? T(0) : m;
      T* e = form == Form::plain ? y : scratch;
      ADJOINT_INDEPENDENT
      for (int64_t i = 0; i < n; i++) e[i] = math::exp(x[i] - shift);
      const T total = sum_row<W>(static_cast<const T*>(e), n, Same{});
      if constexpr (form == Form::sum) {
        *y++ = total == math::infinity<T> ? total : shift + math::log(total);
        continue;
      }
      if constexpr (form == Form::logarithm) {
        const T log_total = math::log(total);
        ADJOINT_INDEPENDENT
        for (int64_t i = 0; i < n; i++) y[i] = (x[i] - m) - log_total;
      } else {
        const T factor = 1 / total;
        ADJOINT_INDEPENDENT
        for (int64_t i = 0; i < n; i++) y[i] *= factor;
      }
      y += n;
    }
  }
};

// Columns of a plane (n, columns): `width` of them at a time, accumulators in m and s.
template <Form form, class T> struct SoftmaxColumns {
  template <int W> [[gnu::always_inline]] static inline void run(const T* x, T* y, int64_t n, int64_t down, int64_t width, T* m, T* s) {
    for (int64_t j = 0; j < width; j++) m[j] = -math::infinity<T>, s[j] = 0;
    for (int64_t i = 0; i < n; i++)
      ADJOINT_INDEPENDENT
      for (int64_t j = 0; j < width; j++) m[j] = x[i * down + j] > m[j] ? x[i * down + j] : m[j];
    for (int64_t i = 0; i < n; i++)
      ADJOINT_INDEPENDENT
      for (int64_t j = 0; j < width; j++) {
        const T e = math::exp(x[i * down + j] - m[j]);
        if constexpr (form == Form::plain) y[i * down + j] = e;
        s[j] += e;
      }
    for (int64_t j = 0; j < width; j++) s[j] = form == Form::plain ? 1 / s[j] : math::log(s[j]);
    for (int64_t i = 0; i < n; i++)
      ADJOINT_INDEPENDENT
      for (int64_t j = 0; j < width; j++) {
        if constexpr (form == Form::plain) y[i * down + j] *= s[j];
        else y[i * down + j] = (x[i * down + j] - m[j]) - s[j];
      }
  }
};

template <Form form, class T> void over_rows(const T* x, T* y, int64_t n, int64_t rows) {
  pool::parallel_for(rows, std::max<int64_t>(1, grain / n), [&](int64_t begin, int64_t end) {
    const Buffer scratch((form == Form::plain ? 1 : n) * static_cast<int64_t>(sizeof(T)));
    isa::call<SoftmaxRows<form, T>>(x + begin * n, y + begin * (form == Form::sum ? 1 : n), scratch.as<T>(), n, end - begin);
  });
}

template <Form form> void softmax_kernel(const Launch& l) {
  const View& x = l.x[0];
  if (!is_floating(x.dtype) || x.numel == 0) return reference(l);
  const int dim = l.attrs.as<Dim>().dim;
  int64_t columns = 1;
  for (int d = dim + 1; d < x.ndim; d++) columns *= x.sizes[d];
  const int64_t n = x.sizes[dim], planes = x.numel / (n * columns);
  with_dense(x, l.y[0], [&](const View& in, const View& out) {
    with_real(in.dtype, [&](auto zero) {
      using T = decltype(zero);
      if (columns == 1) return over_rows<form, T>(in.as<const T>(), out.as<T>(), n, planes);
      constexpr int64_t strip = 512;
      const int64_t strips = (columns + strip - 1) / strip;
      pool::parallel(planes * strips, [&](int64_t u) {
        alignas(64) T m[strip], s[strip];
        const int64_t at = u / strips * n * columns + u % strips * strip;
        isa::call<SoftmaxColumns<form, T>>(in.as<const T>() + at, out.as<T>() + at, n, columns, std::min(strip, columns - u % strips * strip), m, s);
      });
    });
  });
}

void logsumexp_kernel(const Launch& l) {
  const View& x = l.x[0];
  const Dims& dims = l.attrs.as<Reduce>().dims;
  if (!is_floating(x.dtype) || x.numel == 0) return reference(l);
  Dims order;  // the dimensions that go behind the others
  for (bool goes : {false, true})
    for (int d = 0; d < x.ndim; d++)
      if (dims.contains(d) == goes) order.push_back(d);
  int64_t n = 1;
  for (int64_t d : dims) n *= x.sizes[d];
  const Ordered ordered(x, order);
  with_dense(ordered.view, l.y[0], [&](const View& in, const View& out) {
    with_real(in.dtype, [&](auto zero) {
      using T = decltype(zero);
      over_rows<Form::sum, T>(in.as<const T>(), out.as<T>(), n, x.numel / n);
    });
  });
}

// y (v - sum(v y)) along rows, and v - exp(y) sum(v).
template <bool logarithm, class T> struct SoftmaxRowsVjp {
  template <int W> [[gnu::always_inline]] static inline void run(const T* v, const T* y, T* to, int64_t n, int64_t rows) {
    for (int64_t r = 0; r < rows; r++, v += n, y += n, to += n) {
      const T sum = logarithm ? sum_row<W>(v, n, Same{}) : dot_row(v, y, n);
      ADJOINT_INDEPENDENT
      for (int64_t i = 0; i < n; i++) to[i] = logarithm ? v[i] - math::exp(y[i]) * sum : y[i] * (v[i] - sum);
    }
  }
};
template <bool logarithm> void vjp_kernel(const Launch& l) {
  const View& v = l.x[0];
  if (!is_floating(v.dtype) || v.numel == 0 || l.attrs.as<Dim>().dim != v.ndim - 1) return reference(l);
  const int64_t n = v.sizes[v.ndim - 1];
  with_dense(v, l.y[0], [&](const View& in, const View& out) {
    const Contiguous y(l.x[1], in.dtype);
    with_real(in.dtype, [&](auto zero) {
      using T = decltype(zero);
      pool::parallel_for(v.numel / n, std::max<int64_t>(1, grain / n), [&](int64_t begin, int64_t end) {
        isa::call<SoftmaxRowsVjp<logarithm, T>>(in.as<const T>() + begin * n, y.as<const T>() + begin * n, out.as<T>() + begin * n, n, end - begin);
      });
    });
  });
}

constexpr Entry entries[] = {
    {"log_softmax", softmax_kernel<Form::logarithm>},
    {"log_softmax_vjp", vjp_kernel<true>},
    {"logsumexp", logsumexp_kernel},
    {"softmax", softmax_kernel<Form::plain>},
    {"softmax_vjp", vjp_kernel<false>},
};

}  // namespace

Entries softmax_kernels() { return entries; }

}  // namespace adjoint::cpu
