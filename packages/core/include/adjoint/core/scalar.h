// A Python number on its way into an op: bool, int (one of uint64 from 2^63 on), float or complex.
#pragma once
#include <adjoint/core/dtype.h>
#include <adjoint/core/export.h>

namespace adjoint {

class Scalar {
 public:
  Scalar(bool v) : type_(DType::bool_), i_(v) {}
  Scalar(int v) : type_(DType::int64), i_(v) {}
  Scalar(int64_t v) : type_(DType::int64), i_(v) {}
  Scalar(uint64_t v) : type_(DType::uint64), i_(static_cast<int64_t>(v)) {}
  Scalar(double v) : type_(DType::float64), re_(v) {}
  Scalar(Complex<double> v) : type_(DType::complex128), re_(v.re), im_(v.im) {}

  DType dtype() const noexcept { return type_; }
  bool is_zero() const noexcept { return is_integral(type_) ? i_ == 0 : re_ == 0 && im_ == 0; }
  template <class T> T to() const {
    if (type_ == DType::uint64) return convert<T>(static_cast<uint64_t>(i_));
    if (is_integral(type_)) return convert<T>(i_);
    if (type_ == DType::float64) return convert<T>(re_);
    return convert<T>(Complex<double>{re_, im_});
  }

 private:
  DType type_;
  int64_t i_ = 0;
  double re_ = 0, im_ = 0;
};

// A number as an element of a tensor lies in memory.
struct Element {
  ADJOINT_API Element(const Scalar& value, DType dtype);
  alignas(Complex<double>) char bytes[sizeof(Complex<double>)];
};

}  // namespace adjoint
