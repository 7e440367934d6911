// Orders of elements in memory: what `memory_format` arguments name.
#pragma once
#include <adjoint/core/ops.h>

#include <nanobind/nanobind.h>

namespace adjoint::python {

enum class MemoryFormat { contiguous, preserve, channels_last, channels_last_3d };

void bind_memory_format(nanobind::module_& m);

bool is_in(const Tensor& x, MemoryFormat format);
bool has_strides_of(const Tensor& x, MemoryFormat format);                   // also along dimensions of one element
Tensor copy_in(const Tensor& x, MemoryFormat format);                        // recorded
Tensor laid_out(Tensor fresh, MemoryFormat format, const Tensor& like);      // fresh memory whose elements have no order yet

}  // namespace adjoint::python
