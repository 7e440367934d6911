#include <adjoint/core/error.h>

namespace adjoint::detail {

void raise_parts(ErrorKind kind, const Part* parts, size_t count) {
  std::ostringstream text;
  for (size_t i = 0; i < count; i++) parts[i].print(text, parts[i].value);
  throw Error(kind, text.str());
}

}  // namespace adjoint::detail
