// softmax, log_softmax, logsumexp; layer_norm and rms_norm. A row stays in the first-level cache through all its passes.
#include <adjoint/core/math/exp.h>
#include <adjoint/core/op_attrs.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "copy.h"
#include "isa.h"
#include "kernels.h"
#include "pool.h"

namespace adjoint::cpu {

namespace {

constexpr int lanes = 16;  // partial results of a row, the same on every instruction set
constexpr int64_t grain = 16384;

template <class T> [[gnu::always_inline]] inline T largest_of(const T* x, int64_t n) {
  T m[lanes];
  for (int j = 0; j < lanes; j++) m[j] = -math::infinity<T>;
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes)
    for (int j = 0; j < lanes; j++) m[j] = x[i + j] > m[j] ? x[i + j] : m[j];
  T r = -math::infinity<T>;
  for (; i < n; i++) r = x[i] > r ? x[i] : r;
  for (int j = 0; j < lanes; j++) r = m[j] > r ? m[j] : r;
  return r;
}
// The sum of f(i); rows are short enough for plain lanes.
template <class T, class F> [[gnu::always_inline]] inline T sum_of(int64_t n, F f) {
  T total = 0;
  for (int64_t begin = 0; begin < n; begin += 4096) {
    const int64_t end = begin + 4096 < n ? begin + 4096 : n;
    T s[lanes] = {};
    int64_t i = begin;
    for (; i + lanes <= end; i += lanes)
      for (int j = 0; j < lanes; j++) s[j] += f(i + j);
    T r = 0;
    for (; i < end; i++) r += f(i);
    for (int w = lanes / 2; w; w /= 2)
      for (int j = 0; j < w; j++) s[j] += s[j + w];
    total += r + s[0];
  }
  return total;
}

enum class Form { plain, logarithm, sum };  // softmax, log_softmax, logsumexp

template <Form form, class T> struct SoftmaxRows {
  // Rows of n elements; y has rows of n, or of one for a sum, where `scratch` takes the exponentials.
  template <int W> [[gnu::always_inline]] static inline void run(const T* x, T* y, T* scratch, int64_t n, int64_t rows) {
    for (int64_t r = 0; r < rows; r++, x += n) {
      const T m = largest_of(x, n);
      const T shift = form == Form::sum && !(m > -math::infinity<T> && m < math::infinity<T>) ? T(0) : m;
      T* e = form == Form::plain ? y : scratch;
#pragma GCC ivdep
      for (int64_t i = 0; i < n; i++) e[i] = math::exp(x[i] - shift);
      const T total = sum_of<T>(n, [e](int64_t i) { return e[i]; });
      if constexpr (form == Form::sum) {
        *y++ = total == math::infinity<T> ? total : shift + std::log(total);
        continue;
      }
      if constexpr (form == Form::logarithm) {
        const T log_total = std::log(total);
#pragma GCC ivdep
        for (int64_t i = 0; i < n; i++) y[i] = (x[i] - m) - log_total;
      } else {
        const T factor = 1 / total;
#pragma GCC ivdep
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
#pragma GCC ivdep
      for (int64_t j = 0; j < width; j++) m[j] = x[i * down + j] > m[j] ? x[i * down + j] : m[j];
    for (int64_t i = 0; i < n; i++)
#pragma GCC ivdep
      for (int64_t j = 0; j < width; j++) {
        const T e = math::exp(x[i * down + j] - m[j]);
        if constexpr (form == Form::plain) y[i * down + j] = e;
        s[j] += e;
      }
    for (int64_t j = 0; j < width; j++) s[j] = form == Form::plain ? 1 / s[j] : std::log(s[j]);
    for (int64_t i = 0; i < n; i++)
#pragma GCC ivdep
      for (int64_t j = 0; j < width; j++) {
        if constexpr (form == Form::plain) y[i * down + j] *= s[j];
        else y[i * down + j] = (x[i * down + j] - m[j]) - s[j];
      }
  }
};

// f(x, y) on row-major memory of float or double; half types are widened and rounded once.
template <class F> void with_dense(const View& x, const View& y, F&& f) {
  const DType type = is_half(x.dtype) ? DType::float32 : x.dtype;
  auto on = [&](const View& in) {
    if (y.dtype == type) return f(in, y);
    const Buffer memory(y.numel * itemsize(type));
    const View wide{memory.as<char>(), y.sizes, y.strides, y.ndim, type, y.numel};
    f(in, wide);
    cast(y, wide);
  };
  if (x.contiguous() && x.dtype == type) return on(x);
  const Dense dense(x, type);
  on(dense.view);
}
template <class F> void with_real(DType t, F&& f) {
  if (t == DType::float32) f(0.f);
  else f(0.);
}

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

// The sizes that `dims`, the last ones, cover; 0 if they are others.
int64_t trailing(const View& x, const Dims& dims) {
  int64_t n = 1;
  for (int i = 0; i < dims.size(); i++) {
    if (!dims.contains(x.ndim - 1 - i)) return 0;
    n *= x.sizes[x.ndim - 1 - i];
  }
  return n;
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

// ---- standardised rows

template <bool centred, class T> struct StandardiseRows {
  // weight and bias: n elements, or null. mean (if centred) and square: one for each row.
  template <int W> [[gnu::always_inline]] static inline void run(const T* x, const T* weight, const T* bias, T* y, T* mean, T* square, int64_t n, int64_t rows, T eps) {
    for (int64_t r = 0; r < rows; r++, x += n, y += n) {
      const T m = centred ? sum_of<T>(n, [x](int64_t i) { return x[i]; }) / static_cast<T>(n) : T(0);
      const T v = sum_of<T>(n, [x, m](int64_t i) { return (x[i] - m) * (x[i] - m); }) / static_cast<T>(n);
      const T scale = 1 / std::sqrt(v + eps);
      if (centred) mean[r] = m;
      square[r] = v;
      if (weight && bias) {
#pragma GCC ivdep
        for (int64_t i = 0; i < n; i++) y[i] = (x[i] - m) * scale * weight[i] + bias[i];
      } else if (weight) {
#pragma GCC ivdep
        for (int64_t i = 0; i < n; i++) y[i] = (x[i] - m) * scale * weight[i];
      } else {
#pragma GCC ivdep
        for (int64_t i = 0; i < n; i++) y[i] = (x[i] - m) * scale;
      }
    }
  }
};

template <bool centred> void standardise_kernel(const Launch& l) {
  const View& x = l.x[0];
  const Normalize& a = l.attrs.as<Normalize>();
  const int64_t n = trailing(x, a.dims);
  bool plain = is_floating(x.dtype) && x.numel > 0 && n > 0 && l.y[centred ? 2 : 1].contiguous();
  for (size_t k = 1; k < l.x.size(); k++) plain = plain && l.x[k].numel == n && trailing(l.x[k], a.dims) == n;
  if (!plain) return reference(l);
  with_dense(x, l.y[0], [&](const View& in, const View& out) {
    std::vector<Dense> parameters;
    for (size_t k = 1; k < l.x.size(); k++) parameters.emplace_back(l.x[k], in.dtype);
    with_real(in.dtype, [&](auto zero) {
      using T = decltype(zero);
      const T* weight = parameters.size() > 0 ? parameters[0].view.template as<const T>() : nullptr;
      const T* bias = parameters.size() > 1 ? parameters[1].view.template as<const T>() : nullptr;
      T *mean = l.y[1].as<T>(), *square = l.y[centred ? 2 : 1].as<T>();
      pool::parallel_for(x.numel / n, std::max<int64_t>(1, grain / n), [&](int64_t begin, int64_t end) {
        isa::call<StandardiseRows<centred, T>>(in.as<const T>() + begin * n, weight, bias, out.as<T>() + begin * n, mean + begin, square + begin, n, end - begin, static_cast<T>(a.eps));
      });
    });
  });
}

constexpr Entry entries[] = {
    {"layer_norm", standardise_kernel<true>},
    {"log_softmax", softmax_kernel<Form::logarithm>},
    {"logsumexp", logsumexp_kernel},
    {"rms_norm", standardise_kernel<false>},
    {"softmax", softmax_kernel<Form::plain>},
};

}  // namespace

Entries softmax_kernels() { return entries; }

}  // namespace adjoint::cpu
