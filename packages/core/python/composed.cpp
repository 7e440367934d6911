// Plain calls of functions that adjoint-functional makes of others, and has in the top namespace.
#include <adjoint/core/passing_views.h>
#include <adjoint/core/segments.h>

#include "fits.h"
#include "plain_space.h"

namespace adjoint::python {

namespace {

// Views into new memory.
void bind_plain_copies(const Space& s) {
  const auto copied = [](const Tensor& x, const auto& view) -> Tensor {
    const PassingViews passing({&x, 1});
    const Tensor y = view(x);
    return y->contiguous() ? clone(y) : contiguous(y);
  };
  s.def("alias_copy", [](const Tensor& x) { return clone(x); });
  s.def("squeeze_copy", [=](const Tensor& x) { return copied(x, [](const Tensor& t) { return squeeze(t); }); });
  s.def("squeeze_copy", [=](const Tensor& x, int64_t dim) { return copied(x, [&](const Tensor& t) { return squeeze(t, Dims{dim}); }); }, "dim"_a);
  s.def("unsqueeze_copy", [=](const Tensor& x, int64_t dim) { return copied(x, [&](const Tensor& t) { return unsqueeze(t, dim); }); }, "dim"_a);
  s.def("transpose_copy", [=](const Tensor& x, int64_t a, int64_t b) { return copied(x, [&](const Tensor& t) { return transpose(t, a, b); }); }, "dim0"_a, "dim1"_a);
  s.def("permute_copy", [=](const Tensor& x, const Dims& dims) { return copied(x, [&](const Tensor& t) { return permute(t, dims); }); }, "dims"_a);
  s.def("select_copy", [=](const Tensor& x, int64_t dim, int64_t index) { return copied(x, [&](const Tensor& t) { return select(t, dim, index); }); }, "dim"_a, "index"_a);
  s.def("narrow_copy", [=](const Tensor& x, int64_t dim, int64_t start, int64_t length) { return copied(x, [&](const Tensor& t) { return narrow(t, dim, start, length); }); }, "dim"_a, "start"_a, "length"_a);
  s.def("diagonal_copy", [=](const Tensor& x, int64_t offset, int64_t a, int64_t b) { return copied(x, [&](const Tensor& t) { return diagonal(t, offset, a, b); }); },
        "offset"_a = 0, "dim1"_a = 0, "dim2"_a = 1);
  s.def("unfold_copy", [=](const Tensor& x, int64_t dim, int64_t size, int64_t step) { return copied(x, [&](const Tensor& t) { return unfold(t, dim, size, step); }); }, "dimension"_a, "size"_a, "step"_a);
}

}  // namespace

void bind_composed(nb::module_& m) {
  const Space s{m, "composed"};
  bind_plain_copies(s);
  s.def("fill", [](const Tensor& x, const Scalar& value) -> Perhaps {
    if (x->keys || !x->contiguous()) return {};
    expect_fits(value, x.dtype());
    return full(x.sizes(), value, x.dtype(), x.device());
  }, "value"_a);
  s.def("hash_tensor", [](const Tensor& x) -> Perhaps {
    if (x.numel() == 0) return {};
    const PassingViews passing({&x, 1});
    const Tensor joined = joined_bits_of(reshape(x, {1, -1}));
    return joined ? reshape(joined, {}) : Perhaps{};
  });
  Space{m, "composed", "elements"}.def("isin", [](const Tensor& x, const Tensor& few) -> Perhaps {
    if (few.numel() > 16) return {};
    const Tensor given[] = {x, few};
    const PassingViews passing(given);
    return any(eq(unsqueeze(x, -1), reshape(few, {-1})), Dims{-1}, false);
  }, "test_elements"_a);
}

}  // namespace adjoint::python
