"""Checkpoints of one or many ranks: written in one step, checked when they are read, and loaded into any number of ranks."""

from .filesystem import FileSystemReader as FileSystemReader
from .filesystem import FileSystemWriter as FileSystemWriter
from .loading import DefaultLoadPlanner as DefaultLoadPlanner
from .loading import load as load
from .metadata import BytesStorageMetadata as BytesStorageMetadata
from .metadata import CheckpointException as CheckpointException
from .metadata import ChunkStorageMetadata as ChunkStorageMetadata
from .metadata import Metadata as Metadata
from .metadata import TensorStorageMetadata as TensorStorageMetadata
from .saving import DefaultSavePlanner as DefaultSavePlanner
from .saving import async_save as async_save
from .saving import save as save
from .shard import Shard as Shard
from .shard import Stateful as Stateful
