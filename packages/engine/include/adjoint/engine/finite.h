// Results that are not finite: found at the speed of a sum, and traced to the operation that made the first one.
#pragma once
#include <adjoint/core/observer.h>
#include <adjoint/engine/node.h>

namespace adjoint::engine {

enum class Bad : uint8_t { none, nan, inf };
struct Finding { Bad what = Bad::none; Tensor where; };   // where: the plain values that are bad
// The values of a tensor, and its tangents. Infinities are only looked for if asked.
ADJOINT_API Finding look(const Tensor& t, bool inf);

// Watches operations and the nodes of backward. What happens inside one of them (a derivative rule may pass through 0 / 0 and
// mask it) is only suspected; it is reported when the whole comes out bad.
class ADJOINT_API FiniteWatch : public Observer {
 public:
  explicit FiniteWatch(bool inf) : inf_(inf) {}
  void begin(const Span& s) noexcept override;
  void end(const Span& s, Tensors y) override;
  void fail(const Span& s) noexcept override;

 protected:
  // A result is bad, or its tangent. True: this is where it came from, and it is remembered if it is the first; false: it only came along.
  virtual bool suspect(const Span& s, const Finding& found) = 0;
  virtual bool suspects() const noexcept = 0;
  virtual void forget() noexcept = 0;
  [[noreturn]] virtual void accuse() = 0;             // throws what is remembered
  const Op* pushed(const Op* running) const noexcept; // the operation around it whose tangent is computed, or none

 private:
  struct Open { const Span* span; bool user; };       // user: code of the user runs inside, each operation for itself
  bool inside() const noexcept { return !open_.empty() && !open_.back().user; }
  bool close(const Span& s) noexcept;
  bool seen(const Span& s, const Tensor& t) const noexcept;

  const bool inf_;
  std::vector<Open> open_;
  std::vector<const Storage*> clean_;                 // results inside the outermost span that were looked at
};

}  // namespace adjoint::engine
