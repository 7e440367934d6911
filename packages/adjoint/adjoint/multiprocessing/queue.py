"""Queues whose messages carry the memory of their tensors."""

from adjoint_functional.multiprocessing.queues import JoinableQueue as JoinableQueue
from adjoint_functional.multiprocessing.queues import Queue as Queue
from adjoint_functional.multiprocessing.queues import SimpleQueue as SimpleQueue
