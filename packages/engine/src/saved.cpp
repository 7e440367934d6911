// Saved tensors: versions are checked when they come back, and the error names both ends.
#include <adjoint/core/inference.h>
#include <adjoint/engine/autograd.h>

#include <algorithm>

namespace adjoint::engine {

constinit thread_local Saved::Pack saved_packer = nullptr;

namespace {

uint32_t version(const Tensor& t) {
  const Storage* s = memory_of(*t).storage;
  return s ? s->version : 0;
}

// The version together with the memory that it counts for: `x.data = y` gives x another one.
uint32_t place(const Storage* s) { return static_cast<uint32_t>(reinterpret_cast<uintptr_t>(s->data) >> 4) * 2654435761u; }
uint32_t stamp(const Tensor& t) {
  const Storage* s = memory_of(*t).storage;
  return s ? s->version + place(s) : 0;
}

// Which output of which node the saved tensor is; nothing of a leaf.
std::string origin(const Node& owner, const Tensor& t, bool own_output) {
  const Node* n = own_output ? &owner : node(t);
  return n ? ", which is output " + std::to_string(t->out_nr) + " of " + n->name() : std::string();
}

[[noreturn]] void modified(const Node& owner, const Tensor& t, uint32_t saved_stamp, bool own_output) {
  const Storage* s = memory_of(*t).storage;
  const uint32_t expected = saved_stamp - place(s);
  const bool replaced = expected > s->version;   // it is the stamp of other memory
  const std::string saved = describe_site(owner.site), wrote = describe_site(s->site);
  fail(ErrorKind::runtime, "one of the variables needed for gradient computation has been modified by an inplace operation: [", t.dtype(), " ", t.sizes(), "]", origin(owner, t, own_output), ", saved by ", owner.name(),
       saved.empty() ? "" : " (" + saved + ")", replaced ? ", has other memory now (x.data = ...)." : ", is at version " + std::to_string(s->version) + "; expected version " + std::to_string(expected) + " instead.",
       wrote.empty() || replaced ? "" : " It was overwritten here: " + wrote + ".",
       anomaly.enabled ? " Hint: the backtrace further above shows the operation that failed to compute its gradient."
                       : " Hint: enable anomaly detection to see the whole forward traceback of that operation, with autograd.set_detect_anomaly(True).",
       " To avoid the error clone() the tensor before the in-place operation, or use the out-of-place form.");
}

[[noreturn]] void detached(const Node& owner) {
  const std::string saved = describe_site(owner.site);
  fail(ErrorKind::runtime, "Trying to use a saved tensor that has been detached in-place, i.e. with .detach_(). This is not supported, please use out-of-place `.detach()` instead. [saved by ", owner.name(),
       saved.empty() ? "" : ", " + saved, "]");
}

// A tape of a transform saves what it made under inference mode too.
bool inside_transform() { return std::ranges::any_of(level_stack(), [](const Slot* s) { return s->kind == LevelKind::tape; }); }

}  // namespace

Saved::Saved(const Tensor& t, bool own_output) : tensor_(own_output ? face_copy(t) : t), own_output_(own_output) {
  expect(!is_inference(memory_of(*t)) || inside_transform(), "Inference tensors cannot be saved for backward. Please do not use Tensors created in inference mode in computation tracked by autograd. To work around this, you can make a clone to get a normal tensor and use it in autograd, or use no_grad() instead of inference_mode().");
  stamp_ = stamp(t);
  had_history_ = !own_output && t->grad_fn;
  if (saved_packer && !(t->flags & flag_wrapped)) pack(saved_packer, nullptr, own_output ? tensor_ : t);
}

void Saved::pack(Pack pack, void* context) { this->pack(pack, context, face_copy(tensor_)); }

// The hook must not write to what it is given: of an output the values alone, lest they hold their own node.
void Saved::pack(Pack pack, void* context, const Tensor& given) {
  NoGrad guard;
  const Tensor values = given;
  const uint32_t before = version(values);
  Ref<Packed> p = pack(values, context);
  if (!p) return;
  expect(version(values) == before, "A saved tensor pack hook is modifying its input in place. Tensors provided as input to pack hook can not be modified by in-place operations as this can lead to unexpected side-effects.");
  if (!own_output_ && tensor_->keys & key_tape) {
    p->edge = gradient_edge(tensor_);
    if (!tensor_->grad_fn) p->leaf = tensor_->meta;
  }
  packed_ = std::move(p);
  tensor_ = {};
}

Tensor Saved::unpack(Node& owner, uint32_t out_nr) const {
  if (!packed_) {
    if (stamp(tensor_) != stamp_) modified(owner, tensor_, stamp_, own_output_);
    if (had_history_ && !tensor_->grad_fn) detached(owner);
    if (!own_output_) return tensor_;
  }
  const Ref<Packed> packed = packed_;   // the hook may free the graph
  const Tensor values = packed ? packed->unpack() : tensor_;
  if (!own_output_ && !packed->edge.node) return values;
  Tensor y = face_copy(values);
  if (own_output_) set_history(y, Ref<Node>(&owner), out_nr);
  else if (packed->leaf) y->meta = packed->leaf, y->keys |= key_tape;
  else set_history(y, packed->edge.node, packed->edge.nr);
  return y;
}

void Saved::Packed::visit_refs(RefVisitor& v) const {
  if (edge.node) v.object(edge.node.get());
  if (leaf) v.object(leaf.get());
}

void Saved::visit_refs(RefVisitor& v) const {
  if (tensor_) v.object(tensor_.get());
  if (packed_) v.object(packed_.get());
}

}  // namespace adjoint::engine
