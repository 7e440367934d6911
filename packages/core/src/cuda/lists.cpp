// Updates of many tensors in one launch.
#include <adjoint/core/cuda/lists.h>
#include <adjoint/core/cuda/memory.h>
#include <adjoint/core/error.h>
#include <adjoint/core/layout.h>

#include <algorithm>
#include <climits>
#include <map>
#include <mutex>

namespace adjoint::cuda {

namespace {

struct KernelsOverLists {
  std::mutex mutex;
  std::map<std::string, std::unique_ptr<ListKernel>> last;
  std::vector<std::unique_ptr<ListKernel>> replaced;   // for calls under way
};

KernelsOverLists& kernels_over_lists() {
  static auto* k = new KernelsOverLists;
  return *k;
}

ListKernel* find(const std::string& name) {
  std::lock_guard lock(kernels_over_lists().mutex);
  const auto it = kernels_over_lists().last.find(name);
  return it == kernels_over_lists().last.end() ? nullptr : it->second.get();
}

bool plain(const TensorImpl& t, const TensorImpl& first) {
  return t.device == first.device && t.dtype == first.dtype && !(t.keys & (key_lifted | key_sparse)) && reach(t.sizes, t.strides) == t.numel && !overlaps_itself(t);
}

}  // namespace

void register_lists(const std::string& name, std::unique_ptr<ListKernel> kernel) {
  expect(kernel->block > 0, ErrorKind::value, "register_lists: ", name, ": the block must be positive, got ", kernel->block);
  std::lock_guard lock(kernels_over_lists().mutex);
  auto& place = kernels_over_lists().last[name];
  if (place) kernels_over_lists().replaced.push_back(std::move(place));
  place = std::move(kernel);
}

bool lie_alike(std::span<const TensorVector> lists) {
  if (lists.empty() || lists[0].empty()) return false;
  const TensorVector& guide = lists[0];
  const TensorImpl& first = *guide[0];
  if (first.device.type != DeviceType::cuda || !is_floating(first.dtype)) return false;
  return std::ranges::all_of(lists, [&](const TensorVector& list) {
    if (list.size() != guide.size()) return false;
    for (size_t i = 0; i < list.size(); i++)
      if (!plain(*list[i], first) || list[i].sizes() != guide[i].sizes() || !same_strides(list[i].sizes(), list[i]->strides, guide[i]->strides)) return false;
    return true;
  });
}

void update_lists(const std::string& name, std::span<const TensorVector> lists, const TensorVector& counts, std::span<const double> numbers, std::span<const int64_t> constants) {
  expect(lie_alike(lists), name, ": its lists must hold tensors on one GPU, of one type, and of the same sizes and strides at the same place");
  load_kernels();
  ListKernel* k = find(name);
  expect(k, ErrorKind::not_implemented, name, no_kernel);
  const TensorVector& guide = lists[0];
  const auto n = static_cast<int64_t>(guide.size());
  const Device device = guide[0].device();
  const Tensor host = empty({static_cast<int64_t>(lists.size()) + 2 + !counts.empty(), n}, DType::int64);
  auto* row = host.data<int64_t>();
  int64_t programs = 0;
  for (int64_t i = 0; i < n; i++) {
    row[i] = programs;
    row[n + i] = guide[static_cast<size_t>(i)].numel();
    programs += (row[n + i] + k->block - 1) / k->block;
  }
  expect(programs <= INT_MAX, ErrorKind::not_implemented, name, ": too large for cuda: ", programs, " programs");
  row += 2 * n;
  uint64_t bits = 0;
  auto put = [&](const TensorVector& list) {
    begin_call(device, list);
    for (const Tensor& t : list) bits |= static_cast<uint64_t>(*row++ = reinterpret_cast<int64_t>(t->data));
  };
  for (const TensorVector& list : lists) put(list);
  const bool aligned = bits % 16 == 0;
  put(counts);
  const Tensor table = uploaded(host, device);
  Arguments a;
  a.pointer(table->data, DType::int64);
  a.pointer(guide[0]->data, guide[0].dtype());
  a.plain_integer(n, false);
  for (double v : numbers) a.number(v, guide[0].dtype());
  a.constant(aligned);
  for (int64_t c : constants) a.constant(c);
  a.constant(k->block);
  k->kernel.launch(a, static_cast<uint32_t>(programs), 1, 1, device.index);
  for (const TensorVector& list : lists.subspan(1))
    for (const Tensor& t : list) bump_version(*t);
}

}  // namespace adjoint::cuda
