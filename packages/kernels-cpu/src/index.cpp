// Reading and writing at positions along one dimension. Every form becomes the same: x of (outer, n, inner), and m positions
// along n: one list for all lines, one for each, or one for several.
#include <adjoint/core/math/bits.h>
#include <adjoint/core/op_attrs.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <vector>

#include "compilers.h"
#include "isa.h"
#include "kernels.h"
#include "lines.h"
#include "pool.h"

namespace adjoint::cpu {

namespace {

constexpr int64_t grain = 32768;       // elements
constexpr int64_t strip_bytes = 384 << 10;   // of the columns that are packed together: less than the second-level cache
constexpr int64_t grain_bytes = 1 << 17;
constexpr int64_t few = 8;            // positions: fewer are not looked at line by line

struct Form {
  int64_t outer, n, m, inner;
  int64_t lists, together = 1;  // how many lists of positions there are; how many lines behind one another have the same
  bool shared() const { return lists == 1; }
  [[gnu::noinline]] int64_t list_of(int64_t line) const { return shared() ? 0 : lists == outer ? line : line / together % lists; }
};

struct OutOfRange {
  template <int W> [[gnu::always_inline]] static inline void run(const int64_t* at, int64_t count, int64_t size, uint64_t* bad) {
    uint64_t b = 0;
    for (int64_t i = 0; i < count; i++) b |= static_cast<uint64_t>(at[i]) >= static_cast<uint64_t>(size) ? 1 : 0;
    *bad = b;
  }
};
bool in_range(const int64_t* at, int64_t count, int64_t size) {
  uint64_t bad;
  isa::call<OutOfRange, const int64_t*, int64_t, int64_t, uint64_t*>(at, count, size, &bad);
  return !bad;
}
// Whether all positions are: those of short lines are looked at line by line instead, just before they are used.
bool are_in_range(const Form& f, const int64_t* at) {
  std::atomic<bool> good = true;
  pool::parallel_for(f.lists * f.m, grain, [&](int64_t begin, int64_t end) {
    if (!in_range(at + begin, end - begin, f.n)) good = false;
  });
  return good;
}

// What some rows further down is wanted: no prefetcher follows a strip from row to row.
constexpr int64_t ahead = 6;
[[gnu::always_inline]] inline void prefetch(const void* p, int64_t bytes) {
  for (int64_t i = 0; i < bytes; i += 64) __builtin_prefetch(static_cast<const char*>(p) + i);
}

// A strip of columns as dense rows: the lines of a matrix with a power of two of columns would fall on few cache sets.
template <class U> void pack(U* to, const U* from, int64_t n, int64_t down, int64_t width) {
  const int64_t bytes = width * static_cast<int64_t>(sizeof(U));
  for (int64_t i = 0; i < n; i++) {
    prefetch(from + std::min(i + ahead, n - 1) * down, bytes);
    std::memcpy(to + i * width, from + i * down, static_cast<size_t>(bytes));
  }
}
template <class U> void unpack(U* to, const U* from, int64_t n, int64_t down, int64_t width) {
  for (int64_t i = 0; i < n; i++) std::memcpy(to + i * down, from + i * width, static_cast<size_t>(width) * sizeof(U));
}

// Only where rows would fall on few cache sets, or on more pages than are known at a time: what is packed is copied once more.
bool is_packed(const Form& f, int64_t size) { return f.m * 2 >= f.n && (f.inner * size % 1024 == 0 || f.n > 4096); }

// f(outer number, first column, width) for each strip of columns.
template <class U, class F> void for_strips(const Form& f, F&& body) {
  constexpr int64_t size = sizeof(U), line = 128 / size;
  const int64_t strip = std::clamp(strip_bytes / (std::max<int64_t>(1, f.n) * size) / line, int64_t{1}, int64_t{8}) * line;
  const int64_t strips = (f.inner + strip - 1) / strip;
  pool::parallel(f.outer * strips, [&](int64_t unit) {
    const int64_t column = unit % strips * strip;
    body(unit / strips, column, std::min(strip, f.inner - column));
  });
}

// Elements of a line in random order would wait for memory one by one, as no prefetcher follows such steps: a short line that
// is mostly wanted is read from its beginning to its end first.
constexpr int64_t short_line = 1 << 18;  // bytes
bool is_mostly_wanted(const Form& f, int64_t size) { return f.m * 64 >= f.n * size && f.n * size <= short_line; }
void fetch(const void* line, int64_t bytes) {
  const volatile char* p = static_cast<const char*>(line);
  for (int64_t i = 0; i < bytes; i += 64) static_cast<void>(p[i]);
}

// ---- reading; false if a position is out of range

template <class U> bool take_lines(const Form& f, U* y, const U* x, const int64_t* at) {
  if (f.m <= few) {
    if (!are_in_range(f, at)) return false;
    const bool own = f.lists == f.outer;
    pool::parallel_for(f.outer, grain / few, [&](int64_t first, int64_t last) {
      if (own && f.m == 1) {
        for (int64_t line = first; line < last; line++) y[line] = x[line * f.n + at[line]];
        return;
      }
      for (int64_t line = first; line < last; line++) {
        const int64_t* positions = at + (own ? line : f.list_of(line)) * f.m;
        for (int64_t i = 0; i < f.m; i++) y[line * f.m + i] = x[line * f.n + positions[i]];
      }
    });
    return true;
  }
  const int64_t parts = (f.m + grain - 1) / grain, lines = std::max<int64_t>(1, grain / f.m), size = sizeof(U);
  const bool fetches = is_mostly_wanted(f, size), at_once = parts == 1 && (f.shared() || f.lists == f.outer);   // short lines: one look at all of a share
  std::atomic<bool> good = true;
  pool::parallel_for(f.outer * parts, parts > 1 ? 1 : lines, [&](int64_t first, int64_t last) {
    if (at_once && !(f.shared() ? in_range(at, f.m, f.n) : in_range(at + first * f.m, (last - first) * f.m, f.n))) {
      good = false;
      return;
    }
    for (int64_t unit = first; unit < last; unit++) {
      const int64_t line = unit / parts, begin = unit % parts * grain, end = std::min(f.m, begin + grain);
      const U* from = x + line * f.n;
      const int64_t* positions = at + f.list_of(line) * f.m;
      U* to = y + line * f.m;
      if (!at_once && !in_range(positions + begin, end - begin, f.n)) {
        good = false;
        continue;
      }
      if (fetches && f.n * size > 256) fetch(from, f.n * size);
      int64_t i = begin;
      for (; i + 4 <= end; i += 4) {   // which are stored together
        const U four[] = {from[positions[i]], from[positions[i + 1]], from[positions[i + 2]], from[positions[i + 3]]};
        std::memcpy(static_cast<void*>(to + i), four, sizeof four);
      }
      for (; i < end; i++) to[i] = from[positions[i]];
    }
  });
  return good;
}
// Of 16 to 64 bytes, as pieces of 16, the last of which ends where they do: sooner than a call.
[[gnu::always_inline]] inline void copy_short(char* to, const char* from, int64_t bytes) {
  for (int64_t i = 0; i + 16 < bytes; i += 16) std::memcpy(to + i, from + i, 16);
  std::memcpy(to + bytes - 16, from + bytes - 16, 16);
}
template <class U> void take_rows(const Form& f, U* y, const U* x, const int64_t* at) {
  const int64_t bytes = f.inner * static_cast<int64_t>(sizeof(U));
  pool::parallel_for(f.outer * f.m, std::max<int64_t>(1, grain_bytes / bytes), [&](int64_t first, int64_t last) {
    int64_t plane = first / f.m, i = first % f.m;
    for (int64_t r = first; r < last; r++) {
      char* const to = reinterpret_cast<char*>(y + r * f.inner);
      const char* const from = reinterpret_cast<const char*>(x + (plane * f.n + at[i]) * f.inner);
      if (bytes >= 16 && bytes <= 64) copy_short(to, from, bytes);
      else std::memcpy(to, from, static_cast<size_t>(bytes));
      if (++i == f.m) i = 0, plane++;
    }
  });
}
template <class U> bool take_columns(const Form& f, U* y, const U* x, const int64_t* at) {
  std::atomic<bool> good = true;
  for_strips<U>(f, [&](int64_t plane, int64_t column, int64_t width) {
    const bool packs = is_packed(f, sizeof(U));
    const Buffer memory(packs ? f.n * width * static_cast<int64_t>(sizeof(U)) : 1);
    const U* from = x + plane * f.n * f.inner + column;
    if (packs) pack(memory.as<U>(), from, f.n, f.inner, width);
    const U* source = packs ? memory.as<U>() : from;
    const int64_t down = packs ? width : f.inner;
    for (int64_t i = 0; i < f.m; i++) {
      const int64_t begin = (plane * f.m + i) * f.inner + column;
      prefetch(at + begin + std::min(ahead, f.m - 1 - i) * f.inner, width * 8);
      if (!in_range(at + begin, width, f.n)) {
        good = false;
        return;
      }
      for (int64_t j = 0; j < width; j++) y[begin + j] = source[at[begin + j] * down + j];
    }
  });
  return good;
}
template <class U> bool take(const Form& f, U* y, const U* x, const int64_t* at) {
  if (f.inner == 1) return take_lines(f, y, x, at);
  if (!f.shared()) return take_columns(f, y, x, at);
  if (!are_in_range(f, at)) return false;
  take_rows(f, y, x, at);
  return true;
}

// ---- writing: the writers of one element keep their order whatever the cuts

struct Put { template <class T> [[gnu::always_inline]] T operator()(T, T v) const { return v; } };
struct Add { template <class T> [[gnu::always_inline]] T operator()(T y, T v) const { return y + v; } };
// A product, or an extreme, where NaN wins over all; without a branch on the elements, which nothing could predict.
struct Joined {
  Combine how;
  template <class T> [[gnu::always_inline]] Complex<T> operator()(Complex<T> y, Complex<T> v) const { return y * v; }
  template <class T> [[gnu::always_inline]] T operator()(T y, T v) const {
    if (how == Combine::prod) return y * v;
    const bool beats = how == Combine::amax ? v > y : v < y;
    if constexpr (std::is_integral_v<T>) {
      return beats ? v : y;
    } else {
      const math::Bits<T> taken = -static_cast<math::Bits<T>>(beats | (v != v));
      return math::from_bits((math::to_bits(v) & taken) | (math::to_bits(y) & ~taken));
    }
  }
};

// One value wherever it is read.
template <class T> struct Same {
  T value;
  [[gnu::always_inline]] T operator[](int64_t) const { return value; }
  Same operator+(int64_t) const { return *this; }
};

template <class W, class T, class V> struct WriteRow {
  template <int> [[gnu::always_inline]] static inline void run(T* y, V v, int64_t n, W f) {
    ADJOINT_INDEPENDENT
    for (int64_t i = 0; i < n; i++) y[i] = f(y[i], v[i]);
  }
};

// Where y does not begin as x, each line is copied just before it is written to; false if a position is out of range.
template <class W, class T, class V> bool write_lines(const Form& f, T* y, const T* x, V v, const int64_t* at, W join) {
  const int64_t bytes = f.n * static_cast<int64_t>(sizeof(T));
  const bool copies = x != y, fetches = !copies && is_mostly_wanted(f, sizeof(T));
  std::atomic<bool> good = true;
  pool::parallel_for(f.outer, std::max<int64_t>(1, grain / std::max(f.m, f.n)), [&](int64_t first, int64_t last) {
    for (int64_t line = first; line < last; line++) {
      const int64_t* positions = at + f.list_of(line) * f.m;
      T* to = y + line * f.n;
      if (copies && !in_range(positions, f.m, f.n)) {
        good = false;
        continue;
      }
      if (copies) std::memcpy(to, x + line * f.n, static_cast<size_t>(bytes));
      if (fetches) fetch(to, bytes);
      for (int64_t i = 0; i < f.m; i++) to[positions[i]] = join(to[positions[i]], v[line * f.m + i]);
    }
  });
  return good;
}
// Each share owns a range of targets and passes over all positions.
template <class W, class T, class V> void write_rows(const Form& f, T* y, V v, const int64_t* at, W join) {
  const int64_t threads = pool::num_threads(), ranges = threads == 1 || f.m * f.inner < grain ? 1 : std::min(f.n, 4 * threads);
  pool::parallel(f.outer * ranges, [&](int64_t unit) {
    const int64_t plane = unit / ranges, first = f.n * (unit % ranges) / ranges, last = f.n * (unit % ranges + 1) / ranges;
    auto write = [&](int64_t i) { isa::call<WriteRow<W, T, V>, T*, V, int64_t, W>(y + (plane * f.n + at[i]) * f.inner, v + (plane * f.m + i) * f.inner, f.inner, join); };
    for (int64_t i = 0; i < f.m; i++)
      if (at[i] >= first && at[i] < last) write(i);
  });
}
// Where y does not begin as x, that is read from x, and positions are looked at just before they are used; false if one is out of range.
template <class W, class T, class V> bool write_columns(const Form& f, T* y, const T* x, V v, const int64_t* at, W join) {
  std::atomic<bool> good = true;
  for_strips<T>(f, [&](int64_t plane, int64_t column, int64_t width) {
    const bool packs = is_packed(f, sizeof(T));
    const Buffer memory(packs ? f.n * width * static_cast<int64_t>(sizeof(T)) : 1);
    const int64_t begin = plane * f.n * f.inner + column;
    if (packs) pack(memory.as<T>(), x + begin, f.n, f.inner, width);
    T* const to = packs ? memory.as<T>() : y + begin;
    const int64_t down = packs ? width : f.inner;
    for (int64_t i = 0; i < f.m; i++) {
      const int64_t row = (plane * f.m + i) * f.inner + column;
      prefetch(at + row + std::min(ahead, f.m - 1 - i) * f.inner, width * 8);
      if (x != y && !in_range(at + row, width, f.n)) {
        good = false;
        return;
      }
      for (int64_t j = 0; j < width; j++) {
        T& target = to[at[row + j] * down + j];
        target = join(target, v[row + j]);
      }
    }
    if (packs) unpack(y + begin, static_cast<const T*>(memory.as<T>()), f.n, f.inner, width);
  });
  return good;
}
// y = x but for the elements v at these positions; false if one is out of range. y may be x, which stays as it is then.
template <class W, class T, class V> bool write(const Form& f, const View& y, const View& x, V v, const int64_t* at, W join = {}) {
  T* to = y.as<T>();
  const bool copied = x.data == y.data, reads_x = !copied && x.contiguous();
  if (f.inner == 1 && reads_x && f.n * static_cast<int64_t>(sizeof(T)) <= short_line) return write_lines<W>(f, to, x.as<const T>(), v, at, join);
  const bool by_columns = f.inner > 1 && !f.shared(), packs_x = by_columns && reads_x && is_packed(f, sizeof(T));
  if (!packs_x && !are_in_range(f, at)) return false;
  if (!copied && !packs_x) copy(y, x);
  const T* const from = packs_x ? x.as<const T>() : to;
  if (by_columns) return write_columns<W>(f, to, from, v, at, join);
  if (f.inner == 1) return write_lines<W>(f, to, from, v, at, join);
  write_rows<W>(f, to, v, at, join);
  return true;
}

// ---- operands

bool read(const Launch& l, const Form& f, const int64_t* at) {
  const View &x = l.x[0], &y = l.y[0];
  if (!x.contiguous() && x.numel > 4 * y.numel) return false;  // a copy would be most of the work
  const Contiguous dense(x);
  return with_bytes(itemsize(y.dtype), [&](auto zero) {
    using U = decltype(zero);
    return take(f, y.as<U>(), dense.as<const U>(), at);
  });
}

template <class T, class W = Add> bool join_typed(const Form& f, const View& x, const View& v, const View& y, const int64_t* at, W join = {}) {
  const Contiguous source(v, dtype_of<T>());
  if (y.dtype == dtype_of<T>()) return write<W, T>(f, y, x, source.as<const T>(), at, join);
  if (v.numel < x.numel / 32) return false;   // casting all of x would be most of the work: the reference adds these one by one
  const Dense sums(x, dtype_of<T>());
  const bool good = write<W, T>(f, sums.view, sums.view, source.as<const T>(), at, join);
  if (good) cast(y, sums.view);
  return good;
}
bool write(const Launch& l, const Form& f, const View& v, const int64_t* at, bool adds) {
  const View &x = l.x[0], &y = l.y[0];
  if (!adds) {
    const bool same = std::all_of(v.strides, v.strides + v.ndim, [](int64_t s) { return s == 0; });
    return with_bytes(itemsize(y.dtype), [&](auto zero) {
      using U = decltype(zero);
      if (same) return write<Put, U>(f, y, x, Same<U>{*v.as<const U>()}, at);
      return write<Put, U>(f, y, x, Contiguous(v).as<const U>(), at);
    });
  }
  switch (y.dtype) {
    case DType::float32:
    case DType::float16:
    case DType::bfloat16: return join_typed<float>(f, x, v, y, at);
    case DType::float64: return join_typed<double>(f, x, v, y, at);
    case DType::int32: return join_typed<int32_t>(f, x, v, y, at);
    case DType::int64: return join_typed<int64_t>(f, x, v, y, at);
    case DType::complex64: return join_typed<Complex<float>>(f, x, v, y, at);
    case DType::complex128: return join_typed<Complex<double>>(f, x, v, y, at);
    default: return false;
  }
}

// ---- kernels: what is rare or wrong goes to the reference

enum class Access { read, put, add };
template <Access access> void run(const Launch& l, const Form& f, const View& v, const int64_t* at) {
  if (!l.y[0].contiguous() || !(access == Access::read ? read(l, f, at) : write(l, f, v, at, access == Access::add))) reference(l);
}

// A list with long runs of positions behind one another, as that of a padding has, is read run by run.
struct Run { int64_t from, to, n; };
bool find_runs(const int64_t* at, int64_t m, int64_t most, std::vector<Run>& runs) {
  for (int64_t i = 0; i < m; i++) {
    if (i > 0 && at[i] == at[i - 1] + 1) runs.back().n++;
    else if (static_cast<int64_t>(runs.size()) == most) return false;
    else runs.push_back({at[i], i, 1});
  }
  return true;
}
bool read_runs(const Launch& l, const Form& f, const int64_t* at) {
  constexpr int64_t lines_at_least = 8;   // that threads share
  std::vector<Run> runs;
  if (f.outer < lines_at_least || !l.y[0].contiguous() || !l.x[0].contiguous() || !in_range(at, f.m, f.n) || !find_runs(at, f.m, f.m / 4, runs)) return false;
  with_bytes(itemsize(l.y[0].dtype), [&](auto zero) {
    using U = decltype(zero);
    const U* x = l.x[0].as<const U>();
    U* y = l.y[0].as<U>();
    pool::parallel_for(f.outer, std::max<int64_t>(1, grain / (f.m * f.inner)), [&](int64_t first, int64_t last) {
      for (int64_t line = first; line < last; line++)
        for (const Run& r : runs) {
          const U* from = x + (line * f.n + r.from) * f.inner;
          U* to = y + (line * f.m + r.to) * f.inner;
          if (r.n * f.inner == 1) *to = *from;
          else std::memcpy(static_cast<void*>(to), from, static_cast<size_t>(r.n * f.inner) * sizeof(U));
        }
    });
  });
  return true;
}

// One list of positions along a dimension: index_select, index_copy, index_add.
template <Access access> void list_kernel(const Launch& l) {
  const int dim = l.attrs.as<Dim>().dim;
  const Lines lines(l.x[0], dim);
  const Contiguous at(l.x[1]);
  const Form f{lines.outer, lines.n, l.x[1].numel, lines.inner, 1};
  if (f.outer * f.m * f.inner == 0) return reference(l);
  if (access == Access::read && read_runs(l, f, at.as<const int64_t>())) return;
  run<access>(l, f, l.x.back(), at.as<const int64_t>());
}

// Positions of the shape of the result or of the source: gather, scatter, scatter_add, scatter_reduce; lists that are repeated, as such.
// f(form, positions); false where lines of x and of positions are not the same.
bool with_lines(const View& x, const View& index, int dim, Borrowed<const Form&, const int64_t*> f) {
  bool same = index.numel > 0;
  for (int d = 0; d < x.ndim; d++) same = same && (d == dim || x.sizes[d] == index.sizes[d]);
  if (!same) return false;
  const Lines lines(x, dim);
  auto repeats = [&](int d) { return index.sizes[d] == 1 || index.strides[d] == 0; };
  int first = 0, last = dim, end = x.ndim;  // [first, last) and (dim, end) have lists of their own
  while (end > dim + 1 && repeats(end - 1)) end--;
  while (first < dim && repeats(first)) first++;
  while (last > first && repeats(last - 1)) last--;
  if (lines.inner > 1 && (first < last || end > dim + 1)) first = 0, last = dim, end = x.ndim;  // each column has
  Form form{lines.outer, lines.n, index.sizes[dim], lines.inner, 1};
  Dims sizes, strides;
  for (int d = first; d < end; d++) {
    const bool together = d >= last && d < dim;
    if (d != dim) (together ? form.together : form.lists) *= index.sizes[d];
    if (!together) sizes.push_back(index.sizes[d]), strides.push_back(index.strides[d]);
  }
  const View lists{index.data, sizes.data(), strides.data(), sizes.size(), index.dtype, sizes.product()};
  const Contiguous at(lists);
  f(form, at.as<const int64_t>());
  return true;
}
template <Access access> void lines_kernel(const Launch& l) {
  auto on = [&](const Form& f, const int64_t* at) { run<access>(l, f, l.x.back(), at); };
  if (!with_lines(l.x[0], l.x[1], l.attrs.as<Dim>().dim, on)) reference(l);
}
void scatter_reduce_kernel(const Launch& l) {
  const ScatterReduce& a = l.attrs.as<ScatterReduce>();
  const View &x = l.x[0], &y = l.y[0], &v = l.x[2];
  bool done = false;
  auto on = [&](const Form& f, const int64_t* at) {
    if (y.dtype == DType::float32 || is_half(y.dtype)) done = join_typed<float>(f, x, v, y, at, Joined{a.how});
    else if (y.dtype == DType::float64) done = join_typed<double>(f, x, v, y, at, Joined{a.how});
    else if (y.dtype == DType::int64) done = join_typed<int64_t>(f, x, v, y, at, Joined{a.how});
    else if (y.dtype == DType::complex64) done = join_typed<Complex<float>>(f, x, v, y, at, Joined{a.how});
  };
  if (!y.contiguous() || !with_lines(x, l.x[1], a.dim, on) || !done) reference(l);
}

// Flat positions, negative ones from the end, over neighbouring dimensions whose place they take: index, index_put.
template <bool writes> void index_kernel(const Launch& l) {
  const Indexed& a = l.attrs.as<Indexed>();
  const View &x = l.x[0], &index = l.x[writes ? 2 : 1];
  bool plain = !a.dims.empty() && a.at == a.dims[0] && index.numel > 0 && x.numel > 0;
  for (int i = 1; i < a.dims.size(); i++) plain = plain && a.dims[i] == a.dims[0] + i;
  if (!plain) return reference(l);
  const Lines lines(x, static_cast<int>(a.dims[0]), static_cast<int>(a.dims[0]) + a.dims.size());
  const Contiguous given(index);
  std::optional<Dense> wrapped;
  const int64_t* positions = given.as<const int64_t>();
  if (!in_range(positions, index.numel, lines.n)) {
    int64_t* own = wrapped.emplace(index).view.as<int64_t>();
    for (int64_t i = 0; i < index.numel; i++) own[i] += own[i] < 0 ? lines.n : 0;
    positions = own;
  }
  const Form f{lines.outer, lines.n, index.numel, lines.inner, 1};
  if constexpr (!writes) run<Access::read>(l, f, x, positions);
  else if (a.accumulate) run<Access::add>(l, f, l.x[1], positions);
  else run<Access::put>(l, f, l.x[1], positions);
}

// Rows are counted from the front alone.
void embedding_kernel(const Launch& l) {
  const Contiguous given(l.x[1]);
  if (!in_range(given.as<const int64_t>(), l.x[1].numel, l.x[0].sizes[0])) return reference(l);
  index_kernel<false>({l.x, l.y, Indexed{{0}, 0, false}, l.op});
}

constexpr Entry entries[] = {
    {"embedding", embedding_kernel},
    {"gather", lines_kernel<Access::read>},
    {"index", index_kernel<false>},
    {"index_add", list_kernel<Access::add>},
    {"index_copy", list_kernel<Access::put>},
    {"index_put", index_kernel<true>},
    {"index_select", list_kernel<Access::read>},
    {"scatter", lines_kernel<Access::put>},
    {"scatter_add", lines_kernel<Access::add>},
    {"scatter_reduce", scatter_reduce_kernel},
};

}  // namespace

Entries index_kernels() { return entries; }

}  // namespace adjoint::cpu
