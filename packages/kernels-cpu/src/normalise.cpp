// layer_norm, rms_norm and batch_norm: standardised values over trailing dimensions, or over all but one.
#include <adjoint/core/norms.h>
#include <adjoint/core/op_attrs.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "compilers.h"
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

// ---- outer (g - mean(g) - z mean(g z)) along rows, with g = v weight and z = (x - centre) inner

template <class T> struct WeightedDistances {
  const T *a, *x;
  T centre;
  template <int W, class> [[gnu::always_inline]] inline auto vector(int64_t i) const { return load_vector<W, T>(a + i) * (load_vector<W, T>(x + i) - centre); }
  template <class> [[gnu::always_inline]] inline T element(int64_t i) const { return a[i] * (x[i] - centre); }
};
template <class T> struct Row { T centre, inner, outer; };

template <class T> struct StandardiseRowsVjp {
  template <int W> [[gnu::always_inline]] static inline void run(const T* v, const T* weight, const T* x, const Row<T>* row, bool centred, T* y, int64_t n, int64_t rows) {
    for (int64_t r = 0; r < rows; r++, v += n, x += n, y += n) {
      const auto [centre, inner, outer] = row[r];
      ADJOINT_INDEPENDENT
      for (int64_t i = 0; i < n; i++) y[i] = v[i] * weight[i];   // rounded, so that equal ones cancel
      const T mean = centred ? sum_row<W>(static_cast<const T*>(y), n, Same{}) / static_cast<T>(n) : T(0);
      const T slope = inner * (inner * sum_of<W>(WeightedDistances<T>{y, x, centre}, n) / static_cast<T>(n));
      ADJOINT_INDEPENDENT
      for (int64_t i = 0; i < n; i++) y[i] = outer * ((y[i] - mean) - (x[i] - centre) * slope);
    }
  }
};
template <class T> void rows_vjp(const T* v, const T* weight, const T* x, const std::vector<Row<T>>& row, bool centred, T* y, int64_t n) {
  std::vector<T> ones;
  if (!weight) ones.assign(static_cast<size_t>(n), T(1)), weight = ones.data();
  pool::parallel_for(static_cast<int64_t>(row.size()), std::max<int64_t>(1, grain / n), [&](int64_t begin, int64_t end) {
    isa::call<StandardiseRowsVjp<T>>(v + begin * n, weight, x + begin * n, row.data() + begin, centred, y + begin * n, n, end - begin);
  });
}

// What the weight gets: sums of v z over rows, of `width` columns.
template <class T> struct WeightSums {
  static constexpr bool narrow = true;
  template <int W> [[gnu::always_inline]] static inline void run(const T* v, const T* x, const Row<T>* row, T* y, int64_t n, int64_t width, int64_t rows) {
    for (int64_t j = 0; j < width; j++) y[j] = 0;
    const auto term = [=](int64_t r, int64_t j) __attribute__((always_inline)) { return v[r * n + j] * ((x[r * n + j] - row[r].centre) * row[r].inner); };
    int64_t r = 0;
    for (; r + 4 <= rows; r += 4)
      ADJOINT_INDEPENDENT
      for (int64_t j = 0; j < width; j++) y[j] += (term(r, j) + term(r + 1, j)) + (term(r + 2, j) + term(r + 3, j));
    for (; r < rows; r++)
      ADJOINT_INDEPENDENT
      for (int64_t j = 0; j < width; j++) y[j] += term(r, j);
  }
};
template <class T> void weight_sums(const T* v, const T* x, const std::vector<Row<T>>& row, T* y, int64_t n) {
  const int64_t rows = static_cast<int64_t>(row.size()), height = std::clamp<int64_t>(65536 / n, 64, 1024), parts = (rows + height - 1) / height;
  const int64_t wide = 1024, strips = (n + wide - 1) / wide;
  const Buffer sums(parts * n * static_cast<int64_t>(sizeof(T)));
  pool::parallel_for(parts * strips, 1, [&](int64_t u, int64_t) {
    const int64_t part = u / strips * height, column = u % strips * wide;
    isa::call<WeightSums<T>>(v + part * n + column, x + part * n + column, row.data() + part, sums.as<T>() + u / strips * n + column, n, std::min(wide, n - column), std::min(height, rows - part));
  });
  for (int64_t j = 0; j < n; j++) {
    double sum = 0;
    for (int64_t p = 0; p < parts; p++) sum += static_cast<double>(sums.as<T>()[p * n + j]);
    y[j] = static_cast<T>(sum);
  }
}

void layer_norm_vjp_kernel(const Launch& l) {
  const View& g = l.x[0];
  if (g.numel == 0 || !is_floating(g.dtype) || l.attrs.as<Dim>().dim != g.ndim - 1) return reference(l);
  const int64_t n = g.sizes[g.ndim - 1];
  with_dense(g, l.y[0], [&](const View& in, const View& out) {
    const Contiguous z(l.x[1], in.dtype), scale(l.x[2], in.dtype);
    with_real(in.dtype, [&](auto zero) {
      using T = decltype(zero);
      std::vector<Row<T>> row;
      for (int64_t r = 0; r < g.numel / n; r++) row.push_back({0, 1, scale.as<const T>()[r]});
      rows_vjp<T>(in.as<const T>(), nullptr, z.as<const T>(), row, true, out.as<T>(), n);
    });
  });
}

// v, x, mean, square and perhaps a weight.
void standardise_vjp_kernel(const Launch& l) {
  const View& v = l.x[0];
  const StandardiseVjp& a = l.attrs.as<StandardiseVjp>();
  if (v.numel == 0 || !is_floating(v.dtype)) return reference(l);
  const int64_t n = v.sizes[1];
  with_dense(v, l.y[0], [&](const View& in, const View& out) {
    const Contiguous x(l.x[1], in.dtype), mean(l.x[2], in.dtype), square(l.x[3], in.dtype), weight(l.x.back(), in.dtype);
    with_real(in.dtype, [&](auto zero) {
      using T = decltype(zero);
      std::vector<Row<T>> row;
      for (int64_t r = 0; r < v.sizes[0]; r++) {
        const T scale = 1 / std::sqrt(square.as<const T>()[r] + static_cast<T>(a.eps));
        row.push_back({a.centred ? mean.as<const T>()[r] : T(0), scale, scale});
      }
      if (a.sums) weight_sums<T>(in.as<const T>(), x.as<const T>(), row, out.as<T>(), n);
      else rows_vjp<T>(in.as<const T>(), l.x.size() > 4 ? weight.as<const T>() : nullptr, x.as<const T>(), row, a.centred, out.as<T>(), n);
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

// ---- factor ((v - mean(v)) - (x - centre) slope) along channels

// The sums of v and of v (x - centre), of `rows` rows of n elements that lie `step` apart.
template <class T> struct ChannelSums {
  static constexpr bool narrow = true;
  template <int W> [[gnu::always_inline]] static inline void run(const T* v, const T* x, T centre, double* sums, int64_t n, int64_t rows, int64_t step) {
    typedef T Vector __attribute__((vector_size(W), aligned(alignof(T)), may_alias));
    constexpr int64_t width = W / sizeof(T), lanes = 64 / sizeof(T), most = 64;   // steps until the lanes are emptied, so that rounding errors do not pile up
    Vector s[64 / W] = {}, p[64 / W] = {};
    double total = 0, product = 0;
    int64_t steps = 0;
    for (int64_t r = 0; r < rows; r++, v += step, x += step)
      for (int64_t i = 0; i < n;) {
        const int64_t end = std::min(n, i + most * lanes);
        steps += (end - i + lanes - 1) / lanes;
        for (; i + lanes <= end; i += lanes)
#pragma GCC unroll 4
          for (int k = 0; k < 64 / W; k++) {
            const Vector a = load_vector<W, T>(v + i + k * width);
            s[k] += a, p[k] += a * (load_vector<W, T>(x + i + k * width) - centre);
          }
        for (; i < end; i++) total += static_cast<double>(v[i]), product += static_cast<double>(v[i] * (x[i] - centre));
        if (steps < most && (i < n || r + 1 < rows)) continue;
        T last[2][lanes];
        __builtin_memcpy(last[0], s, sizeof s), __builtin_memcpy(last[1], p, sizeof p);
        for (int64_t j = 0; j < lanes; j++) total += static_cast<double>(last[0][j]), product += static_cast<double>(last[1][j]);
        for (int k = 0; k < 64 / W; k++) s[k] = p[k] = Vector{};
        steps = 0;
      }
    sums[0] = total, sums[1] = product;
  }
};
// The same where channels lie side by side, of `width` of them: pairs of sums for each.
template <class T> struct ColumnSums {
  static constexpr bool narrow = true;
  template <int W> [[gnu::always_inline]] static inline void run(const T* v, const T* x, const T* centre, double* sums, int64_t n, int64_t rows, int64_t width) {
    T s[columns] = {}, p[columns] = {};
    const auto term = [=](int64_t r, int64_t j) __attribute__((always_inline)) { return v[r * n + j] * (x[r * n + j] - centre[j]); };
    for (int64_t r = 0; r < rows; r++) {
      if (r + 4 <= rows) {
        ADJOINT_INDEPENDENT
        for (int64_t j = 0; j < width; j++) {
          s[j] += (v[r * n + j] + v[(r + 1) * n + j]) + (v[(r + 2) * n + j] + v[(r + 3) * n + j]);
          p[j] += (term(r, j) + term(r + 1, j)) + (term(r + 2, j) + term(r + 3, j));
        }
        r += 3;
        continue;
      }
      for (int64_t j = 0; j < width; j++) s[j] += v[r * n + j], p[j] += term(r, j);
    }
    for (int64_t j = 0; j < width; j++) sums[2 * j] = static_cast<double>(s[j]), sums[2 * j + 1] = static_cast<double>(p[j]);
  }
  static constexpr int64_t columns = 512;
};
template <class T> struct ChannelsVjp {
  static constexpr bool narrow = true;
  template <int W> [[gnu::always_inline]] static inline void run(const T* v, const T* x, T* y, const T* centre, const T* factor, const T* mean, const T* slope, int64_t channels, int64_t inner, int64_t first, int64_t last) {
    for (int64_t r = first; r < last; r++) {
      if (inner == 1) {
        ADJOINT_INDEPENDENT
        for (int64_t i = 0; i < channels; i++) y[r * channels + i] = factor[i] * ((v[r * channels + i] - mean[i]) - (x[r * channels + i] - centre[i]) * slope[i]);
        continue;
      }
      const int64_t c = r % channels;
      const T middle = centre[c], m = mean[c], k = slope[c], f = factor[c];
      ADJOINT_INDEPENDENT
      for (int64_t i = r * inner; i < (r + 1) * inner; i++) y[i] = f * ((v[i] - m) - (x[i] - middle) * k);
    }
  }
};

// sums[2 c] and sums[2 c + 1] for channel c, from parts whose size does not depend on the number of threads.
template <class T> std::vector<double> channel_sums(const T* v, const T* x, const T* centre, int64_t samples, int64_t channels, int64_t inner) {
  constexpr int64_t wide = ColumnSums<T>::columns;
  const int64_t height = inner == 1 ? std::clamp<int64_t>(65536 / channels, 64, 1024) : std::max<int64_t>(1, 65536 / inner), parts = (samples + height - 1) / height;
  const int64_t strips = inner == 1 ? (channels + wide - 1) / wide : channels, size = channels * inner;
  std::vector<double> of_parts(static_cast<size_t>(parts * channels * 2)), sums(static_cast<size_t>(channels * 2));
  pool::parallel_for(parts * strips, std::max<int64_t>(1, grain * strips * parts / (samples * size)), [&](int64_t first, int64_t last) {
    for (int64_t u = first; u < last; u++) {
      const int64_t part = u / strips, row = part * height, rows = std::min(height, samples - row), c = u % strips * (inner == 1 ? wide : 1), at = row * size + c * inner;
      double* to = of_parts.data() + (part * channels + c) * 2;
      if (inner == 1) isa::call<ColumnSums<T>>(v + at, x + at, centre + c, to, channels, rows, std::min(wide, channels - c));
      else isa::call<ChannelSums<T>>(v + at, x + at, centre[c], to, inner, rows, size);
    }
  });
  for (size_t i = 0; i < of_parts.size(); i++) sums[i % sums.size()] += of_parts[i];
  return sums;
}

// v, x (samples, channels, places), mean, square and perhaps a weight of the channels.
void batch_norm_vjp_kernel(const Launch& l) {
  const View& v = l.x[0];
  const ChannelsVjpOf& a = l.attrs.as<ChannelsVjpOf>();
  if (v.numel == 0 || !is_floating(v.dtype)) return reference(l);
  const int64_t samples = v.sizes[0], channels = v.sizes[1], inner = v.sizes[2];
  with_dense(v, l.y[0], [&](const View& in, const View& out) {
    const Contiguous x(l.x[1], in.dtype), mean(l.x[2], in.dtype), square(l.x[3], in.dtype), weight(l.x.back(), in.dtype);
    with_real(in.dtype, [&](auto zero) {
      using T = decltype(zero);
      const T *centre = mean.as<const T>(), *from = in.as<const T>(), *at = x.as<const T>();
      T* y = out.as<T>();
      const std::vector<double> sums = channel_sums<T>(from, at, centre, samples, channels, inner);
      std::vector<T> numbers(static_cast<size_t>(channels) * 3);
      T *factor = numbers.data(), *middle = factor + channels, *slope = middle + channels;
      const double n = static_cast<double>(samples * inner);
      for (int64_t c = 0; c < channels; c++) {
        const double scale = 1 / std::sqrt(static_cast<double>(square.as<const T>()[c]) + a.eps), *sum = sums.data() + 2 * c;
        factor[c] = static_cast<T>(a.sums ? sum[1] * scale : l.x.size() > 4 ? scale * static_cast<double>(weight.as<const T>()[c]) : scale);
        middle[c] = static_cast<T>(sum[0] / n), slope[c] = static_cast<T>(sum[1] / n * scale * scale);
      }
      if (a.sums) return void(std::copy_n(factor, channels, y));
      const int64_t rows = inner == 1 ? samples : samples * channels;
      pool::parallel_for(rows, std::max<int64_t>(1, grain * rows / v.numel), [&](int64_t first, int64_t last) {
        isa::call<ChannelsVjp<T>>(from, at, y, centre, static_cast<const T*>(factor), static_cast<const T*>(middle), static_cast<const T*>(slope), channels, inner, first, last);
      });
    });
  });
}

constexpr Entry entries[] = {
    {"batch_norm", batch_norm_kernel},
    {"batch_norm_vjp", batch_norm_vjp_kernel},
    {"layer_norm", standardise_kernel<true>},
    {"layer_norm_vjp", layer_norm_vjp_kernel},
    {"rms_norm", standardise_kernel<false>},
    {"standardise_vjp", standardise_vjp_kernel},
};

}  // namespace

Entries normalise_kernels() { return entries; }

}  // namespace adjoint::cpu
