// Running sums and products along one dimension. Elements are joined in vectors, with one carry from each to the next.
#include <adjoint/core/op_attrs.h>

#include <algorithm>
#include <utility>

#include "compilers.h"
#include "isa.h"
#include "kernels.h"
#include "lines.h"
#include "pool.h"

#pragma GCC diagnostic ignored "-Wpsabi"  // wide vectors are only passed to functions that are inlined

namespace adjoint::cpu {

namespace {

constexpr int64_t block = 32768;  // elements of a row that are scanned at a time
constexpr int64_t strip = 512;    // columns

struct Sum {
  static constexpr int identity = 0;
  template <class V> [[gnu::always_inline]] static inline V join(V a, V b) { return a + b; }
};
struct Product {
  static constexpr int identity = 1;
  template <class V> [[gnu::always_inline]] static inline V join(V a, V b) { return a * b; }
};

// What T is joined in.
template <class T> using Accumulated = std::conditional_t<std::is_same_v<T, float>, double, T>;

template <class O, bool reverse, class T> struct ScanRow {
  using A = Accumulated<T>;
  // From `carry` on, which is left behind the last element. y null: only the carry.
  template <int W> [[gnu::always_inline]] static inline void run(const T* x, T* y, int64_t n, A* carry) {
    constexpr int lanes = W / 8;
    typedef A Vector __attribute__((vector_size(W), aligned(alignof(A)), may_alias));
    typedef std::enable_if_t<(W > 0), int64_t> Lanes __attribute__((vector_size(W)));
    Lanes number, last{};
    for (int j = 0; j < lanes; j++) number[j] = j, last[j] = lanes - 1;
    Vector identity{}, before;
    for (int j = 0; j < lanes; j++) identity[j] = O::identity, before[j] = *carry;
    int64_t i = 0;
    for (; i + lanes <= n; i += lanes) {
      T in[lanes], out[lanes];
      __builtin_memcpy(in, x + (reverse ? n - lanes - i : i), sizeof in);
      Vector v;
      for (int j = 0; j < lanes; j++) v[j] = static_cast<A>(in[reverse ? lanes - 1 - j : j]);
#pragma GCC unroll 3
      for (int step = 1; step < lanes; step *= 2) v = O::join(v, shuffle(identity, v, number + (lanes - step)));
      v = O::join(before, v);
      before = shuffle(v, v, last);
      if (!y) continue;
      for (int j = 0; j < lanes; j++) out[reverse ? lanes - 1 - j : j] = static_cast<T>(v[j]);
      __builtin_memcpy(y + (reverse ? n - lanes - i : i), out, sizeof out);
    }
    A state = before[0];
    for (; i < n; i++) {
      const int64_t at = reverse ? n - 1 - i : i;
      state = O::join(state, static_cast<A>(x[at]));
      if (y) y[at] = static_cast<T>(state);
    }
    *carry = state;
  }
};

template <class O, bool reverse, class T> struct ScanColumns {
  template <int W> [[gnu::always_inline]] static inline void run(const T* x, T* y, int64_t n, int64_t down, int64_t width) {
    Accumulated<T> state[strip];
    for (int64_t j = 0; j < width; j++) state[j] = O::identity;
    for (int64_t i = 0; i < n; i++) {
      const int64_t at = (reverse ? n - 1 - i : i) * down;
      ADJOINT_INDEPENDENT
      for (int64_t j = 0; j < width; j++) {
        state[j] = O::join(state[j], static_cast<Accumulated<T>>(x[at + j]));
        y[at + j] = static_cast<T>(state[j]);
      }
    }
  }
};

// A long row: the joins of its blocks first, then each block from what stands before it.
template <class O, bool reverse, class T> void scan_long(const T* x, T* y, int64_t n) {
  using A = Accumulated<T>;
  const int64_t blocks = (n + block - 1) / block;
  const Buffer memory(blocks * static_cast<int64_t>(sizeof(A)));
  A* carry = memory.as<A>();
  auto scan = [&](int64_t b, T* to) {
    const int64_t begin = reverse ? std::max<int64_t>(0, n - (b + 1) * block) : b * block, end = reverse ? n - b * block : std::min(n, begin + block);
    isa::call<ScanRow<O, reverse, T>>(x + begin, to ? to + begin : nullptr, end - begin, carry + b);
  };
  pool::parallel(blocks, [&](int64_t b) {
    carry[b] = O::identity;
    scan(b, nullptr);
  });
  A before = O::identity;
  for (int64_t b = 0; b < blocks; b++) before = O::join(before, std::exchange(carry[b], before));
  pool::parallel(blocks, [&](int64_t b) { scan(b, y); });
}

template <class O, bool reverse, class T> void scan(const Lines& l, const T* x, T* y) {
  if (l.inner > 1) {
    const int64_t strips = (l.inner + strip - 1) / strip;
    return pool::parallel_for(l.outer * strips, std::max<int64_t>(1, block / (l.n * std::min(l.inner, strip))), [&](int64_t first, int64_t last) {
      for (int64_t u = first; u < last; u++) {
        const int64_t column = u % strips * strip, at = u / strips * l.n * l.inner + column;
        isa::call<ScanColumns<O, reverse, T>>(x + at, y + at, l.n, l.inner, std::min(strip, l.inner - column));
      }
    });
  }
  if (l.n > 4 * block) {
    for (int64_t r = 0; r < l.outer; r++) scan_long<O, reverse>(x + r * l.n, y + r * l.n, l.n);
    return;
  }
  pool::parallel_for(l.outer, std::max<int64_t>(1, block / l.n), [&](int64_t first, int64_t last) {
    for (int64_t r = first; r < last; r++) {
      Accumulated<T> carry = O::identity;
      isa::call<ScanRow<O, reverse, T>>(x + r * l.n, y + r * l.n, l.n, &carry);
    }
  });
}

template <class O> void kernel(const Launch& l) {
  const View &x = l.x[0], &y = l.y[0];
  const DType type = widened(x.dtype);
  if (x.numel == 0 || !(is_floating(type) || type == DType::int64)) return reference(l);
  const Scan& a = l.attrs.as<Scan>();
  const Lines lines(x, a.dim);
  const Contiguous in(x, type);
  const Buffer memory(type == y.dtype ? 1 : y.numel * itemsize(type));
  auto typed = [&](auto zero) {
    using T = decltype(zero);
    T* out = type == y.dtype ? y.as<T>() : memory.as<T>();
    if (a.reverse) scan<O, true>(lines, in.as<const T>(), out);
    else scan<O, false>(lines, in.as<const T>(), out);
  };
  if (type == DType::float32) typed(0.f);
  else if (type == DType::float64) typed(0.);
  else typed(int64_t{});
  if (type != y.dtype) cast(y, {memory.as<char>(), y.sizes, y.strides, y.ndim, type, y.numel});
}

constexpr Entry entries[] = {
    {"cumprod", kernel<Product>},
    {"cumsum", kernel<Sum>},
};

}  // namespace

Entries scan_kernels() { return entries; }

}  // namespace adjoint::cpu
