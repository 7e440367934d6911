// tp_traverse for objects that hold C++ references: Python-owned ones are visited, solely owned C++ ones looked through.
#pragma once
#include <Python.h>

#include <adjoint/core/object.h>

#include <vector>

namespace adjoint::python {

class Traversal final : public RefVisitor {
 public:
  Traversal(visitproc visit, void* arg) noexcept : visit_(visit), arg_(arg) {}
  void object(const Object* o) override {
    PyObject* p = o->python();
    const size_t owners = !p ? o->use_count() : PyObject_GC_IsTracked(p) ? 0 : static_cast<size_t>(Py_REFCNT(p));
    if (owners == 1) pending_.push_back(o);   // nobody else's, and unknown to the collector: looked through
    else if (p) python(p);                    // shared by C++ owners: unseen, so at worst it stays alive
  }
  void python(PyObject* p) override { if (!result_) result_ = visit_(p, arg_); }
  // Iterative: graphs are deep.
  int run(const Object& root) {
    root.visit_refs(*this);
    while (!result_ && !pending_.empty()) {
      const Object* o = pending_.back();
      pending_.pop_back();
      o->visit_refs(*this);
    }
    return result_;
  }

 private:
  visitproc visit_;
  void* arg_;
  int result_ = 0;
  std::vector<const Object*> pending_;
};

}  // namespace adjoint::python
