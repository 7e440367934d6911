// `out=`: the result of any function of the module, written into a tensor that is given.
#include "out.h"

#include <algorithm>
#include <sstream>
#include <string_view>
#include <vector>

#include "keywords.h"
#include "warn.h"

namespace adjoint::python {

Tensor rewritten(const Tensor& x, Rewriting f) {
  Tensor y;
  f(x->keys ? clone(x) : x, y);
  if (y->keys && !x->keys) f(clone(x), y);  // another operand has history
  expect(category(y.dtype()) <= category(x.dtype()), "result type ", y.dtype(), " can't be cast to the desired output type ", x.dtype());
  copy_(x, y);
  return x;
}

Tensor updated_by(const Tensor& x, Rewriting f) {
  Tensor y;
  {
    const Updating here(x);
    f(x, y);
  }
  return y.is(x) ? y : rewritten(x, f);
}

namespace {

// Ranges have a length and no shape: they fill tensors of as many elements.
bool is_range(const std::string& name) { return name == "arange" || name == "range" || name == "linspace" || name == "logspace"; }

// A call that was told how much it makes says nothing; arange computes it, and may come to another number than was meant.
void warn_of_resizing(const std::string& name, const Tensor& y, const Tensor& out, bool made) {
  const bool computed = name == "arange";
  if (!out.numel() || (made && !computed)) return;
  std::ostringstream text;
  if (computed)
    text << "The number of elements in the out tensor of shape " << out.sizes() << " is " << out.numel() << " which does not match the computed number of elements " << y.numel()
         << ". Note that this may occur as a result of rounding error. The out tensor will be resized to a tensor of shape (" << y.numel() << ",).";
  else
    text << "An output with one or more elements was resized since it had shape " << out.sizes() << ", which does not match the required output shape " << y.sizes() << ".";
  warn(text.str().c_str());
}

// Zeros and ones are the same in every type. As PyTorch: in grad mode neither the operands nor `out` may require grad, as nothing is recorded.
void put(const std::string& name, const Tensor& y, nb::handle given, bool made) {
  expect(is_tensor(given.ptr()), ErrorKind::type, name, "(): argument 'out' must be Tensor, not ", nb::cast<std::string>(given.type().attr("__name__")));
  const Tensor out = nb::cast<Tensor>(given);
  expect(!(y->keys & key_tape) && !(alias(out)->keys & key_tape), name, "(): functions with out=... arguments don't support automatic differentiation, but one of the arguments requires grad.");
  expect(y.device() == out.device(), name, ": Attempting to copy from device ", y.device(), " to device ", out.device(), ", but cross-device copies are not allowed!");
  expect(category(y.dtype()) <= category(out.dtype()) || name == "bernoulli" || ((name == "any" || name == "all") && out.dtype() == DType::bool_), name, ": result type ", y.dtype(), " can't be cast to the desired output type ", out.dtype());
  if (is_range(name) && out.numel() == y.numel()) return void(copy_(out, reshape(y, out.sizes())));
  if (!(out.sizes() == y.sizes())) {
    warn_of_resizing(name, y, out, made);
    given.attr("resize_")(y.sizes());
  }
  copy_(out, y);
}

}  // namespace

bool put_plainly(PyObject* result, PyObject* given) {
  if (!is_tensor(result) || !is_tensor(given)) return false;
  const Tensor y = unwrap(result), out = unwrap(given);
  if (y->keys || out->keys || y.dtype() != out.dtype() || y.device() != out.device() || !(y.sizes() == out.sizes())) return false;
  copy_(out, y);
  return true;
}

nb::object put_result(const std::string& name, nb::object result, nb::handle out, bool made) {
  if (is_tensor(result.ptr())) {
    put(name, nb::cast<Tensor>(result), out, made);
    return nb::borrow(out);
  }
  expect(PyTuple_Check(result.ptr()), ErrorKind::type, name, "() got an unexpected keyword argument 'out'");
  expect(PySequence_Check(out.ptr()) && !is_tensor(out.ptr()) && nb::len(out) == nb::len(result), ErrorKind::type, name, "(): argument 'out' must be ", nb::len(result), " tensors");
  for (size_t i = 0; i < nb::len(result); i++) put(name, nb::cast<Tensor>(result[i]), out[i], made);
  return nb::hasattr(result.type(), "_make") ? result.type().attr("_make")(out) : nb::object(nb::tuple(nb::borrow(out)));
}

bool computes_as_out(const std::string& name) {
  constexpr std::string_view names[] = {"cumprod", "cumsum", "mean", "nansum", "prod", "sum"};
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

// A call that makes a tensor of nothing but numbers gives it the type and the device of `out`, unless told otherwise. Whether it is one.
static bool fit_out(const std::string& f, bool factory, std::vector<PyObject*>& args, nb::list& names, nb::handle out, nb::handle device) {
  if (!is_tensor(out.ptr())) return false;
  const bool made = factory && std::none_of(args.begin(), args.end(), is_tensor);
  auto add = [&](const char* name, nb::handle value) {
    for (nb::handle n : names) if (nb::cast<std::string>(n) == name) return;
    names.append(nb::str(name));
    args.push_back(value.ptr());
  };
  if (made || computes_as_out(f)) add("dtype", api->dtypes[static_cast<int>(impl_of(out.ptr())->dtype)]);
  if (made) add("device", device);
  return made;
}

Py_ssize_t find_out(PyObject* names) {
  for (Py_ssize_t i = 0; i < PyTuple_Size(names); i++)
    if (PyUnicode_CompareWithASCIIString(PyTuple_GetItem(names, i), "out") == 0) return i;
  return -1;
}

PyObject* call_with_out(Vectorcall call, PyObject* f, PyObject* const* args, size_t count, PyObject* names, Py_ssize_t at) {
  return guarded([&]() -> PyObject* {
    std::vector<PyObject*> rest(args, args + count + PyTuple_Size(names));
    rest.erase(rest.begin() + static_cast<Py_ssize_t>(count) + at);
    nb::list kept;
    for (Py_ssize_t i = 0; i < PyTuple_Size(names); i++)
      if (i != at) kept.append(nb::borrow(PyTuple_GetItem(names, i)));
    const nb::handle out = args[static_cast<Py_ssize_t>(count) + at];
    const nb::object device = is_tensor(out.ptr()) ? nb::object(out.attr("device")) : nb::none();
    const std::string name = nb::cast<std::string>(nb::borrow(f).attr("__name__"));
    const bool made = fit_out(name, makes_tensors(f), rest, kept, out, device);
    PyObject* result = call(f, rest.data(), count, nb::len(kept) ? nb::tuple(kept).ptr() : nullptr);
    if (!result) return nullptr;
    if (out.is_none()) return result;
    return put_result(name, nb::steal(result), out, made).release().ptr();
  });
}

}  // namespace adjoint::python
