// adjoint_engine._engine: the graph's Python module.
#include "node_type.h"

NB_MODULE(_engine, m) {
  using namespace adjoint::engine;
  nanobind::module_::import_("adjoint_core");
  if (!adjoint::python::import_api()) throw nanobind::python_error();
  install();
  python::make_node_type(m);
  python::bind_nodes(m);
  python::bind_hooks(m);
  python::bind_autograd(m);
  python::bind_levels(m);
}
