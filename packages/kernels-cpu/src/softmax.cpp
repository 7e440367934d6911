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
#include "margin.h"
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
  static constexpr bool narrow = form == Form::sum;
  // y has one row for a sum.
  template <int W> [[gnu::always_inline]] static inline void run(const T* x, T* y, int64_t n, int64_t down, int64_t width, T* m, T* s) {
    for (int64_t j = 0; j < width; j++) m[j] = -math::infinity<T>, s[j] = 0;
    for (int64_t i = 0; i < n; i++)
      ADJOINT_INDEPENDENT
      for (int64_t j = 0; j < width; j++) m[j] = x[i * down + j] > m[j] ? x[i * down + j] : m[j];
    if constexpr (form == Form::sum)
      for (int64_t j = 0; j < width; j++) m[j] = m[j] > -math::infinity<T> && m[j] < math::infinity<T> ? m[j] : T(0);
    for (int64_t i = 0; i < n; i++)
      ADJOINT_INDEPENDENT
      for (int64_t j = 0; j < width; j++) {
        const T e = math::exp(x[i * down + j] - m[j]);
        if constexpr (form == Form::plain) y[i * down + j] = e;
        s[j] += e;
      }
    if constexpr (form == Form::sum) {
      for (int64_t j = 0; j < width; j++) y[j] = s[j] == math::infinity<T> ? s[j] : m[j] + math::log(s[j]);
      return;
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

template <Form form, class T> void over_columns(const T* x, T* y, const Lines& l) {
  constexpr int64_t strip = 512;
  const int64_t strips = (l.inner + strip - 1) / strip;
  pool::parallel(l.outer * strips, [&](int64_t u) {
    alignas(64) T m[strip], s[strip];
    const int64_t plane = u / strips, column = u % strips * strip;
    isa::call<SoftmaxColumns<form, T>>(x + plane * l.n * l.inner + column, y + plane * (form == Form::sum ? 1 : l.n) * l.inner + column, l.n, l.inner, std::min(strip, l.inner - column), m, s);
  });
}

template <Form form> void softmax_kernel(const Launch& l) {
  const View& x = l.x[0];
  if (!is_floating(x.dtype) || x.numel == 0) return reference(l);
  const int dim = l.attrs.as<Dim>().dim;
  const Lines lines(x, dim);
  with_dense(x, l.y[0], [&](const View& in, const View& out) {
    with_real(in.dtype, [&](auto zero) {
      using T = decltype(zero);
      if (lines.inner == 1) over_rows<form, T>(in.as<const T>(), out.as<T>(), lines.n, lines.outer);
      else over_columns<form, T>(in.as<const T>(), out.as<T>(), lines);
    });
  });
}

void logsumexp_kernel(const Launch& l) {
  const View& x = l.x[0];
  const Dims& dims = l.attrs.as<Reduce>().dims;
  if (!is_floating(x.dtype) || x.numel == 0) return reference(l);
  Dims order;  // several dimensions that go, behind the others
  for (bool goes : {false, true})
    for (int d = 0; d < x.ndim && dims.size() != 1; d++)
      if (dims.contains(d) == goes) order.push_back(d);
  const DType type = widened(x.dtype);
  auto typed = [&](const View& y) {
    with_real(type, [&](auto zero) {
      using T = decltype(zero);
      if (dims.size() == 1) {
        const LinesOf in(x, static_cast<int>(dims[0]), type);
        if (in.lines.inner > 1) return over_columns<Form::sum, T>(in.as<T>(), y.as<T>(), in.lines);
        return over_rows<Form::sum, T>(in.as<T>(), y.as<T>(), in.lines.n, in.lines.outer);
      }
      const Ordered ordered(x, order);
      over_rows<Form::sum, T>(Contiguous(ordered.view, type).as<const T>(), y.as<T>(), x.numel / l.y[0].numel, l.y[0].numel);
    });
  };
  if (l.y[0].dtype == type) return typed(l.y[0]);
  const Dense wide(l.y[0], type);
  typed(wide.view);
  cast(l.y[0], wide.view);
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
    {"margin", margin_kernel},
    {"margin_vjp", margin_vjp_kernel},
    {"softmax", softmax_kernel<Form::plain>},
    {"softmax_vjp", vjp_kernel<false>},
};

}  // namespace

Entries softmax_kernels() { return entries; }

}  // namespace adjoint::cpu
