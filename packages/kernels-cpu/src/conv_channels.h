// Convolutions with vectors of channels. Eight outputs, wherever they read, by 32 channels stay in registers while the image passes, so no
// output is computed in vain where rows end; and what a row of the kernel reads of padding alone is left out.
#pragma once
#include "conv_direct.h"

#include <span>

namespace adjoint::cpu {

// Channels by strips of 32, of which the last one may use 16.
struct Strips {
  static constexpr int64_t wide = 32;
  int64_t channels;

  int64_t count() const { return (channels + wide - 1) / wide; }
  int64_t used(int64_t s) const { return std::min(wide, channels - s * wide); }
  int64_t width(int64_t s) const { return (used(s) + 15) / 16 * 16; }

  // Strip s of (channels, n) as a matrix (n, wide), and its back.
  template <class T> void pack(const T* from, int64_t down, int64_t s, int64_t n, T* to) const {
    if (used(s) != width(s)) std::fill_n(to, n * wide, T(0));
    const int64_t sizes[] = {n, used(s)}, across[] = {1, down}, along[] = {wide, 1};
    copy(view(to, sizes, along), view(from + s * wide * down, sizes, across));
  }
  template <class T> void unpack(const T* strip, int64_t s, int64_t n, T* to, int64_t down) const {
    const int64_t sizes[] = {used(s), n}, across[] = {1, wide}, along[] = {down, 1};
    copy(view(to, sizes, along), view(strip, sizes, across));
  }

 private:
  template <class T> static View view(const T* data, const int64_t (&sizes)[2], const int64_t (&strides)[2]) {
    return {reinterpret_cast<char*>(const_cast<T*>(data)), sizes, strides, 2, dtype_of<T>(), sizes[0] * sizes[1]};
  }
};

template <class T> struct ChannelProduct {
  // c (m, n) += the sum over terms of in[places[i] + at] b[row + j]; n is a multiple of 16.
  template <int W> [[gnu::always_inline]] static inline void run(const T* in, const int64_t* places, int64_t m, const Term* terms, int64_t k, const T* b, T* c, int64_t n) {
    constexpr int64_t lanes = W / sizeof(T);
    int64_t j = 0;
    for (; j + 2 * lanes <= n; j += 2 * lanes) columns<W, 2>(in, places, m, terms, terms + k, b + j, c + j);
    if (j < n) columns<W, 1>(in, places, m, terms, terms + k, b + j, c + j);
  }

 private:
  template <int W, int vectors> [[gnu::always_inline]] static inline void columns(const T* in, const int64_t* places, int64_t m, const Term* first, const Term* last, const T* b, T* c) {
    constexpr int rows = W == 64 ? 8 : 4;
    int64_t i = 0;
    for (; i + rows <= m; i += rows) tile<W, vectors, rows>(in, places + i, first, last, b, c + i * Strips::wide);
    if constexpr (rows > 4)
      if (i + 4 <= m) tile<W, vectors, 4>(in, places + i, first, last, b, c + i * Strips::wide), i += 4;
    if (i + 2 <= m) tile<W, vectors, 2>(in, places + i, first, last, b, c + i * Strips::wide), i += 2;
    if (i < m) tile<W, vectors, 1>(in, places + i, first, last, b, c + i * Strips::wide);
  }
  template <int W, int vectors, int rows> [[gnu::always_inline]] static inline void tile(const T* in, const int64_t* places, const Term* first, const Term* last, const T* b, T* c) {
    typedef T Vector __attribute__((vector_size(W), aligned(alignof(T)), may_alias));
    constexpr int64_t lanes = W / sizeof(T);
    Vector sum[rows][vectors];
    const T* from[rows];
#pragma GCC unroll 8
    for (int r = 0; r < rows; r++) {
      from[r] = in + places[r];
      asm("" : "+r"(from[r]));   // one register each; compilers find sums of others instead
#pragma GCC unroll 2
      for (int v = 0; v < vectors; v++) sum[r][v] = Vector{};
    }
    for (const Term* t = first; t < last; t++) {
      const T* const row = b + t->row;
      Vector factors[vectors];
#pragma GCC unroll 2
      for (int v = 0; v < vectors; v++) factors[v] = *reinterpret_cast<const Vector*>(row + v * lanes);
      const int64_t at = t->at;
#pragma GCC unroll 8
      for (int r = 0; r < rows; r++) {
        const T factor = from[r][at];
#pragma GCC unroll 2
        for (int v = 0; v < vectors; v++) sum[r][v] += factor * factors[v];
      }
    }
#pragma GCC unroll 8
    for (int r = 0; r < rows; r++)
#pragma GCC unroll 2
      for (int v = 0; v < vectors; v++) *reinterpret_cast<Vector*>(c + r * Strips::wide + v * lanes) += sum[r][v];
  }
};

// The images of a convolution with their padding, some of one group together in memory: a unit.
struct Images {
  const PaddedImage& image;
  int64_t batch, groups, channels, each;   // channels of a group; images of a unit

  // As many as have `outputs` outputs in all, of `plane` each, and half a megabyte.
  Images(const PaddedImage& image_, int64_t batch_, int64_t groups_, int64_t channels_, int64_t outputs, int64_t plane)
      : image(image_), batch(batch_), groups(groups_), channels(channels_), each(std::clamp<int64_t>(std::min(outputs / plane, (int64_t(1) << 17) / (size() + 1)), 1, batch_)) {}
  int64_t size() const { return channels * image.size; }   // from one image to the next
  int64_t steps() const { return (batch + each - 1) / each; }
  int64_t units() const { return steps() * groups; }
  int64_t first(int64_t u) const { return u / groups * each * groups + u % groups; }   // image and group, with which a unit begins
  int64_t count(int64_t u) const { return std::min(each, batch - u / groups * each); }
  template <class T> Buffer fill(const T* from, int64_t u) const {
    Buffer memory((count(u) * size() + PaddedImage::overrun) * static_cast<int64_t>(sizeof(T)));
    for (int64_t n = 0; n < count(u); n++) image.fill(from + (first(u) + n * groups) * channels * image.in[0] * image.in[1] * image.in[2], channels, memory.as<T>() + n * size());
    return memory;
  }
};

// The terms of a set of outputs, in blocks that stay in the first-level cache together with their filters.
class Terms {
 public:
  const Outputs& outputs;
  int64_t plane;                 // outputs of an image
  std::vector<int64_t> places;   // where each output of `images.each` reads

  Terms(const Images& images, const Outputs& o) : outputs(o), plane(o.rows() * o.count[2]), image_(images.image) {
    for (int64_t n = 0; n < images.each; n++)
      for (const int64_t at : o.reads)
        for (int64_t k = 0; k < o.count[2]; k++) places.push_back(n * images.size() + at + k);
    const int64_t channels = images.channels, taps = depth() / channels, parts = (channels + std::max<int64_t>(16, most / taps) - 1) / std::max<int64_t>(16, most / taps);
    for (int64_t t = 0; t < taps; t++) taps_.push_back({outputs.taps[static_cast<size_t>(t)] / image_.row(), outputs.taps[static_cast<size_t>(t)] % image_.row()});
    single_ = single_taps_pay(channels);
    for (int64_t p = 0; p < parts; p++) add_blocks(channels * p / parts, channels * (p + 1) / parts, taps);
  }
  int64_t depth() const { return static_cast<int64_t>(outputs.taps.size()); }
  // c (outputs [begin, end), wide) += what they are.
  template <class T> void add(const T* in, const T* filters, int64_t begin, int64_t end, T* c, int64_t n) const {
    for (const Block& b : blocks_) {
      const auto call = [&](const Taps& taps, int64_t from, int64_t last) {
        if (from < last && taps.first < taps.last)
          isa::call<ChannelProduct<T>>(in, places.data() + from, last - from, terms_.data() + b.begin + (taps.first - b.first) * b.each, (taps.last - taps.first) * b.each, filters, c + (from - begin) * Strips::wide, n);
      };
      single_ ? for_rows(b, begin, end, call) : for_eights(b, begin, end, call);
    }
  }

 private:
  static constexpr int64_t most = 288, few = 96;   // terms of a block
  struct Tap { int64_t row, column; };
  struct Taps { int64_t first, last; bool operator==(const Taps&) const = default; };
  struct Block { int64_t first, last, each; size_t begin; };   // taps [first, last), `each` terms of one from `begin`

  const PaddedImage& image_;
  std::vector<Tap> taps_;
  std::vector<Block> blocks_;
  std::vector<Term> terms_;
  bool single_;   // a block has one tap

  // f(taps, outputs) for a block of one tap: the outputs that do not read it as padding, row by row.
  template <class F> void for_rows(const Block& b, int64_t begin, int64_t end, F&& f) const {
    const Tap& tap = taps_[static_cast<size_t>(b.first)];
    const int64_t width = outputs.count[2], low = std::max<int64_t>(0, image_.live_begin - tap.column), high = std::min(width, image_.live_end - tap.column);
    int64_t from = begin, last = begin;   // what is not told yet
    for (int64_t r = begin / width; r * width < end && low < high; r++) {
      if (!image_.live[static_cast<size_t>(outputs.reads[static_cast<size_t>(r % outputs.rows())] / image_.row() + tap.row)]) continue;
      const int64_t first = std::max(begin, r * width + low);
      if (first != last) f(Taps{b.first, b.last}, from, last), from = first;
      last = std::max(first, std::min(end, r * width + high));
    }
    f(Taps{b.first, b.last}, from, last);
  }
  // The same for eight outputs at a time, or as many as read the same taps of a block.
  template <class F> void for_eights(const Block& b, int64_t begin, int64_t end, F&& f) const {
    Taps taps = live(b, begin, std::min(end, begin + 8));
    for (int64_t p = begin; p < end;) {
      const int64_t from = p;
      Taps next = taps;
      do {
        p = std::min(end, p + 8);
        if (p < end) next = live(b, p, std::min(end, p + 8));
      } while (p < end && next == taps);
      f(taps, from, p);
      taps = next;
    }
  }
  // Whether it is faster to visit what each tap does not read as padding, though sums are read and written for each, than all of a row.
  bool single_taps_pay(int64_t channels) const {
    if (image_.live_begin == 0 && image_.live_end == image_.row() && image_.all_live) return false;
    const int64_t width = outputs.count[2];
    int64_t whole = 0, single = 0, rows = 0;   // rows of outputs that read a tap
    for (size_t t = 0; t < taps_.size(); t++) {
      if (t == 0 || taps_[t].row != taps_[t - 1].row) rows = std::count_if(outputs.reads.begin(), outputs.reads.end(), [&](int64_t at) { return image_.live[static_cast<size_t>(at / image_.row() + taps_[t].row)]; });
      const int64_t n = std::max<int64_t>(0, std::min(width, image_.live_end - taps_[t].column) - std::max<int64_t>(0, image_.live_begin - taps_[t].column));
      whole += rows * width * channels, single += rows * ((n / 4 + n % 4 / 2 + n % 2) * 4 * channels + 2 * n + 24);
    }
    return 10 * single < 9 * whole;
  }
  // Of channels [c, end): a block ends where the next tap does not fit, or, if it is long enough, where a row of the kernel does.
  void add_blocks(int64_t c, int64_t end, int64_t taps) {
    const int64_t channels = end - c;
    const size_t old = blocks_.size();
    for (int64_t t = 0; t < taps; t++) {
      const int64_t n = blocks_.size() == old ? most : (t - blocks_.back().first) * channels;
      if (single_ || n + channels > most || (n > few && taps_[t].row != taps_[t - 1].row)) blocks_.push_back({t, t, channels, terms_.size()});
      blocks_.back().last++;
      for (int64_t i = c; i < end; i++) terms_.push_back({outputs.taps[i * taps + t], (i * taps + t) * Strips::wide});
    }
  }
  // Those of a block, from the first to the last one that outputs [begin, end) do not read as padding.
  Taps live(const Block& b, int64_t begin, int64_t end) const {
    Taps r{b.first, b.last};
    if (image_.live_begin == 0 && image_.live_end == image_.row() && image_.all_live) return r;
    while (r.first < r.last && !reads(taps_[r.first], begin, end)) r.first++;
    while (r.first < r.last && !reads(taps_[r.last - 1], begin, end)) r.last--;
    return r;
  }
  bool reads(const Tap& tap, int64_t begin, int64_t end) const {
    const int64_t width = outputs.count[2];
    for (int64_t r = begin / width; r * width < end; r++) {
      const int64_t first = std::max<int64_t>(0, begin - r * width) + tap.column, last = std::min(width, end - r * width) + tap.column;
      if (first < image_.live_end && last > image_.live_begin && image_.live[outputs.reads[r % outputs.rows()] / image_.row() + tap.row]) return true;
    }
    return false;
  }
};

// Whether they are worth it: few channels leave lanes empty, 16 alone read more than they multiply, and results are turned.
inline int64_t lanes_of(int64_t channels) {
  const int64_t left = channels % 32;
  return channels - left + (left > 16 ? 32 : left > 0 ? 22 : 0);
}
// So many channels more would take as long as writing and reading a matrix of what filters meet.
inline bool channels_spare_a_matrix(int64_t channels) { return lanes_of(channels) <= channels + 12; }
inline bool channels_pay(const Outputs& o, int64_t channels, int64_t depth) {
  const int64_t columns = o.by_plane ? Outputs::rounded(o.columns) : o.rows() * Outputs::rounded(o.count[2]);
  return o.rows() * o.count[2] * lanes_of(channels) * (depth + 24) < columns * (channels + 3 * (channels % 4)) * depth;
}
// A matrix is written and read, and multiplied at three quarters of the speed.
inline bool weight_channels_pay(const ConvolutionSizes& g) {
  return (g.depth() >= 64 || g.out_channels >= 32) && 4 * (lanes_of(g.out_channels) * g.depth() + 6 * g.out_channels) < 5 * g.out_channels * g.depth() + 24 * g.depth();
}

// One convolution of every image and group, as convolve_direct.
template <class T> class ByChannels {
 public:
  ByChannels(const PaddedImage& image, std::span<const Outputs> sets, int64_t batch, int64_t groups, int64_t in_channels, int64_t out_channels, int64_t channel)
      : images_(image, batch, groups, in_channels, outputs, sets[0].rows() * sets[0].count[2]), strips_{out_channels}, channel_(channel) {
    for (const Outputs& o : sets) terms_.emplace_back(images_, o), depth_ += terms_.back().depth();
  }
  void run(const T* x, const T* filters, T* y) const {
    const Buffer packed(images_.groups * size() * static_cast<int64_t>(sizeof(T)));
    pack(filters, packed.as<T>());
    const int64_t units = images_.units(), panels = units < 8 ? std::min<int64_t>(4, items(terms_[0], images_.each)) : 1;
    std::vector<Buffer> filled;   // those that several panels read
    for (int64_t u = 0; u < units && panels > 1; u++) filled.emplace_back(0);
    pool::parallel(static_cast<int64_t>(filled.size()), [&](int64_t u) { filled[u] = images_.fill(x, u); });
    pool::parallel(units * panels, [&](int64_t block) {
      const int64_t u = block / panels, panel = block % panels, count = images_.count(u);
      const Buffer own = panels > 1 ? Buffer(0) : images_.fill(x, u), sums(2 * (outputs + 8) * Strips::wide * static_cast<int64_t>(sizeof(T)));
      const Buffer& in = panels > 1 ? filled[u] : own;
      const T* matrix = packed.as<T>() + u % images_.groups * size();
      for (const Terms& t : terms_) {
        const int64_t all = items(t, count);
        for (int64_t i = all * panel / panels; i < all * (panel + 1) / panels; i++)
          compute(t, in.as<T>(), matrix, i / strips_.count() * outputs, std::min(count * t.plane, (i / strips_.count() + 1) * outputs), i % strips_.count(), sums.as<T>(), y + images_.first(u) * strips_.channels * channel_);
        matrix += strips_.count() * Strips::wide * t.depth();
      }
    });
  }

 private:
  static constexpr int64_t outputs = 512;   // at a time
  const Images images_;
  const Strips strips_;
  const int64_t channel_;
  int64_t depth_ = 0;
  std::vector<Terms> terms_;

  int64_t size() const { return strips_.count() * Strips::wide * depth_; }   // of the packed filters of a group
  int64_t items(const Terms& t, int64_t count) const { return (count * t.plane + outputs - 1) / outputs * strips_.count(); }
  void pack(const T* filters, T* to) const {
    for (int64_t g = 0; g < images_.groups; g++)
      for (const Terms& t : terms_) {
        for (int64_t s = 0; s < strips_.count(); s++, to += Strips::wide * t.depth()) strips_.pack(filters, t.depth(), s, t.depth(), to);
        filters += strips_.channels * t.depth();
      }
  }
  void compute(const Terms& t, const T* in, const T* matrix, int64_t begin, int64_t end, int64_t s, T* sums, T* y) const {
    std::fill_n(sums, (end - begin + 8) * Strips::wide, T(0));
    t.add(in, matrix + s * Strips::wide * t.depth(), begin, end, sums, strips_.width(s));
    for (int64_t n = begin / t.plane; n * t.plane < end; n++) {
      const int64_t from = std::max(begin, n * t.plane), last = std::min(end, (n + 1) * t.plane);
      write(t.outputs, from - n * t.plane, last - n * t.plane, s, sums + (from - begin) * Strips::wide, sums + (outputs + 8) * Strips::wide, y + (n * images_.groups * strips_.channels + s * Strips::wide) * channel_);
    }
  }
  // Outputs [begin, end) of an image to where they belong.
  void write(const Outputs& o, int64_t begin, int64_t end, int64_t s, const T* sums, T* turned, T* y) const {
    const int64_t width = o.count[2], n = end - begin;
    if (o.to[2] == 1 && o.to[1] == width && (o.count[0] == 1 || o.to[0] == o.count[1] * width)) return strips_.unpack(sums, s, n, y + o.first + begin, channel_);
    strips_.unpack(sums, s, n, turned, n);
    for (int64_t r = begin / width; r * width < end; r++) {
      const int64_t from = std::max(begin, r * width), m = std::min(end, (r + 1) * width) - from;
      for (int64_t c = 0; c < strips_.used(s); c++) write_spaced(turned + c * n + from - begin, m, y + c * channel_ + o.writes[r] + (from - r * width) * o.to[2], o.to[2]);
    }
  }
};

// The gradient of the filters: places are those of the filters' elements, and the outputs are the terms, 256 at a time. Images are summed in
// order within a few parts that the shape decides, and the parts in order.
template <class T> class WeightByChannels {
 public:
  WeightByChannels(const ConvolutionSizes& g, const PaddedImage& image, const Outputs& o)
      : g_(g), images_(image, g.batch, g.groups, g.in_channels, block, g.out_plane()), strips_{g.out_channels}, parts_(std::min<int64_t>(8, images_.steps())), rows_(g.depth() + 8), places_(o.taps) {
    places_.insert(places_.end(), 8, places_.back());
    for (int64_t n = 0; n < images_.each; n++)
      for (const int64_t at : o.reads)
        for (int64_t k = 0; k < o.count[2]; k++) terms_.push_back({n * images_.size() + at + k, static_cast<int64_t>(terms_.size()) % block * Strips::wide});
  }
  void run(const T* x, T* weight, const T* y) const {
    const int64_t size = strips_.count() * Strips::wide * rows_, panels = parts_ * g_.groups < 4 ? 2 : 1, depth = g_.depth();
    const Buffer sums(parts_ * g_.groups * size * static_cast<int64_t>(sizeof(T)));
    pool::parallel(parts_ * g_.groups * panels, [&](int64_t u) {
      const int64_t panel = u % panels, group = u / panels % g_.groups, part = u / panels / g_.groups;
      T* const sum = sums.as<T>() + (part * g_.groups + group) * size;
      const int64_t first = panel * depth / panels / 8 * 8, last = panel + 1 == panels ? depth : (panel + 1) * depth / panels / 8 * 8;
      for (int64_t s = 0; s < strips_.count(); s++) std::fill_n(sum + (s * rows_ + first) * Strips::wide, (last + (last == depth ? 8 : 0) - first) * Strips::wide, T(0));
      for (int64_t step = images_.steps() * part / parts_; step < images_.steps() * (part + 1) / parts_; step++) add(x, y, step * g_.groups + group, first, last, sum);
    });
    pool::parallel(g_.groups * strips_.count(), [&](int64_t u) {
      const int64_t group = u / strips_.count(), s = u % strips_.count(), n = depth * Strips::wide;
      T* const total = sums.as<T>() + group * size + s * rows_ * Strips::wide;
      for (int64_t p = 1; p < parts_; p++)
        for (int64_t i = 0; i < n; i++) total[i] += total[p * g_.groups * size + i];
      strips_.unpack(total, s, depth, weight + (group * g_.out_channels + s * Strips::wide) * depth, depth);
    });
  }

 private:
  static constexpr int64_t block = 256;
  const ConvolutionSizes& g_;
  const Images images_;
  const Strips strips_;
  const int64_t parts_, rows_;
  std::vector<int64_t> places_;
  std::vector<Term> terms_;

  // What a unit gives to rows [first, last) of each strip.
  void add(const T* x, const T* y, int64_t u, int64_t first, int64_t last, T* sum) const {
    const int64_t plane = g_.out_plane(), all = images_.count(u) * plane;
    const Buffer in = images_.fill(x, u), out(block * Strips::wide * static_cast<int64_t>(sizeof(T)));
    y += images_.first(u) * g_.out_channels * plane;
    for (int64_t s = 0; s < strips_.count(); s++)
      for (int64_t p = 0; p < all; p += block) {
        const int64_t end = std::min(all, p + block);
        for (int64_t n = p / plane; n * plane < end; n++) {
          const int64_t from = std::max(p, n * plane), m = std::min(end, (n + 1) * plane) - from;
          strips_.pack(y + n * g_.groups * g_.out_channels * plane + from - n * plane, plane, s, m, out.as<T>() + (from - p) * Strips::wide);
        }
        isa::call<ChannelProduct<T>>(static_cast<const T*>(in.as<T>()), places_.data() + first, (last - first + 3) / 4 * 4, terms_.data() + p, end - p, static_cast<const T*>(out.as<T>()), sum + (s * rows_ + first) * Strips::wide, strips_.width(s));
      }
  }
};

}  // namespace adjoint::cpu
