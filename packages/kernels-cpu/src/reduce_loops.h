// The loops of reductions along rows and across columns, for every instruction set.
#pragma once
#include <cstring>

#include "compilers.h"
#include "fold.h"
#include "isa.h"

namespace adjoint::cpu {

// x[0], x[step], ... x[7 step].
template <class O, class T, class Map> [[gnu::always_inline]] inline auto join_eight(const T* x, int64_t step, Map f) {
  return O::join(O::join(O::join(f(x[0]), f(x[step])), O::join(f(x[2 * step]), f(x[3 * step]))),
                 O::join(O::join(f(x[4 * step]), f(x[5 * step])), O::join(f(x[6 * step]), f(x[7 * step]))));
}

template <class Map, class T> [[gnu::always_inline]] inline Map map_for(const T* centres, int64_t i) {
  if constexpr (std::is_same_v<Map, SquareFrom<T>>) return {centres[i]};
  else return {};
}

// The map of both parts.
template <class Map> struct OfParts { using type = Map; };
template <class T> struct OfParts<SquareFrom<Complex<T>>> { using type = SquareFrom<T>; };

template <template <class> class Op, class Map, class T, class S = T> struct ReduceRows {
  static constexpr bool narrow = !Op<T>::rounds;  // of short rows, sums gain by wide vectors; the ends of extremes cost more than they spare
  // Rows of n elements S, `down` apart; centres: one for each row where the map is SquareFrom.
  template <int W> [[gnu::always_inline]] static inline void run(const void* elements, int64_t down, int64_t n, int64_t rows, const void* means, void* results) {
    const S* x = static_cast<const S*>(elements);
    const T* centres = static_cast<const T*>(means);
    T* y = static_cast<T*>(results);
    for (int64_t r = 0; r < rows; r++) {
      if constexpr (!std::is_same_v<S, T> && !Op<T>::rounds) y[r] = extreme_half<W, S, std::is_same_v<Op<T>, Largest<T>>>(x + r * down, n);
      else if constexpr (!Op<T>::rounds) y[r] = extreme_row<W, Op<T>>(x + r * down, n, Map{});
      else y[r] = sum_row<W>(x + r * down, n, map_for<Map>(centres, r));
    }
  }
};

template <template <class> class Op, class Map, class T> struct ReduceColumns {
  static constexpr bool narrow = true;
  // y[j] = the join of x[i][j] for all rows i, eight rows at a time; centres: one for each column where the map is SquareFrom.
  template <int W> [[gnu::always_inline]] static inline void run(const void* elements, int64_t down, int64_t rows, int64_t columns, const void* means, void* results) {
    if constexpr (is_complex_v<T>) {
      return ReduceColumns<Op, typename OfParts<Map>::type, real_t<T>>::template run<W>(elements, 2 * down, rows, 2 * columns, means, results);
    } else {
      using O = Op<T>;
      const T *x = static_cast<const T*>(elements), *centres = static_cast<const T*>(means);
      T* y = static_cast<T*>(results);
      for (int64_t j = 0; j < columns; j++) y[j] = O::identity;
      int64_t i = 0;
      for (; i + 8 <= rows; i += 8) {
        ADJOINT_INDEPENDENT
        for (int64_t j = 0; j < columns; j++) y[j] = O::join(y[j], join_eight<O>(x + i * down + j, down, map_for<Map>(centres, j)));
      }
      for (; i < rows; i++)
        ADJOINT_INDEPENDENT
        for (int64_t j = 0; j < columns; j++) y[j] = O::join(y[j], map_for<Map>(centres, j)(x[i * down + j]));
    }
  }
};

template <class S> struct Widened {
  [[gnu::always_inline]] inline float operator()(S x) const { return static_cast<float>(x); }
};
// The same for sums of half types S.
template <class S> struct SumColumnsOfHalves {
  template <int W> [[gnu::always_inline]] static inline void run(const void* halves, int64_t down, int64_t rows, int64_t columns, const void*, void* results) {
    const S* x = static_cast<const S*>(halves);
    float* y = static_cast<float*>(results);
    for (int64_t j = 0; j < columns; j++) y[j] = 0;
    int64_t i = 0;
    for (; i + 8 <= rows; i += 8) add<W, 8>(x + i * down, down, columns, y);
    for (; i < rows; i++) add<W, 1>(x + i * down, down, columns, y);
  }

 private:
  template <int W, int height> [[gnu::always_inline]] static inline void add(const S* x, int64_t down, int64_t columns, float* y) {
    constexpr int64_t lanes = W / 4;
    int64_t j = 0;
    for (; j + lanes <= columns; j += lanes) {
      const S* p = x + j;
      typename Halves<W>::Wide sum = load_vector<W, float>(p), before;
      if constexpr (height == 8) {
        sum = (sum + load_vector<W, float>(p + down)) + (load_vector<W, float>(p + 2 * down) + load_vector<W, float>(p + 3 * down));
        p += 4 * down;
        sum += (load_vector<W, float>(p) + load_vector<W, float>(p + down)) + (load_vector<W, float>(p + 2 * down) + load_vector<W, float>(p + 3 * down));
      }
      std::memcpy(&before, y + j, sizeof before);
      sum += before;
      std::memcpy(y + j, &sum, sizeof sum);
    }
    for (; j < columns; j++) y[j] += height == 1 ? static_cast<float>(x[j]) : join_eight<Sum<float>>(x + j, down, Widened<S>{});
  }
};

template <template <class> class Op, class T> T join_pairwise(const T* x, int64_t n) {
  if (n == 1) return x[0];
  return Op<T>::join(join_pairwise<Op>(x, n / 2), join_pairwise<Op>(x + n / 2, n - n / 2));
}

// The loops of one reduction at the instruction set in use: what plans and shares the work is compiled once, for elements of any type.
struct Loops {
  using Loop = void (*)(const void* x, int64_t down, int64_t n, int64_t m, const void* centres, void* y);
  DType type;  // that they reduce: of x, or float for half types
  Loop rows, columns, results;  // results: the columns of what `columns` gave
  void (*join)(const void* x, int64_t n, void* y);
  bool rounds = false, widens_rows = true, widens_columns = true;
  Loop half_rows[2] = {}, half_columns[2] = {};  // on memory of float16 and bfloat16, if that need not be widened first
  int64_t size() const { return itemsize(type); }
  Loops on(DType stored) const {
    const int k = stored == DType::bfloat16;
    Loops r = *this;
    if (is_half(stored) && half_rows[k]) r.rows = half_rows[k], r.widens_rows = false;
    if (is_half(stored) && half_columns[k]) r.columns = half_columns[k], r.widens_columns = false;
    return r;
  }
};
template <class K> auto loop() { return isa::at_level<K, const void*, int64_t, int64_t, int64_t, const void*, void*>(); }
template <template <class> class Op, class Map, class T> Loops loops() {
  const auto join = [](const void* x, int64_t n, void* y) { *static_cast<T*>(y) = join_pairwise<Op>(static_cast<const T*>(x), n); };
  Loops r{dtype_of<T>(), loop<ReduceRows<Op, Map, T>>(), loop<ReduceColumns<Op, Map, T>>(), loop<ReduceColumns<Op, Same, T>>(), join, Op<T>::rounds};
  if constexpr (std::is_same_v<T, float> && std::is_same_v<Op<T>, Sum<T>> && std::is_same_v<Map, Same>) {
    r.half_rows[0] = loop<ReduceRows<Op, Map, T, Half>>(), r.half_rows[1] = loop<ReduceRows<Op, Map, T, BFloat16>>();
    r.half_columns[0] = loop<SumColumnsOfHalves<Half>>(), r.half_columns[1] = loop<SumColumnsOfHalves<BFloat16>>();
  } else if constexpr (std::is_same_v<T, float> && !Op<T>::rounds && std::is_same_v<Map, Same>) {
    r.half_rows[0] = loop<ReduceRows<Op, Map, T, Half>>(), r.half_rows[1] = loop<ReduceRows<Op, Map, T, BFloat16>>();
  }
  return r;
}

}  // namespace adjoint::cpu
