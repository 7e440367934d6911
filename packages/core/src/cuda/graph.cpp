// Which streams capture into which graph, and the graphs' lives.
#include <adjoint/core/cuda/graph.h>
#include <adjoint/core/cuda/memory.h>
#include <adjoint/core/cuda/work.h>
#include <adjoint/core/error.h>

#include <algorithm>
#include <mutex>
#include <unordered_map>

#include "cuda/pinned.h"

namespace adjoint::cuda {

std::atomic<int> captures{0};

namespace {

struct Books {
  std::mutex mutex;
  std::vector<Graph*> under_way;
  std::unordered_map<Pool, int> users;
  Pool last_pool = 0;
};

// Never destroyed: graphs of static objects may outlive it.
Books& books() {
  static auto* b = new Books;
  return *b;
}

struct CaptureInfo { int status = 0; unsigned long long id = 0; };

CaptureInfo info_of(const Stream& s) {
  CaptureInfo i;
  check(driver().capture_info(s.handle, &i.status, &i.id, nullptr, nullptr, nullptr), "cuStreamGetCaptureInfo");
  return i;
}
// The capture's number.
unsigned long long begin_capture(const Stream& s, int mode) {
  check(driver().capture_begin(s.handle, mode), "cuStreamBeginCapture");
  try {
    return info_of(s).id;
  } catch (...) {
    GraphHandle recording = nullptr;
    driver().capture_end(s.handle, &recording);
    if (recording) driver().graph_destroy(recording);
    throw;
  }
}
// A stream of which the driver knows nothing any more records nothing.
bool still_recording(const Stream& s) {
  CaptureInfo i;
  return !driver().capture_info(s.handle, &i.status, &i.id, nullptr, nullptr, nullptr) && i.status;
}
bool none(const Stream& s) { return !captures.load(std::memory_order_relaxed) || !s.handle; }   // the default stream never captures

}  // namespace

bool capturing(const Stream& s) { return !none(s) && info_of(s).status != 0; }

Graph* recorder(const Stream& s) {
  if (none(s)) return nullptr;
  const unsigned long long id = info_of(s).id;
  std::lock_guard lock(books().mutex);
  auto& all = books().under_way;
  auto it = std::find_if(all.begin(), all.end(), [&](const Graph* g) { return g->id_ == id; });
  return it == all.end() ? nullptr : *it;
}

bool capturing_on(int device) {
  if (!captures.load(std::memory_order_relaxed)) return false;
  std::lock_guard lock(books().mutex);
  return std::ranges::any_of(books().under_way, [&](const Graph* g) { return g->stream_.device == device; });
}

void fail_capturing(const char* why) { fail(ErrorKind::runtime, "CUDA error: operation not permitted when stream is capturing: ", why); }

bool without_values(const Tensor& x) { return x.device().type == DeviceType::meta || (x.device().type == DeviceType::cuda && capturing(current_stream(x.device().index))); }

void expect_values(const Tensor& x, const char* op) {
  expect(x.device().type != DeviceType::meta, ErrorKind::not_implemented, op, ": the size of its result depends on values, and a tensor on device meta has none");
  if (without_values(x)) fail_capturing((std::string(op) + ": its result depends on values that the host reads, which has none before the replay").c_str());
}

Pool new_pool() {
  std::lock_guard lock(books().mutex);
  return ++books().last_pool;
}

bool pool_in_use(Pool pool) {
  std::lock_guard lock(books().mutex);
  return books().users.contains(pool);
}

void Graph::begin(Pool pool, Mode mode, bool watch_inputs) {
  expect(!under_way_ && !recording_ && !executable_, "capture_begin: this CUDAGraph already holds a graph; reset it, or make another one");
  const Stream& stream = current_stream(current_device());
  expect(stream.handle, "CUDA graphs must be captured on a non-default stream. (However, after capture, it's ok to replay them on the default stream.)");
  enter(stream.device);
  captures++;   // first: when it begins, other threads are on their guard
  try {
    id_ = begin_capture(stream, static_cast<int>(mode));
  } catch (...) {
    captures--;
    throw;
  }
  stream_ = stream;
  pool_ = pool ? pool : new_pool();
  watch_inputs_ = watch_inputs;
  under_way_ = true;
  std::lock_guard lock(books().mutex);
  books().users[pool_]++;
  books().under_way.push_back(this);
}

// The capture is over, whatever became of it.
void Graph::leave() noexcept {
  under_way_ = false;
  std::lock_guard lock(books().mutex);
  std::erase(books().under_way, this);
  captures--;
}

// In another thread than the one that began it, unless it is relaxed, a capture cannot be ended: it goes on.
Result Graph::stop() {
  enter(stream_.device);
  const Result r = driver().capture_end(stream_.handle, &recording_);
  if (r && still_recording(stream_)) driver_error(r, "cuStreamEndCapture");
  leave();
  return r;
}

size_t Graph::end() {
  expect(under_way_, "capture_end: no capture is under way");
  expect(current_stream(stream_.device) == stream_, "Capture must end on the same stream it began on.");
  const Result r = stop();
  try {
    check(r, "cuStreamEndCapture");
    size_t pieces = 0;
    check(driver().graph_nodes(recording_, nullptr, &pieces), "cuGraphGetNodes");
    if (!keep_recording_) instantiate();
    if (!can_dump()) {
      driver().graph_destroy(recording_);
      recording_ = nullptr;
    }
    return pieces;
  } catch (...) {
    drop();
    throw;
  }
}

void Graph::instantiate() {
  expect(recording_, "instantiate: there is no captured graph; keep_graph=True keeps one");
  enter(stream_.device);
  GraphExecutable made = nullptr;
  const Unrecorded guard;
  check(driver().graph_instantiate(&made, recording_, 0), "cuGraphInstantiate");
  if (executable_) driver().executable_destroy(executable_);
  executable_ = made;
}

void Graph::replay() {
  if (!executable_ && recording_) instantiate();
  expect(executable_, "Called CUDAGraph::replay without a preceding successful capture.");
  enter(stream_.device);
  const Stream& stream = current_stream(stream_.device);
  if (capturing(stream)) fail_capturing("replay of another graph");
  expect_inputs();
  place_generators(stream);
  put({.kind = Work::Kind::kernel, .name = "CUDA graph", .stream = stream}, [&] { check(driver().graph_launch(executable_, stream.handle), "cuGraphLaunch"); });
  for (const Storage* s : kept_)
    if (is_pinned(*s)) note_copy(*s, stream);   // is not handed out again before this replay is done
  if (!drawn_.empty()) replayed_.record(stream);
}

void Graph::dump(const char* path) {
  expect(recording_, "debug_dump: there is no captured graph");
  constexpr unsigned verbose = 1;
  check(driver().graph_dot(recording_, path, verbose), "cuGraphDebugDotPrint");
}

void Graph::reset() {
  if (under_way_) stop();   // whether it had failed or not
  drop();
}

Graph::~Graph() {
  try {
    reset();
  } catch (const Error&) {   // the stream records on, for nobody
    std::unique_lock lock(books().mutex);
    std::erase(books().under_way, this);
    lock.unlock();
    drop();
  }
}

void Graph::drop() noexcept {
  if (executable_ && !forked()) driver().executable_destroy(executable_);
  if (recording_ && !forked()) driver().graph_destroy(recording_);
  executable_ = nullptr;
  recording_ = nullptr;
  for (Storage* s : kept_) s->dec_ref();
  kept_.clear();
  drawn_.clear();
  inputs_.clear();
  if (!pool_) return;
  std::lock_guard lock(books().mutex);
  auto it = books().users.find(pool_);
  if (--it->second == 0) books().users.erase(it);
  pool_ = 0;
}

void Graph::keep(Storage& storage) {
  storage.inc_ref();
  kept_.push_back(&storage);
}

void Graph::note_input(const Block* block) {
  if (!watch_inputs_ || pool_of(block) == pool_) return;
  const Input input{address(block), serial_of(block)};
  if (std::ranges::find(inputs_, input.serial, &Input::serial) == inputs_.end()) inputs_.push_back(input);
}

void Graph::expect_inputs() const {
  const auto gone = std::ranges::count_if(inputs_, [&](const Input& i) { return !still_allocated(i.address, i.serial, stream_.device); });
  expect(!gone, "replay: memory of ", gone, " of ", inputs_.size(), " tensors that the graph uses was released since its capture (check_input_liveness=True): keep a reference to each tensor that it reads or writes");
}

Graph::Position Graph::next_call(Generator& g, int device) {
  if (&g != &default_generator(g.device)) fail_capturing("random numbers of a Generator of one's own, whose position a replay does not know; the default one's are captured");
  auto it = std::ranges::find(drawn_, &g, &Drawn::generator);
  if (it == drawn_.end()) {
    Storage* state = make_storage(2 * sizeof(uint64_t), {DeviceType::cuda, static_cast<int8_t>(device)});
    kept_.push_back(state);
    it = drawn_.insert(it, {&g, g.seed, g.offset, g.offset, g.offset, state});
  }
  if (g.seed != it->seed || it->next < it->start) fail_capturing("random numbers after a generator was seeded within the capture");
  const uint64_t relative = it->next++ - it->start;
  it->end = std::max(it->end, it->next);   // a checkpoint's second run draws the same again
  return {it->state, relative};
}

// Each replay draws the numbers that follow. One on another stream may still look where they are placed.
void Graph::place_generators(const Stream& stream) {
  if (drawn_.empty()) return;
  replayed_.wait(stream);
  for (Drawn& d : drawn_) {
    const uint64_t state[] = {d.generator->seed, d.generator->offset};
    for (size_t i = 0; i < 2; i++) fill(static_cast<uint64_t*>(d.state->data) + i, 1, sizeof state[i], &state[i], stream_.device);
    d.generator->offset += d.end - d.start;
  }
}

namespace {

Graph* recorder_for(const Generator& g) {
  if (!captures.load(std::memory_order_relaxed)) return nullptr;
  return recorder(current_stream(g.device.type == DeviceType::cuda ? g.device.index : current_device()));
}

}  // namespace

uint64_t& position_of(Generator& g) {
  if (Graph* graph = recorder_for(g))
    if (auto it = std::ranges::find(graph->drawn_, &g, &Graph::Drawn::generator); it != graph->drawn_.end()) return it->next;
  return g.offset;
}

void restart(Generator& g, uint64_t seed) {
  if (g.device.type != DeviceType::cuda || !recorder_for(g)) return g.restart(seed);
  if (g.seed != seed) fail_capturing("a generator is seeded anew; within a capture the seed can only be the one it has");
}

}  // namespace adjoint::cuda
