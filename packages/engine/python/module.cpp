// adjoint_engine._engine: the graph's Python module.
#include "bind_dispatch.h"
#include "node_type.h"

namespace {

// "file:line in function" of a recorded source position.
std::string site_line(uint32_t id) {
  nanobind::gil_scoped_acquire gil;
  nanobind::object info = nanobind::module_::import_("adjoint_core._core").attr("_site_info")(id);
  if (info.is_none()) return {};
  return nanobind::cast<std::string>(nanobind::str("{}:{} in {}").format(*info));
}

}  // namespace

NB_MODULE(_engine, m) {
  using namespace adjoint::engine;
  nanobind::module_::import_("adjoint_core");
  if (!adjoint::python::import_api()) throw nanobind::python_error();
  install();
  install_cuts();
  install_random();
  nanobind::register_exception_translator([](const std::exception_ptr& p, void*) {
    try { std::rethrow_exception(p); }
    catch (const std::bad_cast&) { PyErr_SetString(PyExc_TypeError, adjoint::python::misfit); }
  });
  site_text = site_line;
  python::make_node_type(m);
  python::bind_nodes(m);
  python::bind_walk(m);
  python::bind_functions(m);
  python::bind_hooks(m);
  python::bind_autograd(m);
  python::bind_levels(m);
  python::bind_modes(m);
  python::bind_autocast(m);
  python::bind_finite(m);
  python::bind_observers(m);
  python::bind_saved(m);
  python::bind_supply(m);
  python::bind_dispatch(m);
  python::bind_attributes(m);
}
