"""Processes as an array, of which there is none."""

from adjoint_functional.distributed.sharding import DeviceMesh as DeviceMesh
from adjoint_functional.distributed.sharding import init_device_mesh as init_device_mesh
