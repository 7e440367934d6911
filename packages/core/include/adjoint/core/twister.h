// The stream of random numbers of PyTorch's CPU: the words of MT19937 (M. Matsumoto, T. Nishimura, Mersenne Twister, 1998), and what
// PyTorch 2.13 makes of them, as its results tell. A generator that has one of these draws from it on the CPU, in place of Philox.
#pragma once
#include <adjoint/core/random_words.h>
#include <adjoint/core/tensor.h>

#include <array>

namespace adjoint {

class ADJOINT_API Twister {
 public:
  explicit Twister(uint64_t seed);   // whose lower half counts
  uint32_t word() {
    if (next_ == twister_size) refill();
    return words_[static_cast<size_t>(next_++)];
  }
  uint64_t wide() {         // the first word is the upper half
    const uint64_t upper = word();
    return upper << 32 | word();
  }
  void words(uint32_t* to, int64_t n);
  double uniform();         // [0, 1) in multiples of 2^-53
  float uniform_float();    // [0, 1) in multiples of 2^-24
  double normal();          // of Box and Muller's pairs, the second of which waits
  double gamma(double concentration), poisson(double rate), binomial(double count, double p);

  // get_rng_state's bytes, in PyTorch's order.
  static constexpr int64_t state_size = 5056;
  void save(std::byte* to, uint64_t seed) const;
  uint64_t load(const std::byte* from);   // the seed

 private:
  std::array<uint32_t, twister_size> state_, words_;
  int next_ = twister_size;   // of words_, which are those of state_ if any is left
  double waiting_ = 0;
  bool waits_ = false;
  void refill();
};

// What the functions of ops/random.cpp draw, into memory without gaps.
namespace twister {
void fill_uniform(Twister& g, const Tensor& t), fill_normal(Twister& g, const Tensor& t), fill_integers(Twister& g, const Tensor& t, int64_t low, uint64_t range, bool wide), fill_orders(Twister& g, const Tensor& t), fill_mask(Twister& g, const Tensor& t, double p);
}  // namespace twister

}  // namespace adjoint
