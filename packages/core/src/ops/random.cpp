// Random numbers. Layout: Philox 4x32-10 with key = seed (low, high) and counter = (block low, block high, offset low, offset high)
// gives block `block` of a call: four 32-bit words. Every call takes one offset. An element of up to 32 bits is word i % 4 of block
// i / 4; one of 64 bits is the words 2 (i % 2) and the next (the high half) of block i / 2. So element i depends on (seed, offset, i)
// only, whatever order or device computes it; kernels for GPUs do the same steps.
#include <adjoint/core/cuda/graph.h>
#include <adjoint/core/cuda/memory.h>
#include <adjoint/core/cuda/random.h>
#include <adjoint/core/iterate.h>
#include <adjoint/core/observer.h>
#include <adjoint/core/op_fields.h>
#include <adjoint/core/ops.h>
#include <adjoint/core/random_call.h>
#include <adjoint/core/random_lanes.h>
#include <adjoint/core/parallel.h>
#include <adjoint/core/random_words.h>
#include <adjoint/core/twister.h>
#include <adjoint/core/types.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <vector>

#include "families.h"

namespace adjoint {

extern const Op op_dropout, op_masked_scale;

namespace {

void philox(uint32_t* to, int64_t blocks, uint64_t first, uint64_t seed, uint64_t offset) {
  for (uint64_t block = first; block < first + static_cast<uint64_t>(blocks); block++, to += 4) {
    uint32_t key[2] = {static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)};
    uint32_t c[4] = {static_cast<uint32_t>(block), static_cast<uint32_t>(block >> 32), static_cast<uint32_t>(offset), static_cast<uint32_t>(offset >> 32)};
    for (int round = 0; round < 10; round++) {
      const uint64_t a = uint64_t(0xD2511F53u) * c[0], b = uint64_t(0xCD9E8D57u) * c[2];
      c[0] = static_cast<uint32_t>(b >> 32) ^ c[1] ^ key[0];
      c[1] = static_cast<uint32_t>(b);
      c[2] = static_cast<uint32_t>(a >> 32) ^ c[3] ^ key[1];
      c[3] = static_cast<uint32_t>(a);
      key[0] += 0x9E3779B9u;
      key[1] += 0xBB67AE85u;
    }
    std::copy_n(c, 4, to);
  }
}

constexpr int64_t chunk = 1024;  // elements

// Calls f(i, bits, m) for elements i to i + m of n, chunk by chunk and on any thread; the generator moves on to its next call.
template <class Bits, class F> void each_chunk(int64_t n, Generator& g, F&& f) {
  constexpr int64_t per_block = 16 / sizeof(Bits);
  const uint64_t seed = g.seed, offset = g.offset;
  parallel_for(n, 16 * chunk, [&](int64_t begin, int64_t end) {
    uint32_t words[chunk * sizeof(Bits) / 4];
    [[maybe_unused]] uint64_t wide[chunk];
    for (int64_t i = begin; i < end; i += chunk) {
      const int64_t m = std::min(chunk, end - i);
      random_words.fill(words, (m + per_block - 1) / per_block, static_cast<uint64_t>(i / per_block), seed, offset);
      if constexpr (sizeof(Bits) == 4) f(i, words, m);
      else {
        for (int64_t k = 0; k < m; k++) wide[k] = words[2 * k] | uint64_t(words[2 * k + 1]) << 32;
        f(i, wide, m);
      }
    }
  });
  g.offset++;
}
// Calls f(i, bits) for each element.
template <class Bits, class F> void each_bits(int64_t n, Generator& g, F&& f) {
  each_chunk<Bits>(n, g, [&](int64_t i, const Bits* bits, int64_t m) {
    for (int64_t k = 0; k < m; k++) f(i + k, bits[k]);
  });
}

// [0, 1) in multiples of 2^-digits, so that no value rounds to 1.
template <class T> T uniform(uint32_t bits) {
  constexpr int digits = std::numeric_limits<T>::digits;
  return T(static_cast<float>(static_cast<int32_t>(bits >> (32 - digits))) * (1.0f / static_cast<float>(uint32_t(1) << digits)));
}
double uniform_double(uint64_t bits) { return static_cast<double>(static_cast<int64_t>(bits >> 11)) * 0x1p-53; }

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
  else if constexpr (std::is_same_v<T, float>) each_chunk<uint32_t>(n, g, [=](int64_t i, const uint32_t* bits, int64_t m) { random_words.uniform(p + i, bits, m); });
  else each_bits<uint32_t>(n, g, [=](int64_t i, uint32_t b) { p[i] = uniform<T>(b); });
}

void uniform_floats(float* to, const uint32_t* bits, int64_t n) { std::transform(bits, bits + n, to, uniform_float); }
void normal_floats(float* to, const uint32_t* bits, int64_t n) {
  for (int64_t k = 0; k < n; k += 2) {
    const auto [first, second] = normal_pair(upper_uniform_float(bits[k]), uniform_float(bits[k + 1]));
    to[k] = first, to[k + 1] = second;
  }
}
void normal_sixteens_of_words(float* x, int64_t n) {
  for (int64_t i = 0; i < n; i += 16)
    for (int j = 0; j < 8; j++) {
      const auto [first, second] = normal_pair(1 - x[i + j], x[i + j + 8]);
      x[i + j] = first, x[i + j + 8] = second;
    }
}
void normal_doubles(double* to, const uint64_t* bits, int64_t n) {
  for (int64_t k = 0; k < n; k += 2) {
    const auto [first, second] = normal_pair(uniform_double(bits[k]) + 0x1p-53, uniform_double(bits[k + 1]));
    to[k] = first, to[k + 1] = second;
  }
}
// Elements 2 i and 2 i + 1 are a pair.
template <class T> void fill_normal(T* p, int64_t n, Generator& g) {
  using C = compute_t<T>;
  using Bits = std::conditional_t<std::is_same_v<C, double>, uint64_t, uint32_t>;
  const int64_t even = n + n % 2;
  each_chunk<Bits>(even, g, [=](int64_t i, const Bits* bits, int64_t m) {
    C z[chunk];
    C* to = z;
    if constexpr (std::is_same_v<C, T>) to = i + m <= n ? p + i : z;
    if constexpr (std::is_same_v<C, double>) normal_doubles(to, bits, m);
    else random_words.normal(to, bits, m);
    if (to == z)
      for (int64_t k = 0; k < std::min(m, n - i); k++) p[i + k] = convert<T>(z[k]);
  });
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
  if (device.type == DeviceType::meta) return t;
  if (device.type == DeviceType::cuda) return cuda::draw(cuda::Draw::uniform, t, g);
  if (g.twister) return twister::fill_uniform(*g.twister, t), t;
  const int64_t parts = is_complex(dtype) ? 2 : 1;   // the two parts of an element stand side by side
  with_real(real_of(dtype), "rand", [&](auto tag) { fill_uniform(t.data<typename decltype(tag)::type>(), parts * t.numel(), g); });
  return t;
}

Tensor normal_numbers(const Dims& sizes, DType dtype, Generator& g, Device device) {
  expect_number(dtype, "randn");
  Tensor t = empty(sizes, dtype, device);
  if (device.type == DeviceType::meta) return t;
  if (device.type == DeviceType::cuda) return cuda::draw(cuda::Draw::normal, t, g);
  if (g.twister) twister::fill_normal(*g.twister, t);
  if (is_complex(dtype)) {  // variance 1 in all: 1/2 for each part
    with_real(real_of(dtype), "randn", [&](auto tag) {
      using T = typename decltype(tag)::type;
      T* const p = t.data<T>();
      if (!g.twister) fill_normal(p, 2 * t.numel(), g);
      if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double>) halve_variances(p, 2 * t.numel());   // complex numbers have no other parts
    });
    return t;
  }
  if (!g.twister) with_real(dtype, "randn", [&](auto tag) { fill_normal(t.data<typename decltype(tag)::type>(), t.numel(), g); });
  return t;
}

// [low, low + range). A twister takes one word of 32 bits or, if `wide`, two.
Tensor integers(int64_t low, uint64_t range, bool wide, const Dims& sizes, DType dtype, Generator& g, Device device) {
  if (device.type != DeviceType::cpu && is_complex(dtype)) return to_dtype(integers(low, range, wide, sizes, DType::int64, g, device), dtype);
  Tensor t = empty(sizes, dtype, device);
  if (device.type == DeviceType::meta) return t;
  if (device.type == DeviceType::cuda) return cuda::draw(cuda::Draw::integers, t, g, low, range);
  if (g.twister) return twister::fill_integers(*g.twister, t, low, range, wide), t;
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

struct Key {
  uint64_t bits;
  int64_t at;
  bool operator<(const Key& k) const { return bits < k.bits || (bits == k.bits && at < k.at); }
};

// Random keys spread evenly over buckets of a few, each of which is sorted by insertion. begins: memory for 1 + buckets, zero.
void sort_random(const int64_t* keys, int64_t n, int shift, Key* sorted, int64_t* begins, int64_t buckets) {
  for (int64_t i = 0; i < n; i++) begins[(static_cast<uint64_t>(keys[i]) >> shift) + 1]++;
  std::partial_sum(begins, begins + buckets + 1, begins);
  for (int64_t i = 0; i < n; i++) sorted[begins[static_cast<uint64_t>(keys[i]) >> shift]++] = {static_cast<uint64_t>(keys[i]), i};   // the start of each becomes its end
  for (int64_t b = 0, first = 0; b < buckets; first = begins[b++])
    for (int64_t i = first + 1; i < begins[b]; i++) {
      const Key k = sorted[i];
      int64_t to = i;
      for (; to > first && k < sorted[to - 1]; to--) sorted[to] = sorted[to - 1];
      sorted[to] = k;
    }
}

// Each row is the order of n random 64-bit keys.
Tensor orders(const Dims& sizes, DType dtype, Generator& g) {
  Tensor t = empty(sizes, dtype);
  if (g.twister) return twister::fill_orders(*g.twister, t), t;
  const int64_t n = sizes[sizes.size() - 1];
  const int bits = std::max(1, static_cast<int>(std::bit_width(static_cast<uint64_t>(n))) - 3);
  const int64_t buckets = int64_t(1) << bits;
  const Tensor keys = empty({n}, DType::int64), sorted = empty({n, sizeof(Key) / sizeof(int64_t)}, DType::int64), begins = empty({buckets + 1}, DType::int64);
  auto* const by_key = reinterpret_cast<Key*>(sorted.data<int64_t>());
  with_type(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    for (T* row = t.data<T>(), * const end = row + t.numel(); row != end; row += n) {
      each_bits<uint64_t>(n, g, [to = keys.data<int64_t>()](int64_t i, uint64_t b) { to[i] = static_cast<int64_t>(b); });
      std::fill_n(begins.data<int64_t>(), buckets + 1, 0);
      sort_random(keys.data<int64_t>(), n, 64 - bits, by_key, begins.data<int64_t>(), buckets);
      std::transform(by_key, by_key + n, row, [](const Key& k) { return convert<T>(k.at); });
    }
  });
  return t;
}

// 0 with probability p, else what keeps the mean. Lost are those whose 32 bits are below 2^32 p.
uint64_t lost_below(double p) { return static_cast<uint64_t>(std::ceil(p * 0x1p32)); }
double kept_scale(double p) { return p < 1 ? 1 / (1 - p) : 0.0; }

Tensor dropout_mask(const Dims& sizes, DType dtype, double p, Generator& g, Device device) {
  if (device.type != DeviceType::cpu && is_complex(dtype)) return to_dtype(dropout_mask(sizes, real_of(dtype), p, g, device), dtype);
  if (!g.twister || device.type != DeviceType::cpu) return dropout_mask(next_dropout(p, g, device), sizes, dtype, device);
  Tensor mask = empty(sizes, dtype, device);
  twister::fill_mask(*g.twister, mask, p);
  return mask;
}

// ---- dropout of dense operands: what it keeps is one byte an element

struct Dropout { double p; Generator* generator; };

void masked_scale_kernel(const Launch& l) {
  const double scale = l.attrs.as<KeptScale>().scale;
  with_real(l.y[0].dtype, l.op, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const auto kept = convert<compute_t<T>>(scale);
    for_rows<3>({&l.y[0], &l.x[0], &l.x[1]}, [&](char* const* p, const int64_t* s, int64_t n) {
      for (int64_t i = 0; i < n; i++) {
        const auto x = convert<compute_t<T>>(*reinterpret_cast<const T*>(p[1] + i * s[1]));
        *reinterpret_cast<T*>(p[0] + i * s[0]) = convert<T>(x * (p[2][i * s[2]] ? kept : 0));
      }
    });
  });
}

void dropout_kernel(const Launch& l) {
  const auto& [p, generator] = l.attrs.as<Dropout>();
  bool* const kept = l.y[1].as<bool>();
  each_bits<uint32_t>(l.y[1].numel, *generator, [=, bound = lost_below(p)](int64_t i, uint32_t bits) { kept[i] = bits >= bound; });
  const View operands[] = {l.x[0], l.y[1]};
  const Kernel fast = op_masked_scale.kernel[static_cast<int>(DeviceType::cpu)];
  (fast ? fast : op_masked_scale.reference)({operands, l.y.first(1), KeptScale{kept_scale(p)}, "masked_scale", l.flat});
}

// One launch that draws, multiplies and keeps the mask.
void launch_dropout(const Launch& l) {
  const auto& [p, generator] = l.attrs.as<Dropout>();
  cuda::draw_dropout(l, next_call(*generator, l.device), lost_below(p), kept_scale(p));
}

}  // namespace

const Op op_masked_scale{.name = "masked_scale", .fields = fields_of<KeptScale>, .kind = Kind::elementwise, .indices = 0b10, .types = types::first,
    .d = {rule([](V v, X<1> mask, const KeptScale& a) { return apply(op_masked_scale, {v, mask}, a); })},
    .doc = "`x * scale` where a mask is true, and `x * 0` elsewhere.", .reference = masked_scale_kernel};

const Op op_dropout{.name = "dropout", .kind = Kind::custom, .outputs = 2,
    .types = [](Tensors x, const Attrs&) -> Types { return {x[0].dtype(), {x[0].dtype(), DType::bool_}}; },
    .shape = [](Tensors x, const Attrs&, Dims* out) { out[0] = out[1] = x[0].sizes(); },
    .d = {rule([](V v, Y<1> mask, const Dropout& a) { return apply(op_masked_scale, {v, mask}, KeptScale{kept_scale(a.p)}); })},
    .t = {rule([](V t, Y<1> mask, const Dropout& a) { return std::array<Tensor, 2>{apply(op_masked_scale, {t, mask}, KeptScale{kept_scale(a.p)}), Tensor()}; })},
    .doc = "Zeroes elements at random and scales the others; also which are kept.", .reference = dropout_kernel, .kernel = {nullptr, launch_dropout}};

namespace {

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
RandomWords random_words{philox, twist_words, uniform_floats, normal_floats, normal_sixteens_of_words};

void Generator::restart(uint64_t with) {
  seed = with, offset = 0;
  if (twister) *twister = Twister(seed);
}

Generator new_generator(uint64_t seed, Device device) {
  return {seed, 0, device, device.type == DeviceType::cpu && default_generator().twister ? std::make_shared<Twister>(seed) : nullptr};
}

void draw_as_pytorch() {
  Generator& g = default_generator();
  g.twister = std::make_shared<Twister>(g.seed);
}

Generator& default_generator(Device device) {
  return device.type != DeviceType::cuda ? generators().of_cpu : generators().of_gpu[cuda::resolved(device).index];
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
  const uint64_t range = static_cast<uint64_t>(high) - static_cast<uint64_t>(low);
  return for_lanes(sizes, [&](const Dims& all) { return integers(low, range, range >= uint64_t(1) << 28, all, dtype, g, device); });
}

Tensor random_integers(uint64_t range, const Dims& sizes, DType dtype, Generator& g, Device device) {
  const Named named("randint");
  return for_lanes(sizes, [&](const Dims& all) { return integers(0, range, range > uint64_t(1) << 32, all, dtype, g, device); });
}

Tensor randperm(int64_t n, DType dtype, Generator& g, Device device) {
  const Named named("randperm");
  expect(n >= 0, "randperm: n must be non-negative, got ", n);
  if (device.type == DeviceType::cuda && cuda::capturing(cuda::current_stream(cuda::resolved(device).index)))
    cuda::fail_capturing("randperm draws its numbers on the CPU, and replays would have the same order for ever");
  return for_lanes({n}, [&](const Dims& all) { return device.type == DeviceType::meta ? empty(all, dtype, device) : cuda::uploaded(orders(all, dtype, g), device); });
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

RandomCall next_call(Generator& g, Device device) {
  if (device.type == DeviceType::meta) return {};
  if (device.type == DeviceType::cuda) return cuda::next_call(g, device.index);
  return {g.seed, g.offset++, {}};
}

double Dropped::factor(int64_t i) const {
  if (!lost) return 1;
  uint32_t words[4];
  random_words.fill(words, 1, static_cast<uint64_t>(i / 4), call.seed, call.offset);
  return words[i % 4] < lost ? 0 : kept;
}

Dropped next_dropout(double p, Generator& g, Device device) { return {lost_below(p), kept_scale(p), next_call(g, device)}; }

Tensor dropout_mask(const Dropped& d, const Dims& sizes, DType dtype, Device device) {
  Tensor mask = empty(sizes, dtype, device);
  if (device.type == DeviceType::meta) return mask;
  if (device.type == DeviceType::cuda) return cuda::draw(cuda::Draw::mask, mask, d.call, 0, d.lost, d.kept);
  Generator again{d.call.seed, d.call.offset};
  with_type(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    T* const m = mask.data<T>();
    const T kept = convert<T>(d.kept), lost = convert<T>(0.0);
    each_bits<uint32_t>(mask.numel(), again, [=, bound = d.lost](int64_t i, uint32_t bits) { m[i] = bits < bound ? lost : kept; });
  });
  return mask;
}

Tensor dropout(const Tensor& x, double p, bool training, Generator& g) {
  expect(p >= 0 && p <= 1, ErrorKind::value, "dropout: dropout probability has to be between 0 and 1, but got ", p);
  if (!training || p == 0 || x.numel() == 0) return x;
  const Named named("dropout", {&x, 1});
  expect(is_differentiable(x.dtype()), "dropout: result type Float can't be cast to the desired output type ", x.dtype());
  const bool on_gpu = x.device().type == DeviceType::cuda;
  if (!level_top && !g.twister && x->contiguous() && (on_gpu ? is_floating(x.dtype()) : x.dtype() == DType::float32 || x.dtype() == DType::float64)) {
    Tensor y[max_outputs];
    apply(op_dropout, {&x, 1}, Dropout{p, &g}, y);
    return y[0];
  }
  const Tensor mask = for_lanes(x.sizes(), [&](const Dims& all) { return dropout_mask(all, x.dtype(), p, g, x.device()); });
  if (g.twister && !(mask->keys & key_lifted)) follow_layout(x, *mask);   // PyTorch draws in the order of memory
  return mul(x, mask);
}

const Op* const random_ops[] = {&op_dropout, &op_masked_scale};
Ops families::random() { return random_ops; }

}  // namespace adjoint
