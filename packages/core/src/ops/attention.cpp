// Attention as one operation. Weights are P = softmax(scale q k^T + mask), which no kernel writes out: it keeps the logarithm of each row's sum
// of exponentials, from which P is had again (Dao et al., FlashAttention, arXiv:2205.14135; Rabe and Staats, arXiv:2112.05682).
//
// With w the cotangent of y = P v: the cotangent of P is w v^T, that of the scores D = P (w v^T - rowsum(w y)), and those of q, k and v are
// scale D k, scale D^T q and P^T w. With dropout, whose factors are M, y = (P M) v: P M stands for P in P^T w, and M (w v^T) for w v^T; M is
// drawn again where it is needed. One operation has all three, as P is the same. Where derivatives are recorded or lifted themselves, the
// same formulas are composed of other operations, with P in memory.
#include <adjoint/core/attention.h>
#include <adjoint/core/batch.h>
#include <adjoint/core/history.h>
#include <adjoint/core/types.h>

#include <cmath>
#include <vector>

#include "families.h"
#include "in_float.h"

namespace adjoint {

namespace {

// ---- kernels: q, k, v, [w, y, logarithms of sums,] [mask]

// One batch and head of an operand, as numbers; a dimension of one element stands for all.
template <class T> struct HeadRows {
  const char* data;
  int64_t row, column;
  HeadRows(const View& v, int64_t n, int64_t h)
      : data(v.data + (step(v, 0) * n + step(v, 1) * h) * static_cast<int64_t>(sizeof(T))), row(step(v, 2)), column(v.ndim > 3 ? step(v, 3) : 0) {}
  static int64_t step(const View& v, int d) { return v.sizes[d] == 1 ? 0 : v.strides[d]; }
  double operator()(int64_t i, int64_t j) const { return convert<double>(reinterpret_cast<const T*>(data)[i * row + j * column]); }
  double product(int64_t i, const HeadRows& other, int64_t j, int64_t n) const {
    double r = 0;
    for (int64_t e = 0; e < n; e++) r += (*this)(i, e) * other(j, e);
    return r;
  }
};

template <class T> struct Head {
  const Attention& a;
  int64_t queries, keys, features, outputs, first;   // row of weights
  HeadRows<T> q, k, v, mask;
  bool masked;
  Head(const Launch& l, int64_t n, int64_t h, size_t without_mask)
      : a(l.attrs.as<Attention>()), queries(l.x[0].sizes[2]), keys(l.x[1].sizes[2]), features(l.x[0].sizes[3]), outputs(l.x[2].sizes[3]), first((n * l.x[0].sizes[1] + h) * queries),
        q(l.x[0], n, h), k(l.x[1], n, h), v(l.x[2], n, h), mask(l.x.back(), n, h), masked(l.x.size() > without_mask) {}
  double score(int64_t i, int64_t j) const {
    if (a.causal && j > i) return -math::infinity<double>;
    return q.product(i, k, j, features) * a.scale + (masked ? mask(i, j) : 0.0);
  }
  double factor(int64_t i, int64_t j) const { return a.dropped.factor((first + i) * keys + j); }
};

// f(head, n, h) for each head.
template <class F> void for_heads(const Launch& l, size_t without_mask, F&& f) {
  with_type(l.x[0].dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (std::is_integral_v<T> || is_complex_v<T>) fail(ErrorKind::not_implemented, l.op, ": not implemented for ", l.x[0].dtype);
    else
      for (int64_t n = 0; n < l.x[0].sizes[0]; n++)
        for (int64_t h = 0; h < l.x[0].sizes[1]; h++) f(Head<T>(l, n, h, without_mask), n, h);
  });
}

// Row i of a result, which is row-major.
template <class T> void put_row(const View& y, int64_t n, int64_t h, int64_t i, const std::vector<double>& row, double factor) {
  T* p = y.as<T>() + ((n * y.sizes[1] + h) * y.sizes[2] + i) * y.sizes[3];
  for (double x : row) *p++ = convert<T>(x * factor);
}

void attention_kernel(const Launch& l) {
  for_heads(l, 3, [&]<class T>(const Head<T>& head, int64_t n, int64_t h) {
    std::vector<double> row(static_cast<size_t>(head.outputs)), s(static_cast<size_t>(head.keys));
    for (int64_t i = 0; i < head.queries; i++) {
      double most = -math::infinity<double>, total = 0;
      for (int64_t j = 0; j < head.keys; j++) most = std::max(most, s[j] = head.score(i, j));
      std::fill(row.begin(), row.end(), 0.0);
      for (int64_t j = 0; j < head.keys; j++) {
        const double p = std::exp(s[j] - most), kept = p * head.factor(i, j);
        total += p;
        for (int64_t d = 0; d < head.outputs; d++) row[d] += kept * head.v(j, d);
      }
      put_row<T>(l.y[0], n, h, i, row, 1 / total);
      const double logarithm = most + std::log(total);
      const int64_t at = head.first + i;
      if (l.y[1].dtype == DType::float64) l.y[1].as<double>()[at] = logarithm;
      else l.y[1].as<float>()[at] = static_cast<float>(logarithm);
    }
  });
}

// The operands of a cotangent: w, the logarithms, and what each row of w gives with the row of y; y of half types is rounded, so that their sums start from the weights.
template <class T> struct Backward {
  const Head<T>& head;
  HeadRows<T> w;
  const View& sums;
  int64_t first;
  std::vector<double> deltas;
  Backward(const Launch& l, const Head<T>& head, int64_t n, int64_t h)
      : head(head), w(l.x[3], n, h), sums(l.x[5]), first(n * l.x[5].strides[0] + h * l.x[5].strides[1]) {
    const HeadRows<T> y(l.x[4], n, h);
    for (int64_t i = 0; i < head.queries; i++) {
      double delta = 0;
      if constexpr (!is_reduced<T>) delta = w.product(i, y, i, head.outputs);
      else for (int64_t j = 0; j < head.keys; j++) delta += weight(i, j) * of_weight(i, j);
      deltas.push_back(delta);
    }
  }
  double weight(int64_t i, int64_t j) const {
    const int64_t at = first + i * sums.strides[2];
    return std::exp(head.score(i, j) - (sums.dtype == DType::float64 ? sums.as<double>()[at] : static_cast<double>(sums.as<float>()[at])));
  }
  double of_weight(int64_t i, int64_t j) const { return w.product(i, head.v, j, head.outputs) * head.factor(i, j); }
  double of_score(int64_t i, int64_t j) const { return weight(i, j) * (of_weight(i, j) - deltas[static_cast<size_t>(i)]); }
};

void query_kernel(const Launch& l) {
  for_heads(l, 6, [&]<class T>(const Head<T>& head, int64_t n, int64_t h) {
    const Backward<T> b(l, head, n, h);
    std::vector<double> row(static_cast<size_t>(head.features));
    for (int64_t i = 0; i < head.queries; i++) {
      std::fill(row.begin(), row.end(), 0.0);
      for (int64_t j = 0; j < head.keys; j++) {
        const double d = b.of_score(i, j);
        for (int64_t e = 0; e < head.features; e++) row[e] += d * head.k(j, e);
      }
      put_row<T>(l.y[0], n, h, i, row, head.a.scale);
    }
  });
}

template <bool of_values> void key_kernel(const Launch& l) {
  for_heads(l, 6, [&]<class T>(const Head<T>& head, int64_t n, int64_t h) {
    const Backward<T> b(l, head, n, h);
    std::vector<double> row(static_cast<size_t>(of_values ? head.outputs : head.features));
    for (int64_t j = 0; j < head.keys; j++) {
      std::fill(row.begin(), row.end(), 0.0);
      for (int64_t i = 0; i < head.queries; i++) {
        const double d = of_values ? b.weight(i, j) * head.factor(i, j) : b.of_score(i, j);
        for (size_t e = 0; e < row.size(); e++) row[e] += d * (of_values ? b.w : head.q)(i, static_cast<int64_t>(e));
      }
      put_row<T>(l.y[of_values ? 2 : 1], n, h, j, row, of_values ? 1.0 : head.a.scale);
    }
  });
}

void vjp_kernel(const Launch& l) {
  query_kernel(l);
  key_kernel<false>(l);
  key_kernel<true>(l);
}

// ---- the composed form

Tensor weights_of(Tensors x, const Attention& a) {
  Tensor s = matmul(in_float(x[0]), mT(in_float(x[1]))) * a.scale;
  if (x.size() > 3) s = s + in_float(x[3]);
  if (a.causal) s = where(tril(ones({s.size(-2), s.size(-1)}, DType::bool_, s.device())), s, wrapped(-math::infinity<double>));
  return softmax(s, -1);
}
// What dropout makes of weights, or of what belongs to them.
Tensor dropped(const Tensor& p, const Attention& a) { return a.dropped.lost ? p * dropout_mask(a.dropped, p.sizes(), p.dtype(), p.device()) : p; }
Tensor through_softmax(const Tensor& p, const Tensor& v) { return p * (v - sum(p * v, Dims{-1}, true)); }

Tensor composed_vjp(const Tensor& cotangent, Tensors x, const Attention& a, int which) {
  const Tensor p = weights_of(x, a), w = in_float(cotangent);
  if (which == 2) return to_dtype(matmul(mT(dropped(p, a)), w), x[2].dtype());
  const Tensor d = through_softmax(p, dropped(matmul(w, mT(in_float(x[2]))), a));
  if (which == 3) return to_dtype(unbroadcast(d, x[3].sizes()), x[3].dtype());
  return to_dtype((which == 0 ? matmul(d, in_float(x[1])) : matmul(mT(d), in_float(x[0]))) * a.scale, x[which].dtype());
}

std::array<Tensor, 2> composed_jvp(const Tensor& tangent, Tensors x, const Attention& a, int which) {
  const Tensor p = weights_of(x, a), t = in_float(tangent);
  if (which == 2) return {to_dtype(matmul(dropped(p, a), t), x[2].dtype()), Tensor()};
  const Tensor s = which == 3 ? expand(t, p.sizes()) : (which == 0 ? matmul(t, mT(in_float(x[1]))) : matmul(in_float(x[0]), mT(t))) * a.scale;
  return {to_dtype(matmul(dropped(through_softmax(p, s), a), in_float(x[2])), x[2].dtype()), sum(p * s, Dims{-1})};
}

bool on_levels(Tensors x) {
  for (const Tensor& t : x)
    if (t && t->keys & key_lifted) return true;
  return false;
}

// The batch joins the first dimension.
void batch_attention(const BatchCall& c, Tensor* out) {
  TensorVector x;
  int64_t n = 0;
  for (size_t i = 0; i < c.x.size(); i++) {
    Tensor t = batch::spread(c, static_cast<int>(i));
    if (i == 0) n = t.size(1);
    if (t.size(1) != n) {   // a mask for all
      Dims sizes = t.sizes();
      sizes[1] = n;
      t = expand(t, sizes);
    }
    x.push_back(flatten(t, 0, 1));
  }
  apply(c.op, x, c.attrs, out);
  for (int i = 0; i < 2; i++) {
    Dims sizes = out[i].sizes();
    sizes[0] = n;
    sizes.insert(0, c.size);
    out[i] = reshape(out[i], sizes);
  }
}

Types attention_types(Tensors x, const Attrs&) { return {x[0].dtype(), {x[0].dtype(), is_half(x[0].dtype()) ? DType::float32 : x[0].dtype()}}; }
void attention_shape(Tensors x, const Attrs&, Dims* out) {
  out[0] = x[0].sizes();
  out[0][3] = x[2].size(3);
  out[1] = {x[0].size(0), x[0].size(1), x[0].size(2)};
}

constexpr uint32_t sums_of_weights = 1u << 5;   // in float32 beside half types

}  // namespace

const Op op_attention_vjp{.name = "attention_vjp", .fields = fields_of<Attention>, .kind = Kind::custom, .outputs = 3, .indices = sums_of_weights, .types = types::first,
    .shape = [](Tensors x, const Attrs&, Dims* out) { for (int i = 0; i < 3; i++) out[i] = x[i].sizes(); },
    .doc = "The cotangents of attention's queries, keys and values.", .reference = vjp_kernel};

namespace {
constexpr Rule attention_vjp = rule([](V w, Inputs in, Y<0> y, Y<1> sums, const Attention& a, Which which, Others others) -> Tensor {
  TensorVector x{in.x[0], in.x[1], in.x[2], w, y, sums};
  if (in.x.size() > 3) x.push_back(in.x[3]);
  if (which.i == 3 || on_levels(x) || history_is_kept()) return composed_vjp(w, in.x, a, which.i);
  Tensor r[max_outputs];
  apply(op_attention_vjp, x, a, r);
  for (int i = which.i + 1; others.made && i < 3; i++) others.made[i] = r[i];
  return r[which.i];
});
constexpr Rule attention_jvp = rule([](V t, Inputs in, const Attention& a, Which which) { return composed_jvp(t, in.x, a, which.i); });
}  // namespace

const Op op_attention{.name = "attention", .torch = "ScaledDotProductFlashAttention", .fields = fields_of<Attention>, .kind = Kind::custom, .outputs = 2, .types = attention_types, .shape = attention_shape,
    .d = {attention_vjp, attention_vjp, attention_vjp, attention_vjp}, .t = {attention_jvp, attention_jvp, attention_jvp, attention_jvp}, .batch = batch_attention,
    .doc = "softmax(scale q k^T + mask) v without the matrix of weights, of which some may be dropped, and the logarithms of the sums of exponentials.", .reference = attention_kernel};

Tensor attention(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& mask, double scale, bool causal, double dropout_p) {
  expect(q.dim() == 4 && k.dim() == 4 && v.dim() == 4, ErrorKind::shape, "attention: query, key and value must have four dimensions, got ", q.sizes(), ", ", k.sizes(), " and ", v.sizes());
  for (int d : {0, 1}) expect(q.size(d) == k.size(d) && q.size(d) == v.size(d), ErrorKind::shape, "attention: batch and heads must be the same, got ", q.sizes(), ", ", k.sizes(), " and ", v.sizes());
  expect(q.size(3) == k.size(3) && k.size(2) == v.size(2), ErrorKind::shape, "attention: query and key must have the same features, key and value the same length, got ", q.sizes(), ", ", k.sizes(), " and ", v.sizes());
  expect(is_floating(q.dtype()) && q.dtype() == k.dtype() && q.dtype() == v.dtype(), ErrorKind::type, "attention: query, key and value must be of one floating-point type, got ", q.dtype(), ", ", k.dtype(), " and ", v.dtype());
  TensorVector x{q, k, v};
  if (mask) {
    const Dims weights{q.size(0), q.size(1), q.size(2), k.size(2)};
    bool fits = mask.dim() == 4 && mask.dtype() == q.dtype();
    for (int d = 0; fits && d < 4; d++) fits = mask.size(d) == 1 || mask.size(d) == weights[d];
    expect(fits, ErrorKind::shape, "attention: mask must be of type ", q.dtype(), " and broadcast to ", weights, ", got ", mask.dtype(), " of ", mask.sizes());
    x.push_back(mask);
  }
  expect(dropout_p >= 0 && dropout_p <= 1, ErrorKind::value, "attention: dropout probability has to be between 0 and 1, but got ", dropout_p);
  Attention a{scale, causal, {}};
  if (dropout_p > 0) {
    Generator& g = default_generator(q.device());
    if (level_top) return to_dtype(matmul(dropout(weights_of(x, a), dropout_p, true, g), in_float(v)), v.dtype());   // lanes may draw their own
    a.dropped = next_dropout(dropout_p, g, q.device());
  }
  Tensor y[max_outputs];
  apply(op_attention, x, a, y);
  return y[0];
}

const Op* const attention_ops[] = {&op_attention, &op_attention_vjp};
Ops families::attention() { return attention_ops; }

}  // namespace adjoint
