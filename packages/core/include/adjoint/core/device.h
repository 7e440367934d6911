// Where memory lives.
#pragma once
#include <cstdint>
#include <ostream>

namespace adjoint {

enum class DeviceType : uint8_t { cpu, cuda, meta };   // meta: no memory at all; sizes, types and strides are worked out, and nothing else
constexpr int device_types = 3;

struct Device {   // index -1: the current one, until memory is made there
  DeviceType type = DeviceType::cpu;
  int8_t index = 0;
  bool operator==(const Device&) const = default;
};
inline std::ostream& operator<<(std::ostream& o, Device d) {
  if (d.type != DeviceType::cuda) return o << (d.type == DeviceType::cpu ? "cpu" : "meta");
  return d.index < 0 ? o << "cuda" : o << "cuda:" << static_cast<int>(d.index);
}

}  // namespace adjoint
