#include "blas_buffer.h"

#include <vector>

#include <cblas.h>

namespace adjoint::cpu::blas {

// OpenBLAS cuts at no more than 768 by 384 elements of float32, and other types take as many bytes or fewer. Beyond that many rows it
// keeps all columns in the buffer, of which 48 reach further than a prefetch of the next 12.
void InBuffer::write(int used) {
  constexpr int columns = 48, rows = 1024, depth = 384;
  const std::vector<float> a(columns * depth), b(depth * rows);
  std::vector<float> c(columns * rows);
  scipy_cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, columns, rows, depth, 1, a.data(), depth, b.data(), rows, 0, c.data(), rows);
  int written = written_.load(std::memory_order_relaxed);
  while (written < used && !written_.compare_exchange_weak(written, used, std::memory_order_relaxed)) continue;
}

}  // namespace adjoint::cpu::blas
