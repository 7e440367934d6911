// An image with its padding in memory, laid out so that the next output of a convolution reads the next element: of stride s, elements
// 0, s, 2 s, ... of a dimension lie together (phase 0), then 1, 1 + s, ... (phase 1), and so on.
#pragma once
#include <adjoint/core/convolution.h>

#include <algorithm>
#include <cstring>
#include <vector>

namespace adjoint::cpu {

struct PaddedImage {
  static constexpr int64_t overrun = 64;   // elements behind it, which the last tile of outputs may read
  int64_t in[3], low[3], stride[3], length[3];   // of the image; padding before it; phases, and elements of one
  std::vector<int64_t> place[3];                 // of each phase among those that a kernel reads, as it does phase 0; -1: none does
  int64_t phases[3], size;                       // that are read; elements to the next channel, an odd number of cache lines: channels lie in different sets of it
  std::vector<char> live;                        // which rows of a channel, of length[2] elements, are not all padding
  bool all_live, mostly_live;                    // or four fifths of them
  int64_t live_begin, live_end;                  // the elements of a row beyond which there is padding alone

  PaddedImage(const int64_t (&in_)[3], const int64_t (&low_)[3], const int64_t (&stride_)[3], const int64_t (&length_)[3], const int64_t (&kernel)[3], const int64_t (&dilation)[3]) : size(1) {
    for (int d = 0; d < 3; d++) {
      in[d] = in_[d], low[d] = low_[d], stride[d] = stride_[d], length[d] = length_[d], phases[d] = 0;
      place[d].assign(static_cast<size_t>(stride[d]), -1);
      for (int64_t k = 0; k < kernel[d]; k++) place[d][k * dilation[d] % stride[d]] = 0;
      for (int64_t& p : place[d]) if (p == 0) p = phases[d]++;
      size *= phases[d] * length[d];
    }
    live.assign(static_cast<size_t>(size / row()), 0);
    size = ((size + 15) / 16 | 1) * 16;
    for (int64_t i = low[0]; i < low[0] + in[0]; i++)
      for (int64_t j = low[1]; j < low[1] + in[1]; j++)
        rows_.push_back(place[0][i % stride[0]] < 0 || place[1][j % stride[1]] < 0 ? -1 : offset(i, j, 0));
    for (const int64_t at : rows_)
      for (int64_t p = 0; at >= 0 && p < phases[2]; p++) live[at / row() + p * length[0] * length[1]] = 1;
    const auto dead = static_cast<size_t>(std::count(live.begin(), live.end(), 0));
    all_live = dead == 0, mostly_live = 5 * dead <= live.size();
    live_begin = low[2] / stride[2], live_end = (low[2] + in[2] + stride[2] - 1) / stride[2];
  }
  int64_t row() const { return length[2]; }   // elements to the next row and plane of outputs
  int64_t plane() const { return length[1] * length[2]; }
  // Where the phase of padded position (a, b, c) begins, if it is read, and where the position is within.
  int64_t phase(int64_t a, int64_t b, int64_t c) const {
    return ((place[0][a % stride[0]] * phases[1] + place[1][b % stride[1]]) * phases[2] + place[2][c % stride[2]]) * length[0] * plane();
  }
  int64_t offset(int64_t a, int64_t b, int64_t c) const { return phase(a, b, c) + (a / stride[0] * length[1] + b / stride[1]) * row() + c / stride[2]; }

  // Fills `channels` channels at `to` from dense ones.
  template <class T> void fill(const T* from, int64_t channels, T* to) const {
    std::fill_n(to, channels * size + overrun, T(0));
    for (int64_t c = 0; c < channels; c++, to += size)
      for (const int64_t row : rows_) {
        if (row >= 0) fill_row(from, to + row);
        from += in[2];
      }
  }

  // Short rows without a call for each; the last elements together with some before them.
  template <class T> static void copy_row(const T* from, int64_t n, T* to) {
    constexpr int64_t piece = 4, few = 64;
    if (n < piece || n > few) return void(std::copy_n(from, n, to));
    for (int64_t i = 0; i + piece < n; i += piece) std::memcpy(static_cast<void*>(to + i), from + i, piece * sizeof(T));
    std::memcpy(static_cast<void*>(to + n - piece), from + n - piece, piece * sizeof(T));
  }

 private:
  std::vector<int64_t> rows_;   // where each row of a channel goes, -1: nowhere

  template <class T> void fill_row(const T* from, T* to) const {
    const int64_t step = stride[2], first = low[2], last = first + in[2];
    if (step == 1) return copy_row(from, in[2], to + first);
    if (step == 2 && phases[2] == 2) {
      T *const even = to + first / 2 + first % 2 * length[0] * plane(), *const odd = to + (first + 1) / 2 + (1 - first % 2) * length[0] * plane();
      for (int64_t k = 0; k < in[2] / 2; k++) even[k] = from[2 * k], odd[k] = from[2 * k + 1];
      if (in[2] % 2) even[in[2] / 2] = from[in[2] - 1];
      return;
    }
    for (int64_t p = 0; p < step; p++) {
      if (place[2][p] < 0) continue;
      const int64_t m = (first - p + step - 1) / step, n = (last - p + step - 1) / step - m;   // elements m, m + 1, ... of this phase
      T* const row = to + place[2][p] * length[0] * plane() + m;
      const T* const x = from + p + m * step - first;
      for (int64_t k = 0; k < n; k++) row[k] = x[k * step];
    }
  }
};

// x of a convolution, for its outputs.
inline PaddedImage padded_input(const ConvolutionSizes& g) {
  int64_t stride[3], length[3];
  for (int d = 0; d < 3; d++) {
    stride[d] = g.out[d] == 1 ? 1 : g.stride[d];
    length[d] = (g.in[d] + 2 * g.padding[d] + stride[d] - 1) / stride[d];
  }
  return {g.in, g.padding, stride, length, g.kernel, g.dilation};
}

// Where each row of the matrix (channels x taps, outputs) of a convolution begins in it.
inline std::vector<int64_t> tap_offsets(const ConvolutionSizes& g, const PaddedImage& p) {
  std::vector<int64_t> offsets;
  for (int64_t c = 0; c < g.in_channels; c++)
    for (int64_t i = 0; i < g.kernel[0]; i++)
      for (int64_t j = 0; j < g.kernel[1]; j++)
        for (int64_t k = 0; k < g.kernel[2]; k++) offsets.push_back(c * p.size + p.offset(i * g.dilation[0], j * g.dilation[1], k * g.dilation[2]));
  return offsets;
}

}  // namespace adjoint::cpu
