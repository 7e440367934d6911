// layer_norm, rms_norm and batch_norm: standardised values over trailing dimensions, or over all but one.
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
#include "moments.h"
#include "pool.h"

namespace adjoint::cpu {

namespace {

constexpr int64_t grain = 16384;

// The sizes that `dims`, the last ones, cover; 0 if they are others.
int64_t trailing(const View& x, const Dims& dims) {
  int64_t n = 1;
  for (int i = 0; i < dims.size(); i++) {
    if (!dims.contains(x.ndim - 1 - i)) return 0;
    n *= x.sizes[x.ndim - 1 - i];
  }
  return n;
}

template <bool centred, class T> struct StandardiseRows {
  // weight and bias: n elements, or null. mean (if centred) and square: one for each row.
  template <int W> [[gnu::always_inline]] static inline void run(const T* x, const T* weight, const T* bias, T* y, T* mean, T* square, int64_t n, int64_t rows, T eps) {
    for (int64_t r = 0; r < rows; r++, x += n, y += n) {
      const T m = centred ? sum_row<W>(x, n, Same{}) / static_cast<T>(n) : T(0);
      const T v = (centred ? sum_row<W>(x, n, SquareFrom<T>{m}) : sum_row<W>(x, n, Square{})) / static_cast<T>(n);
      const T scale = 1 / std::sqrt(v + eps);
      if (centred) mean[r] = m;
      square[r] = v;
      if (weight && bias) {
        ADJOINT_INDEPENDENT
        for (int64_t i = 0; i < n; i++) y[i] = (x[i] - m) * scale * weight[i] + bias[i];
      } else if (weight) {
        ADJOINT_INDEPENDENT
        for (int64_t i = 0; i < n; i++) y[i] = (x[i] - m) * scale * weight[i];
      } else {
        ADJOINT_INDEPENDENT
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

// ---- scale (g - mean(g) - z mean(g z)) along rows

template <class T> struct StandardiseRowsVjp {
  template <int W> [[gnu::always_inline]] static inline void run(const T* g, const T* z, const T* scale, T* y, int64_t n, int64_t rows) {
    for (int64_t r = 0; r < rows; r++, g += n, z += n, y += n) {
      const T mean = sum_row<W>(g, n, Same{}) / static_cast<T>(n), along = dot_row(g, z, n) / static_cast<T>(n), s = scale[r];
      ADJOINT_INDEPENDENT
      for (int64_t i = 0; i < n; i++) y[i] = s * ((g[i] - mean) - z[i] * along);
    }
  }
};

void layer_norm_vjp_kernel(const Launch& l) {
  const View& g = l.x[0];
  if (g.numel == 0 || !is_floating(g.dtype) || l.attrs.as<Dim>().dim != g.ndim - 1) return reference(l);
  const int64_t n = g.sizes[g.ndim - 1];
  with_dense(g, l.y[0], [&](const View& in, const View& out) {
    const Contiguous z(l.x[1], in.dtype), scale(l.x[2], in.dtype);
    with_real(in.dtype, [&](auto zero) {
      using T = decltype(zero);
      pool::parallel_for(g.numel / n, std::max<int64_t>(1, grain / n), [&](int64_t begin, int64_t end) {
        isa::call<StandardiseRowsVjp<T>>(in.as<const T>() + begin * n, z.as<const T>() + begin * n, scale.as<const T>() + begin, out.as<T>() + begin * n, n, end - begin);
      });
    });
  });
}

// ---- one dimension stays: its channels lie `inner` elements at a time

template <class T> struct AffineRow {
  template <int W> [[gnu::always_inline]] static inline void run(const T* x, T* y, T mean, T factor, T bias, int64_t n) {
    ADJOINT_INDEPENDENT
    for (int64_t i = 0; i < n; i++) y[i] = (x[i] - mean) * factor + bias;
  }
};
template <class T> struct AffineChannels {
  template <int W> [[gnu::always_inline]] static inline void run(const T* x, T* y, const T* mean, const T* factor, const T* bias, int64_t n) {
    ADJOINT_INDEPENDENT
    for (int64_t i = 0; i < n; i++) y[i] = (x[i] - mean[i]) * factor[i] + bias[i];
  }
};
template <class T> void affine(const Lines& l, const T* x, T* y, const T* mean, const T* factor, const T* bias) {
  const int64_t channels = l.n, rows = l.inner == 1 ? l.outer : l.outer * channels, n = l.inner == 1 ? channels : l.inner;
  pool::parallel_for(rows, std::max<int64_t>(1, grain / n), [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; r++) {
      const int64_t c = r % channels;
      if (l.inner == 1) isa::call<AffineChannels<T>>(x + r * n, y + r * n, mean, factor, bias, n);
      else isa::call<AffineRow<T>>(x + r * n, y + r * n, mean[c], factor[c], bias[c], n);
    }
  });
}

void batch_norm_kernel(const Launch& l) {
  const View& x = l.x[0];
  const Normalize& a = l.attrs.as<Normalize>();
  int kept = 0;
  while (a.dims.contains(kept)) kept++;
  bool plain = is_floating(x.dtype) && x.numel > 0 && a.dims.size() == x.ndim - 1;
  for (size_t k = 1; plain && k < l.x.size(); k++) plain = l.x[k].numel == x.sizes[kept];
  if (!plain) return reference(l);
  const Lines lines(x, kept);
  const int64_t channels = lines.n;
  with_dense(x, l.y[0], [&](const View& in, const View& out) {
    std::vector<Dense> parameters;
    for (size_t k = 1; k < l.x.size(); k++) parameters.emplace_back(l.x[k], in.dtype);
    with_real(in.dtype, [&](auto zero) {
      using T = decltype(zero);
      T *mean = l.y[1].as<T>(), *square = l.y[2].as<T>();
      moments(in, a.dims, 0, mean, square, channels);
      std::vector<T> factor(static_cast<size_t>(channels)), bias(static_cast<size_t>(channels), T(0));
      for (size_t c = 0; c < factor.size(); c++) {
        factor[c] = 1 / std::sqrt(square[c] + static_cast<T>(a.eps)) * (parameters.size() > 0 ? parameters[0].view.template as<const T>()[c] : T(1));
        if (parameters.size() > 1) bias[c] = parameters[1].view.template as<const T>()[c];
      }
      affine<T>(lines, in.as<const T>(), out.as<T>(), mean, factor.data(), bias.data());
    });
  });
}

constexpr Entry entries[] = {
    {"batch_norm", batch_norm_kernel},
    {"layer_norm", standardise_kernel<true>},
    {"layer_norm_vjp", layer_norm_vjp_kernel},
    {"rms_norm", standardise_kernel<false>},
};

}  // namespace

Entries normalise_kernels() { return entries; }

}  // namespace adjoint::cpu
