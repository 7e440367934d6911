// Convolutions of bfloat16 in tiles: sums of 32 channels by 32 outputs. An image has its channels in pairs, words that the products take as they
// lie, so a panel of what filters meet is gathered 16 words at a time; for the gradient of filters, outputs are the pairs.
#include "conv_bfloat16.h"

#include <cstring>
#include <vector>

#include "bfloat16.h"
#include "conv_gradient.h"

namespace adjoint::cpu {

#if defined(__x86_64__) && defined(__GNUC__)

namespace {

constexpr int64_t tile = square * wide, deep = 2 * words;   // sums; elements of a step

int64_t parts_of(int64_t n, int64_t size) { return (n + size - 1) / size; }

// Some outputs that lie together: where, from which column of a panel on, and how many.
struct Run { int64_t at, column, count; };

void add_run(std::vector<Run>& runs, const Run& r, int64_t step) {
  if (step == 1 && !runs.empty() && runs.back().at + runs.back().count == r.at && runs.back().column + runs.back().count == r.column) runs.back().count += r.count;
  else runs.push_back(r);
}
// Of outputs [begin, end) of several images, `image` elements apart, whose rows begin at `rows`, an output every `step` elements.
std::vector<Run> runs_of(const Outputs& o, const std::vector<int64_t>& rows, int64_t step, int64_t image, int64_t begin, int64_t end) {
  const int64_t width = o.count[2], plane = o.rows() * width;
  std::vector<Run> runs;
  for (int64_t p = begin, n = 0; p < end; p += n) {
    const int64_t column = p % width, at = p / plane * image + rows[static_cast<size_t>(p % plane / width)] + column * step;
    n = std::min(end - p, width - column);
    add_run(runs, {at, p - begin, n}, step);
  }
  return runs;
}

// Rows of a panel, `down` elements apart, that begin behind each of n places. What is written behind a run belongs to the next one or row.
template <class T> [[gnu::target("arch=x86-64-v4")]] void gather(T* to, int64_t down, const T* from, const int64_t* places, int64_t n, const std::vector<Run>& runs) {
  typedef T Vector __attribute__((vector_size(64), aligned(alignof(T)), may_alias));
  constexpr int64_t lanes = 64 / sizeof(T);
  for (int64_t q = 0; q < n; q++, to += down)
    for (const Run& r : runs)
      for (int64_t i = 0; i < r.count; i += lanes) *reinterpret_cast<Vector*>(to + r.column + i) = *reinterpret_cast<const Vector*>(from + places[q] + r.at + i);
}

// Rows of channels by twos; beside the last of an odd number stands 0.
void pair(const uint16_t* from, int64_t channels, int64_t n, uint32_t* to) {
  for (int64_t c = 0; c + 1 < channels; c += 2, from += 2 * n, to += n)
    for (int64_t i = 0; i < n; i++) to[i] = from[i] | static_cast<uint32_t>(from[n + i]) << 16;
  if (channels % 2) std::copy_n(from, n, to);
}

// How a set of outputs is computed. Steps read the image where it lies, if 16 outputs that follow each other mostly fill a tile: their rows are
// channels behind one tap, or taps of a row of the kernel in one channel. Else rows of all terms are gathered.
struct Plan {
  const Outputs& outputs;
  const PaddedImage& image;
  int64_t pairs, taps, size;   // channels, taps of one; elements of filters that meet a step
  bool gathered = true, by_taps = true, by_plane;
  int64_t rows = words, down = wide;   // of a step, words from one to the next
  std::vector<Term> steps;

  Plan(const Outputs& o, const PaddedImage& image_, int64_t pairs_, int64_t size_) : outputs(o), image(image_), pairs(pairs_), taps(static_cast<int64_t>(o.taps.size()) / pairs_), size(size_), by_plane(o.by_plane && image_.mostly_live) {
    const int64_t by_channels = parts_of(pairs, parts_of(pairs, words)), along = even_taps();
    // To gather takes as long as two steps, and leaves no padding out.
    if (halves() * words * words <= (image.mostly_live ? 3 : 7) * o.rows() * o.count[2] * std::max(by_channels, along)) {
      gathered = false, by_taps = along > by_channels, rows = by_taps ? along : by_channels, down = by_taps ? o.taps[1] - o.taps[0] : image.size;
      for (int64_t i = 0; i < (by_taps ? pairs : taps); i++)
        for (int64_t j = 0; j < (by_taps ? taps : pairs); j += rows) add(o.taps[static_cast<size_t>(by_taps ? j : i)], by_taps ? i : j);
    } else {
      for (int64_t q = 0; q < pairs * taps; q += words) steps.push_back({count() * words * wide, count() * size});
    }
  }
  int64_t count() const { return static_cast<int64_t>(steps.size()); }
  int64_t halves() const { return by_plane ? parts_of(outputs.columns, words) : outputs.rows() * parts_of(outputs.count[2], words); }   // 16 outputs, or fewer
  // Which pair of channels and tap a row of a step has, c * taps + t, or -1 for none.
  int64_t term(int64_t step, int64_t row) const {
    if (gathered) return step * words + row < pairs * taps ? step * words + row : -1;
    const int64_t inner = by_taps ? taps : pairs, each = parts_of(inner, rows), i = step / each, j = step % each * rows + row;
    return row >= rows || j >= inner ? -1 : by_taps ? i * taps + j : j * taps + i;
  }
  // Of steps [first, last) those that do not read padding alone, for outputs whose rows begin in rows `at` and `other` of the image.
  void add_live(int64_t first, int64_t last, int64_t at, int64_t other, std::vector<Term>& to) const {
    for (auto q = static_cast<size_t>(first); q < static_cast<size_t>(last); q++)
      if (image.all_live || by_plane || gathered || image.live[static_cast<size_t>(at + rows_[q])] || image.live[static_cast<size_t>(other + rows_[q])]) to.push_back(steps[q]);
  }

 private:
  std::vector<int64_t> rows_;   // of the image, which a step begins in

  void add(int64_t tap, int64_t channel) {
    steps.push_back({tap + channel * image.size, count() * size});
    rows_.push_back(tap / image.row());
  }
  // The most that divide the length of rows of taps, all the same way apart. Of one row of the image, since a step is left out where that is padding.
  int64_t even_taps() const {
    const std::vector<int64_t>& t = outputs.taps;
    const auto follows = [&](int64_t i) { return t[i] - t[i - 1] == t[1] - t[0] && t[i] / image.row() == t[i - 1] / image.row(); };
    int64_t n = 1;
    while (n < taps && follows(n)) n++;
    for (int64_t i = 0; i < taps; i++)
      if (taps % n || (i % n && !follows(i))) return 1;
    int64_t most = std::min(n, words);
    while (n % most) most--;
    return most;
  }
};

// Where results go: rounded, or as float.
struct Written {
  void* data;
  DType type;

  void put(int64_t at, int64_t down, int64_t right, const float* x, int64_t rows, int64_t n) const {
    if (type == DType::float32) cpu::put(Matrix<float>{static_cast<float*>(data) + at, down, right}, x, rows, n);
    else cpu::put(Matrix<BFloat16>{static_cast<BFloat16*>(data) + at, down, right}, x, rows, n);
  }
};

// Filters of a convolution: elements from one group, channel of the result, and channel of the image to the next; and which taps each set has.
struct Filters {
  const uint16_t* data;
  int64_t group, out, in;
  const std::vector<std::vector<int64_t>>* taps;   // or all, for one set
};

// One convolution of every image and group, as convolve_direct; the sets read pairs of channels.
class ByTiles {
 public:
  ByTiles(const PaddedImage& image, const std::vector<Outputs>& sets, int64_t batch, int64_t groups, int64_t in_channels, int64_t out_channels, int64_t channel)
      : pairs_((in_channels + 1) / 2), images_(image, batch, groups, parts_of(pairs_, words) * parts_of(pairs_, parts_of(pairs_, words)), most, sets[0].rows() * sets[0].count[2]), in_channels_(in_channels),
        out_channels_(out_channels), channel_(channel), high_(out_channels > words ? square : words), blocks_(parts_of(out_channels, high_)), deepest_(high_ == words ? 32 : 64), panels_(std::clamp<int64_t>((1 << 17) / (blocks_ * tile), 1, most / wide)) {
    for (const Outputs& o : sets) plans_.emplace_back(o, image, pairs_, high_ * deep), size_ += blocks_ * plans_.back().count() * plans_.back().size;
  }
  void run(const uint16_t* x, const Filters& filters, const Written& y) const {
    const Buffer packed(images_.groups * size_ * 2);
    pack(filters, packed.as<uint32_t>());
    const int64_t units = images_.units(), shares = units < 8 ? std::min<int64_t>(8, items(plans_[0], images_.each)) : 1;
    std::vector<Buffer> filled;   // those that several shares read
    for (int64_t u = 0; u < units && shares > 1; u++) filled.emplace_back(0);
    pool::parallel(static_cast<int64_t>(filled.size()), [&](int64_t u) { filled[static_cast<size_t>(u)] = fill(x, u); });
    pool::parallel(units * shares, [&](int64_t block) {
      const int64_t u = block / shares, share = block % shares, count = images_.count(u);
      const Buffer own = shares > 1 ? Buffer(0) : fill(x, u);
      const Buffer& in = shares > 1 ? filled[static_cast<size_t>(u)] : own;
      const uint16_t* matrix = packed.as<uint16_t>() + u % images_.groups * size_;
      for (const Plan& plan : plans_) {
        const int64_t all = items(plan, count);
        for (int64_t i = all * share / shares; i < all * (share + 1) / shares; i++) compute(plan, in.as<uint32_t>(), matrix, i * panels_, std::min(panels(plan, count), (i + 1) * panels_), count, y, images_.first(u) * out_channels_ * channel_);
        matrix += blocks_ * plan.count() * plan.size;
      }
    });
  }

 private:
  static constexpr int64_t most = 512;   // outputs at a time
  const int64_t pairs_;
  const Images images_;   // of words, whose channels are a few more where steps read some
  const int64_t in_channels_, out_channels_, channel_, high_, blocks_, deepest_, panels_;   // high: rows of a block of filters; deepest: steps at a time
  std::vector<Plan> plans_;
  int64_t size_ = 0;      // of the packed filters of a group

  // Where 32 outputs read and write. Two halves of them lie together in the image, or are gathered.
  struct Panel { int64_t at[2], row[2]; std::vector<Run> reads, writes; };   // row: of the image
  static int64_t panels(const Plan& plan, int64_t images) { return plan.gathered ? parts_of(images * plan.outputs.rows() * plan.outputs.count[2], wide) : parts_of(images * plan.halves(), 2); }
  int64_t items(const Plan& plan, int64_t images) const { return parts_of(panels(plan, images), panels_); }
  Panel panel(const Plan& plan, int64_t p, int64_t images) const {
    const Outputs& o = plan.outputs;
    const int64_t image = images_.groups * out_channels_ * channel_, end = std::min(images * o.rows() * o.count[2], (p + 1) * wide);
    if (plan.gathered) return {{}, {}, runs_of(o, o.reads, 1, images_.size(), p * wide, end), runs_of(o, o.writes, o.to[2], image, p * wide, end)};
    Panel r{};
    const int64_t each = plan.halves(), across = parts_of(o.count[2], words);
    for (int64_t h = 0; h < 2; h++) {
      const int64_t n = (2 * p + h) / each, i = (2 * p + h) % each, column = plan.by_plane ? i * words : i % across * words;   // of the plane, or of row i / across
      if (n == images) {
        r.at[1] = r.at[0], r.row[1] = r.row[0];
        break;
      }
      r.row[h] = plan.by_plane ? 0 : o.reads[static_cast<size_t>(i / across)] / images_.image.row();
      r.at[h] = n * images_.size() + (plan.by_plane ? 0 : o.reads[static_cast<size_t>(i / across)]) + column;
      if (!plan.by_plane) add_run(r.writes, {n * image + o.writes[static_cast<size_t>(i / across)] + column * o.to[2], h * words, std::min(words, o.count[2] - column)}, o.to[2]);
      for (size_t row = static_cast<size_t>(std::upper_bound(o.reads.begin(), o.reads.end(), column - o.count[2]) - o.reads.begin()); plan.by_plane && row < o.reads.size() && o.reads[row] < column + words; row++) {
        const int64_t from = std::max(o.reads[row], column), last = std::min(o.reads[row] + o.count[2], column + words);
        add_run(r.writes, {n * image + o.writes[row] + (from - o.reads[row]) * o.to[2], h * words + from - column, last - from}, o.to[2]);
      }
    }
    return r;
  }

  Buffer fill(const uint16_t* x, int64_t u) const {
    const PaddedImage& image = images_.image;
    const int64_t plane = image.in[0] * image.in[1] * image.in[2];
    Buffer memory((images_.count(u) * images_.size() + PaddedImage::overrun) * 4);
    const Buffer pairs(pairs_ * plane * 4);
    for (int64_t n = 0; n < images_.count(u); n++) {
      uint32_t* const to = memory.as<uint32_t>() + n * images_.size();
      pair(x + (images_.first(u) + n * images_.groups) * in_channels_ * plane, in_channels_, plane, pairs.as<uint32_t>());
      image.fill(pairs.as<const uint32_t>(), pairs_, to);
      std::fill(to + pairs_ * image.size, to + images_.size() + PaddedImage::overrun, 0u);
    }
    return memory;
  }
  // Of every group and set, to rows of 16 words of a step, 32 of them together.
  void pack(const Filters& filters, uint32_t* to) const {
    for (int64_t g = 0; g < images_.groups; g++)
      for (size_t s = 0; s < plans_.size(); s++) {
        const Plan& plan = plans_[s];
        std::vector<int64_t> from;   // where the first channel of a pair has its element, -1: nowhere
        for (int64_t q = 0; q < plan.count() * words; q++) {
          const int64_t term = plan.term(q / words, q % words), tap = term < 0 ? 0 : filters.taps ? (*filters.taps)[s][static_cast<size_t>(term % plan.taps)] : term % plan.taps;
          from.push_back(term < 0 ? -1 : term / plan.taps * 2 * filters.in + tap);
        }
        for (int64_t r = 0; r < blocks_ * high_; r++) {
          const uint16_t* const filter = filters.data + g * filters.group + r * filters.out;
          uint32_t* const row = to + r / high_ * plan.count() * (plan.size / 2) + r % high_ * words;
          for (int64_t q = 0; q < plan.count() * words; q++) {
            const int64_t at = r < out_channels_ ? from[static_cast<size_t>(q)] : -1;
            const bool two = in_channels_ % 2 == 0 || at < (in_channels_ - 1) * filters.in;
            row[q / words * (plan.size / 2) + q % words] = at < 0 ? 0 : filter[at] | static_cast<uint32_t>(two ? filter[at + filters.in] : 0) << 16;
          }
        }
        to += blocks_ * plan.count() * (plan.size / 2);
      }
  }
  void compute(const Plan& plan, const uint32_t* in, const uint16_t* filters, int64_t begin, int64_t end, int64_t images, const Written& y, int64_t first_y) const {
    const Buffer sums((end - begin) * blocks_ * tile * 4), gathered(plan.gathered ? (deepest_ * words * wide + wide) * 4 : 0);
    uint32_t* const dense = gathered.as<uint32_t>();
    const Tiles tiles(plan.rows);
    std::vector<Panel> all;
    std::vector<Term> live;
    for (int64_t p = begin; p < end; p++) all.push_back(panel(plan, p, images));
    for (int64_t first = 0; first < plan.count(); first += deepest_) {
      const int64_t count = std::min(deepest_, plan.count() - first), depth = plan.pairs * plan.taps, rows = std::min(depth - first * words, count * words);
      for (size_t p = 0; p < all.size(); p++) {
        if (plan.gathered) {
          gather(dense, wide, in, plan.outputs.taps.data() + first * words, rows, all[p].reads);
          std::fill(dense + rows * wide, dense + count * words * wide, 0u);
        }
        const uint32_t* const from = plan.gathered ? dense - plan.steps[first].at : in;
        const Squares squares{filters, deep, words * deep, plan.count() * plan.size, from + all[p].at[0], plan.gathered ? from + words : from + all[p].at[1], plan.down, 0, out_channels_ > words};
        live.clear();
        plan.add_live(first, first + count, all[p].row[0], all[p].row[1], live);
        tiles.multiply(squares, live.data(), static_cast<int64_t>(live.size()), sums.as<float>() + static_cast<int64_t>(p) * blocks_ * tile, blocks_, first > 0);
      }
    }
    for (size_t p = 0; p < all.size(); p++)
      for (const Run& run : all[p].writes)
        for (int64_t b = 0; b < blocks_; b++)
          y.put(first_y + b * square * channel_ + run.at, channel_, plan.outputs.to[2], sums.as<float>() + (static_cast<int64_t>(p) * blocks_ + b) * tile + run.column, std::min(square, out_channels_ - b * square), run.count);
  }
};

void forward(const ConvolutionSizes& g, const uint16_t* x, const uint16_t* weight, const Written& y) {
  ConvolutionSizes pairs = g;
  pairs.in_channels = (g.in_channels + 1) / 2;
  const PaddedImage image = padded_input(pairs);
  const std::vector<Outputs> all{all_outputs(pairs, image)};
  ByTiles(image, all, g.batch, g.groups, g.in_channels, g.out_channels, g.out_plane()).run(x, {weight, g.out_channels * g.depth(), g.depth(), g.taps(), nullptr}, y);
}

void backward_input(const ConvolutionSizes& g, const Written& x, const uint16_t* weight, const uint16_t* y) {
  ConvolutionSizes pairs = g;
  pairs.out_channels = (g.out_channels + 1) / 2;
  const InputGradient gradient(pairs);
  if (!gradient.every) std::fill_n(static_cast<char*>(x.data), g.batch * g.groups * g.in_channels * g.in_plane() * itemsize(x.type), char(0));
  if (!gradient.sets.empty()) ByTiles(gradient.y, gradient.sets, g.batch, g.groups, g.out_channels, g.in_channels, g.in_plane()).run(y, {weight, g.out_channels * g.depth(), g.taps(), g.depth(), &gradient.taps()}, x);
}

// The gradient of the filters: sums of 32 elements of a filter by 32 filters, over some 512 outputs at a time. A block of elements has channels
// behind one tap, and reads the image where it lies, if rows of outputs can be cut into even pieces that mostly fill a step; else it is gathered.
// Images are summed in order within a few parts that the shape decides, and the parts in order.
class WeightByTiles {
 public:
  explicit WeightByTiles(const ConvolutionSizes& g)
      : g_(g), image_(padded_input(g)), outputs_(all_outputs(g, image_)), piece_(g.in_channels >= 10 ? piece_of(g.out[2]) : 0), channels_(parts_of(g.in_channels, square)), rows_(piece_ ? channels_ * g.taps() : parts_of(g.depth(), square)),
        columns_(parts_of(g.out_channels, wide)), images_(image_, g.batch, g.groups, piece_ ? channels_ * square : g.in_channels, most, g.out_plane()),
        parts_(std::clamp<int64_t>((1 << 21) / (rows_ * columns_ * tile * g.groups), 1, std::min<int64_t>(8, images_.steps()))) {}
  void run(const uint16_t* x, const Written& weight, const uint16_t* y) const {
    const int64_t size = rows_ * columns_ * tile, panels = parts_ * g_.groups < 8 ? std::min<int64_t>(4, rows_) : 1;
    const Buffer sums(parts_ * g_.groups * size * 4);
    pool::parallel(parts_ * g_.groups * panels, [&](int64_t u) {
      const int64_t panel = u % panels, group = u / panels % g_.groups, part = u / panels / g_.groups;
      for (int64_t begin = images_.steps() * part / parts_, step = begin; step < images_.steps() * (part + 1) / parts_; step++)
        add(x, y, step * g_.groups + group, rows_ * panel / panels, rows_ * (panel + 1) / panels, sums.as<float>() + (part * g_.groups + group) * size, step > begin);
    });
    const int64_t channels = piece_ ? channels_ : rows_;   // blocks behind one tap
    pool::parallel(g_.groups * channels, [&](int64_t u) {
      for (int64_t c = 0; c < columns_; c++) finish(sums.as<float>() + u / channels * size, g_.groups * size, u % channels, c, weight, u / channels * g_.out_channels * g_.depth());
    });
  }

 private:
  static constexpr int64_t most = 512;
  const ConvolutionSizes& g_;
  const PaddedImage image_;
  const Outputs outputs_;
  const int64_t piece_, channels_, rows_, columns_;   // outputs of a step, or 0: gathered; blocks of channels; of elements of a filter; of filters
  const Images images_;
  const int64_t parts_;

  static int64_t piece_of(int64_t width) {
    int64_t n = deep;
    while (n > 0 && (width % n || n % 2)) n--;
    return n >= 10 ? n : 0;
  }
  int64_t elements(int64_t b) const { return piece_ ? std::min(square, g_.in_channels - b % channels_ * square) : std::min(square, g_.depth() - b * square); }

  Buffer fill(const uint16_t* x, int64_t u) const {
    Buffer memory((images_.count(u) * images_.size() + PaddedImage::overrun) * 2);
    for (int64_t n = 0; n < images_.count(u); n++) image_.fill(x + (images_.first(u) + n * g_.groups) * g_.in_channels * g_.in_plane(), g_.in_channels, memory.as<uint16_t>() + n * images_.size());
    return memory;
  }
  // What a unit gives to blocks [first, last) of elements.
  void add(const uint16_t* x, const uint16_t* y, int64_t u, int64_t first, int64_t last, float* sums, bool increased) const {
    constexpr int64_t down = most + deep;
    const int64_t plane = g_.out_plane(), all = images_.count(u) * plane, block = piece_ ? most / piece_ * piece_ : most, each = piece_ ? piece_ : deep;
    const Buffer in = fill(x, u), panel(columns_ * most * words * 4), rows((square * down + deep) * 2);
    uint16_t* const row = rows.as<uint16_t>();
    const Tiles tiles(each / 2);
    std::vector<Term> steps;
    y += images_.first(u) * g_.out_channels * plane;
    for (int64_t p = 0; p < all; p += block, increased = true) {
      const int64_t end = std::min(all, p + block), next = parts_of(end - p, deep) * words * wide;
      for (int64_t c = 0; c < columns_; c++) pack(y + c * wide * plane, std::min(wide, g_.out_channels - c * wide), p, end, row, down, panel.as<uint32_t>() + c * next);
      steps.clear();
      for (int64_t q = p; q < end; q += each) steps.push_back({(q - p) / 2 * wide, piece_ ? q / plane * images_.size() + outputs_.reads[static_cast<size_t>(q % plane / g_.out[2])] + q % g_.out[2] : q - p});
      const std::vector<Run> runs = runs_of(outputs_, outputs_.reads, 1, images_.size(), p, end);
      for (int64_t b = first; b < last; b++) {
        const uint16_t* from = in.as<const uint16_t>() + (piece_ ? outputs_.taps[static_cast<size_t>(b / channels_)] + b % channels_ * square * image_.size : 0);
        if (!piece_) gather_block(from, b, runs, row, down, end - p), from = row;
        const int64_t apart = piece_ ? image_.size : down;
        tiles.multiply({from, apart, words * apart, 0, panel.as<uint32_t>(), g_.out_channels > words ? panel.as<uint32_t>() + words : nullptr, wide, next, elements(b) > words || g_.out_channels <= words},
                       steps.data(), static_cast<int64_t>(steps.size()), sums + b * columns_ * tile, columns_, increased);
      }
    }
  }
  void gather_block(const uint16_t* in, int64_t b, const std::vector<Run>& runs, uint16_t* row, int64_t down, int64_t n) const {
    const int64_t count = elements(b), padded = parts_of(n, deep) * deep;
    gather(row, down, in, outputs_.taps.data() + b * square, count, runs);
    for (int64_t r = 0; r < square; r++) std::fill(row + r * down + (r < count ? n : 0), row + r * down + padded, uint16_t{0});
  }
  // Outputs [begin, end) of some channels to pairs of outputs by channels.
  void pack(const uint16_t* y, int64_t channels, int64_t begin, int64_t end, uint16_t* row, int64_t down, uint32_t* to) const {
    const int64_t plane = g_.out_plane(), padded = parts_of(end - begin, deep) * deep;
    for (int64_t c = 0; c < wide; c++) {
      uint16_t* const channel = row + c * down;
      int64_t p = c < channels ? begin : end;
      while (p < end) {
        const int64_t n = std::min(end - p, plane - p % plane);
        std::memcpy(channel + (p - begin), y + (p / plane * g_.groups * g_.out_channels + c) * plane + p % plane, static_cast<size_t>(n) * 2);
        p += n;
      }
      std::fill(channel + (c < channels ? end - begin : 0), channel + padded, uint16_t{0});
    }
    for (int64_t q = 0; q < padded; q += deep)
      for (int64_t c = 0; c < wide; c += words) transpose(to + q / 2 * wide + c, row + c * down + q, down);
  }
  // The sum of the parts of block b, behind each tap in turn, for block c of filters, turned a few elements and all their taps at a time.
  void finish(float* parts, int64_t next, int64_t b, int64_t c, const Written& weight, int64_t first) const {
    const int64_t taps = piece_ ? g_.taps() : 1, channels = elements(b), filters = std::min(wide, g_.out_channels - c * wide), each = std::clamp<int64_t>(2048 / taps, 1, channels), apart = channels_ * columns_ * tile;
    const Buffer turned(filters * each * taps * 4);
    float* const sum = parts + (b * columns_ + c) * tile;
    for (int64_t t = 0; t < taps; t++)
      for (int64_t p = 1; p < parts_; p++)
        for (int64_t i = 0; i < tile; i++) sum[t * apart + i] += sum[p * next + t * apart + i];
    for (int64_t r = 0; r < channels; r += each) {
      const int64_t n = std::min(each, channels - r), sizes[] = {filters, n, taps}, from[] = {1, wide, apart}, to[] = {n * taps, taps, 1};
      copy({turned.as<char>(), sizes, to, 3, DType::float32, filters * n * taps}, {reinterpret_cast<char*>(sum + r * wide), sizes, from, 3, DType::float32, filters * n * taps});
      const int64_t row[] = {g_.depth(), 1}, dense[] = {n * taps, 1}, both[] = {filters, n * taps};
      cast({static_cast<char*>(weight.data) + (first + c * wide * g_.depth() + (b * square + r) * taps) * itemsize(weight.type), both, row, 2, weight.type, filters * n * taps}, {turned.as<char>(), both, dense, 2, DType::float32, filters * n * taps});
    }
  }
};

}  // namespace

bool tiles_pay(Result result, const ConvolutionSizes& g) {
  if (isa::level < isa::amx_bf16) return false;
  const int64_t depth = result == Result::x ? g.out_channels * g.taps() : g.depth(), rows = result == Result::x ? g.in_channels : g.out_channels;
  // Much of a tile must be filled. A weight's gradient sums over outputs: there must be some in an image, and not too far apart.
  if (rows < 3 || rows * depth < 512 || (rows < 8 && depth < 512)) return false;
  if (result == Result::weight && (g.out_plane() < 64 || g.stride[0] * g.stride[1] * g.stride[2] > 4)) return false;
  if (result == Result::x && !InputGradient::is_possible(g)) return false;
  return isa::may_use_tiles();
}

void convolve_in_tiles(Result result, const ConvolutionSizes& g, const BFloat16* left, const BFloat16* right, void* to, DType type) {
  const auto *a = reinterpret_cast<const uint16_t*>(left), *b = reinterpret_cast<const uint16_t*>(right);
  const Written y{to, type};
  if (result == Result::y) forward(g, a, b, y);
  else if (result == Result::x) backward_input(g, y, b, a);
  else WeightByTiles(g).run(a, y, b);
}

#else

bool tiles_pay(Result, const ConvolutionSizes&) { return false; }
void convolve_in_tiles(Result, const ConvolutionSizes&, const BFloat16*, const BFloat16*, void*, DType) {}

#endif

}  // namespace adjoint::cpu
