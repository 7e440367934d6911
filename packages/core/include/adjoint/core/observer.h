// Watching a thread: ops at the door, functions made of them, custom Functions, backward and its nodes, the user's ranges, memory. While nobody watches: one load and branch.
#pragma once
#include <adjoint/core/op.h>

#include <atomic>
#include <optional>

namespace adjoint {

namespace cuda { struct Work; }

// Something that runs, and what it is given.
struct Span {
  enum class Kind : uint8_t { op, in_place, function, custom, backward, evaluation, node, range };
  Kind kind;
  Tensors x;                      // operands; of a node, its cotangents
  const Op* op = nullptr;         // of an op
  const Attrs* attrs = nullptr;
  const Object* node = nullptr;   // the engine's Node: of its function alone (node), with hooks and sums around it (evaluation), or that a custom Function makes
  const char* name = nullptr;     // of a function, a custom Function or a range
  const char* args = nullptr;     // of a range: what the user says about it
};

// What an observer does itself is not watched.
struct ADJOINT_API Observer {
  virtual ~Observer();
  virtual void begin(const Span&) noexcept = 0;
  virtual void end(const Span&, Tensors y) = 0;    // results; of a node, its gradients. It may throw
  virtual void fail(const Span&) noexcept = 0;     // an error is on its way instead
  virtual bool supply(const Span&, Tensor*) { return false; }   // true: here are the results of this op, which does not run. It may throw
  virtual void memory(const void*, int64_t, Device) noexcept {}   // a tensor's memory: bytes allocated, or freed (negative)
  virtual void work(const cuda::Work&, bool) noexcept {}          // for a GPU: about to be put on its stream, then that it is there
};

ADJOINT_API extern const std::atomic<uint32_t>* const observers;   // how many there are, in all threads together
inline bool watched() noexcept { return __builtin_expect(observers->load(std::memory_order_relaxed) != 0, false); }

ADJOINT_API void add_observer(Observer& o);            // of this thread
ADJOINT_API bool remove_observer(Observer& o) noexcept;   // false: it does not watch this thread
ADJOINT_API void* observers_here() noexcept;           // this thread's, for swap_observers in another one
ADJOINT_API void swap_observers(void* there) noexcept;
ADJOINT_API void tell_memory(const void* block, int64_t bytes, Device where) noexcept;

// Tells this thread's observers of one span. The span is known by its address until it ends; without `end`, it failed.
class ADJOINT_API Watch {
 public:
  explicit Watch(const Span& s) noexcept;
  Watch(const Watch&) = delete;
  ~Watch();
  bool supplied(Tensor* y);
  void end(Tensors y = {});

 private:
  const Span span_;
  bool open_;
};

// Operands in a row, lent without counting references.
template <size_t N> class Given {
 public:
  template <class... T> explicit Given(const T&... x) noexcept : p_{x.get()...} {}
  operator Tensors() const noexcept { return {reinterpret_cast<const Tensor*>(p_), N}; }

 private:
  TensorImpl* p_[N];
};
template <class... T> Given(const T&...) -> Given<sizeof...(T)>;

// The function made of several records that runs on this thread, the outermost one, by the name of its node in PyTorch: the engine
// calls the node of the result so. `first` is the engine's: the sequence number of the first node made in it.
struct Composition {
  const char* node;
  uint64_t first;
};
ADJOINT_API extern constinit thread_local Composition composition;

class NodeName {
 public:
  explicit NodeName(const char* node) noexcept : named_(node && !composition.node) { if (named_) composition = {node, 0}; }
  NodeName(const NodeName&) = delete;
  ~NodeName() { if (named_) composition.node = nullptr; }

 private:
  const bool named_;
};

// Functions that are no records are seen too, under PyTorch's name: factories, random numbers, what is made of other ops. The operands must
// outlive it. `node`: what PyTorch calls the node of its result, where the function has one of its own.
class Named {
 public:
  explicit Named(const char* name, Tensors x = {}, const char* node = nullptr) : node_(node) { if (watched()) watch_.emplace(Span{.kind = Span::Kind::function, .x = x, .name = name}); }

 private:
  std::optional<Watch> watch_;   // ends without results, as if it failed
  const NodeName node_;
};

}  // namespace adjoint
