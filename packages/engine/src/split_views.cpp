// unbind, split, chunk: one node for all the pieces, so that backward puts their cotangents together in one pass.
#include <adjoint/core/observer.h>
#include <adjoint/core/split_views.h>
#include <adjoint/engine/autograd.h>

namespace adjoint::engine {

namespace {

class CutNode final : public Node {
 public:
  CutNode(const Cut& cut, const Tensor& x, Tensors pieces) : Node(1), cut_(cut), meta_{x.sizes(), x.dtype(), x.device()} {
    edges[0] = gradient_edge(x);
    for (const Tensor& y : pieces) sizes_.push_back(y.sizes());
    tainted = edges[0].node->tainted;
  }
  std::string name() const override { return std::string(cut_.name) + "Backward0"; }
  bool output_sizes(uint32_t nr, Dims& out) const override { return nr < sizes_.size() && (out = sizes_[nr], true); }
  const InputMeta* input_meta(size_t) const override { return &meta_; }
  const Cut& cut() const { return cut_; }
  uint32_t outputs() const override { return static_cast<uint32_t>(sizes_.size()); }
  void apply(Vector<Tensor>& cotangents, Vector<Tensor>& grads, const Vector<bool>& needed) override {
    if (!needed[0]) return;
    for (size_t k = 0; k < sizes_.size(); k++)
      if (!cotangents[k]) cotangents[k] = zeros(sizes_[k], meta_.dtype, meta_.device);
    grads[0] = cut_.stacked ? stack(cotangents, cut_.dim) : cat(cotangents, cut_.dim);
  }

 private:
  const Cut cut_;
  const InputMeta meta_;
  std::vector<Dims> sizes_;
};

// In-place on one piece would have to rebuild the history of all: it is refused.
void join(const Cut& cut, const Tensor& given, Tensors pieces) {
  const Tensor x = fresh(given);
  for (const Tensor& y : pieces)
    if (ViewInfo* v = y->view ? view_info(*y) : nullptr; v && v->creation == Creation::normal) v->creation = Creation::several;
  if (pieces.empty() || !(x->keys & key_tape) || !node(pieces[0])) return;
  Ref<Node> n(new CutNode(cut, x, pieces));
  std::optional<Watch> watch;   // the node belongs to no op: this says where it was made
  if (watched()) watch.emplace(Span{.kind = Span::Kind::function, .node = n.get(), .name = cut.stacked ? "unbind" : "split"});
  keep_stream(*n, {&x, 1});
  if (n->tainted && expose_node) expose_node(*n);   // now that somebody holds it
  for (size_t k = 0; k < pieces.size(); k++) set_history(pieces[k], n, static_cast<uint32_t>(k));
}

}  // namespace

const Cut* cut_of(const Node& n) {
  const auto* found = dynamic_cast<const CutNode*>(&n);
  return found ? &found->cut() : nullptr;
}

void install_cuts() { several_views = join; }

}  // namespace adjoint::engine
