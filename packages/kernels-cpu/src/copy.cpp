// Copies: row by row, and by squares where the two sides run across each other.
#include "copy.h"

#include <algorithm>
#include <cstring>

#include "compilers.h"
#include "isa.h"
#include "pool.h"
#include "square.h"

namespace adjoint::cpu {

Order::Order(const View& v) : Dims(order_by_strides(v.strides, v.ndim)) {}

Ordered::Ordered(const View& v, const Dims& order) : view(v) {
  int same = 0;
  while (same < v.ndim && order[same] == same) same++;
  if (same == v.ndim) return;   // as it is
  sizes.resize(v.ndim), strides.resize(v.ndim);
  for (int i = 0; i < v.ndim; i++) sizes[i] = v.sizes[order[i]], strides[i] = v.strides[order[i]];
  view.sizes = sizes.data(), view.strides = strides.data();
}

Dense::Dense(const View& v, DType dtype) : memory(v.numel * itemsize(dtype)), sizes(std::span(v.sizes, static_cast<size_t>(v.ndim))), strides(v.ndim, 0) {
  int64_t step = 1;
  for (int i = v.ndim; i-- > 0; step *= sizes[i]) strides[i] = step;
  view = {memory.as<char>(), sizes.data(), strides.data(), v.ndim, dtype, v.numel};
  cast(view, v);
}

bool runs_across(const View& v) {
  if (v.numel < 1024) return false;
  int last = v.ndim;
  while (last-- > 0 && v.sizes[last] == 1) {}
  if (last < 0 || v.strides[last] == 1 || v.strides[last] == 0) return false;
  for (int i = 0; i < last; i++)
    if (v.strides[i] == 1 && v.sizes[i] >= 8) return true;
  return false;
}

namespace {

constexpr int64_t grain_bytes = 1 << 17;
constexpr int64_t side = 16;  // of the squares

template <class U> struct Square {
  template <int W> [[gnu::always_inline]] static inline void run(char* y, int64_t y_down, const char* x, int64_t x_right) {
    constexpr int lanes = W / sizeof(U) < side ? W / sizeof(U) : side;
    for (int i = 0; i < side; i += lanes)
      for (int j = 0; j < side; j += lanes) transpose<U, lanes>(y + i * y_down + j * sizeof(U), y_down, x + j * x_right + i * sizeof(U), x_right);
  }
};

// Rows of y, columns of x: so many bytes apart on either side.
template <class U> void square(char* y, int64_t y_down, const char* x, int64_t x_right, int64_t rows, int64_t columns) {
  if constexpr (sizeof(U) >= 2 && sizeof(U) <= 8)
    if (rows == side && columns == side) {
      for (int64_t j = side; j < 2 * side; j++) __builtin_prefetch(x + j * x_right);  // for the next one: no prefetcher follows such steps
      return isa::call<Square<U>>(y, y_down, x, x_right);
    }
  for (int64_t i = 0; i < rows; i++)
    for (int64_t j = 0; j < columns; j++) std::memcpy(y + i * y_down + j * sizeof(U), x + j * x_right + i * sizeof(U), sizeof(U));
}

// A value over and over, as bytes: of up to 16, which are the first of them.
template <class Word> struct Fill {
  template <int W> [[gnu::always_inline]] static inline void run(char* y, Word low, Word high, int64_t bytes) {
    typedef Word Vector __attribute__((vector_size(W)));
    Vector v;
    for (int k = 0; k < W / 8; k++) v[k] = k & 1 ? high : low;
    int64_t i = 0;
    for (; i + W <= bytes; i += W) __builtin_memcpy(y + i, &v, W);
    __builtin_memcpy(y + i, &v, static_cast<size_t>(bytes - i));
  }
};
}  // namespace

void fill(char* y, const char* value, int64_t size, int64_t n) {
  char pattern[16];
  for (int64_t i = 0; i < 16; i += size) std::memcpy(pattern + i, value, static_cast<size_t>(size));
  if (std::memcmp(pattern, pattern + 1, 15) == 0) {   // one byte: the C library knows the machine
    std::memset(y, pattern[0], static_cast<size_t>(n * size));
    return;
  }
  uint64_t halves[2];
  std::memcpy(halves, pattern, 16);
  isa::call<Fill<uint64_t>>(y, halves[0], halves[1], n * size);
}

namespace {

// Against the direction of x, from its last element in memory.
template <class U> struct Reverse {
  static constexpr bool narrow = true;
  template <int W> [[gnu::always_inline]] static inline void run(U* y, const U* last, int64_t n) {
    ADJOINT_INDEPENDENT
    for (int64_t i = 0; i < n; i++) y[i] = last[-i];
  }
};

// An element may be several narrower ones, which lie at multiples of their own size only.
template <class U> void copy_row(char* y, int64_t y_step, const char* x, int64_t x_step, int64_t n) {
  if (y_step == sizeof(U) && x_step == sizeof(U)) {
    std::memcpy(y, x, static_cast<size_t>(n) * sizeof(U));
  } else if (x_step == 0) {
    if (y_step == sizeof(U)) return fill(y, x, sizeof(U), n);
    U value;
    std::memcpy(&value, x, sizeof(U));
    for (int64_t i = 0; i < n; i++) std::memcpy(y + i * y_step, &value, sizeof(U));
  } else if (sizeof(U) <= 8 && reinterpret_cast<uintptr_t>(y) % sizeof(U) == 0 && reinterpret_cast<uintptr_t>(x) % sizeof(U) == 0 && y_step == sizeof(U) && x_step == -static_cast<int64_t>(sizeof(U))) {
    if constexpr (sizeof(U) <= 8) isa::call<Reverse<U>, U*, const U*, int64_t>(reinterpret_cast<U*>(y), reinterpret_cast<const U*>(x), n);
  } else {
    for (int64_t i = 0; i < n; i++) std::memcpy(y + i * y_step, x + i * x_step, sizeof(U));
  }
}

// The dimension in which x lies side by side where y's rows do not follow it, or -1.
int crossing(const Rows<2>& r, int64_t size) {
  if (r.strides[0][0] != size || r.strides[1][0] == size || r.strides[1][0] == 0) return -1;
  for (int d = 1; d < r.ndim; d++)
    if (r.strides[1][d] == size && r.sizes[d] >= 8) return d;
  return -1;
}

void trade(Rows<2>& r, int d, int e) {
  std::swap(r.sizes[d], r.sizes[e]);
  for (int64_t* strides : r.strides) std::swap(strides[d], strides[e]);
}

// Dimension d becomes the second one, and what is left is walked plane by plane, in tiles: runs of 1 KiB are read from each
// line of x, as steps from page to page cost more than the elements do.
template <class U> void copy_planes(Rows<2> r, int d) {
  constexpr int64_t size = sizeof(U), tile = 1024 / size;
  trade(r, 1, d);
  const int64_t columns = r.sizes[0], rows = r.sizes[1], x_right = r.strides[1][0], y_down = r.strides[0][1];
  Rows<2> planes = r;  // its rows are one element long
  planes.sizes[0] = planes.sizes[1] = 1;
  const int64_t across = (columns + tile - 1) / tile, tiles = (rows + tile - 1) / tile * across;
  const int64_t grain = std::max<int64_t>(1, grain_bytes / (std::min(columns, tile) * std::min(rows, tile) * size));
  auto copy_tile = [&](char* y, const char* x, int64_t top, int64_t left) {
    const int64_t right = std::min(columns, left + tile), bottom = std::min(rows, top + tile);
    const auto begin = [](int64_t i, int64_t first, int64_t last) { return last - first < side ? first : std::min(i, last - side); };   // the last square is a whole one too
    for (int64_t j = left; j < right; j += side)
      for (int64_t i = top; i < bottom; i += side) {
        const int64_t r = begin(i, top, bottom), c = begin(j, left, right);
        square<U>(y + r * y_down + c * size, y_down, x + c * x_right + r * size, x_right, std::min(side, bottom - r), std::min(side, right - c));
      }
  };
  pool::parallel_for(row_count(planes) * tiles, grain, [&](int64_t first, int64_t last) {
    for (int64_t t = first; t < last; t++)
      walk_rows(planes, t / tiles, t / tiles + 1, [&](char* const* p, const int64_t*, int64_t) {
        copy_tile(p[0], p[1], t % tiles / across * tile, t % across * tile);
      });
  });
}

// Some short lines side by side, next to a longer dimension 0: pieces of that one, each with all of the lines, so that they stay in the cache.
template <class U> void copy_lines(Rows<2> r) {
  constexpr int64_t piece = 512;
  const int64_t n = r.sizes[0], lines = r.sizes[1], pieces = (n + piece - 1) / piece;
  Rows<2> planes = r;
  planes.sizes[0] = planes.sizes[1] = 1;
  pool::parallel_for(row_count(planes) * pieces, std::max<int64_t>(1, grain_bytes / (std::min(n, piece) * lines * sizeof(U))), [&](int64_t first, int64_t last) {
    for (int64_t u = first; u < last; u++)
      walk_rows(planes, u / pieces, u / pieces + 1, [&](char* const* p, const int64_t*, int64_t) {
        const int64_t begin = u % pieces * piece, m = std::min(piece, n - begin);
        for (int64_t j = 0; j < lines; j++)
          copy_row<U>(p[0] + begin * r.strides[0][0] + j * r.strides[0][1], r.strides[0][0], p[1] + begin * r.strides[1][0] + j * r.strides[1][1], r.strides[1][0], m);
      });
  });
}

// The longer dimension in front, if rows are short on either side and not one run of memory in both.
bool find_lines(Rows<2>& r, int64_t size) {
  constexpr int64_t few = 8;
  if (r.ndim < 2) return false;
  if (r.sizes[0] < few && r.sizes[1] > 2 * few) return trade(r, 0, 1), true;
  if (r.sizes[0] < 2 * few || r.strides[1][0] == size) return false;
  for (int d = 1; d < r.ndim; d++)
    if (r.strides[1][d] == size && r.sizes[d] < few) return trade(r, 1, d), true;
  return false;
}

// Rows of a few hundred bytes, without a call for each. The last bytes of a row are copied together with some before them.
constexpr int64_t short_row = 512;
struct ShortRows {
  static constexpr bool narrow = true;
  template <int W> [[gnu::always_inline]] static inline void run(char* y, int64_t y_step, const char* x, int64_t x_step, int64_t rows, int64_t bytes) {
    if (bytes >= W) return whole<W>(y, y_step, x, x_step, rows, bytes);
    if (bytes >= 16) return whole<16>(y, y_step, x, x_step, rows, bytes);
    if (bytes >= 8) return whole<8>(y, y_step, x, x_step, rows, bytes);
    if (bytes >= 4) return whole<4>(y, y_step, x, x_step, rows, bytes);
    whole<1>(y, y_step, x, x_step, rows, bytes);
  }

 private:
  template <int N> [[gnu::always_inline]] static inline void whole(char* y, int64_t y_step, const char* x, int64_t x_step, int64_t rows, int64_t bytes) {
    for (; rows > 0; rows--, y += y_step, x += x_step) {
      for (int64_t i = 0; i + N <= bytes; i += N) __builtin_memcpy(y + i, x + i, N);
      __builtin_memcpy(y + bytes - N, x + bytes - N, N);
    }
  }
};
// Whether rows are short and dense; then they go many at a time.
template <class U> bool copy_short_rows(const Rows<2>& r) {
  constexpr int64_t size = sizeof(U);
  const int64_t bytes = r.sizes[0] * size;
  if (r.ndim < 2 || bytes > short_row || r.strides[0][0] != size || r.strides[1][0] != size || r.sizes[1] < 4) return false;
  Rows<2> many = r;   // its rows are those of r that lie along dimension 1
  many.ndim = r.ndim - 1;
  for (int d = 0; d < many.ndim; d++) {
    many.sizes[d] = r.sizes[d + 1];
    for (int k = 0; k < 2; k++) many.strides[k][d] = r.strides[k][d + 1];
  }
  const int64_t each = std::max<int64_t>(1, grain_bytes / bytes), parts = (many.sizes[0] + each - 1) / each;
  pool::parallel_for(row_count(many) * parts, std::max<int64_t>(1, each / many.sizes[0]), [&](int64_t first, int64_t last) {
    for (int64_t b = first; b < last; b++)
      walk_rows(many, b / parts, b / parts + 1, [&](char* const* p, const int64_t* s, int64_t n) {
        const int64_t begin = b % parts * each, count = std::min(each, n - begin);
        isa::call<ShortRows, char*, int64_t, const char*, int64_t, int64_t, int64_t>(p[0] + begin * s[0], s[0], p[1] + begin * s[1], s[1], count, bytes);
      });
  });
  return true;
}

// Columns of x that lie side by side in reverse order are read in the order of memory, and y's rows are written from the last one.
Rows<2> straightened(Rows<2> r, int64_t size) {
  for (int d = 1; d < r.ndim; d++)
    if (r.strides[1][d] == -size)
      for (int k = 0; k < 2; k++) {
        r.base[k] += (r.sizes[d] - 1) * r.strides[k][d];
        r.strides[k][d] *= -1;
      }
  return r;
}

// Rows of a few elements that lie apart: a plane of them at a time.
template <class U> bool copy_short_steps(const Rows<2>& r) {
  constexpr int64_t few = 8, size = sizeof(U);
  if (r.ndim < 2 || r.sizes[0] >= few || r.sizes[0] * r.sizes[1] < 2 * few || r.sizes[1] > 2 * few || r.strides[0][0] != size) return false;
  Rows<2> planes = r;
  planes.sizes[0] = planes.sizes[1] = 1;
  const int64_t n = r.sizes[0], rows = r.sizes[1], *y_steps = r.strides[0], *x_steps = r.strides[1];
  pool::parallel_for(row_count(planes), std::max<int64_t>(1, grain_bytes / (n * rows * size)), [&](int64_t first, int64_t last) {
    walk_rows(planes, first, last, [&](char* const* p, const int64_t*, int64_t) {
      for (int64_t j = 0; j < rows; j++)
        for (int64_t i = 0; i < n; i++) std::memcpy(p[0] + j * y_steps[1] + i * size, p[1] + j * x_steps[1] + i * x_steps[0], sizeof(U));
    });
  });
  return true;
}

template <class U> void copy_rows(const Rows<2>& given) {
  if (copy_short_rows<U>(given) || copy_short_steps<U>(given)) return;
  const Rows<2> r = straightened(given, sizeof(U));
  const int64_t n = r.sizes[0], count = row_count(r), grain = grain_bytes / static_cast<int64_t>(sizeof(U));
  if (const int d = crossing(r, sizeof(U)); d > 0 && n >= 8) return copy_planes<U>(r, d);
  if (Rows<2> lines = r; find_lines(lines, sizeof(U))) return copy_lines<U>(lines);
  auto rows = [&](int64_t first, int64_t last, int64_t begin, int64_t end) {
    walk_rows(r, first, last, [&](char* const* p, const int64_t* s, int64_t) {
      copy_row<U>(p[0] + begin * s[0], s[0], p[1] + begin * s[1], s[1], end - begin);
    });
  };
  if (n > grain) {
    const int64_t parts = (n + grain - 1) / grain;
    pool::parallel(count * parts, [&](int64_t b) { rows(b / parts, b / parts + 1, b % parts * grain, std::min(n, (b % parts + 1) * grain)); });
  } else {
    pool::parallel_for(count, std::max<int64_t>(1, grain / n), [&](int64_t first, int64_t last) { rows(first, last, 0, n); });
  }
}

// Rows of a few bytes on both sides are elements of that size.
int64_t widen_elements(Rows<2>& r, int64_t size) {
  const int64_t bytes = size * r.sizes[0];
  if (r.ndim < 2 || r.strides[0][0] != size || r.strides[1][0] != size || bytes > 16 || (bytes & (bytes - 1))) return size;
  r.ndim--;
  std::copy_n(r.sizes + 1, r.ndim, r.sizes);
  for (int64_t* strides : r.strides) std::copy_n(strides + 1, r.ndim, strides);
  return bytes;
}

}  // namespace

void copy(const View& y, const View& x) {
  if (y.numel == 0) return;
  const Order order(y);
  const Ordered to(y, order), from(x, order);
  Rows<2> rows = make_rows<2>({&to.view, &from.view});
  with_bytes(widen_elements(rows, itemsize(y.dtype)), [&](auto zero) { copy_rows<decltype(zero)>(rows); });
}

}  // namespace adjoint::cpu
