// Attention in one pass, without the matrix of all weights.
#pragma once
#include <adjoint/core/op_fields.h>
#include <adjoint/core/ops.h>
#include <adjoint/core/random_call.h>

namespace adjoint {

struct Attention { double scale; bool causal; Dropped dropped; };
inline void describe(const Attention& a, FieldList& f) {
  const auto& [seed, offset, state] = a.dropped.call;
  f.add("scale", a.scale); f.add("causal", a.causal); f.add("lost", a.dropped.lost); f.add("kept", a.dropped.kept);
  f.add("seed", seed); f.add("offset", offset); f.add("state", state ? reinterpret_cast<intptr_t>(state->data) : 0);
}

// softmax(scale q k^T + mask) v of q (n, heads, queries, features), k (n, heads, keys, features) and v (n, heads, keys, outputs). mask: none,
// or of the type of q, and one element or as many as the weights in each of its four dimensions. causal: query i sees keys 0 ... i.
// dropout_p: with which probability a weight is dropped after the softmax, by the device's generator; the bits are those of dropout() of all weights.
ADJOINT_API Tensor attention(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& mask, double scale, bool causal, double dropout_p = 0);

namespace families {
std::span<const Op* const> attention();   // its records
}

}  // namespace adjoint
