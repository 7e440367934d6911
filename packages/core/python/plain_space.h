// Plain calls of functions in Python: what those of adjoint-functional do with arguments that need no word of Python. They have the names and the
// order of the parameters there; a call that is not theirs, as one with warnings or errors to give, is left to the function in Python.
#pragma once
#include "module.h"

namespace adjoint::python {

// A result, or none: the function in Python is called.
struct Perhaps {
  Perhaps() = default;
  Perhaps(Tensor y) : t(std::move(y)) {}
  Tensor t;
};
inline PyObject* returned(Perhaps&& y) { return y.t ? wrap_tensor(std::move(y.t)) : nullptr; }

inline constexpr auto none = [](const char* name) { return nb::arg(name).none() = nb::none(); };

struct Space {
  nb::module_& m;
  std::string name;
  const char* first = "input";
  template <class F, class... Extra> void def(const std::string& function, const F& f, const Extra&... extra) const {
    PlainOf<F>(f).add(m, (name + "." + function).c_str(), false, nb::arg(first), extra...);
  }
};

// One number for each dimension; false: neither one nor n were given.
inline bool per_dimension(Dims& given, int n) {
  if (given.size() == 1) given = Dims(n, given[0]);
  return given.size() == n;
}

void bind_plain_planes(const Space& s);   // functional_planes.cpp

}  // namespace adjoint::python
