// A stand-in for libcuda.so.1, so that everything above the driver can be tested without a GPU. Two devices, or those of them that
// CUDA_VISIBLE_DEVICES names. Device memory is host
// memory at another address: device addresses themselves cannot be read or written, as on a real machine. Copies and fills happen at
// once and are checked against live allocations; launches are recorded with the bytes of their parameters, and handed to a callback.
// A stream can be held, so that events recorded on it are not reached until it is let go. Each stream has a clock: work moves it on by
// a time computed from the work's size alone; while nothing runs on it, it goes with the machine's. What is put on a stream that captures
// goes into its graph, and runs when that is launched; what CUDA forbids meanwhile is an error that spoils the capture.
#include <sys/mman.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "standin_images.h"

namespace {

using Result = int;
constexpr Result ok = 0, invalid_value = 1, out_of_memory = 2, invalid_context = 201, not_found = 500, not_ready = 600,
                 unsupported = 900, invalidated = 901, unjoined = 904, isolation = 905, captured_event = 907, wrong_thread = 908;
constexpr int devices = 2;   // of the machine
constexpr size_t arena = size_t(1) << 36, of_device = arena / devices;

struct Stream;
using Work = std::function<Result(Stream*)>;   // on the stream that it is given
struct Graph { std::vector<Work> work; std::set<Stream*> members; Stream* origin; int mode; uint64_t id; bool spoilt; std::thread::id thread; };
using Seen = std::map<Stream*, size_t>;        // how much of each stream's captured work is known to come before
struct Stream {
  int id; int device; bool held;
  int64_t time = 0; bool recorded = false, worked = false;   // nanoseconds; an event since it was waited for, work since that event
  Graph* graph = nullptr; Seen seen = {};
};
struct Event { int id; bool recorded, timing; Stream* stream; int held_since; int64_t time = 0; uint64_t capture = 0; Seen seen = {}; };
struct Function { std::string name; std::vector<unsigned> sizes; int dynamic_shared; };
struct Module { const char* image; };   // alive until its function is asked for

std::recursive_mutex mutex;
char *base = nullptr, *shadow = nullptr;
std::map<size_t, size_t> live;               // offset -> bytes
size_t capacity = size_t(1) << 30, held[devices];
int next_stream = 1, next_event = 1, releases = 0;
Stream defaults[devices] = {{0, 0, false}, {0, 1, false}};
std::map<void*, size_t> pinned;
std::map<std::string, int> failures;
std::ostringstream entries;
std::string text;
thread_local int context = -1, capture_mode = 0;   // global, of the thread, relaxed
std::set<Graph*> captures;
uint64_t next_capture = 1;
int contexts[devices];
using Callback = int (*)(const char* name, const unsigned* grid, const unsigned char* parameters, size_t bytes);
Callback callback = nullptr;
bool quiet = false;   // for timing: launches leave no trace
std::vector<int> visible;                     // of the machine's devices, as the process counts them
int64_t skipped = 0;                          // nanoseconds that the devices' clocks are ahead of the machine's
std::map<std::string, int> calls;
int64_t fail_at = -1;                         // how many calls from now one fails, whichever it is
std::string failed;                           // which one did

struct Call {
  explicit Call(const char* name) : lock(mutex) {
    calls[name]++;
    if (fail_at >= 0 && fail_at-- == 0) {
      failed = name;
      fault = 999;
      return;
    }
    auto it = failures.find(name);
    if (it == failures.end()) return;
    fault = it->second;
    failures.erase(it);
  }
  std::lock_guard<std::recursive_mutex> lock;
  int fault = 0;
};
#define CALL(name) Call call(name); if (call.fault) return call.fault
#define IN_CONTEXT(name) CALL(name); if (context < 0) return invalid_context

void reserve() {
  if (base) return;
  base = static_cast<char*>(mmap(nullptr, arena, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
  shadow = static_cast<char*>(mmap(nullptr, arena, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
}

// The host's view of device memory; null unless all bytes belong to one allocation.
char* host(uint64_t p, size_t bytes) {
  const size_t offset = p - reinterpret_cast<uint64_t>(base);
  auto it = live.upper_bound(offset);
  if (it == live.begin()) return nullptr;
  --it;
  return offset + bytes <= it->first + it->second ? shadow + offset : nullptr;
}

int stream_id(Stream* s) { return s ? s->id : 0; }
Stream& stream_of(Stream* s) { return s ? *s : defaults[context < 0 ? 0 : context]; }

int64_t now() { return skipped + std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch()).count(); }
void work(Stream* s, int64_t nanoseconds) {
  Stream& stream = stream_of(s);
  if (!stream.recorded) stream.time = std::max(stream.time, now());
  stream.time += nanoseconds;
  stream.worked = true;
}
void copied(Stream* s, size_t bytes) { work(s, 1000 + int64_t(bytes / 16)); }          // 1 us, and 16 GB/s
void filled(Stream* s, size_t bytes) { work(s, 1000 + int64_t(bytes / 1024)); }

// Runs it now, or puts it into the graph that the stream captures.
Result submit(Stream* s, const Work& work) {
  if (!s || !s->graph) return work(s);
  s->seen[s]++;
  s->graph->work.push_back(work);
  return ok;
}
Result spoil(Graph* g) {
  g->spoilt = true;
  return unsupported;
}
// For calls that CUDA calls potentially unsafe: forbidden while this thread captures, or another one in global mode, unless either the
// capture or this thread is relaxed; a thread of thread_local mode minds its own captures alone.
Result unsafe() {
  Result r = ok;
  for (Graph* g : captures) {
    const bool own = g->thread == std::this_thread::get_id();
    if (capture_mode != 2 && g->mode != 2 && (own || (g->mode == 0 && capture_mode == 0))) r = spoil(g);
  }
  return r;
}
#define UNSAFE if (const Result forbidden = unsafe()) return forbidden

struct Launch { Function* f; unsigned grid[3], block[3], shared; std::vector<unsigned char> bytes; std::string attributes; };

Result run(const Launch& l, Stream* stream) {
  entries << "launch " << l.f->name << " grid " << l.grid[0] << ',' << l.grid[1] << ',' << l.grid[2] << " block " << l.block[0] << " shared " << l.shared
          << " stream " << stream_id(stream) << l.attributes << " parameters ";
  char two[3];
  for (unsigned char b : l.bytes) { std::snprintf(two, sizeof two, "%02x", b); entries << two; }
  entries << '\n';
  work(stream, 2000 + 100 * int64_t(l.grid[0]) * l.grid[1] * l.grid[2]);   // 2 us, and 0.1 us for each block
  if (!callback) return ok;
  mutex.unlock();   // it runs Python, whose lock other threads may hold that wait for this one
  const Result r = callback(l.f->name.c_str(), l.grid, l.bytes.data(), l.bytes.size());
  mutex.lock();
  return r;
}

Result launch(Function* f, const unsigned* grid, const unsigned* block, unsigned shared, Stream* stream, void** parameters, const char* attributes) {
  if (quiet) return ok;
  if (!grid[0] || !grid[1] || !grid[2] || block[0] > 1024) return invalid_value;
  if (shared > (48u << 10) && shared > unsigned(f->dynamic_shared)) return invalid_value;
  Launch l{f, {grid[0], grid[1], grid[2]}, {block[0], block[1], block[2]}, shared, {}, attributes};
  for (size_t i = 0; i < f->sizes.size(); i++) {
    const auto* p = static_cast<const unsigned char*>(parameters[i]);
    l.bytes.insert(l.bytes.end(), p, p + f->sizes[i]);
  }
  return submit(stream, [l](Stream* s) { return run(l, s); });
}

template <class T> Result fill(const char* name, uint64_t p, T value, size_t n, Stream* stream) {
  return submit(stream, [=](Stream* s) -> Result {
    char* h = host(p, n * sizeof(T));
    if (!h) return invalid_value;
    for (size_t i = 0; i < n; i++) std::memcpy(h + i * sizeof(T), &value, sizeof value);
    filled(s, n * sizeof(T));
    entries << name << ' ' << n << '\n';
    return ok;
  });
}

enum class Place { pageable, pinned, device };
Result copy(const char* words, char* to, const char* from, size_t n, Stream* stream, Place host_side) {
  if (!to || !from) return invalid_value;
  if (stream && stream->graph && host_side == Place::pageable) return spoil(stream->graph);
  const std::string name = words;
  return submit(stream, [=](Stream* s) {
    std::memmove(to, from, n);
    copied(s, n);
    entries << name << ' ' << n << " stream " << stream_id(s) << '\n';
    return ok;
  });
}
Place place_of(const void* p) {
  for (auto [first, size] : pinned)
    if (p >= first && p < static_cast<char*>(first) + size) return Place::pinned;
  return Place::pageable;
}

}  // namespace

extern "C" {

// ---- for tests
void standin_skip(int64_t nanoseconds) { std::lock_guard lock(mutex); skipped += nanoseconds; }
void standin_fail_at(int64_t call) { std::lock_guard lock(mutex); fail_at = call; failed.clear(); }
const char* standin_failed() { std::lock_guard lock(mutex); return failed.c_str(); }
int64_t standin_calls() { std::lock_guard lock(mutex); int64_t n = 0; for (auto& [name, count] : calls) n += count; return n; }
const char* standin_log() {
  std::lock_guard lock(mutex);
  text = entries.str();
  entries.str("");
  return text.c_str();
}
void standin_fail(const char* name, int code) { std::lock_guard lock(mutex); failures[name] = code; }
void standin_capacity(size_t bytes) { std::lock_guard lock(mutex); capacity = bytes; }
size_t standin_allocated(int device) { std::lock_guard lock(mutex); return held[device]; }
void* standin_host(uint64_t p) { std::lock_guard lock(mutex); return host(p, 0); }
// The first of n elements, where the mask is set, that is not in memory which is allocated: host addresses, as standin_host gives; -1: none.
int64_t standin_outside(const uint64_t* p, const unsigned char* mask, int64_t n, int64_t bytes) {
  std::lock_guard lock(mutex);
  const auto inside = [&](uint64_t at) {
    const auto offset = at - reinterpret_cast<uint64_t>(shadow);
    if (offset < arena) return host(reinterpret_cast<uint64_t>(base) + offset, static_cast<size_t>(bytes)) != nullptr;
    for (const auto& [block, size] : pinned)
      if (at >= reinterpret_cast<uint64_t>(block) && at + static_cast<uint64_t>(bytes) <= reinterpret_cast<uint64_t>(block) + size) return true;
    return false;
  };
  for (int64_t i = 0; i < n; i++)
    if (mask[i] && !inside(p[i])) return i;
  return -1;
}
void standin_quiet(int wanted) { quiet = wanted; }
void standin_on_launch(Callback f) { callback = f; }
void standin_hold(Stream* s, int wanted) { std::lock_guard lock(mutex); (s ? s : defaults)->held = wanted; if (!wanted) releases++; }

// ---- the driver
Result cuInit(unsigned) {
  reserve();
  const char* chosen = std::getenv("CUDA_VISIBLE_DEVICES");
  std::istringstream list(chosen ? chosen : "0,1");
  visible.clear();
  for (std::string item; std::getline(list, item, ',');) {   // up to the first that there is not
    char* end = nullptr;
    const long device = std::strtol(item.c_str(), &end, 10);
    if (end == item.c_str() || device < 0 || device >= devices) break;
    visible.push_back(int(device));
  }
  return visible.empty() ? 100 : ok;
}
Result cuDriverGetVersion(int* v) { *v = 13000; return ok; }
Result cuGetErrorName(Result r, const char** s) {
  *s = r == invalid_value ? "CUDA_ERROR_INVALID_VALUE" : r == out_of_memory ? "CUDA_ERROR_OUT_OF_MEMORY" : r == invalid_context ? "CUDA_ERROR_INVALID_CONTEXT" : r == 700 ? "CUDA_ERROR_ILLEGAL_ADDRESS" : r == unjoined ? "CUDA_ERROR_STREAM_CAPTURE_UNJOINED" : r == wrong_thread ? "CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD" : "CUDA_ERROR_UNKNOWN";
  return ok;
}
Result cuGetErrorString(Result r, const char** s) {
  *s = r == invalid_value ? "invalid argument" : r == out_of_memory ? "out of memory" : r == 700 ? "an illegal memory access was encountered" : "unknown error";
  return ok;
}
Result cuDeviceGetCount(int* n) { *n = int(visible.size()); return ok; }
Result cuDeviceGet(int* d, int i) { CALL("cuDeviceGet"); *d = i; return i < int(visible.size()) ? ok : 101; }
Result cuDeviceCanAccessPeer(int* can, int a, int b) { CALL("cuDeviceCanAccessPeer"); *can = a != b; return ok; }
Result cuDeviceGetName(char* s, int n, int d) { CALL("cuDeviceGetName"); std::snprintf(s, size_t(n), "Stand-in GPU %d", visible[size_t(d)]); return ok; }
Result cuDeviceTotalMem_v2(size_t* n, int) { CALL("cuDeviceTotalMem_v2"); *n = capacity; return ok; }
Result cuDeviceGetAttribute(int* v, int which, int) {
  CALL("cuDeviceGetAttribute");
  const std::map<int, int> known = {{1, 1024}, {8, 49152}, {10, 32}, {16, 132}, {18, 0}, {38, 52428800}, {39, 2048}, {75, 9}, {76, 0}, {97, 232448}};
  auto it = known.find(which);
  if (it == known.end()) return invalid_value;
  *v = it->second;
  return ok;
}
Result cuDevicePrimaryCtxRetain(int** c, int d) { CALL("cuDevicePrimaryCtxRetain"); contexts[d] = d; *c = &contexts[d]; return ok; }
Result cuCtxSetCurrent(int* c) { CALL("cuCtxSetCurrent"); context = c ? *c : -1; return ok; }
Result cuCtxGetCurrent(int** c) { *c = context < 0 ? nullptr : &contexts[context]; return ok; }
Result cuCtxSynchronize() {
  IN_CONTEXT("cuCtxSynchronize");
  for (Graph* g : captures) spoil(g);
  if (!captures.empty()) return unsupported;
  entries << "synchronize device " << context << '\n';
  return ok;
}
Result cuMemGetInfo_v2(size_t* available, size_t* all) { IN_CONTEXT("cuMemGetInfo_v2"); *all = capacity; *available = capacity - held[context]; return ok; }

Result cuMemAlloc_v2(uint64_t* p, size_t n) {
  IN_CONTEXT("cuMemAlloc_v2");
  UNSAFE;
  if (!n) return invalid_value;
  if (held[context] + n > capacity) return out_of_memory;
  size_t offset = of_device * size_t(context), end = offset + of_device;
  for (auto& [first, size] : live)
    if (first >= offset && first < end) {
      if (first - offset >= n + 512) break;
      offset = (first + size + 511) / 512 * 512 + 512;
    }
  live[offset] = n;
  held[context] += n;
  *p = reinterpret_cast<uint64_t>(base) + offset;
  static const bool zeroed = std::getenv("STANDIN_ZEROED");   // what no kernel writes is 0: a count, a code of success
  std::memset(shadow + offset, zeroed ? 0 : 0xA5, n);
  entries << "allocate " << n << '\n';
  return ok;
}
Result cuMemFree_v2(uint64_t p) {
  IN_CONTEXT("cuMemFree_v2");
  UNSAFE;
  auto it = live.find(p - reinterpret_cast<uint64_t>(base));
  if (it == live.end()) return invalid_value;
  held[it->first / of_device] -= it->second;
  entries << "free " << it->second << '\n';
  live.erase(it);
  return ok;
}
Result cuPointerGetAttribute(void* value, int which, uint64_t p) {
  IN_CONTEXT("cuPointerGetAttribute");
  if (which != 9 || !host(p, 0)) return invalid_value;
  *static_cast<int*>(value) = int((p - reinterpret_cast<uint64_t>(base)) / of_device);
  return ok;
}
Result cuMemHostAlloc(void** p, size_t n, unsigned) {
  IN_CONTEXT("cuMemHostAlloc");
  UNSAFE;
  *p = std::aligned_alloc(512, (n + 511) / 512 * 512);
  pinned[*p] = n;
  entries << "host_allocate " << n << '\n';
  return ok;
}
Result cuMemFreeHost(void* p) { CALL("cuMemFreeHost"); if (!pinned.erase(p)) return invalid_value; std::free(p); return ok; }

Result cuMemcpyHtoDAsync_v2(uint64_t to, const void* from, size_t n, Stream* s) {
  IN_CONTEXT("cuMemcpyHtoDAsync_v2");
  return copy("to_device", host(to, n), static_cast<const char*>(from), n, s, place_of(from));
}
Result cuMemcpyDtoHAsync_v2(void* to, uint64_t from, size_t n, Stream* s) {
  IN_CONTEXT("cuMemcpyDtoHAsync_v2");
  return copy("to_host", static_cast<char*>(to), host(from, n), n, s, place_of(to));
}
Result cuMemcpyDtoDAsync_v2(uint64_t to, uint64_t from, size_t n, Stream* s) {
  IN_CONTEXT("cuMemcpyDtoDAsync_v2");
  return copy("on_device", host(to, n), host(from, n), n, s, Place::device);
}
Result cuMemcpyPeerAsync(uint64_t to, int* to_context, uint64_t from, int* from_context, size_t n, Stream* s) {
  IN_CONTEXT("cuMemcpyPeerAsync");
  const std::string words = "between " + std::to_string(*from_context) + ' ' + std::to_string(*to_context);
  return copy(words.c_str(), host(to, n), host(from, n), n, s, Place::device);
}
Result cuMemsetD8Async(uint64_t p, unsigned char v, size_t n, Stream* s) { IN_CONTEXT("cuMemsetD8Async"); return fill("set8", p, v, n, s); }
Result cuMemsetD16Async(uint64_t p, unsigned short v, size_t n, Stream* s) { IN_CONTEXT("cuMemsetD16Async"); return fill("set16", p, v, n, s); }
Result cuMemsetD32Async(uint64_t p, unsigned v, size_t n, Stream* s) { IN_CONTEXT("cuMemsetD32Async"); return fill("set32", p, v, n, s); }
Result cuMemsetD2D32Async(uint64_t p, size_t pitch, unsigned v, size_t width, size_t height, Stream* s) {
  IN_CONTEXT("cuMemsetD2D32Async");
  for (size_t i = 0; i < height; i++)
    if (const Result r = fill("set_row", p + i * pitch, v, width, s)) return r;
  return ok;
}

Result cuStreamCreateWithPriority(Stream** s, unsigned, int) { IN_CONTEXT("cuStreamCreateWithPriority"); *s = new Stream{next_stream++, context, false}; return ok; }
Result cuStreamSynchronize(Stream* s) {
  IN_CONTEXT("cuStreamSynchronize");
  if (s && s->graph) return spoil(s->graph);
  stream_of(s).recorded = false;
  entries << "synchronize " << stream_id(s) << '\n';
  return ok;
}
Result cuStreamQuery(Stream* s) {
  IN_CONTEXT("cuStreamQuery");
  if (s && s->graph) return spoil(s->graph);
  return (s ? s : defaults)->held ? not_ready : ok;
}
Result cuStreamWaitEvent(Stream* s, Event* e, unsigned flags) {
  IN_CONTEXT("cuStreamWaitEvent");
  Graph* into = s ? s->graph : nullptr;
  if (flags & 1) {
    if (!into) return invalid_value;
    return submit(s, [e](Stream* of) { stream_of(of).time = std::max(stream_of(of).time, e->time); return ok; });
  }
  if (into && e->capture != into->id) { spoil(into); return isolation; }   // it would depend on work outside
  if (e->capture) {
    auto from = std::find_if(captures.begin(), captures.end(), [&](Graph* g) { return g->id == e->capture; });
    if (from == captures.end()) return captured_event;
    if (!s) { spoil(*from); return isolation; }
    s->graph = *from;
    s->graph->members.insert(s);
    for (auto [of, count] : e->seen) s->seen[of] = std::max(s->seen[of], count);
  }
  stream_of(s).time = std::max(stream_of(s).time, e->time);
  entries << "wait " << stream_id(s) << " for " << e->id << '\n';
  return ok;
}
Result cuEventCreate(Event** e, unsigned flags) { IN_CONTEXT("cuEventCreate"); *e = new Event{next_event++, false, !(flags & 2), nullptr, 0}; return ok; }
Result cuEventDestroy_v2(Event* e) { delete e; return ok; }
void reach(Event* e, Stream* s) {
  e->recorded = true;
  e->stream = s ? s : defaults;
  e->held_since = releases;
  e->capture = e->stream->graph ? e->stream->graph->id : 0;
  e->seen = e->stream->seen;
  Stream& stream = stream_of(s);
  if (!stream.recorded || !stream.worked) stream.time = std::max(stream.time, now());
  stream.recorded = true;
  stream.worked = false;
  e->time = stream.time;
  entries << "record " << e->id << " stream " << stream_id(s) << '\n';
}
// External ones are nodes of a graph, and outside of it events as all others.
Result cuEventRecordWithFlags(Event* e, Stream* s, unsigned flags) {
  IN_CONTEXT("cuEventRecordWithFlags");
  const bool as_node = flags & 1;
  if (as_node && !(s && s->graph)) return invalid_value;
  if (as_node) return submit(s, [e](Stream* of) { reach(e, of); return ok; });
  reach(e, s);
  return ok;
}
Result cuEventQuery(Event* e) {
  IN_CONTEXT("cuEventQuery");
  UNSAFE;
  if (e->capture) return captured_event;
  return e->recorded && e->stream->held && e->held_since == releases ? not_ready : ok;
}
Result cuEventSynchronize(Event* e) {
  IN_CONTEXT("cuEventSynchronize");
  UNSAFE;
  if (e->capture) return captured_event;
  entries << "synchronize event " << e->id << '\n';
  return ok;
}

Result cuEventElapsedTime(float* ms, Event* a, Event* b) { CALL("cuEventElapsedTime"); *ms = float(double(b->time - a->time) / 1e6); return a->timing && b->timing ? ok : 400; }

Result cuModuleLoadData(Module** m, const void* image) {
  IN_CONTEXT("cuModuleLoadData");
  UNSAFE;
  *m = new Module{static_cast<const char*>(image)};
  entries << "load\n";
  return ok;
}
Result cuModuleGetFunction(Function** f, Module* m, const char* name) {
  IN_CONTEXT("cuModuleGetFunction");
  const bool elf = std::memcmp(m->image, "\177ELF", 4) == 0;
  *f = new Function{name, elf ? cubin_parameters(m->image, name) : test_parameters(m->image), 0};
  return (*f)->sizes.empty() ? not_found : ok;
}
Result cuFuncGetAttribute(int* v, int which, Function*) { CALL("cuFuncGetAttribute"); *v = which == 0 ? 1024 : 0; return ok; }
Result cuFuncSetAttribute(Function* f, int which, int v) { CALL("cuFuncSetAttribute"); if (which == 8) f->dynamic_shared = v; return ok; }
Result cuFuncSetCacheConfig(Function*, int) { CALL("cuFuncSetCacheConfig"); return ok; }
Result cuFuncGetParamInfo(Function* f, size_t i, size_t* offset, size_t* size) {
  CALL("cuFuncGetParamInfo");
  if (i >= f->sizes.size()) return invalid_value;
  *offset = 0;
  *size = f->sizes[i];
  return ok;
}
Result cuLaunchKernel(Function* f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared, Stream* s, void** parameters, void**) {
  IN_CONTEXT("cuLaunchKernel");
  const unsigned grid[] = {gx, gy, gz}, block[] = {bx, by, bz};
  return launch(f, grid, block, shared, s, parameters, "");
}
struct Attribute { int id; char pad[4]; union { char room[64]; int value; struct { unsigned x, y, z; } cluster; }; };
struct Config { unsigned grid[3], block[3], shared; Stream* stream; Attribute* attributes; unsigned count; };
Result cuLaunchKernelEx(const Config* c, Function* f, void** parameters, void**) {
  IN_CONTEXT("cuLaunchKernelEx");
  std::string words;
  for (unsigned i = 0; i < c->count; i++) words += " attribute " + std::to_string(c->attributes[i].id) + "=" + std::to_string(c->attributes[i].value);
  return launch(f, c->grid, c->block, c->shared, c->stream, parameters, words.c_str());
}

#include "standin_graphs.h"
}
