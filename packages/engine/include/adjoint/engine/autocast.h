// Mixed precision: which operations compute in a half type, and which in float32, while a thread asks for it.
#pragma once
#include <adjoint/core/observer.h>
#include <adjoint/core/one_type.h>
#include <adjoint/engine/mode.h>

#include <string_view>
#include <vector>

namespace adjoint::engine {

enum class Precision : uint8_t { as_is, low, full, widest, refused };

// What holds for an operation, or for all operations inside a function of this name, on a device.
ADJOINT_API Precision precision_of(std::string_view name, DeviceType where) noexcept;

// Stands at the door of a thread while a device type is cast for: gives the results of listed operations on operands of another
// type. A thread that never asks pays nothing, as nobody stands there.
class ADJOINT_API Autocast final : public Observer {
 public:
  static Autocast& here();   // of this thread

  bool enabled(DeviceType d) const noexcept { return autocast_on[index(d)]; }
  void enable(DeviceType d, bool on);
  DType dtype(DeviceType d) const noexcept { return dtype_[index(d)]; }
  void set_dtype(DeviceType d, DType t) noexcept { dtype_[index(d)] = t; }
  bool caches() const noexcept { return caches_; }
  void set_caches(bool on) noexcept { caches_ = on; }
  int nest(int step) noexcept { return nesting_ += step; }
  void forget() noexcept { cache_.clear(); }

  void begin(const Span& s) noexcept override;
  void end(const Span& s, Tensors) override { leave(s); }
  void fail(const Span& s) noexcept override { leave(s); }
  bool supply(const Span& s, Tensor* y) override;

 private:
  static size_t index(DeviceType d) noexcept { return static_cast<size_t>(d); }
  void leave(const Span& s) noexcept { if (function_ == &s) function_ = nullptr; }
  DType target(const Span& s, Precision p, Tensors x, DeviceType where) const noexcept;
  Tensor cast(const Tensor& t, DType to);

  struct Cast { Tensor leaf, value; uint32_t version; };
  DType dtype_[device_types] = {DType::bfloat16, DType::float16};
  bool caches_ = true;
  int nesting_ = 0;
  const Span* function_ = nullptr;   // the listed function that runs, the outermost one
  std::vector<Cast> cache_;          // of parameters: a weight that is used often is cast once
};

}  // namespace adjoint::engine
