#include "blas_call.h"

#include <adjoint/core/process.h>

#include <chrono>
#include <thread>
#include <vector>

#include <cblas.h>

namespace adjoint::cpu::blas {
namespace {

void pause() { std::this_thread::sleep_for(std::chrono::microseconds(20)); }

}  // namespace

int UnderWay::wait() {
  do {
    under_way_.fetch_sub(1);
    while (closed_.load()) pause();
  } while (under_way_.fetch_add(1), closed_.load());
  return under_way_.load();
}

struct AtFork {
  AtFork() { on_fork(before, in_parent, in_child); }
  static void before() {
    UnderWay::closed_ = true;
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(1);
    while (UnderWay::under_way_.load() && std::chrono::steady_clock::now() < end) pause();
  }
  static void in_parent() { UnderWay::closed_ = false; }
  static void in_child() {
    UnderWay::under_way_ = 0;
    UnderWay::closed_ = false;
  }
};
const AtFork at_fork;

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
