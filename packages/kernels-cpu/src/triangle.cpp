// Systems with one triangle of a matrix: blocks of rows by products of matrices, and of each block strips of columns, a panel of rows in registers.
//
// x holds -b at first (or the solution is the negative one): to row i is added what a's row has of the rows before it, and the sum times -1/a(i, i)
// is the row of the solution.
#include "triangle.h"

#include <limits>

#include "flushed.h"
#include "lines.h"
#include "matmul.h"
#include "matrices.h"
#include "pool.h"

namespace adjoint::cpu {

namespace {

template <class T> constexpr int parts = is_complex_v<T> ? 2 : 1;
template <int W> constexpr int64_t panel = W == 64 ? 8 : 4;   // rows

// A lower triangle of n rows in panels: column by column what stands before the panel's square, then that, with -1/a(i, i) on the diagonal and zeros
// above; real parts before imaginary ones. Rows behind the last are 0, and -1 on the diagonal.
template <class T> struct Panels {
  using R = real_t<T>;
  template <int W> [[gnu::always_inline]] static inline void run(Matrix<const T> a, int64_t n, bool unit, R* to) {
    constexpr int64_t tall = panel<W>;
    for (int64_t i = 0; i < n; i += tall) {
      const int64_t rows = n - i < tall ? n - i : tall;
      bool done = false;
      if constexpr (parts<T> == 1)
        if (rows == tall && (a.right == 1 || a.right == -1)) turned<tall>(a, i, to), done = true;
      if (!done)
        for (int64_t q = 0; q < i; q++)
          for (int64_t r = 0; r < tall; r++) put<tall>(to + q * tall * parts<T>, r, r < rows ? *a.at(i + r, q) : T(0));
      to += i * tall * parts<T>;
      for (int64_t q = 0; q < tall; q++, to += tall * parts<T>)
        for (int64_t r = 0; r < tall; r++) put<tall>(to, r, r == q ? (unit || r >= rows ? T(-1) : T(-1) / *a.at(i + r, i + r)) : r > q && r < rows ? *a.at(i + r, i + q) : T(0));
    }
  }

 private:
  template <int64_t tall> [[gnu::always_inline]] static inline void put(R* to, int64_t r, T value) {
    if constexpr (parts<T> == 2) to[r] = value.re, to[tall + r] = value.im;
    else to[r] = value;
  }
  template <int64_t tall> [[gnu::always_inline]] static inline void turned(Matrix<const T> a, int64_t i, T* to) {
    using Word = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
    const bool back = a.right < 0;
    for (int64_t q = 0; q < i; q += tall)
      transpose<Word, tall>(reinterpret_cast<char*>(to + (back ? q + tall - 1 : q) * tall), (back ? -tall : tall) * static_cast<int64_t>(sizeof(T)),
                            reinterpret_cast<const char*>(a.at(i, back ? q + tall - 1 : q)), a.down * static_cast<int64_t>(sizeof(T)));
  }
};

// Solves in a strip of columns, in rows of a strip's width. Of complex numbers i times a row of the solution follows the row: products are then those of
// real numbers.
template <class T> struct SolveStrip {
  using R = real_t<T>;
  template <int W> [[gnu::always_inline]] static inline void run(const R* a, int64_t n, R* x, int64_t columns) {
    constexpr int64_t lanes = W / sizeof(R), tall = panel<W>, most = W > 16 ? 3 : 1;
    for (int64_t i = 0; i < n; i += tall) {
      for (int64_t j = 0; j < columns; j += most * lanes) {
        const int64_t left = (columns - j + lanes - 1) / lanes;
        if (left >= most) rows<W, most>(a, i, x + j);
        else if (left == 2) rows<W, W == 16 ? 1 : 2>(a, i, x + j);
        else rows<W, 1>(a, i, x + j);
      }
      a += (i + tall) * tall * parts<T>;
    }
  }

 private:
  static constexpr int64_t width = Strip<R>::width;
  template <int W, int vectors> [[gnu::always_inline]] static inline void rows(const R* a, int64_t i, R* x) {
    using Vector = typename Lanes<R, W>::type;
    constexpr int64_t lanes = W / sizeof(R), tall = panel<W>;
    Tile<R, W, vectors, tall> t;
    t.clear();
    t.add({a, 1, tall}, i * parts<T>, [=](int64_t q, int v) __attribute__((always_inline)) { return x + q * width + v * lanes; });
    x += i * parts<T> * width;
    a += i * parts<T> * tall;
#pragma GCC unroll 8
    for (int q = 0; q < tall; q++) {
      const R* const column = a + q * tall * parts<T>;
#pragma GCC unroll 4
      for (int v = 0; v < vectors; v++) {
        Vector& row = t.sum[q][v];
        R* const to = x + q * parts<T> * width + v * lanes;
        row += *reinterpret_cast<const Vector*>(to);
        if constexpr (parts<T> == 2) {
          row = column[q] * row + column[tall + q] * times_i(row);
          const Vector other = times_i(row);
          *reinterpret_cast<Vector*>(to + width) = other;
#pragma GCC unroll 8
          for (int r = q + 1; r < tall; r++) t.sum[r][v] += column[r] * row + column[tall + r] * other;
        } else {
          row *= column[q];
#pragma GCC unroll 8
          for (int r = q + 1; r < tall; r++) t.sum[r][v] += column[r] * row;
        }
        *reinterpret_cast<Vector*>(to) = row;
      }
    }
  }
  template <class Vector> [[gnu::always_inline]] static inline Vector times_i(Vector v) {
    constexpr int lanes = sizeof(Vector) / sizeof(R);
    typename Lanes<std::conditional_t<sizeof(R) == 4, int32_t, int64_t>, sizeof(Vector)>::type places;
    Vector signs;
    for (int l = 0; l < lanes; l++) places[l] = l ^ 1, signs[l] = l % 2 ? R(1) : R(-1);
    return shuffle(v, v, places) * signs;
  }
};

// Whether what is below the normal numbers is nothing beside the largest of each column that is not 0 throughout.
template <class T> struct HasRoom {
  using R = real_t<T>;
  static constexpr int64_t width = Strip<R>::width;
  template <int W> [[gnu::always_inline]] static inline void run(const R* x, int64_t down, int64_t n, int64_t columns, bool* all) {
    R largest[width] = {};
    for (int64_t i = 0; i < n; i++, x += down)
      for (int64_t j = 0; j < columns; j++) {
        const R size = x[j] < 0 ? -x[j] : x[j];
        largest[j] = size > largest[j] ? size : largest[j];
      }
    for (int64_t j = 0; j < columns; j++) {
      const R other = largest[parts<T> == 2 ? j ^ 1 : j], size = other > largest[j] ? other : largest[j];
      *all = *all && (size == 0 || size > least_with_room<R>);
    }
  }
};
// The largest number of a triangle, whose rows lie so many apart in memory.
template <class T> struct LargestOfTriangle {
  using R = real_t<T>;
  template <int W> [[gnu::always_inline]] static inline void run(const R* a, int64_t down, int64_t n, bool lower, R* largest) {
    using Bits = std::conditional_t<sizeof(R) == 4, int32_t, int64_t>;
    Bits most = 0;
    for (int64_t i = 0; i < n; i++, a += down)
      for (int64_t j = lower ? 0 : i * parts<T>; j < (lower ? i + 1 : n) * parts<T>; j++) {
        Bits bits;
        __builtin_memcpy(&bits, a + j, sizeof bits);
        bits &= std::numeric_limits<Bits>::max();
        most = bits > most ? bits : most;
      }
    __builtin_memcpy(largest, &most, sizeof most);
  }
};
// Whether neither the triangle nor a division by its diagonal makes numbers much larger or smaller.
template <class T> bool is_moderate(Matrix<const T> a, bool upper, bool unit, int64_t n) {
  using R = real_t<T>;
  constexpr R bound = 1 << 20;
  R largest;
  isa::call<LargestOfTriangle<T>, const R*, int64_t, int64_t, bool, R*>(reinterpret_cast<const R*>(a.data), (a.right == 1 ? a.down : a.right) * parts<T>, n, upper != (a.right == 1), &largest);
  bool good = largest <= bound;
  for (int64_t i = 0; i < n && !unit; i++) {
    good = good && pivot_size(*a.at(i, i)) >= 1 / bound;
  }
  return good;
}
template <class T> bool has_room(Matrix<T> x, int64_t n, int64_t k) {
  using R = real_t<T>;
  bool all = true;
  for (int64_t j = 0; j < k; j += HasRoom<T>::width / parts<T>)
    isa::call<HasRoom<T>, const R*, int64_t, int64_t, int64_t, bool*>(reinterpret_cast<const R*>(x.at(0, j)), x.down * parts<T>, n, std::min(HasRoom<T>::width, (k - j) * parts<T>), &all);
  return all;
}

// Whether a division by each number of the diagonal is as good as a product with its reciprocal, to a unit in the last place. By 0 it is.
template <class T> bool is_scaled(Matrix<const T> a, int64_t n) {
  using R = real_t<T>;
  using Limits = std::numeric_limits<R>;
  for (int64_t i = 0; i < n; i++) {
    const R size = pivot_size(*a.at(i, i));
    if ((size > 0 && size < Limits::min() * 4) || (size > Limits::max() / 4 && size <= Limits::max())) return false;
  }
  return true;
}

// Row by row.
template <class T> void substitute(Matrix<const T> a, bool upper, bool unit, Matrix<T> x, int64_t n, int64_t k) {
  for (int64_t done = 0; done < n; done++) {
    const int64_t i = upper ? n - 1 - done : done, from = upper ? i + 1 : 0;
    T* const row = x.at(i, 0);
    for (int64_t q = from; q < from + done; q++)
      for (int64_t j = 0; j < k; j++) row[j] = row[j] - *a.at(i, q) * *x.at(q, j);
    for (int64_t j = 0; j < k && !unit; j++) row[j] = row[j] / *a.at(i, i);
  }
}

// Of rows and columns alike in the other order, in which an upper triangle is a lower one.
template <class T> Matrix<T> reversed(Matrix<T> a, int64_t rows, int64_t columns) { return {a.at(rows - 1, columns - 1), -a.down, -a.right}; }

// One block of rows, with the triangle on its diagonal.
template <class T> void solve_block(Matrix<const T> a, bool upper, bool unit, Matrix<T> x, int64_t rows, int64_t k, real_t<T>* panels) {
  using R = real_t<T>;
  constexpr int64_t width = Strip<R>::width, by = parts<T> * width;
  if (!unit && !is_scaled(a, rows)) {
    negate(x, rows, k);
    return substitute(a, upper, unit, x, rows, k);
  }
  alignas(64) R strip[Strip<R>::deepest * width];
  const int64_t whole = (rows + 7) / 8 * 8;
  isa::call<Panels<T>, Matrix<const T>, int64_t, bool, R*>(upper ? reversed(a, rows, rows) : a, rows, unit, panels);
  for (int64_t j = 0; j < k; j += width / parts<T>) {
    const int64_t columns = std::min(width, (k - j) * parts<T>);
    const auto row = [&](int64_t r) { return reinterpret_cast<R*>(x.at(upper ? rows - 1 - r : r, j)); };
    for (int64_t r = 0; r < whole; r++) {
      if (r < rows) std::copy_n(row(r), columns, strip + r * by);
      std::fill(strip + r * by + (r < rows ? columns : 0), strip + r * by + width, R(0));
    }
    isa::call<SolveStrip<T>, const R*, int64_t, R*, int64_t>(panels, rows, strip, columns);
    for (int64_t r = 0; r < rows; r++) std::copy_n(strip + r * by, columns, row(r));
  }
}

// Some columns.
template <class T> void solve_columns(Matrix<const T> a, bool upper, bool unit, Matrix<T> x, int64_t n, int64_t k) {
  using R = real_t<T>;
  constexpr int64_t deepest = Strip<R>::deepest / parts<T>, few = 16;   // columns: of few it is their way through a that counts
  const int64_t block = std::min(k < few ? 32 : deepest, n), whole = (block + 7) / 8 * 8;
  const Scratch<T> panels(whole * (whole + 8) / 2 + (k < few ? block * k : 0));
  T* const more = panels + whole * (whole + 8) / 2;
  const Flushed flushed(n > 32 && has_room(x, n, k) && is_moderate(a, upper, unit, n));
  for (int64_t done = 0; done < n; done += block) {
    const int64_t rows = std::min(block, n - done), i = upper ? n - done - rows : done, from = upper ? i + rows : 0;
    const Matrix<T> own = {x.at(i, 0), x.down, 1};
    const Matrix<const T> left = {a.at(i, from), a.down, a.right}, solved = {x.at(from, 0), x.down, 1};
    if (done > 0 && k < few) {
      multiply<T>(left, solved, {more, k, 1}, rows, k, done);
      for (int64_t r = 0; r < rows; r++)
        for (int64_t j = 0; j < k; j++) *own.at(r, j) = *own.at(r, j) + more[r * k + j];
    } else if (done > 0) {
      add_product(left, solved, own, rows, k, done);
    }
    solve_block<T>({a.at(i, i), a.down, a.right}, upper, unit, own, rows, k, reinterpret_cast<R*>(static_cast<T*>(panels)));
  }
}

}  // namespace

template <class T> void solve_triangle(Matrix<const T> a, bool upper, bool unit, Matrix<T> x, int64_t n, int64_t k, bool negative) {
  constexpr int64_t each = 192, little = 12 * 12 * 4;   // columns; steps that are done sooner than memory for more would be there
  if (n * n * k > little) {
    if (!negative) negate(x, n, k);
    return pool::parallel_for((k + each - 1) / each, std::max<int64_t>(1, (1 << 16) / (n * n * std::min(k, each))), [&](int64_t first, int64_t last) {
      for (int64_t j = first * each; j < std::min(last * each, k); j += each) solve_columns<T>(a, upper, unit, {x.at(0, j), x.down, 1}, n, std::min(each, k - j));
    });
  }
  substitute(a, upper, unit, x, n, k);
  if (negative) negate(x, n, k);
}
template void solve_triangle(Matrix<const float>, bool, bool, Matrix<float>, int64_t, int64_t, bool);
template void solve_triangle(Matrix<const double>, bool, bool, Matrix<double>, int64_t, int64_t, bool);
template void solve_triangle(Matrix<const Complex<float>>, bool, bool, Matrix<Complex<float>>, int64_t, int64_t, bool);
template void solve_triangle(Matrix<const Complex<double>>, bool, bool, Matrix<Complex<double>>, int64_t, int64_t, bool);

}  // namespace adjoint::cpu
