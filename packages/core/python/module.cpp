// The module adjoint_core._core: the Tensor type first, then everything that is defined on it.
#include "module.h"

#include <adjoint/core/observer.h>

#include <stdexcept>

#include "convert.h"
#include "direct.h"
#include "out.h"
#include "protocol.h"
#include "reference.h"
#include "site.h"
#include "tensor_type.h"
#include "value_types.h"

namespace adjoint::python {

namespace {

Api table{};  // the module's dictionary owns the types it names

PyObject* make_error(nb::module_& m, const std::string& name, PyObject* other, const char* doc) {
  nb::object bases = other ? nb::make_tuple(nb::borrow(PyExc_RuntimeError), nb::borrow(other)) : nb::make_tuple(nb::borrow(PyExc_RuntimeError));
  PyObject* type = PyErr_NewExceptionWithDoc(("adjoint." + name).c_str(), doc, bases.ptr(), nullptr);
  if (!type) throw nb::python_error();
  m.attr(name.c_str()) = nb::steal(type);
  return type;
}

void make_errors(nb::module_& m) {
  table.shape_error = make_error(m, "ShapeError", PyExc_ValueError, "Shapes that do not fit together.");
  table.index_error = make_error(m, "OutOfRangeError", PyExc_IndexError, "A position, dimension or class that a tensor does not have.");
  table.memory_error = make_error(m, "OutOfMemoryError", PyExc_MemoryError, "There is no room for a tensor.");
  table.linalg_error = make_error(m, "LinAlgError", nullptr, "A matrix that cannot be factorised, or has no inverse.");
}

void make_types(nb::module_& m) {
  nb::object size = nb::module_::import_("adjoint_core._size").attr("Size");
  m.attr("Size") = size;
  table.size_type = reinterpret_cast<PyTypeObject*>(size.ptr());
  table.tensor_type = make_tensor_type();
  if (!table.tensor_type) throw nb::python_error();
  m.attr("Tensor") = nb::steal(reinterpret_cast<PyObject*>(table.tensor_type));
}

void bind_sites(nb::module_& m) {
  m.attr("_fast_sites") = site::init();
  m.def("_site_info", [](uint32_t id) -> nb::object {
    const site::Site s = site::info(id);
    if (!s.file) return nb::none();
    return nb::make_tuple(*s.file, s.line, *s.function);
  }, "id"_a, "(file, line, function) of a recorded source position; None for id 0.");
  m.def("_site_span", [](uint32_t id) {
    const site::Site s = site::info(id);
    return nb::make_tuple(s.line, s.column, s.end_line, s.end_column);
  }, "id"_a, "(line, column, end line, end column) of a recorded source position.");
  m.def("skip_prefix", &site::skip_prefix, "directory"_a, "Files below `directory` count as library code: errors name the line that called it.");
  m.def("_skipped", [] { return nb::tuple(nb::cast(site::skipped())); });
  m.def("_site", &site::capture);
}

}  // namespace

}  // namespace adjoint::python

NB_MODULE(_core, m) {
  using namespace adjoint::python;
  m.doc() = "The tensor and its operations.";
  nb::set_leak_warnings(false);  // the Tensor type and the functions on it live as long as the process
  api = &table;
  table.wrap = wrap_tensor;
  table.track = track_tensor;
  table.attached = site::attached;
  table.dtype = to_dtype;
  table.scalar = to_scalar;
  table.dims = to_dims;
  table.device = to_device;
  table.device_object = device_object;
  table.size = size_object;
  table.answered = [](PyObject* const* args, size_t count) { return is_answered(args, count, nullptr); };
  table.raise = raise;
  make_errors(m);
  bind_values(m, table);
  make_types(m);
  bind_sites(m);
  make_direct_types();
  install_hooks();
  nb::register_exception_translator([](const std::exception_ptr& p, void*) {
    try { std::rethrow_exception(p); }
    catch (const adjoint::Error&) { raise(); }
    catch (const std::bad_alloc&) { raise(); }
    catch (const std::length_error&) { raise(); }
  });
  for (auto bind : {bind_memory, bind_books, bind_buffer, bind_numpy, bind_dlpack, bind_create, bind_random, bind_elementwise, bind_gathering, bind_reduce, bind_view, bind_rearrange, bind_linalg, bind_factor, bind_fft, bind_nn, bind_functional, bind_composed, bind_sparse, bind_registry}) bind(m);
  bind_cuda(m);
  m.def("_put_out", [](const std::string& name, nb::object result, nb::handle out) { return put_result(name, std::move(result), out); }, "name"_a, "result"_a, "out"_a, "What `out=` does with the result, or the tuple of results, of a function written in Python.");
  bind_plain(m);
  bind_protocol(m, ask_before_calls);
  m.def("_asking", make_asking, "f"_a, "plain"_a.none(), "inner"_a, "rounds"_a, "node"_a.none(), "The function, which objects among its arguments may answer; `plain` names its plain calls, if it has any; `inner` is it without wrappers.");
  m.def("_node_name", [](const std::string& name) { return nb::capsule((new std::string(name))->c_str()); }, "name"_a, "A name for `_composed`, for ever.");
  m.def("_composed", [](const nb::capsule& node, const nb::callable& f, const nb::tuple& args, const nb::dict& kwargs) {
    const adjoint::NodeName named(static_cast<const char*>(node.data()));
    return f(*args, **kwargs);
  }, "node"_a, "f"_a, "args"_a, "kwargs"_a, "f(*args, **kwargs), the node of whose results is called so.");
  make_all_direct(m);
  make_all_direct(tensor_scope());
  m.attr("_api") = nb::capsule(&table, api_capsule);
}
