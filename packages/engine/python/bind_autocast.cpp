// Mixed precision of the thread, for `amp`.
#include <adjoint/engine/autocast.h>

#include <algorithm>

#include "callable.h"

namespace adjoint::engine::python {

namespace {

// Without a device type: "cuda", as PyTorch's oldest functions mean it.
DeviceType device_type(const std::string& name) {
  if (name == "cpu") return DeviceType::cpu;
  expect(name == "cuda", "autocast: device type 'cpu' or 'cuda' expected, got '", name, "'");
  return DeviceType::cuda;
}

// Those that PyTorch has mixed precision for, of which there are none here: never enabled.
bool is_absent(std::string_view name) {
  constexpr std::string_view absent[] = {"hpu", "ipu", "maia", "mps", "mtia", "privateuseone", "xla", "xpu"};
  return std::ranges::find(absent, name) != std::end(absent);
}

}  // namespace

void bind_autocast(nb::module_& m) {
  using namespace nb::literals;
  m.def("is_autocast_enabled", [](const std::string& d) { return !is_absent(d) && Autocast::here().enabled(device_type(d)); }, "device_type"_a = "cuda");
  m.def("set_autocast_enabled", [](const std::string& d, bool on) { Autocast::here().enable(device_type(d), on); }, "device_type"_a, "enabled"_a);
  m.def("get_autocast_dtype", [](const std::string& d) { return Autocast::here().dtype(device_type(d)); }, "device_type"_a);
  m.def("set_autocast_dtype", [](const std::string& d, DType t) { Autocast::here().set_dtype(device_type(d), t); }, "device_type"_a, "dtype"_a);
  m.def("is_autocast_cache_enabled", [] { return Autocast::here().caches(); });
  m.def("set_autocast_cache_enabled", [](bool on) { Autocast::here().set_caches(on); }, "enabled"_a);
  m.def("autocast_increment_nesting", [] { return Autocast::here().nest(1); });
  m.def("autocast_decrement_nesting", [] { return Autocast::here().nest(-1); });
  m.def("clear_autocast_cache", [] { Autocast::here().forget(); });
}

}  // namespace adjoint::engine::python
