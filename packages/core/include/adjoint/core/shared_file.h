// Memory that several processes map: a file without a name, which the system frees when its last user ends, in whatever way.
#pragma once
#include <adjoint/core/storage.h>

namespace adjoint {

ADJOINT_API Storage* make_shared_file(size_t nbytes);                 // zeros
ADJOINT_API Storage* map_shared_file(int descriptor, size_t nbytes);  // of another process; takes the descriptor over
ADJOINT_API int shared_file(const Storage* s) noexcept;               // its descriptor; -1 for other memory

}  // namespace adjoint
