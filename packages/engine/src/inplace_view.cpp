// transpose_, squeeze_, ...: a tensor becomes a view of what it was, under its own name.
#include <adjoint/core/inference.h>

#include "record.h"

namespace adjoint::engine {

namespace {

// Another tensor with self's face, history and place among the views.
Tensor former(const TensorImpl& self) {
  Tensor old = face_copy(Tensor(const_cast<TensorImpl*>(&self)));
  old->grad_fn = self.grad_fn;
  old->out_nr = self.out_nr;
  old->keys = self.keys;
  old->view = self.view;
  old->epoch = self.epoch;
  old->birth = self.birth;
  old->form = self.form;
  return old;
}

// The step in y's chain of views that starts from self.
ViewInfo* step_from(const TensorImpl& self, const Tensor& y) {
  ViewInfo* v = view_info(*y);
  while (v && v->parent.get() != &self) v = view_info(*v->parent);
  return v;
}

}  // namespace

void become(const Tensor& self, const Tensor& made) {
  Tensor view = made;
  if (leave_dead_levels(self) && made->view) {   // it was made of the primal
    const ViewInfo& v = *view_info(*made);
    Tensor y[max_outputs];
    apply(*v.op, {&self, 1}, v.attrs, y);
    view = y[0];
  }
  check_inference(*bottom(self));
  check_creation(self, level(self));
  const bool recorded = view->keys & key_tape;
  expect(!recorded || !is_leaf_or_view_of_one(self), self->view ? "a view of a leaf Variable" : "a leaf Variable", " that requires grad is being used in an in-place operation.");
  const InputMeta before{self.sizes(), self.dtype(), self.device()};
  const Ref<Object> grad_fn = self->grad_fn;
  const auto nr = self->out_nr;
  const bool tape = self->keys & key_tape;
  const Creation creation = self->view ? view_info(*self)->creation : Creation::normal;
  if (self->view)
    if (ViewInfo* step = step_from(*self, view)) {
      step->parent = former(*self);
      self->view = view->view;
    }
  const bool viewed = self->keys & key_lifted && face(self)->viewed;
  adopt(*self, view);
  if (viewed && self->keys & key_lifted) face(self)->viewed = true;   // older views must hear of writes: they cannot follow them
  if (!recorded && tape) {   // under no_grad the history stays as it was
    self->grad_fn = grad_fn;
    self->out_nr = nr;
    self->keys |= key_tape;
    keep_history_of(before, self);
  }
  if (self->view && tape) {   // how it came to be does not change with its shape
    view_info(*self)->creation = creation;
    view_info(*self)->recorded = true;
  }
  self->form++;
  bump_version(*bottom(self));
}

}  // namespace adjoint::engine
