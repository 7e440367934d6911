// The table of all records, sorted by name, and the kernels that other packages put into it.
#include <adjoint/core/attention.h>
#include <adjoint/core/op.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "ops/families.h"

namespace adjoint {

namespace {

bool by_name(const Op* a, const Op* b) { return std::strcmp(a->name, b->name) < 0; }

const std::vector<const Op*>& table() {
  static const std::vector<const Op*> ops = [] {
    std::vector<const Op*> all;
    for (Ops (*family)() : {families::activation, families::attention, families::binary, families::cast, families::compare, families::complex, families::conv, families::cross_entropy, families::determinant, families::embedding, families::embedding_bag, families::factor, families::fft, families::index, families::index_along, families::join, families::ldl, families::linalg,
                            families::loss, families::matrix_function, families::normalise, families::pick, families::pool, families::random, families::reduce, families::reflections, families::scan, families::search, families::solve, families::sort, families::sparse, families::sparse_products, families::special, families::spectral, families::standardise_vjp, families::statistics, families::unary, families::view})
      for (const Op* op : family()) all.push_back(op);
    std::sort(all.begin(), all.end(), by_name);
    return all;
  }();
  return ops;
}

}  // namespace

std::span<const Op* const> all_ops() { return table(); }

const Op* find_op(const char* name) noexcept {
  const auto& ops = table();
  auto it = std::lower_bound(ops.begin(), ops.end(), name, [](const Op* op, const char* n) { return std::strcmp(op->name, n) < 0; });
  return it != ops.end() && std::strcmp((*it)->name, name) == 0 ? *it : nullptr;
}

void register_kernel(const char* name, DeviceType device, Kernel kernel, bool reads_halves) {
  const Op* op = find_op(name);
  expect(op, ErrorKind::value, "register_kernel: no record named '", name, "'");
  op->kernel[static_cast<int>(device)] = kernel;
  if (device == DeviceType::cpu) op->reads_halves = reads_halves;
}

}  // namespace adjoint
