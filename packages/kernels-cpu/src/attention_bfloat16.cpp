// Attention of bfloat16 in tiles: keys and values are packed once for each head, weights are rounded before they meet the values.
#include <adjoint/core/attention.h>

#include "attention.h"
#include "bfloat16.h"

namespace adjoint::cpu {

#if defined(__x86_64__) && defined(__GNUC__)

namespace {

struct Scaled {
  static constexpr bool narrow = true;
  template <int W> [[gnu::always_inline]] static inline void run(float* s, int64_t n, float factor) {
    ADJOINT_INDEPENDENT
    for (int64_t i = 0; i < n; i++) s[i] *= factor;
  }
};
struct ScaledRows {
  static constexpr bool narrow = true;
  template <int W> [[gnu::always_inline]] static inline void run(BFloat16* y, const float* x, int64_t rows, int64_t n, const float* factors) {
    for (int64_t r = 0; r < rows; r++, x += n, y += n) {
      ADJOINT_INDEPENDENT
      for (int64_t e = 0; e < n; e++) y[e] = BFloat16(x[e] * factors[r]);
    }
  }
};

class HeadsInTiles {
 public:
  explicit HeadsInTiles(const Launch& l)
      : count_(l.x[0].sizes[0] * l.x[0].sizes[1]), queries_(l.x[0].sizes[2]), keys_(l.x[1].sizes[2]), features_(l.x[0].sizes[3]), outputs_(l.x[2].sizes[3]), a_(l.attrs.as<Attention>()), q_(l.x[0]), mask_(l, 3),
        keys_words_(words_in_tiles(features_, keys_)), values_words_(words_in_tiles(keys_, outputs_)), packed_(count_ * (keys_words_ + values_words_) * 4) {
    const Contiguous k(l.x[1]), v(l.x[2]);
    pool::parallel_for(count_, std::max<int64_t>(1, weights_in_turn / (keys_ * (features_ + outputs_))), [&](int64_t begin, int64_t end) {
      for (int64_t head = begin; head < end; head++) {
        pack_for_tiles(of_keys(head), {k.as<const uint16_t>() + head * keys_ * features_, features_, keys_, 1, features_});
        pack_for_tiles(of_values(head), {v.as<const uint16_t>() + head * keys_ * outputs_, keys_, outputs_, outputs_, 1});
      }
    });
  }
  void run(BFloat16* y, float* logarithms) const {
    for_blocks_of_weights(count_, queries_, keys_, [&](int64_t head, int64_t first, int64_t rows) { block(head, first, rows, y, logarithms); });
  }

 private:
  int64_t count_, queries_, keys_, features_, outputs_;
  const Attention& a_;
  const Contiguous q_;
  const ScoreMask<float> mask_;
  int64_t keys_words_, values_words_;
  const Buffer packed_;

  uint32_t* of_keys(int64_t head) const { return packed_.as<uint32_t>() + head * (keys_words_ + values_words_); }
  uint32_t* of_values(int64_t head) const { return of_keys(head) + keys_words_; }

  void block(int64_t head, int64_t first, int64_t rows, BFloat16* y, float* logarithms) const {
    const int64_t n = a_.causal ? std::min(keys_, first + rows) : keys_, at = head * queries_ + first, tall = std::max(rows, square);
    const Buffer padded(tall * 4 * pairs_in_tiles(std::max(features_, n))), sums(rows * std::max(n, outputs_) * 4);
    uint16_t* const left = padded.as<uint16_t>();
    float *const s = sums.as<float>(), factors[64];
    const Tiles tiles;
    pad_for_tiles(left, q_.as<const uint16_t>() + at * features_, rows, features_);
    multiply_in_tiles(left, rows, features_, of_keys(head), features_, s, n);
    isa::call<Scaled, float*, int64_t, float>(s, rows * n, static_cast<float>(a_.scale));
    mask_.add(head, first, rows, n, s);
    isa::call<WeightsOfScores<float>, float*, int64_t, int64_t, int64_t, bool, float*, float*>(s, rows, n, first, a_.causal, factors, logarithms + at);
    pad_for_tiles(left, s, rows, n);
    multiply_in_tiles(left, rows, n, of_values(head), keys_, s, outputs_);
    isa::call<ScaledRows, BFloat16*, const float*, int64_t, int64_t, const float*>(y + at * outputs_, s, rows, outputs_, factors);
  }
};

}  // namespace

bool attention_in_tiles(const Launch& l) {
  if (l.x[0].sizes[2] < 16 || l.x[0].sizes[3] < 16 || l.x[1].sizes[2] < 16 || !has_tiles()) return false;
  HeadsInTiles(l).run(l.y[0].as<BFloat16>(), l.y[1].as<float>());
  return true;
}

#else

bool attention_in_tiles(const Launch&) { return false; }

#endif

}  // namespace adjoint::cpu
