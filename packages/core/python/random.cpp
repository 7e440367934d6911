// Random numbers.
#include <adjoint/core/cuda/graph.h>

#include <cstring>

#include "convert.h"
#include "memory_format.h"
#include "module.h"

#include <adjoint/core/random_lanes.h>
#include <adjoint/core/twister.h>

namespace adjoint::python {

namespace {

using OptDType = std::optional<DType>;
using OptDevice = std::optional<Device>;

Device resolved(OptDevice device) { return cuda::resolved(device.value_or(default_device())); }

// Calls nest generators by pointer; None is the device's default one.
Generator& chosen(Generator* g, Device device) { return g ? *g : default_generator(device); }

nb::object finish(Tensor t, bool requires_grad) {
  nb::object o = nb::steal(wrap(std::move(t)));
  if (requires_grad) o.attr("requires_grad") = true;
  return o;
}

uint64_t random_seed() { return nb::cast<uint64_t>(nb::module_::import_("secrets").attr("randbits")(63)); }

// Any number in 64 bits, signed or not; negative ones count from the end.
uint64_t seed_of(PyObject* number) {
  const nb::object whole = nb::steal(number);
  if (!whole.is_valid()) throw nb::python_error();
  if (const uint64_t n = PyLong_AsUnsignedLongLong(whole.ptr()); !PyErr_Occurred()) return n;
  PyErr_Clear();
  if (const int64_t n = PyLong_AsLongLong(whole.ptr()); !PyErr_Occurred()) return static_cast<uint64_t>(n);
  PyErr_Clear();
  fail(ErrorKind::value, "manual_seed: Overflow when unpacking long long: a seed must be in [-2**63, 2**64), got ", nb::cast<std::string>(nb::str(whole)));
}

// A generator's state: the seed and the position; of one that has PyTorch's stream, the bytes that PyTorch gives.
std::vector<std::byte> state_of(Generator& g) {
  if (g.twister) {
    std::vector<std::byte> bytes(Twister::state_size);
    g.twister->save(bytes.data(), g.seed);
    return bytes;
  }
  std::vector<std::byte> bytes(sizeof g.seed + sizeof g.offset);
  std::memcpy(bytes.data(), &g.seed, sizeof g.seed);
  std::memcpy(bytes.data() + sizeof g.seed, &cuda::position_of(g), sizeof g.offset);
  return bytes;
}
void bring_back(Generator& g, const std::byte* bytes) {
  if (g.twister) {
    g.seed = g.twister->load(bytes);
    return;
  }
  std::memcpy(&g.seed, bytes, sizeof g.seed);
  std::memcpy(&cuda::position_of(g), bytes + sizeof g.seed, sizeof g.offset);
}

using States = std::vector<nb::bytes>;
std::vector<Generator*> all_generators() {
  std::vector<Generator*> all = {&default_generator()};
  for (int i = 0; i < cuda::device_count(); i++) all.push_back(&default_generator({DeviceType::cuda, static_cast<int8_t>(i)}));
  return all;
}
States all_states() {
  States states;
  for (Generator* g : all_generators()) {
    const std::vector<std::byte> bytes = state_of(*g);
    states.emplace_back(bytes.data(), bytes.size());
  }
  return states;
}

void bind_generator(nb::module_& m) {
  nb::class_<Generator>(m, "Generator", "A stream of random numbers: a key and a position.")
      .def("__init__", [](Generator* self, OptDevice device) { new (self) Generator(new_generator(67280421310721ull, resolved(device))); }, "device"_a = nb::none())
      .def("manual_seed", [](nb::handle self, nb::handle seed) {
        cuda::restart(nb::cast<Generator&>(self), seed_of(PyNumber_Index(seed.ptr())));
        return nb::borrow(self);
      }, nb::sig("def manual_seed(self, seed: int) -> Generator"), "seed"_a.none(), "Restarts it. The seed is in [-2**63, 2**64); a negative one stands for itself plus 2**64.")
      .def("initial_seed", [](const Generator& g) { return g.seed; })
      .def("seed", [](Generator& g) {
        cuda::restart(g, random_seed());
        return g.seed;
      })
      .def("get_state", [](Generator& g) {
        const std::vector<std::byte> bytes = state_of(g);
        Tensor t = empty({static_cast<int64_t>(bytes.size())}, DType::uint8);
        std::memcpy(t->data, bytes.data(), bytes.size());
        return t;
      }, "The seed and the position, as bytes; with torch meaning adjoint, PyTorch's bytes.")
      .def("set_state", [](nb::handle self, const Tensor& t) {
        auto& g = nb::cast<Generator&>(self);
        const int64_t size = g.twister ? Twister::state_size : sizeof g.seed + sizeof g.offset;
        expect(t->storage && t->contiguous() && t.dim() == 1 && t.numel() == size && t.dtype() == DType::uint8 && t.device().type == DeviceType::cpu, ErrorKind::type, "set_state: expected the bytes that get_state returned, got ", t.dtype(), " of shape ", t.sizes());
        bring_back(g, reinterpret_cast<const std::byte*>(contiguous(t)->data));
        return nb::borrow(self);
      }, "new_state"_a)
      .def_prop_ro("device", [](const Generator& g) { return g.device; });
  m.attr("default_generator") = nb::cast(&default_generator(), nb::rv_policy::reference);
  function(m, "device_generator", [](OptDevice device) { return &default_generator(resolved(device)); }, nb::rv_policy::reference, "device"_a, "The default generator of a device.");
  function(m, "manual_seed", [](nb::handle seed) {
    seed_all(seed_of(PyNumber_Long(seed.ptr())));
    return nb::cast(&default_generator(), nb::rv_policy::reference);
  }, nb::sig("def manual_seed(seed: typing.SupportsInt) -> Generator"), "seed"_a.none(), "Restarts the default generators of all devices.");
  function(m, "seed", [] {
    const uint64_t seed = random_seed();
    seed_all(seed);
    return seed;
  }, "Restarts the default generators of all devices from a random seed, which is returned.");
  function(m, "initial_seed", [] { return default_generator().seed; });
  function(m, "random_states", [] { return all_states(); }, "Of the default generators of the CPU and all GPUs.");
  function(m, "set_random_states", [](const States& states) {
    const std::vector<Generator*> all = all_generators();
    expect(states.size() == all.size(), ErrorKind::value, "set_random_states: expected what random_states returned, got ", states.size(), " states");
    for (size_t i = 0; i < all.size(); i++) bring_back(*all[i], static_cast<const std::byte*>(states[i].data()));
  }, "states"_a);
}

template <class F> void sized(nb::module_& m, const char* name, F make) {
  function(m, name, [make, name](const nb::args& size, Generator* g, OptDType dtype, OptDevice device, bool requires_grad) {
    return finish(make(dims_of(size, name), dtype.value_or(default_dtype()), g, resolved(device)), requires_grad);
  }, "size"_a, "generator"_a.none() = nb::none(), "dtype"_a = nb::none(), "device"_a = nb::none(), "requires_grad"_a = false);
  function(m, name, [make](Generator* g, OptDType dtype, OptDevice device, bool requires_grad, const Dims& size) {
    return finish(make(size, dtype.value_or(default_dtype()), g, resolved(device)), requires_grad);
  }, nb::kw_only(), "generator"_a.none() = nb::none(), "dtype"_a = nb::none(), "device"_a = nb::none(), "requires_grad"_a = false, "size"_a);
  function(m, (std::string(name) + "_like").c_str(), [make](const Tensor& x, OptDType dtype, OptDevice device, bool requires_grad, std::optional<MemoryFormat> format, Generator* g) {
    return finish(laid_out(make(x.sizes(), dtype.value_or(x.dtype()), g, resolved(device.value_or(x.device()))), format.value_or(MemoryFormat::preserve), x), requires_grad);
  }, "input"_a, nb::kw_only(), "dtype"_a = nb::none(), "device"_a = nb::none(), "requires_grad"_a = false, "memory_format"_a = nb::none(), "generator"_a.none() = nb::none());
}

// Above what random_() draws: all integers that the type holds exactly, from 0.
uint64_t integers_of(DType t) {
  switch (t) {
    case DType::bool_: return 2;
    case DType::float64: return (uint64_t{1} << 53) + 1;
    case DType::float32: return (uint64_t{1} << 24) + 1;
    case DType::float16: return (uint64_t{1} << 11) + 1;
    case DType::bfloat16: return (uint64_t{1} << 8) + 1;
    default: break;
  }
  expect(!is_complex(t), ErrorKind::not_implemented, "random_: not defined for ", t);
  const int bits = static_cast<int>(itemsize(t)) * 8 - (t >= DType::uint8 && t <= DType::uint64 ? 0 : 1);
  return uint64_t{1} << std::min(bits, 63);
}

// Other integers than elements of the type can be would wrap.
void expect_drawable(int64_t low, int64_t high, DType t) {
  const auto holds = [t](int64_t v) {
    if (is_differentiable(t)) return std::abs(static_cast<double>(v)) <= largest_number(t);
    const bool is_unsigned = t >= DType::uint8 && t <= DType::uint64;
    return with_type(t, [&](auto tag) { return convert<int64_t>(convert<typename decltype(tag)::type>(v)) == v && (v >= 0 || !is_unsigned); });
  };
  expect(!is_complex(t), "random_: not defined for ", t);
  if (low >= high) return;   // which is said where they are drawn
  expect(holds(low), "random_: from is out of bounds for ", t, ", got ", low);
  expect(holds(high - 1), "random_: to - 1 is out of bounds for ", t, ", got ", high - 1);
}

Tensor draw_integers(int64_t low, int64_t high, const Dims& size, OptDType dtype, Generator* g, OptDevice device) {
  const Device d = resolved(device);
  expect_drawable(low, high, dtype.value_or(DType::int64));
  return randint(low, high, size, dtype.value_or(DType::int64), chosen(g, d), d);
}

void bind_integers(nb::module_& m) {
  function(m, "randint", [](int64_t low, int64_t high, const Dims& size, Generator* g, OptDType dtype, OptDevice device, bool requires_grad) {
    return finish(draw_integers(low, high, size, dtype, g, device), requires_grad);
  }, "low"_a, "high"_a, "size"_a, nb::kw_only(), "generator"_a.none() = nb::none(), "dtype"_a = nb::none(), "device"_a = nb::none(), "requires_grad"_a = false,
      "Integers in [low, high), uniformly.");
  function(m, "randint", [](int64_t high, const Dims& size, Generator* g, OptDType dtype, OptDevice device, bool requires_grad) {
    return finish(draw_integers(0, high, size, dtype, g, device), requires_grad);
  }, "high"_a, "size"_a, nb::kw_only(), "generator"_a.none() = nb::none(), "dtype"_a = nb::none(), "device"_a = nb::none(), "requires_grad"_a = false);
  const auto like = [](const Tensor& x, int64_t low, int64_t high, OptDType dtype, OptDevice device, bool requires_grad, std::optional<MemoryFormat> format, Generator* g) {
    return finish(laid_out(draw_integers(low, high, x.sizes(), dtype.value_or(x.dtype()), g, device.value_or(x.device())), format.value_or(MemoryFormat::preserve), x), requires_grad);
  };
  function(m, "randint_like", [like](const Tensor& x, int64_t high, OptDType dtype, OptDevice device, bool requires_grad, std::optional<MemoryFormat> format, Generator* g) {
    return like(x, 0, high, dtype, device, requires_grad, format, g);
  }, "input"_a, "high"_a, nb::kw_only(), "dtype"_a = nb::none(), "device"_a = nb::none(), "requires_grad"_a = false, "memory_format"_a = nb::none(), "generator"_a.none() = nb::none());
  function(m, "randint_like", like, "input"_a, "low"_a, "high"_a, nb::kw_only(), "dtype"_a = nb::none(), "device"_a = nb::none(), "requires_grad"_a = false, "memory_format"_a = nb::none(), "generator"_a.none() = nb::none());
  function(m, "randperm", [](int64_t n, Generator* g, OptDType dtype, OptDevice device, bool requires_grad) {
    const Device d = resolved(device);
    const DType t = dtype.value_or(DType::int64);
    expect(n < 0 || t == DType::bfloat16 || static_cast<uint64_t>(n) <= integers_of(t), "randperm: n is too large for ", t, ", got ", n);   // PyTorch rounds in bfloat16
    return finish(randperm(n, t, chosen(g, d), d), requires_grad);
  }, "n"_a, nb::kw_only(), "generator"_a.none() = nb::none(), "dtype"_a = nb::none(), "device"_a = nb::none(), "requires_grad"_a = false, "A random order of 0 ... n-1.");
}

// One probability for all elements of x. PyTorch's stream compares it in float64.
Tensor probability(double p, const Tensor& x, const Generator& g) {
  expect(p >= 0 && p <= 1, "bernoulli_ expects p to be in [0, 1], but got p=", p);
  return full(x.sizes(), p, g.twister ? DType::float64 : DType::float32, x.device());
}
Tensor bernoulli_like(const Tensor& x, double p, Generator* g) {
  Generator& drawn_by = chosen(g, x.device());
  return bernoulli(probability(p, x, drawn_by), drawn_by);
}

// x times scale plus shift, which moves both parts of a complex number; most calls ask for neither.
Tensor moved(Tensor x, double scale, double shift) {
  if (scale != 1) x = x * scale;
  if (shift == 0) return x;
  return is_complex(x.dtype()) ? add(x, wrapped(Complex<double>{shift, shift})) : x + shift;
}

void bind_fills(nb::module_& m) {
  const Methods t;
  const auto expect_continuous = [](const char* name, const Tensor& x) { expect(is_differentiable(x.dtype()), ErrorKind::not_implemented, name, ": not implemented for ", x.dtype()); };
  both(m, "bernoulli", [](const Tensor& p, Generator* g) {
    const Tensor drawn = bernoulli(p, chosen(g, p.device()));
    return p->keys & (key_tape | key_lifted) ? where(zeros({}, DType::bool_, p.device()), p, drawn) : drawn;   // whose derivative is zero
  }, nb::kw_only(), "generator"_a.none() = nb::none());
  both(m, "bernoulli", [](const Tensor& x, double p, Generator* g) { return to_dtype(bernoulli_like(x, p, g), x.dtype()); }, "p"_a, nb::kw_only(), "generator"_a.none() = nb::none());
  t.def("uniform_", [=](const Tensor& x, double from, double to, Generator* g) {
    expect_continuous("uniform_", x);
    expect(from <= to, "uniform_ expects to return a [from, to) range, but found from=", from, " > to=", to);
    expect(std::max({std::abs(from), std::abs(to), to - from}) <= largest_number(x.dtype()), "uniform_: from and to, and their difference, must be within the numbers of ", x.dtype(), ", got ", from, " and ", to);
    copy_(x, moved(rand(x.sizes(), x.dtype(), chosen(g, x.device()), x.device()), to - from, from));
    return x;
  }, "from_"_a = 0.0, "to"_a = 1.0, nb::kw_only(), "generator"_a.none() = nb::none());
  t.def("normal_", [=](const Tensor& x, double mean, double std, Generator* g) {
    expect_continuous("normal_", x);
    expect(std >= 0, "normal expects std >= 0.0, but found std ", std);
    copy_(x, moved(randn(x.sizes(), x.dtype(), chosen(g, x.device()), x.device()), std, mean));
    return x;
  }, "mean"_a = 0.0, "std"_a = 1.0, nb::kw_only(), "generator"_a.none() = nb::none());
  const auto draw_between = [](const Tensor& x, int64_t from, int64_t to, Generator* g) {
    expect_drawable(from, to, x.dtype());
    copy_(x, to_dtype(randint(from, to, x.sizes(), DType::int64, chosen(g, x.device()), x.device()), x.dtype()));
    return x;
  };
  const auto draw_from = [](const Tensor& x, int64_t from, Generator* g) {   // up to the greatest integer that the type has
    const uint64_t above = integers_of(x.dtype()), span = above - static_cast<uint64_t>(from);
    const int64_t low = std::min(from, INT64_MAX - 1);
    expect_drawable(low, low + 1, x.dtype());
    const auto draw = [&](uint64_t n) { return random_integers(n, x.sizes(), DType::int64, chosen(g, x.device()), x.device()); };
    const Tensor drawn = span ? draw(span) : add(draw(uint64_t{1} << 63), mul(draw(2), wrapped(INT64_MIN)));   // 2^64 of them
    copy_(x, to_dtype(from ? add(drawn, wrapped(from)) : drawn, x.dtype()));
    return x;
  };
  t.def("random_", draw_between, "from_"_a, "to"_a, nb::kw_only(), "generator"_a.none() = nb::none());
  t.def("random_", [=](const Tensor& x, int64_t to, Generator* g) { return draw_between(x, 0, to, g); }, "to"_a, nb::kw_only(), "generator"_a.none() = nb::none());
  t.def("random_", [=](const Tensor& x, Generator* g) { return draw_from(x, 0, g); }, nb::kw_only(), "generator"_a.none() = nb::none());
  t.def("random_", [=](const Tensor& x, int64_t from, nb::handle to, Generator* g) {
    if (!to.is_none()) throw nb::next_overload();
    return draw_from(x, from, g);
  }, "from_"_a, "to"_a.none(), nb::kw_only(), "generator"_a.none() = nb::none());
  t.def("bernoulli_", [](const Tensor& x, const Tensor& p, Generator* g) {
    copy_(x, bernoulli(expand(to_device(p, x.device()), x.sizes()), chosen(g, x.device())));
    return x;
  }, "p"_a, nb::kw_only(), "generator"_a.none() = nb::none());
  t.def("bernoulli_", [](const Tensor& x, double p, Generator* g) {
    copy_(x, bernoulli_like(x, p, g));
    return x;
  }, "p"_a = 0.5, nb::kw_only(), "generator"_a.none() = nb::none());
}

// The stream of PyTorch's CPU (twister.h), one number after another.
void bind_twister(nb::module_& m) {
  function(m, "_draw_as_pytorch", &draw_as_pytorch, "From now on generators of the CPU give PyTorch's numbers.");
  function(m, "_draws_as_pytorch", [](Generator* g, const Tensor& like) { return !level_top && like.device().type == DeviceType::cpu && chosen(g, like.device()).twister; },
        "generator"_a.none(), "like"_a, "Whether what is drawn for `like`, outside of transforms, are PyTorch's numbers.");
  const auto each = [&](const char* name, auto draw) {
    function(m, name, [draw](const Tensor& a, const Tensor& b, Generator* g) {
      Twister& from = *chosen(g, a.device()).twister;
      Tensor drawn = empty(a.sizes(), DType::float64);
      const Tensor first = contiguous(a), second = contiguous(b);
      for (int64_t i = 0; i < drawn.numel(); i++) drawn.data<double>()[i] = draw(from, first.data<double>()[i], second.data<double>()[i]);
      return drawn;
    }, "a"_a, "b"_a, "generator"_a.none());
  };
  each("_gamma_of_twister", [](Twister& g, double a, double) { return g.gamma(a); });
  each("_poisson_of_twister", [](Twister& g, double rate, double) { return g.poisson(rate); });
  each("_binomial_of_twister", [](Twister& g, double n, double p) { return g.binomial(n, p); });
}

}  // namespace

void bind_random(nb::module_& m) {
  bind_generator(m);
  function(m, "_all_lanes", [](const Tensor& x) { return level_top && random_lanes.all ? random_lanes.all(x) : x; }, "Inside transforms, the values of all that the tensor stands for.");
  sized(m, "rand", [](const Dims& s, DType t, Generator* g, Device d) { return rand(s, t, chosen(g, d), d); });
  sized(m, "randn", [](const Dims& s, DType t, Generator* g, Device d) { return randn(s, t, chosen(g, d), d); });
  bind_integers(m);
  bind_fills(m);
  bind_twister(m);
}

}  // namespace adjoint::python
