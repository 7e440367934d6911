// softmax, log_softmax, logsumexp. A row stays in the first-level cache through all its passes.
#include <adjoint/core/math/exp.h>
#include <adjoint/core/math/log.h>
#include <adjoint/core/op_attrs.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "compilers.h"
#include "complex_scans.h"
#include "fold.h"
#include "isa.h"
#include "kernels.h"
#include "lines.h"
#include "margin.h"
#include "pool.h"

namespace adjoint::cpu {

namespace {

constexpr int64_t grain = 16384;

enum class Form { plain, logarithm, sum };  // softmax, log_softmax, logsumexp

// f(i) for each element of a row of at least a vector, by whole vectors: the last one ends where the row does, and does some again.
template <int W, class T, class F> [[gnu::always_inline]] inline void each_of_row(int64_t n, const F& f) {
  constexpr int64_t lanes = W / sizeof(T);
  for (int64_t i = 0; i < n; i += lanes) {
    const int64_t at = i < n - lanes ? i : n - lanes;
    ADJOINT_INDEPENDENT
#pragma GCC unroll 1  // four doubles would be taken one by one before loops become vectors
    for (int64_t j = at; j < at + lanes; j++) f(j);
  }
}

template <class T> struct SoftmaxRows {
  static constexpr int64_t most = 16, padding = 64 / sizeof(T);
  // Rows of n elements; y has rows of n, or of one for a sum. Logarithms are taken of several short rows at a time. `scratch` has room for
  // two rows and their padding.
  template <int W> [[gnu::always_inline]] static inline void run(Form form, const T* x, T* y, T* scratch, int64_t n, int64_t rows) {
    const int64_t block = form == Form::plain || n > 512 ? 1 : most, kept = form == Form::sum ? 1 : n;
    const int64_t padded = n < padding ? padding : n;
    T *e = scratch, *copy = scratch + padded;
    for (int64_t i = n; i < padded; i++) copy[i] = -math::infinity<T>;
    for (int64_t r = 0; r < rows; r += block, x += block * n, y += block * kept) {
      alignas(64) T shift[most], total[most];
      const int64_t count = rows - r < block ? rows - r : block;
      for (int64_t k = 0; k < most; k++) shift[k] = 0, total[k] = 1;
      for (int64_t k = 0; k < count; k++) {
        const T* row = x + k * n;
        for (int64_t i = 0; i < n && n < padded; i++) copy[i] = row[i];
        if (n < padded) row = copy;
        const T m = extreme_row<W, Largest<T>>(row, padded, Same{});
        const T by = form == Form::sum && !(m > -math::infinity<T> && m < math::infinity<T>) ? T(0) : m;
        if (form == Form::plain) each_of_row<W, T>(padded, [=](int64_t i) __attribute__((always_inline)) { e[i] = math::exp(row[i] - by); });
        else each_of_row<W, T>(padded, [=](int64_t i) __attribute__((always_inline)) { e[i] = math::exp_normal(row[i] - by); });
        shift[k] = by, total[k] = sum_row<W>(static_cast<const T*>(e), padded, Same{});
      }
      if (form == Form::plain) {
        const T factor = 1 / total[0];
        ADJOINT_INDEPENDENT
        for (int64_t i = 0; i < n; i++) y[i] = e[i] * factor;
        continue;
      }
      T logarithm[most];
      for (int64_t k = 0; k < most; k++) logarithm[k] = math::log(total[k]);
      for (int64_t k = 0; k < count; k++) {
        if (form == Form::sum) y[k] = total[k] == math::infinity<T> ? total[k] : shift[k] + logarithm[k];
        else
          ADJOINT_INDEPENDENT
          for (int64_t i = 0; i < n; i++) y[k * n + i] = (x[k * n + i] - shift[k]) - logarithm[k];
      }
    }
  }
};

// Columns of a plane (n, columns): `width` of them at a time, with accumulators in m and s. y has one row for a sum.
template <class T> struct SoftmaxColumns {
  template <int W> [[gnu::always_inline]] static inline void run(Form form, const T* x, T* y, int64_t n, int64_t down, int64_t width, T* m, T* s, T* scratch) {
    for (int64_t j = 0; j < width; j++) m[j] = -math::infinity<T>, s[j] = 0;
    for (int64_t i = 0; i < n; i++)
      ADJOINT_INDEPENDENT
      for (int64_t j = 0; j < width; j++) m[j] = x[i * down + j] > m[j] ? x[i * down + j] : m[j];
    if (form == Form::sum)
      for (int64_t j = 0; j < width; j++) m[j] = m[j] > -math::infinity<T> && m[j] < math::infinity<T> ? m[j] : T(0);
    for (int64_t i = 0; i < n; i++) {
      T* e = form == Form::plain ? y + i * down : scratch;
      ADJOINT_INDEPENDENT
      for (int64_t j = 0; j < width; j++) {
        e[j] = math::exp(x[i * down + j] - m[j]);
        s[j] += e[j];
      }
    }
    if (form == Form::plain) {
      for (int64_t j = 0; j < width; j++) s[j] = 1 / s[j];
      for (int64_t i = 0; i < n; i++)
        ADJOINT_INDEPENDENT
        for (int64_t j = 0; j < width; j++) y[i * down + j] *= s[j];
      return;
    }
    for (int64_t j = 0; j < width; j++) scratch[j] = math::log(s[j]);
    if (form == Form::sum) {
      for (int64_t j = 0; j < width; j++) y[j] = s[j] == math::infinity<T> ? s[j] : m[j] + scratch[j];
      return;
    }
    for (int64_t i = 0; i < n; i++)
      ADJOINT_INDEPENDENT
      for (int64_t j = 0; j < width; j++) y[i * down + j] = (x[i * down + j] - m[j]) - scratch[j];
  }
};

constexpr int64_t strip = 512;
template <class T> void columns_of_strip(Form form, const T* x, T* y, int64_t n, int64_t down, int64_t width) {
  alignas(64) T m[strip], s[strip], scratch[strip];
  isa::call<SoftmaxColumns<T>>(form, x, y, n, down, width, static_cast<T*>(m), static_cast<T*>(s), static_cast<T*>(scratch));
}

// Short lines that lie side by side in short rows, or not at all: they are turned, a strip at a time, so that loops run across them.
template <class T> void over_short_lines(Form form, const T* x, T* y, const Lines& l) {
  const int64_t some = std::max<int64_t>(1, strip / l.inner), kept = form == Form::sum ? 1 : l.n;
  pool::parallel((l.outer + some - 1) / some, [&](int64_t u) {
    const int64_t first = u * some, planes = std::min(some, l.outer - first), width = planes * l.inner, down = (width + 15) & -16;
    const Buffer in(l.n * down * static_cast<int64_t>(sizeof(T))), out(kept * down * static_cast<int64_t>(sizeof(T)));
    const auto view = [&](const T* data, const int64_t (&sizes)[3], const int64_t (&strides)[3]) {
      return View{const_cast<char*>(reinterpret_cast<const char*>(data)), sizes, strides, 3, dtype_of<T>(), sizes[0] * width};
    };
    const int64_t all[] = {l.n, planes, l.inner}, results[] = {kept, planes, l.inner}, turned[] = {down, l.inner, 1};
    const int64_t across[] = {l.inner, l.n * l.inner, 1}, back[] = {l.inner, kept * l.inner, 1};
    if (width < down) std::memset(in.as<char>(), 0, l.n * down * sizeof(T));
    copy(view(in.as<T>(), all, turned), view(x + first * l.n * l.inner, all, across));
    columns_of_strip<T>(form, in.as<T>(), out.as<T>(), l.n, down, down);
    copy(view(y + first * kept * l.inner, results, back), view(out.as<T>(), results, turned));
  });
}

template <class T> void over_rows(Form form, const T* x, T* y, int64_t n, int64_t rows) {
  pool::parallel_for(rows, std::max<int64_t>(1, grain / n), [&](int64_t begin, int64_t end) {
    const Buffer scratch(2 * (n + SoftmaxRows<T>::padding) * static_cast<int64_t>(sizeof(T)));
    isa::call<SoftmaxRows<T>>(form, x + begin * n, y + begin * (form == Form::sum ? 1 : n), scratch.as<T>(), n, end - begin);
  });
}

template <class T> void over_columns(Form form, const T* x, T* y, const Lines& l) {
  const int64_t strips = (l.inner + strip - 1) / strip;
  pool::parallel(l.outer * strips, [&](int64_t u) {
    const int64_t plane = u / strips, column = u % strips * strip;
    columns_of_strip<T>(form, x + plane * l.n * l.inner + column, y + plane * (form == Form::sum ? 1 : l.n) * l.inner + column, l.n, l.inner, std::min(strip, l.inner - column));
  });
}

template <class T> void over_lines(Form form, const T* x, T* y, const Lines& l) {
  if (l.n <= 48 && l.inner < 16 && l.outer * l.inner >= (l.n <= 16 ? 16 : 64) && l.outer >= 4) return over_short_lines(form, x, y, l);
  if (l.inner > 1) over_columns(form, x, y, l);
  else over_rows(form, x, y, l.n, l.outer);
}

template <Form form> void softmax_kernel(const Launch& l) {
  const View& x = l.x[0];
  if (!is_floating(x.dtype) || x.numel == 0) return reference(l);
  const int dim = l.attrs.as<Dim>().dim;
  const Lines lines(x, dim);
  with_dense(x, l.y[0], [&](const View& in, const View& out) {
    with_real(in.dtype, [&](auto zero) {
      using T = decltype(zero);
      over_lines<T>(form, in.as<const T>(), out.as<T>(), lines);
    });
  });
}

void logsumexp_kernel(const Launch& l) {
  const View& x = l.x[0];
  const Dims& dims = l.attrs.as<Reduce>().dims;
  if (log_sums_of_complex(l)) return;
  if (!is_floating(x.dtype) || x.numel == 0) return reference(l);
  Dims order;  // several dimensions that go, behind the others
  for (bool goes : {false, true})
    for (int d = 0; d < x.ndim && dims.size() != 1; d++)
      if (dims.contains(d) == goes) order.push_back(d);
  const DType type = widened(x.dtype);
  auto typed = [&](const View& y) {
    with_real(type, [&](auto zero) {
      using T = decltype(zero);
      if (dims.size() == 1) {
        const LinesOf in(x, static_cast<int>(dims[0]), type);
        return over_lines<T>(Form::sum, in.as<T>(), y.as<T>(), in.lines);
      }
      const Ordered ordered(x, order);
      over_lines<T>(Form::sum, Contiguous(ordered.view, type).as<const T>(), y.as<T>(), Lines(ordered.view, x.ndim - dims.size(), x.ndim));
    });
  };
  if (l.y[0].dtype == type) return typed(l.y[0]);
  const Dense wide(l.y[0], type);
  typed(wide.view);
  cast(l.y[0], wide.view);
}

// y (v - sum(v y)), and v - exp(y) sum(v): what is summed, and what an element becomes.
template <bool logarithm, class T> [[gnu::always_inline]] inline T summed(T v, T y) { return logarithm ? v : v * y; }
template <bool logarithm, class T> [[gnu::always_inline]] inline T pulled(T v, T y, T sum) { return logarithm ? v - math::exp(y) * sum : y * (v - sum); }

// Along rows.
template <bool logarithm, class T> struct SoftmaxRowsVjp {
  template <int W> [[gnu::always_inline]] static inline void run(const T* v, const T* y, T* to, int64_t n, int64_t rows) {
    for (int64_t r = 0; r < rows; r++, v += n, y += n, to += n) {
      const T sum = logarithm ? sum_row<W>(v, n, Same{}) : sum_of<W>(Products<T>{v, y}, n);
      ADJOINT_INDEPENDENT
      for (int64_t i = 0; i < n; i++) to[i] = pulled<logarithm>(v[i], y[i], sum);
    }
  }
};
// The same of planes of a few columns, of at most `strip` elements: only the sums know where a column ends.
template <bool logarithm, class T> struct SoftmaxPlanesVjp {
  static constexpr bool narrow = true;
  template <int W> [[gnu::always_inline]] static inline void run(const T* v, const T* y, T* to, int64_t n, int64_t inner, int64_t planes) {
    const int64_t plane = n * inner, most = strip / plane;
    for (; planes > 0; planes -= most, v += most * plane, y += most * plane, to += most * plane) {
      const int64_t count = std::min(planes, most) * plane;
      T sums[strip];   // of its column, for each element
      for (int64_t k = 0; k < count; k++) sums[k] = summed<logarithm>(v[k], y[k]);
      for (int64_t p = 0; p < count; p += plane)
        for (int64_t j = p; j < p + inner; j++) {
          T sum = 0;
          for (int64_t i = 0; i < plane; i += inner) sum += sums[j + i];
          for (int64_t i = 0; i < plane; i += inner) sums[j + i] = sum;
        }
      ADJOINT_INDEPENDENT
      for (int64_t k = 0; k < count; k++) to[k] = pulled<logarithm>(v[k], y[k], sums[k]);
    }
  }
};
// The same of columns, `width` of them in each of some planes. Where all are few, `fold` rows of a plane, which lie behind each other, are one.
template <bool logarithm, class T> struct SoftmaxColumnsVjp {
  static constexpr bool narrow = true;
  template <int W> [[gnu::always_inline]] static inline void run(const T* v, const T* y, T* to, int64_t n, int64_t down, int64_t width, int64_t planes, int64_t fold) {
    constexpr int64_t piece = 1024;   // rows: long sums are joined of parts
    const int64_t rows = n / fold, left = n % fold * width, step = down * fold, wide = width * fold;
    for (; planes > 0; planes--, v += n * down, y += n * down, to += n * down) {
      T sum[strip];
      std::fill_n(sum, wide, T(0));
      for (int64_t first = 0; first < rows; first += piece) {
        T part[strip];
        std::fill_n(part, wide, T(0));
        for (int64_t i = first; i < std::min(rows, first + piece); i++) add(part, v + i * step, y + i * step, wide);
        for (int64_t j = 0; j < wide; j++) sum[j] += part[j];
      }
      add(sum, v + rows * step, y + rows * step, left);
      for (int64_t r = width; r < wide; r += width)
        for (int64_t j = 0; j < width; j++) sum[j] += sum[r + j];
      for (int64_t j = width; j < wide; j++) sum[j] = sum[j - width];
      for (int64_t i = 0; i < rows; i++) give(to + i * step, v + i * step, y + i * step, sum, wide);
      give(to + rows * step, v + rows * step, y + rows * step, sum, left);
    }
  }

 private:
  [[gnu::always_inline]] static inline void add(T* sum, const T* v, const T* y, int64_t count) {
    for (int64_t j = 0; j < count; j++) sum[j] += summed<logarithm>(v[j], y[j]);
  }
  [[gnu::always_inline]] static inline void give(T* to, const T* v, const T* y, const T* sum, int64_t count) {
    ADJOINT_INDEPENDENT
    for (int64_t j = 0; j < count; j++) to[j] = pulled<logarithm>(v[j], y[j], sum[j]);
  }
};
template <bool logarithm, class T> void lines_vjp(const T* v, const T* y, T* to, const Lines& l) {
  const int64_t plane = l.n * l.inner, strips = (l.inner + strip - 1) / strip, each = strips > 1 ? 1 : std::max<int64_t>(1, grain / plane);   // planes
  const int64_t fold = std::clamp<int64_t>(128 / l.inner, 1, l.n);
  const bool short_planes = l.inner < 16 && plane <= strip;
  pool::parallel((l.outer + each - 1) / each * strips, [&](int64_t u) {
    const int64_t first = u / strips * each, planes = std::min(each, l.outer - first), at = first * plane + u % strips * strip;
    if (l.inner == 1) isa::call<SoftmaxRowsVjp<logarithm, T>>(v + at, y + at, to + at, l.n, planes);
    else if (short_planes) isa::call<SoftmaxPlanesVjp<logarithm, T>>(v + at, y + at, to + at, l.n, l.inner, planes);
    else isa::call<SoftmaxColumnsVjp<logarithm, T>>(v + at, y + at, to + at, l.n, l.inner, std::min(strip, l.inner - u % strips * strip), planes, fold);
  });
}
template <bool logarithm> void vjp_kernel(const Launch& l) {
  const View& v = l.x[0];
  if (!is_floating(v.dtype) || v.numel == 0) return reference(l);
  const Lines lines(v, l.attrs.as<Dim>().dim);
  with_dense(v, l.y[0], [&](const View& in, const View& out) {
    const Contiguous y(l.x[1], in.dtype);
    with_real(in.dtype, [&](auto zero) {
      using T = decltype(zero);
      lines_vjp<logarithm, T>(in.as<const T>(), y.as<const T>(), out.as<T>(), lines);
    });
  });
}

constexpr Entry entries[] = {
    {"log_softmax", softmax_kernel<Form::logarithm>},
    {"log_softmax_vjp", vjp_kernel<true>},
    {"logsumexp", logsumexp_kernel},
    {"margin", margin_kernel},
    {"margin_vjp", margin_vjp_kernel},
    {"softmax", softmax_kernel<Form::plain>},
    {"softmax_vjp", vjp_kernel<false>},
};

}  // namespace

Entries softmax_kernels() { return entries; }

}  // namespace adjoint::cpu
