// Intermediate results that a custom Function saved.
#include "node_type.h"

namespace adjoint::engine::python {

namespace {

// The history of a saved intermediate result while backward itself is recorded: there is none, and a derivative through it would
// lack a term. Edges to the inputs put it on the way of such derivatives only.
class SavedIntermediate final : public Node {
 public:
  SavedIntermediate(const FunctionNode& f, size_t index) : function_(f.name()), index_(index) {
    edges = f.edges;
    site = f.site;
    tainted = true;
  }
  std::string name() const override { return "SavedIntermediate"; }
  void apply(Vector<Tensor>&, Vector<Tensor>&, const Vector<bool>&) override {
    const std::string where = describe_site(site);
    fail(ErrorKind::runtime, "function ", function_, where.empty() ? "" : " (" + where + ")", ": a second derivative goes through saved tensor ", index_,
         ", which forward computed from its inputs without history, so that a term would be missing. Save inputs and outputs only: return the intermediate result as one more output, "
         "or compute it again in backward; or decorate backward with once_differentiable.");
  }

 private:
  const std::string function_;
  const size_t index_;
};

}  // namespace

Tensor with_refused_history(const Tensor& t, const FunctionNode& f, size_t index) {
  Tensor y = face_copy(t);
  Ref<Node> n(new SavedIntermediate(f, index));
  if (expose_node) expose_node(*n);
  set_history(y, std::move(n));
  return y;
}

bool has_refused_history(const Tensor& t) { return t->grad_fn && dynamic_cast<const SavedIntermediate*>(node(t)); }

}  // namespace adjoint::engine::python
