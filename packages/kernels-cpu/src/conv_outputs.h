// Convolutions to few channels. Eight pieces of 16 outputs, wherever they lie, by up to four channels stay in registers while the filters pass, a
// row of the kernel at a time; rows, and ends of rows, that read padding alone are left out.
#pragma once
#include "conv_direct.h"

#include <span>

namespace adjoint::cpu {

template <class T> struct OutputProduct {
  static constexpr int64_t piece = 16, together = 8, most = 4;   // outputs, pieces, channels
  // sums (channels, n, 16), channels `apart` elements from each other, += the sum over terms of in[places + at + lane] filters[row + channel]; n is a multiple of 8.
  template <int W> [[gnu::always_inline]] static inline void run(const T* in, const int64_t* places, int64_t n, const Term* first, const Term* last, const T* filters, int64_t channels, T* sums, int64_t apart) {
    constexpr int few = W == 64 ? 8 : 4;
    switch (channels) {
      case 1: return tiles<W, 8, 1>(in, places, n, first, last, filters, sums, apart);
      case 2: return tiles<W, few, 2>(in, places, n, first, last, filters, sums, apart);
      case 3: return tiles<W, few, 3>(in, places, n, first, last, filters, sums, apart);
      default: return tiles<W, few / 2, 4>(in, places, n, first, last, filters, sums, apart);
    }
  }

 private:
  template <int W, int pieces, int channels> [[gnu::always_inline]] static inline void tiles(const T* in, const int64_t* places, int64_t n, const Term* first, const Term* last, const T* filters, T* sums, int64_t apart) {
    typedef T Vector __attribute__((vector_size(W), aligned(alignof(T)), may_alias));
    constexpr int64_t lanes = W / sizeof(T);
    for (int64_t i = 0; i < n; i += pieces)
      for (int64_t v = 0; v < piece; v += lanes) {
        Vector sum[pieces][channels];
        const T* from[pieces];
#pragma GCC unroll 8
        for (int p = 0; p < pieces; p++) {
          from[p] = in + places[i + p] + v;
          asm("" : "+r"(from[p]));   // one register each
#pragma GCC unroll 4
          for (int c = 0; c < channels; c++) sum[p][c] = Vector{};
        }
        for (const Term* t = first; t < last; t++) {
          const T* const row = filters + t->row;
          const int64_t at = t->at;
#pragma GCC unroll 8
          for (int p = 0; p < pieces; p++) {
            const Vector x = *reinterpret_cast<const Vector*>(from[p] + at);
#pragma GCC unroll 4
            for (int c = 0; c < channels; c++) sum[p][c] += row[c] * x;
          }
        }
#pragma GCC unroll 8
        for (int p = 0; p < pieces; p++)
#pragma GCC unroll 4
          for (int c = 0; c < channels; c++) *reinterpret_cast<Vector*>(sums + c * apart + (i + p) * piece + v) += sum[p][c];
      }
  }
};

// The pieces of a set of outputs, those of a column after each other, and its terms by rows of the kernel.
template <class T> class Pieces {
 public:
  using Product = OutputProduct<T>;
  static constexpr int64_t group = 64;   // pieces whose sums are kept

  Pieces(const PaddedImage& image, const Outputs& o, int64_t channels) : outputs_(o), image_(image), by_plane_(o.by_plane && image.mostly_live), dense_(by_plane_ || (image.all_live && image.live_begin == 0 && image.live_end == image.row())) {
    if (by_plane_) for (int64_t at = 0; at < o.columns; at += Product::piece) places_.push_back(at);
    else for (int64_t k = 0; k < o.count[2]; k += Product::piece)
      for (const int64_t at : o.reads) places_.push_back(at + k);
    count_ = static_cast<int64_t>(places_.size());
    places_.insert(places_.end(), Product::together, places_.back());
    for (const int64_t at : places_) rows_.push_back(at / image.row());
    add_terms(channels);
  }
  int64_t groups() const { return (count_ + group - 1) / group; }
  int64_t depth() const { return static_cast<int64_t>(terms_.size()); }
  // Of a filter (taps), in the order of the terms, which take `most` elements each.
  void pack(const T* filter, T* to) const {
    for (size_t i = 0; i < terms_.size(); i++) to[static_cast<int64_t>(i) * Product::most] = filter[order_[i]];
  }
  // What a group of pieces is in some channels, `channel` elements apart in y.
  void compute(int64_t g, const T* in, const T* filters, int64_t channels, T* sums, T* y, int64_t channel) const {
    const int64_t begin = g * group, end = std::min(count_, begin + group), n = (end - begin + Product::together - 1) / Product::together * Product::together;
    const Result r{sums, n * Product::piece, channels, y, channel};
    std::fill_n(sums, r.apart * channels, T(0));
    for (const Block& b : blocks_) {
      if (dense_) {
        call(in, begin, n, b.first, b.last, filters, r, 0);
        continue;
      }
      for (int64_t i = 0; i < n; i += Product::together) {
        Block live = b;
        if (trim(live, begin + i)) call(in, begin + i, Product::together, live.first, live.last, filters, r, i);
      }
    }
    if (by_plane_) return write_rows(begin * Product::piece, end * Product::piece, r);
    for (int64_t i = begin; i < end; i++) {
      const int64_t row = i % outputs_.rows(), column = i / outputs_.rows() * Product::piece;
      write(r, (i - begin) * Product::piece, std::min(Product::piece, outputs_.count[2] - column), row, column);
    }
  }

 private:
  static constexpr size_t longest = 512;   // terms of a block
  struct Block { size_t first, last; int64_t row; };   // of the image, which the first outputs read
  struct Result { T* sums; int64_t apart, channels; T* y; int64_t channel; };

  const Outputs& outputs_;
  const PaddedImage& image_;
  const bool by_plane_, dense_;   // all pieces read all terms
  std::vector<int64_t> places_, rows_, order_;   // where pieces read, and which row of the image that is; terms among the taps
  int64_t count_;
  std::vector<Term> terms_;
  std::vector<int64_t> columns_;   // of the image, which terms read
  std::vector<Block> blocks_;

  void add_terms(int64_t channels) {
    const auto all = outputs_.taps.size(), taps = all / static_cast<size_t>(channels);
    std::vector<size_t> sorted;   // taps, as they lie in the image
    for (size_t t = 0; t < taps; t++) sorted.push_back(t);
    std::sort(sorted.begin(), sorted.end(), [&](size_t a, size_t b) { return outputs_.taps[a] < outputs_.taps[b]; });
    terms_.reserve(all), columns_.reserve(all), order_.reserve(all);
    for (const size_t t : sorted) {
      const int64_t row = outputs_.taps[t] / image_.row(), column = outputs_.taps[t] % image_.row();
      for (size_t i = t; i < all; i += taps) {
        const size_t n = terms_.size();
        if (n == 0 || n - blocks_.back().first == longest || (!dense_ && blocks_.back().row != row)) blocks_.push_back({n, n, row});
        blocks_.back().last = n + 1;
        terms_.push_back({outputs_.taps[i], static_cast<int64_t>(n) * Product::most});
        columns_.push_back(column), order_.push_back(static_cast<int64_t>(i));
      }
    }
  }
  void call(const T* in, int64_t begin, int64_t n, size_t first, size_t last, const T* filters, const Result& r, int64_t at) const {
    isa::call<Product>(in, places_.data() + begin, n, terms_.data() + first, terms_.data() + last, filters, r.channels, r.sums + at * Product::piece, r.apart);
  }
  // Leaves of a block what pieces [i, i + 8) do not read as padding; whether there is any.
  bool trim(Block& b, int64_t i) const {
    bool live = false;
    for (int64_t p = i; p < i + Product::together; p++) live = live || image_.live[static_cast<size_t>(rows_[static_cast<size_t>(p)] + b.row)];
    if (!live) return false;
    const int64_t rows = outputs_.rows(), low = i / rows * Product::piece, high = std::min(outputs_.count[2], (std::min(i + Product::together, count_) - 1) / rows * Product::piece + Product::piece);
    while (b.first < b.last && high + columns_[b.first] <= image_.live_begin) b.first++;
    while (b.first < b.last && low + columns_[b.last - 1] >= image_.live_end) b.last--;
    return b.first < b.last;
  }
  // n outputs, whose sums begin at `from`, to a row from a column on.
  void write(const Result& r, int64_t from, int64_t n, int64_t row, int64_t column) const {
    T* const to = r.y + outputs_.writes[static_cast<size_t>(row)] + column * outputs_.to[2];
    for (int64_t c = 0; c < r.channels; c++) write_spaced(r.sums + c * r.apart + from, n, to + c * r.channel, outputs_.to[2]);
  }
  // The outputs that lie in columns [begin, end) of the plane.
  void write_rows(int64_t begin, int64_t end, const Result& r) const {
    const std::vector<int64_t>& reads = outputs_.reads;
    for (auto row = static_cast<size_t>(std::upper_bound(reads.begin(), reads.end(), begin - outputs_.count[2]) - reads.begin()); row < reads.size() && reads[row] < end; row++) {
      const int64_t from = std::max(reads[row], begin);
      write(r, from - begin, std::min(reads[row] + outputs_.count[2], end) - from, static_cast<int64_t>(row), from - reads[row]);
    }
  }
};

// One convolution of every image and group, as convolve_direct.
template <class T>
void convolve_outputs(const PaddedImage& image, std::span<const Outputs> sets, int64_t batch, int64_t groups, const T* from, int64_t in_channels, const T* filters, T* y, int64_t out_channels, int64_t channel) {
  constexpr int64_t most = OutputProduct<T>::most;
  std::vector<Pieces<T>> pieces;
  int64_t depth = 0, shares = 0;
  for (const Outputs& o : sets) pieces.emplace_back(image, o, in_channels), depth += pieces.back().depth(), shares = std::max(shares, pieces.back().groups());
  const int64_t parts = (out_channels + most - 1) / most, size = depth * parts * most, plane = image.in[0] * image.in[1] * image.in[2];
  shares = batch * groups < 8 ? std::min<int64_t>(8, shares) : 1;
  const Buffer packed(groups * size * static_cast<int64_t>(sizeof(T)));
  T* to = packed.as<T>();
  for (int64_t g = 0; g < groups; g++)
    for (const Pieces<T>& p : pieces) {
      for (int64_t o = 0; o < out_channels; o++, filters += p.depth()) p.pack(filters, to + o / most * p.depth() * most + o % most);
      to += parts * p.depth() * most;
    }
  const auto fill = [&](int64_t n) {
    Buffer memory((in_channels * image.size + PaddedImage::overrun) * static_cast<int64_t>(sizeof(T)));
    image.fill(from + n * in_channels * plane, in_channels, memory.as<T>());
    return memory;
  };
  std::vector<Buffer> filled;   // those that several shares read
  for (int64_t n = 0; n < batch * groups && shares > 1; n++) filled.emplace_back(0);
  pool::parallel(static_cast<int64_t>(filled.size()), [&](int64_t n) { filled[static_cast<size_t>(n)] = fill(n); });
  pool::parallel(batch * groups * shares, [&](int64_t unit) {
    const int64_t n = unit / shares, share = unit % shares;
    const Buffer own = shares > 1 ? Buffer(0) : fill(n), sums(Pieces<T>::group * most * OutputProduct<T>::piece * static_cast<int64_t>(sizeof(T)));
    const Buffer& memory = shares > 1 ? filled[static_cast<size_t>(n)] : own;
    const T* matrix = packed.as<T>() + n % groups * size;
    for (const Pieces<T>& p : pieces) {
      for (int64_t g = p.groups() * share / shares; g < p.groups() * (share + 1) / shares; g++)
        for (int64_t c = 0; c < parts; c++)
          p.compute(g, memory.as<T>(), matrix + c * p.depth() * most, std::min(most, out_channels - c * most), sums.as<T>(), y + (n * out_channels + c * most) * channel, channel);
      matrix += parts * p.depth() * most;
    }
  });
}

}  // namespace adjoint::cpu
