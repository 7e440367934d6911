// __torch_dispatch__ for Python: a call goes to one function, which finds who answers it.
#include <adjoint/engine/dispatch.h>

#include <nanobind/stl/optional.h>

#include "bind_dispatch.h"
#include "fields.h"

namespace adjoint::engine::python {

namespace {

nb::object given(const Tensor& t) { return t->flags & flag_wrapped && t->storage ? nb::cast(item(t)) : nb::cast(t); }

// A call as its record knows it: it can be run on other operands.
class DispatchedCall {
 public:
  DispatchedCall(const Op& op, Tensors x, const Attrs& attrs, bool in_place) : op_(op), attrs_(attrs), in_place_(in_place) {
    if (op.types && !op.alias) dtype_ = op.types(x, attrs).out[0];
  }

  nb::list run(const nb::list& operands) const {
    TensorVector x;
    for (nb::handle o : operands) {
      x.push_back(nb::cast<adjoint::python::Operand>(o).t);
    }
    nb::list results;
    if (in_place_) {
      apply_inplace(op_, x[0], Tensors(x).subspan(1), attrs_);
      results.append(nb::cast(x[0]));
      return results;
    }
    Tensor y[max_outputs];
    apply(op_, x, attrs_, y);
    for (int k = 0; k < op_.outputs; k++) results.append(nb::cast(y[k]));
    return results;
  }
  const char* name() const { return op_.name; }
  int outputs() const { return op_.outputs; }
  bool in_place() const { return in_place_; }
  nb::dict attributes() const { return python::attributes(op_, attrs_); }
  std::optional<DType> dtype() const { return dtype_; }   // of the first result

 private:
  const Op& op_;
  const Attrs attrs_;
  const bool in_place_;
  std::optional<DType> dtype_;
};

PyObject *answer = nullptr, *answer_detach = nullptr;   // live as long as the process

void call(const Op& op, Tensors x, const Attrs& attrs, bool in_place, Tensor* y) {
  nb::gil_scoped_acquire gil;
  nb::list operands;
  for (const Tensor& t : x) operands.append(given(t));
  const nb::object found = nb::borrow(answer)(DispatchedCall(op, x, attrs, in_place), operands);
  if (in_place) return;
  expect(nb::len(found) == static_cast<size_t>(op.outputs), op.name, ": __torch_dispatch__ must give ", op.outputs, " results, got ", nb::len(found));
  for (int k = 0; k < op.outputs; k++)
    expect(nb::try_cast(found[k], y[k]) && y[k], ErrorKind::type, op.name, ": __torch_dispatch__ must give tensors, got ", kind_of(found[k]));
}

Tensor detached(const Tensor& t) {
  nb::gil_scoped_acquire gil;
  Tensor y;
  expect(nb::try_cast(nb::borrow(answer_detach)(t), y) && y, ErrorKind::type, "detach: __torch_dispatch__ must give a tensor");
  return y;
}

constexpr Dispatcher python_dispatcher{call, detached};

}  // namespace

void bind_dispatch(nb::module_& m) {
  nb::class_<DispatchedCall>(m, "DispatchedCall")
      .def("run", &DispatchedCall::run, nb::arg("operands"))
      .def_prop_ro("name", &DispatchedCall::name)
      .def_prop_ro("outputs", &DispatchedCall::outputs)
      .def_prop_ro("in_place", &DispatchedCall::in_place)
      .def_prop_ro("dtype", &DispatchedCall::dtype)
      .def_prop_ro("attributes", &DispatchedCall::attributes);
  m.def("set_dispatcher", [](nb::handle f, nb::handle detach) {
    answer = f.inc_ref().ptr();
    answer_detach = detach.inc_ref().ptr();
    dispatcher = &python_dispatcher;
  }, nb::arg("answer"), nb::arg("answer_detach"));
  m.def("set_dispatch_modes", [](int count) { watch_modes((count != 0) - (std::exchange(dispatch_modes, count) != 0)); }, nb::arg("count"));
  m.def("set_dispatch_off", [](bool off) { return std::exchange(dispatch_off, off); }, nb::arg("off"));
}

}  // namespace adjoint::engine::python
