// Memory handed to Python's buffer protocol and taken from it: pickles out of band, and files that processes share.
#include <adjoint/core/shared_file.h>

#include <cstring>

#include "convert.h"
#include "module.h"

namespace adjoint::python {

namespace {

// The elements in order. A tensor may exchange its memory for another; this keeps what it was made of.
struct Lent {
  Tensor tensor;
};

int get_buffer(PyObject* self, Py_buffer* view, int flags) {
  const Tensor& t = nb::inst_ptr<Lent>(self)->tensor;
  return PyBuffer_FillInfo(view, self, t->data, static_cast<Py_ssize_t>(t.numel() * itemsize(t.dtype())), 0, flags);
}

PyType_Slot slots[] = {{Py_bf_getbuffer, reinterpret_cast<void*>(get_buffer)}, {0, nullptr}};

Tensor flat(DType dtype, int64_t n, void* data, Storage* storage) {
  Tensor t = Tensor::take(TensorImpl::make());
  t->dtype = dtype;
  t->sizes = {n};
  t->set_contiguous_strides();
  t->data = static_cast<char*>(data);
  t->storage = storage;
  return t;
}

void release_view(void* view) noexcept { python_hooks.dec(static_cast<PyObject*>(view)); }

// Lends what can be written to; the rest must be copied, as a tensor is written to. So is what lies askew and, unless `share`, what is small.
Tensor from_buffer(nb::handle data, DType dtype, bool share) {
  constexpr Py_ssize_t small = 1024, aligned = 8;
  nb::object view = nb::steal(PyMemoryView_FromObject(data.ptr()));
  if (!view.is_valid()) throw nb::python_error();
  Py_buffer b;
  if (PyObject_GetBuffer(view.ptr(), &b, PyBUF_SIMPLE) != 0) throw nb::python_error();
  const Py_buffer found = b;
  const auto askew = reinterpret_cast<uintptr_t>(b.buf) % std::min<Py_ssize_t>(itemsize(dtype), aligned);
  const bool lend = !b.readonly && (share || b.len > small) && askew == 0;
  PyBuffer_Release(&b);   // `view` holds the memory
  const int64_t n = found.len / itemsize(dtype);
  expect(found.len % itemsize(dtype) == 0, ErrorKind::value, "buffer length (", found.len, " bytes) must be a multiple of the element size of ", dtype);
  if (lend) return flat(dtype, n, found.buf, Storage::borrow(found.buf, static_cast<size_t>(found.len), release_view, view.release().ptr()));
  Tensor x = empty({n}, dtype);
  if (n) std::memcpy(x->data, found.buf, static_cast<size_t>(found.len));
  return x;
}

Tensor bytes_of(Storage* s) { return flat(DType::uint8, static_cast<int64_t>(s->nbytes), s->data, s); }

}  // namespace

std::optional<Tensor> lent_memory(PyObject* given, DType dtype) {
  const nb::handle data = given;
  if (!PyObject_CheckBuffer(given) || nb::hasattr(data, "__array_interface__") || nb::hasattr(data, "__dlpack__")) return std::nullopt;
  const Tensor x = from_buffer(data, dtype, true);
  expect(x.numel() > 0, ErrorKind::value, "asarray: both buffer length (0) and count (-1) must not be 0");
  return x;
}

void bind_buffer(nb::module_& m) {
  nb::class_<Lent>(m, "_Lent", nb::type_slots(slots));
  m.def("_lend", [](const Tensor& x) {
    expect(x->storage, "pickle: a tensor inside a transform has no values to read");
    return Lent{contiguous(to_device(alias_of(x), {}))};
  }, "tensor"_a, "The elements in order, for the buffer protocol.");
  m.def("_from_buffer", &from_buffer, "data"_a, "dtype"_a, "share"_a = false, "A tensor of one dimension over a buffer, or of a copy if it cannot be written to.");
  m.def("_make_shared", [](size_t nbytes) { return bytes_of(make_shared_file(nbytes)); }, "nbytes"_a, nb::call_guard<nb::gil_scoped_release>(), "Zeros in memory that other processes can map.");
  m.def("_map_shared", [](int descriptor, size_t nbytes) { return bytes_of(map_shared_file(descriptor, nbytes)); }, "descriptor"_a, "nbytes"_a, "Memory that another process made; takes the descriptor over.");
  Methods().def("_shared_file", [](const Tensor& x) { return shared_file(x->storage); }, "The descriptor of the memory, if other processes can map it, else -1.");
}

}  // namespace adjoint::python
