// Exceptions: which Python type they become, and messages of the form "op: rule, got value".
#pragma once
#include <adjoint/core/export.h>

#include <exception>
#include <sstream>
#include <string>
#include <utility>

namespace adjoint {

enum class ErrorKind { runtime, shape, index, type, value, not_implemented };  // shape: RuntimeError and ValueError both

class ADJOINT_API Error : public std::exception {
 public:
  Error(ErrorKind kind, std::string text) : kind_(kind), text_(std::move(text)) {}
  const char* what() const noexcept override { return text_.c_str(); }
  ErrorKind kind() const noexcept { return kind_; }

 private:
  ErrorKind kind_;
  std::string text_;
};

namespace detail {
// What a part of a message is handed on as: texts of any length are one type, small values lie in registers.
inline const char* part(const char* text) { return text; }
template <class A> requires std::is_scalar_v<A> A part(A value) { return value; }
template <class A> requires std::is_class_v<A> const A& part(const A& value) { return value; }

// A part as text: how many types have parts is less than how many messages.
struct Part {
  const void* value;
  void (*print)(std::ostream&, const void*);
};
template <class A> void print_part(std::ostream& text, const void* value) { text << *static_cast<const A*>(value); }
[[noreturn]] ADJOINT_API void raise_parts(ErrorKind kind, const Part* parts, size_t count);

template <class... A>
[[noreturn, gnu::noinline, gnu::cold]] void raise(ErrorKind kind, A... parts) {
  const Part all[] = {{&parts, print_part<std::decay_t<A>>}...};
  raise_parts(kind, all, sizeof...(A));
}
}  // namespace detail

template <class... A>
[[noreturn]] inline void fail(ErrorKind kind, const A&... parts) {
  detail::raise<decltype(detail::part(parts))...>(kind, detail::part(parts)...);
}

template <class... A>
inline void expect(bool ok, ErrorKind kind, const A&... parts) {
  if (!ok) [[unlikely]] fail(kind, parts...);
}
template <class First, class... A>
  requires(!std::is_same_v<First, ErrorKind>)
inline void expect(bool ok, const First& first, const A&... parts) {
  if (!ok) [[unlikely]] fail(ErrorKind::runtime, first, parts...);
}

}  // namespace adjoint
