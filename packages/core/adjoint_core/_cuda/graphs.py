"""CUDA graphs: the context in which one is captured."""

from __future__ import annotations

from .. import _core

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType

_cuda = _core._cuda
CUDAGraph = _cuda.CUDAGraph


def is_current_stream_capturing() -> bool:
    """Whether work on the current stream is recorded into a CUDA graph, and does not run now; False without a GPU."""
    return _cuda.is_current_stream_capturing()


def graph_pool_handle() -> tuple[int, int]:
    """A new pool of memory, for several graphs that never run at the same time to share."""
    return _cuda.graph_pool_handle()


class graph:
    """A context that captures the work of its body into a `CUDAGraph`: it does not run until the graph is replayed.

    The body sees the tensors that it makes, but not their values: what waits for the GPU, such as `item()`, is an error,
    after which the graph is empty and can be captured again. Before the capture run the body once or more on a side
    stream, so that kernels are compiled and `.grad` is there or not as it will be.

    Arguments:
        cuda_graph: the graph, without a capture.
        pool: from `graph_pool_handle` or another graph's `pool()`; by default a pool of its own.
        stream: the stream to capture; by default one that all such captures of the device use.
        capture_error_mode: 'global', 'thread_local' or 'relaxed': in which threads unsafe calls are errors meanwhile.
        enable_annotations: must be False: kernels carry no annotations of NVIDIA's tools.
        check_input_liveness: whether replays are errors once memory is released that the graph uses and others allocated.

    Example::

        g = ad.cuda.CUDAGraph()
        with ad.cuda.graph(g):
            y.copy_(x.exp() * 2)
        x.copy_(other)
        g.replay()

    Raises:
        RuntimeError: on entry, a capture is under way or the graph has one; on exit, the capture failed.
        NotImplementedError: `enable_annotations`.
    """

    def __init__(
        self,
        cuda_graph: CUDAGraph,
        pool: tuple[int, int] | None = None,
        stream: _cuda.Stream | None = None,
        capture_error_mode: str = "global",
        enable_annotations: bool = False,
        check_input_liveness: bool = False,
    ) -> None:
        if enable_annotations:
            raise NotImplementedError("cuda.graph: enable_annotations=True: kernels carry no annotations")
        self._graph, self._pool, self._mode = cuda_graph, pool, capture_error_mode
        self._check = check_input_liveness
        self._stream = stream

    def __enter__(self) -> None:
        device = self._stream.device.index if self._stream else _cuda.current_device()
        stream = self._stream or _cuda.capture_stream(device)
        _cuda.synchronize(device)
        _cuda.empty_cache()
        self._before = _cuda.current_device(), _cuda.set_stream(stream)
        _cuda.set_device(device)
        try:
            self._graph.capture_begin(self._pool, self._mode, self._check)
        except BaseException:
            self._leave()
            raise

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None) -> None:
        captured = False
        try:
            if kind is None:
                self._graph.capture_end()
                captured = True
        finally:
            if not captured:
                self._graph.reset()
            self._leave()

    def _leave(self) -> None:
        device, stream = self._before
        _cuda.set_stream(stream)
        _cuda.set_device(device)
