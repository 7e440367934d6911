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
    if (PyObject* p = o->python()) python(p);
    else if (o->use_count() == 1) pending_.push_back(o);  // shared by C++ owners: unseen, so at worst it stays alive
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
