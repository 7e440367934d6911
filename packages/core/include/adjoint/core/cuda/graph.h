// CUDA graphs: work put on a stream that captures is recorded, and runs at each replay, all of it, at the same addresses.
#pragma once
#include <adjoint/core/cuda/stream.h>
#include <adjoint/core/ops.h>

#include <vector>

namespace adjoint::cuda {

using Pool = uint64_t;   // of memory that captures alone allocate from; 0: none

ADJOINT_API extern std::atomic<int> captures;              // under way, in all threads
ADJOINT_API bool capturing(const Stream& stream);
ADJOINT_API bool capturing_on(int device);
[[noreturn]] ADJOINT_API void fail_capturing(const char* why);   // of what cannot be recorded, before the driver spoils the capture for it

// While it lives, this thread may do what is unsafe only if recorded work were thought to have run: allocate, load, ask for events.
class Unrecorded {
 public:
  Unrecorded() : exchanged_(captures.load(std::memory_order_relaxed)) {
    if (exchanged_) driver().exchange_capture_mode(&mode_);
  }
  ~Unrecorded() {
    if (exchanged_) driver().exchange_capture_mode(&mode_);
  }
  Unrecorded(const Unrecorded&) = delete;

 private:
  const bool exchanged_;
  int mode_ = 2;   // relaxed; then what it was
};

class ADJOINT_API Graph {
 public:
  enum class Mode : int { global, thread_local_, relaxed };   // whose unsafe calls are errors meanwhile
  explicit Graph(bool keep_recording = false) : keep_recording_(keep_recording) {}
  Graph(const Graph&) = delete;
  ~Graph();
  void begin(Pool pool, Mode mode);   // on the current stream; memory from `pool`, or one of its own
  size_t end();                       // how many pieces of work it recorded
  void instantiate();                 // end() does, unless the recording is kept
  void replay();                      // on the current stream
  void reset();                       // a capture under way is given up
  Pool pool() const noexcept { return pool_; }
  GraphHandle recording() const noexcept { return recording_; }
  GraphExecutable executable() const noexcept { return executable_; }
  void keep(Storage& storage);        // until it is reset: replays use it
  // Where random numbers of a default generator stand: `offset` calls after the position that replay() leaves in `state`, behind the seed.
  struct Position { const void* state; uint64_t offset; };
  Position position_of(Generator& g, int device);

 private:
  friend Graph* recorder(const Stream& stream);
  friend bool capturing_on(int device);
  // A generator and where it stood before the capture; the calls recorded since.
  struct Drawn { Generator* generator; uint64_t seed, offset, calls; Storage* state; };
  Result stop();
  void leave() noexcept;
  void drop() noexcept;
  void place_generators();
  bool keep_recording_, under_way_ = false;
  Stream stream_;
  Pool pool_ = 0;
  unsigned long long id_ = 0;
  GraphHandle recording_ = nullptr;
  GraphExecutable executable_ = nullptr;
  std::vector<Storage*> kept_;
  std::vector<Drawn> drawn_;
};

ADJOINT_API Pool new_pool();
Graph* recorder(const Stream& stream);   // that records its work; null without one
bool pool_in_use(Pool pool);                  // by a graph that is not reset

}  // namespace adjoint::cuda
