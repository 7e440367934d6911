// The product of two sparse matrices row by row: F. G. Gustavson, Two fast algorithms for sparse matrices: multiplication and permuted
// transposition, ACM TOMS 4 (1978). A row is added up in dense memory; bits say which of its columns are taken, and further bits which
// words of those are not zero, so that reading a row in order costs little more than its elements.
#include <adjoint/core/parallel.h>

#include <bit>
#include <vector>

#include "sparse_kernels.h"

namespace adjoint::sparse {

namespace {

constexpr int64_t blocks = 32;  // of rows, each done by one thread

// Values in row-major order, (n), and their positions, (2, n).
struct List {
  Tensor values, indices;
  explicit List(const Sparse& s) : values(contiguous(s.values)), indices(contiguous(s.indices)) {}
  int64_t size() const { return values.numel(); }
  const int64_t* rows() const { return indices.data<int64_t>(); }
  const int64_t* columns() const { return rows() + size(); }
};

// Where the values of each row begin.
std::vector<int64_t> row_starts(const List& s, int64_t n) {
  std::vector<int64_t> starts(n + 1);
  const int64_t *rows = s.rows(), count = s.size();
  for (int64_t i = 0; i < count; i++) starts[rows[i] + 1]++;
  for (int64_t i = 0; i < n; i++) starts[i + 1] += starts[i];
  return starts;
}

// The columns that a row has, by bits.
struct Columns {
  std::vector<uint64_t> taken, words;
  explicit Columns(int64_t columns) : taken(columns / 64 + 1), words(columns / 4096 + 1) {}
  // Whether the row did not have it yet.
  [[gnu::always_inline]] bool add(int64_t column) {
    const uint64_t bit = uint64_t(1) << (column & 63), before = taken[column >> 6];
    taken[column >> 6] = before | bit;
    words[column >> 12] |= uint64_t(1) << (column >> 6 & 63);
    return !(before & bit);
  }
  // f(number, bits) for each word of 64 columns, in order; none are left.
  template <class F> [[gnu::always_inline]] void take(F&& f) {
    for (size_t w = 0; w < words.size(); w++)
      for (; words[w]; words[w] &= words[w] - 1) {
        const int64_t at = static_cast<int64_t>(w) * 64 + std::countr_zero(words[w]);
        f(at, taken[at]);
        taken[at] = 0;
      }
  }
};

// f(row, positions in p of the row's values) for the rows of a block.
template <class F> void for_rows_of(int64_t block, int64_t n, const std::vector<int64_t>& starts, F&& f) {
  for (int64_t r = n * block / blocks; r < n * (block + 1) / blocks; r++) f(r, starts[r], starts[r + 1]);
}

template <class T> Tensor multiply(const List& p, const List& q, const Dims& sizes, int64_t inner) {
  const std::vector<int64_t> left = row_starts(p, sizes[0]), right = row_starts(q, inner);
  const int64_t *p_columns = p.columns(), *q_columns = q.columns();
  const T *p_values = p.values.data<T>(), *q_values = q.values.data<T>();
  int64_t starts[blocks + 1] = {};
  parallel_for(blocks, 1, [&](int64_t first, int64_t last) {
    Columns columns(sizes[1]);
    for (int64_t b = first; b < last; b++)
      for_rows_of(b, sizes[0], left, [&](int64_t, int64_t begin, int64_t end) {
        int64_t found = 0;
        for (int64_t i = begin; i < end; i++)
          for (int64_t k = p_columns[i], j = right[k]; j < right[k + 1]; j++) found += columns.add(q_columns[j]);
        starts[b + 1] += found;
        columns.take([](int64_t, uint64_t) {});
      });
  });
  for (int64_t b = 0; b < blocks; b++) starts[b + 1] += starts[b];
  const int64_t count = starts[blocks];
  const Tensor indices = empty({2, count}, DType::int64), values = empty({count}, dtype_of<T>());
  parallel_for(blocks, 1, [&](int64_t first, int64_t last) {
    Columns columns(sizes[1]);
    std::vector<T> sums(sizes[1]);
    for (int64_t b = first; b < last; b++) {
      int64_t *rows = indices.data<int64_t>() + starts[b], *to = rows + count;
      T* y = values.data<T>() + starts[b];
      for_rows_of(b, sizes[0], left, [&](int64_t r, int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; i++) {
          const T v = p_values[i];
          for (int64_t k = p_columns[i], j = right[k]; j < right[k + 1]; j++) {
            columns.add(q_columns[j]);
            sums[q_columns[j]] += v * q_values[j];
          }
        }
        columns.take([&](int64_t word, uint64_t bits) {
          for (; bits; bits &= bits - 1) {
            const int64_t column = word * 64 + std::countr_zero(bits);
            *rows++ = r, *to++ = column, *y++ = sums[column];
            sums[column] = T{};
          }
        });
      });
    }
  });
  return make_sparse(values, indices, sizes, true);
}

// All products, then those of one position added up: on GPUs, for rare types, and where there are far more rows or columns than values.
Tensor composed(const Sparse& p, const Sparse& q, const Dims& sizes) {
  const Tensor left = contiguous(select(q.indices, 0, 0)), inner = select(p.indices, 0, 1), first = searchsorted(left, inner), last = searchsorted(left, inner, true);
  const Tensor counts = last - first, before = cumsum(counts, 0) - counts;
  const Tensor from_a = repeat_interleave_index(counts), from_b = index_select(first - before, 0, from_a) + counting(from_a.numel(), from_a.device());
  const Tensor values = mul(index_select(p.values, 0, from_a), index_select(q.values, 0, from_b));
  const Tensor indices[] = {index_select(select(p.indices, 0, 0), 0, from_a), index_select(select(q.indices, 0, 1), 0, from_b)};
  return sorted(make_sparse(values, stack(indices), sizes, false));
}

}  // namespace

Tensor sparse_by_sparse(const Tensor& given_a, const Tensor& given_b, const Dims& sizes) {
  const Tensor a = sorted(given_a), b = sorted(given_b);
  const Sparse &p = sparse_of(*a), &q = sparse_of(*b);
  const int64_t inner = b.size(0), few = 4096 + p.values.numel() + q.values.numel();
  if (a.device().type != DeviceType::cpu || sizes[0] > 4 * few || inner > 4 * few || sizes[1] > few) return composed(p, q, sizes);
  const List left(p), right(q);
  switch (p.values.dtype()) {
    case DType::float32: return multiply<float>(left, right, sizes, inner);
    case DType::float64: return multiply<double>(left, right, sizes, inner);
    case DType::complex64: return multiply<Complex<float>>(left, right, sizes, inner);
    case DType::complex128: return multiply<Complex<double>>(left, right, sizes, inner);
    default: return composed(p, q, sizes);
  }
}

}  // namespace adjoint::sparse
