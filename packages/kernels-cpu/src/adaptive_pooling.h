// Pooling over nearly equal parts of a plane, which may be as large as the plane.
#pragma once
#include <adjoint/core/op_attrs.h>

#include "side_by_side.h"

namespace adjoint::cpu {

// Planes of three dimensions, the missing ones leading, and into how many parts each is cut.
struct Grid {
  int64_t count = 1, in[3] = {1, 1, 1}, out[3] = {1, 1, 1};
  Grid(const View& x, const Window& w) {
    const int n = w.stride.size(), lead = x.ndim - n;
    for (int i = 0; i < lead; i++) count *= x.sizes[i];
    for (int i = 0; i < n; i++) in[3 - n + i] = x.sizes[lead + i], out[3 - n + i] = w.stride[i];
  }
  int64_t in_plane() const { return in[0] * in[1] * in[2]; }
  int64_t out_plane() const { return out[0] * out[1] * out[2]; }
  bool go_side_by_side(int64_t along, size_t size) const {
    int64_t most = 1;  // neighbouring parts share an element at most
    for (int d = 0; d < 3; d++) most *= in[d] + out[d];
    return SideBySide::serves(along, count, in_plane(), out_plane(), most, size);
  }
  Members members() const;
};

// T is float or double.
template <class T> void adaptive_max(const T* x, const Grid& g, T* y, int64_t* at);
template <class T> void adaptive_mean(const T* x, const Grid& g, T* y);
template <class T> void adaptive_mean_vjp(const T* v, const Grid& g, T* x);

}  // namespace adjoint::cpu
