// Attention and its cotangents.
#include <adjoint/core/attention.h>
#include <adjoint/core/math/exp.h>

#include <algorithm>

#include "attention.h"
#include "compilers.h"
#include "dot.h"
#include "isa.h"
#include "kernels.h"
#include "matmul.h"
#include "pool.h"

namespace adjoint::cpu {

namespace {

// Scores of rows to weights P, and d, the cotangents of the weights, to those of the scores, P (d - delta); delta is rowsum(P d), if it is not given.
template <class T> struct FromSums {
  template <int W> [[gnu::always_inline]] static inline void run(T* s, T* d, int64_t rows, int64_t n, int64_t first, bool causal, const T* logarithms, const T* deltas) {
    for (int64_t r = 0; r < rows; r++, s += n, d += n) {
      const int64_t count = causal && first + r + 1 < n ? first + r + 1 : n;
      ADJOINT_INDEPENDENT
      for (int64_t i = 0; i < count; i++) s[i] = math::exp_normal(s[i] - logarithms[r]);
      const T delta = deltas ? deltas[r] : dot_row(static_cast<const T*>(s), static_cast<const T*>(d), count);
      ADJOINT_INDEPENDENT
      for (int64_t i = 0; i < count; i++) d[i] = s[i] * (d[i] - delta);
      for (int64_t i = count; i < n; i++) s[i] = d[i] = 0;
    }
  }
};
template <class T> struct AddTo {
  static constexpr bool narrow = true;
  template <int W> [[gnu::always_inline]] static inline void run(T* y, const T* x, int64_t n) {
    ADJOINT_INDEPENDENT
    for (int64_t i = 0; i < n; i++) y[i] += x[i];
  }
};

// All heads, row-major in T: the queries times the scale, keys, values, and what is added to the scores.
template <class T> struct Heads {
  int64_t count, queries, keys, features, outputs;
  bool causal;
  T scale;
  Contiguous k, v;
  Buffer q;
  ScoreMask<T> mask;

  Heads(const Launch& l, size_t without_mask)
      : count(l.x[0].sizes[0] * l.x[0].sizes[1]), queries(l.x[0].sizes[2]), keys(l.x[1].sizes[2]), features(l.x[0].sizes[3]), outputs(l.x[2].sizes[3]), causal(l.attrs.as<Attention>().causal),
        scale(static_cast<T>(l.attrs.as<Attention>().scale)), k(l.x[1], dtype_of<T>()), v(l.x[2], dtype_of<T>()), q(l.x[0].numel * static_cast<int64_t>(sizeof(T))), mask(l, without_mask) {
    const Contiguous given(l.x[0], dtype_of<T>());
    pool::parallel_for(l.x[0].numel, weights_in_turn, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; i++) q.as<T>()[i] = given.as<const T>()[i] * scale;
    });
  }
  Matrix<const T> queries_of(int64_t head, int64_t i) const { return {q.as<const T>() + (head * queries + i) * features, features, 1}; }
  Matrix<const T> keys_of(int64_t head) const { return {k.as<const T>() + head * keys * features, features, 1}; }
  Matrix<const T> values_of(int64_t head) const { return {v.as<const T>() + head * keys * outputs, outputs, 1}; }
  // Of `rows` queries from i on, against the first n keys.
  void scores(int64_t head, int64_t i, int64_t rows, int64_t n, T* s) const {
    multiply<T>(queries_of(head, i), turned(keys_of(head)), {s, n, 1}, rows, n, features);
    mask.add(head, i, rows, n, s);
  }
  static Matrix<const T> turned(const Matrix<const T>& m) { return {m.data, m.right, m.down}; }
};

template <class T> Buffer weights_of(int64_t rows, int64_t n) { return Buffer(rows * n * static_cast<int64_t>(sizeof(T))); }

template <class T> void forward(const Launch& l, T* y, T* logarithms) {
  const Heads<T> h(l, 3);
  for_blocks_of_weights(h.count, h.queries, h.keys, [&](int64_t head, int64_t first, int64_t rows) {
    const int64_t n = h.causal ? std::min(h.keys, first + rows) : h.keys, at = head * h.queries + first;
    const Buffer weights = weights_of<T>(rows, n);
    T *const s = weights.template as<T>(), factors[64], *const to = y + at * h.outputs;
    h.scores(head, first, rows, n, s);
    isa::call<WeightsOfScores<T>, T*, int64_t, int64_t, int64_t, bool, T*, T*>(s, rows, n, first, h.causal, factors, logarithms + at);
    multiply<T>({s, n, 1}, h.values_of(head), {to, h.outputs, 1}, rows, h.outputs, n);
    for (int64_t r = 0; r < rows; r++)
      for (int64_t e = 0; e < h.outputs; e++) to[r * h.outputs + e] *= factors[r];
  });
}

// What cotangents start from: w, the logarithms of the sums, and delta = rowsum(w y), unless y was rounded to a half type.
template <class T> struct Backward {
  Contiguous w, logarithms;
  std::optional<Buffer> deltas;
  Backward(const Launch& l, const Heads<T>& h) : w(l.x[3], dtype_of<T>()), logarithms(l.x[5], dtype_of<T>()) {
    if (is_half(l.x[4].dtype)) return;
    const Contiguous y(l.x[4], dtype_of<T>());
    T* const to = deltas.emplace(h.count * h.queries * static_cast<int64_t>(sizeof(T))).template as<T>();
    pool::parallel_for(h.count * h.queries, std::max<int64_t>(1, weights_in_turn / h.outputs), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; i++) {
        const T *const a = w.as<const T>() + i * h.outputs, *const b = y.as<const T>() + i * h.outputs;
        double sum = 0;
        for (int64_t e = 0; e < h.outputs; e++) sum += static_cast<double>(a[e] * b[e]);
        to[i] = static_cast<T>(sum);
      }
    });
  }
};

// Queries go block by block, and what a block gives to the keys and values of its head is added up in their order: of few heads in several
// stretches, which threads share, as their sums.
template <class T> class Cotangents {
 public:
  Cotangents(const Launch& l, T* q, T* k, T* v) : h_(l, 6), b_(l, h_), q_(q), stretches_(std::clamp<int64_t>(least_units / h_.count, 1, (h_.queries + block - 1) / block)) {
    const int64_t keys = h_.count * h_.keys * h_.features, values = h_.count * h_.keys * h_.outputs;
    const Buffer partial(stretches_ == 1 ? 0 : stretches_ * (keys + values) * static_cast<int64_t>(sizeof(T)));
    T* const own = partial.as<T>();
    k_ = stretches_ == 1 ? k : own, v_ = stretches_ == 1 ? v : own + stretches_ * keys;
    pool::parallel_for(h_.count * stretches_, std::max<int64_t>(1, weights_in_turn / (h_.queries * h_.keys)), [&](int64_t first, int64_t last) {
      for (int64_t u = first; u < last; u++) stretch(u / stretches_, u % stretches_);
    });
    if (stretches_ > 1) join(k, k_, h_.keys * h_.features), join(v, v_, h_.keys * h_.outputs);
  }

 private:
  static constexpr int64_t block = 64, least_units = 16;
  const Heads<T> h_;
  const Backward<T> b_;
  T *q_, *k_, *v_;
  int64_t stretches_;

  void stretch(int64_t head, int64_t number) {
    const int64_t blocks = (h_.queries + block - 1) / block, first = blocks * number / stretches_ * block, last = std::min(h_.queries, blocks * (number + 1) / stretches_ * block);
    const int64_t rows = std::min<int64_t>(std::clamp<int64_t>(weights_at_a_time / h_.keys, 16, block), last - first), at = head * stretches_ + number, longest = h_.keys * std::max(h_.features, h_.outputs);
    T *const to_keys = k_ + at * h_.keys * h_.features, *const to_values = v_ + at * h_.keys * h_.outputs;
    const Buffer weights = weights_of<T>(rows, h_.keys), slopes = weights_of<T>(rows, h_.keys), products = weights_of<T>(last - first > rows, longest);
    for (int64_t i = first; i < last; i += rows)
      of_block(head, i, std::min(rows, last - i), weights.template as<T>(), slopes.template as<T>(), i == first ? nullptr : products.template as<T>(), to_keys, to_values);
  }
  void of_block(int64_t head, int64_t i, int64_t rows, T* s, T* d, T* product, T* to_keys, T* to_values) {
    const int64_t n = h_.causal ? std::min(h_.keys, i + rows) : h_.keys, at = head * h_.queries + i;
    const Matrix<const T> w{b_.w.template as<const T>() + at * h_.outputs, h_.outputs, 1};
    T* const to = q_ + at * h_.features;
    h_.scores(head, i, rows, n, s);
    multiply<T>(w, h_.turned(h_.values_of(head)), {d, n, 1}, rows, n, h_.outputs);
    isa::call<FromSums<T>, T*, T*, int64_t, int64_t, int64_t, bool, const T*, const T*>(s, d, rows, n, i, h_.causal, b_.logarithms.template as<const T>() + at, b_.deltas ? b_.deltas->template as<const T>() + at : nullptr);
    multiply<T>({d, n, 1}, h_.keys_of(head), {to, h_.features, 1}, rows, h_.features, n);
    for (int64_t e = 0; e < rows * h_.features; e++) to[e] *= h_.scale;
    add_product({d, 1, n}, h_.queries_of(head, i), n, h_.features, rows, product, to_keys);
    add_product({s, 1, n}, w, n, h_.outputs, rows, product, to_values);
  }
  // y += a b, of m of all keys; y = a b of a stretch's first block, which needs no memory for the product.
  void add_product(Matrix<const T> a, Matrix<const T> b, int64_t m, int64_t n, int64_t k, T* product, T* y) const {
    multiply<T>(a, b, {product ? product : y, n, 1}, m, n, k);
    if (product) isa::call<AddTo<T>, T*, const T*, int64_t>(y, product, m * n);
    else std::fill_n(y + m * n, (h_.keys - m) * n, T(0));
  }
  // The sums of the stretches of each head, of n numbers each.
  void join(T* y, const T* x, int64_t n) const {
    pool::parallel_for(h_.count, std::max<int64_t>(1, weights_in_turn / n), [&](int64_t first, int64_t last) {
      for (int64_t head = first; head < last; head++) {
        std::copy_n(x + head * stretches_ * n, n, y + head * n);
        for (int64_t p = 1; p < stretches_; p++) isa::call<AddTo<T>, T*, const T*, int64_t>(y + head * n, x + (head * stretches_ + p) * n, n);
      }
    });
  }
};

// f(results), in T: those of half types are rounded afterwards.
template <class T, int results, class F> void with_results(const Launch& l, F&& f) {
  std::optional<Buffer> wide[results];
  T* to[results];
  for (int i = 0; i < results; i++) {
    const View& y = l.y[i];
    to[i] = y.dtype == dtype_of<T>() ? y.as<T>() : wide[i].emplace(y.numel * static_cast<int64_t>(sizeof(T))).template as<T>();
  }
  f(to);
  for (int i = 0; i < results; i++)
    if (const View& y = l.y[i]; wide[i]) cast(y, {wide[i]->template as<char>(), y.sizes, y.strides, y.ndim, dtype_of<T>(), y.numel});
}
template <class T> void run(const Launch& l) {
  with_results<T, 1>(l, [&](T* const* y) { forward<T>(l, y[0], l.y[1].as<T>()); });
}
template <class T> void run_vjp(const Launch& l) {
  with_results<T, 3>(l, [&](T* const* y) { Cotangents<T>(l, y[0], y[1], y[2]); });
}
// Dropped weights are drawn one by one in the reference kernel; programs drop them from composed weights.
bool is_left(const Launch& l) {
  return l.attrs.as<Attention>().dropped.lost || std::any_of(l.x.begin(), l.x.begin() + 3, [](const View& v) { return v.numel == 0; });
}
void attention_kernel(const Launch& l) {
  if (is_left(l)) return reference(l);
  if (l.x[0].dtype == DType::bfloat16 && attention_in_tiles(l)) return;
  l.x[0].dtype == DType::float64 ? run<double>(l) : run<float>(l);
}
void attention_vjp_kernel(const Launch& l) {
  is_left(l) ? reference(l) : l.x[0].dtype == DType::float64 ? run_vjp<double>(l) : run_vjp<float>(l);
}

constexpr Entry entries[] = {{"attention", attention_kernel}, {"attention_vjp", attention_vjp_kernel}};

}  // namespace

Entries attention_kernels() { return entries; }

}  // namespace adjoint::cpu
