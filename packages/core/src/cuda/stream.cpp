// Devices, streams and events over the driver's.
#include <adjoint/core/cuda/graph.h>
#include <adjoint/core/error.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <vector>

namespace adjoint::cuda {

std::atomic<bool> side_streams{false}, in_use{false};

namespace {

thread_local int chosen_device = 0;
thread_local Stream chosen_stream[max_devices];

constexpr unsigned in_turn = 32, streams_a_pool = in_turn + 1, most_external = 255 - 2 * streams_a_pool;
constexpr unsigned non_blocking = 1;                        // of streams: the default one does not wait for them
constexpr unsigned sleeps = 1, without_timing = 2;          // of events
constexpr unsigned as_node = 1;                             // of an event's record and wait in a graph

struct DeviceState {
  std::mutex starting;
  std::atomic<bool> started = false;
  Context context = nullptr;
  Properties properties{};
  std::mutex mutex;
  Stream pool[2][streams_a_pool];
  unsigned handed_out[2] = {};
  std::vector<StreamHandle> external;
};

// Never destroyed: tensors of static objects may outlive it.
DeviceState& state(int index) {
  static auto* states = new DeviceState[max_devices];
  return states[index];
}

int attribute(int device, DeviceAttribute which) {
  int value = 0;
  check(driver().device_attribute(&value, which, device), "cuDeviceGetAttribute");
  return value;
}

void start(int index) {
  DeviceState& s = state(index);
  if (s.started.load(std::memory_order_acquire)) return;
  const std::lock_guard guard(s.starting);   // no std::call_once: see adjoint_settings on thread-local words
  if (s.started) return;
  int device = 0;
  check(driver().device(&device, index), "cuDeviceGet");
  check(driver().retain_context(&s.context, device), "cuDevicePrimaryCtxRetain");
  char name[256] = {};
  check(driver().device_name(name, sizeof name - 1, device), "cuDeviceGetName");
  Properties& p = s.properties;
  p.name = name;
  check(driver().device_memory(&p.total_memory, device), "cuDeviceTotalMem");
  p.major = attribute(device, capability_major);
  p.minor = attribute(device, capability_minor);
  p.multiprocessors = attribute(device, multiprocessors);
  p.warp_size = attribute(device, warp_size);
  p.threads_per_block = attribute(device, max_threads_per_block);
  p.threads_per_multiprocessor = attribute(device, threads_per_multiprocessor);
  p.shared_per_block = attribute(device, shared_memory_per_block);
  p.shared_per_block_optin = attribute(device, shared_memory_per_block_optin);
  p.l2_bytes = attribute(device, l2_cache_bytes);
  p.integrated = attribute(device, integrated);
  in_use = true;
  s.started.store(true, std::memory_order_release);
}

}  // namespace

int device_count() noexcept {
  if (!driver_found()) return 0;
  static const int count = [] {
    int n = 0;
    return driver().device_count(&n) ? 0 : std::min(n, max_devices);
  }();
  return count;
}

int current_device() { return chosen_device; }

Device resolved(Device d) {
  if (d.type != DeviceType::cuda) return {d.type};
  driver();
  const int index = d.index < 0 ? chosen_device : d.index;
  expect(index < device_count(), "CUDA error: invalid device ordinal: got cuda:", index, ", there ", device_count() == 1 ? "is " : "are ", device_count());
  return {DeviceType::cuda, static_cast<int8_t>(index)};
}

void set_device(int index) {
  expect(index >= 0, "set_device: the index must not be negative, got ", index);
  chosen_device = resolved({DeviceType::cuda, static_cast<int8_t>(std::min(index, 127))}).index;
}

Context context(int index) {
  start(index);
  return state(index).context;
}

// Other libraries enter their own contexts in the same thread, so the driver is asked which one it is in.
void enter(int index) {
  const Context wanted = context(index);
  Context now = nullptr;
  if (driver().current_context(&now) || now != wanted) check(driver().set_context(wanted), "cuCtxSetCurrent");
}

void synchronize(int index) {
  if (capturing_on(index)) fail_capturing("synchronize waits for a GPU that is not to work before the replay");
  enter(index);
  check(driver().synchronize(), "cuCtxSynchronize");
}

bool can_access_peer(int index, int other) {
  int device[2], result = 0;
  check(driver().device(&device[0], index), "cuDeviceGet");
  check(driver().device(&device[1], other), "cuDeviceGet");
  check(driver().can_access_peer(&result, device[0], device[1]), "cuDeviceCanAccessPeer");
  return result != 0;
}

const Properties& properties(int index) {
  start(index);
  return state(index).properties;
}

void Stream::synchronize() const {
  enter(device);
  if (capturing(*this)) fail_capturing("Stream.synchronize waits for work that is not to run before the replay");
  const Unrecorded guard;
  check(driver().stream_synchronize(handle), "cuStreamSynchronize");
}

bool Stream::query() const {
  enter(device);
  if (capturing(*this)) fail_capturing("Stream.query asks for work that is not to run before the replay");
  const Unrecorded guard;
  const Result r = driver().stream_query(handle);
  if (r != not_ready) check(r, "cuStreamQuery");
  return r == 0;
}

namespace {

// Of the pool of this priority; made when first asked for.
Stream pooled(int device, bool high, unsigned place) {
  DeviceState& s = state(device);
  Stream& stream = s.pool[high][place];
  if (!stream.handle) {
    side_streams = true;
    stream.device = static_cast<int8_t>(device);
    stream.number = static_cast<uint8_t>(1 + high * streams_a_pool + place);
    const Unrecorded guard;
    check(driver().stream_create(&stream.handle, non_blocking, high ? -1 : 0), "cuStreamCreateWithPriority");
  }
  return stream;
}

}  // namespace

Stream new_stream(int device, int priority) {
  enter(device);
  DeviceState& s = state(device);
  const bool high = priority < 0;
  std::lock_guard lock(s.mutex);
  return pooled(device, high, s.handed_out[high]++ % in_turn);
}

Stream capture_stream(int device) {
  enter(device);
  std::lock_guard lock(state(device).mutex);
  return pooled(device, false, in_turn);
}

// They are numbered behind the pools, the same one alike each time.
Stream external_stream(StreamHandle handle, int device) {
  if (!handle) return {nullptr, static_cast<int8_t>(device)};
  DeviceState& s = state(device);
  std::lock_guard lock(s.mutex);
  auto it = std::find(s.external.begin(), s.external.end(), handle);
  if (it == s.external.end()) {
    expect(s.external.size() < most_external, "ExternalStream: at most ", most_external, " streams of other libraries can be used on a device");
    side_streams = true;
    it = s.external.insert(it, handle);
  }
  return {handle, static_cast<int8_t>(device), static_cast<uint8_t>(1 + 2 * streams_a_pool + static_cast<unsigned>(it - s.external.begin()))};
}

int priority_of(const Stream& s) noexcept { return s.number > streams_a_pool && s.number <= 2 * streams_a_pool ? -1 : 0; }

Stream stream_at(int device, uint8_t number) {
  if (!number) return {nullptr, static_cast<int8_t>(device)};
  DeviceState& s = state(device);
  std::lock_guard lock(s.mutex);
  if (number > 2 * streams_a_pool) return {s.external[number - 1 - 2 * streams_a_pool], static_cast<int8_t>(device), number};
  return s.pool[(number - 1) / streams_a_pool][(number - 1) % streams_a_pool];
}

Stream& current_stream(int device) noexcept {
  Stream& s = chosen_stream[device];
  s.device = static_cast<int8_t>(device);
  return s;
}

void* current_streams() noexcept { return chosen_stream; }
void swap_streams(void* there) noexcept { std::swap_ranges(chosen_stream, chosen_stream + max_devices, static_cast<Stream*>(there)); }

Event::~Event() {
  if (handle_ && !forked()) driver().event_destroy(handle_);   // an error here has nobody to tell
}

void Event::record(const Stream& stream) {
  enter(stream.device);
  if (!handle_) {
    check(driver().event_create(&handle_, (kind_.timing ? 0 : without_timing) | (kind_.blocking ? sleeps : 0)), "cuEventCreate");
    device_ = stream.device;
  }
  expect(device_ == stream.device, "Event device ", device_, " does not match recording stream's device ", int(stream.device), ".");
  const bool in_graph = capturing(stream);
  check(driver().event_record(handle_, stream.handle, in_graph && kind_.external ? as_node : 0), "cuEventRecordWithFlags");
  captured_ = in_graph && !kind_.external;
}

void Event::expect_reachable() const {
  if (captured_) fail_capturing("the event was recorded into a graph, which reaches it at each replay");
}

void Event::wait(const Stream& stream) const {
  if (!handle_) return;
  enter(stream.device);
  check(driver().stream_wait(stream.handle, handle_, kind_.external && capturing(stream) ? as_node : 0), "cuStreamWaitEvent");
}

void Event::synchronize() const {
  if (!handle_) return;
  expect_reachable();
  enter(device_);
  const Unrecorded guard;
  check(driver().event_synchronize(handle_), "cuEventSynchronize");
}

bool Event::query() const {
  if (!handle_) return true;
  expect_reachable();
  enter(device_);
  const Unrecorded guard;
  const Result r = driver().event_query(handle_);
  if (r != not_ready) check(r, "cuEventQuery");
  return r == 0;
}

float Event::elapsed(const Event& end) const {
  expect(kind_.timing && end.kind_.timing, ErrorKind::value, "elapsed_time: Both events must be created with argument 'enable_timing=True'.");
  expect(handle_ && end.handle_, ErrorKind::value, "elapsed_time: Both events must be recorded before calculating elapsed time.");
  expect_reachable();
  end.expect_reachable();
  float ms = 0;
  const Result r = driver().event_elapsed(&ms, handle_, end.handle_);
  expect(r != not_ready, "elapsed_time: Both events must be completed before calculating elapsed time.");
  check(r, "cuEventElapsedTime");
  return ms;
}

}  // namespace adjoint::cuda
