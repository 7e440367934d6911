"""What optimizers of libraries group tensors with."""

from adjoint_functional.foreach import group_by_device_and_dtype as _group_tensors_by_device_and_dtype  # noqa: F401
