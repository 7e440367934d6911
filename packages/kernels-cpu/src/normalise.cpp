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

// f(x, y, first, last) for parts of the rows of x and y, of n elements each, as numbers T: where they lie, or widened a few at a time, which stay in the
// cache of the first level, and rounded once.
template <class T, class F> void for_rows(const View& x, const View& y, int64_t n, F&& f) {
  constexpr int64_t cached = 4096;
  const bool direct = x.dtype == dtype_of<T>();
  const int64_t each = std::max<int64_t>(1, grain / n), rows = std::max<int64_t>(1, cached / n);
  pool::parallel_for(x.numel / n, each, [&](int64_t begin, int64_t end) {
    if (direct) return f(x.as<const T>() + begin * n, y.as<T>() + begin * n, begin, end);
    const Buffer memory(2 * rows * n * static_cast<int64_t>(sizeof(T)));
    T *const in = memory.as<T>(), *const out = in + rows * n;
    for (int64_t first = begin; first < end; first += rows) {
      const int64_t last = std::min(end, first + rows), count = (last - first) * n, step = 1;
      const auto part = [&](void* data, DType type) { return View{static_cast<char*>(data), &count, &step, 1, type, count}; };
      cast(part(in, dtype_of<T>()), part(x.data + first * n * itemsize(x.dtype), x.dtype));
      f(static_cast<const T*>(in), out, first, last);
      cast(part(y.data + first * n * itemsize(y.dtype), y.dtype), part(out, dtype_of<T>()));
    }
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

// How a weight lies to rows of n elements: row r has the numbers of r % groups, each for `each` elements. groups is 0 for another form.
struct Spread { int64_t groups = 1, each = 1; };
Spread spread_of(const View& x, const View& weight, const Dims& dims) {
  if (weight.ndim != x.ndim) return {0};
  Spread s;
  int d = x.ndim - 1;
  const int lead = x.ndim - dims.size();
  for (; d >= lead && weight.sizes[d] == 1; d--) s.each *= x.sizes[d];
  for (; d >= 0 && weight.sizes[d] == x.sizes[d]; d--) s.groups *= d < lead ? x.sizes[d] : 1;
  while (d >= 0 && d < lead && weight.sizes[d] == 1) d--;
  if (d >= 0) s.groups = 0;
  return s;
}

template <bool centred, class T> struct StandardiseRows {
  // weight and bias: of the rows from `first` on, or null. mean (if centred) and square: one for each row.
  template <int W> [[gnu::always_inline]] static inline void run(const T* x, const T* weights, const T* biases, Spread spread, int64_t first, T* y, T* mean, T* square, int64_t n, int64_t rows, T eps) {
    for (int64_t r = 0; r < rows; r++, x += n, y += n) {
      const int64_t each = spread.each, own = (first + r) % spread.groups * (n / each);
      const T *weight = weights ? weights + own : nullptr, *bias = biases ? biases + own : nullptr;
      const T m = centred ? sum_row<W>(x, n, Same{}) / static_cast<T>(n) : T(0);
      const T v = (centred ? sum_row<W>(x, n, SquareFrom<T>{m}) : sum_row<W>(x, n, Square{})) / static_cast<T>(n);
      const T scale = 1 / std::sqrt(v + eps);
      if (centred) mean[r] = m;
      square[r] = v;
      if (each > 1 && weight) {
        for (int64_t k = 0; k < n / each; k++) {
          const T factor = scale * weight[k], shift = bias ? bias[k] : T(0);
          ADJOINT_INDEPENDENT
          for (int64_t i = k * each; i < (k + 1) * each; i++) y[i] = (x[i] - m) * factor + shift;
        }
      } else if (weight && bias) {
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
  const Spread spread = l.x.size() > 1 ? spread_of(x, l.x[1], a.dims) : Spread{};
  plain = plain && spread.groups;
  for (size_t k = 2; k < l.x.size(); k++) plain = plain && l.x[k].ndim == x.ndim && std::equal(l.x[k].sizes, l.x[k].sizes + x.ndim, l.x[1].sizes);
  if (!plain) return reference(l);
  const Contiguous in(x);
  std::vector<Dense> parameters;
  for (size_t k = 1; k < l.x.size(); k++) parameters.emplace_back(l.x[k], widened(x.dtype));
  with_real(widened(x.dtype), [&](auto zero) {
    using T = decltype(zero);
    const T* weight = parameters.size() > 0 ? parameters[0].view.template as<const T>() : nullptr;
    const T* bias = parameters.size() > 1 ? parameters[1].view.template as<const T>() : nullptr;
    T *mean = l.y[1].as<T>(), *square = l.y[centred ? 2 : 1].as<T>();
    for_rows<T>(in.view(), l.y[0], n, [&](const T* from, T* to, int64_t first, int64_t last) {
      isa::call<StandardiseRows<centred, T>>(from, weight, bias, spread, first, to, mean + first, square + first, n, last - first, static_cast<T>(a.eps));
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

// ---- the same with one weight for each `each` elements

// The sums of g and of g (x - centre) of `rows` rows of n elements that lie `step` apart; g is v times a factor of the row.
template <class T> struct ChannelSums {
  static constexpr bool narrow = true;
  static constexpr int64_t most = 64;   // steps until the lanes are emptied, so that rounding errors do not pile up
  template <int W, class V> [[gnu::always_inline]] static inline double total(V (&lanes)[64 / W]) {
    if constexpr (W < 64) lanes[0] += lanes[1];
    if constexpr (W < 32) lanes[0] += lanes[2] + lanes[3];
    T last[W / sizeof(T)];
    __builtin_memcpy(last, lanes, sizeof last);
#pragma GCC unroll 4
    for (size_t half = W / sizeof(T) / 2; half; half /= 2)
      for (size_t j = 0; j < half; j++) last[j] += last[j + half];
    for (V& v : lanes) v = V{};
    return static_cast<double>(last[0]);
  }
  template <int W> [[gnu::always_inline]] static inline void run(const T* v, const T* x, T centre, const T* factors, int64_t next, double* sums, int64_t n, int64_t rows, int64_t step) {
    typedef T Vector __attribute__((vector_size(W), aligned(alignof(T)), may_alias));
    constexpr int64_t width = W / sizeof(T), lanes = 64 / sizeof(T);
    Vector s[64 / W] = {}, p[64 / W] = {};
    sums[0] = sums[1] = 0;
    int64_t steps = 0;
    for (int64_t r = 0; r < rows; r++, v += step, x += step) {
      const T factor = factors[r * next];
      for (int64_t i = 0; i < n;) {
        const int64_t end = std::min(n, i + most * lanes);
        steps += (end - i + lanes - 1) / lanes;
        for (; i + lanes <= end; i += lanes)
#pragma GCC unroll 4
          for (int k = 0; k < 64 / W; k++) {
            const Vector g = load_vector<W, T>(v + i + k * width) * factor;
            s[k] += g, p[k] += g * (load_vector<W, T>(x + i + k * width) - centre);
          }
        for (; i < end; i++) sums[0] += static_cast<double>(v[i] * factor), sums[1] += static_cast<double>(v[i] * factor * (x[i] - centre));
        if (steps < most) continue;
        sums[0] += total<W>(s), sums[1] += total<W>(p), steps = 0;
      }
    }
    sums[0] += total<W>(s), sums[1] += total<W>(p);
  }
};
template <class T> void channel_sums(const T* v, const T* x, T centre, const T* factors, int64_t next, double* sums, int64_t n, int64_t rows, int64_t step) {
  isa::call<ChannelSums<T>>(v, x, centre, factors, next, sums, n, rows, step);
}
// factor ((v weight - mean) - (x - centre) slope)
template <class T> struct Correction { T weight, mean, centre, slope, factor; };
template <class T> struct CorrectedRow {
  static constexpr bool narrow = true;
  template <int W> [[gnu::always_inline]] static inline void run(const T* v, const T* x, T* y, const Correction<T>* c, int64_t n) {
    const auto [weight, mean, centre, slope, factor] = *c;
    ADJOINT_INDEPENDENT
    for (int64_t i = 0; i < n; i++) y[i] = factor * ((v[i] * weight - mean) - (x[i] - centre) * slope);
  }
};
template <class T> void corrected(const T* v, const T* x, T* y, const Correction<T>& c, int64_t n) { isa::call<CorrectedRow<T>>(v, x, y, &c, n); }

template <class T> void groups_vjp(const T* v, const T* weight, const T* x, const std::vector<Row<T>>& row, bool centred, T* y, int64_t n, Spread spread) {
  const int64_t each = spread.each, weights = n / each;
  pool::parallel_for(static_cast<int64_t>(row.size()), std::max<int64_t>(1, grain / n), [&](int64_t first, int64_t last) {
    for (int64_t r = first; r < last; r++) {
      const auto [centre, inner, outer] = row[static_cast<size_t>(r)];
      const T* own = weight + r % spread.groups * weights;
      double sums[2];
      channel_sums<T>(v + r * n, x + r * n, centre, own, 1, sums, each, weights, each);
      const double mean = centred ? sums[0] / static_cast<double>(n) : 0, slope = sums[1] / static_cast<double>(n) * static_cast<double>(inner) * static_cast<double>(inner);
      for (int64_t k = 0, at = r * n; k < weights; k++, at += each) corrected<T>(v + at, x + at, y + at, {own[k], static_cast<T>(mean), centre, static_cast<T>(slope), outer}, each);
    }
  });
}
// What the weights get: sums of parts of the rows, then of those.
template <class T> void group_sums(const T* v, const T* x, const std::vector<Row<T>>& row, T* y, int64_t n, Spread spread) {
  const int64_t each = spread.each, weights = n / each, all = spread.groups * weights, samples = static_cast<int64_t>(row.size()) / spread.groups;
  const int64_t height = std::max<int64_t>(1, 65536 / (spread.groups * n)), parts = (samples + height - 1) / height;
  std::vector<double> of_parts(static_cast<size_t>(parts * all));
  const T one = 1;
  pool::parallel_for(parts, 1, [&](int64_t first, int64_t last) {
    for (int64_t sample = first * height; sample < std::min(samples, last * height); sample++)
      for (int64_t w = 0; w < all; w++) {
        const Row<T>& r = row[static_cast<size_t>(sample * spread.groups + w / weights)];
        double sums[2];
        channel_sums<T>(v + (sample * all + w) * each, x + (sample * all + w) * each, r.centre, &one, 0, sums, each, 1, 0);
        of_parts[static_cast<size_t>(sample / height * all + w)] += sums[1] * static_cast<double>(r.inner);
      }
  });
  for (int64_t w = 0; w < all; w++) {
    double sum = 0;
    for (int64_t p = 0; p < parts; p++) sum += of_parts[static_cast<size_t>(p * all + w)];
    y[w] = static_cast<T>(sum);
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
  if (v.numel == 0 || !is_floating(v.dtype) || (a.each > 1 ? !a.sums && l.x.size() < 5 : a.groups > 1)) return reference(l);
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
      const Spread spread{a.groups, a.each};
      if (a.each > 1) {
        if (a.sums) group_sums<T>(in.as<const T>(), x.as<const T>(), row, out.as<T>(), n, spread);
        else groups_vjp<T>(in.as<const T>(), weight.as<const T>(), x.as<const T>(), row, a.centred, out.as<T>(), n, spread);
      } else if (a.sums) weight_sums<T>(in.as<const T>(), x.as<const T>(), row, out.as<T>(), n);
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
template <class T> void affine(const Lines& l, const View& x, const View& y, const T* mean, const T* factor, const T* bias) {
  const int64_t channels = l.n, n = l.inner == 1 ? channels : l.inner;
  for_rows<T>(x, y, n, [&](const T* from, T* to, int64_t first, int64_t last) {
    for (int64_t r = first; r < last; r++, from += n, to += n) {
      const int64_t c = r % channels;
      if (l.inner == 1) isa::call<AffineChannels<T>>(from, to, mean, factor, bias, n);
      else isa::call<AffineRow<T>>(from, to, mean[c], factor[c], bias[c], n);
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
  const Contiguous in(x);
  std::vector<Dense> parameters;
  for (size_t k = 1; k < l.x.size(); k++) parameters.emplace_back(l.x[k], widened(x.dtype));
  with_real(widened(x.dtype), [&](auto zero) {
    using T = decltype(zero);
    T *mean = l.y[1].as<T>(), *square = l.y[2].as<T>();
    moments(in.view(), a.dims, 0, mean, square, channels);
    std::vector<T> factor(static_cast<size_t>(channels)), bias(static_cast<size_t>(channels), T(0));
    for (size_t c = 0; c < factor.size(); c++) {
      factor[c] = 1 / std::sqrt(square[c] + static_cast<T>(a.eps)) * (parameters.size() > 0 ? parameters[0].view.template as<const T>()[c] : T(1));
      if (parameters.size() > 1) bias[c] = parameters[1].view.template as<const T>()[c];
    }
    affine<T>(lines, in.view(), l.y[0], mean, factor.data(), bias.data());
  });
}

// ---- factor ((v - mean(v)) - (x - centre) slope) along channels

// Sums of v and of v (x - centre) where channels lie side by side, of `width` of them: pairs of sums for each.
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
template <class T> struct CorrectedColumns {
  static constexpr bool narrow = true;
  template <int W> [[gnu::always_inline]] static inline void run(const T* v, const T* x, T* y, const T* centre, const T* factor, const T* mean, const T* slope, int64_t n, int64_t rows) {
    for (int64_t r = 0; r < rows; r++, v += n, x += n, y += n)
      ADJOINT_INDEPENDENT
      for (int64_t i = 0; i < n; i++) y[i] = factor[i] * ((v[i] - mean[i]) - (x[i] - centre[i]) * slope[i]);
  }
};

// sums[2 c] and sums[2 c + 1] for channel c, from parts whose size does not depend on the number of threads.
template <class T> std::vector<double> sums_of_channels(const T* v, const T* x, const T* centre, int64_t samples, int64_t channels, int64_t inner) {
  constexpr int64_t wide = ColumnSums<T>::columns;
  const int64_t height = inner == 1 ? std::clamp<int64_t>(65536 / channels, 64, 1024) : std::max<int64_t>(1, 65536 / inner), parts = (samples + height - 1) / height;
  const int64_t strips = inner == 1 ? (channels + wide - 1) / wide : channels, size = channels * inner;
  const T one = 1;
  std::vector<double> of_parts(static_cast<size_t>(parts * channels * 2)), sums(static_cast<size_t>(channels * 2));
  pool::parallel_for(parts * strips, std::max<int64_t>(1, grain * strips * parts / (samples * size)), [&](int64_t first, int64_t last) {
    for (int64_t u = first; u < last; u++) {
      const int64_t part = u / strips, row = part * height, rows = std::min(height, samples - row), c = u % strips * (inner == 1 ? wide : 1), at = row * size + c * inner;
      double* to = of_parts.data() + (part * channels + c) * 2;
      if (inner == 1) isa::call<ColumnSums<T>>(v + at, x + at, centre + c, to, channels, rows, std::min(wide, channels - c));
      else channel_sums<T>(v + at, x + at, centre[c], &one, 0, to, inner, rows, size);
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
      const std::vector<double> sums = sums_of_channels<T>(from, at, centre, samples, channels, inner);
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
        if (inner == 1) isa::call<CorrectedColumns<T>>(from + first * channels, at + first * channels, y + first * channels, centre, static_cast<const T*>(factor), static_cast<const T*>(middle), static_cast<const T*>(slope), channels, last - first);
        for (int64_t r = first; inner > 1 && r < last; r++) corrected<T>(from + r * inner, at + r * inner, y + r * inner, {T(1), middle[r % channels], centre[r % channels], slope[r % channels], factor[r % channels]}, inner);
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
