// Walks several equally shaped strided operands row by row, after merging dimensions that lie one behind the other.
#pragma once
#include <adjoint/core/borrowed.h>
#include <adjoint/core/dims.h>
#include <adjoint/core/kernel.h>

namespace adjoint {

using RowLoop = Borrowed<char* const*, const int64_t*, int64_t>;  // operands, byte strides, elements

template <int N>
struct Rows {
  int ndim = 0;                         // outer dimensions, fastest first; [0] is the row
  int64_t sizes[Dims::max + 1];
  int64_t strides[N][Dims::max + 1];    // bytes
  char* base[N];
};

// Operands must share `sizes` (of the first).
template <int N>
Rows<N> make_rows(const View* const (&v)[N]) {
  Rows<N> r;
  for (int k = 0; k < N; k++) r.base[k] = v[k]->data;
  for (int d = v[0]->ndim; d-- > 0;) {
    const int64_t n = v[0]->sizes[d];
    if (n == 1) continue;
    int64_t s[N];
    bool joins = r.ndim > 0;
    for (int k = 0; k < N; k++) {
      s[k] = v[k]->strides[d] * itemsize(v[k]->dtype);
      joins = joins && s[k] == r.strides[k][r.ndim - 1] * r.sizes[r.ndim - 1];
    }
    if (joins) { r.sizes[r.ndim - 1] *= n; continue; }
    for (int k = 0; k < N; k++) r.strides[k][r.ndim] = s[k];
    r.sizes[r.ndim++] = n;
  }
  if (r.ndim == 0) {  // one element
    r.sizes[0] = 1;
    for (int k = 0; k < N; k++) r.strides[k][0] = itemsize(v[k]->dtype);
    r.ndim = 1;
  }
  return r;
}

// The loop for each row in [first, last).
template <int N>
void walk_rows(const Rows<N>& r, int64_t first, int64_t last, RowLoop loop) {
  int64_t index[Dims::max + 1];
  char* p[N];
  int64_t step[N];
  for (int k = 0; k < N; k++) { p[k] = r.base[k]; step[k] = r.strides[k][0]; }
  int64_t rest = first;
  for (int d = 1; d < r.ndim; d++) {
    index[d] = rest % r.sizes[d];
    rest /= r.sizes[d];
    for (int k = 0; k < N; k++) p[k] += index[d] * r.strides[k][d];
  }
  for (int64_t row = first; row < last; row++) {
    loop(p, step, r.sizes[0]);
    for (int d = 1; d < r.ndim; d++) {
      for (int k = 0; k < N; k++) p[k] += r.strides[k][d];
      if (++index[d] < r.sizes[d]) break;
      for (int k = 0; k < N; k++) p[k] -= r.strides[k][d] * r.sizes[d];
      index[d] = 0;
    }
  }
}
template <int N> int64_t row_count(const Rows<N>& r) {
  int64_t n = 1;
  for (int d = 1; d < r.ndim; d++) n *= r.sizes[d];
  return n;
}
template <int N>
void for_rows(const View* const (&v)[N], RowLoop loop) {
  if (v[0]->numel == 0) return;
  const Rows<N> r = make_rows(v);
  walk_rows(r, 0, row_count(r), loop);
}

}  // namespace adjoint
