"""The order in memory of convolutions' weights."""

from adjoint_functional.nn.utils.making import convert_conv2d_weight_memory_format as convert_conv2d_weight_memory_format
from adjoint_functional.nn.utils.making import convert_conv3d_weight_memory_format as convert_conv3d_weight_memory_format
