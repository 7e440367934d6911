// The CUDA array interface both ways (https://numba.readthedocs.io/en/stable/cuda/cuda_array_interface.html, version 3).
#include <adjoint/core/cuda/memory.h>

#include "convert.h"
#include "module.h"

namespace adjoint::python {

namespace {

constexpr const char* kinds = "buuuuiiiiffffcc";   // of the element types, in order

std::string type_text(DType t) {
  expect(t != DType::bfloat16, ErrorKind::type, "__cuda_array_interface__: NumPy has no bfloat16");
  return (itemsize(t) == 1 ? "|" : "<") + std::string(1, kinds[static_cast<int>(t)]) + std::to_string(itemsize(t));
}

DType type_from(const std::string& text) {
  for (int i = 0; i < dtype_count; i++) {
    const auto t = static_cast<DType>(i);
    if (t != DType::bfloat16 && text.size() > 1 && text.substr(1) == type_text(t).substr(1) && text[0] != '>') return t;
  }
  fail(ErrorKind::type, "as_tensor: unsupported element type ", text, " in __cuda_array_interface__");
}

nb::dict interface_of(const Tensor& x) {
  if (x.device().type != DeviceType::cuda) throw nb::attribute_error("Can't get __cuda_array_interface__ on non-CUDA tensor type: use Tensor.cuda() first.");
  expect(x->storage, "__cuda_array_interface__: a tensor inside a transform has no memory of its own");
  nb::object self = nb::steal(wrap(x));
  expect(!nb::hasattr(self, "requires_grad") || !nb::cast<bool>(self.attr("requires_grad")), "Can't get __cuda_array_interface__ on Variable that requires grad. If gradients aren't required, use var.detach() to get Variable that doesn't require grad.");
  nb::dict d;
  nb::list shape, strides;
  for (int i = 0; i < x.dim(); i++) {
    shape.append(x.size(i));
    strides.append(x->strides[i] * itemsize(x.dtype()));
  }
  d["typestr"] = type_text(x.dtype());
  d["shape"] = nb::tuple(shape);
  if (x->contiguous()) d["strides"] = nb::none();
  else d["strides"] = nb::tuple(strides);
  d["data"] = nb::make_tuple(reinterpret_cast<uintptr_t>(x.numel() ? x->data : nullptr), false);
  const auto stream = reinterpret_cast<uintptr_t>(cuda::current_stream(x.device().index).handle);
  d["stream"] = stream ? stream : 1;
  d["version"] = 3;
  return d;
}

}  // namespace

Tensor from_cuda_array(nb::handle array) {
  const nb::object d = array.attr("__cuda_array_interface__");
  expect(PyDict_Check(d.ptr()), ErrorKind::type, "as_tensor: __cuda_array_interface__ must be a dict, got ", nb::repr(d).c_str());
  for (const char* key : {"typestr", "shape", "data"}) expect(PyDict_GetItemString(d.ptr(), key), ErrorKind::value, "as_tensor: __cuda_array_interface__ has no ", key);
  expect(d.attr("get")("mask", nb::none()).is_none(), ErrorKind::value, "as_tensor: masks in __cuda_array_interface__ are not supported");
  Tensor t = Tensor::take(TensorImpl::make());
  t->dtype = type_from(nb::cast<std::string>(d["typestr"]));
  t->sizes = nb::cast<Dims>(d["shape"]);
  for (int64_t n : t->sizes) expect(n >= 0, ErrorKind::value, "as_tensor: sizes in __cuda_array_interface__ must not be negative, got ", t->sizes);
  t->set_contiguous_strides();
  const nb::object data = d["data"];
  t->data = reinterpret_cast<char*>(nb::cast<uintptr_t>(data[0]));
  t->device = cuda::resolved({DeviceType::cuda, static_cast<int8_t>(t->numel ? cuda::device_of(t->data) : -1)});
  int64_t reach = 0;
  const nb::object strides = d.attr("get")("strides", nb::none());
  if (!strides.is_none()) {
    const auto bytes = nb::cast<Dims>(strides);
    expect(bytes.size() == t.dim(), ErrorKind::value, "as_tensor: strides and shape differ in length");
    for (int i = 0; i < bytes.size(); i++) {
      expect(bytes[i] >= 0 && bytes[i] % itemsize(t.dtype()) == 0, ErrorKind::value, "as_tensor: strides must be multiples of the element's bytes and not negative, got ", bytes);
      t->strides[i] = bytes[i] / itemsize(t.dtype());
    }
    t->update_layout();
  }
  for (int i = 0; i < t.dim(); i++) reach += (t.size(i) - 1) * t->strides[i];
  const nb::object stream = d.attr("get")("stream", nb::none());
  if (!stream.is_none()) {   // our work runs after theirs
    const auto handle = nb::cast<uintptr_t>(stream);
    expect(handle, ErrorKind::value, "as_tensor: stream 0 in __cuda_array_interface__ means nothing: 1 is the default stream");
    cuda::Event event;
    event.record({handle == 1 ? nullptr : reinterpret_cast<cuda::StreamHandle>(handle), t.device().index});
    event.wait(cuda::current_stream(t.device().index));
  }
  t->storage = Storage::borrow(t->data, t.numel() ? static_cast<size_t>((reach + 1) * itemsize(t.dtype())) : 0,
                               [](void* owner) noexcept { python_hooks.dec(static_cast<PyObject*>(owner)); }, Py_NewRef(array.ptr()), t.device());
  return t;
}

void bind_cuda_arrays() {
  nb::object get = nb::cpp_function(&interface_of);
  nb::handle type = reinterpret_cast<PyObject*>(api->tensor_type);
  type.attr("__cuda_array_interface__") = nb::module_::import_("builtins").attr("property")(get);
}

}  // namespace adjoint::python
