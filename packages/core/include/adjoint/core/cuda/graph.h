// CUDA graphs: work put on a stream that captures is recorded, and runs at each replay, all of it, at the same addresses.
#pragma once
#include <adjoint/core/cuda/stream.h>
#include <adjoint/core/ops.h>

#include <vector>

namespace adjoint::cuda {

struct Block;
using Pool = uint64_t;   // of memory that captures alone allocate from; 0: none

ADJOINT_API extern std::atomic<int> captures;              // under way, in all threads
ADJOINT_API bool capturing(const Stream& stream);
ADJOINT_API bool capturing_on(int device);
[[noreturn]] ADJOINT_API void fail_capturing(const char* why);   // of what cannot be recorded, before the driver spoils the capture for it

ADJOINT_API bool without_values(const Tensor& x);                   // of device meta, or of a GPU whose current stream captures: there are none before the replay
ADJOINT_API void expect_values(const Tensor& x, const char* op);   // that it reads on the host

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
  // On the current stream; memory from `pool`, or one of its own. `watch_inputs`: a replay after memory that it uses was released is an error.
  void begin(Pool pool, Mode mode, bool watch_inputs = false);
  size_t end();                       // how many pieces of work it recorded
  void instantiate();                 // end() does, unless the recording is kept
  void replay();                      // on the current stream
  void reset();                       // a capture under way is given up
  Pool pool() const noexcept { return pool_; }
  GraphHandle recording() const noexcept { return recording_; }
  GraphExecutable executable() const noexcept { return executable_; }
  void keep_recordings() noexcept { keep_dot_ = true; }   // for dump(), of captures from now on
  void dump(const char* path);        // the recording, as Graphviz' language
  bool can_dump() const noexcept { return keep_recording_ || keep_dot_; }
  void keep(Storage& storage);        // until it is reset: replays use it
  void note_input(const Block* block);
  // Where a call's random numbers of a default generator stand: `offset` calls after the position that replay() leaves in `state`, behind the seed.
  struct Position { Storage* state; uint64_t offset; };
  Position next_call(Generator& g, int device);

 private:
  friend Graph* recorder(const Stream& stream);
  friend bool capturing_on(int device);
  friend uint64_t& position_of(Generator& g);
  // A generator, and where it stood at the first call recorded, stands in the capture, and stood furthest. It does not move itself:
  // what other streams draw meanwhile follows what was drawn before.
  struct Drawn { Generator* generator; uint64_t seed, start, next, end; Storage* state; };
  struct Input { const void* address; uint64_t serial; };
  Result stop();
  void leave() noexcept;
  void drop() noexcept;
  void place_generators(const Stream& stream);
  void expect_inputs() const;
  bool keep_recording_, keep_dot_ = false, under_way_ = false, watch_inputs_ = false;
  Stream stream_;
  Pool pool_ = 0;
  unsigned long long id_ = 0;
  GraphHandle recording_ = nullptr;
  GraphExecutable executable_ = nullptr;
  std::vector<Storage*> kept_;
  std::vector<Drawn> drawn_;
  std::vector<Input> inputs_;
  Event replayed_;                    // last, where random numbers are drawn: their position must not be overwritten before
};

// Of the call to come, in the capture of the current stream if it has drawn from this generator: what a checkpoint notes and goes back to.
ADJOINT_API uint64_t& position_of(Generator& g);
ADJOINT_API void restart(Generator& g, uint64_t seed);   // an error within a capture, unless the seed is the same, when nothing happens

ADJOINT_API Pool new_pool();
Graph* recorder(const Stream& stream);   // that records its work; null without one
bool pool_in_use(Pool pool);                  // by a graph that is not reset

}  // namespace adjoint::cuda
