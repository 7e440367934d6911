// Random numbers. Layout: Philox 4x32-10 with key = seed (low, high) and counter = (block low, block high, offset low, offset high)
// gives block `block` of a call: four 32-bit words. Every call takes one offset. An element of up to 32 bits is word i % 4 of block
// i / 4; one of 64 bits is the words 2 (i % 2) and the next (the high half) of block i / 2. So element i depends on (seed, offset, i)
// only, whatever order or device computes it; kernels for GPUs do the same steps.
#include <adjoint/core/cuda/graph.h>
#include <adjoint/core/cuda/memory.h>
#include <adjoint/core/cuda/random.h>
#include <adjoint/core/math/log.h>
#include <adjoint/core/math/trig.h>
#include <adjoint/core/observer.h>
#include <adjoint/core/ops.h>
#include <adjoint/core/random_lanes.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace adjoint {

namespace {

struct Block { uint32_t word[4]; };

Block philox(const Generator& g, uint64_t block) {
  uint32_t key[2] = {static_cast<uint32_t>(g.seed), static_cast<uint32_t>(g.seed >> 32)};
  Block c{{static_cast<uint32_t>(block), static_cast<uint32_t>(block >> 32), static_cast<uint32_t>(g.offset), static_cast<uint32_t>(g.offset >> 32)}};
  for (int round = 0; round < 10; round++) {
    const uint64_t a = uint64_t(0xD2511F53u) * c.word[0], b = uint64_t(0xCD9E8D57u) * c.word[2];
    c = {{static_cast<uint32_t>(b >> 32) ^ c.word[1] ^ key[0], static_cast<uint32_t>(b), static_cast<uint32_t>(a >> 32) ^ c.word[3] ^ key[1], static_cast<uint32_t>(a)}};
    key[0] += 0x9E3779B9u;
    key[1] += 0xBB67AE85u;
  }
  return c;
}
uint64_t long_word(const Block& b, int i) { return b.word[2 * i] | uint64_t(b.word[2 * i + 1]) << 32; }

// Calls f(i, bits) for each element; the generator moves on to its next call.
template <class Bits, class F> void each_bits(int64_t n, Generator& g, F&& f) {
  constexpr int per_block = 16 / sizeof(Bits);
  for (int64_t i = 0; i < n; i += per_block) {
    const Block b = philox(g, static_cast<uint64_t>(i / per_block));
    for (int k = 0; k < std::min<int64_t>(per_block, n - i); k++) {
      if constexpr (sizeof(Bits) == 4) f(i + k, b.word[k]);
      else f(i + k, long_word(b, k));
    }
  }
  g.offset++;
}

// [0, 1) in multiples of 2^-digits, so that no value rounds to 1.
template <class T> T uniform(uint32_t bits) {
  constexpr int digits = std::numeric_limits<T>::digits;
  return T(static_cast<float>(bits >> (32 - digits)) * (1.0f / static_cast<float>(uint32_t(1) << digits)));
}
double uniform_double(uint64_t bits) { return static_cast<double>(bits >> 11) * 0x1p-53; }

// f(T tag) for real floating types.
template <class F> void with_real(DType t, const char* op, F&& f) {
  with_type(t, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (std::is_integral_v<T> || is_complex_v<T>) fail(ErrorKind::not_implemented, op, ": not implemented for ", t);
    else f(tag);
  });
}

template <class T> void fill_uniform(T* p, int64_t n, Generator& g) {
  if constexpr (std::is_same_v<T, double>) each_bits<uint64_t>(n, g, [=](int64_t i, uint64_t b) { p[i] = uniform_double(b); });
  else each_bits<uint32_t>(n, g, [=](int64_t i, uint32_t b) { p[i] = uniform<T>(b); });
}

// Box-Muller: elements 2 i and 2 i + 1 are the cosine and sine parts of one pair of uniforms, the first of them in (0, 1].
template <class C> void normal_pair(C radius_uniform, C turn, C (&out)[2]) {
  const C r = std::sqrt(C(-2) * math::log(radius_uniform)), angle = C(6.283185307179586) * turn;
  out[0] = r * math::cos(angle);
  out[1] = r * math::sin(angle);
}
template <class T> void fill_normal(T* p, int64_t n, Generator& g) {
  using C = compute_t<T>;
  const int64_t per_block = std::is_same_v<C, double> ? 2 : 4;
  for (int64_t i = 0; i < n; i += per_block) {
    const Block b = philox(g, static_cast<uint64_t>(i / per_block));
    C z[4][2];
    if constexpr (std::is_same_v<C, double>) normal_pair(uniform_double(long_word(b, 0)) + 0x1p-53, uniform_double(long_word(b, 1)), z[0]);
    else for (int k = 0; k < 2; k++) normal_pair((static_cast<float>(b.word[2 * k]) + 1) * 0x1p-32f, uniform<float>(b.word[2 * k + 1]), z[k]);
    for (int64_t k = 0; k < std::min(per_block, n - i); k++) p[i + k] = convert<T>(z[k / 2][k % 2]);
  }
  g.offset++;
}

// Numbers of the given sizes, for each lane that draws its own: `draw(sizes)` makes them.
template <class F> Tensor for_lanes(const Dims& one, F&& draw) {
  if (!level_top || !random_lanes.sizes) return draw(one);
  return random_lanes.spread(draw(random_lanes.sizes(one)));
}

// What rand and randn can make: real numbers, or pairs of them.
void expect_number(DType t, const char* op) { with_real(real_of(t), op, [](auto) {}); }

Tensor uniform_numbers(const Dims& sizes, DType dtype, Generator& g, Device device) {
  expect_number(dtype, "rand");
  Tensor t = empty(sizes, dtype, device);
  if (device.type == DeviceType::cuda) return cuda::draw(cuda::Draw::uniform, t, g);
  const int64_t parts = is_complex(dtype) ? 2 : 1;   // the two parts of an element stand side by side
  with_real(real_of(dtype), "rand", [&](auto tag) { fill_uniform(t.data<typename decltype(tag)::type>(), parts * t.numel(), g); });
  return t;
}

Tensor normal_numbers(const Dims& sizes, DType dtype, Generator& g, Device device) {
  expect_number(dtype, "randn");
  Tensor t = empty(sizes, dtype, device);
  if (device.type == DeviceType::cuda) return cuda::draw(cuda::Draw::normal, t, g);
  if (is_complex(dtype)) {  // variance 1 in all: 1/2 for each part
    with_real(real_of(dtype), "randn", [&](auto tag) {
      using T = typename decltype(tag)::type;
      T* const p = t.data<T>();
      fill_normal(p, 2 * t.numel(), g);
      for (int64_t i = 0; i < 2 * t.numel(); i++) p[i] = convert<T>(convert<double>(p[i]) * 0.70710678118654752);
    });
    return t;
  }
  with_real(dtype, "randn", [&](auto tag) { fill_normal(t.data<typename decltype(tag)::type>(), t.numel(), g); });
  return t;
}

Tensor integers(int64_t low, int64_t high, const Dims& sizes, DType dtype, Generator& g, Device device) {
  if (device.type == DeviceType::cuda && is_complex(dtype)) return to_dtype(integers(low, high, sizes, DType::int64, g, device), dtype);
  Tensor t = empty(sizes, dtype, device);
  const uint64_t range = static_cast<uint64_t>(high) - static_cast<uint64_t>(low);
  if (device.type == DeviceType::cuda) return cuda::draw(cuda::Draw::integers, t, g, low, range);
  with_type(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    T* const p = t.data<T>();
    // The high half of bits times range: uniform up to range / 2^64.
    each_bits<uint64_t>(t.numel(), g, [=](int64_t i, uint64_t bits) {
      const uint64_t step = static_cast<uint64_t>(static_cast<unsigned __int128>(bits) * range >> 64);
      p[i] = convert<T>(static_cast<int64_t>(static_cast<uint64_t>(low) + step));
    });
  });
  return t;
}

// Each row is the order of n random 64-bit keys.
Tensor orders(const Dims& sizes, DType dtype, Generator& g) {
  Tensor t = empty(sizes, dtype);
  const int64_t n = sizes[sizes.size() - 1];
  std::vector<std::pair<uint64_t, int64_t>> keys(static_cast<size_t>(n));
  with_type(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    for (T* row = t.data<T>(), * const end = row + t.numel(); row != end; row += n) {
      each_bits<uint64_t>(n, g, [&](int64_t i, uint64_t bits) { keys[static_cast<size_t>(i)] = {bits, i}; });
      std::sort(keys.begin(), keys.end());
      std::transform(keys.begin(), keys.end(), row, [](const auto& k) { return convert<T>(k.second); });
    }
  });
  return t;
}

// 0 with probability p, else what keeps the mean. Lost are those whose 32 bits are below 2^32 p.
Tensor dropout_mask(const Dims& sizes, DType dtype, double p, Generator& g, Device device) {
  if (device.type == DeviceType::cuda && is_complex(dtype)) return to_dtype(dropout_mask(sizes, real_of(dtype), p, g, device), dtype);
  Tensor mask = empty(sizes, dtype, device);
  const auto bound = static_cast<uint64_t>(std::ceil(p * 0x1p32));
  const double scale = p < 1 ? 1 / (1 - p) : 0.0;
  if (device.type == DeviceType::cuda) return cuda::draw(cuda::Draw::mask, mask, g, 0, bound, scale);
  with_type(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    T* const m = mask.data<T>();
    const T kept = convert<T>(scale), lost = convert<T>(0.0);
    each_bits<uint32_t>(mask.numel(), g, [=](int64_t i, uint32_t bits) { m[i] = bits < bound ? lost : kept; });
  });
  return mask;
}

struct Generators {
  Generator of_cpu, of_gpu[cuda::max_devices];
  Generators() {
    for (int i = 0; i < cuda::max_devices; i++) of_gpu[i].device = {DeviceType::cuda, static_cast<int8_t>(i)};
  }
};
Generators& generators() {
  static Generators g;
  return g;
}

}  // namespace

RandomLanes random_lanes;

Generator& default_generator(Device device) {
  return device.type == DeviceType::cpu ? generators().of_cpu : generators().of_gpu[cuda::resolved(device).index];
}

void seed_all(uint64_t seed) {
  for (Generator& g : generators().of_gpu) cuda::restart(g, seed);
  generators().of_cpu.restart(seed);
}

Tensor rand(const Dims& sizes, DType dtype, Generator& g, Device device) {
  const Named named("rand");
  return for_lanes(sizes, [&](const Dims& all) { return uniform_numbers(all, dtype, g, device); });
}

Tensor randn(const Dims& sizes, DType dtype, Generator& g, Device device) {
  const Named named("randn");
  return for_lanes(sizes, [&](const Dims& all) { return normal_numbers(all, dtype, g, device); });
}

Tensor randint(int64_t low, int64_t high, const Dims& sizes, DType dtype, Generator& g, Device device) {
  const Named named("randint");
  expect(low < high, "randint: random_ expects 'from' to be less than 'to', but got from=", low, " >= to=", high);
  return for_lanes(sizes, [&](const Dims& all) { return integers(low, high, all, dtype, g, device); });
}

Tensor randperm(int64_t n, DType dtype, Generator& g, Device device) {
  const Named named("randperm");
  expect(n >= 0, "randperm: n must be non-negative, got ", n);
  if (device.type == DeviceType::cuda && cuda::capturing(cuda::current_stream(cuda::resolved(device).index)))
    cuda::fail_capturing("randperm draws its numbers on the CPU, and replays would have the same order for ever");
  return for_lanes({n}, [&](const Dims& all) { return cuda::uploaded(orders(all, dtype, g), device); });
}

Tensor bernoulli(const Tensor& p, Generator& g) {
  const Named named("bernoulli", {&p, 1});
  expect(is_floating(p.dtype()), ErrorKind::not_implemented, "bernoulli: not implemented for ", p.dtype());
  if (p.device().type == DeviceType::cpu) {
    const Tensor every = level_top && random_lanes.all ? random_lanes.all(p) : p;
    expect(item(all(bitwise_and(ge(every, zeros({}, p.dtype())), le(every, ones({}, p.dtype()))))).to<bool>(),
           "bernoulli: Expected p_in >= 0 && p_in <= 1 to be true for each probability, got one outside");
  }
  const DType wide = p.dtype() == DType::float64 ? p.dtype() : DType::float32;
  return to_dtype(lt(rand(p.sizes(), wide, g, p.device()), p), p.dtype());
}

Tensor dropout(const Tensor& x, double p, bool training, Generator& g) {
  expect(p >= 0 && p <= 1, ErrorKind::value, "dropout: dropout probability has to be between 0 and 1, but got ", p);
  if (!training || p == 0 || x.numel() == 0) return x;
  const Named named("dropout", {&x, 1});
  expect(is_differentiable(x.dtype()), "dropout: result type Float can't be cast to the desired output type ", x.dtype());
  const Tensor mask = for_lanes(x.sizes(), [&](const Dims& all) { return dropout_mask(all, x.dtype(), p, g, x.device()); });
  return mul(x, mask);
}

}  // namespace adjoint
