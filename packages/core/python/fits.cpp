#include "fits.h"

#include <cmath>
#include <limits>

namespace adjoint::python {

namespace {

constexpr const char* type_names[dtype_count] = {"bool", "uint8_t", "uint16_t", "uint32_t", "uint64_t", "int8_t", "int16_t", "int", "int64_t", "c10::Half", "c10::BFloat16", "float", "double",
                                                 "c10::complex<float>", "c10::complex<double>"};

bool floating_fits(double v, DType t) { return !std::isfinite(v) || std::abs(v) <= largest_number(t); }

template <class T> bool whole_fits(const Scalar& value) {
  using Limits = std::numeric_limits<T>;
  if (!is_integral(value.dtype())) {
    const double v = value.to<double>();
    return v >= static_cast<double>(Limits::lowest()) && v <= static_cast<double>(Limits::max());
  }
  if (value.dtype() == DType::uint64) return value.to<uint64_t>() <= static_cast<uint64_t>(Limits::max());
  const int64_t v = value.to<int64_t>();
  if constexpr (std::is_signed_v<T>) return v >= Limits::lowest() && v <= Limits::max();
  else return (v < 0 ? 0 - static_cast<uint64_t>(v) : static_cast<uint64_t>(v)) <= Limits::max();
}

}  // namespace

bool fits(const Scalar& value, DType t) {
  if (t == DType::bool_) return true;
  const auto z = value.to<Complex<double>>();
  if (is_complex(t)) return floating_fits(z.re, t) && floating_fits(z.im, t);
  if (is_complex(value.dtype()) && z.im != 0) return false;
  if (is_floating(t)) return floating_fits(z.re, t);
  return with_type(t, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (std::is_integral_v<T>) return whole_fits<T>(is_complex(value.dtype()) ? Scalar(z.re) : value);
    else return true;
  });
}

void expect_fits(const Scalar& value, DType t) {
  expect(fits(value, t), "value cannot be converted to type ", type_names[static_cast<int>(t)], " without overflow");
}

Scalar factor(const Scalar& value, DType t) {
  expect_fits(value, t);
  if (t == DType::bool_) return value.to<bool>();
  if (t == DType::uint64) return value.to<uint64_t>();
  if (is_integral(t)) return value.to<int64_t>();
  return is_complex(value.dtype()) && !is_complex(t) ? Scalar(value.to<double>()) : value;
}

Scalar factor_of_kind(const char* name, const Scalar& value, DType t) {
  expect(value.dtype() != DType::bool_ || t == DType::bool_, "Boolean ", name, " only supported for Boolean results.");
  expect(is_differentiable(t) || is_integral(value.dtype()), "For integral input tensors, argument ", name, " must not be a floating point number.");
  return factor(value, t);
}

void expect_number_fits(const Tensor& operand, DType t) {
  if (operand->flags & flag_wrapped && operand->storage) expect_fits(item(operand), t);
}

void expect_element_fits(const Scalar& value, DType t) {
  if (t == DType::bool_ || is_complex(t)) return;
  const bool floating = is_floating(t);
  if (is_complex(value.dtype())) fail(ErrorKind::type, floating ? "must be real number, not complex" : "'complex' object cannot be interpreted as an integer");
  expect(t != DType::uint64 || is_integral(value.dtype()), ErrorKind::type, "an integer is required");
  expect(t != DType::uint64 || value.dtype() == DType::uint64 || value.to<int64_t>() >= 0, "can't convert negative int to unsigned");
  expect(floating || fits(value, t), value.dtype() == DType::uint64 ? ErrorKind::value : ErrorKind::runtime, "value cannot be converted to type ", t, " without overflow");
}

}  // namespace adjoint::python
