// When the work that a thread put on GPUs ran there: pairs of the driver's events around each piece, asked for their times at the end.
#pragma once
#include <adjoint/core/cuda/work.h>

#include <chrono>
#include <deque>
#include <optional>
#include <string>

namespace adjoint::engine {

// Nanoseconds of the monotonic clock.
inline int64_t now() noexcept { return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

class ADJOINT_API DeviceLog {
 public:
  struct Piece {
    cuda::Work::Kind kind;
    uint32_t name, event;           // see EventLog: its name, and the event that put it there
    int8_t device;
    uint8_t stream;
    size_t bytes;
    unsigned grid[3], threads, shared;
    int64_t put;                    // when the CPU did
    int64_t start = 0, end = 0;     // when it ran, on the CPU's clock
    cuda::Event before, after;
  };

  void start();                     // also starts the current device
  void begin(const cuda::Work& w, uint32_t name, uint32_t event) noexcept;
  void end(const cuda::Stream& stream) noexcept;
  void finish() noexcept;           // waits for the work, and finds its times

  const std::deque<Piece>& pieces() const { return pieces_; }   // without those that could not be timed
  const std::string& fault() const { return fault_; }           // why some could not

 private:
  // One moment on both clocks.
  struct Clock { cuda::Event event; int64_t time; };

  void align(const cuda::Stream& stream);
  void find_times(Piece& p);
  void drop_open() noexcept;

  std::deque<Piece> pieces_;
  std::optional<Clock> clocks_[cuda::max_devices];
  bool open_ = false;               // the last piece is about to be put on its stream
  std::string fault_;
};

}  // namespace adjoint::engine
