// The tables of kernels, one for each subject, and the way back to core's reference kernels.
#pragma once
#include <adjoint/core/op.h>

namespace adjoint::cpu {

struct Entry {
  const char* name;  // of the record
  Kernel kernel;
  bool one_type = false;  // elementwise, but not by the driver, which brings half types to float
};
using Entries = std::span<const Entry>;

Entries activation_kernels();
Entries attention_kernels();
Entries bag_kernels();
Entries binary_kernels();
Entries compare_kernels();
Entries conv_kernels();
Entries copy_kernels();
Entries factor_kernels();
Entries fft_kernels();
Entries index_kernels();
Entries matmul_kernels();
Entries matrix_function_kernels();
Entries normalise_kernels();
Entries pick_kernels();
Entries polynomial_kernels();
Entries pooling_kernels();
Entries product_kernels();
Entries random_kernels();
Entries reduce_kernels();
Entries scan_kernels();
Entries solve_kernels();
Entries sort_kernels();
Entries sparse_kernels();
Entries softmax_kernels();
Entries spectral_kernels();
Entries unary_kernels();

constexpr Entries (*families[])() = {
    activation_kernels, attention_kernels, bag_kernels, binary_kernels, compare_kernels, conv_kernels, copy_kernels, factor_kernels, fft_kernels, index_kernels, matmul_kernels, matrix_function_kernels, normalise_kernels,
    pick_kernels, polynomial_kernels, pooling_kernels, product_kernels, random_kernels, reduce_kernels, scan_kernels, softmax_kernels, solve_kernels,
    sort_kernels, sparse_kernels, spectral_kernels, unary_kernels,
};

template <class F> void for_entries(F&& f) {
  for (Entries (*family)() : families)
    for (const Entry& e : family()) f(e);
}

// For what has no fast form here: rare types, and errors.
inline void reference(const Launch& l) { find_op(l.op)->reference(l); }

}  // namespace adjoint::cpu
