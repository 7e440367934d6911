// Timing work on GPUs with the driver's events: no profiling library is needed. Events are kept for the next log.
#include <adjoint/core/error.h>
#include <adjoint/core/without_gil.h>
#include <adjoint/engine/device_log.h>

#include <cmath>
#include <cstdlib>
#include <mutex>
#include <utility>
#include <vector>

namespace adjoint::engine {

namespace {

struct Pool {
  static constexpr size_t most = 1 << 14;
  std::mutex mutex;
  std::vector<cuda::Event> events;
};

// Never destroyed: the driver may be gone before.
Pool& pool(int device) {
  static auto* pools = new Pool[cuda::max_devices];
  return pools[device];
}

cuda::Event take(int device) {
  Pool& p = pool(device);
  const std::lock_guard lock(p.mutex);
  if (p.events.empty()) return cuda::Event({.timing = true});
  cuda::Event e = std::move(p.events.back());
  p.events.pop_back();
  return e;
}

void give_back(cuda::Event e) {
  Pool& p = pool(e.device());
  const std::lock_guard lock(p.mutex);
  if (e.handle() && p.events.size() < Pool::most) p.events.push_back(std::move(e));
}

int64_t nanoseconds(float milliseconds) { return std::llround(static_cast<double>(milliseconds) * 1e6); }

}  // namespace

// The CPU waits once, and knows what time it was on the device. This late, no work seems to run before it was put there.
void DeviceLog::align(const cuda::Stream& stream) {
  Clock c{take(stream.device)};
  const WithoutGil free(true);
  stream.synchronize();
  c.event.record(stream);
  c.event.synchronize();
  c.time = now();
  clocks_[stream.device] = std::move(c);
}

void DeviceLog::start() {
  const cuda::Stream stream = cuda::current_stream(cuda::current_device());
  if (!cuda::capturing(stream)) align(stream);   // it must not wait; the first piece after the capture does
}

void DeviceLog::begin(const cuda::Work& w, uint32_t name, uint32_t event) noexcept {
  try {
    const int8_t device = w.stream.device;
    drop_open();
    if (!clocks_[device]) align(w.stream);
    Piece p{w.kind, name, event, device, w.stream.number, w.bytes, {w.grid[0], w.grid[1], w.grid[2]}, w.threads, w.shared, now(), 0, 0, take(device), take(device)};
    p.before.record(w.stream);
    pieces_.push_back(std::move(p));
    open_ = true;
  } catch (const Error& e) { fault_ = e.what(); }
}

// It failed: nobody said that it is on its stream.
void DeviceLog::drop_open() noexcept {
  if (open_) pieces_.pop_back();
  open_ = false;
}

void DeviceLog::end(const cuda::Stream& stream) noexcept {
  if (!open_) return;
  try {
    pieces_.back().after.record(stream);
    open_ = false;
  } catch (const Error& e) { fault_ = e.what(); }
}

// The driver gives times between events as float32: over more than a second it is coarser than its clock. From there on they are taken
// from this piece.
void DeviceLog::find_times(Piece& p) {
  constexpr int64_t far = 1'000'000'000;
  Clock& c = *clocks_[p.device];
  p.after.synchronize();
  p.start = c.time + nanoseconds(c.event.elapsed(p.before));
  p.end = p.start + nanoseconds(p.before.elapsed(p.after));
  if (std::abs(p.start - c.time) > far) {
    std::swap(c.event, p.before);
    c.time = p.start;
  }
  give_back(std::move(p.before));
  give_back(std::move(p.after));
}

void DeviceLog::finish() noexcept {
  drop_open();
  const WithoutGil free(!pieces_.empty());
  try {
    for (Piece& p : pieces_) find_times(p);
  } catch (const Error& e) {   // the device has failed: later pieces have no times either
    fault_ = e.what();
    std::erase_if(pieces_, [](const Piece& p) { return !p.end; });
  }
  for (auto& c : clocks_) {
    if (c) give_back(std::move(c->event));
    c.reset();
  }
}

}  // namespace adjoint::engine
