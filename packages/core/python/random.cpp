// Random numbers.
#include <cstring>

#include "convert.h"
#include "memory_format.h"
#include "module.h"

#include <adjoint/core/random_lanes.h>

namespace adjoint::python {

namespace {

using OptDType = std::optional<DType>;
using OptDevice = std::optional<Device>;

// Calls nest generators by pointer; None is the default one.
Generator& chosen(Generator* g) { return g ? *g : default_generator(); }

nb::object finish(Tensor t, bool requires_grad, OptDevice device) {
  if (device) t = to_device(t, *device);
  nb::object o = nb::steal(wrap(std::move(t)));
  if (requires_grad) o.attr("requires_grad") = true;
  return o;
}

void bind_generator(nb::module_& m) {
  nb::class_<Generator>(m, "Generator", "A stream of random numbers: a key and a position.")
      .def("__init__", [](Generator* self, OptDevice) { new (self) Generator{67280421310721ull, 0}; }, "device"_a = nb::none())
      .def("manual_seed", [](nb::handle self, int64_t seed) { nb::cast<Generator&>(self) = {static_cast<uint64_t>(seed), 0}; return nb::borrow(self); }, "seed"_a)
      .def("initial_seed", [](const Generator& g) { return g.seed; })
      .def("seed", [](Generator& g) {
        g = {nb::cast<uint64_t>(nb::module_::import_("secrets").attr("randbits")(63)), 0};
        return g.seed;
      })
      .def("get_state", [](const Generator& g) {
        Tensor t = empty({sizeof g.seed + sizeof g.offset}, DType::uint8);
        std::memcpy(t->data, &g.seed, sizeof g.seed);
        std::memcpy(t->data + sizeof g.seed, &g.offset, sizeof g.offset);
        return t;
      }, "The seed and the position, as bytes.")
      .def("set_state", [](nb::handle self, const Tensor& t) {
        auto& g = nb::cast<Generator&>(self);
        expect(t->storage && t->contiguous() && t.dim() == 1 && t.numel() == sizeof g.seed + sizeof g.offset && t.dtype() == DType::uint8, ErrorKind::type, "set_state: expected the bytes that get_state returned, got ", t.dtype(), " of shape ", t.sizes());
        const Tensor bytes = contiguous(t);
        std::memcpy(&g.seed, bytes->data, sizeof g.seed);
        std::memcpy(&g.offset, bytes->data + sizeof g.seed, sizeof g.offset);
        return nb::borrow(self);
      }, "new_state"_a)
      .def_prop_ro("device", [](const Generator&) { return Device{}; });
  m.attr("default_generator") = nb::cast(&default_generator(), nb::rv_policy::reference);
  m.def("manual_seed", [](int64_t seed) {
    default_generator() = {static_cast<uint64_t>(seed), 0};
    return nb::cast(&default_generator(), nb::rv_policy::reference);
  }, "seed"_a, "Restarts the default generator.");
  m.def("initial_seed", [] { return default_generator().seed; });
}

template <class F> void sized(nb::module_& m, const char* name, F make) {
  m.def(name, [make, name](const nb::args& size, Generator* g, OptDType dtype, OptDevice device, bool requires_grad) {
    return finish(make(dims_of(size, name), dtype.value_or(default_dtype()), chosen(g)), requires_grad, device);
  }, "size"_a, "generator"_a.none() = nb::none(), "dtype"_a = nb::none(), "device"_a = nb::none(), "requires_grad"_a = false);
  m.def(name, [make](Generator* g, OptDType dtype, OptDevice device, bool requires_grad, const Dims& size) {
    return finish(make(size, dtype.value_or(default_dtype()), chosen(g)), requires_grad, device);
  }, nb::kw_only(), "generator"_a.none() = nb::none(), "dtype"_a = nb::none(), "device"_a = nb::none(), "requires_grad"_a = false, "size"_a);
  m.def((std::string(name) + "_like").c_str(), [make](const Tensor& x, OptDType dtype, OptDevice device, bool requires_grad, std::optional<MemoryFormat> format, Generator* g) {
    return finish(laid_out(make(x.sizes(), dtype.value_or(x.dtype()), chosen(g)), format.value_or(MemoryFormat::preserve), x), requires_grad, device.value_or(x.device()));
  }, "input"_a, nb::kw_only(), "dtype"_a = nb::none(), "device"_a = nb::none(), "requires_grad"_a = false, "memory_format"_a = nb::none(), "generator"_a.none() = nb::none());
}

void bind_integers(nb::module_& m) {
  m.def("randint", [](int64_t low, int64_t high, const Dims& size, Generator* g, OptDType dtype, OptDevice device, bool requires_grad) {
    return finish(randint(low, high, size, dtype.value_or(DType::int64), chosen(g)), requires_grad, device);
  }, "low"_a, "high"_a, "size"_a, nb::kw_only(), "generator"_a.none() = nb::none(), "dtype"_a = nb::none(), "device"_a = nb::none(), "requires_grad"_a = false,
      "Integers in [low, high), uniformly.");
  m.def("randint", [](int64_t high, const Dims& size, Generator* g, OptDType dtype, OptDevice device, bool requires_grad) {
    return finish(randint(0, high, size, dtype.value_or(DType::int64), chosen(g)), requires_grad, device);
  }, "high"_a, "size"_a, nb::kw_only(), "generator"_a.none() = nb::none(), "dtype"_a = nb::none(), "device"_a = nb::none(), "requires_grad"_a = false);
  m.def("randint_like", [](const Tensor& x, int64_t low, std::optional<int64_t> high, OptDType dtype) {
    return to_device(randint(high ? low : 0, high.value_or(low), x.sizes(), dtype.value_or(x.dtype()), default_generator()), x.device());
  }, "input"_a, "low"_a, "high"_a = nb::none(), nb::kw_only(), "dtype"_a = nb::none());
  m.def("randperm", [](int64_t n, Generator* g, OptDType dtype, OptDevice device, bool requires_grad) {
    return finish(randperm(n, dtype.value_or(DType::int64), chosen(g)), requires_grad, device);
  }, "n"_a, nb::kw_only(), "generator"_a.none() = nb::none(), "dtype"_a = nb::none(), "device"_a = nb::none(), "requires_grad"_a = false, "A random order of 0 ... n-1.");
}

// Above what random_() draws: all integers that the type holds exactly, from 0.
int64_t integers_of(DType t) {
  switch (t) {
    case DType::bool_: return 2;
    case DType::float64: return (int64_t{1} << 53) + 1;
    case DType::float32: return (int64_t{1} << 24) + 1;
    case DType::float16: return (int64_t{1} << 11) + 1;
    case DType::bfloat16: return (int64_t{1} << 8) + 1;
    default: break;
  }
  expect(!is_complex(t), ErrorKind::type, "random_: not defined for ", t);
  const int bits = static_cast<int>(itemsize(t)) * 8 - (t >= DType::uint8 && t <= DType::uint64 ? 0 : 1);
  return bits < 63 ? int64_t{1} << bits : INT64_MAX;
}

double probability(double p) {
  expect(p >= 0 && p <= 1, "bernoulli_ expects p to be in [0, 1], but got p=", p);
  return p;
}

void bind_fills(nb::module_& m) {
  const Methods t;
  auto number = [](const Tensor& x) { return is_differentiable(x.dtype()) ? x.dtype() : default_dtype(); };
  both(m, "bernoulli", [](const Tensor& p, Generator* g) { return bernoulli(p, chosen(g)); }, nb::kw_only(), "generator"_a.none() = nb::none());
  both(m, "bernoulli", [](const Tensor& x, double p, Generator* g) { return to_device(to_dtype(bernoulli(full(x.sizes(), probability(p), DType::float32), chosen(g)), x.dtype()), x.device()); }, "p"_a, nb::kw_only(), "generator"_a.none() = nb::none());
  t.def("uniform_", [number](const Tensor& x, double from, double to, Generator* g) {
    expect(from <= to, "uniform_ expects to return a [from, to) range, but found from=", from, " > to=", to);
    copy_(x, rand(x.sizes(), number(x), chosen(g)) * (to - from) + from);
    return x;
  }, "from_"_a = 0.0, "to"_a = 1.0, nb::kw_only(), "generator"_a.none() = nb::none());
  t.def("normal_", [number](const Tensor& x, double mean, double std, Generator* g) {
    expect(std >= 0, "normal expects std >= 0.0, but found std ", std);
    copy_(x, randn(x.sizes(), number(x), chosen(g)) * std + mean);
    return x;
  }, "mean"_a = 0.0, "std"_a = 1.0, nb::kw_only(), "generator"_a.none() = nb::none());
  t.def("random_", [](const Tensor& x, std::optional<int64_t> from, std::optional<int64_t> to, Generator* g) {
    const int64_t low = to ? from.value_or(0) : 0, high = to ? *to : from ? *from : integers_of(x.dtype());
    copy_(x, to_dtype(randint(low, high, x.sizes(), DType::int64, chosen(g)), x.dtype()));
    return x;
  }, "from_"_a = nb::none(), "to"_a = nb::none(), nb::kw_only(), "generator"_a.none() = nb::none());
  t.def("bernoulli_", [](const Tensor& x, const Tensor& p, Generator* g) {
    copy_(x, bernoulli(expand(p, x.sizes()), chosen(g)));
    return x;
  }, "p"_a, nb::kw_only(), "generator"_a.none() = nb::none());
  t.def("bernoulli_", [](const Tensor& x, double p, Generator* g) {
    copy_(x, bernoulli(full(x.sizes(), probability(p), DType::float32), chosen(g)));
    return x;
  }, "p"_a = 0.5, nb::kw_only(), "generator"_a.none() = nb::none());
}

}  // namespace

void bind_random(nb::module_& m) {
  bind_generator(m);
  m.def("_all_lanes", [](const Tensor& x) { return level_top && random_lanes.all ? random_lanes.all(x) : x; }, "Inside transforms, the values of all that the tensor stands for.");
  sized(m, "rand", [](const Dims& s, DType t, Generator& g) { return rand(s, t, g); });
  sized(m, "randn", [](const Dims& s, DType t, Generator& g) { return randn(s, t, g); });
  bind_integers(m);
  bind_fills(m);
}

}  // namespace adjoint::python
