// Devices, streams and events. Each thread has a current device, and a current stream on each device; both start at the first:
// device 0 and the legacy default stream, which waits for all others.
#pragma once
#include <adjoint/core/cuda/driver.h>
#include <adjoint/core/device.h>

#include <atomic>
#include <string>
#include <utility>

namespace adjoint::cuda {

constexpr int max_devices = 16;

ADJOINT_API int device_count() noexcept;           // 0 without a driver
ADJOINT_API int current_device();
ADJOINT_API void set_device(int index);            // of this thread
ADJOINT_API Device resolved(Device device);        // with an index, and one that there is
ADJOINT_API void enter(int index);                 // makes driver calls of this thread go to this device
ADJOINT_API Context context(int index);
ADJOINT_API void synchronize(int index);           // waits for all work on it
ADJOINT_API bool can_access_peer(int index, int other);   // whether kernels on one could use the other's memory

struct Properties {
  std::string name;
  int major, minor;
  size_t total_memory;
  int multiprocessors, warp_size, threads_per_block, threads_per_multiprocessor, shared_per_block, shared_per_block_optin, l2_bytes;
  bool integrated;
};
ADJOINT_API const Properties& properties(int index);

struct Stream {
  StreamHandle handle = nullptr;
  int8_t device = 0;
  uint8_t number = 0;      // of its device's; 0: the default one
  bool operator==(const Stream& o) const { return handle == o.handle && device == o.device; }
  ADJOINT_API void synchronize() const;
  ADJOINT_API bool query() const;                  // has all its work been done?
};
ADJOINT_API Stream new_stream(int device, int priority);   // one of 32 that are handed out in turn; priority < 0: before others
ADJOINT_API Stream capture_stream(int device);               // never handed out by new_stream: for captures that name none
ADJOINT_API Stream external_stream(StreamHandle handle, int device);   // made by another library, which keeps it alive
ADJOINT_API int priority_of(const Stream& stream) noexcept;   // -1 or 0
ADJOINT_API Stream stream_at(int device, uint8_t number);
ADJOINT_API extern std::atomic<bool> side_streams;         // is there any but the default ones?
ADJOINT_API extern std::atomic<bool> in_use;               // has any device been started?
ADJOINT_API Stream& current_stream(int device) noexcept;    // of this thread
ADJOINT_API void* current_streams() noexcept;               // of this thread, for swap_streams in another one
ADJOINT_API void swap_streams(void* there) noexcept;

// A point in a stream's work. Made when first recorded, on the device of that stream.
class ADJOINT_API Event {
 public:
  struct Kind {
    bool timing = false;
    bool blocking = false;   // the CPU sleeps while it waits
    bool external = false;   // in a graph it is a node: recorded and waited for at each replay
  };
  Event() noexcept = default;
  explicit Event(Kind kind) noexcept : kind_(kind) {}
  Event(Event&& o) noexcept : handle_(std::exchange(o.handle_, nullptr)), device_(o.device_), kind_(o.kind_), captured_(o.captured_) {}
  Event& operator=(Event&& o) noexcept {
    std::swap(handle_, o.handle_);
    device_ = o.device_;
    kind_ = o.kind_;
    captured_ = o.captured_;
    return *this;
  }
  ~Event();
  void record(const Stream& stream);
  void wait(const Stream& stream) const;           // work put on `stream` from now on runs after this event
  void synchronize() const;
  bool query() const;
  float elapsed(const Event& end) const;           // milliseconds
  EventHandle handle() const noexcept { return handle_; }
  int device() const noexcept { return device_; }

 private:
  void expect_reachable() const;
  EventHandle handle_ = nullptr;
  int device_ = 0;
  Kind kind_;
  bool captured_ = false;                          // last recorded into a graph
};

}  // namespace adjoint::cuda
