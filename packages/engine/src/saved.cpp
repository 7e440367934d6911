// Saved tensors: versions are checked when they come back, and the error names both ends.
#include <adjoint/engine/autograd.h>

namespace adjoint::engine {

Saved::Packer saved_packer;

namespace {

uint32_t version(const Tensor& t) {
  const Storage* s = bottom(t)->storage;
  return s ? s->version : 0;
}

[[noreturn]] void modified(const Node& owner, const Tensor& t, uint32_t expected) {
  const Storage* s = bottom(t)->storage;
  const std::string saved = describe_site(owner.site), wrote = describe_site(s->site);
  fail(ErrorKind::runtime, "one of the variables needed for gradient computation has been modified by an inplace operation: [", t.dtype(), " ", t.sizes(), "] saved by ", owner.name(),
       saved.empty() ? "" : " (" + saved + ")", " is at version ", s->version, "; expected version ", expected, " instead.", wrote.empty() ? "" : " It was overwritten here: " + wrote + ".",
       " Hint: clone() it before the in-place operation, or use the out-of-place form.");
}

}  // namespace

Saved::Saved(const Tensor& t, bool own_output) : own_output_(own_output) {
  if (saved_packer.pack) {
    packed_ = saved_packer.pack(own_output ? face_copy(t) : t);
    if (packed_) return;
  }
  tensor_ = own_output ? face_copy(t) : t;
  version_ = version(t);
}

Tensor Saved::unpack(Node& owner, uint32_t out_nr) const {
  Tensor t = packed_ ? static_cast<Packed*>(packed_.get())->unpack() : tensor_;
  if (!packed_ && version(tensor_) != version_) modified(owner, tensor_, version_);
  if (!own_output_) return t;
  Tensor y = face_copy(t);
  set_history(y, Ref<Node>(&owner), out_nr);
  return y;
}

void Saved::visit_refs(RefVisitor& v) const {
  if (tensor_) v.object(tensor_.get());
  if (packed_) v.object(packed_.get());
}

}  // namespace adjoint::engine
