// Planes read at positions that their sizes alone determine.
#include <adjoint/core/cuda/memory.h>
#include <adjoint/core/ops.h>
#include <adjoint/core/planes.h>

#include <algorithm>
#include <vector>

namespace adjoint {

namespace {

constexpr int64_t most = int64_t(1) << 48;   // elements: of more, positions would not fit the addresses of a process

// Of sizes that a program gave.
int64_t times(const char* op, int64_t a, int64_t b) {
  int64_t n;
  expect(!__builtin_mul_overflow(a, b, &n) && n < most, ErrorKind::shape, op, ": ", a, " times ", b, " elements are too many");
  return n;
}

// Where the elements of a padded line of n stand in it.
std::vector<int64_t> sources(int64_t n, int64_t before, int64_t after, Border border) {
  expect(std::max(before, after) < most && std::min(before, after) > -most, ErrorKind::shape, "pad: a padding of ", before, " and ", after, " is too large");
  expect(n > 0 || before + after == 0, ErrorKind::shape, "pad: expected dimensions to be padded to have elements, got a size of 0");
  expect(border != Border::circular || std::max<int64_t>(-before, 0) + std::max<int64_t>(-after, 0) < n, ErrorKind::shape, "pad: nothing is left of a dimension of ", n, " to pad with after cropping by ", before, " and ", after);
  expect(border != Border::circular || std::max(before, after) <= n, ErrorKind::shape, "pad: Padding value causes wrapping around more than once, got ", std::max(before, after), " for ", n);
  expect(border != Border::reflect || std::max(before, after) < n, ErrorKind::shape, "pad: reflected padding must be smaller than the dimension, got ", std::max(before, after), " for ", n);
  const int64_t count = n + before + after;
  expect(count < most, ErrorKind::shape, "pad: a dimension of ", n, " padded by ", before, " and ", after, " is too large");
  const int64_t first = std::max<int64_t>(-before, 0), kept = n - std::max<int64_t>(-after, 0) - first;   // what is cropped does not come round again
  std::vector<int64_t> at;
  at.reserve(static_cast<size_t>(std::max<int64_t>(count, 0)));   // what does not fit into memory fails here
  for (int64_t i = -before; i < n + after; i++) {
    if (border == Border::replicate) at.push_back(std::clamp<int64_t>(i, 0, n - 1));
    else if (border == Border::reflect) at.push_back(n - 1 - std::abs(n - 1 - std::abs(i)));
    else at.push_back(first + ((i - first) % kept + kept) % kept);
  }
  return at;
}

// As a tensor.
Tensor positions_of(const std::vector<int64_t>& at, Device device) {
  Tensor t = empty({static_cast<int64_t>(at.size())}, DType::int64);
  std::copy(at.begin(), at.end(), t.data<int64_t>());
  return cuda::uploaded(t, device);
}

constexpr int64_t repeated = 4;   // planes from which on the positions of all dimensions together are worth their memory

}  // namespace

Tensor pad_around(const Tensor& x, const Dims& before, const Dims& after, Border border) {
  expect(before.size() == x.dim() && after.size() == x.dim(), ErrorKind::shape, "pad: needs one width before and after each of ", x.dim(), " dimensions, got ", before, " and ", after);
  int first = 0;
  while (first < x.dim() && before[first] == 0 && after[first] == 0) first++;
  if (first == x.dim()) return x;
  std::vector<std::vector<int64_t>> at;
  Dims padded = x.sizes();
  int64_t plane = 1;
  for (int d = first; d < x.dim(); d++) {
    at.push_back(sources(x.size(d), before[d], after[d], border));
    padded[d] = static_cast<int64_t>(at.back().size());
    plane *= x.size(d);
  }
  if (at.size() > 1 && x.numel() < repeated * plane) {   // dimension by dimension
    Tensor y = x;
    for (int d = first; d < x.dim(); d++)
      if (before[d] || after[d]) y = index_select(y, d, positions_of(at[static_cast<size_t>(d - first)], x.device()));
    return y;
  }
  std::vector<int64_t> all{0};
  for (size_t d = 0; d < at.size(); d++) {
    std::vector<int64_t> next;
    next.reserve(static_cast<size_t>(times("pad", static_cast<int64_t>(all.size()), static_cast<int64_t>(at[d].size()))));
    for (const int64_t row : all)
      for (const int64_t i : at[d]) next.push_back(row * x.size(first + static_cast<int>(d)) + i);
    all = std::move(next);
  }
  return as_result(reshape(index_select(flatten(x, first, -1), first, positions_of(all, x.device())), padded));
}

Patches patches(const Dims& sizes, const Dims& kernel, const Dims& dilation, const Dims& stride, Device device) {
  expect(sizes.size() == 2 && kernel.size() == 2 && dilation.size() == 2 && stride.size() == 2, ErrorKind::shape, "unfold: kernel, dilation and stride are of two dimensions, got ", kernel, ", ", dilation, " and ", stride);
  Dims windows;
  int64_t count = 1;
  for (int d = 0; d < 2; d++) {
    expect(kernel[d] > 0 && dilation[d] > 0 && stride[d] > 0, "unfold: kernel, dilation and stride must be positive, got ", kernel, ", ", dilation, " and ", stride);
    const int64_t reach = times("unfold", dilation[d], kernel[d] - 1);
    expect(sizes[d] > reach, "unfold: the window of ", kernel[d], " taps does not fit into a padded size of ", sizes[d]);
    windows.push_back((sizes[d] - reach - 1) / stride[d] + 1);
    count = times("unfold", count, times("unfold", kernel[d], windows[d]));
  }
  times("unfold", sizes[0], sizes[1]);
  std::vector<int64_t> at;
  at.reserve(static_cast<size_t>(count));
  for (int64_t k = 0; k < kernel[0]; k++)
    for (int64_t l = 0; l < kernel[1]; l++)
      for (int64_t i = 0; i < windows[0]; i++)
        for (int64_t j = 0; j < windows[1]; j++) at.push_back((i * stride[0] + k * dilation[0]) * sizes[1] + j * stride[1] + l * dilation[1]);
  return {positions_of(at, device), windows};
}

}  // namespace adjoint
