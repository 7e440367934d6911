// Registration of kernels that Python compiles.
#include <adjoint/core/cuda/lists.h>
#include <adjoint/core/cuda/random.h>

#include <algorithm>

#include "module.h"

namespace adjoint::python {

namespace {

// compile(device, specs, constants) -> (image, entry, shared, threads, clusters, cooperative, dependent, scratch, parameters)
class PythonCompiler final : public cuda::Compiler {
 public:
  explicit PythonCompiler(nb::object compile) : compile_(compile.release().ptr()) {}   // kept as long as the process
  cuda::Image compile(const cuda::Variant& v) override {
    nb::gil_scoped_acquire gil;
    nb::list constants;
    for (int32_t c : v.constants) constants.append(c);
    const nb::tuple r(nb::handle(compile_)(v.device, nb::bytes(v.specs.data(), v.specs.size()), constants));
    expect(nb::len(r) == 9, ErrorKind::type, "compile: must return 9 values, got ", nb::len(r));
    cuda::Image image;
    const auto bytes = nb::cast<nb::bytes>(r[0]);
    image.bytes.assign(bytes.c_str(), bytes.size());
    image.entry = nb::cast<std::string>(r[1]);
    image.shared = nb::cast<uint32_t>(r[2]);
    image.threads = nb::cast<uint32_t>(r[3]);
    image.clusters = nb::cast<uint32_t>(r[4]);
    image.cooperative = nb::cast<bool>(r[5]);
    image.dependent = nb::cast<bool>(r[6]);
    image.scratch = nb::cast<uint64_t>(r[7]);
    for (nb::handle p : r[8]) image.parameters.push_back({nb::cast<uint8_t>(p[0]), nb::cast<uint8_t>(p[1])});
    return image;
  }

 private:
  PyObject* compile_;
};

PyObject* loader = nullptr;

std::unique_ptr<cuda::Compiler> compiler(nb::object compile) { return std::make_unique<PythonCompiler>(std::move(compile)); }

// Positions of named attributes of a record, by asking it to describe empty ones.
std::vector<int> field_indices(const std::string& op, const std::vector<std::string>& names) {
  std::vector<int> found;
  if (names.empty()) return found;
  const nb::list known = attribute_names(op);
  for (const std::string& name : names) {
    int at = -1;
    for (size_t i = 0; i < known.size(); i++)
      if (name == nb::cast<std::string>(known[i])) at = static_cast<int>(i);
    expect(at >= 0, ErrorKind::value, "register: ", op, " has no attribute '", name, "', it has ", nb::repr(known).c_str());
    found.push_back(at);
  }
  return found;
}

using FormulaCode = std::vector<int64_t>;
using Argument = std::tuple<int, int, FormulaCode>;                                             // kind, position, formula
using Step = std::tuple<std::vector<Argument>, std::vector<FormulaCode>, std::vector<FormulaCode>, FormulaCode, nb::object>;   // arguments, constants, grid, when, compile

std::unique_ptr<cuda::StructuredKernel::Step> step_of(const std::string& op, const Step& given) {
  const auto& [arguments, constants, grid, when, compile] = given;
  expect(arguments.size() < cuda::Arguments::most && constants.size() <= cuda::Arguments::most_constants && grid.size() == 3, ErrorKind::value, "register_structured: ", op, ": too many arguments or constants");
  std::unique_ptr<cuda::StructuredKernel::Step> step(new cuda::StructuredKernel::Step{cuda::DeviceKernel(op, compiler(compile)), {}, {}, {}, {when}});
  for (const auto& [kind, index, formula] : arguments) step->arguments.push_back({static_cast<cuda::StructuredKernel::Kind>(kind), index, {formula}});
  for (const FormulaCode& formula : constants) step->constants.push_back({formula});
  for (size_t i = 0; i < 3; i++) step->grid[i].code = grid[i];
  return step;
}

void register_structured(const std::string& op, const std::vector<Step>& steps, const std::vector<Argument>& workspaces, const FormulaCode& rounds, const std::vector<Argument>& info, const std::string& along, const std::vector<std::string>& options, int dims, int64_t longest, const FormulaCode& suits, const std::vector<FormulaCode>& names) {
  auto k = std::make_unique<cuda::StructuredKernel>();
  for (const Step& given : steps) k->steps.push_back(step_of(op, given));
  for (const auto& [type, index, formula] : workspaces) k->workspaces.push_back({static_cast<cuda::StructuredKernel::Workspace::Type>(type), index, {formula}});
  k->rounds.code = rounds;
  for (const auto& [kind, index, formula] : info) k->info.push_back({static_cast<cuda::StructuredKernel::Kind>(kind), index, {formula}});
  k->dims = dims;
  k->longest = longest;
  k->suits.code = suits;
  for (const FormulaCode& name : names) k->names.push_back({name});
  const std::pair<const char*, bool*> known[] = {{"strided", &k->strided}, {"split", &k->split}, {"copied", &k->copied}, {"matching", &k->matching}, {"apart", &k->apart}, {"linear", &k->linear}, {"wide", &k->wide}};
  for (const std::string& option : options) {
    const auto it = std::find_if(std::begin(known), std::end(known), [&](const auto& o) { return option == o.first; });
    expect(it != std::end(known), ErrorKind::value, "register_structured: ", op, ": there is no option '", option, "'");
    *it->second = true;
  }
  if (!along.empty()) k->along = field_indices(op, {along})[0];
  cuda::register_structured(op.c_str(), std::move(k));
}

}  // namespace

nb::list attribute_names(const std::string& name) {
  const Op* op = find_op(name.c_str());
  expect(op, ErrorKind::value, "no record named '", name, "'");
  nb::list names;
  if (!op->fields) return names;
  FieldList fields;
  op->fields(nullptr, fields);
  for (int i = 0; i < fields.count; i++) names.append(fields.field[i].name);
  return names;
}

void bind_cuda_kernels(nb::module_& m) {
  m.def("register_elementwise", [](const std::string& op, const std::vector<std::string>& fields, int block, nb::object compile) {
    cuda::register_elementwise(op.c_str(), std::unique_ptr<cuda::ElementwiseKernel>(new cuda::ElementwiseKernel{cuda::DeviceKernel(op, compiler(std::move(compile))), field_indices(op, fields), block}));
  }, "op"_a, "fields"_a, "block"_a, "compile"_a);
  m.def("register_structured", register_structured, "op"_a, "steps"_a, "workspaces"_a, "rounds"_a, "info"_a, "along"_a, "options"_a, "dims"_a, "longest"_a, "suits"_a, "names"_a);
  m.def("register_on_host", [](const std::string& op, std::string why) {
    cuda::register_on_host(op.c_str(), std::move(why), [](const std::string& text) {
      nb::gil_scoped_acquire gil;
      if (PyErr_WarnEx(PyExc_UserWarning, text.c_str(), 1) < 0) throw nb::python_error();
    });
  }, "op"_a, "why"_a);
  m.def("register_random", [](const std::string& name, int block, nb::object compile) {
    cuda::register_random(name, std::unique_ptr<cuda::RandomKernel>(new cuda::RandomKernel{cuda::DeviceKernel(name, compiler(std::move(compile))), block}));
  }, "name"_a, "block"_a, "compile"_a);
  m.def("register_lists", [](const std::string& name, int block, nb::object compile) {
    cuda::register_lists(name, std::unique_ptr<cuda::ListKernel>(new cuda::ListKernel{cuda::DeviceKernel(name, compiler(std::move(compile))), block}));
  }, "name"_a, "block"_a, "compile"_a);
  m.def("lie_alike", [](const std::vector<TensorVector>& lists) { return cuda::lie_alike(lists); }, "lists"_a);
  m.def("update_lists", [](const std::string& name, const std::vector<TensorVector>& lists, const TensorVector& counts, const std::vector<double>& numbers, const std::vector<int64_t>& constants) {
    cuda::update_lists(name, lists, counts, numbers, constants);
  }, "name"_a, "lists"_a, "counts"_a, "numbers"_a, "constants"_a);
  m.def("allow_tf32", [] { return cuda::allow_tf32.load(); });
  m.def("set_allow_tf32", [](bool allowed) { cuda::allow_tf32 = allowed; });
  m.def("set_kernel_loader", [](nb::object load) {
    loader = load.release().ptr();   // kept as long as the process
    cuda::kernel_loader = [] {
      nb::gil_scoped_acquire gil;
      nb::borrow(loader)();
    };
  }, "load"_a);
}

}  // namespace adjoint::python
