// Source positions of ops, in a few nanoseconds and without frame objects.
//
// One machine word, the address of the current bytecode instruction, identifies a position; a direct-mapped cache turns
// it into an id. The word is read from the interpreter's frame through offsets that are checked at import against the
// public API; where the check fails, the public API is used throughout.
#include "site.h"

#include <adjoint/core/error.h>
#include <adjoint/core/process.h>

#if defined(__unix__) || defined(__APPLE__)
#include <pthread.h>
#endif

#include <cstdlib>
#include <cstring>
#include <deque>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "reference.h"

namespace adjoint::python::site {

namespace {

// ---- the interpreter, beyond the limited API

struct Layout { uint32_t frame, indirect, code, instruction, previous, owner, bytecode; };  // offsets; indirect: 1 + offset, or 0
Layout layout{};
bool fast = false;
bool unchecked_is_global = false;  // 3.11: "current thread state" is whoever holds the lock
size_t thread_ident = 0;           // there, the offset of its thread's ident; 0: not found
PyThreadState* (*thread_state)() = nullptr;
int (*frame_lasti)(PyFrameObject*) = nullptr;
int (*address_to_location)(PyObject*, int, int*, int*, int*, int*) = nullptr;
PyTypeObject* code_type = nullptr;

template <class F> void look_up(F& f, const char* name) { f = reinterpret_cast<F>(find_symbol(nullptr, name)); }
template <class T> T& at(const void* p, size_t offset) { return *reinterpret_cast<T*>(static_cast<char*>(const_cast<void*>(p)) + offset); }

// What the interpreter stores as a thread's ident, without a call of it where that is a word of the C library.
unsigned long this_thread() {
#if defined(__unix__) || defined(__APPLE__)
  return (unsigned long)pthread_self();   // a number or a pointer
#else
  return PyThread_get_thread_ident();
#endif
}

// Is ts, which holds the lock, this thread's? Asking the interpreter costs as much as a whole small op.
bool is_mine(PyThreadState* ts) {
  if (!unchecked_is_global) return true;
  if (thread_ident) return at<unsigned long>(ts, thread_ident) == this_thread();
  return ts == PyGILState_GetThisThreadState();
}

// In the state of a thread that holds the lock, one word alone is its ident.
size_t find_thread_ident(PyThreadState* ts) {
  size_t found = 0;
  for (size_t offset = 0; offset < 256; offset += sizeof(unsigned long)) {
    if (at<unsigned long>(ts, offset) != this_thread()) continue;
    if (found) return 0;
    found = offset;
  }
  return found;
}

void* top_frame(PyThreadState* ts) {
  void* f = at<void*>(ts, layout.frame);
  return layout.indirect ? (f ? at<void*>(f, layout.indirect - 1) : nullptr) : f;
}

PyObject* code_of(void* frame) {
  auto* code = reinterpret_cast<PyObject*>(at<uintptr_t>(frame, layout.code) & ~uintptr_t(3));  // low bits: 3.14's tag
  return code && Py_TYPE(code) == code_type && at<uint8_t>(frame, layout.owner) < 3 ? code : nullptr;
}

// Code without a first line is the interpreter's own (3.13 calls __init__ from such), and lies where not even references can be counted.
bool is_of_program(PyObject* code) {
  Reference line(PyObject_GetAttrString(code, "co_firstlineno"));
  return line && PyLong_AsLong(line.get()) > 0;
}

int lasti_of(void* frame, PyObject* code) {
  return static_cast<int>(at<uintptr_t>(frame, layout.instruction) - reinterpret_cast<uintptr_t>(code) - layout.bytecode);
}

// ---- positions: never freed, without duplicates; bounded by the program's text

struct Hit { uint32_t id, library; };
struct Code { std::unordered_map<int, Hit> hits; PyObject* death; };  // death: a weak reference with a callback
struct Entry { uintptr_t key; Hit hit; };

constexpr int cache_bits = 12;
Entry cache[1 << cache_bits];
std::deque<std::string> names;
std::unordered_map<std::string_view, const std::string*> name_index;
std::deque<Site> sites{Site{}};
std::unordered_map<std::string, uint32_t> site_index;
std::unordered_map<PyObject*, Code> codes;
std::vector<std::string> library;

Entry& entry(uintptr_t key) { return cache[(key * 0x9E3779B97F4A7C15ull) >> (64 - cache_bits)]; }

const std::string* intern(std::string_view s) {
  if (auto it = name_index.find(s); it != name_index.end()) return it->second;
  names.emplace_back(s);
  return name_index[names.back()] = &names.back();
}

// A code object's memory may be used again: forget what was known about it.
PyObject* on_death(PyObject* key, PyObject*) {
  if (auto it = codes.find(static_cast<PyObject*>(PyLong_AsVoidPtr(key))); it != codes.end()) {
    Py_DECREF(it->second.death);
    codes.erase(it);
  }
  std::memset(cache, 0, sizeof cache);
  Py_RETURN_NONE;
}
PyMethodDef death_method{"_code_died", on_death, METH_O, nullptr};

std::string text(PyObject* o, const char* attribute) {
  Reference s(PyObject_GetAttrString(o, attribute));
  const char* u = s ? PyUnicode_AsUTF8AndSize(s.get(), nullptr) : nullptr;
  return u ? u : "?";
}

Site position(PyObject* code, int lasti) {
  Site s;
  if (address_to_location) {
    address_to_location(code, lasti, &s.line, &s.column, &s.end_line, &s.end_column);
    return s;
  }
  Reference all(PyObject_CallMethod(code, "co_positions", nullptr));
  for (int i = 0; all && i <= lasti / 2; i++) {
    Reference one(PyIter_Next(all.get()));
    if (!one) break;
    if (i < lasti / 2) continue;
    int* fields[] = {&s.line, &s.end_line, &s.column, &s.end_column};
    for (int j = 0; j < 4; j++)
      if (PyObject* v = PyTuple_GetItem(one.get(), j); v && v != Py_None) *fields[j] = static_cast<int>(PyLong_AsLong(v));
  }
  return s;
}

Hit resolve(PyObject* code, int lasti) {
  auto [known, fresh] = codes.try_emplace(code);
  if (fresh) {
    Reference key(PyLong_FromVoidPtr(code)), callback(PyCFunction_New(&death_method, key.get()));
    known->second.death = PyWeakref_NewRef(code, callback.get());
  }
  if (auto hit = known->second.hits.find(lasti); hit != known->second.hits.end()) return hit->second;
  Site s = position(code, lasti);
  const std::string file = text(code, "co_filename"), function = text(code, "co_qualname");
  s.file = intern(file);
  s.function = intern(function);
  std::string key = file + '\n' + function;
  for (int v : {s.line, s.column, s.end_line, s.end_column}) key += '\n' + std::to_string(v);
  auto [it, is_new] = site_index.try_emplace(key, static_cast<uint32_t>(sites.size()));
  if (is_new) sites.push_back(s);
  uint32_t in_library = 0;
  for (const auto& prefix : library) in_library |= file.starts_with(prefix);
  return codes[code].hits[lasti] = Hit{it->second, in_library};  // looked up again: attribute access may have run Python
}

// First sight of a position: may run Python, so an exception in flight is set aside.
Hit miss(uintptr_t key, PyObject* code, int lasti) {
  if (!code) return {0, 1};  // a frame of the interpreter's own
  PyObject *type, *value, *trace;
  PyErr_Fetch(&type, &value, &trace);
  Hit hit{0, 1};
  if (is_of_program(code)) {
    Reference keep(Py_NewRef(code));
    hit = resolve(code, lasti);
  }
  entry(key) = {key, hit};
  PyErr_Clear();
  PyErr_Restore(type, value, trace);
  return hit;
}

uint32_t capture_fast() {
  PyThreadState* ts = thread_state();
  if (!ts || !is_mine(ts)) return 0;
  uint32_t innermost = 0;
  for (void* f = top_frame(ts); f; f = at<void*>(f, layout.previous)) {
    const uintptr_t key = at<uintptr_t>(f, layout.instruction);
    const Entry& e = entry(key);
    Hit hit = e.hit;
    if (e.key != key) [[unlikely]] {
      PyObject* code = code_of(f);
      hit = miss(key, code, code ? lasti_of(f, code) : 0);
    }
    if (!hit.library) return hit.id;
    if (!innermost) innermost = hit.id;
  }
  return innermost;  // nothing but library code
}

int public_lasti(PyObject* frame) {
  if (frame_lasti) return frame_lasti(reinterpret_cast<PyFrameObject*>(frame));
  Reference v(PyObject_GetAttrString(frame, "f_lasti"));
  return v ? static_cast<int>(PyLong_AsLong(v.get())) : 0;
}

Reference caller_of(PyObject* frame) {
  Reference back(PyObject_GetAttrString(frame, "f_back"));
  return back.get() == Py_None ? Reference() : std::move(back);
}

uint32_t capture_public() {
  if (!attached()) return 0;
  uint32_t innermost = 0;
  Reference frame(Py_XNewRef(reinterpret_cast<PyObject*>(PyEval_GetFrame())));
  while (frame) {
    Reference code(reinterpret_cast<PyObject*>(PyFrame_GetCode(reinterpret_cast<PyFrameObject*>(frame.get()))));
    const int lasti = public_lasti(frame.get());
    const uintptr_t key = (reinterpret_cast<uintptr_t>(code.get()) << 1) + lasti;
    const Entry& e = entry(key);
    const Hit hit = e.key == key ? e.hit : miss(key, code.get(), lasti);
    if (!hit.library) return hit.id;
    if (!innermost) innermost = hit.id;
    frame = caller_of(frame.get());
  }
  return innermost;
}

// ---- the check at import: does the internal walk agree with the public one, frame by frame?

PyObject* agree(PyObject*, PyObject*) {
  bool ok = true;
  int depth = 0;
  Reference frame(Py_XNewRef(reinterpret_cast<PyObject*>(PyEval_GetFrame())));
  for (void* f = top_frame(thread_state()); f && ok && frame; f = at<void*>(f, layout.previous)) {
    PyObject* code = code_of(f);
    if (!code || !is_of_program(code)) continue;
    Reference other(reinterpret_cast<PyObject*>(PyFrame_GetCode(reinterpret_cast<PyFrameObject*>(frame.get()))));
    ok = code == other.get() && lasti_of(f, code) == public_lasti(frame.get());
    frame = caller_of(frame.get());
    depth++;
  }
  return PyBool_FromLong(ok && !frame && depth >= 2);
}
PyMethodDef agree_method{"agree", agree, METH_NOARGS, nullptr};

constexpr const char* probe = R"(
def gen(): yield agree()
def inner(_): return agree()
class Made:
  def __init__(self): self.ok = agree()
def run(): return all([agree(), agree(), *gen(), *map(inner, [0]), *[agree() for _ in '12'], sorted([1], key=inner) == [1],
                       *[Made().ok for _ in range(40)]])
ok = run()
)";

bool probe_agrees() {
  Reference globals(PyDict_New()), function(PyCFunction_New(&agree_method, nullptr));
  PyDict_SetItemString(globals.get(), "agree", function.get());
  PyDict_SetItemString(globals.get(), "__builtins__", PyEval_GetBuiltins());
  Reference code(Py_CompileString(probe, "<adjoint site probe>", Py_file_input));
  Reference result(code ? PyEval_EvalCode(code.get(), globals.get(), globals.get()) : nullptr);
  const bool ok = result && PyDict_GetItemString(globals.get(), "ok") == Py_True;
  PyErr_Clear();
  return ok;
}

// 3.11 and 3.12 are frozen; later versions publish their offsets for debuggers in _PyRuntime.
bool find_layout(int minor) {
  if (minor == 11) { layout = {56, 1 + 8, 32, 56, 48, 69, 184}; return true; }
  if (minor == 12) { layout = {56, 1 + 0, 0, 56, 8, 70, 192}; return true; }
  if (minor != 13 && minor != 14) return false;
  uint64_t* w = nullptr;
  look_up(w, "_PyRuntime");
  const int i = minor == 13 ? 19 : 22;  // the first word about thread states
  if (!w || std::memcmp(w, "xdebugpy", 8) != 0 || (w[1] >> 16) != (0x300u | minor) || w[2] != 0) return false;
  auto word = [&](int k) { return static_cast<uint32_t>(w[i + k]); };
  layout = {word(4), 0, word(11), word(12), word(10), word(14), word(minor == 13 ? 24 : 26)};
  for (uint32_t o : {layout.frame, layout.code, layout.instruction, layout.previous, layout.owner, layout.bytecode})
    if (o >= 1024) return false;
  return true;
}

}  // namespace

bool attached() noexcept {
  if (!thread_state) return PyGILState_GetThisThreadState();
  PyThreadState* ts = thread_state();
  return ts && is_mine(ts);
}

uint32_t capture() noexcept { return fast ? capture_fast() : capture_public(); }

Site info(uint32_t id) {
  expect(id < sites.size(), ErrorKind::index, "site_info: no site ", id);
  return sites[id];
}

void skip_prefix(std::string directory) {
  library.push_back(std::move(directory));
  for (auto& [code, known] : codes) known.hits.clear();
  std::memset(cache, 0, sizeof cache);
}

const std::vector<std::string>& skipped() noexcept { return library; }

bool init() {
  look_up(thread_state, "PyThreadState_GetUnchecked");
  if (!thread_state) look_up(thread_state, "_PyThreadState_UncheckedGet");
  look_up(frame_lasti, "PyFrame_GetLasti");
  look_up(address_to_location, "PyCode_Addr2Location");
  const int minor = std::atoi(Py_GetVersion() + 2);
  unchecked_is_global = minor <= 12;
  if (unchecked_is_global && thread_state) thread_ident = find_thread_ident(thread_state());
  Reference code(Py_CompileString("0", "<adjoint>", Py_eval_input));
  code_type = code ? Py_TYPE(code.get()) : nullptr;
  const bool plain = sizeof(void*) == 8 && thread_state && frame_lasti && code_type && !PySys_GetObject("gettotalrefcount");
  return fast = plain && find_layout(minor) && probe_agrees();
}

}  // namespace adjoint::python::site
