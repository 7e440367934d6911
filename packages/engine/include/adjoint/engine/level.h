// Levels: forward mode, vmap and functional tapes. A lifted tensor is a face: (level, value one level down, tangent or batch dimension).
#pragma once
#include <adjoint/core/ops.h>

#include <atomic>

namespace adjoint::engine {

enum class LevelKind : uint8_t { tape, dual, batch };
enum class Randomness : uint8_t { same, different, error };   // of the lanes of a batch

// Slots are immortal and reused; a serial only grows, so the deeper level has the larger one. Leaving zeroes it,
// and with it every face that is tagged with the level is dead.
struct Slot {
  std::atomic<uint32_t> serial{0};
  uint32_t floor = 0;          // histories of faces at or above it show through this level
  LevelKind kind{};
  bool strict = false;         // functional transforms: outer tensors may not be written to
  bool inference = false;      // the mode outside, restored on leaving: what a tape records is no inference
  Randomness randomness{};
  int64_t batch = 0;
  uint32_t lo = 0, hi = 0;     // the recording window outside, restored on leaving
  uint32_t entry = 0;          // the lower end of the window inside
};

struct Face final : Object {
  Slot* slot;
  uint32_t level;
  Tensor value, tangent;       // tangent: dual levels only; absent means zero
  int batch_dim = -1;
  bool owns_tangent = false;   // nobody else sees the tangent's memory: it may be written in place
  bool viewed = false;
  void visit_refs(RefVisitor& v) const override;
};

// Views that must not be written to while recording.
enum class Creation : uint8_t { normal, no_grad, inference, several, custom };

// How a view was made, so that it can be made again when its base gets another history or level.
struct ViewInfo final : Object {
  Tensor parent;
  TensorImpl* root;            // the tensor that is no view: the parents keep it
  const Op* op;
  Attrs attrs;
  uint32_t form = 0;           // of the parent, when it was made
  uint32_t seen = 0;           // the root's epoch when it was last made
  bool recorded = true;        // made under no_grad: it never takes part in its base's history
  Creation creation = Creation::normal;
  void visit_refs(RefVisitor& v) const override;
  void destroy() override { destroy_in_turn(); }   // a view of a view of a view
};

const char* why_not(Creation c);   // null: it may be written to

inline Face* face(const Tensor& t) { return static_cast<Face*>(t->face.get()); }
inline ViewInfo* view_info(const TensorImpl& t) { return static_cast<ViewInfo*>(t.view.get()); }
inline uint32_t level(const Tensor& t) { return t->keys & key_lifted ? face(t)->level : 0; }
// The memory under all faces.
inline const TensorImpl& memory_of(const TensorImpl& t) {
  const TensorImpl* p = &t;
  while (p->keys & key_lifted) p = static_cast<Face*>(p->face.get())->value.get();
  return *p;
}
inline bool at(const Tensor& t, const Slot* s) { return t->keys & key_lifted && face(t)->slot == s && face(t)->level == s->serial.load(std::memory_order_relaxed); }

// ---- the stack of this thread
ADJOINT_API Slot* enter_level(LevelKind kind, bool strict, int64_t batch = 0, Randomness randomness = Randomness::same);
ADJOINT_API void leave_level();
ADJOINT_API std::span<Slot* const> level_stack();
ADJOINT_API Slot* dual_slot(int64_t number);   // the eager dual level of that number; -1: the innermost

class ADJOINT_API LevelGuard {
 public:
  LevelGuard(LevelKind kind, int64_t batch = 0) : slot(enter_level(kind, true, batch)) {}
  ~LevelGuard() { leave_level(); }
  LevelGuard(const LevelGuard&) = delete;
  Slot* const slot;
};

// ---- faces
ADJOINT_API Tensor lift(Slot* s, const Tensor& value, const Tensor& tangent = {}, int batch_dim = 0);
ADJOINT_API Tensor value_at(const Tensor& t, const Slot* s);     // one level down if t stands at that level
ADJOINT_API Tensor tangent_at(const Tensor& t, const Slot* s);
ADJOINT_API Tensor bottom(const Tensor& t);                       // the plain memory under all faces
ADJOINT_API Tensor fresh(Tensor t);                              // replays a stale view, drops dead levels
ADJOINT_API Tensor face_copy(const Tensor& t);                   // a second tensor of the same face, without history
ADJOINT_API void adopt(TensorImpl& t, const Tensor& from);       // t keeps its identity and takes that face
ADJOINT_API TensorImpl& view_root(TensorImpl& t);
ADJOINT_API void regenerate(TensorImpl& t);
ADJOINT_API void check_form(const ViewInfo& v);                  // an error if the parent's shape was changed since

// ---- one level down
ADJOINT_API void lower(const Op& op, Tensors in, const Attrs& attrs, Slot* s, Tensor* y);
ADJOINT_API Tensor front(const Tensor& t, const Slot* s, int ndim);
ADJOINT_API void jvp(const Op& op, Tensors x, Tensors t, Tensors y, const Attrs& attrs, Tensor* dy);

// ---- forward mode as the user sees it
struct Dual { Tensor primal, tangent; };
ADJOINT_API int64_t enter_dual_level();
ADJOINT_API void exit_dual_level(int64_t number);
ADJOINT_API Tensor make_dual(const Tensor& primal, const Tensor& tangent, int64_t number = -1);
ADJOINT_API Dual unpack_dual(const Tensor& t, int64_t number = -1);

}  // namespace adjoint::engine
