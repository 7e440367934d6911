// Updates of many tensors in one launch, as optimizers make them: a table in the GPU's memory says where the tensors lie.
#pragma once
#include <adjoint/core/cuda/kernel.h>
#include <adjoint/core/ops.h>

namespace adjoint::cuda {

// Their kernels, by a name of their own. Arguments: the table; a pointer of the tensors' type; how many tensors a list has; the numbers.
// Constants: whether all memory is aligned to 16 bytes; what the caller gives; and how many elements a program takes. The table has
// rows as long as a list: the number of each tensor's first program, of its elements, and for each list where its tensors lie.
struct ListKernel { DeviceKernel kernel; int block; };
ADJOINT_API void register_lists(const std::string& name, std::unique_ptr<ListKernel> kernel);

// Whether one launch can take them: memory without gaps on one GPU, of one real type, and tensors at the same place of each list laid out alike.
ADJOINT_API bool lie_alike(std::span<const TensorVector> lists);

// One launch, which writes all lists but the first. `counts`: for each tensor a number in float32 on the GPU, or none; the table's last row.
ADJOINT_API void update_lists(const std::string& name, std::span<const TensorVector> lists, const TensorVector& counts, std::span<const double> numbers, std::span<const int64_t> constants);

}  // namespace adjoint::cuda
