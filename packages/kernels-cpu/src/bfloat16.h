// Products of bfloat16 matrices by the instructions that multiply pairs of them.
#pragma once
#include <adjoint/core/half.h>
#include <adjoint/core/kernel.h>

#include "matrices.h"
#include "small_matmul.h"

namespace adjoint::cpu {

// y = a b, if the processor has the instruction and the matrices are large enough for it.
bool multiply_bfloat16(const View& a, const View& b, const View& y);

#if defined(__x86_64__) && defined(__GNUC__)

constexpr int64_t words = 16, wide = 32, square = 32;   // pairs of a step; columns and, in tiles, rows of sums

// Sums of 32 rows of a by 32 columns of b. b has words, pairs of two rows; its columns are 16 on the `left` and 16 on the `right`, or there are none. Elements of a
// from a row to the next, from the first 16 rows to the others, and to the next 32; words of b from a row to the next, and to the next columns.
struct Squares {
  const uint16_t* a;
  int64_t a_down, a_half, a_next;
  const uint32_t *left, *right;
  int64_t b_down, b_next;
  bool both;   // or 16 rows alone
};

// A thread's tiles, which it has for as long as this lives: it costs as much as ten steps. The processor has AMX.
class Tiles {
 public:
  explicit Tiles(int64_t pairs = words);   // of a step
  Tiles(const Tiles&) = delete;
  ~Tiles();
  // c (32, 32) = a b, or is increased by it, `count` times, of n steps: listed, or so many elements of a and words of b apart.
  void multiply(const Squares& s, const Term* steps, int64_t n, float* c, int64_t count, bool increased) const;
  void multiply(const Squares& s, int64_t in_a, int64_t in_b, int64_t n, float* c, int64_t count, bool increased) const;
};

// Products by a factor that is packed once, for tiles: whether the processor has them, the pairs that k steps take, and words of the factor.
bool has_tiles();
constexpr int64_t pairs_in_tiles(int64_t k) { return (k + 2 * words - 1) / (2 * words) * words; }
constexpr int64_t words_in_tiles(int64_t k, int64_t n) { return (n + wide - 1) / wide * wide * pairs_in_tiles(k); }
void pack_for_tiles(uint32_t* to, const Item<uint16_t>& b);
// At least 32 rows of whole steps: so many dense rows of n elements, rounded if they are floats, and zeros.
void pad_for_tiles(uint16_t* to, const uint16_t* x, int64_t rows, int64_t n);
void pad_for_tiles(uint16_t* to, const float* x, int64_t rows, int64_t n);
// y (rows, n), dense = such rows of k elements by the first k rows and n columns of a factor that has `deep` rows. The thread has tiles.
void multiply_in_tiles(const uint16_t* a, int64_t rows, int64_t k, const uint32_t* packed, int64_t deep, float* y, int64_t n);

// The first n elements, in pairs, of so many rows, `down` apart, to 16 columns of so many pairs, `wide` apart; what is not there is 0.
void transpose(uint32_t* to, const uint16_t* from, int64_t down, int64_t rows = words, int64_t n = 2 * words, int64_t pairs = words);

// The first n sums of each row, `wide` apart, to y.
void put(const Matrix<BFloat16>& y, const float* x, int64_t rows, int64_t n);
void put(const Matrix<float>& y, const float* x, int64_t rows, int64_t n);

#endif

}  // namespace adjoint::cpu
