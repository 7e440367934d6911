// Where memory lives.
#pragma once
#include <cstdint>
#include <ostream>

namespace adjoint {

enum class DeviceType : uint8_t { cpu, cuda };
constexpr int device_types = 2;

struct Device {
  DeviceType type = DeviceType::cpu;
  int8_t index = 0;
  bool operator==(const Device&) const = default;
};
inline std::ostream& operator<<(std::ostream& o, Device d) {
  return d.type == DeviceType::cpu ? o << "cpu" : o << "cuda:" << static_cast<int>(d.index);
}

}  // namespace adjoint
