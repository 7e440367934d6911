// Reference loops of elementwise ops: operands are brought to the type that is computed in, some at a time.
#include <adjoint/core/elementwise.h>
#include <adjoint/core/parallel.h>

#include <algorithm>
#include <cstdlib>

namespace adjoint {

Dims order_by_strides(const int64_t* strides, int ndim) {
  Dims order(ndim, 0);
  for (int64_t i = 1; i < ndim; i++) {
    int at = static_cast<int>(i);
    for (; at > 0 && std::abs(strides[order[at - 1]]) < std::abs(strides[i]); at--) order[at] = order[at - 1];
    order[at] = i;
  }
  return order;
}

void (*parallel_for)(int64_t n, int64_t grain, Borrowed<int64_t, int64_t> f) = [](int64_t n, int64_t, Borrowed<int64_t, int64_t> f) { f(0, n); };
int (*num_threads)() = [] { return 1; };

namespace detail {

namespace {

constexpr int64_t tile_size = 128, grain = 4096;   // elements

// Between elements in memory, `step` bytes apart, and a tile.
using Move = void (*)(char* tile, char* memory, int64_t step, int64_t n);

template <class T> struct Moves {
  using C = std::conditional_t<std::is_integral_v<T> && !std::is_same_v<T, bool> && !std::is_same_v<T, uint64_t>, int64_t, compute_t<T>>;
  static void load(char* tile, char* memory, int64_t step, int64_t n) {
    for (int64_t i = 0; i < n; i++) reinterpret_cast<C*>(tile)[i] = convert<C>(*reinterpret_cast<const T*>(memory + i * step));
  }
  static void store(char* tile, char* memory, int64_t step, int64_t n) {
    for (int64_t i = 0; i < n; i++) *reinterpret_cast<T*>(memory + i * step) = convert<T>(reinterpret_cast<const C*>(tile)[i]);
  }
};

// How one operand comes and goes.
struct Operand {
  int64_t stored, wide;   // bytes of an element
  bool same;
  Move move;
};
Operand operand(const View& v, bool is_output) {
  return with_type(v.dtype, [&](auto tag) -> Operand {
    using M = Moves<typename decltype(tag)::type>;
    return {itemsize(v.dtype), sizeof(typename M::C), v.dtype == wide_type(v.dtype), is_output ? M::store : M::load};
  });
}

// A view with its dimensions in the order in which the result lies in memory.
class Along {
 public:
  const View& set(const View& x, const View& y) {
    const Dims order = order_by_strides(y.strides, y.ndim);
    for (int i = 0; i < y.ndim; i++) sizes_[i] = x.sizes[order[i]], strides_[i] = x.strides[order[i]];
    view_ = x;
    view_.sizes = sizes_, view_.strides = strides_;
    return view_;
  }

 private:
  int64_t sizes_[Dims::max], strides_[Dims::max];
  View view_;
};

// The loop for pieces of rows, or for some rows at a time.
template <int N> void each_row(const View* const (&v)[N], RowLoop loop) {
  if (v[0]->numel == 0) return;
  const Rows<N> rows = make_rows(v);
  const int64_t n = rows.sizes[0], count = row_count(rows);
  if (count > 1) return parallel_for(count, std::max<int64_t>(1, grain / n), [&](int64_t first, int64_t last) { walk_rows(rows, first, last, loop); });
  parallel_for(n, grain, [&](int64_t begin, int64_t end) {
    char* p[N];
    int64_t steps[N];
    for (int k = 0; k < N; k++) steps[k] = rows.strides[k][0], p[k] = rows.base[k] + begin * steps[k];
    loop(p, steps, end - begin);
  });
}

}  // namespace

template <int N> void run_wide(const Launch& l, DenseLoop loop, const void* functor) {
  Along along[N + 1];
  const View* v[N + 1];
  Operand operands[N + 1];
  for (int k = 0; k <= N; k++) {
    const View& x = k == 0 ? l.y[0] : l.x[k - 1];
    v[k] = &along[k].set(x, l.y[0]);
    operands[k] = operand(x, k == 0);
  }
  const auto row = [&](char* const* p, const int64_t* steps, int64_t n) {
    alignas(16) char tiles[N + 1][tile_size * sizeof(Complex<double>)];
    for (int64_t at = 0; at < n; at += tile_size) {
      const int64_t m = std::min(tile_size, n - at);
      char* x[N + 1];
      for (int k = N; k >= 0; k--) {
        const Operand& o = operands[k];
        const bool in_place = o.same && steps[k] == o.stored;
        x[k] = in_place ? p[k] + at * steps[k] : tiles[k];
        if (k > 0 && !in_place) o.move(tiles[k], p[k] + at * steps[k], steps[k], m);
      }
      loop(x[0], x + 1, functor, m);
      if (x[0] == tiles[0]) operands[0].move(tiles[0], p[0] + at * steps[0], steps[0], m);
    }
  };
  each_row(v, row);
}
template void run_wide<1>(const Launch&, DenseLoop, const void*);
template void run_wide<2>(const Launch&, DenseLoop, const void*);
template void run_wide<3>(const Launch&, DenseLoop, const void*);

}  // namespace detail
}  // namespace adjoint
