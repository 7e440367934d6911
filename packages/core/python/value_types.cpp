// dtype and device objects, and what converts to them.
#include "value_types.h"

#include <nanobind/operators.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <cstring>
#include <optional>
#include <string>
#include <string_view>

#include "convert.h"
#include "reference.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace adjoint::python {

namespace {

DTypeObject dtypes[dtype_count];
thread_local std::vector<Device> default_devices;   // what set_default_device said, and that of each `with device:`; the innermost last
std::string library = "adjoint";

// Kinds of devices that programs name to ask whether they are there.
constexpr const char* names[] = {"cpu", "cuda", "meta"};
constexpr const char* names_elsewhere[] = {"ipu", "xpu", "mkldnn", "opengl", "opencl", "ideep", "hip", "ve", "fpga", "maia", "xla", "lazy", "vulkan", "mps", "hpu", "mtia", "privateuseone"};

void check_index(int64_t index) { expect(index >= 0 && index < 128, "Device index must not be negative or above 127, got ", index); }

DeviceObject with_index(DeviceObject d, int index) {
  check_index(index);
  (d.value.type == DeviceType::cuda ? d.value.index : d.said) = static_cast<int8_t>(index);
  return d;
}

DeviceObject kind_of_device(const std::string& type, const std::string& text) {
  if (type == "cpu") return {};
  if (type == "cuda") return {{DeviceType::cuda, -1}};
  if (type == "meta") return {{DeviceType::meta, 0}};
  for (const char* name : names_elsewhere)
    if (type == name) return {.elsewhere = name};
  fail(ErrorKind::runtime, "Expected one of cpu, cuda, ipu, xpu, mkldnn, opengl, opencl, ideep, hip, ve, fpga, maia, xla, lazy, vulkan, mps, meta, hpu, mtia, privateuseone device type at start of device string: ", text);
}

DeviceObject parse_device(const std::string& text) {
  expect(!text.empty(), "Device string must not be empty");
  const size_t colon = text.find(':');
  const DeviceObject d = kind_of_device(text.substr(0, colon), text);
  if (colon == std::string::npos) return d;
  const std::string index = text.substr(colon + 1);
  const bool whole = !index.empty() && index.size() < 4 && index.find_first_not_of("0123456789") == std::string::npos;
  expect(whole && (index.size() == 1 || index[0] != '0'), "Invalid device string: '", text, "'");
  return with_index(d, std::stoi(index));
}

bool is_index(nb::handle o) { return PyLong_Check(o.ptr()) && !PyBool_Check(o.ptr()); }

// A device, its name, or the index of a GPU.
DeviceObject named_device(nb::handle o) {
  if (nb::isinstance<DeviceObject>(o)) return nb::cast<const DeviceObject&>(o);
  if (PyUnicode_Check(o.ptr())) return parse_device(nb::cast<std::string>(o));
  expect(is_index(o), ErrorKind::type, "device(): argument 'type' must be str, device or int, not ", nb::cast<std::string>(o.type().attr("__name__")));
  int64_t index = 0;
  expect(nb::try_cast(o, index), "Device index must not be negative or above 127, got ", nb::repr(o).c_str());
  check_index(index);
  return {{DeviceType::cuda, static_cast<int8_t>(index)}};
}

// Where memory is made, or an error.
Device device_from(nb::handle o) {
  const DeviceObject d = named_device(o);
  expect(!d.elsewhere, library, " is not linked with support for ", d.elsewhere ? d.elsewhere : "", " devices");
  return d.value;
}

const char* name(const DeviceObject& d) { return d.elsewhere ? d.elsewhere : names[static_cast<int>(d.value.type)]; }
int index_of(const DeviceObject& d) { return d.value.type == DeviceType::cuda ? d.value.index : d.said; }   // -1: none
std::string text_of(const DeviceObject& d, const char* before, const char* between, const char* after) {
  std::ostringstream text;
  text << before << name(d);
  if (index_of(d) >= 0) text << between << index_of(d);
  else if (*before) text << between;
  text << after;
  return text.str();
}

// A type such as float or np.float32, or np.dtype("float32"), by its name.
bool dtype_by_name(const char* name, DType& out) {
  for (int i = 0; i < dtype_count; i++)
    if (std::strcmp(dtype_table[i].name, name) == 0) { out = static_cast<DType>(i); return true; }
  return false;
}

bool named_dtype(nb::handle o, DType& out) {
  const char* attribute = PyType_Check(o.ptr()) ? "__name__" : "name";
  Reference module(PyObject_GetAttrString(PyType_Check(o.ptr()) ? o.ptr() : reinterpret_cast<PyObject*>(Py_TYPE(o.ptr())), "__module__"));
  const char* m = module && PyUnicode_Check(module.get()) ? PyUnicode_AsUTF8AndSize(module.get(), nullptr) : nullptr;
  if (!m || (std::strcmp(m, "numpy") != 0 && std::strncmp(m, "numpy.", 6) != 0)) return false;
  Reference text(PyObject_GetAttrString(o.ptr(), attribute));
  const char* n = text && PyUnicode_Check(text.get()) ? PyUnicode_AsUTF8AndSize(text.get(), nullptr) : nullptr;
  return n && (dtype_by_name(n, out) || (std::strcmp(n, "bool_") == 0 && dtype_by_name("bool", out)));
}

void bind_dtype(nb::module_& m, Api& api) {
  nb::class_<DTypeObject>(m, "dtype", "An element type, such as `float32`.")
      .def("__repr__", [](const DTypeObject& t) { return printed(info(t.value).name); })
      .def("__copy__", [](nb::object self) { return self; })
      .def("__deepcopy__", [](nb::object self, nb::handle) { return self; }, "memo"_a.none())
      .def("to_real", [](const DTypeObject& t) { return nb::borrow(python::api->dtypes[static_cast<int>(real_of(t.value))]); })
      .def("to_complex", [](const DTypeObject& t) { return nb::borrow(python::api->dtypes[static_cast<int>(complex_of(t.value))]); })
      .def_prop_ro("name", [](const DTypeObject& t) { return info(t.value).name; })
      .def_prop_ro("itemsize", [](const DTypeObject& t) { return itemsize(t.value); })
      .def_prop_ro("is_floating_point", [](const DTypeObject& t) { return is_floating(t.value); })
      .def_prop_ro("is_complex", [](const DTypeObject& t) { return is_complex(t.value); })
      .def_prop_ro("is_signed", [](const DTypeObject& t) { return t.value == DType::bool_ ? false : t.value < DType::uint8 || t.value > DType::uint64; });
  for (int i = 0; i < dtype_count; i++) {
    dtypes[i].value = static_cast<DType>(i);
    nb::object o = nb::cast(&dtypes[i], nb::rv_policy::reference);
    m.attr(dtype_table[i].name) = o;
    api.dtypes[i] = o.ptr();
  }
  constexpr const char* aliases[][2] = {{"float", "float32"}, {"double", "float64"}, {"half", "float16"}, {"long", "int64"}, {"int", "int32"}, {"short", "int16"},
                                        {"cfloat", "complex64"}, {"cdouble", "complex128"}};
  for (auto [alias, of] : aliases) m.attr(alias) = m.attr(of);
}

void bind_device(nb::module_& m) {
  m.def("_default_device", [] { return DeviceObject{default_device()}; });
  m.def("_set_default_device", [](nb::object device) {   // under those of `with`
    const Device wanted = device.is_none() ? Device{} : device_from(device);
    if (default_devices.empty()) default_devices.push_back(wanted);
    else default_devices.front() = wanted;
  }, "device"_a.none());
  nb::class_<DeviceObject>(m, "device", "Where memory lives: `device('cpu')`.")
      .def("__init__", [](DeviceObject* self, nb::object type, std::optional<int> index) {
        const DeviceObject d = named_device(type);
        if (index) check_index(*index);
        expect(!index || !nb::isinstance<nb::str>(type) || nb::cast<std::string>(type).find(':') == std::string::npos, "type (string) must not include an index because index was passed explicitly: ", nb::str(type).c_str());
        new (self) DeviceObject{index ? with_index(d, *index) : d};
      }, "type"_a, "index"_a = nb::none())
      .def_prop_ro("type", [](const DeviceObject& d) { return name(d); })
      .def_prop_ro("index", [](const DeviceObject& d) -> std::optional<int> { return index_of(d) >= 0 ? std::optional<int>(index_of(d)) : std::nullopt; })
      .def("__eq__", [](const DeviceObject& d, nb::handle o) { return nb::isinstance<DeviceObject>(o) && nb::cast<const DeviceObject&>(o) == d; }, "other"_a.none())
      .def("__hash__", [](const DeviceObject& d) { return std::hash<std::string_view>{}(name(d)) * 256 + static_cast<size_t>(index_of(d) + 1); })
      .def("__enter__", [](nb::object self) {
        const Device d = device_from(self);
        if (default_devices.empty()) default_devices.emplace_back();
        default_devices.push_back(d);
        return self;
      })
      .def("__exit__", [](nb::handle, const nb::args&) {
        if (default_devices.size() > 1) default_devices.pop_back();
      })
      .def("__str__", [](const DeviceObject& d) { return text_of(d, "", ":", ""); })
      .def("__repr__", [](const DeviceObject& d) { return text_of(d, "device(type='", index_of(d) < 0 ? "'" : "', index=", ")"); })
      .def("__reduce__", [m = nb::handle(m)](nb::handle self) { return nb::make_tuple(m.attr("device"), nb::make_tuple(nb::str(self))); });
}

}  // namespace

Device default_device() noexcept { return default_devices.empty() ? Device{} : default_devices.back(); }

bool to_dtype(PyObject* o, DType& out) noexcept {
  for (int i = 0; i < dtype_count; i++)
    if (api->dtypes[i] == o) { out = static_cast<DType>(i); return true; }
  if (o == reinterpret_cast<PyObject*>(&PyFloat_Type)) { out = DType::float64; return true; }
  if (o == reinterpret_cast<PyObject*>(&PyBool_Type)) { out = DType::bool_; return true; }
  if (o == reinterpret_cast<PyObject*>(&PyLong_Type)) { out = DType::int64; return true; }
  if (o == reinterpret_cast<PyObject*>(&PyComplex_Type)) { out = DType::complex128; return true; }
  return library == "adjoint" && numpy_dtype(o, out);   // PyTorch refuses them, and programs ask
}

bool numpy_dtype(PyObject* o, DType& out) noexcept {
  const bool found = named_dtype(o, out);
  PyErr_Clear();
  return found;
}

bool to_device(PyObject* o, Device& out) noexcept {
  try {
    out = device_from(o);
    return true;
  } catch (...) { return false; }
}

Device required_device(PyObject* o) { return device_from(o); }
bool names_device(PyObject* o) noexcept { return PyUnicode_Check(o) || nb::isinstance<DeviceObject>(o); }

PyObject* device_object(Device device) { return nb::cast(DeviceObject{device}).release().ptr(); }

std::string printed(const char* name) { return library + '.' + name; }

void bind_values(nb::module_& m, Api& api) {
  m.def("_library", [] { return library; }, "The name that stands in front of names when they are printed.");
  m.def("_set_library", [](std::string name) { library = std::move(name); }, "name"_a);
  bind_dtype(m, api);
  bind_device(m);
}

}  // namespace adjoint::python
