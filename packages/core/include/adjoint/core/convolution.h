// The sizes of one convolution, for its kernels.
#pragma once
#include <adjoint/core/kernel.h>
#include <adjoint/core/op_attrs.h>

#include <algorithm>

namespace adjoint {

// Everything as three spatial dimensions; the missing ones lead and have size 1.
struct ConvolutionSizes {
  int64_t batch, groups, in_channels, out_channels;  // channels of one group
  int64_t in[3] = {1, 1, 1}, out[3] = {1, 1, 1}, kernel[3] = {1, 1, 1}, stride[3] = {1, 1, 1}, padding[3] = {}, dilation[3] = {1, 1, 1};

  ConvolutionSizes(const View& x, const View& weight, const View& y, const Convolution& a)
      : batch(x.sizes[0]), groups(a.groups), in_channels(weight.sizes[1]), out_channels(weight.sizes[0] / std::max<int64_t>(a.groups, 1)) {
    const int n = x.ndim - 2;
    for (int i = 0; i < n; i++) {
      const int d = 3 - n + i;
      in[d] = x.sizes[2 + i];
      out[d] = y.sizes[2 + i];
      kernel[d] = weight.sizes[2 + i];
      stride[d] = a.stride[i];
      padding[d] = a.padding[i];
      dilation[d] = a.dilation[i];
    }
  }
  int64_t in_plane() const { return in[0] * in[1] * in[2]; }
  int64_t out_rows() const { return out[0] * out[1]; }
  int64_t out_plane() const { return out[0] * out[1] * out[2]; }
  int64_t taps() const { return kernel[0] * kernel[1] * kernel[2]; }
  int64_t depth() const { return in_channels * taps(); }
  // A kernel of one element that visits every input: the matrix is x itself.
  bool is_pointwise() const {
    for (int d = 0; d < 3; d++)
      if (kernel[d] != 1 || stride[d] != 1 || padding[d] != 0) return false;
    return true;
  }
  // Positions of the output, along d, whose input under kernel element k is not padding: [first, last).
  void inside(int d, int64_t k, int64_t& first, int64_t& last) const {
    const int64_t shift = k * dilation[d] - padding[d];
    first = std::min(out[d], shift < 0 ? (-shift + stride[d] - 1) / stride[d] : 0);
    last = std::max(first, std::min(out[d], in[d] - 1 - shift < 0 ? 0 : (in[d] - 1 - shift) / stride[d] + 1));
  }
};

}  // namespace adjoint
