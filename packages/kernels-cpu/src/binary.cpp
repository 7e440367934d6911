// Elementwise functions of two and three operands, and selection by a mask.
#include <adjoint/core/functors/binary.h>
#include <adjoint/core/functors/complex.h>
#include <adjoint/core/functors/special.h>
#include <adjoint/core/functors/unary.h>

#include <vector>

#include "by_bits.h"
#include "complex_functions.h"
#include "compilers.h"
#include "elementwise.h"

namespace adjoint::cpu {

using namespace functors;

template <> constexpr bool is_arithmetic<Add> = true;
template <> constexpr bool is_arithmetic<Sub> = true;
template <> constexpr bool is_arithmetic<Mul> = true;
template <> constexpr bool is_arithmetic<Div> = true;

// Of halves and a number, which is not one.
template <class F, bool second> struct Beside {
  float number;
  float operator()(float x) const { return second ? F{}(x, number) : F{}(number, x); }
};
template <class F, bool second> constexpr bool is_arithmetic<Beside<F, second>> = true;

template <> struct Moderate<Fmod, float> {
  static constexpr bool exists = true;
  [[gnu::always_inline]] static inline bool hard(float x, float y) { return math::is_large_quotient(x, y); }
  struct Form { float operator()(float x, float y) const { return math::fmod_moderate(x, y); } };
};
// Of doubles: the product is subtracted before it is rounded, which is exact while the quotient is below 2^50.
[[gnu::always_inline]] inline double fmod_by_quotient(double x, double y) {
  const double a = math::abs(x), b = math::abs(y), quotient = a / b;
  const double nearest = (quotient + 0x1p52) - 0x1p52, whole = nearest > quotient ? nearest - 1 : nearest;
  const double r = __builtin_fma(-whole, b, a);
  return std::copysign(r < 0 ? r + b : r, x);
}
template <> struct Moderate<Fmod, double> {
  static constexpr bool exists = true;
  [[gnu::always_inline]] static inline bool hard(double x, double y) { return !((math::abs(x) < 0x1p50 * math::abs(y)) & (math::abs(y) < math::infinity<double>)); }
  struct Form { double operator()(double x, double y) const { return fmod_by_quotient(x, y); } };
};
template <> struct Moderate<Remainder, double> : Moderate<Fmod, double> {
  struct Form { double operator()(double x, double y) const { return math::detail::signed_remainder(y, fmod_by_quotient(x, y)); } };
};
template <> struct Moderate<FloorDivide, double> : Moderate<Fmod, double> {
  struct Form { double operator()(double x, double y) const { return math::detail::floor_quotient(x, y, fmod_by_quotient(x, y)); } };
};
template <> struct Moderate<Remainder, float> : Moderate<Fmod, float> {
  struct Form { float operator()(float x, float y) const { return math::remainder_moderate(x, y); } };
};
template <> struct Moderate<FloorDivide, float> : Moderate<Fmod, float> {
  struct Form { float operator()(float x, float y) const { return math::floor_divide_moderate(x, y); } };
};
// Of whole numbers below 2^51, by a division of doubles: a quotient next to a whole number is 2^-51 of it away at least, which rounding keeps.
// What is larger is left to the exact functor, and so is 0, which it refuses. Numbers become doubles, and back, in the mantissa of 2^52 and a half.
template <class F> concept WholeDivision = std::is_same_v<F, FloorDivide> || std::is_same_v<F, TruncDivide> || std::is_same_v<F, Remainder> || std::is_same_v<F, Fmod>;
constexpr double whole_magic = 0x1.8p52;
constexpr int64_t whole_bits = 0x4338000000000000;
template <class F, std::integral T> requires WholeDivision<F> struct Moderate<F, T> {
  static constexpr bool exists = true;
  [[gnu::always_inline]] static inline bool hard(T x, T y) {
    if constexpr (sizeof(T) < 8) return y == 0;
    constexpr int64_t limit = int64_t(1) << 51;
    return (x >= limit) | (x <= -limit) | (y >= limit) | (y <= -limit) | (y == 0);
  }
  struct Form {
    T operator()(T x, T y) const {
      constexpr bool floors = std::is_same_v<F, FloorDivide> || std::is_same_v<F, Remainder>;
      const double a = number(x), b = number(y), quotient = a / b, size = floors ? quotient : math::abs(quotient);
      const double nearest = (size + whole_magic) - whole_magic, below = nearest > size ? nearest - 1 : nearest;
      const double whole = floors ? below : std::copysign(below, quotient);
      constexpr bool divides = std::is_same_v<F, FloorDivide> || std::is_same_v<F, TruncDivide>;
      return static_cast<T>(math::to_bits((divides ? whole : a - math::rounded(whole * b)) + whole_magic) - whole_bits);
    }
   private:
    [[gnu::always_inline]] static inline double number(T x) {
      if constexpr (sizeof(T) < 8) return static_cast<double>(x);
      else return math::from_bits(static_cast<int64_t>(x + whole_bits)) - whole_magic;
    }
  };
};
template <> struct Moderate<Zeta, float> {
  static constexpr bool exists = true, narrow = true;   // far ahead without a copy for the widest vectors
  [[gnu::always_inline]] static inline bool hard(float s, float q) { return math::is_hard_for_zeta(s, q); }
  struct Form { float operator()(float s, float q) const { return math::zeta_moderate(s, q); } };
};

namespace {

constexpr Cost cheap = Cost::cheap;

// Rounded once: floats in double, doubles with what the two products lost.
struct Cube {
  static constexpr bool narrow = true;
  float operator()(float x) const { return static_cast<float>(static_cast<double>(x) * x * x); }
  double operator()(double x) const {
    const double square = x * x, lost = __builtin_fma(x, x, -square), cube = square * x;
    const double rest = __builtin_fma(square, x, -cube) + lost * x;
    return math::abs(rest) < math::abs(cube) ? cube + rest : cube;  // not of infinities, nor of zeros, which have a sign
  }
  template <class T> requires is_complex_v<T> T operator()(T z) const { return z * z * z; }
};

template <class F, bool second> void beside_number(const Launch& l) {
  const Beside<F, second> f{*l.x[second].as<float>()};
  const bool half = l.y[0].dtype == DType::float16;
  run_functor({l.x.subspan(!second, 1), l.y, l.attrs, l.op, l.flat}, half ? typed<Beside<F, second>, 1, cheap, Half>() : typed<Beside<F, second>, 1, cheap, BFloat16>(), &f, grain_of(cheap));
}
// A number beside halves is of another type than they are.
template <class F, Kernel otherwise> void scale_kernel(const Launch& l) {
  if (is_half(l.y[0].dtype) && l.x[1].dtype != l.x[0].dtype) return l.x[1].dtype == DType::float32 ? beside_number<F, true>(l) : beside_number<F, false>(l);
  otherwise(l);
}

// Whole numbers: as many squares as the largest exponent of a tile has bits; products wrap. The same as math::pow.
template <class T> struct WholePower {
  template <int W> [[gnu::always_inline]] static inline void run(char* to, const char* const* operands, const void*, int64_t n) {
    using U = std::make_unsigned_t<T>;
    T* const y = reinterpret_cast<T*>(to);
    for (int64_t at = 0; at < n; at += tile_size) {
      const T *x = reinterpret_cast<const T*>(operands[0]) + at, *exponent = reinterpret_cast<const T*>(operands[1]) + at;
      const int64_t m = n - at < tile_size ? n - at : tile_size;
      alignas(W) U base[tile_size], power[tile_size], left[tile_size];
      U any = 0;
      for (int64_t i = 0; i < m; i++) {
        base[i] = static_cast<U>(x[i]), left[i] = static_cast<U>(exponent[i] < 0 ? 0 : exponent[i]), any |= left[i];
        // An exponent below 0 leaves 1 and -1 to a power, else 0.
        const U sign = exponent[i] & 1 ? base[i] : U(1), inverse = (x[i] == 1) | (x[i] == -1) ? sign : U(0);
        power[i] = exponent[i] < 0 ? inverse : U(1);
      }
      for (; any; any >>= 1)
        for (int64_t i = 0; i < m; i++) {
          power[i] *= left[i] & 1 ? base[i] : U(1);
          base[i] *= base[i], left[i] >>= 1;
        }
      for (int64_t i = 0; i < m; i++) y[at + i] = static_cast<T>(power[i]);
    }
  }
};
template <class T> void whole_power(const Launch& l) {
  run_functor(l, {isa::at_level<WholePower<T>, char*, const char* const*, const void*, int64_t>()}, nullptr, grain_of(Cost::series));
}

// An exponent of 2 or 3 for all elements is a product; those of complex numbers that are exact have loops of their own.
void pow_kernel(const Launch& l) {
  const View& exponent = l.x[1];
  bool one_value = exponent.numel > 0 && !is_integral(exponent.dtype);
  for (int i = 0; i < exponent.ndim; i++) one_value = one_value && (exponent.strides[i] == 0 || exponent.sizes[i] == 1);
  const Launch base{l.x.first(1), l.y, l.attrs, l.op};
  auto is = [&](double n) {
    return one_value && with_type(exponent.dtype, [&](auto tag) {
      using T = typename decltype(tag)::type;
      return *exponent.as<T>() == convert<T>(n);
    });
  };
  if (is_complex(exponent.dtype)) {
    if (is(.5)) return kernel<Sqrt, 1>(base);
    if (is(-.5)) return kernel<Rsqrt, 1>(base);
    if (is(-1)) return kernel<Reciprocal, 1, cheap>(base);
  }
  if (l.y[0].dtype == DType::int64) return whole_power<int64_t>(l);
  if (l.y[0].dtype == DType::int32) return whole_power<int32_t>(l);
  if (is(2)) return kernel<Square, 1, cheap>(base);
  if (is(3)) return kernel_for<Cube, 1, cheap, float, double, Half, BFloat16, Complex<float>, Complex<double>>(base);
  kernel<Pow, 2>(l);
}

}  // namespace

void power(const View& y, double exponent) {
  const std::vector<int64_t> still(static_cast<size_t>(y.ndim));
  float narrow = static_cast<float>(exponent);
  char* const value = y.dtype == DType::float32 ? reinterpret_cast<char*>(&narrow) : reinterpret_cast<char*>(&exponent);
  const View x[] = {y, {value, y.sizes, still.data(), y.ndim, y.dtype, y.numel}};
  kernel<Pow, 2>({x, {&y, 1}, {}, "pow"});
}

namespace {

// The same values as functors::Clamp, in an order that leaves the compiler no branches to find.
struct PlainClamp {
  template <Number T> requires Ordered<T> T operator()(T x, T low, T high) const {
    const T a = low >= x ? low : x, b = high <= a ? high : a;
    return is_nan(low) | is_nan(high) ? low + high : b;
  }
};

// ---- selection: the mask is a byte, the rest any type of a size

template <class U> struct Select {
  template <int W> [[gnu::always_inline]] static inline void run(char* to, const char* const* x, const void*, int64_t n) {
    U* y = reinterpret_cast<U*>(to);
    const uint8_t* mask = reinterpret_cast<const uint8_t*>(x[0]);
    const U *a = reinterpret_cast<const U*>(x[1]), *b = reinterpret_cast<const U*>(x[2]);
    ADJOINT_INDEPENDENT
    for (int64_t i = 0; i < n; i++) y[i] = mask[i] ? a[i] : b[i];
  }
};
template <class U> void select_sized(const View& y, std::span<const View> x) {
  const Format in = plain_input(sizeof(U));
  const Loop loop = isa::at_level<Select<U>, char*, const char* const*, const void*, int64_t>();
  run({loop, nullptr, grain_of(cheap), plain_output(sizeof(U)), {plain_input(1), in, in}}, y, x);
}
void select(const View& y, std::span<const View> x) {
  with_bytes(itemsize(y.dtype), [&](auto zero) { select_sized<decltype(zero)>(y, x); });
}
void where_kernel(const Launch& l) { select(l.y[0], l.x); }
void masked_fill_kernel(const Launch& l) {
  const View x[] = {l.x[1], l.x[2], l.x[0]};
  select(l.y[0], x);
}

struct SignOf {
  static constexpr bool narrow = true;
  template <std::unsigned_integral T> T operator()(T x, T y) const {
    constexpr T sign = static_cast<T>(T(1) << (8 * sizeof(T) - 1));
    return static_cast<T>((x & ~sign) | (y & sign));
  }
};
void copysign_kernel(const Launch& l) {
  View y = l.y[0];
  if (!is_floating(y.dtype)) return reference(l);
  const int64_t size = itemsize(y.dtype);
  y.dtype = size == 2 ? DType::uint16 : size == 4 ? DType::uint32 : DType::uint64;
  run_bits<SignOf, 2, uint16_t, uint32_t, uint64_t>(l, y, SignOf{});
}

template <class I> void nextafter_sized(const Launch& l) {
  const NextAfter<I> f{static_cast<I>(l.attrs.as<Order>().n)};
  using Body = Functor<NextAfter<I>, I, cheap, std::make_index_sequence<2>>;
  const Format in = plain_input(sizeof(I));
  run({isa::at_level<Body, char*, const char* const*, const void*, int64_t>(), &f, grain_of(cheap), plain_output(sizeof(I)), {in, in}}, l.y[0], l.x);
}
void nextafter_kernel(const Launch& l) {
  switch (itemsize(l.y[0].dtype)) {
    case 2: return nextafter_sized<int16_t>(l);
    case 4: return nextafter_sized<int32_t>(l);
    default: return nextafter_sized<int64_t>(l);
  }
}

constexpr Entry entries[] = {
    {"add", kernel_all_widths<Add, 2>},
    {"addcdiv", kernel<Addcdiv, 3, cheap>},
    {"addcmul", kernel<Addcmul, 3, cheap>},
    {"affine", kernel<Addcmul, 3, cheap>},
    {"atan2", kernel<Atan2, 2>},
    {"clamp", kernel<PlainClamp, 3, cheap>},
    {"clamp_max", kernel<Minimum, 2, cheap>},
    {"clamp_min", kernel<Maximum, 2, cheap>},
    {"complex", kernel<MakeComplex, 2, cheap>},
    {"copysign", copysign_kernel, true},
    {"div", scale_kernel<Div, kernel<Div, 2, cheap>>},
    {"floor_divide", kernel_for<FloorDivide, 2, Cost::series, float, double, Half, BFloat16, int32_t, int64_t>},
    {"fmax", kernel<Fmax, 2, cheap>},
    {"fmin", kernel<Fmin, 2, cheap>},
    {"fmod", kernel_for<Fmod, 2, Cost::series, float, double, Half, BFloat16, int32_t, int64_t>},
    {"heaviside", kernel<Heaviside, 2, cheap>},
    {"hypot", kernel<Hypot, 2, cheap>},
    {"igamma", igamma_kernel},
    {"igammac", igammac_kernel},
    {"lerp", kernel<Lerp, 3, cheap>},
    {"logaddexp", kernel<LogAddExp, 2>},
    {"logaddexp2", kernel_for<LogAddExp2, 2, Cost::series, float, double, Half, BFloat16>},
    {"masked_fill", masked_fill_kernel},
    {"maximum", kernel<Maximum, 2, cheap>},
    {"minimum", kernel<Minimum, 2, cheap>},
    {"mul", scale_kernel<Mul, kernel_all_widths<Mul, 2>>},
    {"nextafter", nextafter_kernel, true},
    {"pow", pow_kernel},
    {"remainder", kernel_for<Remainder, 2, Cost::series, float, double, Half, BFloat16, int32_t, int64_t>},
    {"sub", kernel_all_widths<Sub, 2>},
    {"trunc_divide", kernel_for<TruncDivide, 2, cheap, float, double, Half, BFloat16, int32_t, int64_t>},
    {"where", where_kernel},
    {"xlogy", kernel<Xlogy, 2>},
    {"zeta", kernel_for<Zeta, 2, Cost::series, float, Half, BFloat16>},
};

}  // namespace

Entries binary_kernels() { return entries; }

}  // namespace adjoint::cpu
