// dtype and device objects, and what converts to them.
#include "value_types.h"

#include <nanobind/operators.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <cstring>
#include <optional>
#include <string>

#include "convert.h"
#include "reference.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace adjoint::python {

namespace {

DTypeObject dtypes[dtype_count];
thread_local std::vector<Device> default_devices;   // what set_default_device said, and that of each `with device:`; the innermost last
std::string library = "adjoint";

Device parse_device(const std::string& text) {
  const size_t colon = text.find(':');
  const std::string type = text.substr(0, colon);
  expect(type == "cpu" || type == "cuda" || type == "meta", "Expected one of cpu, cuda, meta device type at start of device string: ", text);
  Device d;
  if (type != "cpu") d = {type == "cuda" ? DeviceType::cuda : DeviceType::meta, static_cast<int8_t>(type == "cuda" ? -1 : 0)};
  if (colon == std::string::npos) return d;
  const std::string index = text.substr(colon + 1);
  expect(!index.empty() && index.size() < 3 && index.find_first_not_of("0123456789") == std::string::npos, "Invalid device string: '", text, "'");
  if (d.type == DeviceType::cuda) d.index = static_cast<int8_t>(std::stoi(index));
  return d;
}

void check_index(int64_t index) { expect(index >= 0 && index < 128, "Device index must not be negative or above 127, got ", index); }

bool is_index(nb::handle o) { return PyLong_Check(o.ptr()) && !PyBool_Check(o.ptr()); }

// A device, its name, or the index of a GPU.
Device device_from(nb::handle o) {
  if (nb::isinstance<DeviceObject>(o)) return nb::cast<const DeviceObject&>(o).value;
  if (PyUnicode_Check(o.ptr())) return parse_device(nb::cast<std::string>(o));
  expect(is_index(o), ErrorKind::type, "device(): argument 'type' must be str, device or int, not ", nb::cast<std::string>(o.type().attr("__name__")));
  int64_t index = 0;
  expect(nb::try_cast(o, index), "Device index must not be negative or above 127, got ", nb::repr(o).c_str());
  check_index(index);
  return {DeviceType::cuda, static_cast<int8_t>(index)};
}

const char* name(const DeviceObject& d) {
  static constexpr const char* names[] = {"cpu", "cuda", "meta"};
  return names[static_cast<int>(d.value.type)];
}
bool has_index(const DeviceObject& d) { return d.value.type == DeviceType::cuda && d.value.index >= 0; }

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
        Device d = device_from(type);
        if (index) check_index(*index);
        expect(!index || !nb::isinstance<nb::str>(type) || nb::cast<std::string>(type).find(':') == std::string::npos, "type (string) must not include an index because index was passed explicitly: ", nb::str(type).c_str());
        if (index && d.type == DeviceType::cuda) d.index = static_cast<int8_t>(*index);
        new (self) DeviceObject{d};
      }, "type"_a, "index"_a = nb::none())
      .def_prop_ro("type", [](const DeviceObject& d) { return name(d); })
      .def_prop_ro("index", [](const DeviceObject& d) -> std::optional<int> { return has_index(d) ? std::optional<int>(d.value.index) : std::nullopt; })
      .def("__eq__", [](const DeviceObject& d, nb::handle o) { return nb::isinstance<DeviceObject>(o) && nb::cast<const DeviceObject&>(o).value == d.value; }, "other"_a.none())
      .def("__hash__", [](const DeviceObject& d) { return static_cast<int>(d.value.type) * 256 + d.value.index; })
      .def("__enter__", [](nb::object self) {
        if (default_devices.empty()) default_devices.emplace_back();
        default_devices.push_back(nb::cast<const DeviceObject&>(self).value);
        return self;
      })
      .def("__exit__", [](nb::handle, const nb::args&) {
        if (default_devices.size() > 1) default_devices.pop_back();
      })
      .def("__str__", [](const DeviceObject& d) {
        std::ostringstream text;
        text << d.value;
        return text.str(); })
      .def("__repr__", [](const DeviceObject& d) {
        return "device(type='" + std::string(name(d)) + "'" + (has_index(d) ? ", index=" + std::to_string(d.value.index) : "") + ")";
      })
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

PyObject* device_object(Device device) { return nb::cast(DeviceObject{device}).release().ptr(); }

std::string printed(const char* name) { return library + '.' + name; }

void bind_values(nb::module_& m, Api& api) {
  m.def("_library", [] { return library; }, "The name that stands in front of names when they are printed.");
  m.def("_set_library", [](std::string name) { library = std::move(name); }, "name"_a);
  bind_dtype(m, api);
  bind_device(m);
}

}  // namespace adjoint::python
