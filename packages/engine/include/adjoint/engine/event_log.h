// What one thread ran, when: the raw material of profiles. Written in C++ so that an event costs a fraction of a microsecond.
#pragma once
#include <adjoint/core/observer.h>
#include <adjoint/engine/device_log.h>
#include <adjoint/engine/node.h>

#include <deque>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace adjoint::engine {

class ADJOINT_API EventLog final : public Observer {
 public:
  struct Options { bool shapes = false, memory = false, sites = false, device = false; };   // device: times of work on GPUs
  static constexpr uint32_t none = ~0u;

  // An operand or a result, as it was. Numbers among the operands keep their value.
  struct Operand { Dims sizes, strides; DType dtype; std::optional<Scalar> number; };
  struct Event {
    Span::Kind kind;
    bool failed = false;
    bool made_node = false;              // then `sequence` is that of the node that a call recorded, or of the node that ran
    const Op* op = nullptr;
    int8_t rank[2] = {-1, -1};           // of the first two operands
    uint32_t name = none, args = none;   // of what is no op: see name()
    uint32_t parent = none;              // the event around it
    uint32_t site = 0;                   // the user's line; of a node, where it was recorded
    uint32_t operands = none, results = none;   // the first in detail()
    uint32_t operand_count = 0, result_count = 0;
    uint32_t attrs = none;               // of a call that has any: see attrs()
    int64_t start = 0, end = 0;          // nanoseconds of the monotonic clock
    uint64_t sequence = 0;
    const void* node = nullptr;          // that node's address, where it is known: other threads use the same numbers
  };
  struct Memory { int64_t time, bytes; uint32_t event; Device where; };   // event: the innermost one that ran

  explicit EventLog(Options o) : options_(o) {}
  void start();                          // watches this thread from now on; one thread at a time
  bool stop() noexcept;                  // what still runs ends now, and work on GPUs is waited for. False: another thread started it, and must stop it

  const std::deque<Event>& events() const { return events_; }
  const std::deque<Memory>& memory() const { return memory_; }
  const std::deque<Operand>& detail() const { return detail_; }
  const Attrs& attrs(uint32_t i) const { return attrs_[i]; }
  const DeviceLog& device() const { return device_; }
  const std::string& name(uint32_t id) const { return names_[id]; }
  uint32_t thread() const noexcept { return thread_; }   // threads are numbered from 1 as they start a log

  void begin(const Span& s) noexcept override;
  void end(const Span& s, Tensors y) override;
  void fail(const Span& s) noexcept override;
  void memory(const void* block, int64_t bytes, Device where) noexcept override;
  void work(const cuda::Work& w, bool put) noexcept override;

 private:
  struct Open { const Span* span; uint32_t event; uint64_t sequence; };

  uint32_t intern(std::string name);
  uint32_t describe(Tensors x, uint32_t& count);
  Event* close(const Span& s, int64_t now) noexcept;
  uint32_t current() const noexcept { return open_.empty() ? none : open_.back().event; }

  const Options options_;
  bool running_ = false;
  uint32_t thread_ = 0;
  std::deque<Event> events_;
  std::deque<Memory> memory_;
  std::deque<Operand> detail_;
  std::deque<Attrs> attrs_;
  DeviceLog device_;
  std::vector<Open> open_;
  std::deque<std::string> names_;
  std::unordered_map<std::string, uint32_t> ids_;
};

}  // namespace adjoint::engine
