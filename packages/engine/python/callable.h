// Python objects held by C++ ones, and C++ ones as Python objects.
#pragma once
#include "node_type.h"

namespace adjoint::engine::python {

// May be dropped from any thread.
class Callable {
 public:
  explicit Callable(nb::handle f) : f_(f.inc_ref().ptr()) {}
  ~Callable() { drop(); }
  Callable(const Callable&) = delete;
  void drop() {
    PyObject* f = std::exchange(f_, nullptr);
    if (!f) return;
    nb::gil_scoped_acquire gil;
    Py_DECREF(f);
  }
  explicit operator bool() const { return f_; }
  template <class... A> nb::object operator()(A&&... a) const { return nb::borrow(f_)(std::forward<A>(a)...); }
  PyObject* get() const { return f_; }

 private:
  PyObject* f_;
};

inline nb::object none_or(const Tensor& t) { return t ? nb::cast(t) : nb::none(); }
inline std::string kind_of(nb::handle o) { return nb::cast<std::string>(nb::str(o.type().attr("__name__"))); }

// Those edges that PyTorch's node has: operands that are positions, masks, no tensors or, in some operations, numbers have none.
std::vector<size_t> shown_edges(const Node& n);

// Python hangs on the node now: it must be visible to the collector.
inline void taint(Node& n) {
  n.tainted = true;
  expose_node(n);
}

}  // namespace adjoint::engine::python
