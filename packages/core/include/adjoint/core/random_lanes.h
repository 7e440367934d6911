// Random numbers where one computation stands for many (vmap): the engine says which of the many draw their own.
#pragma once
#include <adjoint/core/tensor.h>

namespace adjoint {

struct RandomLanes {
  Dims (*sizes)(const Dims& one) = nullptr;   // with the lanes in front of the sizes of one; an error where nothing random may happen
  Tensor (*spread)(Tensor all) = nullptr;     // what was drawn in those sizes, as seen by one
  Tensor (*all)(const Tensor& one) = nullptr; // the numbers of all lanes, for what must hold in each
};
ADJOINT_API extern RandomLanes random_lanes;

}  // namespace adjoint
