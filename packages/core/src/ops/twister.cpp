#include <adjoint/core/ops.h>
#include <adjoint/core/twister.h>

#include <cmath>
#include <cstring>
#include <numbers>
#include <numeric>
#include <utility>

namespace adjoint {

Twister::Twister(uint64_t seed) {
  state_[0] = static_cast<uint32_t>(seed);
  for (uint32_t i = 1; i < twister_size; i++) state_[i] = 1812433253u * (state_[i - 1] ^ state_[i - 1] >> 30) + i;
}

void Twister::refill() {
  random_words.twist(state_.data(), words_.data());
  next_ = 0;
}

void Twister::words(uint32_t* to, int64_t n) {
  while (n > 0) {
    if (next_ == twister_size) refill();
    const int64_t m = std::min<int64_t>(n, twister_size - next_);
    std::copy_n(words_.data() + next_, m, to);
    next_ += static_cast<int>(m), to += m, n -= m;
  }
}

double Twister::uniform() { return static_cast<double>(wide() & ((uint64_t(1) << 53) - 1)) * 0x1p-53; }
float Twister::uniform_float() { return static_cast<float>(word() & 0xffffffu) * 0x1p-24f; }

double Twister::normal() {
  if (std::exchange(waits_, false)) return waiting_;
  const double turn = 2 * std::numbers::pi * uniform(), radius = std::sqrt(-2 * std::log1p(-uniform()));
  waiting_ = radius * std::sin(turn);
  waits_ = true;
  return radius * std::cos(turn);
}

// G. Marsaglia, W. W. Tsang, A simple method for generating gamma variables, 2000.
double Twister::gamma(double a) {
  const double scale = a < 1 ? (a == 0 ? 0 : std::pow(1 - uniform(), 1 / a)) : 1;
  if (a == 0) return 0;
  const double d = (a < 1 ? a + 1 : a) - 1.0 / 3, c = 1 / std::sqrt(9 * d);
  for (;;) {
    double x, y;
    do x = normal(), y = 1 + c * x; while (y <= 0);
    const double v = y * y * y, u = 1 - uniform(), square = x * x;
    if (u < 1 - 0.0331 * square * square || std::log(u) < 0.5 * square + d * (1 - v + std::log(v))) return scale * d * v;
  }
}

// W. Hoermann, The transformed rejection method for generating Poisson random variables, 1993: PTRS; few are products of uniform numbers.
double Twister::poisson(double rate) {
  if (rate == 0) return 0;
  if (rate < 10) {
    const double least = std::exp(-rate);
    double count = 0;
    for (double product = uniform(); product > least; product *= uniform()) count++;
    return count;
  }
  const double b = 0.931 + 2.53 * std::sqrt(rate), a = -0.059 + 0.02483 * b, log_rate = std::log(rate);
  const double inverse_alpha = 1.1239 + 1.1328 / (b - 3.4), squeeze = 0.9277 - 3.6224 / (b - 2);
  for (;;) {
    const double u = uniform() - 0.5, v = uniform(), from_edge = 0.5 - std::fabs(u);
    const double k = std::floor((2 * a / from_edge + b) * u + rate + 0.43);
    if (from_edge >= 0.07 && v <= squeeze) return k;
    if (k < 0 || (from_edge < 0.013 && v > from_edge)) continue;
    if (std::log(v) + std::log(inverse_alpha) - std::log(a / (from_edge * from_edge) + b) <= -rate + k * log_rate - std::lgamma(k + 1)) return k;
  }
}

namespace {

// What Stirling's formula for log(k!) leaves out.
double stirling_rest(double k) { return std::lgamma(k + 1) - ((k + 0.5) * std::log(k + 1) - (k + 1) + 0.5 * std::log(2 * std::numbers::pi)); }

// W. Hoermann, The generation of binomial random variates, 1993: BTRS.
double many_successes(Twister& g, double n, double p) {
  const double deviation = std::sqrt(n * p * (1 - p)), b = 1.15 + 2.53 * deviation, a = -0.0873 + 0.0248 * b + 0.01 * p, c = n * p + 0.5;
  const double squeeze = 0.92 - 4.2 / b, odds = p / (1 - p), alpha = (2.83 + 5.1 / b) * deviation, mode = std::floor((n + 1) * p);
  for (;;) {
    const double u = g.uniform() - 0.5;
    double v = g.uniform();
    const double from_edge = 0.5 - std::fabs(u), k = std::floor((2 * a / from_edge + b) * u + c);
    if (from_edge >= 0.07 && v <= squeeze) return k;
    if (k < 0 || k > n) continue;
    v = std::log(v * alpha / (a / (from_edge * from_edge) + b));
    const double bound = (mode + 0.5) * std::log((mode + 1) / (odds * (n - mode + 1))) + (n + 1) * std::log((n - mode + 1) / (n - k + 1)) +
                         (k + 0.5) * std::log(odds * (n - k + 1) / (k + 1)) + stirling_rest(mode) + stirling_rest(n - mode) - stirling_rest(k) - stirling_rest(n - k);
    if (v <= bound) return k;
  }
}

// Gaps between successes, counted.
double few_successes(Twister& g, double n, double p) {
  double count = 0, sum = 0;
  for (;; count++) {
    sum += std::ceil(std::log(g.uniform()) / std::log1p(-p));
    if (sum > n) return count;
  }
}

double rare_successes(Twister& g, double n, double p) { return n * p >= 10 ? many_successes(g, n, p) : few_successes(g, n, p); }

}  // namespace

double Twister::binomial(double count, double p) {
  if (count <= 0 || p <= 0) return 0;
  if (p >= 1) return count;
  return p <= 0.5 ? rare_successes(*this, count, p) : count - rare_successes(*this, count, 1 - p);
}

// The seed; how many words are left before the next refill; whether it is seeded; the next word; the words, of 64 bits each; three parts
// of a normal pair in float64, the second of which is the value that waits; whether one waits; the same of float32, unused.
namespace { constexpr int64_t at_left = 8, at_seeded = 12, at_next = 16, at_words = 24, at_waiting = 5024, at_waits = 5040; }

void Twister::save(std::byte* to, uint64_t seed) const {
  std::memset(to, 0, state_size);
  const auto put = [&](int64_t at, auto value) { std::memcpy(to + at, &value, sizeof value); };
  const bool fresh = next_ == twister_size;
  put(0, seed), put(at_left, int32_t(fresh ? 1 : twister_size + 1 - next_)), put(at_seeded, int32_t(1)), put(at_next, uint64_t(fresh ? 0 : next_));
  for (int64_t i = 0; i < twister_size; i++) put(at_words + 8 * i, uint64_t(state_[static_cast<size_t>(i)]));
  put(at_waiting, waits_ ? waiting_ : 0.0), put(at_waits, int32_t(waits_));
}

uint64_t Twister::load(const std::byte* from) {
  const auto get = [&](int64_t at, auto value) { return std::memcpy(&value, from + at, sizeof value), value; };
  const auto left = get(at_left, int32_t());
  const auto next = get(at_next, uint64_t());
  expect(left >= 1 && left <= twister_size && next <= twister_size, ErrorKind::type, "set_state: these bytes are no state of a generator");
  next_ = left == 1 ? twister_size : static_cast<int>(next);
  for (int64_t i = 0; i < twister_size; i++) state_[static_cast<size_t>(i)] = static_cast<uint32_t>(get(at_words + 8 * i, uint64_t()));
  twister_words(state_.data(), words_.data());
  waiting_ = get(at_waiting, double()), waits_ = get(at_waits, int32_t()) != 0;
  return get(0, uint64_t());
}

namespace twister {

namespace {

// f(p, n) for the real numbers that make up t.
template <class F> void with_reals(const Tensor& t, F&& f) {
  with_type(real_of(t.dtype()), [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (!std::is_integral_v<T> && !is_complex_v<T>) f(t.data<T>(), t.numel() * (is_complex(t.dtype()) ? 2 : 1));
  });
}

constexpr int64_t chunk = 1024;   // numbers

// f(i, words, m) for elements i to i + m of n, of `each` words of the stream.
template <int64_t each, class F> void each_chunk(Twister& g, int64_t n, F&& f) {
  uint32_t words[each * chunk];
  for (int64_t i = 0; i < n; i += chunk) {
    const int64_t m = std::min(chunk, n - i);
    g.words(words, each * m);
    f(i, static_cast<const uint32_t*>(words), m);
  }
}
// f(i, bits) for each element.
template <class F> void each_bits(Twister& g, int64_t n, bool wide, F&& f) {
  if (wide) {
    each_chunk<2>(g, n, [&](int64_t i, const uint32_t* words, int64_t m) {
      for (int64_t k = 0; k < m; k++) f(i + k, uint64_t(words[2 * k]) << 32 | words[2 * k + 1]);
    });
  } else {
    each_chunk<1>(g, n, [&](int64_t i, const uint32_t* words, int64_t m) {
      for (int64_t k = 0; k < m; k++) f(i + k, words[k]);
    });
  }
}

constexpr uint64_t uniform_digits = (uint64_t(1) << 53) - 1;

// n numbers from [0, 1).
void uniforms(Twister& g, double* p, int64_t n) {
  each_bits(g, n, true, [=](int64_t i, uint64_t bits) { p[i] = static_cast<double>(static_cast<int64_t>(bits & uniform_digits)) * 0x1p-53; });
}
void uniforms(Twister& g, float* p, int64_t n) {
  uint32_t upper[chunk];   // whose upper bits count
  each_chunk<1>(g, n, [&](int64_t i, const uint32_t* words, int64_t m) {
    for (int64_t k = 0; k < m; k++) upper[k] = words[k] << 8;
    random_words.uniform(p + i, upper, m);
  });
}

// Of sixteen each, elements j and j + 8 become a pair.
void normal_sixteens(float* p, int64_t n) { random_words.normal_sixteens(p, n); }
void normal_sixteens(double* p, int64_t n) {
  for (int64_t i = 0; i < n; i += 16)
    for (double *x = p + i, *const end = x + 8; x < end; x++) {
      const double radius = std::sqrt(-2 * std::log(1 - x[0])), turn = 2 * std::numbers::pi * x[8];
      x[0] = radius * std::cos(turn), x[8] = radius * std::sin(turn);
    }
}

// w % d for words below 2^32 and 0 < d < 2^32 by products. D. Lemire, O. Kaser, N. Kurz, Faster remainder by direct computation, 2019.
struct Remainder {
  uint64_t d, inverse;
  explicit Remainder(uint64_t by) : d(by), inverse(~uint64_t(0) / by + 1) {}
  uint64_t operator()(uint64_t w) const {
    const uint64_t part = inverse * w;
    return ((part >> 32) * d + ((part & 0xffffffff) * d >> 32)) >> 32;   // the upper half of part * d
  }
};

}  // namespace

void fill_uniform(Twister& g, const Tensor& t) {
  with_reals(t, [&]<class T>(T* p, int64_t n) {
    using C = compute_t<T>;
    if constexpr (std::is_same_v<C, T>) return uniforms(g, p, n);
    C u[chunk];
    for (int64_t i = 0; i < n; i += chunk) {
      const int64_t m = std::min(chunk, n - i);
      uniforms(g, u, m);
      for (int64_t k = 0; k < m; k++) p[i + k] = convert<T>(convert<T>(u[k]) == convert<T>(1.f) ? 0.f : u[k]);   // where a short type rounds up
    }
  });
}

// Up to fifteen one by one; of more, sixteen at a time, of which the last sixteen are drawn anew where some are left over.
void fill_normal(Twister& g, const Tensor& t) {
  with_reals(t, [&]<class T>(T* p, int64_t n) {
    using C = compute_t<T>;
    if (n < 16) {
      for (int64_t i = 0; i < n; i++) p[i] = convert<T>(g.normal());
      return;
    }
    C z[chunk];
    auto draw = [&](T* to, int64_t m) {
      uniforms(g, z, m);
      normal_sixteens(z, m);
      for (int64_t k = 0; k < m; k++) to[k] = convert<T>(z[k]);
    };
    const int64_t whole = n / 16 * 16;
    for (int64_t i = 0; i < whole; i += chunk) draw(p + i, std::min(chunk, whole - i));
    if (whole == n) return;
    if (std::is_same_v<C, T>) uniforms(g, z, n - whole);   // which are not used; half types do not draw them
    draw(p + n - 16, 16);
  });
}

void fill_integers(Twister& g, const Tensor& t, int64_t low, uint64_t range, bool wide) {
  with_type(t.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    T* const p = t.data<T>();
    auto put = [=](int64_t i, uint64_t step) { p[i] = convert<T>(static_cast<int64_t>(static_cast<uint64_t>(low) + step)); };
    if (wide || range >> 32) each_bits(g, t.numel(), wide, [&](int64_t i, uint64_t bits) { put(i, bits % range); });
    else each_bits(g, t.numel(), false, [&, rest = Remainder(range)](int64_t i, uint64_t bits) { put(i, rest(bits)); });
  });
}

// Fisher and Yates, from the front.
void fill_orders(Twister& g, const Tensor& t) {
  const int64_t n = t.sizes()[t.dim() - 1];
  const bool wide = n >= int64_t{0xffffffff} / 20;
  with_type(t.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    for (T* row = t.data<T>(), * const end = row + t.numel(); row != end; row += n) {
      for (int64_t i = 0; i < n; i++) row[i] = convert<T>(i);
      for (int64_t i = 0; i + 1 < n; i++) {
        const int64_t left = n - i;
        std::swap(row[i], row[i + (wide ? static_cast<int64_t>(g.wide() % static_cast<uint64_t>(left)) : int64_t(g.word() % static_cast<uint32_t>(left)))]);
      }
    }
  });
}

void fill_mask(Twister& g, const Tensor& t, double p) {
  const auto bound = static_cast<uint64_t>(std::ceil((1 - p) * 0x1p53));   // of uniform numbers below 1 - p
  with_type(t.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T kept = convert<T>(p < 1 ? 1 / (1 - p) : 0.0), lost = convert<T>(0.0);
    T* const m = t.data<T>();
    each_bits(g, t.numel(), true, [=](int64_t i, uint64_t bits) { m[i] = (bits & uniform_digits) < bound ? kept : lost; });
  });
}

}  // namespace twister

}  // namespace adjoint
