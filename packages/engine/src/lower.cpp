// One level down: a call on lifted operands becomes calls on their values, and the result is lifted.
#include <algorithm>

#include "record.h"

namespace adjoint::engine {

namespace {

void add_to(Tensor& sum, const Tensor& term) {
  if (term) sum = sum ? add(sum, term) : term;
}

// A term of an elementwise jvp in the shape of the output.
Tensor fit(const Tensor& t, const Tensor& y) { return !t || t.sizes() == y.sizes() ? t : expand(t, y.sizes()); }

void multilinear_jvp(const Op& op, Tensors x, Tensors t, const Attrs& attrs, Tensor* dy) {
  Vector<Tensor> u(x.begin(), x.end());
  for (size_t i = 0; i < x.size(); i++) {
    if (!t[i] || !op.differentiable(i)) continue;
    u[i] = t[i];
    Tensor term[max_outputs];
    apply(op, u, attrs, term);
    u[i] = x[i];
    add_to(dy[0], term[0]);
  }
}

// Jointly linear: operands without a tangent contribute zero.
void linear_jvp(const Op& op, Tensors x, Tensors t, const Attrs& attrs, Tensor* dy) {
  Vector<Tensor> u(x.begin(), x.end());
  bool any = false;
  for (size_t i = 0; i < x.size(); i++) {
    if (!op.differentiable(i)) continue;
    any = any || t[i];
    u[i] = t[i] ? t[i] : zeros_like(x[i]);
  }
  if (any) apply(op, u, attrs, dy);
}

void rule_jvp(const Op& op, Tensors x, Tensors t, Tensors y, const Attrs& attrs, Tensor* dy) {
  std::vector<InputMeta> inputs;
  for (const Tensor& q : x) inputs.push_back({q.sizes(), q.dtype(), q.device()});
  for (size_t i = 0; i < x.size(); i++) {
    const Rule* r = op.kind == Kind::custom ? &op.t[op.variadic ? 0 : i] : op.differentiable(i) ? &op.rule(i) : nullptr;
    if (!t[i] || !r || !*r) continue;
    Tensor term[max_outputs];
    r->f({x, y, {&t[i], 1}, inputs, attrs, static_cast<int>(i)}, term);
    for (int k = 0; k < op.outputs; k++) add_to(dy[k], fit(term[k], y[k]));
  }
  for (int k = 0; k < op.outputs; k++)   // once, after all terms
    if (dy[k] && dy[k].dtype() != y[k].dtype()) dy[k] = to_dtype(dy[k], y[k].dtype());
}

}  // namespace

void jvp(const Op& op, Tensors x, Tensors t, Tensors y, const Attrs& attrs, Tensor* dy) {
  switch (op.kind) {
    case Kind::linear: return linear_jvp(op, x, t, attrs, dy);
    case Kind::multilinear: return multilinear_jvp(op, x, t, attrs, dy);
    case Kind::elementwise:
    case Kind::custom: return rule_jvp(op, x, t, y, attrs, dy);
  }
}

Tensor front(const Tensor& t, const Slot* s, int ndim) {
  if (!at(t, s)) return t;
  Tensor v = movedim(face(t)->value, face(t)->batch_dim, 0);
  if (t.dim() >= ndim) return v;
  Dims padded{v.size(0)};
  for (int i = t.dim(); i < ndim; i++) padded.push_back(1);
  for (int64_t n : t.sizes()) padded.push_back(n);
  return reshape(v, padded);
}

namespace {

Tensor lane(const Tensor& t, const Slot* s, int64_t b) { return at(t, s) ? select(face(t)->value, face(t)->batch_dim, b) : t; }

// No batch rule: one call per lane.
void lane_by_lane(const Op& op, Tensors in, const Attrs& attrs, Slot* s, Tensor* out) {
  Vector<Tensor> lanes[max_outputs];
  Vector<Tensor> x(in.size());
  for (int64_t b = 0; b < s->batch; b++) {
    for (size_t i = 0; i < in.size(); i++) x[i] = lane(in[i], s, b);
    Tensor y[max_outputs];
    apply(op, x, attrs, y);
    for (int k = 0; k < op.outputs; k++) lanes[k].push_back(y[k]);
  }
  for (int k = 0; k < op.outputs; k++) out[k] = stack(lanes[k], 0);
}

// Each lane's 0-d operand gives way to operands with dimensions (`result_type`), though all lanes together have one.
void promote_lanes(const Op& op, Tensors in, const Attrs& attrs, const Slot* s, Vector<Tensor>& x) {
  const auto differs = [&](const Tensor& t) { return t.dtype() != in[0].dtype(); };
  if (std::none_of(in.begin(), in.end(), differs)) return;
  const DType compute = op.types(in, attrs).compute;
  for (size_t i = 0; i < in.size(); i++)
    if (at(in[i], s) && in[i].dim() == 0 && in[i].dtype() != DType::bool_ && in[i].dtype() != compute) x[i] = to_dtype(x[i], compute);
}

void lower_batch(const Op& op, Tensors in, const Attrs& attrs, Slot* s, Tensor* y) {
  Tensor out[max_outputs];
  if (op.batch) {
    Vector<Tensor> x(in.size());
    std::vector<int> dims(in.size(), -1);
    for (size_t i = 0; i < in.size(); i++) {
      x[i] = value_at(in[i], s);
      if (at(in[i], s)) dims[i] = face(in[i])->batch_dim;
    }
    op.batch({op, x, dims, s->batch, attrs}, out);
  } else if (!op.shape && !op.alias) {  // elementwise: batch in front, logical dimensions aligned
    int ndim = 0;
    for (const Tensor& t : in) ndim = std::max(ndim, t.dim());
    Vector<Tensor> x(in.size());
    for (size_t i = 0; i < in.size(); i++) x[i] = front(in[i], s, ndim);
    promote_lanes(op, in, attrs, s, x);
    apply(op, x, attrs, out);
  } else {
    lane_by_lane(op, in, attrs, s, out);
  }
  for (int k = 0; k < op.outputs; k++) y[k] = lift(s, out[k], {}, 0);
}

// Views must be possible on the tangent where they are on the value: it is laid out like it, once, before its first view.
void lay_out_like(const Tensor& x, TensorImpl& root, Tensor& tangent) {
  if (x->contiguous() == tangent->contiguous() && (x->contiguous() || x->strides == tangent->strides)) return;
  const int n = x.dim();
  const Dims there = order_by_strides(x->strides.data(), n);
  Dims back(n, 0);
  for (int i = 0; i < n; i++) back[static_cast<int>(there[i])] = i;
  const Tensor dense = permute(tangent, there);
  if (dense->contiguous()) return;
  tangent = permute(contiguous(dense), back);
  Face* f = static_cast<Face*>(root.face.get());
  f->tangent = tangent;
  f->owns_tangent = true;
}

bool shares_memory(const Tensor& a, const Tensor& b) { return bottom(a)->storage == bottom(b)->storage; }

void lower_dual(const Op& op, Tensors in, const Attrs& attrs, Slot* s, Tensor* y) {
  const size_t n = in.size();
  Vector<Tensor> x(n), t(n);
  for (size_t i = 0; i < n; i++) {
    x[i] = value_at(in[i], s);
    t[i] = tangent_at(in[i], s);
  }
  if (op.alias && t[0] && !in[0]->view) lay_out_like(x[0], *in[0], t[0]);
  Tensor dy[max_outputs];
  apply(op, x, attrs, y);
  if (!forward_mode && !s->strict) return;
  if (&op == &as_strided_op() && t[0]) dy[0] = strided_tangent(in[0], attrs.as<Strided>());
  else jvp(op, x, t, {y, static_cast<size_t>(op.outputs)}, attrs, dy);
  for (int k = 0; k < op.outputs; k++) {
    if (!dy[k] || !is_differentiable(y[k].dtype())) continue;
    if (!op.alias)   // a rule that hands a tangent on leaves it without an owner
      for (size_t i = 0; i < n; i++)
        if (t[i] && shares_memory(t[i], dy[k])) face(in[i])->owns_tangent = false;
    y[k] = lift(s, y[k], dy[k]);
  }
}

}  // namespace

void lower(const Op& op, Tensors in, const Attrs& attrs, Slot* s, Tensor* y) {
  if (s->kind == LevelKind::batch) return lower_batch(op, in, attrs, s, y);
  if (s->kind == LevelKind::dual) return lower_dual(op, in, attrs, s, y);
  Vector<Tensor> x(in.size());
  for (size_t i = 0; i < x.size(); i++) x[i] = value_at(in[i], s);
  apply(op, x, attrs, y);
  for (int k = 0; k < op.outputs; k++) y[k] = lift(s, y[k]);
}

}  // namespace adjoint::engine
