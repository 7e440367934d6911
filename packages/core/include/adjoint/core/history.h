// Whether the engine keeps a history: derivatives that leave out what a second derivative would need ask before they do.
#pragma once
#include <adjoint/core/export.h>

namespace adjoint {

ADJOINT_API extern bool (*engine_keeps_history)();   // null where core stands alone
inline bool history_is_kept() { return engine_keeps_history && engine_keeps_history(); }

}  // namespace adjoint
