// x.data = y, and shapes changed in place while nothing is recorded: a computed tensor keeps its history, which was made of another shape or type.
#include <adjoint/engine/autograd.h>

namespace adjoint::engine {

namespace {

bool expands_to(const Dims& small, const Dims& large) {
  const int lead = large.size() - small.size();
  bool fits = lead >= 0;
  for (int i = 0; fits && i < small.size(); i++) fits = small[i] == 1 || small[i] == large[lead + i];
  return fits;
}

// Stands before the node that made the tensor, and lets pass what fits that: rules trust the shapes of their cotangents.
class Replaced final : public Node {
 public:
  Replaced(const Tensor& t, const InputMeta& before) : Node(1), meta_(before), sizes_(t.sizes()) {
    edges[0] = gradient_edge(t);
    tainted = edges[0].node->tainted;
  }
  std::string name() const override { return edges[0].node->name(); }
  bool output_sizes(uint32_t, Dims& out) const override { return out = sizes_, true; }
  const InputMeta* input_meta(size_t) const override { return &meta_; }
  void apply(Vector<Tensor>& cotangents, Vector<Tensor>& grads, const Vector<bool>& needed) override {
    const Tensor& v = cotangents[0];
    if (!v || !needed[0]) return;
    expect(expands_to(meta_.sizes, v.sizes()), ErrorKind::shape, name(), ": got a gradient of shape ", v.sizes(), " for a result of shape ", meta_.sizes, ", which was given other memory (x.data = y)");
    expect(is_complex(v.dtype()) == is_complex(meta_.dtype), name(), ": got a gradient of type ", v.dtype(), " for a result of type ", meta_.dtype, ", which was given other memory (x.data = y)");
    grads[0] = to_device(to_dtype(unbroadcast(v, meta_.sizes), meta_.dtype), meta_.device);
  }

 private:
  const InputMeta meta_;   // of the result, before
  const Dims sizes_;
};

}  // namespace

void keep_history_of(const InputMeta& before, const Tensor& t) {
  if (!t->grad_fn || (t.sizes() == before.sizes && t.dtype() == before.dtype && t.device() == before.device)) return;
  Ref<Node> n(new Replaced(t, before));
  if (n->tainted && expose_node) expose_node(*n);
  set_history(t, std::move(n));
}

// Neither can a view follow its base from now on, nor its own views it.
void replaced(const Tensor& t, const TensorImpl& before) {
  if (!t->grad_fn && !(t.sizes() == before.sizes && t.dtype() == before.dtype && t.device() == before.device)) AccumulateGrad::forget(t);
  if (t->view && t->data != before.data) {
    view_info(*t)->form--;
    t->form++;
  }
  keep_history_of({before.sizes, before.dtype, before.device}, t);
}

}  // namespace adjoint::engine
