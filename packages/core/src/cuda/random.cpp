// Launches of the kernels that make random numbers.
#include <adjoint/core/cuda/graph.h>
#include <adjoint/core/cuda/memory.h>
#include <adjoint/core/cuda/random.h>
#include <adjoint/core/error.h>

#include <climits>

namespace adjoint::cuda {

namespace {

constexpr const char* names[] = {"random_uniform", "random_normal", "random_integers", "random_mask", "random_dropout"};
std::atomic<RandomKernel*> kernels[std::size(names)];

RandomKernel& find(Draw what) {
  const auto& kernel = kernels[static_cast<int>(what)];
  if (RandomKernel* k = kernel.load(std::memory_order_acquire)) [[likely]] return *k;
  load_kernels();
  RandomKernel* k = kernel.load(std::memory_order_acquire);
  expect(k, ErrorKind::not_implemented, names[static_cast<int>(what)], no_kernel);
  return *k;
}

// As a type of the same values does, so that a kernel need not round a float64 twice.
double rounded(double v, DType t) {
  if (t == DType::float16) return static_cast<float>(Half(static_cast<float>(v)));
  if (t == DType::bfloat16) return static_cast<float>(BFloat16(static_cast<float>(v)));
  return v;
}

int64_t numbers_a_block(Draw what, DType t) { return what == Draw::integers || (what < Draw::integers && t == DType::float64) ? 2 : 4; }

// Launches a kernel, `a` being what comes before the output.
void fill(Draw what, Arguments& a, void* to, DType type, int64_t n, bool pairs, int device, const RandomCall& at, int64_t low, uint64_t range, double value) {
  RandomKernel& k = find(what);
  enter(device);
  a.pointer(to, type);
  a.plain_integer(n, n > INT_MAX);
  a.plain_integer(static_cast<int64_t>(at.seed), true);
  a.plain_integer(static_cast<int64_t>(at.offset), true);
  a.pointer(at.state ? at.state->data : nullptr, DType::int64);
  a.plain_integer(low, true);
  a.plain_integer(static_cast<int64_t>(range), true);
  a.number(value, DType::float64);
  a.constant(static_cast<bool>(at.state));
  a.constant(pairs);
  a.constant(k.block);
  const int64_t each = k.block * numbers_a_block(what, type), programs = (n + each - 1) / each;
  expect(programs <= INT_MAX, ErrorKind::not_implemented, names[static_cast<int>(what)], ": too large for cuda: ", n, " numbers");
  k.kernel.launch(a, static_cast<uint32_t>(programs), 1, 1, device);
}

}  // namespace

void register_random(const std::string& name, std::unique_ptr<RandomKernel> kernel) {
  expect(kernel->block > 0, ErrorKind::value, "register_random: ", name, ": the block must be positive, got ", kernel->block);
  for (size_t i = 0; i < std::size(names); i++)
    if (name == names[i]) {
      kernels[i].store(kernel.release(), std::memory_order_release);   // what was there stays, for calls under way
      return;
    }
  fail(ErrorKind::value, "register_random: there are no random numbers of the name ", name);
}

RandomCall next_call(Generator& g, int device) {
  enter(device);
  Graph* const graph = recorder(current_stream(device));
  if (!graph) return {g.seed, g.offset++, {}};
  const Graph::Position at = graph->next_call(g, device);
  return {0, at.offset, Ref<Storage>(at.state)};
}

Tensor draw(Draw what, const Tensor& t, const RandomCall& at, int64_t low, uint64_t range, double value) {
  const int64_t parts = is_complex(t.dtype()) ? 2 : 1;   // the two parts of an element stand side by side
  Arguments a;
  fill(what, a, t->data, real_of(t.dtype()), parts * t.numel(), parts == 2, t.device().index, at, low, range, rounded(value, real_of(t.dtype())));
  return t;
}

void draw_dropout(const Launch& l, const RandomCall& at, uint64_t range, double value) {
  const View &x = l.x[0], &y = l.y[0], &mask = l.y[1];
  expect(x.contiguous() && y.contiguous() && mask.contiguous(), "dropout: expected dense operands");
  Arguments a;
  a.pointer(mask.data, mask.dtype);
  a.pointer(x.data, x.dtype);
  fill(Draw::dropout, a, y.data, y.dtype, y.numel, false, l.device.index, at, 0, range, value);
}

}  // namespace adjoint::cuda
