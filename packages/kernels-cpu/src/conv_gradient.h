// Which outputs a convolution has, and the gradient of its input as convolutions of the output's.
#pragma once
#include "conv_channels.h"

#include <utility>
#include <vector>

namespace adjoint::cpu {

inline Outputs all_outputs(const ConvolutionSizes& g, const PaddedImage& image) {
  Outputs o{{g.out[0], g.out[1], g.out[2]}, {g.out[1] * g.out[2], g.out[2], 1}, 0, tap_offsets(g, image), image.row(), image.plane()};
  o.prepare();
  return o;
}

// The gradient of elements r, r + s, ... of padded x, s being the stride, is a convolution of y with every s-th element of the filters from
// their other end. Element m of phase r and element k of a filter meet at output m - (k dilation) / s, where (k dilation) % s is r.
class InputGradient {
 public:
  PaddedImage y;
  std::vector<Outputs> sets;   // one a phase
  bool every = true;           // whether they write all of x

  explicit InputGradient(const ConvolutionSizes& g) : y(padded_output(g)) {
    for (int64_t a = 0; a < step(g, 0); a++)
      for (int64_t b = 0; b < step(g, 1); b++)
        for (int64_t c = 0; c < step(g, 2); c++) add(g, {a, b, c});
  }
  template <class T> bool is_direct(const ConvolutionSizes& g) const {
    return std::all_of(sets.begin(), sets.end(), [&](const Outputs& o) { return cpu::is_direct<T>(o, y, g.out_channels); });
  }
  // Few phases, and few products that are left out where outputs end, as vectors of channels do by themselves along rows. The more channels are
  // added up, the less it costs to add a matrix to x.
  template <class T> static bool is_cheap(const ConvolutionSizes& g) {
    const int64_t phases = phases_of(g), channels = g.out_channels;
    const bool by_channels = std::is_same_v<T, float> && channels_spare_a_matrix(g.in_channels);
    return phases <= 16 && ((by_channels && g.out[2] >= 8) || g.in_plane() * channels <= phases * g.out_plane() * (by_channels ? 16 * channels : std::min(16 * channels, 2 * channels + 96)));
  }
  const std::vector<std::vector<int64_t>>& taps() const { return taps_; }   // of each set
  // The filters of every group and set, each a matrix (in_channels, out_channels x taps).
  template <class T> void gather(const ConvolutionSizes& g, const T* weight, T* to) const {
    for (int64_t group = 0; group < g.groups; group++, weight += g.out_channels * g.depth())
      for (const std::vector<int64_t>& taps : taps_)
        for (int64_t c = 0; c < g.in_channels; c++)
          for (int64_t o = 0; o < g.out_channels; o++)
            for (const int64_t t : taps) *to++ = weight[o * g.depth() + c * g.taps() + t];
  }

  // Where products cost less than what else there is to do.
  static bool is_possible(const ConvolutionSizes& g) { return phases_of(g) <= 16 && g.in_plane() <= 64 * phases_of(g) * g.out_plane(); }

 private:
  std::vector<std::vector<int64_t>> taps_;

  static int64_t phases_of(const ConvolutionSizes& g) { return step(g, 0) * step(g, 1) * step(g, 2); }

  static int64_t step(const ConvolutionSizes& g, int d) { return g.out[d] == 1 ? 1 : g.stride[d]; }
  static PaddedImage padded_output(const ConvolutionSizes& g) {
    int64_t low[3], length[3];
    for (int d = 0; d < 3; d++) {
      const int64_t s = step(g, d);
      low[d] = std::max<int64_t>(0, g.dilation[d] * (g.kernel[d] - 1) / s - g.padding[d] / s);
      length[d] = low[d] + std::max(g.out[d], (g.padding[d] + g.in[d] - 1) / s + 1);
    }
    return {g.out, low, {1, 1, 1}, length, g.kernel, g.dilation};
  }
  void add(const ConvolutionSizes& g, const int64_t (&phase)[3]) {
    Outputs o{{}, {}, 0, {}, y.row(), y.plane()};
    int64_t begin[3], stride = 1;
    for (int d = 2; d >= 0; d--) {
      const int64_t s = step(g, d), last = g.padding[d] + g.in[d] - 1 - phase[d];
      begin[d] = std::max<int64_t>(0, g.padding[d] - phase[d] + s - 1) / s;
      o.count[d] = last < 0 ? 0 : last / s + 1 - begin[d];
      o.to[d] = s * stride;
      o.first += (s * begin[d] + phase[d] - g.padding[d]) * stride;
      stride *= g.in[d];
      if (o.count[d] <= 0) return;
    }
    std::vector<int64_t> taps;
    for (int64_t t = 0; t < g.taps(); t++) {
      const int64_t k[3] = {t / g.kernel[2] / g.kernel[1] * g.dilation[0], t / g.kernel[2] % g.kernel[1] * g.dilation[1], t % g.kernel[2] * g.dilation[2]};
      if (k[0] % step(g, 0) == phase[0] && k[1] % step(g, 1) == phase[1] && k[2] % step(g, 2) == phase[2]) {
        taps.push_back(t);
        o.taps.push_back(y.offset(begin[0] - k[0] / step(g, 0) + y.low[0], begin[1] - k[1] / step(g, 1) + y.low[1], begin[2] - k[2] / step(g, 2) + y.low[2]));
      }
    }
    if (taps.empty()) return void(every = false);
    const std::vector<int64_t> one = o.taps;
    for (int64_t c = 1; c < g.out_channels; c++)
      for (const int64_t at : one) o.taps.push_back(c * y.size + at);
    o.prepare();
    sets.push_back(std::move(o));
    taps_.push_back(std::move(taps));
  }
};

}  // namespace adjoint::cpu
