// Orthogonal polynomials: the recurrence of a whole tile at a time, up to its largest degree.
#include <adjoint/core/functors/special.h>

#include "elementwise.h"

namespace adjoint::cpu {

namespace {

template <class T> struct Steps {
  static constexpr bool narrow = true;
  // y = p of degree n at x, for up to tile_size elements.
  template <int W> [[gnu::always_inline]] static inline void run(T* y, const T* x, const T* n, const Polynomials* of, int64_t count) {
    T p[tile_size], before[tile_size], degree[tile_size], result[tile_size];
    math::Bits<T> largest = 0;  // as bits: the order of numbers that are not negative
    for (int64_t i = 0; i < count; i++) {
      p[i] = 1;
      before[i] = 0;
      degree[i] = functors::valid_degree(n[i]);
      result[i] = degree[i] > -1 ? T(1) : T(0);
      const auto bits = math::to_bits(degree[i]);
      largest = bits > largest ? bits : largest;
    }
    const T last = math::from_bits(largest);
    for (int64_t k = 0; last >= static_cast<T>(k + 1); k++) {
      const auto [wide_a, wide_b, wide_c] = functors::recurrence(*of, k);
      const T a = static_cast<T>(wide_a), b = static_cast<T>(wide_b), c = static_cast<T>(wide_c), reached = static_cast<T>(k + 1);
      ADJOINT_INDEPENDENT
      for (int64_t i = 0; i < count; i++) {
        const T next = (a * x[i] + b) * p[i] - c * before[i];
        before[i] = p[i];
        p[i] = next;
        result[i] = degree[i] >= reached ? next : result[i];
      }
    }
    __builtin_memcpy(y, result, static_cast<size_t>(count) * sizeof(T));
  }
};
template <class T> void polynomial_loop(char* y, const char* const* x, const void* of, int64_t n) {
  for (int64_t i = 0; i < n; i += tile_size) {
    const int64_t at = i * static_cast<int64_t>(sizeof(T));
    isa::call<Steps<T>, T*, const T*, const T*, const Polynomials*, int64_t>(
        reinterpret_cast<T*>(y + at), reinterpret_cast<const T*>(x[0] + at), reinterpret_cast<const T*>(x[1] + at), static_cast<const Polynomials*>(of), std::min(tile_size, n - i));
  }
}
void polynomial_kernel(const Launch& l) {
  const DType type = operand_type(l);
  const Loop loop = type == DType::float32 || is_half(type) ? polynomial_loop<float> : type == DType::float64 ? polynomial_loop<double> : Loop();
  run_functor(l, {loop}, &l.attrs.as<Polynomials>(), grain_of(Cost::series));
}

constexpr Entry entries[] = {{"orthogonal_polynomial", polynomial_kernel}};

}  // namespace

Entries polynomial_kernels() { return entries; }

}  // namespace adjoint::cpu
