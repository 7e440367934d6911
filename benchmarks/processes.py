"""Moving a tensor to another process and back, beside a NumPy array: python benchmarks/processes.py

Rows are ways, columns sizes; each cell has microseconds for a tensor, and how many times those of an array. joblib and Dask are
measured where they are installed; Dask's `gather` goes through the scheduler, `direct` past it.
"""

import copy
import pickle
import sys
import time
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from statistics import median

import numpy as np

import adjoint as ad
import adjoint.multiprocessing as mp

sys.path[:] = [p for p in sys.path if Path(p).resolve() != Path(__file__).parent]  # distributed.py is here, and Dask's package

SIZES = {"40 B": 10, "400 KB": 100_000, "40 MB": 10_000_000}
REPEATS = 11


def same(x):
    """What comes in goes out."""
    return x


def echo(requests, answers):
    """A process that sends back what it gets, until that is None."""
    while (x := requests.get()) is not None:
        answers.put(x)


def microseconds(f: Callable[[object], object], x) -> float:
    """The median of several calls, each with an object that was not sent before: joblib keeps files of arrays that were."""
    f(copy.copy(x))
    times = []
    for _ in range(REPEATS):
        fresh = x.copy() if isinstance(x, np.ndarray) else x.clone()
        start = time.perf_counter()
        f(fresh)
        times.append(time.perf_counter() - start)
    return median(times) * 1e6


def out_of_band(x):
    buffers: list[pickle.PickleBuffer] = []
    return pickle.loads(pickle.dumps(x, protocol=5, buffer_callback=buffers.append), buffers=buffers)


def ways() -> Iterator[tuple[str, Callable[[object], object]]]:
    """Each way's name, and a function that sends an object there and back."""
    yield "pickle, out of band", out_of_band
    yield "pickle, in band", lambda x: pickle.loads(pickle.dumps(x, protocol=5))
    context = mp.get_context("fork")
    requests, answers = context.SimpleQueue(), context.SimpleQueue()
    child = context.Process(target=echo, args=(requests, answers), daemon=True)
    child.start()
    yield "multiprocessing queue", lambda x: (requests.put(x), answers.get())[1]
    requests.put(None)
    child.join()
    if find_spec("joblib"):
        from joblib import Parallel, delayed

        with Parallel(n_jobs=2) as parallel:
            yield "joblib", lambda x: parallel([delayed(same)(x)])
    if find_spec("distributed"):
        from distributed import Client, LocalCluster

        with LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster) as client:
            for direct in (True, False):

                def through(x, direct=direct):
                    part = client.scatter(x, hash=False)
                    return client.gather(client.submit(same, part, pure=False), direct=direct)

                yield f"Dask, {'direct' if direct else 'gather'}", through


if __name__ == "__main__":
    print(f"{'':24}" + "".join(f"{size:>24}" for size in SIZES))
    for name, send in ways():
        cells = []
        for n in SIZES.values():
            array = np.arange(n, dtype=np.float32)
            tensor = ad.from_numpy(array).clone()
            of_array, of_tensor = (microseconds(send, x) for x in (array, tensor))
            cells.append(f"{of_tensor:13,.0f} us {of_tensor / of_array:5.2f} x")
        print(f"{name:24}" + "".join(f"{cell:>24}" for cell in cells), flush=True)
