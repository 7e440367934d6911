// Random numbers under vmap: forbidden, drawn for each lane, or the same for all.
#include <adjoint/core/random_lanes.h>
#include <adjoint/engine/autograd.h>
#include <adjoint/engine/level.h>

namespace adjoint::engine {

namespace {

bool differs(const Slot* s) { return s->kind == LevelKind::batch && s->randomness == Randomness::different; }

Dims with_lanes(const Dims& one) {
  Dims all = one;
  const auto levels = level_stack();
  for (auto s = levels.rbegin(); s != levels.rend(); ++s) {
    expect((*s)->kind != LevelKind::batch || (*s)->randomness != Randomness::error,
           "vmap: called random operation while in randomness error mode. Please either use the 'same' or 'different' randomness flags on vmap or perform the randomness operation out of vmap");
    if (differs(*s)) all.insert(0, (*s)->batch);
  }
  return all;
}

Tensor spread(Tensor all) {
  for (Slot* s : level_stack())
    if (differs(s)) all = lift(s, all);
  return all;
}

}  // namespace

void install_random() { random_lanes = {with_lanes, spread, bottom}; }

}  // namespace adjoint::engine
