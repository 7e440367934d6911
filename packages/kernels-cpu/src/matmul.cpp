// matmul: batches of products on the pool, cut into panels by shape alone.
#include "matmul.h"

#include <optional>
#include <utility>
#include <vector>

#include "bfloat16.h"
#include "copy.h"
#include "distance.h"
#include "fold.h"
#include "kernels.h"
#include "pool.h"

namespace adjoint::cpu {

namespace {

// A dimension of size 1 has any stride: give it the one that BLAS wants.
template <class T> Matrix<T> last_two(const View& v) {
  const int64_t rows = v.sizes[v.ndim - 2], columns = v.sizes[v.ndim - 1];
  int64_t down = v.strides[v.ndim - 2], right = v.strides[v.ndim - 1];
  if (columns == 1 && rows == 1) down = right = 1;
  else if (columns == 1) right = down == 1 ? std::max(rows, right) : 1;
  else if (rows == 1) down = right == 1 ? columns : 1;
  return {v.as<T>(), down, right};
}

// An operand that BLAS, or the product of integers, can read: copied or converted only if need be.
template <class T> class Operand {
 public:
  explicit Operand(const View& v, bool columns = true) : view_(&v) {
    matrix_ = last_two<T>(v);
    const bool by_rows = rows_dense(matrix_, v.sizes[v.ndim - 1]), by_columns = columns && !by_rows && columns_dense(matrix_, v.sizes[v.ndim - 2]);
    if (v.dtype == dtype_of<T>() && (by_rows || by_columns)) return;
    if (!by_columns) {
      copy_.emplace(v, dtype_of<T>());
      view_ = &copy_->view;
      matrix_ = last_two<T>(*view_);
      return;
    }
    const auto turned = [&](const int64_t* of) {
      std::vector<int64_t> x(of, of + v.ndim);
      std::swap(x[x.size() - 1], x[x.size() - 2]);
      return x;
    };
    const std::vector<int64_t> sizes = turned(v.sizes), strides = turned(v.strides);
    copy_.emplace(View{v.data, sizes.data(), strides.data(), v.ndim, v.dtype, v.numel}, dtype_of<T>());
    view_ = &copy_->view;
    const Matrix<T> lies = last_two<T>(*view_);
    matrix_ = {lies.data, lies.right, lies.down};
  }
  // The matrix for number `batch` of the batch of y, to which batch dimensions broadcast.
  Matrix<const T> at(const View& y, int64_t batch) const {
    int64_t offset = 0;
    if (y.ndim == 3) offset = batch * step(0, y);
    else for (int d = y.ndim - 3; d >= 0; d--) {
      offset += batch % y.sizes[d] * step(d, y);
      batch /= y.sizes[d];
    }
    return {matrix_.data + offset, matrix_.down, matrix_.right};
  }

  // From one matrix to the next along dimension d of y.
  int64_t step(int d, const View& y) const {
    const int own = d - (y.ndim - view_->ndim);   // d may be none: of one product
    return own >= 0 && view_->sizes[own] != 1 ? view_->strides[own] : 0;
  }

 private:
  const View* view_;
  Matrix<T> matrix_;
  std::optional<Dense> copy_;
};

// How one product is cut: in the direction of the longer side, since every panel reads the other operand whole.
struct Panels {
  int64_t count, size;
  bool across;
};
Panels panels(int64_t m, int64_t n, int64_t k) {
  const int64_t longest = std::max(m, n);
  if (m * n * k < (std::min(m, n) == 1 ? 1 << 19 : 128 * 128 * 64) || longest < 2) return {1, longest, n > m};   // of a vector all is read once: memory's speed
  const int64_t least = std::min(m, n) == 1 ? 128 : longest < 512 ? (longest < 256 ? 64 : 128) : longest < 2048 ? (longest + 3) / 4 : 512;
  const int64_t size = (std::max<int64_t>(least, 1) + 15) / 16 * 16;
  return {(longest + size - 1) / size, size, n >= m};
}

template <class T> void multiply_panel(const Panels& p, int64_t i, Matrix<const T> a, Matrix<const T> b, Matrix<T> c, int64_t m, int64_t n, int64_t k) {
  const int64_t begin = i * p.size;
  if (p.across) multiply<T>(a, {b.at(0, begin), b.down, b.right}, {c.at(0, begin), c.down, c.right}, m, std::min(p.size, n - begin), k);
  else multiply<T>({a.at(begin, 0), a.down, a.right}, b, {c.at(begin, 0), c.down, c.right}, std::min(p.size, m - begin), n, k);
}

// The products of a batch from `first` to `last`, row by row of its last dimension.
template <class T> void multiply_tiny(const Operand<T>& left, const Operand<T>& right, const View& y, int64_t first, int64_t last, int64_t k) {
  const int d = y.ndim - 3;
  const int64_t m = y.sizes[d + 1], n = y.sizes[d + 2], row = d < 0 ? 1 : y.sizes[d];
  while (first < last) {
    const int64_t count = std::min(last - first, row - first % row);
    isa::call<TinyMatmul<T>>(left.at(y, first), left.step(d, y), right.at(y, first), right.step(d, y), y.as<T>() + first * m * n, count, m, n, k);
    first += count;
  }
}

// Few sums of many steps: threads share the steps, in parts whose number depends on the shape alone, and parts are joined in double.
template <class T> bool multiply_deep(Matrix<const T> a, Matrix<const T> b, T* y, int64_t m, int64_t n, int64_t k) {
  const int64_t depth = std::max<int64_t>(4096, (1 << 16) / std::max(m, n)), parts = (k + depth - 1) / depth;
  if (std::max(m, n) > 32 || parts < 4) return false;
  const Buffer memory(parts * m * n * static_cast<int64_t>(sizeof(T)));
  T* const sums = memory.as<T>();
  pool::parallel(parts, [&](int64_t part) {
    const int64_t q = part * depth;
    multiply<T>({a.at(0, q), a.down, a.right}, {b.at(q, 0), b.down, b.right}, {sums + part * m * n, n, 1}, m, n, std::min(depth, k - q));
  });
  using Wide = std::conditional_t<std::is_same_v<T, float>, double, std::conditional_t<std::is_same_v<T, Complex<float>>, Complex<double>, T>>;
  for (int64_t i = 0; i < m * n; i++) {
    Wide sum(sums[i]);
    for (int64_t part = 1; part < parts; part++) sum = sum + Wide(sums[part * m * n + i]);
    y[i] = static_cast<T>(sum);
  }
  return true;
}

template <class T> void matmul_into(const View& a, const View& b, const View& y) {
  const int64_t m = y.sizes[y.ndim - 2], n = y.sizes[y.ndim - 1], k = a.sizes[a.ndim - 1], batches = y.numel / (m * n);
  if (k == 0) {
    std::fill_n(y.as<T>(), y.numel, T(0));
    return;
  }
  const Operand<T> left(a), right(b, !std::is_integral_v<T>);
  const Panels p = panels(m, n, k);
  const int64_t grain = std::max<int64_t>(1, (1 << 17) / (m * n * k));
  if constexpr (!std::is_integral_v<T>)
    if (TinyMatmul<T>::serves(m, n, k, rows_dense(right.at(y, 0), n)))
      return pool::parallel_for(batches, grain, [&](int64_t first, int64_t last) { multiply_tiny(left, right, y, first, last, k); });
  if (batches == 1 && p.count == 1 && multiply_deep<T>(left.at(y, 0), right.at(y, 0), y.as<T>(), m, n, k)) return;
  pool::parallel_for(batches * p.count, p.count > 1 ? 1 : grain, [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; i++) {
      const int64_t batch = p.count == 1 ? i : i / p.count;
      multiply_panel<T>(p, i - batch * p.count, left.at(y, batch), right.at(y, batch), {y.as<T>() + batch * m * n, n, 1}, m, n, k);
    }
  });
}

// Dots of rows of a half type, which are widened in registers, with a row each or with one for all; false where the operands do not lie so.
template <class S> struct DotOfHalves {
  template <int W> [[gnu::always_inline]] static inline void run(const S* a, const S* b, float* sum, int64_t n) { sum_lanes<W, 1>(Products<S>{a, b}, n, sum); }
};
template <class S> bool dots_of_halves(const View& a, const View& b, const View& y) {
  const int64_t k = a.sizes[a.ndim - 1], n = y.numel;
  const bool one = b.numel == k && (k >= 64 || n == 1);   // for all rows, of which short ones are sooner widened together
  const auto lies_so = [&](const View& v, int along, int64_t rows) { return v.strides[along] == 1 && v.numel == rows * k && (rows == 1 || v.contiguous()); };
  if (y.sizes[y.ndim - 1] != 1 || (!one && y.sizes[y.ndim - 2] != 1) || k == 0 || a.dtype != b.dtype || !lies_so(a, a.ndim - 1, n) || !lies_so(b, b.ndim - 2, one ? 1 : n)) return false;
  pool::parallel_for(n, std::max<int64_t>(1, (1 << 16) / k), [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; i++) {
      float sum;
      isa::call<DotOfHalves<S>, const S*, const S*, float*, int64_t>(a.as<const S>() + i * k, b.as<const S>() + (one ? 0 : i * k), &sum, k);
      if (y.dtype == DType::float32) y.as<float>()[i] = sum;
      else y.as<S>()[i] = static_cast<S>(sum);
    }
  });
  return true;
}

// `count` matrices of a batch, or rows of a matrix, from `first` on.
struct Part {
  int64_t sizes[3];
  View view;
  Part(const View& v, int64_t first, int64_t count) : sizes{}, view(v) {
    std::copy_n(v.sizes, v.ndim, sizes);
    sizes[0] = count;
    view.data += first * v.strides[0] * itemsize(v.dtype);
    view.sizes = sizes;
    view.numel = v.numel / v.sizes[0] * count;
  }
};

template <class T> void multiply_by(const View& a, const View& b, const View& y) {
  const Buffer memory(y.numel * static_cast<int64_t>(sizeof(T)));
  const View wide{memory.as<char>(), y.sizes, y.strides, y.ndim, dtype_of<T>(), y.numel};
  matmul_into<T>(a, b, wide);
  cast(y, wide);
}
// Half types multiply in float and are rounded once; narrow integers in int32: so many matrices, or rows, at a time as a cache of the second level holds.
template <class T> void matmul_by(const View& a, const View& b, const View& y) {
  constexpr int64_t most = 1 << 17;   // elements
  const int64_t n = y.sizes[0];
  const bool by_a = a.ndim == y.ndim && a.sizes[0] == n, by_b = y.ndim == 3 && b.ndim == 3 && b.sizes[0] == n;
  const int64_t shared = (by_a ? 0 : a.numel) + (by_b ? 0 : b.numel), each = (a.numel + b.numel - shared + y.numel) / n, count = std::max<int64_t>(y.ndim == 2 ? 64 : 1, std::max(most, 4 * shared) / each);
  if (y.ndim < 2 || y.ndim > 3 || count >= n) return multiply_by<T>(a, b, y);
  for (int64_t first = 0; first < n; first += count) {
    const int64_t some = std::min(count, n - first);
    const std::optional<Part> of_a = by_a ? std::optional<Part>(std::in_place, a, first, some) : std::nullopt, of_b = by_b ? std::optional<Part>(std::in_place, b, first, some) : std::nullopt;
    multiply_by<T>(of_a ? of_a->view : a, of_b ? of_b->view : b, Part(y, first, some).view);
  }
}

void matmul_kernel(const Launch& l) {
  const View &a = l.x[0], &b = l.x[1], &y = l.y[0];
  if (y.numel == 0) return;
  switch (y.dtype) {
    case DType::float32:
      if (a.dtype == DType::float16 && dots_of_halves<Half>(a, b, y)) return;
      if (a.dtype == DType::bfloat16 && (dots_of_halves<BFloat16>(a, b, y) || multiply_bfloat16(a, b, y))) return;
      return matmul_into<float>(a, b, y);
    case DType::float64: return matmul_into<double>(a, b, y);
    case DType::complex64: return matmul_into<Complex<float>>(a, b, y);
    case DType::complex128: return matmul_into<Complex<double>>(a, b, y);
    case DType::bfloat16:
      if (!dots_of_halves<BFloat16>(a, b, y) && !multiply_bfloat16(a, b, y)) matmul_by<float>(a, b, y);
      return;
    case DType::float16:
      if (!dots_of_halves<Half>(a, b, y)) matmul_by<float>(a, b, y);
      return;
    case DType::int64: return matmul_into<int64_t>(a, b, y);
    case DType::int32: return matmul_into<int32_t>(a, b, y);
    default: return itemsize(y.dtype) < 4 ? matmul_by<int32_t>(a, b, y) : reference(l);
  }
}

constexpr Entry entries[] = {{"distances", distances_kernel}, {"matmul", matmul_kernel}};

}  // namespace

Entries matmul_kernels() { return entries; }

}  // namespace adjoint::cpu
