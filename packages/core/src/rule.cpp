// Rules of many steps: half types are computed in float, large operands tile by tile.
#include <adjoint/core/history.h>
#include <adjoint/core/ops.h>
#include <adjoint/core/parallel.h>

#include <algorithm>

#include "ops/in_float.h"
#include "watched_here.h"

namespace adjoint {

bool (*engine_keeps_history)() = nullptr;

namespace {

constexpr int64_t tile_each = 1 << 15, least = 1 << 18;   // elements: of a thread's part of a tile; of what is worth the cutting

bool is_one_value(const Tensor& x) { return std::all_of(x->strides.begin(), x->strides.end(), [](int64_t s) { return s == 0; }); }
// Whether a tile of it is memory in a row, or it is the same for all tiles.
bool goes_by_tiles(const Tensor& x, const Dims& sizes) {
  if (!x) return true;
  if (x->keys & ~uint32_t(key_tape | key_view) || x.device().type != DeviceType::cpu || !x->storage) return false;
  return x.numel() == 1 || (x.sizes() == sizes && (x->contiguous() || is_one_value(x)));
}
Tensor piece(const Tensor& x, int64_t begin, int64_t n) {
  if (!x || x.numel() == 1) return x;
  const bool same = !x->contiguous();
  Tensor y = alias_of(x);
  y->sizes = {n}, y->strides = {same ? 0 : 1};
  if (!same) y->data += begin * itemsize(x.dtype());
  y->update_layout();
  return y;
}

}  // namespace

bool call_by_tiles(const Rule& rule, const Call& c, Tensor* result) {
  if (c.v.size() != 1 || !c.v[0] || c.v[0].numel() < least || level_top || watched_here() || history_is_kept()) return false;
  const Dims& sizes = c.v[0].sizes();
  for (const Tensors& all : {c.v, c.x, c.y})
    for (const Tensor& t : all)
      if (!goes_by_tiles(t, sizes)) return false;
  const int64_t n = c.v[0].numel(), tile = tile_each * num_threads();
  Tensor whole;
  for (int64_t begin = 0, m; begin < n; begin += m) {
    m = std::min(tile, n - begin);
    const auto pieces = [&](Tensors given) {
      TensorVector r;
      for (const Tensor& t : given) r.push_back(piece(t, begin, m));
      return r;
    };
    const TensorVector x = pieces(c.x), y = pieces(c.y), v = pieces(c.v);
    Tensor r[max_outputs];
    rule.f({x, y, v, c.inputs, c.attrs, c.which}, r);
    if (begin == 0) {
      if (!r[0] || r[0].sizes() != Dims{m}) return false;
      whole = empty(sizes, r[0].dtype());
    }
    copy_(piece(whole, begin, m), r[0]);
  }
  result[0] = std::move(whole);
  return true;
}

namespace detail {

namespace {

bool any_half(Tensors x) {
  for (const Tensor& t : x)
    if (t && is_half(t.dtype())) return true;
  return false;
}

// Those of x that `wanted` says the rule looks at.
template <class Wanted> TensorVector widened(Tensors x, Wanted&& wanted) {
  TensorVector wide;
  for (size_t i = 0; i < x.size(); i++) wide.push_back(x[i] && wanted(i) ? in_float(x[i]) : x[i]);
  return wide;
}

}  // namespace

void call_in_float(const Rule& rule, const Call& c, Tensor* result) {
  if (!any_half(c.v) && !any_half(c.x) && !any_half(c.y)) return rule.f(c, result);
  if (!level_top && InFloat::serves(c.v) && InFloat::serves(c.x) && InFloat::serves(c.y)) {
    const InFloat here;
    return rule.f(c, result);
  }
  const TensorVector x = widened(c.x, [&](size_t i) { return rule.saves & saves_all_inputs || (i < 32 && rule.saves & saves_input(static_cast<int>(i))); });
  const TensorVector y = widened(c.y, [&](size_t i) { return rule.saves & saves_output(static_cast<int>(i)); });
  const TensorVector v = widened(c.v, [](size_t) { return true; });
  rule.f({x, y, v, c.inputs, c.attrs, c.which, c.made}, result);
}

}  // namespace detail
}  // namespace adjoint
