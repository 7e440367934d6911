// Histograms and reductions of segments: one pass over plain memory.
#include <adjoint/core/observer.h>
#include <adjoint/core/ops.h>
#include <adjoint/core/parallel.h>
#include <adjoint/core/segments.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <span>
#include <vector>

namespace adjoint {

namespace {

// As its base is now, if it is a view.
Tensor now(const Tensor& x) { return x->keys & key_view ? apply(op_alias, {x}) : x; }
bool is_plain(const Tensor& x) { return !(x->keys & ~uint32_t(key_view)) && x->storage && x.device().type == DeviceType::cpu; }
bool is_single_or_double(DType t) { return t == DType::float32 || t == DType::float64; }

template <class T> T* memory_of(const Tensor& x) { return reinterpret_cast<T*>(x->data); }

template <class F> void in_type(DType t, F&& f) {
  if (t == DType::float32) f(float());
  else f(double());
}

// The bins of one coordinate: bin i from edge i to edge i + 1, the last one with its right edge.
template <class T> struct Bins {
  const T* edges;
  int64_t n;
  T scale;
  explicit Bins(const Tensor& e) : edges(memory_of<const T>(e)), n(e.numel() - 1), scale(static_cast<T>(n) / (edges[n] - edges[0])) {}
  // -1: in none. Equal bins are found by a division, others by halving.
  int64_t of(T v) const {
    if (!(v >= edges[0] && v <= edges[n])) return -1;
    const T guess = (v - edges[0]) * scale;
    const int64_t i = guess >= 0 && guess < static_cast<T>(n) ? static_cast<int64_t>(guess) : n - 1;
    if (edges[i] <= v && v < edges[i + 1]) return i;
    return std::clamp<int64_t>(std::upper_bound(edges, edges + n + 1, v) - edges - 1, 0, n - 1);
  }
};

constexpr int64_t rows_together = 1 << 16, most_partial = 1 << 20;

template <class T> void count(const std::vector<Bins<T>>& bins, const T* points, const T* weight, int64_t first, int64_t last, double* cells) {
  const auto k = static_cast<int64_t>(bins.size());
  for (int64_t i = first; i < last; i++) {
    int64_t cell = 0;
    for (int64_t d = 0; d < k && cell >= 0; d++) {
      const Bins<T>& b = bins[static_cast<size_t>(d)];
      const int64_t own = b.of(points[i * k + d]);
      cell = own < 0 ? -1 : cell * b.n + own;
    }
    if (cell >= 0) cells[cell] += weight ? static_cast<double>(weight[i]) : 1;
  }
}

template <Combine how, class A> A joined(A a, A b) {
  if constexpr (how == Combine::prod) return a * b;
  else if constexpr (how == Combine::amax) return (b > a) | (b != b) ? b : a;
  else if constexpr (how == Combine::amin) return (b < a) | (b != b) ? b : a;
  else return a + b;
}
// y (inner,): `initial` and rows from `x` on, of `inner` elements each. Sums of float are taken in double.
template <Combine how, class T> void join_rows(T* y, T initial, const T* x, int64_t rows, int64_t inner) {
  using A = std::conditional_t<how == Combine::sum, double, T>;
  std::vector<A> all(static_cast<size_t>(inner), static_cast<A>(initial));
  for (int64_t r = 0; r < rows; r++, x += inner)
    for (int64_t j = 0; j < inner; j++) all[static_cast<size_t>(j)] = joined<how>(all[static_cast<size_t>(j)], static_cast<A>(x[j]));
  std::transform(all.begin(), all.end(), y, [](A v) { return static_cast<T>(v); });
}
template <class T> auto rows_joined_by(Combine how) {
  switch (how) {
    case Combine::prod: return join_rows<Combine::prod, T>;
    case Combine::amax: return join_rows<Combine::amax, T>;
    case Combine::amin: return join_rows<Combine::amin, T>;
    default: return join_rows<Combine::sum, T>;
  }
}

}  // namespace

Tensor histogram_of(const Tensor& given, Tensors edges, const Tensor& weights) {
  const Tensor points = now(given), weight = weights ? now(weights) : weights;
  const DType t = points.dtype();
  if (is_half(t) && is_plain(points)) {   // in single precision, rounded once
    const auto wide = [t](const Tensor& x) { return is_plain(x) && x.dtype() == t ? to_dtype(x, DType::float32) : x; };
    TensorVector all;
    for (const Tensor& edge : edges) all.push_back(wide(now(edge)));
    const Tensor y = histogram_of(wide(points), all, weight ? wide(weight) : weight);
    return y ? to_dtype(y, t) : y;
  }
  if (!is_plain(points) || points.dim() != 2 || points.size(1) != std::ssize(edges) || !is_single_or_double(t)) return {};
  const auto fits = [&](const Tensor& x) { return is_plain(x) && x.dtype() == t && x.dim() == 1; };
  Dims sizes;
  int64_t all = 1;
  TensorVector own;
  for (const Tensor& edge : edges) {
    const Tensor e = now(edge);
    if (!fits(e) || e.numel() < 2 || all > most_partial) return {};
    own.push_back(contiguous(e));
    sizes.push_back(e.numel() - 1);
    all *= e.numel() - 1;
  }
  if (weight && (!fits(weight) || weight.numel() != points.size(0))) return {};
  const Named named("histogramdd", {&points, 1});
  const Tensor x = contiguous(points), w = weight ? contiguous(weight) : Tensor(), y = empty(sizes, t);
  in_type(t, [&](auto zero) {
    using T = decltype(zero);
    std::vector<Bins<T>> bins;
    for (const Tensor& e : own) bins.emplace_back(e);
    const int64_t n = x.size(0), parts = std::clamp<int64_t>(n / rows_together, 1, std::max<int64_t>(1, most_partial / all)), each = (n + parts - 1) / parts;
    std::vector<double> cells(static_cast<size_t>(parts * all));
    parallel_for(parts, 1, [&](int64_t first, int64_t last) {
      for (int64_t p = first; p < last; p++) count(bins, memory_of<const T>(x), w ? memory_of<const T>(w) : nullptr, p * each, std::min(n, (p + 1) * each), cells.data() + p * all);
    });
    for (int64_t c = 0; c < all; c++) {
      double sum = 0;
      for (int64_t p = 0; p < parts; p++) sum += cells[static_cast<size_t>(p * all + c)];
      memory_of<T>(y)[c] = static_cast<T>(sum);
    }
  });
  return y;
}

Tensor histc_of(const Tensor& given, int64_t bins, double first, double last) {
  const Tensor flat = now(given);
  if (!is_plain(flat) || !is_single_or_double(flat.dtype()) || bins > most_partial || !(last - first < std::numeric_limits<double>::infinity())) return {};
  const Named named("histc", {&flat, 1});
  const Tensor x = contiguous(flat), y = empty({bins}, x.dtype());
  in_type(x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const double number = static_cast<double>(bins), length = last - first, scale = number / length, unsure = number * 0x1p-49;
    std::vector<int64_t> counts(static_cast<size_t>(bins));
    for (const T v : std::span(memory_of<const T>(x), static_cast<size_t>(x.numel())))
      if (v >= first && v <= last) {
        const double offset = static_cast<double>(v) - first, guess = offset * scale, rest = guess < number ? guess - static_cast<double>(static_cast<int64_t>(guess)) : 0;
        const double part = rest > unsure && rest < 1 - unsure ? guess : offset * number / length;   // a quotient only beside an edge
        counts[static_cast<size_t>(part < number ? static_cast<int64_t>(part) : bins - 1)]++;
      }
    std::transform(counts.begin(), counts.end(), memory_of<T>(y), [](int64_t n) { return static_cast<T>(n); });
  });
  return y;
}

// As 64 bits, those of a double or of an integer, joined by exclusive or, which any order may do: four at a time, which do not wait for each other.
template <class T> static uint64_t joined_bits(const T* x, int64_t n) {
  const auto bits = [](T v) {
    if constexpr (std::is_integral_v<T>) return static_cast<uint64_t>(static_cast<int64_t>(v));
    else return std::bit_cast<uint64_t>(static_cast<double>(static_cast<compute_t<T>>(v)));
  };
  uint64_t a = 0, b = 0, c = 0, d = 0;
  for (; n >= 4; n -= 4, x += 4) a ^= bits(x[0]), b ^= bits(x[1]), c ^= bits(x[2]), d ^= bits(x[3]);
  while (n > 0) a ^= bits(x[--n]);
  return a ^ b ^ c ^ d;
}
Tensor joined_bits_of(const Tensor& given) {
  const Tensor rows = now(given);
  if (!is_plain(rows) || rows.dim() != 2 || is_complex(rows.dtype())) return {};
  const Named named("hash_tensor", {&rows, 1});
  const Tensor x = contiguous(rows), y = zeros({rows.size(0)}, DType::uint64);
  const int64_t n = rows.size(1), parts = std::max<int64_t>(1, n / rows_together), each = (n + parts - 1) / parts;
  with_type(x.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (!is_complex_v<T>) {
      std::vector<uint64_t> joined(static_cast<size_t>(rows.size(0) * parts));
      parallel_for(rows.size(0) * parts, std::max<int64_t>(1, rows_together / std::max<int64_t>(each, 1)), [&](int64_t first, int64_t last) {
        for (int64_t p = first; p < last; p++) {
          const int64_t begin = p % parts * each;
          joined[static_cast<size_t>(p)] = joined_bits(memory_of<const T>(x) + p / parts * n + begin, std::min(each, n - begin));
        }
      });
      for (size_t p = 0; p < joined.size(); p++) memory_of<uint64_t>(y)[static_cast<int64_t>(p) / parts] ^= joined[p];
    }
  });
  return y;
}

namespace {
// Of halves: the rows that are in segments, in single precision.
Tensor segments_in_float(const Tensor& data, const Tensor& offsets, int64_t axis, Combine how, double initial) {
  if (offsets.dim() != 1 || offsets.dtype() != DType::int64 || !is_plain(offsets) || offsets.numel() == 0) return segments_of(to_dtype(data, DType::float32), offsets, axis, how, initial);
  const Tensor at = contiguous(offsets);
  const int64_t n = data.size(axis), first = std::clamp<int64_t>(memory_of<const int64_t>(at)[0], 0, n), last = std::clamp<int64_t>(memory_of<const int64_t>(at)[at.numel() - 1], first, n);
  return segments_of(to_dtype(narrow(data, axis, first, last - first), DType::float32), sub(at, wrapped(Scalar(first))), axis, how, initial);
}
}  // namespace

Tensor segments_of(const Tensor& given, const Tensor& bounds, int64_t axis, Combine how, double initial) {
  const Tensor data = now(given), offsets = now(bounds);
  const DType t = data.dtype();
  if (is_half(t) && is_plain(data)) {
    const Tensor y = segments_in_float(data, bounds, axis, how, initial);
    return y ? to_dtype(y, t) : y;
  }
  if (!is_plain(data) || !is_plain(offsets) || !is_single_or_double(t) || offsets.dtype() != DType::int64) return {};
  expect(axis >= 0 && axis < data.dim() && offsets.dim() == axis + 1 && offsets.size(-1) > 0, ErrorKind::shape, "segment_reduce: offsets of shape ", offsets.sizes(), " do not fit axis ", axis, " of ", data.sizes());
  Dims sizes = data.sizes();
  const int64_t n = sizes[static_cast<int>(axis)], segments = offsets.size(-1) - 1;
  sizes[static_cast<int>(axis)] = segments;
  int64_t outer = 1, inner = 1;
  for (int d = 0; d < data.dim(); d++) (d < axis ? outer : inner) *= d == axis ? 1 : data.size(d);
  expect(offsets.numel() == outer * (segments + 1), ErrorKind::shape, "segment_reduce: offsets of shape ", offsets.sizes(), " do not fit axis ", axis, " of ", data.sizes());
  const Named named("segment_reduce", {&data, 1});
  const Tensor x = contiguous(data), at = contiguous(offsets), y = empty(sizes, t);
  in_type(t, [&](auto zero) {
    using T = decltype(zero);
    const auto join = rows_joined_by<T>(how);
    parallel_for(outer * segments, std::max<int64_t>(1, rows_together / std::max<int64_t>(1, n * inner / std::max<int64_t>(segments, 1))), [&](int64_t first, int64_t last) {
      for (int64_t i = first; i < last; i++) {
        const int64_t* own = memory_of<const int64_t>(at) + i / segments * (segments + 1) + i % segments;
        const int64_t begin = std::clamp<int64_t>(own[0], 0, n), end = std::clamp<int64_t>(own[1], begin, n);
        join(memory_of<T>(y) + i * inner, static_cast<T>(initial), memory_of<const T>(x) + (i / segments * n + begin) * inner, end - begin, inner);
      }
    });
  });
  return y;
}

}  // namespace adjoint
