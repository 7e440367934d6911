// Reductions that choose one element along a dimension and say which: max, min, median, nanmedian.
#include <adjoint/core/allocator.h>
#include <adjoint/core/batch.h>
#include <adjoint/core/nanmedian.h>
#include <adjoint/core/types.h>

#include <algorithm>

#include "families.h"
#include "lanes.h"
#include "one_zero.h"

namespace adjoint {

namespace {

void pick_shape(Tensors x, const Attrs& attrs, Dims* out) {
  const DimKeep& a = attrs.as<DimKeep>();
  out[0] = out[1] = reduced(x[0].sizes(), {a.dim}, a.keepdim);
}

// choose(value at i, n) gives the position.
template <class Choose> void pick_kernel(const Launch& l, Choose&& choose) {
  const int dim = l.attrs.as<DimKeep>().dim;
  with_type(l.x[0].dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (is_complex_v<T>) fail(ErrorKind::not_implemented, l.op, ": not implemented for ", l.x[0].dtype);
    else for_lines<3>({&l.x[0], &l.y[0], &l.y[1]}, dim, [&](char* const* p, const int64_t* s, int64_t n) {
      auto value = [&](int64_t i) { return at<T>(p[0] + i * s[0]); };
      const int64_t i = choose(value, n);
      at<T>(p[1]) = value(i);
      at<int64_t>(p[2]) = i;
    });
  });
}

// The first of equal values; the first NaN wins over all.
template <bool largest> void pick_extreme_kernel(const Launch& l) {
  pick_kernel(l, [](auto&& value, int64_t n) {
    int64_t best = 0;
    auto b = value(0);
    for (int64_t i = 1; i < n && !is_nan(b); i++) {
      const auto v = value(i);
      if ((largest ? v > b : v < b) || is_nan(v)) { best = i; b = v; }
    }
    return best;
  });
}

template <class T> using WideNumber = std::conditional_t<std::is_same_v<T, double>, double, std::conditional_t<std::is_integral_v<T>, int64_t, float>>;

// The k-th smallest of n numbers, and how many before it equal it; behind them lies memory for n more. Of many numbers only those are
// ordered that lie near where a sample of them has its k-th.
template <class W> std::pair<W, int64_t> select_kth(W* x, int64_t k, int64_t n) {
  constexpr int64_t samples = 1024, margin = 64;  // four standard deviations of the rank
  if (n >= 16 * samples) {
    W sample[samples];
    for (int64_t i = 0; i < samples; i++) sample[i] = x[i * (n / samples)];
    const int64_t rank = k * samples / n;
    auto ranked = [&](int64_t r) {
      W* const at = sample + std::clamp<int64_t>(r, 0, samples - 1);
      std::nth_element(sample, at, sample + samples);
      return *at;
    };
    const W low = ranked(rank - margin), high = ranked(rank + margin);
    int64_t below = 0, near = 0;
    for (int64_t i = 0; i < n; i++) {
      x[n + near] = x[i];
      below += x[i] < low ? 1 : 0;
      near += (x[i] >= low) & (x[i] <= high) ? 1 : 0;
    }
    if (below <= k && k < below + near) x += n, k -= below, n = near;
  }
  std::nth_element(x, x + k, x + n);
  return {x[k], std::count(x, x + k, x[k])};
}

struct Scratch {
  size_t bytes;
  void* data;
  explicit Scratch(int64_t numbers) : bytes(static_cast<size_t>(numbers) * sizeof(int64_t)), data(allocate(bytes)) {}
  Scratch(const Scratch&) = delete;
  ~Scratch() { deallocate(data, bytes); }
};

// The lower of two middle values, of equal ones that which a stable sort puts there; the first NaN, if there is one, or only if there is nothing else.
template <bool skips_nan> void median_kernel(const Launch& l) {
  const Scratch memory(2 * l.x[0].sizes[l.attrs.as<DimKeep>().dim]);  // for the values alone: to sort positions with them takes three times as long
  pick_kernel(l, [&](auto&& value, int64_t n) {
    using W = WideNumber<compute_t<decltype(value(0))>>;
    W* const values = static_cast<W*>(memory.data);
    int64_t count = 0;
    for (int64_t i = 0; i < n; i++) {
      if (!is_nan(value(i))) values[count++] = convert<W>(value(i));
      else if (!skips_nan) return i;
    }
    if (count == 0) return int64_t{0};
    auto [middle, equal_before] = select_kth(values, (count - 1) / 2, count);
    int64_t at = 0;
    while (convert<W>(value(at)) != middle || equal_before-- > 0) at++;
    return at;
  });
}

constexpr Rule pick_vjp = rule([](V v, Y<1> index, const DimKeep& a, XShape<0> x) {
  const Tensor zero = one_zero(x.sizes, v);
  return a.keepdim ? scatter_add(zero, a.dim, index, v) : scatter_add(zero, a.dim, unsqueeze(index, a.dim), unsqueeze(v, a.dim));
});
constexpr Rule pick_jvp = rule([](V v, Y<1> index, const DimKeep& a) {
  return a.keepdim ? gather(v, a.dim, index) : squeeze(gather(v, a.dim, unsqueeze(index, a.dim)), Dims{a.dim});
});

Values pick(const Op& op, const Tensor& x, int64_t dim, bool keepdim) {
  return along_values(x, dim, op.name, [&](const Tensor& v, int d) {
    expect(v.size(d) > 0, ErrorKind::index, op.name, ": Expected reduction dim ", d, " to have non-zero size.");
    return apply_values(op, v, DimKeep{d, keepdim});
  });
}

}  // namespace

const Op op_max{.name = "max", .fields = fields_of<DimKeep>, .kind = Kind::custom, .outputs = 2, .types = types::with_index, .shape = pick_shape, .d = {pick_vjp}, .t = {pick_jvp},
    .batch = batch::shift<&DimKeep::dim>, .doc = "The largest value along a dimension and where it is; the derivative goes to that one.", .reference = pick_extreme_kernel<true>};
Values max(const Tensor& x, int64_t dim, bool keepdim) { return pick(op_max, x, dim, keepdim); }

const Op op_min{.name = "min", .fields = fields_of<DimKeep>, .kind = Kind::custom, .outputs = 2, .types = types::with_index, .shape = pick_shape, .d = {pick_vjp}, .t = {pick_jvp},
    .batch = batch::shift<&DimKeep::dim>, .doc = "The smallest value along a dimension and where it is; the derivative goes to that one.", .reference = pick_extreme_kernel<false>};
Values min(const Tensor& x, int64_t dim, bool keepdim) { return pick(op_min, x, dim, keepdim); }

const Op op_median{.name = "median", .fields = fields_of<DimKeep>, .kind = Kind::custom, .outputs = 2, .types = types::with_index, .shape = pick_shape, .d = {pick_vjp}, .t = {pick_jvp},
    .batch = batch::shift<&DimKeep::dim>, .doc = "The (lower) median along a dimension and where it is; the derivative goes to that one.", .reference = median_kernel<false>};
Values median(const Tensor& x, int64_t dim, bool keepdim) { return pick(op_median, x, dim, keepdim); }

const Op op_nanmedian{.name = "nanmedian", .fields = fields_of<DimKeep>, .kind = Kind::custom, .outputs = 2, .types = types::with_index, .shape = pick_shape, .d = {pick_vjp}, .t = {pick_jvp},
    .batch = batch::shift<&DimKeep::dim>, .doc = "The (lower) median of the elements along a dimension that are not NaN, and where it is; the derivative goes to that one.", .reference = median_kernel<true>};
Values nanmedian(const Tensor& x, int64_t dim, bool keepdim) { return pick(op_nanmedian, x, dim, keepdim); }

const Op* const pick_ops[] = {&op_max, &op_median, &op_min, &op_nanmedian};
Ops families::pick() { return pick_ops; }

}  // namespace adjoint
