// adjoint_kernels_cpu._kernels: puts the kernels into core's table when it is imported.
#include <adjoint/core/parallel.h>
#include <adjoint/core/random_words.h>
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <string>

#include "isa.h"
#include "kernels.h"
#include "lapack.h"
#include "pool.h"
#include "random.h"

namespace nb = nanobind;

namespace adjoint::cpu {

namespace {

void use_reference(const std::string& name, bool wanted) {
  bool found = false;
  for_entries([&](const Entry& e) {
    if (name != e.name) return;
    found = true;
    register_kernel(e.name, DeviceType::cpu, wanted ? nullptr : e.kernel, !wanted && !e.one_type);
  });
  if (!found) throw nb::value_error(("use_reference: no kernel named '" + name + "'").c_str());
}

nb::list names() {
  nb::list r;
  for_entries([&](const Entry& e) { r.append(e.name); });
  return r;
}

}  // namespace

}  // namespace adjoint::cpu

NB_MODULE(_kernels, m) {
  using namespace adjoint;
  nb::module_::import_("adjoint_core");
  isa::level = isa::chosen();
  scipy_openblas_set_num_threads(1);  // its own cuts depend on the number of threads: panels run on our pool
  scipy_LAPACKE_set_nancheck(0);         // NaNs pass through, as everywhere
  cpu::for_entries([](const cpu::Entry& e) { register_kernel(e.name, DeviceType::cpu, e.kernel, !e.one_type); });
  random_words = {cpu::random_blocks, cpu::random_twist, cpu::random_uniforms, cpu::random_normals, cpu::random_normal_sixteens};
  parallel_for = pool::parallel_for, num_threads = pool::num_threads;
  m.def("get_num_threads", &pool::num_threads, "The number of threads that work on one operation.");
  m.def("set_num_threads", &pool::set_num_threads, nb::arg("threads"), "Sets the number of threads that work on one operation.");
  m.def("kernel_names", &cpu::names, "The operations that have a kernel here.");
  m.def("use_reference", &cpu::use_reference, nb::arg("name"), nb::arg("wanted"), "Whether the operation `name` runs core's reference kernel instead of the one here.");
}
