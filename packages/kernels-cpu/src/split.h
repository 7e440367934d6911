// A view as what stays and what goes in a reduction.
#pragma once
#include <adjoint/core/iterate.h>

#include "copy.h"

namespace adjoint::cpu {

// The dimensions that stay and those that go, each merged where they lie one behind the other.
struct Split {
  Dims kept_sizes, kept_strides, gone_sizes, gone_strides;
  Rows<1> kept, gone;
  Split(const View& x, const Dims& dims) {
    for (int d = 0; d < x.ndim; d++) {
      if (dims.contains(d)) continue;
      kept_sizes.push_back(x.sizes[d]);
      kept_strides.push_back(x.strides[d]);
    }
    for (int64_t d : Order(x)) {  // those that go as they lie in memory, which may be one run
      if (!dims.contains(d)) continue;
      gone_sizes.push_back(x.sizes[d]);
      gone_strides.push_back(x.strides[d]);
    }
    kept = rows(x, kept_sizes, kept_strides);
    gone = rows(x, gone_sizes, gone_strides);
  }
  int64_t kept_count() const { return kept_sizes.product(); }
  int64_t gone_count() const { return gone_sizes.product(); }

 private:
  static Rows<1> rows(const View& x, const Dims& sizes, const Dims& strides) {
    const View v{x.data, sizes.data(), strides.data(), sizes.size(), x.dtype, sizes.product()};
    return make_rows<1>({&v});
  }
};

// Bytes from the first element to number i.
inline int64_t offset(const Rows<1>& r, int64_t i, int first = 0) {
  int64_t bytes = 0;
  for (int d = first; d < r.ndim; d++) {
    bytes += i % r.sizes[d] * r.strides[0][d];
    i /= r.sizes[d];
  }
  return bytes;
}

}  // namespace adjoint::cpu
