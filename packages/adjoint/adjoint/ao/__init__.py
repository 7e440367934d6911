"""What models that could be quantized are made of. Nothing is quantized: quantization is not adjoint's subject."""

from . import quantization as quantization
