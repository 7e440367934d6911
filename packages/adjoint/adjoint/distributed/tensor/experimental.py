"""What tensors that are spread over processes have besides."""

from adjoint_functional.distributed.sharding import implicit_replication as implicit_replication
