// Attention and its cotangents, 16 to 64 rows of weights at a time: of up to 8192 keys a second-level cache holds them.
#include <adjoint/core/attention.h>
#include <adjoint/core/math/exp.h>
#include <adjoint/core/math/log.h>

#include <algorithm>

#include "compilers.h"
#include "fold.h"
#include "isa.h"
#include "kernels.h"
#include "lines.h"
#include "matmul.h"
#include "pool.h"
#include "row_sums.h"

namespace adjoint::cpu {

namespace {

constexpr int64_t weights_at_a_time = 1 << 17;
constexpr int64_t grain = 32768;

// Scores of rows to e^(score - the largest), 1 / their sum and its logarithm. Of a causal row r `first + r + 1` elements count, the others are 0.
template <class T> struct Weights {
  template <int W> [[gnu::always_inline]] static inline void run(T* s, int64_t rows, int64_t n, int64_t first, bool causal, T* factors, T* logarithms) {
    for (int64_t r = 0; r < rows; r++, s += n) {
      const int64_t count = causal && first + r + 1 < n ? first + r + 1 : n;
      const T most = extreme_row<W, Largest<T>>(static_cast<const T*>(s), count, Same{});
      ADJOINT_INDEPENDENT
      for (int64_t i = 0; i < count; i++) s[i] = math::exp(s[i] - most);
      for (int64_t i = count; i < n; i++) s[i] = 0;
      const T total = sum_row<W>(static_cast<const T*>(s), count, Same{});
      factors[r] = 1 / total, logarithms[r] = most + math::log(total);
    }
  }
};
// Scores of rows to weights P or, where `d` is given, to P (d - delta), from the logarithms of the sums. Rows are of queries, or of keys if
// `across`, whose logarithms and deltas go along a row; then row r begins at element `first + r` if it is causal.
template <class T, bool across> struct FromSums {
  template <int W> [[gnu::always_inline]] static inline void run(T* s, const T* d, int64_t rows, int64_t n, int64_t first, bool causal, const T* logarithms, const T* deltas) {
    for (int64_t r = 0; r < rows; r++, s += n, d += d ? n : 0) {
      const int64_t begin = causal && across ? first + r : 0, end = causal && !across && first + r + 1 < n ? first + r + 1 : n;
      for (int64_t i = 0; i < begin && i < n; i++) s[i] = 0;
      if (d)
        ADJOINT_INDEPENDENT
        for (int64_t i = begin; i < end; i++) s[i] = math::exp(s[i] - logarithms[across ? i : r]) * (d[i] - deltas[across ? i : r]);
      else
        ADJOINT_INDEPENDENT
        for (int64_t i = begin; i < end; i++) s[i] = math::exp(s[i] - logarithms[across ? i : r]);
      for (int64_t i = end; i < n; i++) s[i] = 0;
    }
  }
};

// All heads, row-major in T: the queries times the scale, keys, values, and what is added to the scores.
template <class T> struct Heads {
  int64_t count, queries, keys, features, outputs;
  bool causal;
  T scale;
  Contiguous k, v;
  Buffer q;

  Heads(const Launch& l, size_t without_mask)
      : count(l.x[0].sizes[0] * l.x[0].sizes[1]), queries(l.x[0].sizes[2]), keys(l.x[1].sizes[2]), features(l.x[0].sizes[3]), outputs(l.x[2].sizes[3]), causal(l.attrs.as<Attention>().causal),
        scale(static_cast<T>(l.attrs.as<Attention>().scale)), k(l.x[1], dtype_of<T>()), v(l.x[2], dtype_of<T>()), q(l.x[0].numel * static_cast<int64_t>(sizeof(T))), heads_(l.x[0].sizes[1]) {
    const Contiguous given(l.x[0], dtype_of<T>());
    pool::parallel_for(l.x[0].numel, grain, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; i++) q.as<T>()[i] = given.as<const T>()[i] * scale;
    });
    if (l.x.size() == without_mask) return;
    const View& m = mask_.emplace(l.x.back(), dtype_of<T>()).view();
    for (int d = 0; d < 4; d++) steps_[d] = m.sizes[d] == 1 ? 0 : m.strides[d];
  }
  Matrix<const T> queries_of(int64_t head, int64_t i) const { return {q.as<const T>() + (head * queries + i) * features, features, 1}; }
  Matrix<const T> keys_of(int64_t head, int64_t j) const { return {k.as<const T>() + (head * keys + j) * features, features, 1}; }
  Matrix<const T> values_of(int64_t head, int64_t j) const { return {v.as<const T>() + (head * keys + j) * outputs, outputs, 1}; }
  // Of `rows` queries from i on, against n keys from j on; or turned.
  void scores(int64_t head, int64_t i, int64_t rows, int64_t n, T* s) const {
    multiply<T>(queries_of(head, i), turned(keys_of(head, 0)), {s, n, 1}, rows, n, features);
    mask(head, i, 0, rows, n, steps_[2], steps_[3], s);
  }
  void turned_scores(int64_t head, int64_t i, int64_t j, int64_t rows, int64_t n, T* s) const {
    multiply<T>(keys_of(head, j), turned(queries_of(head, i)), {s, n, 1}, rows, n, features);
    mask(head, i, j, rows, n, steps_[3], steps_[2], s);
  }
  static Matrix<const T> turned(const Matrix<const T>& m) { return {m.data, m.right, m.down}; }

 private:
  int64_t heads_, steps_[4] = {};
  std::optional<Contiguous> mask_;

  void mask(int64_t head, int64_t i, int64_t j, int64_t rows, int64_t n, int64_t down, int64_t right, T* s) const {
    if (!mask_) return;
    const T* const from = mask_->as<const T>() + head / heads_ * steps_[0] + head % heads_ * steps_[1] + i * steps_[2] + j * steps_[3];
    for (int64_t r = 0; r < rows; r++, s += n) {
      if (right == 1) for (int64_t c = 0; c < n; c++) s[c] += from[r * down + c];
      else for (int64_t c = 0; c < n; c++) s[c] += from[r * down + c * right];
    }
  }
};

// f(head, first row, rows) for blocks of rows, of which each has n weights.
template <class F> void for_blocks(int64_t heads, int64_t rows, int64_t n, F&& f) {
  const int64_t block = std::clamp<int64_t>(weights_at_a_time / n, 16, 64), blocks = (rows + block - 1) / block;
  pool::parallel_for(heads * blocks, std::max<int64_t>(1, grain / (std::min(block, rows) * n)), [&](int64_t begin, int64_t end) {
    for (int64_t u = begin; u < end; u++) f(u / blocks, u % blocks * block, std::min(block, rows - u % blocks * block));
  });
}
template <class T> Buffer weights_of(int64_t rows, int64_t n) { return Buffer(rows * n * static_cast<int64_t>(sizeof(T))); }

template <class T> void forward(const Launch& l, T* y, T* logarithms) {
  const Heads<T> h(l, 3);
  for_blocks(h.count, h.queries, h.keys, [&](int64_t head, int64_t first, int64_t rows) {
    const int64_t n = h.causal ? std::min(h.keys, first + rows) : h.keys, at = head * h.queries + first;
    const Buffer weights = weights_of<T>(rows, n);
    T *const s = weights.template as<T>(), factors[64], *const to = y + at * h.outputs;
    h.scores(head, first, rows, n, s);
    isa::call<Weights<T>, T*, int64_t, int64_t, int64_t, bool, T*, T*>(s, rows, n, first, h.causal, factors, logarithms + at);
    multiply<T>({s, n, 1}, h.values_of(head, 0), {to, h.outputs, 1}, rows, h.outputs, n);
    for (int64_t r = 0; r < rows; r++)
      for (int64_t e = 0; e < h.outputs; e++) to[r * h.outputs + e] *= factors[r];
  });
}

// What cotangents start from: w, the logarithms of the sums, and delta = rowsum(w y).
template <class T> struct Backward {
  Contiguous w, logarithms;
  Buffer deltas;
  Backward(const Launch& l, const Heads<T>& h) : w(l.x[3], dtype_of<T>()), logarithms(l.x[5], dtype_of<T>()), deltas(h.count * h.queries * static_cast<int64_t>(sizeof(T))) {
    const Contiguous y(l.x[4], dtype_of<T>());
    pool::parallel_for(h.count * h.queries, std::max<int64_t>(1, grain / h.outputs), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; i++) {
        const T *const a = w.as<const T>() + i * h.outputs, *const b = y.as<const T>() + i * h.outputs;
        double sum = 0;
        for (int64_t e = 0; e < h.outputs; e++) sum += static_cast<double>(a[e] * b[e]);
        deltas.as<T>()[i] = static_cast<T>(sum);
      }
    });
  }
};

template <class T> void query_vjp(const Launch& l, T* y) {
  const Heads<T> h(l, 6);
  const Backward<T> b(l, h);
  for_blocks(h.count, h.queries, h.keys, [&](int64_t head, int64_t first, int64_t rows) {
    const int64_t n = h.causal ? std::min(h.keys, first + rows) : h.keys, at = head * h.queries + first;
    const Buffer weights = weights_of<T>(rows, n), slopes = weights_of<T>(rows, n);
    T *const s = weights.template as<T>(), *const d = slopes.template as<T>(), *const to = y + at * h.features;
    h.scores(head, first, rows, n, s);
    multiply<T>({b.w.template as<const T>() + at * h.outputs, h.outputs, 1}, h.turned(h.values_of(head, 0)), {d, n, 1}, rows, n, h.outputs);
    isa::call<FromSums<T, false>, T*, const T*, int64_t, int64_t, int64_t, bool, const T*, const T*>(s, d, rows, n, first, h.causal, b.logarithms.template as<const T>() + at, b.deltas.template as<const T>() + at);
    multiply<T>({s, n, 1}, h.keys_of(head, 0), {to, h.features, 1}, rows, h.features, n);
    for (int64_t i = 0; i < rows * h.features; i++) to[i] *= h.scale;
  });
}

// Of keys: the slopes of the scores times the scaled queries; of values: weights times w.
template <class T, bool of_values> void key_vjp(const Launch& l, T* y) {
  const Heads<T> h(l, 6);
  const Backward<T> b(l, h);
  const int64_t width = of_values ? h.outputs : h.features;
  for_blocks(h.count, h.keys, h.queries, [&](int64_t head, int64_t first, int64_t rows) {
    const int64_t from = h.causal ? std::min(first, h.queries) : 0, n = h.queries - from, at = head * h.queries + from;
    T* const to = y + (head * h.keys + first) * width;
    if (n == 0) return void(std::fill_n(to, rows * width, T(0)));   // keys behind all queries
    const Buffer weights = weights_of<T>(rows, n), slopes = weights_of<T>(of_values ? 0 : rows, n);
    T *const s = weights.template as<T>(), *const d = of_values ? nullptr : slopes.template as<T>();
    const Matrix<const T> w{b.w.template as<const T>() + at * h.outputs, h.outputs, 1};
    h.turned_scores(head, from, first, rows, n, s);
    if (d) multiply<T>(h.values_of(head, first), h.turned(w), {d, n, 1}, rows, n, h.outputs);
    isa::call<FromSums<T, true>, T*, const T*, int64_t, int64_t, int64_t, bool, const T*, const T*>(s, d, rows, n, 0, h.causal, b.logarithms.template as<const T>() + at, b.deltas.template as<const T>() + at);
    multiply<T>({s, n, 1}, of_values ? w : h.queries_of(head, from), {to, width, 1}, rows, width, n);
  });
}

enum class Of { forward, queries, keys, values };
template <Of of, class T> void run(const Launch& l) {
  const View& y = l.y[0];
  const std::optional<Buffer> wide = y.dtype == dtype_of<T>() ? std::optional<Buffer>() : std::optional<Buffer>(std::in_place, y.numel * static_cast<int64_t>(sizeof(T)));
  T* const to = wide ? wide->template as<T>() : y.as<T>();
  if constexpr (of == Of::forward) forward<T>(l, to, l.y[1].as<T>());
  else if constexpr (of == Of::queries) query_vjp<T>(l, to);
  else key_vjp<T, of == Of::values>(l, to);
  if (wide) cast(y, {wide->template as<char>(), y.sizes, y.strides, y.ndim, dtype_of<T>(), y.numel});
}
// Dropped weights are drawn one by one in the reference kernel; programs drop them from composed weights.
template <Of of> void kernel(const Launch& l) {
  const bool empty = std::any_of(l.x.begin(), l.x.begin() + 3, [](const View& v) { return v.numel == 0; });
  if (empty || l.attrs.as<Attention>().dropped.lost) return reference(l);
  l.x[0].dtype == DType::float64 ? run<of, double>(l) : run<of, float>(l);
}

constexpr Entry entries[] = {
    {"attention", kernel<Of::forward>},
    {"attention_key_vjp", kernel<Of::keys>},
    {"attention_query_vjp", kernel<Of::queries>},
    {"attention_value_vjp", kernel<Of::values>},
};

}  // namespace

Entries attention_kernels() { return entries; }

}  // namespace adjoint::cpu
