// Lines, images and volumes in other sizes: for each dimension, which elements a new one takes, and what each counts.
#pragma once
#include <adjoint/core/op.h>
#include <adjoint/core/op_fields.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <optional>
#include <vector>

namespace adjoint {

extern const Op op_resize, op_resize_vjp;

// sizes: of the result, for the last dimensions. steps: how far new elements stand from each other among the old ones, as the bits of a double
// (kernels elsewhere read numbers as floats).
struct Resize { Dims sizes, steps; int mode; bool aligned; };
inline void describe(const Resize& a, FieldList& f) { f.add("sizes", a.sizes); f.add("steps", a.steps); f.add("mode", a.mode); f.add("aligned", a.aligned); }

// mode: nearest, nearest-exact, linear, cubic.
ADJOINT_API Tensor resize(const Tensor& x, const Dims& sizes, const std::vector<double>& steps, int mode, bool aligned);
// How far the new elements stand from each other among the old ones, for each dimension behind (n, c): by its scale where that is given.
ADJOINT_API std::vector<double> resize_steps(const Dims& given, const Dims& sizes, const std::vector<std::optional<double>>& scales, int mode, bool aligned);

namespace resizing {

enum Mode { nearest, nearest_exact, linear, cubic };

// The nearest elements are those at places in single precision, as long as it tells neighbours apart.
inline bool single(int mode, int64_t out) { return mode <= nearest_exact && out <= 1 << 22; }

// One dimension. C: what weights are in.
template <class C> struct Table {
  int64_t in = 1, out = 1;
  int taps = 1;
  std::vector<int64_t> index{0};   // taps x out
  std::vector<C> weight{1};

  Table() = default;
  Table(int64_t from, int64_t to, double step, int mode, bool aligned) : in(from), out(to) {
    const bool same = mode == linear && step == 1 && in == out;   // others would make NaN of infinity times 0
    taps = mode <= nearest_exact || same ? 1 : mode == linear ? 2 : 4;
    index.resize(static_cast<size_t>(taps * out));
    weight.resize(index.size());
    for (int64_t o = 0; o < out; o++) {
      const double i = static_cast<double>(o);
      double at = mode == nearest ? i * step : mode == nearest_exact ? (i + 0.5) * step : aligned ? i * step : (i + 0.5) * step - 0.5;
      if (single(mode, out)) at = static_cast<float>(at);
      if (mode == linear) at = std::max(at, 0.0);
      at = at >= -2 ? std::min(at, static_cast<double>(in) + 1) : -2.0;   // NaN too: steps may be infinite
      const double low = std::floor(at), part = at - low;
      for (int k = 0; k < taps; k++) {
        const size_t place = static_cast<size_t>(k * out + o);
        index[place] = std::clamp<int64_t>(static_cast<int64_t>(low) + (taps == 4 ? k - 1 : k), 0, in - 1);
        weight[place] = taps == 1 ? C(1) : static_cast<C>(taps == 2 ? (k ? part : 1 - part) : keys(k, part));
      }
    }
  }
  // The cubic kernel of R. Keys, Cubic convolution interpolation for digital image processing, 1981, with a = -3/4.
  static double keys(int k, double t) {
    constexpr double a = -0.75;
    const double d = k == 0 ? 1 + t : k == 1 ? t : k == 2 ? 1 - t : 2 - t;
    return k == 1 || k == 2 ? ((a + 2) * d - (a + 3)) * d * d + 1 : ((d - 5) * d + 8) * d * a - 4 * a;
  }
};

// Three dimensions; missing ones lead. `old` and `new_sizes` end with their sizes.
template <class C> struct Tables {
  Table<C> axis[3];
  int64_t planes = 1;
  Tables(const int64_t* old, const int64_t* now, int ndim, const Resize& a) {
    const int n = a.sizes.size(), lead = ndim - n;
    for (int i = 0; i < lead; i++) planes *= old[i];
    for (int i = 0; i < n; i++) axis[3 - n + i] = Table<C>(old[lead + i], now[lead + i], std::bit_cast<double>(a.steps[i]), a.mode, a.aligned);
  }
  int64_t in() const { return axis[0].in * axis[1].in * axis[2].in; }
  int64_t out() const { return axis[0].out * axis[1].out * axis[2].out; }
  int64_t rows() const { return axis[0].out * axis[1].out; }
  // Lines are put together before the few elements of each are taken, or only what is needed of them.
  bool whole() const { return axis[2].in <= axis[2].taps * axis[2].out; }
  int64_t room() const { return whole() ? axis[2].in : axis[2].taps * axis[2].out; }

  // f(the place of a line, in two dimensions, what it counts) for each line that row r of a new plane takes.
  template <class F> [[gnu::always_inline]] inline void lines(int64_t r, F&& f) const {
    const int64_t a = axis[1].out == 1 ? r : r / axis[1].out, b = r - a * axis[1].out;
    for (int i = 0; i < axis[0].taps; i++)
      for (int j = 0; j < axis[1].taps; j++) {
        const size_t p = static_cast<size_t>(i * axis[0].out + a), q = static_cast<size_t>(j * axis[1].out + b);
        f(axis[0].index[p], axis[1].index[q], axis[0].weight[p] * axis[1].weight[q]);
      }
  }
};

// Where elements lie: planes in two dimensions, `count` of them in the inner one, and each dimension of a plane in steps.
struct Place {
  int64_t batch, channel, count, steps[3];
  template <class C> explicit Place(const Tables<C>& t) : batch(0), channel(t.in()), count(t.planes), steps{t.axis[1].in * t.axis[2].in, t.axis[2].in, 1} {}
  int64_t plane(int64_t p) const { return p < count ? p * channel : p / count * batch + p % count * channel; }
};

// Rows [first, last) of all new planes, of elements S. line: `room` elements, and a new line behind them.
template <class C, class S = C> struct Forward {
  template <int W> [[gnu::always_inline]] static inline void run(const Tables<C>* t, const Place* at, const S* x, S* y, C* line, int64_t first, int64_t last) {
    const Table<C>& c = t->axis[2];
    const int64_t *index = c.index.data(), n = c.out, rows = t->rows(), room = t->room(), step = at->steps[2];
    const C* weight = c.weight.data();
    const bool whole = t->whole(), alone = t->axis[0].taps * t->axis[1].taps == 1;
    int64_t number = first / rows, row_of_plane = first % rows;
    for (int64_t r = first; r < last; r++) {
      const S *plane = x + at->plane(number), *only = nullptr;
      bool fresh = true;
      const auto add = [&](C w, auto&& element) __attribute__((always_inline)) {
        if (fresh) for (int64_t i = 0; i < room; i++) line[i] = w * static_cast<C>(element(i));
        else for (int64_t i = 0; i < room; i++) line[i] += w * static_cast<C>(element(i));
      };
      t->lines(row_of_plane, [&](int64_t i, int64_t j, C w) __attribute__((always_inline)) {
        const S* row = plane + i * at->steps[0] + j * at->steps[1];
        if (alone) only = row;
        else if (!whole) add(w, [&](int64_t e) __attribute__((always_inline)) { return row[index[e] * step]; });
        else if (step == 1) add(w, [&](int64_t e) __attribute__((always_inline)) { return row[e]; });
        else add(w, [&](int64_t e) __attribute__((always_inline)) { return row[e * step]; });
        fresh = false;
      });
      C* to;
      if constexpr (std::is_same_v<S, C>) to = y + r * n;
      else to = line + room;
      const auto join = [&](auto&& element) __attribute__((always_inline)) {   // of places [0, taps * n)
        if (c.taps == 2) {
          for (int64_t j = 0; j < n; j++) to[j] = weight[j] * element(j) + weight[n + j] * element(n + j);
        } else {
          for (int k = 0; k < c.taps; k++)
            for (int64_t j = 0; j < n; j++) {
              const C v = weight[k * n + j] * element(k * n + j);
              to[j] = k ? to[j] + v : v;
            }
        }
      };
      if (alone) join([&](int64_t e) __attribute__((always_inline)) { return static_cast<C>(only[index[e] * step]); });
      else if (whole) join([&](int64_t e) __attribute__((always_inline)) { return line[index[e]]; });
      else join([&](int64_t e) __attribute__((always_inline)) { return line[e]; });
      if constexpr (!std::is_same_v<S, C>)
        for (int64_t j = 0; j < n; j++) y[r * n + j] = static_cast<S>(to[j]);
      if (++row_of_plane == rows) row_of_plane = 0, number++;
    }
  }
};

// Planes [first, last) of the cotangent of what was resized.
template <class C> struct Backward {
  template <int W> [[gnu::always_inline]] static inline void run(const Tables<C>* t, const C* v, C* y, C* line, int64_t first, int64_t last) {
    const Table<C>& c = t->axis[2];
    const int64_t *index = c.index.data(), n = c.out, rows = t->rows(), room = t->room();
    const C* weight = c.weight.data();
    const bool whole = t->whole();
    std::fill(y + first * t->in(), y + last * t->in(), C(0));
    for (int64_t r = first * rows; r < last * rows; r++) {
      C* plane = y + r / rows * t->in();
      if (whole) std::fill(line, line + room, C(0));
      for (int k = 0; k < c.taps; k++)
        for (int64_t j = 0; j < n; j++) {
          const C share = weight[k * n + j] * v[r * n + j];
          if (whole) line[index[k * n + j]] += share;
          else line[k * n + j] = share;
        }
      t->lines(r % rows, [&](int64_t i, int64_t j, C w) __attribute__((always_inline)) {
        C* row = plane + (i * t->axis[1].in + j) * t->axis[2].in;
        if (whole) for (int64_t e = 0; e < room; e++) row[e] += w * line[e];
        else for (int64_t e = 0; e < room; e++) row[index[e]] += w * line[e];
      });
    }
  }
};

inline int64_t grain(int64_t elements) { return std::max<int64_t>(1, (1 << 14) / std::max<int64_t>(1, elements)); }

}  // namespace resizing
}  // namespace adjoint
