// Images at given positions and in other sizes.
#pragma once
#include "kernels.h"

namespace adjoint::cpu {

void grid_sample_kernel(const Launch& l);
void grid_sample_image_vjp_kernel(const Launch& l);
void grid_sample_grid_vjp_kernel(const Launch& l);
void resize_kernel(const Launch& l);
void resize_vjp_kernel(const Launch& l);

}  // namespace adjoint::cpu
