// Images at given positions: which elements a position takes, and what each counts. Positions go in tiles; channels share what a tile knows.
#pragma once
#include <adjoint/core/op.h>
#include <adjoint/core/op_fields.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

namespace adjoint {

// sizes: of the image. orders: which derivative of the weights, by each coordinate of a position; the first one goes along the last dimension.
struct GridSample { Dims sizes; int mode, outside; bool aligned; Dims orders; };
inline void describe(const GridSample& a, FieldList& f) {
  f.add("sizes", a.sizes); f.add("mode", a.mode); f.add("outside", a.outside); f.add("aligned", a.aligned); f.add("orders", a.orders);
}

extern const Op op_grid_sample, op_grid_sample_grid_vjp, op_grid_sample_image_vjp;
// mode and outside: below.
ADJOINT_API Tensor grid_sample(const Tensor& x, const Tensor& grid, int mode, int outside, bool aligned);

namespace sampling {

enum Mode { linear, nearest, cubic };
enum Outside { zeros, border, reflection };
constexpr int tile = 64, most = 16;   // positions; elements that one takes

// Between 0 and span by mirrors, for r not farther than two of them, and the sign of the derivative.
template <class C> [[gnu::always_inline]] inline C mirrored(C r, C span, C& slope) {
  r = r < 0 ? r + 2 * span : r < 2 * span ? r : r - 2 * span;
  slope = r > span ? -slope : r == span ? C(0) : slope;
  return span - std::abs(r - span);
}
// x brought between low and high.
template <class C> [[gnu::always_inline]] inline C reflected(C x, C low, C high, C& slope) {
  const C span = high - low;
  if (!(span > 0)) { slope = 0; return x * 0; }
  return mirrored(std::fmod(x - low, 2 * span), span, slope) + low;
}
// Into [0, size - 1], NaN to `nan`; no derivative at the ends and beyond them.
template <class C> [[gnu::always_inline]] inline C clipped(C x, C last, C nan, C& slope) {
  const bool inside = (x > 0) & (x < last);
  slope = inside ? slope : C(0);
  return inside ? x : x >= last ? last : x <= 0 ? C(0) : nan;
}

// The cubic kernel of R. Keys, Cubic convolution interpolation for digital image processing, 1981, with a = -3/4, and its derivatives:
// for distances up to 1, and from 1 to 2.
template <class C> [[gnu::always_inline]] inline C near(C d, int64_t order) {
  constexpr C a = C(-0.75);
  switch (order) {
    case 0: return ((a + 2) * d - (a + 3)) * d * d + 1;
    case 1: return (3 * (a + 2) * d - 2 * (a + 3)) * d;
    case 2: return 6 * (a + 2) * d - 2 * (a + 3);
    case 3: return 6 * (a + 2) + d * 0;
    default: return d * 0;
  }
}
template <class C> [[gnu::always_inline]] inline C far(C d, int64_t order) {
  constexpr C a = C(-0.75);
  switch (order) {
    case 0: return ((d - 5) * d + 8) * d * a - 4 * a;
    case 1: return ((3 * d - 10) * d + 8) * a;
    case 2: return (6 * d - 10) * a;
    case 3: return 6 * a + d * 0;
    default: return d * 0;
  }
}
// What up to `tile` positions take. C computes, I numbers the elements of an image.
template <class C, class I> struct Tile {
  const GridSample* a;
  int n, taps, combinations, count;
  I index[3][4][tile];        // times the step of its dimension; far below zero outside
  C weight[2][3][4][tile];    // [1]: of the next derivative
  I place[most][tile];
  C product[most][tile];
  I inside[4][tile];          // of plain positions: 0 for what is outside, which counts 0 times, or NaN
  int held, at[tile];         // positions with an element inside, which alone are kept, in `place` and `product`
  C part[2][tile], slope[2][tile];   // of plain positions, which are all kept: how far behind the first element, and by how much that grows

  [[gnu::always_inline]] explicit Tile(const GridSample& attrs) : a(&attrs), n(attrs.sizes.size()), taps(attrs.mode == linear ? 2 : attrs.mode == cubic ? 4 : 1) {
    combinations = n == 3 ? taps * taps * taps : taps * taps;
  }
  static constexpr I none = std::numeric_limits<I>::min() / 4;

  // Dimension d of the image, at coordinates that begin at g. Loops are plain, so that they become vectors.
  [[gnu::always_inline]] inline void along(int d, const C* g, I step, bool derivatives) {
    const bool is_cubic = a->mode == cubic, moves = a->outside != zeros;   // a cubic brings in each of its taps
    const C size = static_cast<C>(a->sizes[d]), last = size - 1, edge = a->aligned ? C(0) : C(0.5), half = (a->aligned ? last : size) / 2;
    const int64_t order = a->orders[n - 1 - d];
    C x[tile], low[tile], part[tile], slope[tile];
    if (n == 2) for (int p = 0; p < count; p++) x[p] = g[2 * p + 1 - d];
    else for (int p = 0; p < count; p++) x[p] = g[3 * p + 2 - d];
    for (int p = 0; p < count; p++) x[p] = (x[p] + 1) * half - edge, slope[p] = half;
    if (moves && !is_cubic) bring_in(x, slope, last, edge);
    if (a->mode == nearest) for (int p = 0; p < count; p++) low[p] = std::nearbyint(x[p]);
    else for (int p = 0; p < count; p++) low[p] = std::floor(x[p]);
    for (int p = 0; p < count; p++) part[p] = x[p] - low[p];
    for (int k = 0; k < taps; k++) {
      const C shift = static_cast<C>(is_cubic ? k - 1 : k);
      C i[tile], unused[tile] = {};
      for (int p = 0; p < count; p++) i[p] = low[p] + shift;
      if (moves && is_cubic) bring_in(i, unused, last, edge);
      for (int p = 0; p < count; p++) {
        const bool there = (i[p] >= 0) & (i[p] < size);
        index[d][k][p] = there ? static_cast<I>(there ? i[p] : C(0)) * step : none;
      }
      for (int64_t o = 0; o <= static_cast<int64_t>(derivatives); o++) {
        C* const w = weight[o][d][k];
        if (order + o == 0) weigh(k, part, std::integral_constant<int64_t, 0>{}, w);
        else weigh(k, part, order + o, w);
        for (int64_t j = 0; j < order + o; j++)
          for (int p = 0; p < count; p++) w[p] *= slope[p];
      }
    }
  }
  // Coordinates into the image, as `outside` says. Mirrors near the image are a loop without a division.
  [[gnu::always_inline]] inline void bring_in(C* x, C* slope, C last, C edge) {
    if (a->outside == reflection) {
      const C low = -edge, high = last + edge, twice = 2 * (high - low);
      int far = !(high > low);
      for (int p = 0; p < count; p++) far |= !(x[p] - low >= -twice && x[p] - low < 2 * twice);
      if (far) for (int p = 0; p < count; p++) x[p] = reflected(x[p], low, high, slope[p]);
      else for (int p = 0; p < count; p++) x[p] = mirrored(x[p] - low, high - low, slope[p]) + low;
    }
    const C nan = n == 3 ? last : C(0);   // as PyTorch's kernels
    for (int p = 0; p < count; p++) x[p] = clipped(x[p], last, nan, slope[p]);
  }
  // What tap k counts at the fractions t behind tap 0 (tap 1, of a cubic).
  template <class Order> [[gnu::always_inline]] inline void weigh(int k, const C* t, Order order, C* w) {
    const auto each = [&](auto&& f) __attribute__((always_inline)) { for (int p = 0; p < count; p++) w[p] = f(t[p]); };
    const C sign = k > 1 && order % 2 ? -1 : 1;
    if (a->mode == nearest) each([&](C) { return order ? C(0) : C(1); });
    else if (a->mode == linear && order) each([&](C) { return order > 1 ? C(0) : C(k ? 1 : -1); });
    else if (a->mode == linear) k ? each([](C u) { return u; }) : each([](C u) { return 1 - u; });
    else if (k == 0) each([&](C u) { return far(1 + u, order); });
    else if (k == 1) each([&](C u) { return near(u, order); });
    else if (k == 2) each([&](C u) { return sign * near(1 - u, order); });
    else each([&](C u) { return sign * far(2 - u, order); });
  }
  // `which`: the dimension whose weights are of the next derivative; n for none.
  [[gnu::always_inline]] inline void combine(int which) {
    for (int q = 0; q < combinations; q++) {
      int rest = q;
      for (int d = n - 1; d >= 0; d--, rest /= taps) {
        const C* w = weight[which == d][d][rest % taps];
        const I* i = index[d][rest % taps];
        if (d == n - 1) {
          for (int p = 0; p < count; p++) product[q][p] = w[p], place[q][p] = i[p];
        } else {
          for (int p = 0; p < count; p++) product[q][p] = w[p] * product[q][p], place[q][p] += i[p];
        }
      }
    }
  }
  // Positions that begin at g.
  [[gnu::always_inline]] inline void set(const C* g, int positions, bool derivatives) {
    count = positions;
    I step = 1;
    for (int d = n - 1; d >= 0; d--) {
      along(d, g, step, derivatives);
      step *= static_cast<I>(a->sizes[d]);
    }
    combine(n);
    keep();
  }
  // Of an image, by the nearest elements or bilinear ones: all positions are kept, as they cost less than to choose them.
  bool plain() const { return n == 2 && a->mode != cubic && a->orders[0] == 0 && a->orders[1] == 0; }
  [[gnu::always_inline]] inline void set_plain(const C* g, int positions) {
    count = held = positions;
    I from[2][2][tile];
    C w[2][2][tile];
    for (int d = 0; d < 2; d++) {
      const C size = static_cast<C>(a->sizes[d]), last = size - 1, edge = a->aligned ? C(0) : C(0.5), half = (a->aligned ? last : size) / 2;
      const I step = d ? 1 : static_cast<I>(a->sizes[1]);
      C x[tile];
      for (int p = 0; p < count; p++) x[p] = (g[2 * p + 1 - d] + 1) * half - edge, slope[d][p] = half;
      if (a->outside != zeros) bring_in(x, slope[d], last, edge);
      const auto put = [&](int k, int p, C low, C weight) __attribute__((always_inline)) {
        const bool there = (low >= 0) & (low < size);
        from[d][k][p] = there ? static_cast<I>(there ? low : C(0)) * step : none;
        w[d][k][p] = there || weight != weight ? weight : C(0);
      };
      if (taps == 1) for (int p = 0; p < count; p++) put(0, p, std::nearbyint(x[p]), 1);
      else
        for (int p = 0; p < count; p++) {
          const C low = std::floor(x[p]), t = x[p] - low;
          put(0, p, low, 1 - t);
          put(1, p, low + 1, t);
          part[d][p] = t;
        }
    }
    for (int q = 0; q < combinations; q++) {
      const int i = q / taps, j = q % taps;
      for (int p = 0; p < count; p++) {
        place[q][p] = from[0][i][p] + from[1][j][p];
        inside[q][p] = place[q][p] < 0 ? 0 : place[q][p];
        product[q][p] = w[0][i][p] * w[1][j][p];
      }
    }
  }
  // Moves what belongs to positions with an element inside, or of an image with NaN, to the front.
  [[gnu::always_inline]] inline void keep() {
    I inside[tile], all = 1;
    for (int p = 0; p < count; p++) inside[p] = n == 2 && product[0][p] != product[0][p];
    for (int q = 0; q < combinations; q++)
      for (int p = 0; p < count; p++) inside[p] |= static_cast<I>(place[q][p] >= 0);
    for (int p = 0; p < count; p++) all &= inside[p];
    held = 0;
    for (int p = 0; p < count; p++) {
      at[held] = p;
      held += static_cast<int>(inside[p]);
    }
    if (!all) pack();
  }
  [[gnu::always_inline]] inline void pack() {
    for (int q = 0; q < combinations; q++)
      for (int p = 0; p < held; p++) place[q][p] = place[q][at[p]], product[q][p] = product[q][at[p]];
  }
};

// A function of its own, handed to each of the loops below: it is most of their code.
template <class C, class I> struct Prepare {
  typedef void (*Call)(Tile<C, I>* t, const C* g, int positions, bool derivatives);
  template <int W> [[gnu::always_inline]] static inline void run(Tile<C, I>* t, const C* g, int positions, bool derivatives) {
    if (t->plain()) t->set_plain(g, positions);
    else t->set(g, positions, derivatives);
  }
};

template <class I, class C> [[gnu::always_inline]] inline C taken(const C* x, I at) {
  const C v = x[at < 0 ? 0 : at];
  return at < 0 ? C(0) : v;
}

// Positions of an image are cut into tiles of one size, but for the last: one of two positions would cost as much as a whole one.
struct Counts {
  int64_t batch, channels, image, positions;
  int64_t tiles() const { return (positions + tile - 1) / tile; }
  int64_t each() const { return positions ? ((positions + tiles() - 1) / tiles() + 7) / 8 * 8 : tile; }
  int from(int64_t at) const { return static_cast<int>(std::min(each(), positions - at)); }
};

// Tiles [first, last) of all images: y at their positions.
template <class C, class I> struct Forward {
  template <int W> [[gnu::always_inline]] static inline void run(const GridSample* a, const Counts* c, typename Prepare<C, I>::Call prepare, const C* x, const C* grid, C* y, int64_t first, int64_t last) {
    const int64_t tiles = c->tiles(), each = c->each();
    Tile<C, I> t(*a);
    const bool plain = t.plain();
    for (int64_t number = first; number < last; number++) {
      const int64_t b = number / tiles, at = number % tiles * each;
      if (at >= c->positions) continue;
      prepare(&t, grid + (b * c->positions + at) * t.n, c->from(at), false);
      for (int64_t plane = b * c->channels; plane < (b + 1) * c->channels; plane++) {
        const C* image = x + plane * c->image;
        C sum[tile], *to = y + plane * c->positions + at;
        if (plain && image[0] - image[0] == 0) {   // elements outside are the first one, which counts 0 times
          const auto term = [&](int q, int p) __attribute__((always_inline)) { return t.product[q][p] * image[t.inside[q][p]]; };
          if (t.combinations == 1) for (int p = 0; p < t.held; p++) sum[p] = term(0, p);
          else for (int p = 0; p < t.held; p++) sum[p] = term(0, p) + term(1, p) + term(2, p) + term(3, p);
        } else {
          for (int p = 0; p < t.held; p++) sum[p] = t.product[0][p] * taken(image, t.place[0][p]);
          for (int q = 1; q < t.combinations; q++)
            for (int p = 0; p < t.held; p++) sum[p] += t.product[q][p] * taken(image, t.place[q][p]);
        }
        if (t.held == t.count) {
          for (int p = 0; p < t.count; p++) to[p] = sum[p];
        } else {
          std::fill_n(to, t.count, C(0));
          for (int p = 0; p < t.held; p++) to[t.at[p]] = sum[p];
        }
      }
    }
  }
};

// Planes [first, last): y, of the image's sizes, gathers what its elements counted for v.
template <class C, class I> struct Image {
  template <int W> [[gnu::always_inline]] static inline void run(const GridSample* a, const Counts* c, typename Prepare<C, I>::Call prepare, const C* v, const C* grid, C* y, int64_t first, int64_t last) {
    std::fill(y + first * c->image, y + last * c->image, C(0));
    Tile<C, I> t(*a);
    const bool plain = t.plain();
    for (int64_t begin = first; begin < last;) {
      const int64_t b = begin / c->channels, end = std::min(last, (b + 1) * c->channels);
      for (int64_t at = 0; at < c->positions; at += c->each()) {
        prepare(&t, grid + (b * c->positions + at) * t.n, c->from(at), false);
        for (int64_t plane = begin; plane < end; plane++) {
          C* image = y + plane * c->image;
          const C* from = v + plane * c->positions + at;
          for (int p = 0; p < t.held; p++)
            for (int q = 0; q < t.combinations; q++)
              if (t.place[q][p] >= 0) image[t.place[q][p]] += t.product[q][p] * from[plain ? p : t.at[p]];
        }
      }
      begin = end;
    }
  }
};

// Tiles [first, last): y, of the grid's sizes, is the derivative of the sum of v times the samples.
template <class C, class I> struct Grid {
  template <int W> [[gnu::always_inline]] static inline void run(const GridSample* a, const Counts* c, typename Prepare<C, I>::Call prepare, const C* v, const C* x, const C* grid, C* y, int64_t first, int64_t last) {
    const int64_t tiles = c->tiles(), each = c->each();
    Tile<C, I> t(*a);
    const bool plain = t.plain();
    for (int64_t number = first; number < last; number++) {
      const int64_t b = number / tiles, at = number % tiles * each;
      if (at >= c->positions) continue;
      const C* g = grid + (b * c->positions + at) * t.n;
      C* const to = y + (b * c->positions + at) * t.n;
      if (a->mode == nearest) { std::fill_n(to, c->from(at) * t.n, C(0)); continue; }
      prepare(&t, g, c->from(at), true);
      C sums[most][tile];
      for (int q = 0; q < t.combinations; q++) std::fill_n(sums[q], t.held, C(0));
      for (int64_t plane = b * c->channels; plane < (b + 1) * c->channels; plane++) {
        const C *image = x + plane * c->image, *from = v + plane * c->positions + at;
        if (plain) {
          for (int p = 0; p < t.held; p++)
            for (int q = 0; q < 4; q++) sums[q][p] += from[p] * image[t.inside[q][p]];
          continue;
        }
        C u[tile];
        for (int p = 0; p < t.held; p++) u[p] = from[t.at[p]];
        for (int q = 0; q < t.combinations; q++)
          for (int p = 0; p < t.held; p++) sums[q][p] += u[p] * taken(image, t.place[q][p]);
      }
      if (plain) {
        for (int p = 0; p < t.count; p++) {
          const auto sum = [&](int q) __attribute__((always_inline)) { return t.place[q][p] < 0 ? C(0) : sums[q][p]; };
          const C i = t.part[0][p], j = t.part[1][p], s = sum(0), s1 = sum(1), s2 = sum(2), s3 = sum(3);
          to[2 * p] = t.slope[1][p] * ((1 - i) * (s1 - s) + i * (s3 - s2));
          to[2 * p + 1] = t.slope[0][p] * ((1 - j) * (s2 - s) + j * (s3 - s1));
        }
        continue;
      }
      std::fill_n(to, t.count * t.n, C(0));
      if (t.held == 0) continue;
      for (int d = 0; d < t.n; d++) {
        t.combine(d);
        if (t.held < t.count) t.pack();
        C total[tile] = {};
        for (int q = 0; q < t.combinations; q++)
          for (int p = 0; p < t.held; p++) total[p] += t.product[q][p] * sums[q][p];
        for (int p = 0; p < t.held; p++) to[t.at[p] * t.n + t.n - 1 - d] = total[p];
      }
    }
  }
};

// How much of it goes to a thread at once: about 2^14 elements read.
inline int64_t tiles_each(const Counts& c) { return std::max<int64_t>(1, (1 << 14) / (tile * 8 * std::max<int64_t>(1, c.channels))); }
// All channels of an image know the same of its positions: few images go in quarters.
inline int64_t planes_each(const Counts& c) { return std::max(c.batch < 4 ? (c.channels + 3) / 4 : c.channels, (1 << 14) / std::max<int64_t>(1, c.positions + c.image)); }

}  // namespace sampling
}  // namespace adjoint
