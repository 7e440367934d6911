// How plain calls are read.
#include "module.h"

#include <map>

#include "convert.h"

namespace adjoint::python {

namespace {

using Key = std::pair<PyObject*, std::string>;
std::map<Key, Plain*>& known() {
  static std::map<Key, Plain*> all;
  return all;
}

bool is_plain_number(PyObject* o) { return PyFloat_CheckExact(o) || PyLong_CheckExact(o); }

bool load_integer(PyObject* o, int64_t& v) {
  if (!PyLong_CheckExact(o)) return false;
  int overflow = 0;
  v = PyLong_AsLongLongAndOverflow(o, &overflow);
  return !overflow;
}

bool load_number(PyObject* o, double& v) {
  int64_t whole;
  if (PyFloat_CheckExact(o)) v = PyFloat_AsDouble(o);
  else if (load_integer(o, whole)) v = static_cast<double>(whole);
  else return false;
  return true;
}

bool load_scalar(PyObject* o, Scalar& v) {
  if (!is_plain_number(o) && !PyBool_Check(o)) return false;
  if (to_scalar(o, v)) return true;
  PyErr_Clear();
  return false;
}

bool load_dims(PyObject* o, Dims& v) {
  int64_t one;
  if (load_integer(o, one)) {
    v.resize(1);
    v[0] = one;
    return true;
  }
  if (!is_sequence(o)) return false;
  if (to_dims(o, v)) return true;
  PyErr_Clear();
  return false;
}

bool load_text(PyObject* o, std::string& v) {
  if (!PyUnicode_CheckExact(o)) return false;
  Py_ssize_t n;
  const char* p = PyUnicode_AsUTF8AndSize(o, &n);
  if (p) v.assign(p, static_cast<size_t>(n));
  else PyErr_Clear();
  return p;
}

bool load_tensors(PyObject* o, TensorVector& v) {
  const bool list = PyList_CheckExact(o);
  if (!list && !PyTuple_CheckExact(o)) return false;
  const Py_ssize_t n = list ? PyList_Size(o) : PyTuple_Size(o);
  v.reserve(static_cast<size_t>(n));
  for (Py_ssize_t i = 0; i < n; i++) {
    PyObject* item = list ? PyList_GetItem(o, i) : PyTuple_GetItem(o, i);
    if (!is_tensor(item)) return false;
    v.push_back(unwrap(item));
  }
  return true;
}

// The position of a keyword, which the interpreter has interned as we have.
size_t find(const Plain& plain, PyObject* name) {
  size_t i = 0;
  while (i < plain.count && plain.parameters[i].name != name) i++;
  return i;
}

// The object of each parameter, or false: one is missing, unknown or given twice.
bool arrange(const Plain& plain, PyObject* const* args, size_t count, PyObject* names, PyObject** objects) {
  if (count > plain.positional) return false;
  for (size_t i = 0; i < count; i++) objects[i] = args[i];
  for (size_t i = count; i < plain.count; i++) objects[i] = nullptr;
  const auto named = names ? static_cast<size_t>(PyTuple_Size(names)) : 0;
  for (size_t i = 0; i < named; i++) {
    const size_t at = find(plain, PyTuple_GetItem(names, static_cast<Py_ssize_t>(i)));
    if (at == plain.count || objects[at]) return false;
    objects[at] = args[count + i];
  }
  for (size_t i = count; i < plain.count; i++)
    if (!objects[i] && !(objects[i] = plain.parameters[i].otherwise)) return false;
  return true;
}

}  // namespace

void Plain::describe(size_t at, const char* name, bool none, PyObject* otherwise) {
  if (at >= count) return;
  parameters[at].name = name ? PyUnicode_InternFromString(name) : nullptr;
  parameters[at].none |= none;
  parameters[at].otherwise = Py_XNewRef(otherwise);
}

static Plain& add(nb::handle scope, const char* name, const Plain& given) {
  auto* plain = new Plain(given);
  Plain** end = &known()[{scope.ptr(), name}];
  while (*end) end = &(*end)->next;
  *end = plain;
  return *plain;
}

void add_plain_method(const char* name, const Plain& function) {
  Plain method = function;
  method.next = nullptr;
  method.parameters[0].name = nullptr;
  add(reinterpret_cast<PyObject*>(api->tensor_type), name, method);
}

Plain& add_plain(nb::handle scope, const char* name, Plain::Body body, const void* f, std::span<const PlainType> types) {
  Plain* plain = &add(scope, name, {body, f});
  plain->count = plain->positional = types.size();
  for (size_t i = 0; i < types.size(); i++) {
    plain->parameters[i].kind = types[i].kind;
    plain->parameters[i].none = types[i].none;
  }
  return *plain;
}

const Plain* find_plain(nb::handle scope, const std::string& name) {
  const auto found = known().find({scope.ptr(), name});
  return found == known().end() ? nullptr : found->second;
}

bool PlainArguments::load(Slot& slot, const Plain::Parameter& parameter, PyObject* o) {
  if (o == Py_None) {
    slot.none = parameter.none;
    slot.tensor = nullptr;
    if (parameter.kind == PlainKind::object) slot.object = o;
    return parameter.none;
  }
  switch (parameter.kind) {
    case PlainKind::operand:
      if (is_plain_number(o)) {
        if (numbers_ == std::ssize(numbers)) return false;
        slot.tensor = numbers[numbers_++].emplace(o).get();
        return true;
      }
      [[fallthrough]];
    case PlainKind::tensor:
      if (!is_tensor(o)) return false;
      slot.tensor = impl_of(o);
      return true;
    case PlainKind::integer: return load_integer(o, slot.integer);
    case PlainKind::number: return load_number(o, slot.number);
    case PlainKind::boolean: slot.boolean = o == Py_True; return slot.boolean || o == Py_False;
    case PlainKind::scalar: new (&slot.scalar) Scalar(0); return load_scalar(o, slot.scalar);
    case PlainKind::dims: slot.at = dims_; return dims_ < std::ssize(dims) && load_dims(o, dims[dims_++]);
    case PlainKind::dtype: return to_dtype(o, slot.dtype);
    case PlainKind::device: return to_device(o, slot.device);
    case PlainKind::format: return nb::try_cast(nb::handle(o), slot.format);
    case PlainKind::text: slot.at = texts_; return texts_ < std::ssize(texts) && load_text(o, texts[texts_++]);
    case PlainKind::object: slot.object = o; return true;
    case PlainKind::tensors: return !std::exchange(listed_, true) && load_tensors(o, tensors);
  }
  return false;
}

bool PlainArguments::load(const Plain& plain, PyObject* const* objects) {
  for (size_t i = 0; i < plain.count; i++)
    if (!load(slots[i], plain.parameters[i], objects[i])) return false;
  return true;
}

namespace {

template <class T> bool read(const Unread& given, T& to) {
  nb::detail::make_caster<T> caster;
  if (!caster.from_python(given.object, given.flags, nullptr)) return false;
  to = std::move(caster.value);
  return true;
}

}  // namespace

bool PlainArguments::convert(Slot& slot, const Plain::Parameter& parameter, const Unread& given) {
  Operand operand;
  if (given.object == Py_None) return load(slot, parameter, given.object);
  switch (parameter.kind) {
    case PlainKind::operand:
      if (!read(given, operand)) return false;
      slot.tensor = made_.emplace_back(std::move(operand.t)).get();
      return true;
    case PlainKind::integer: return read(given, slot.integer);
    case PlainKind::number: return read(given, slot.number);
    case PlainKind::boolean: return read(given, slot.boolean);
    case PlainKind::scalar: new (&slot.scalar) Scalar(0); return read(given, slot.scalar);
    case PlainKind::dims: slot.at = dims_; return read(given, dims[dims_++]);
    case PlainKind::text: slot.at = texts_; return read(given, texts[texts_++]);
    case PlainKind::tensors: return read(given, tensors);
    default: return load(slot, parameter, given.object);   // of these nothing is made
  }
}

bool PlainArguments::convert(const Plain& plain, std::span<const Unread> args) {
  for (size_t i = 0; i < args.size(); i++)
    if (!convert(slots[i], plain.parameters[i], args[i])) return false;
  return true;
}

PyObject* call_converting(const Plain& plain, std::span<const Unread> args) {
  PlainArguments given;
  return given.convert(plain, args) ? plain.body(plain.f, given) : NB_NEXT_OVERLOAD;
}

PyObject* call_plainly(const Plain* plain, PyObject* const* args, size_t count, PyObject* names) {
  PyObject* objects[Plain::most];
  for (; plain; plain = plain->next) {
    if (!arrange(*plain, args, count, names, objects)) continue;
    PyObject* result = guarded([&]() -> PyObject* {
      PlainArguments given;
      try { return given.load(*plain, objects) ? plain->body(plain->f, given) : nullptr; }
      catch (const nb::cast_error&) { return nullptr; }   // of an object: what was expected is known where it was bound
    });
    if (result || PyErr_Occurred()) return result;
  }
  return nullptr;
}

void bind_plain(nb::module_& m) {
  m.def("_plain_calls", [](const std::string& space) {
    nb::dict all;
    for (const auto& [key, first] : known()) {
      if (!key.second.starts_with(space)) continue;
      nb::list parameters;
      for (size_t i = 0; i < first->count; i++) {
        const Plain::Parameter& p = first->parameters[i];
        parameters.append(nb::make_tuple(nb::borrow(p.name ? p.name : Py_None), i < first->positional, nb::borrow(p.otherwise ? p.otherwise : Py_Ellipsis)));
      }
      all[key.second.c_str()] = parameters;
    }
    return all;
  }, "space"_a, "The parameters of plain calls whose names begin so: their names, whether they may be given by position, and what they are if not given.");
}

}  // namespace adjoint::python
