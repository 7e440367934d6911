// Promotion between two element types and the default floating type.
#include <adjoint/core/dtype.h>

#include <atomic>
#include <limits>

namespace adjoint {

namespace {
std::atomic<DType> default_type{DType::float32};

DType promote_integers(DType a, DType b) {
  const bool unsigned_a = a >= DType::uint8 && a <= DType::uint64, unsigned_b = b >= DType::uint8 && b <= DType::uint64;
  if (unsigned_a == unsigned_b) return itemsize(a) >= itemsize(b) ? a : b;
  const DType u = unsigned_a ? a : b, s = unsigned_a ? b : a;
  if (itemsize(s) > itemsize(u)) return s;
  // The smallest signed type that holds both; uint64 has none and stays with int64, as NumPy's rule without a float result.
  return itemsize(u) == 1 ? DType::int16 : itemsize(u) == 2 ? DType::int32 : DType::int64;
}
}  // namespace

DType promote(DType a, DType b) noexcept {
  if (a == b) return a;
  if (category(a) < category(b)) std::swap(a, b);
  if (category(a) == 3) return category(b) == 3 || b == DType::float64 ? DType::complex128 : a;
  if (category(a) != category(b)) return a;
  if (category(a) == 1) return promote_integers(a, b);
  if (is_half(a) && is_half(b)) return DType::float32;  // float16 with bfloat16
  return a > b ? a : b;
}

double largest_number(DType t) noexcept {
  switch (real_of(t)) {
    case DType::float16: return 65504;
    case DType::bfloat16: return 0x1.fep127;
    case DType::float32: return std::numeric_limits<float>::max();
    default: return std::numeric_limits<double>::max();
  }
}

DType default_dtype() noexcept { return default_type.load(std::memory_order_relaxed); }
void set_default_dtype(DType t) {
  expect(is_floating(t), ErrorKind::type, "set_default_dtype: only floating-point types are supported as the default type, got ", t);
  default_type.store(t, std::memory_order_relaxed);
}

}  // namespace adjoint
