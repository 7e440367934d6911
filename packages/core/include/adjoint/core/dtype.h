// Element types, their categories, and promotion between them.
#pragma once
#include <adjoint/core/complex.h>
#include <adjoint/core/error.h>
#include <adjoint/core/half.h>

#include <cstdint>
#include <limits>
#include <ostream>
#include <type_traits>

namespace adjoint {

enum class DType : uint8_t { bool_, uint8, uint16, uint32, uint64, int8, int16, int32, int64, float16, bfloat16, float32, float64, complex64, complex128 };
constexpr int dtype_count = 15;

struct DTypeInfo { const char* name; uint8_t itemsize; uint8_t category; };  // category: 0 bool, 1 integer, 2 floating, 3 complex
inline constexpr DTypeInfo dtype_table[dtype_count] = {
    {"bool", 1, 0},    {"uint8", 1, 1},   {"uint16", 2, 1},  {"uint32", 4, 1},   {"uint64", 8, 1},
    {"int8", 1, 1},    {"int16", 2, 1},   {"int32", 4, 1},   {"int64", 8, 1},    {"float16", 2, 2},
    {"bfloat16", 2, 2}, {"float32", 4, 2}, {"float64", 8, 2}, {"complex64", 8, 3}, {"complex128", 16, 3}};

constexpr const DTypeInfo& info(DType t) { return dtype_table[static_cast<int>(t)]; }
constexpr int64_t itemsize(DType t) { return info(t).itemsize; }
constexpr int category(DType t) { return info(t).category; }
constexpr bool is_complex(DType t) { return category(t) == 3; }
constexpr bool is_floating(DType t) { return category(t) == 2; }
constexpr bool is_integral(DType t) { return category(t) <= 1; }       // bool included
constexpr bool is_differentiable(DType t) { return category(t) >= 2; }
constexpr bool is_half(DType t) { return t == DType::float16 || t == DType::bfloat16; }
inline std::ostream& operator<<(std::ostream& o, DType t) { return o << info(t).name; }

constexpr DType real_of(DType t) { return t == DType::complex64 ? DType::float32 : t == DType::complex128 ? DType::float64 : t; }
constexpr DType complex_of(DType t) { return t == DType::float64 || t == DType::complex128 ? DType::complex128 : DType::complex64; }

ADJOINT_API double largest_number(DType t) noexcept;         // the largest finite one of a floating or complex type
ADJOINT_API DType promote(DType a, DType b) noexcept;
ADJOINT_API DType default_dtype() noexcept;
ADJOINT_API void set_default_dtype(DType t);

// C++ type of a DType and back.
template <class T> struct TypeTag { using type = T; };
template <class T> constexpr DType dtype_of() {
  if constexpr (std::is_same_v<T, bool>) return DType::bool_;
  else if constexpr (std::is_same_v<T, uint8_t>) return DType::uint8;
  else if constexpr (std::is_same_v<T, uint16_t>) return DType::uint16;
  else if constexpr (std::is_same_v<T, uint32_t>) return DType::uint32;
  else if constexpr (std::is_same_v<T, uint64_t>) return DType::uint64;
  else if constexpr (std::is_same_v<T, int8_t>) return DType::int8;
  else if constexpr (std::is_same_v<T, int16_t>) return DType::int16;
  else if constexpr (std::is_same_v<T, int32_t>) return DType::int32;
  else if constexpr (std::is_same_v<T, int64_t>) return DType::int64;
  else if constexpr (std::is_same_v<T, Half>) return DType::float16;
  else if constexpr (std::is_same_v<T, BFloat16>) return DType::bfloat16;
  else if constexpr (std::is_same_v<T, float>) return DType::float32;
  else if constexpr (std::is_same_v<T, double>) return DType::float64;
  else if constexpr (std::is_same_v<T, Complex<float>>) return DType::complex64;
  else if constexpr (std::is_same_v<T, Complex<double>>) return DType::complex128;
}

// Calls f(TypeTag<T>{}) with the C++ type of `t`.
template <class F> decltype(auto) with_type(DType t, F&& f) {
  switch (t) {
    case DType::bool_: return f(TypeTag<bool>{});
    case DType::uint8: return f(TypeTag<uint8_t>{});
    case DType::uint16: return f(TypeTag<uint16_t>{});
    case DType::uint32: return f(TypeTag<uint32_t>{});
    case DType::uint64: return f(TypeTag<uint64_t>{});
    case DType::int8: return f(TypeTag<int8_t>{});
    case DType::int16: return f(TypeTag<int16_t>{});
    case DType::int32: return f(TypeTag<int32_t>{});
    case DType::int64: return f(TypeTag<int64_t>{});
    case DType::float16: return f(TypeTag<Half>{});
    case DType::bfloat16: return f(TypeTag<BFloat16>{});
    case DType::float32: return f(TypeTag<float>{});
    case DType::float64: return f(TypeTag<double>{});
    case DType::complex64: return f(TypeTag<Complex<float>>{});
    case DType::complex128: return f(TypeTag<Complex<double>>{});
  }
  __builtin_unreachable();
}

// Calls f with a 0 of as many bytes as an element has, 1 to 16: copies need no more of its type than that.
struct Sixteen { uint64_t low, high; };
template <class F> decltype(auto) with_bytes(int64_t size, F&& f) {
  switch (size) {
    case 1: return f(uint8_t{});
    case 2: return f(uint16_t{});
    case 4: return f(uint32_t{});
    case 8: return f(uint64_t{});
    default: return f(Sixteen{});
  }
}

// The type that arithmetic on T is done in: half types compute in float.
template <class T> struct ComputeType { using type = T; };
template <> struct ComputeType<Half> { using type = float; };
template <> struct ComputeType<BFloat16> { using type = float; };
template <class T> using compute_t = typename ComputeType<T>::type;

// Conversion between any two element types (complex to real takes the real part).
template <class To, class From> inline To convert(From v) {
  if constexpr (std::is_same_v<To, From>) return v;
  else if constexpr (is_complex_v<From>) {
    if constexpr (is_complex_v<To>) return To{static_cast<decltype(To::re)>(v.re), static_cast<decltype(To::re)>(v.im)};
    else if constexpr (std::is_same_v<To, bool>) return v.re != 0 || v.im != 0;
    else return convert<To>(v.re);
  } else if constexpr (is_complex_v<To>) return To{convert<decltype(To::re)>(v), 0};
  else if constexpr (std::is_same_v<From, Half> || std::is_same_v<From, BFloat16>) return convert<To>(static_cast<float>(v));
  else if constexpr (std::is_same_v<To, Half> || std::is_same_v<To, BFloat16>) return To(static_cast<float>(v));
  else if constexpr (std::is_same_v<To, bool>) return v != From(0);
  else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    // Out-of-range values, and NaN, become what PyTorch's do on x86 instead of being undefined: the least number, cut to the bytes there are.
    using Whole = std::conditional_t<sizeof(To) == 8 || std::is_same_v<To, uint8_t> || std::is_same_v<To, uint32_t>, int64_t, int32_t>;
    constexpr From limit = sizeof(Whole) == 8 ? From(0x1p63) : From(0x1p31);
    return static_cast<To>(v >= -limit && v < limit ? static_cast<Whole>(v) : std::numeric_limits<Whole>::min());
  } else return static_cast<To>(v);
}

}  // namespace adjoint
