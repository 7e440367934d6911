// Reductions: sum, mean, extremes, logic, norms, variance. Blocks and the order in which their results meet depend on shape and
// strides alone.
#include <adjoint/core/op_attrs.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>

#include "copy.h"
#include "count.h"
#include "elementwise.h"
#include "isa.h"
#include "kernels.h"
#include "lines.h"
#include "moments.h"
#include "pool.h"
#include "reduce_loops.h"
#include "split.h"

namespace adjoint::cpu {

namespace {

constexpr int64_t longest = 32768;  // elements of a row that are reduced at a time
constexpr int64_t strip = most_columns;   // that are reduced at a time

// Some rows where they lie, or half types widened.
class Block {
 public:
  // Rows of n elements that lie side by side, `down` elements of type `stored` apart.
  Block(const char* p, DType stored, int64_t rows, int64_t n, int64_t down) : data(p), down(down) {
    if (!is_half(stored)) return;
    wide_.emplace(rows * n * static_cast<int64_t>(sizeof(float)));
    data = wide_->as<char>();
    this->down = n;
    for (int64_t r = 0; r < rows; r++) {
      char* to = wide_->as<char>() + r * n * static_cast<int64_t>(sizeof(float));
      const char* from = p + r * down * 2;
      if (stored == DType::float16) convert_dense<float, Half>(to, from, n);
      else convert_dense<float, BFloat16>(to, from, n);
    }
  }
  const char* data;
  int64_t down;

 private:
  std::optional<Buffer> wide_;
};

const char* element(const char* p, int64_t i, int64_t size) { return p ? p + i * size : nullptr; }

// Rows that lie dense: pieces of up to `block` elements, then the pieces of each result.
void reduce_inner(const Loops& any, const View& x, const Split& s, const char* centres, char* y) {
  const Loops loops = any.on(x.dtype);
  const DType stored = loops.widens_rows ? x.dtype : loops.type;
  const int64_t block = is_half(stored) ? longest / 16 : longest;  // widened, it stays in the first-level cache
  const int64_t kept = s.kept_count(), n = s.gone.sizes[0], rows = row_count(s.gone), parts = (n + block - 1) / block, pieces = rows * parts;
  const int64_t grain = std::max<int64_t>(1, block / n), from = itemsize(x.dtype), to = loops.size();
  if (pieces == 1 && s.kept.ndim == 1)
    return pool::parallel_for(kept, grain, [&](int64_t begin, int64_t end) {
      const int64_t down = s.kept.strides[0][0];
      const Block b(x.data + begin * down, stored, end - begin, n, down / from);
      loops.rows(b.data, b.down, n, end - begin, element(centres, begin, to), y + begin * to);
    });
  const Buffer memory(kept * pieces * to);
  char* partial = memory.as<char>();
  std::optional<Dense> turned;
  if (parts == 1 && s.kept.ndim == 1 && s.gone.ndim == 2) {   // piece by piece of all results, several in a call
    const int64_t step = s.kept.strides[0][0];
    pool::parallel_for(kept * pieces, grain, [&](int64_t begin, int64_t end) {
      for (int64_t u = begin, m; u < end; u += m) {
        const int64_t piece = u / kept, k = u % kept;
        m = std::min(kept - k, end - u);
        const Block b(x.data + piece * s.gone.strides[0][1] + k * step, stored, m, n, step / from);
        loops.rows(b.data, b.down, n, m, element(centres, k, to), partial + u * to);
      }
    });
    const Dims sizes{pieces, kept}, strides{kept, 1};
    partial = turned.emplace(Ordered({partial, sizes.data(), strides.data(), 2, loops.type, kept * pieces}, {1, 0}).view).view.data;
  } else pool::parallel_for(kept * pieces, grain, [&](int64_t begin, int64_t end) {
    for (int64_t u = begin; u < end; u++) {
      const int64_t k = u / pieces, row = u % pieces / parts, at = u % parts * block, m = std::min(block, n - at);
      const Block b(x.data + offset(s.kept, k) + offset(s.gone, row, 1) + at * from, stored, 1, m, 0);
      loops.rows(b.data, int64_t{0}, m, int64_t{1}, element(centres, k, to), partial + u * to);
    }
  });
  pool::parallel_for(kept, std::max<int64_t>(1, block / pieces), [&](int64_t begin, int64_t end) {
    for (int64_t k = begin; k < end; k++) loops.join(partial + k * pieces * to, pieces, y + k * to);
  });
}

// Planes of rows, both so many elements apart, whose columns lie dense.
struct Columns {
  const char* data;
  DType stored;
  int64_t planes, plane_step, rows, down, columns;
  // How many rows that lie behind each other make a wide one.
  int64_t fold() const {
    int64_t n = columns < 32 && down == columns ? std::min(256 / columns, rows / 4) : 1;
    while (n > 1 && rows % n != 0) n--;
    return n < 8 ? 1 : n;
  }
};
void reduce_outer(const Loops& any, const Columns& c, const char* centres, char* y);

// Narrow columns: those of wide rows first, then what came of the rows in each of them.
void reduce_folded(const Loops& loops, const Columns& c, int64_t fold, const char* centres, char* y) {
  const int64_t wide = fold * c.columns, row = c.columns * loops.size();
  const Buffer partial(c.planes * wide * loops.size()), repeated(centres ? c.planes * fold * row : 1);
  for (int64_t i = 0; centres && i < c.planes * fold; i++) std::memcpy(repeated.as<char>() + i * row, centres + i / fold * row, static_cast<size_t>(row));
  reduce_outer(loops, {c.data, c.stored, c.planes, c.plane_step, c.rows / fold, wide, wide}, centres ? repeated.as<char>() : nullptr, partial.as<char>());
  const Loops join{loops.type, loops.rows, loops.results, loops.results, loops.join, loops.rounds};
  reduce_outer(join, {partial.as<char>(), loops.type, c.planes, wide, fold, c.columns, c.columns}, nullptr, y);
}

// Parts of the rows give one row each, and those are reduced in turn.
void reduce_outer(const Loops& any, const Columns& c, const char* centres, char* y) {
  if (const int64_t fold = c.fold(); fold > 1) return reduce_folded(any, c, fold, centres, y);
  const Loops loops = any.on(c.stored);
  const int64_t height = std::clamp<int64_t>(65536 / c.columns, 64, 1024), parts = (c.rows + height - 1) / height, strips = (c.columns + strip - 1) / strip;
  const int64_t from = itemsize(c.stored), size = loops.size();
  std::optional<Buffer> memory;
  char* to = y;
  if (parts > 1) {
    memory.emplace(c.planes * parts * c.columns * size);
    to = memory->as<char>();
  }
  const int64_t work = std::min(c.rows, height) * std::min(c.columns, strip);
  pool::parallel_for(c.planes * parts * strips, std::max<int64_t>(1, longest / work), [&](int64_t begin, int64_t end) {
    for (int64_t u = begin; u < end; u++) {
      const int64_t column = u % strips * strip, part = u / strips % parts, plane = u / strips / parts;
      const int64_t rows = std::min(height, c.rows - part * height), width = std::min(strip, c.columns - column);
      const Block b(c.data + (plane * c.plane_step + part * height * c.down + column) * from, loops.widens_columns ? c.stored : loops.type, rows, width, c.down);
      loops.columns(b.data, b.down, rows, width, element(centres, plane * c.columns + column, size), to + ((plane * parts + part) * c.columns + column) * size);
    }
  });
  if (parts > 1) reduce_outer({loops.type, loops.rows, loops.results, loops.results, loops.join, loops.rounds}, {to, loops.type, c.planes, parts * c.columns, parts, c.columns, c.columns}, nullptr, y);
}

// x with the dimensions that go behind the others.
template <class F> void with_inner(const View& x, DType dtype, const Dims& dims, F&& f) {
  Dims order;
  for (int d = 0; d < x.ndim; d++) if (!dims.contains(d)) order.push_back(d);
  const int kept = order.size();
  for (int d = 0; d < x.ndim; d++) if (dims.contains(d)) order.push_back(d);
  const Ordered ordered(x, order);
  const Dense dense(ordered.view, dtype);
  Dims behind;
  for (int d = kept; d < x.ndim; d++) behind.push_back(d);
  f(dense.view, Split(dense.view, behind));
}

// Whether what goes lies dense, in rows; or what is kept, in columns.
bool has_rows(const Split& s, int64_t size) { return s.gone.strides[0][0] == size || (s.gone_count() == 1 && s.gone.ndim == 1); }
std::optional<Columns> columns_of(const View& x, const Split& s) {
  const int64_t size = itemsize(x.dtype);
  if (s.gone.ndim != 1 || s.kept.strides[0][0] != size || s.kept.ndim > 2) return {};
  const bool planes = s.kept.ndim == 2;
  const Columns c{x.data, x.dtype, planes ? s.kept.sizes[1] : 1, planes ? s.kept.strides[0][1] / size : 0, s.gone.sizes[0], s.gone.strides[0][0] / size, s.kept.sizes[0]};
  if (c.columns >= 8 || c.fold() > 1 || (x.numel <= 1024 && c.rows <= 64)) return c;
  return {};
}

// y: dense memory for the results.
void reduce_with(const Loops& loops, const View& x, const Dims& dims, char* y, const char* centres) {
  const Split s(x, dims);
  const int64_t size = itemsize(x.dtype);
  const bool are_short = s.gone.ndim == 1 && s.gone.strides[0][0] == size && s.gone.sizes[0] > 1 && s.gone.sizes[0] <= 16 && s.kept_count() >= 64;
  if (are_short && dims.size() == 1 && (is_half(x.dtype) || !loops.rounds)) {  // taken side by side
    const LinesOf in(x, static_cast<int>(dims[0]), x.dtype);
    const Lines& at = in.lines;
    if (at.inner > 1) return reduce_outer(loops, {in.as<char>(), x.dtype, at.outer, at.n * at.inner, at.n, at.inner, at.inner}, centres, y);
  }
  if (has_rows(s, size)) return reduce_inner(loops, x, s, centres, y);
  if (const auto c = columns_of(x, s)) return reduce_outer(loops, *c, centres, y);
  with_inner(x, loops.type, dims, [&](const View& v, const Split& inner) { reduce_inner(loops, v, inner, centres, y); });
}
template <template <class> class Op, class Map, class T> void reduce(const View& x, const Dims& dims, T* y, const T* centres = nullptr) {
  reduce_with(loops<Op, Map, T>(), x, dims, reinterpret_cast<char*>(y), reinterpret_cast<const char*>(centres));
}

// What is true.
void count(const View& x, const Dims& dims, int64_t* y) {
  const Split s(x, dims);
  Loops l = loops<Sum, Same, int64_t>();
  l.rows = loop<CountRows>(), l.columns = loop<CountColumns>();
  if (has_rows(s, 1)) return reduce_inner(l, x, s, nullptr, reinterpret_cast<char*>(y));
  if (const auto c = columns_of(x, s)) return reduce_outer(l, *c, nullptr, reinterpret_cast<char*>(y));
  const Dense wide(x, DType::int64);
  reduce<Sum, Same, int64_t>(wide.view, dims, y);
}

template <class T> void divide(T* y, int64_t n, double by) {
  for (int64_t i = 0; i < n; i++) {
    if constexpr (is_complex_v<T>) y[i] = y[i] / static_cast<real_t<T>>(by);
    else y[i] = static_cast<T>(static_cast<double>(y[i]) / by);
  }
}

int64_t group_size(const View& x, const Dims& dims) {
  int64_t n = 1;
  for (int64_t d : dims) n *= x.sizes[d];
  return n;
}

// f(type, y): results of half types are computed in float, and rounded once.
template <class F> void widened(const Launch& l, F&& f) {
  const View& y = l.y[0];
  if (!is_half(l.x[0].dtype)) return f(l.x[0].dtype, y);
  const Buffer memory(y.numel * static_cast<int64_t>(sizeof(float)));
  const View result{memory.as<char>(), y.sizes, y.strides, y.ndim, DType::float32, y.numel};
  f(DType::float32, result);
  cast(y, result);
}

}  // namespace

// Two passes: the mean, then the squares of the distances from it.
template <class T> void moments(const View& x, const Dims& dims, double correction, T* mean, T* square, int64_t count) {
  const double n = static_cast<double>(group_size(x, dims));
  reduce<Sum, Same, T>(x, dims, mean);
  divide(mean, count, n);
  reduce<Sum, SquareFrom<T>, T>(x, dims, square, mean);
  divide(square, count, std::max(n - correction, 0.));
}
template void moments(const View&, const Dims&, double, float*, float*, int64_t);
template void moments(const View&, const Dims&, double, double*, double*, int64_t);

namespace {

template <template <class> class Op, bool mean, class Map = Same> void kernel(const Launch& l) {
  const View& x = l.x[0];
  const Dims& dims = l.attrs.as<Reduce>().dims;
  if (x.numel == 0 && Op<float>::rounds && !mean) {
    std::memset(l.y[0].data, 0, static_cast<size_t>(l.y[0].numel * itemsize(l.y[0].dtype)));
    return;
  }
  if (x.numel == 0) return reference(l);
  if constexpr (Op<float>::rounds && !mean && std::is_same_v<Map, Same>)
    if (x.dtype == DType::bool_) return count(x, dims, l.y[0].as<int64_t>());
  widened(l, [&](DType type, const View& y) {
    auto typed = [&](auto zero) {
      using T = decltype(zero);
      reduce<Op, Map, T>(x, dims, y.as<T>());
      if constexpr (mean && !std::is_integral_v<T>) divide(y.as<T>(), y.numel, static_cast<double>(group_size(x, dims)));
    };
    if (type == DType::float32) return typed(0.f);
    if (type == DType::float64) return typed(0.);
    if constexpr (!std::is_same_v<Map, Same>) return reference(l);
    else if (type == DType::int64) return typed(int64_t{});
    else if constexpr (Op<float>::rounds) {
      if (type == DType::complex64) return typed(Complex<float>{});
      if (type == DType::complex128) return typed(Complex<double>{});
    } else {
      if (type == DType::uint8) return typed(uint8_t{});
      if (type == DType::int32) return typed(int32_t{});
    }
    reference(l);
  });
}

// any and all are the extremes of bytes.
template <template <class> class Op> void logic_kernel(const Launch& l) {
  const View &x = l.x[0], &y = l.y[0];
  if (x.numel == 0) return reference(l);
  const bool bytes = x.dtype == DType::bool_ || x.dtype == DType::uint8;
  std::optional<Dense> truth;
  if (!bytes) truth.emplace(x, DType::bool_);
  uint8_t* r = y.as<uint8_t>();
  reduce<Op, Same, uint8_t>(truth ? truth->view : x, l.attrs.as<Reduce>().dims, r);
  for (int64_t i = 0; i < y.numel; i++) r[i] = r[i] != 0;
}

// Whether squares of this size, and their sums, were exact enough.
template <class T> bool is_safe(T norm) { return norm > (sizeof(T) == 4 ? 1e-15 : 1e-140) && norm < (sizeof(T) == 4 ? 1e18 : 1e150); }

// f(x as numbers of type `real`, with a last dimension of both parts).
template <class F> auto with_pairs(const View& x, DType real, F&& f) {
  Dims sizes, strides;
  for (int d = 0; d < x.ndim; d++) sizes.push_back(x.sizes[d]), strides.push_back(2 * x.strides[d]);
  sizes.push_back(2), strides.push_back(1);
  return f(View{x.data, sizes.data(), strides.data(), x.ndim + 1, real, 2 * x.numel});
}
// Of complex numbers the squares of both parts.
template <class T> void sum_squares(const View& x, const Dims& dims, T* y, int64_t n) {
  if (!is_complex(x.dtype)) return reduce<Sum, Square, T>(x, dims, y);
  const Buffer memory(2 * n * static_cast<int64_t>(sizeof(T)));
  T* const parts = memory.as<T>();
  reduce<Sum, Square, Complex<T>>(x, dims, reinterpret_cast<Complex<T>*>(parts));
  for (int64_t i = 0; i < n; i++) y[i] = parts[2 * i] + parts[2 * i + 1];
}

// Whether norms of 0 are of zeros, not of squares too small for the type.
template <class T> bool zeros_are_exact(const View& x, const VectorNorm& a, const T* y, int64_t n) {
  const Buffer memory(n * static_cast<int64_t>(sizeof(T)));
  T* largest = memory.as<T>();
  if (is_complex(x.dtype)) {
    Dims dims = a.dims;
    dims.push_back(x.ndim);
    with_pairs(x, dtype_of<T>(), [&](const View& pairs) { reduce<Largest, Magnitude, T>(pairs, dims, largest); });
  } else reduce<Largest, Magnitude, T>(x, a.dims, largest);
  bool exact = true;
  for (int64_t i = 0; i < n; i++) exact = exact && (y[i] != 0 || largest[i] == 0);
  return exact;
}

template <class T> bool norms(const View& x, const VectorNorm& a, T* y, int64_t n) {
  if (a.p == 0) {
    const Dense truth(x, DType::bool_), ones(truth.view, dtype_of<T>());
    reduce<Sum, Same, T>(ones.view, a.dims, y);
  } else if (a.p == 1) {
    reduce<Sum, Magnitude, T>(x, a.dims, y);
  } else if (std::isinf(a.p)) {
    if (a.p > 0) reduce<Largest, Magnitude, T>(x, a.dims, y);
    else reduce<Smallest, Magnitude, T>(x, a.dims, y);
  } else {
    if (a.p == 2) {
      sum_squares(x, a.dims, y, n);
    } else {
      const Dense powers(x, dtype_of<T>());
      T* v = powers.view.template as<T>();
      for (int64_t i = 0; i < x.numel; i++) v[i] = std::fabs(v[i]);
      power(powers.view, a.p);
      reduce<Sum, Same, T>(powers.view, a.dims, y);
    }
    bool safe = true, zeros = false;
    for (int64_t i = 0; i < n; i++) {
      const T sum = y[i];
      y[i] = a.p == 2 ? std::sqrt(sum) : static_cast<T>(std::pow(static_cast<double>(sum), 1 / a.p));
      zeros = zeros || y[i] == 0;
      safe = safe && (y[i] == 0 || (is_safe(y[i]) && (a.p == 2 || is_safe(sum))));
    }
    return safe && (!zeros || (a.p > 0 && zeros_are_exact(x, a, y, n)));
  }
  return true;
}
bool norm_of(const View& x, const VectorNorm& a, const View& y) {
  return y.dtype == DType::float32 ? norms(x, a, y.as<float>(), y.numel) : norms(x, a, y.as<double>(), y.numel);
}
// Norms other than that of squares are of sizes.
bool norm_of_complex(const View& x, const VectorNorm& a, const View& y) {
  if (a.p == 2) return norm_of(x, a, y);
  const Buffer memory(x.numel * itemsize(y.dtype));
  const Dims dims(std::span(x.sizes, x.ndim)), strides = contiguous_strides(dims);
  const View sizes{memory.as<char>(), dims.data(), strides.data(), x.ndim, y.dtype, x.numel};
  magnitudes(sizes, x);
  return norm_of(sizes, a, y);
}
void norm_kernel(const Launch& l) {
  const View& x = l.x[0];
  const VectorNorm& a = l.attrs.as<VectorNorm>();
  bool done = false;
  if (is_complex(x.dtype) && x.numel > 0) done = norm_of_complex(x, a, l.y[0]);
  else if (is_floating(x.dtype) && x.numel > 0) widened(l, [&](DType, const View& y) { done = norm_of(x, a, y); });
  if (!done) reference(l);
}

// Equal elements have the variance 0, though their mean was rounded: where it may be no more than that, their extremes tell.
template <class T> void settle_constants(const View& x, const Dims& dims, const T* mean, T* square, int64_t count) {
  const auto suspect = [&](int64_t i) { return square[i] > 0 && std::sqrt(square[i]) <= 64 * std::numeric_limits<T>::epsilon() * std::fabs(mean[i]); };
  int64_t i = 0;
  while (i < count && !suspect(i)) i++;
  if (i == count) return;
  const Buffer memory(2 * count * static_cast<int64_t>(sizeof(T)));
  T *largest = memory.as<T>(), *smallest = largest + count;
  reduce<Largest, Same, T>(x, dims, largest);
  reduce<Smallest, Same, T>(x, dims, smallest);
  for (; i < count; i++)
    if (largest[i] == smallest[i] && std::isfinite(square[i])) square[i] = 0;
}

template <bool root, class T> void variance(const View& x, const Variance& a, T* y, int64_t count) {
  const Buffer means(count * static_cast<int64_t>(sizeof(T)));
  moments(x, a.dims, a.correction, means.as<T>(), y, count);
  settle_constants(x, a.dims, means.as<T>(), y, count);
  if (root) for (int64_t i = 0; i < count; i++) y[i] = std::sqrt(y[i]);
}
// Whether squares of floats, or their sum, left the type where the result does not.
template <bool root> bool left_the_type(const View& x, const Dims& dims, const float* y, int64_t count) {
  constexpr float infinity = std::numeric_limits<float>::infinity(), least = 1e-15f;
  if (std::any_of(y, y + count, [](float v) { return v == infinity || (root && v > 0 && v < least); })) return true;
  if (!root || std::find(y, y + count, 0.f) == y + count) return false;
  const Buffer memory(2 * count * static_cast<int64_t>(sizeof(float)));
  float *largest = memory.as<float>(), *smallest = largest + count;
  reduce<Largest, Same, float>(x, dims, largest);
  reduce<Smallest, Same, float>(x, dims, smallest);
  for (int64_t i = 0; i < count; i++)
    if (y[i] == 0 && largest[i] > smallest[i]) return true;
  return false;
}
// Of complex numbers it is the sum of those of the parts. False where squares were too large or small for the type.
template <bool root, class T> bool variance_of_complex(const View& x, const Variance& a, T* y, int64_t count) {
  const Buffer memory(4 * count * static_cast<int64_t>(sizeof(T)));
  T *means = memory.as<T>(), *squares = means + 2 * count;
  moments(x, a.dims, a.correction, reinterpret_cast<Complex<T>*>(means), reinterpret_cast<Complex<T>*>(squares), count);
  with_pairs(x, dtype_of<T>(), [&](const View& pairs) { settle_constants(pairs, a.dims, means, squares, 2 * count); });
  for (int64_t i = 0; i < count; i++) {
    const T sum = squares[2 * i] + squares[2 * i + 1], deviation = std::sqrt(sum);
    if (!is_safe(deviation)) return false;
    y[i] = root ? deviation : sum;
  }
  return true;
}
template <bool root> void variance_kernel(const Launch& l) {
  if (is_complex(l.x[0].dtype) && l.x[0].numel > 0) {
    const Variance& of = l.attrs.as<Variance>();
    const View &x = l.x[0], &y = l.y[0];
    const bool done = x.dtype == DType::complex64 ? variance_of_complex<root>(x, of, y.as<float>(), y.numel) : variance_of_complex<root>(x, of, y.as<double>(), y.numel);
    return done ? void() : reference(l);
  }
  if (!is_floating(l.x[0].dtype) || l.x[0].numel == 0) return reference(l);
  const Variance& a = l.attrs.as<Variance>();
  widened(l, [&](DType type, const View& y) {
    const View& x = l.x[0];
    if (type == DType::float64) return variance<root>(x, a, y.as<double>(), y.numel);
    variance<root>(x, a, y.as<float>(), y.numel);
    if (!left_the_type<root>(x, a.dims, y.as<float>(), y.numel)) return;
    const Dense wide(x, DType::float64);
    const Buffer memory(y.numel * static_cast<int64_t>(sizeof(double)));
    variance<root>(wide.view, a, memory.as<double>(), y.numel);
    std::copy_n(memory.as<double>(), y.numel, y.as<float>());
  });
}

constexpr Entry entries[] = {
    {"all", logic_kernel<Smallest>},
    {"amax", kernel<Largest, false>},
    {"amin", kernel<Smallest, false>},
    {"any", logic_kernel<Largest>},
    {"mean", kernel<Sum, true>},
    {"nansum", kernel<Sum, false, Numbers>},
    {"std", variance_kernel<true>},
    {"sum", kernel<Sum, false>},
    {"var", variance_kernel<false>},
    {"vector_norm", norm_kernel},
};

}  // namespace

Entries reduce_kernels() { return entries; }

}  // namespace adjoint::cpu
