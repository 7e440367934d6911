"""Readers and writers of sharded models, of which there are none."""

from adjoint_functional.distributed.sharding import HuggingFaceStorageReader as HuggingFaceStorageReader
from adjoint_functional.distributed.sharding import HuggingFaceStorageWriter as HuggingFaceStorageWriter
