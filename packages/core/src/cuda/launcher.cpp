// From arguments to a launch: the table of variants, loading, and the driver's call.
#include <adjoint/core/cuda/graph.h>
#include <adjoint/core/cuda/kernel.h>
#include <adjoint/core/cuda/memory.h>
#include <adjoint/core/cuda/work.h>
#include <adjoint/core/error.h>

#include <cstring>
#include <mutex>

namespace adjoint::cuda {

void Arguments::number(double v, DType compute) {
  if (compute == DType::float64 || is_integral(compute)) return add(std::bit_cast<uint64_t>(v), spec(by_value, DType::float64));
  add(std::bit_cast<uint32_t>(static_cast<float>(v)), spec(by_value, DType::float32));
}

void Arguments::value(const void* p, DType type) {
  if (type == DType::float16) return number(static_cast<float>(*static_cast<const Half*>(p)), type);
  if (type == DType::bfloat16) return number(static_cast<float>(*static_cast<const BFloat16*>(p)), type);
  if (is_complex(type)) {   // the two parts
    for (int64_t part : {0, 1}) {
      uint64_t bits = 0;
      std::memcpy(&bits, static_cast<const char*>(p) + part * itemsize(type) / 2, static_cast<size_t>(itemsize(type)) / 2);
      add(bits, spec(by_value, type));
    }
    return;
  }
  uint64_t bits = 0;
  std::memcpy(&bits, p, static_cast<size_t>(itemsize(type)));
  add(bits, spec(by_value, type));
}

struct Plan {
  Function function = nullptr;
  std::string entry;            // its name, and the operation's
  uint32_t shared = 0, threads = 0, clusters = 1;
  bool plain = true, cooperative = false, dependent = false;
  uint64_t scratch = 0;
  std::vector<uint8_t> slots;   // of each parameter
};

namespace {

struct VariantKey {
  static constexpr size_t most = 4 + sizeof(Arguments::constants) + Arguments::most;
  alignas(8) uint8_t bytes[most];
  size_t words;

  VariantKey(const Arguments& a, int device) {
    const uint8_t head[4] = {static_cast<uint8_t>(device), static_cast<uint8_t>(a.count), static_cast<uint8_t>(a.constant_count), 0};
    std::memcpy(bytes, head, 4);
    size_t n = 4;
    std::memcpy(bytes + n, a.constants, static_cast<size_t>(a.constant_count) * 4);
    n += static_cast<size_t>(a.constant_count) * 4;
    std::memset(bytes + (n + static_cast<size_t>(a.count)) / 8 * 8, 0, 8);
    std::memcpy(bytes + n, a.specs, static_cast<size_t>(a.count));
    words = (n + static_cast<size_t>(a.count) + 7) / 8;
  }
  uint64_t hash() const {
    uint64_t h = words;
    for (size_t i = 0; i < words; i++) {
      uint64_t w;
      std::memcpy(&w, bytes + 8 * i, 8);
      h = (h ^ w) * 0x9E3779B97F4A7C15u;
      h ^= h >> 32;
    }
    return h;
  }
  bool operator==(const VariantKey& o) const { return words == o.words && std::memcmp(bytes, o.bytes, words * 8) == 0; }
};

struct LoadedVariant { VariantKey key; uint64_t hash; Plan plan; };

}  // namespace

// Open addressing, read without a lock. A full table is replaced by a larger one; readers may still look at the old one.
struct DeviceKernel::Table {
  explicit Table(size_t size) : mask(size - 1), entry(std::make_unique<std::atomic<const LoadedVariant*>[]>(size)) {}
  const LoadedVariant* find(const VariantKey& key, uint64_t hash) const {
    for (size_t i = hash & mask;; i = (i + 1) & mask) {
      const LoadedVariant* e = entry[i].load(std::memory_order_acquire);
      if (!e || (e->hash == hash && e->key == key)) return e;
    }
  }
  void insert(const LoadedVariant* e) {
    size_t i = e->hash & mask;
    while (entry[i].load(std::memory_order_relaxed)) i = (i + 1) & mask;
    entry[i].store(e, std::memory_order_release);
  }
  size_t mask;
  std::unique_ptr<std::atomic<const LoadedVariant*>[]> entry;
};

struct DeviceKernel::Tables {
  std::mutex mutex;
  std::vector<std::unique_ptr<Table>> all;
  std::vector<std::unique_ptr<LoadedVariant>> entries;
};

DeviceKernel::DeviceKernel(std::string name, std::unique_ptr<Compiler> compiler)
    : name_(std::move(name)), compiler_(std::move(compiler)), tables_(std::make_unique<Tables>()) {
  tables_->all.push_back(std::make_unique<Table>(16));
  table_ = tables_->all.back().get();
}
DeviceKernel::~DeviceKernel() = default;

namespace {

constexpr uint32_t usual_shared = 48 << 10;
constexpr int prefer_shared = 1;

// The driver's own view of the parameters must be ours.
void check_parameters(Function f, const Image& image, const std::string& name) {
  if (!driver().parameter_info) return;
  for (size_t i = 0; i < image.parameters.size() + 2; i++) {
    size_t offset = 0, size = 0;
    check(driver().parameter_info(f, i, &offset, &size), "cuFuncGetParamInfo");
    const size_t ours = i < image.parameters.size() ? image.parameters[i].size : sizeof(Pointer);
    expect(size == ours, name, ": parameter ", i, " of the compiled kernel has ", size, " bytes, expected ", ours);
  }
}

int attribute(Function f, FunctionAttribute which) {
  int v = 0;
  check(driver().function_attribute(&v, which, f), "cuFuncGetAttribute");
  return v;
}

Plan load(const Image& image, const std::string& name, int device) {
  const Properties& p = properties(device);
  expect(image.bytes.size() >= 16 && image.clusters > 0 && image.threads > 0 && image.scratch < uint64_t(1) << 40, name, ": the compiler gave no image that could be loaded");
  expect(image.shared <= static_cast<uint32_t>(p.shared_per_block_optin), name, ": out of shared memory: the kernel needs ", image.shared, " bytes, the device has ", p.shared_per_block_optin);
  Plan plan;
  const Unrecorded guard;
  Module module = nullptr;   // stays loaded
  check(driver().module_load(&module, image.bytes.data()), "cuModuleLoadData");
  check(driver().module_function(&plan.function, module, image.entry.c_str()), "cuModuleGetFunction");
  expect(image.threads <= static_cast<uint32_t>(attribute(plan.function, function_max_threads)), name, ": too many threads for the registers it uses: ", image.threads);
  check_parameters(plan.function, image, name);
  if (image.shared > usual_shared) {
    check(driver().set_cache_config(plan.function, prefer_shared), "cuFuncSetCacheConfig");
    check(driver().set_function_attribute(plan.function, function_max_dynamic_shared, p.shared_per_block_optin - attribute(plan.function, function_static_shared)), "cuFuncSetAttribute");
  }
  plan.entry = image.entry + "<" + name + ">";
  plan.shared = image.shared;
  plan.threads = image.threads;
  plan.clusters = image.clusters;
  plan.cooperative = image.cooperative;
  plan.dependent = image.dependent;
  plan.plain = image.clusters == 1 && !image.cooperative && !image.dependent;
  plan.scratch = image.scratch;
  for (auto [slot, size] : image.parameters) plan.slots.push_back(slot);
  return plan;
}

void launch_with_attributes(const Plan& p, uint32_t x, uint32_t y, uint32_t z, StreamHandle stream, void** parameters) {
  enum : int { cooperative = 2, cluster_dimension = 4, cluster_scheduling = 5, dependent = 6, spread = 1 };
  LaunchAttribute attributes[4] = {};
  unsigned n = 0;
  auto add = [&](int id) -> LaunchAttribute& { attributes[n].id = id; return attributes[n++]; };
  if (p.dependent) add(dependent).value = 1;
  if (p.cooperative) add(cooperative).value = 1;
  if (p.clusters != 1) {
    add(cluster_dimension).cluster = {p.clusters, 1, 1};
    add(cluster_scheduling).value = spread;
  }
  const LaunchConfig config{{x * p.clusters, y, z}, {p.threads, 1, 1}, p.shared, stream, attributes, n};
  check(driver().launch_with(&config, p.function, parameters, nullptr), "cuLaunchKernelEx");
}

}  // namespace

const Plan& DeviceKernel::compile(const Arguments& a, int device) {
  const Image image = compiler_->compile({device, {a.specs, static_cast<size_t>(a.count)}, {a.constants, static_cast<size_t>(a.constant_count)}});
  for (auto [slot, size] : image.parameters) expect(slot < a.count && size <= 8, name_, ": a compiled kernel asks for argument ", int(slot), ", there are ", a.count);
  std::lock_guard lock(tables_->mutex);
  const VariantKey key(a, device);
  if (const LoadedVariant* e = table_.load()->find(key, key.hash())) return e->plan;   // another thread was faster
  tables_->entries.push_back(std::unique_ptr<LoadedVariant>(new LoadedVariant{key, key.hash(), load(image, name_, device)}));
  const LoadedVariant* made = tables_->entries.back().get();
  Table* table = table_.load();
  if (tables_->entries.size() * 2 > table->mask) {
    tables_->all.push_back(std::make_unique<Table>((table->mask + 1) * 2));
    table = tables_->all.back().get();
    for (const auto& e : tables_->entries) table->insert(e.get());
    table_.store(table, std::memory_order_release);
  } else {
    table->insert(made);
  }
  return made->plan;
}

const Plan& DeviceKernel::find(const Arguments& a, int device) {
  const VariantKey key(a, device);
  if (const LoadedVariant* e = table_.load(std::memory_order_acquire)->find(key, key.hash())) [[likely]] return e->plan;
  return compile(a, device);
}

void DeviceKernel::launch(const Arguments& a, uint32_t x, uint32_t y, uint32_t z, int device) {
  if (!x || !y || !z) return;
  const Plan& p = find(a, device);
  const Stream& stream = current_stream(device);
  Pointer scratch[2] = {};
  Tensor room;
  if (p.scratch) {
    room = empty({static_cast<int64_t>(p.scratch) * x * y * z * p.clusters}, DType::uint8, {DeviceType::cuda, static_cast<int8_t>(device)});
    scratch[0] = reinterpret_cast<Pointer>(room->data);
  }
  void* parameters[Arguments::most + 2];
  size_t n = 0;
  for (uint8_t slot : p.slots) parameters[n++] = const_cast<uint64_t*>(&a.slot[slot]);
  for (Pointer& s : scratch) parameters[n++] = &s;
  put({.kind = Work::Kind::kernel, .name = p.entry.c_str(), .stream = stream, .grid = {x * p.clusters, y, z}, .threads = p.threads, .shared = p.shared}, [&] {
    if (!p.plain) return launch_with_attributes(p, x, y, z, stream.handle, parameters);
    check(driver().launch(p.function, x, y, z, p.threads, 1, 1, p.shared, stream.handle, parameters, nullptr), "cuLaunchKernel");
  });
}

}  // namespace adjoint::cuda
