// Attention by blocks of rows of weights, 16 to 64 at a time: of up to 8192 keys a second-level cache holds them.
#pragma once
#include <adjoint/core/math/exp.h>
#include <adjoint/core/math/log.h>

#include <algorithm>
#include <optional>

#include "compilers.h"
#include "fold.h"
#include "lines.h"
#include "pool.h"

namespace adjoint::cpu {

constexpr int64_t weights_at_a_time = 1 << 17, weights_in_turn = 32768;   // in a block, and on one thread

// Scores of rows to e^(score - the largest), 1 / their sum and its logarithm. Of a causal row r `first + r + 1` elements count, the others are 0.
template <class T> struct WeightsOfScores {
  template <int W> [[gnu::always_inline]] static inline void run(T* s, int64_t rows, int64_t n, int64_t first, bool causal, T* factors, T* logarithms) {
    for (int64_t r = 0; r < rows; r++, s += n) {
      const int64_t count = causal && first + r + 1 < n ? first + r + 1 : n;
      const T most = extreme_row<W, Largest<T>>(static_cast<const T*>(s), count, Same{});
      ADJOINT_INDEPENDENT
      for (int64_t i = 0; i < count; i++) s[i] = math::exp_normal(s[i] - most);
      for (int64_t i = count; i < n; i++) s[i] = 0;
      const T total = sum_row<W>(static_cast<const T*>(s), count, Same{});
      factors[r] = 1 / total, logarithms[r] = most + math::log(total);
    }
  }
};

// What is added to the scores: of a launch that has `without` operands before it, or none.
template <class T> class ScoreMask {
 public:
  ScoreMask(const Launch& l, size_t without) : heads_(l.x[0].sizes[1]) {
    if (l.x.size() == without) return;
    const View& m = mask_.emplace(l.x.back(), dtype_of<T>()).view();
    for (int d = 0; d < 4; d++) steps_[d] = m.sizes[d] == 1 ? 0 : m.strides[d];
  }
  // To `rows` rows of n scores, of the queries from i on.
  void add(int64_t head, int64_t i, int64_t rows, int64_t n, T* s) const {
    if (!mask_) return;
    const int64_t down = steps_[2], right = steps_[3];
    const T* const from = mask_->as<const T>() + head / heads_ * steps_[0] + head % heads_ * steps_[1] + i * down;
    for (int64_t r = 0; r < rows; r++, s += n) {
      if (right == 1) for (int64_t c = 0; c < n; c++) s[c] += from[r * down + c];
      else for (int64_t c = 0; c < n; c++) s[c] += from[r * down + c * right];
    }
  }

 private:
  int64_t heads_, steps_[4] = {};
  std::optional<Contiguous> mask_;
};

// f(head, first row, rows) for blocks of rows, of which each has n weights.
template <class F> void for_blocks_of_weights(int64_t heads, int64_t rows, int64_t n, F&& f) {
  const int64_t block = std::clamp<int64_t>(weights_at_a_time / n, 16, 64), blocks = (rows + block - 1) / block;
  pool::parallel_for(heads * blocks, std::max<int64_t>(1, weights_in_turn / (std::min(block, rows) * n)), [&](int64_t begin, int64_t end) {
    for (int64_t u = begin; u < end; u++) f(u / blocks, u % blocks * block, std::min(block, rows - u % blocks * block));
  });
}

// bfloat16, without its gradients; false where the processor has no tiles or the operands fill none.
bool attention_in_tiles(const Launch& l);

}  // namespace adjoint::cpu
