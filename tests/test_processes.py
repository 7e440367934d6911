"""Tensors between processes: pickles out of band, shared memory, queues, and what is left when somebody is killed."""

import os
import pickle
import signal
import subprocess
import sys
import textwrap
import threading
import time
from multiprocessing.reduction import ForkingPickler

import numpy as np
import process_work as work
import pytest
from hypothesis import given
from hypothesis import strategies as st

import adjoint as ad
import adjoint.multiprocessing as mp
from adjoint_core import _core

METHODS = ["fork", "spawn", "forkserver"]
DTYPES = [ad.float32, ad.float64, ad.bfloat16, ad.float16, ad.complex64, ad.int64, ad.uint8, ad.bool]
pytestmark = pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")


def out_of_band(x):
    """What comes back, and how many bytes were not copied."""
    buffers = []
    data = pickle.dumps(x, protocol=5, buffer_callback=buffers.append)
    return pickle.loads(data, buffers=buffers), sum(b.raw().nbytes for b in buffers)


@given(
    st.lists(st.integers(0, 5), max_size=4), st.permutations(range(4)), st.sampled_from(DTYPES), st.booleans(), st.booleans()
)
def test_pickles_of_all_protocols_hold_values(shape, order, dtype, gaps, grad):
    x = ad.arange(int(np.prod(shape)), dtype=ad.float32).to(dtype).reshape(shape)
    x = x.permute([d for d in order if d < x.ndim])
    if gaps and x.ndim:
        x = x[::2]
    x.requires_grad_(grad and dtype in (ad.float32, ad.float64, ad.complex64))
    for y in (*(pickle.loads(pickle.dumps(x, p)) for p in range(6)), out_of_band(x)[0]):  # the last looks at x's memory
        assert y.dtype == x.dtype and y.shape == x.shape and ad.equal(y, x) and y.requires_grad == x.requires_grad
        y.detach().add_(y.detach() if dtype != ad.bool else True)  # can be written to


def test_out_of_band_nothing_is_copied():
    x = ad.rand(100, 50)
    for given_, stride in ((x, (50, 1)), (x.t(), (1, 50))):
        y, nbytes = out_of_band(given_)
        assert nbytes == 20_000 and y.data_ptr() == x.data_ptr() and y.stride() == stride
    model = ad.nn.Linear(50, 50)
    twin, nbytes = out_of_band(model)
    assert nbytes == 4 * (50 * 50 + 50) and twin.weight.data_ptr() == model.weight.data_ptr() and twin.weight.requires_grad


def test_buffers_that_cannot_be_written_to_are_copied():
    buffers = []
    x = ad.arange(1000.0)
    data = pickle.dumps(x, protocol=5, buffer_callback=buffers.append)
    sent = bytes(buffers[0])
    for frame in (sent, memoryview(b"!" + sent)[1:]):  # the second lies askew, too
        y = pickle.loads(data, buffers=[frame])
        y.add_(1)
        assert ad.equal(pickle.loads(data, buffers=[sent]), x)


def test_memory_moves_with_the_tensor_that_a_view_is_of():
    base = ad.arange(6.0)
    view = base.view(2, 3)
    assert view.share_memory_() is view and base.is_shared() and view.storage().is_shared()
    base[0] = 7
    assert view[0, 0] == 7 and view._version == base._version == 1
    a, b = ad.ones(3), None
    b = a[:2]
    c = a[1:]
    with pytest.raises(RuntimeError, match="share_memory_.*look at it too"):
        b.share_memory_()
    assert not c.is_shared() and a.dtype == ad.float32
    array = np.ones(3)
    assert ad.from_numpy(array).share_memory_().add_(1).tolist() == [2, 2, 2] and array.tolist() == [1, 1, 1]


def test_modules_and_sparse_tensors_are_shared():
    model = ad.nn.Sequential(ad.nn.Linear(2, 3), ad.nn.BatchNorm1d(3))
    model(ad.rand(4, 2)).sum().backward()
    expected = [p.detach().clone() for p in model.parameters()]
    assert model.share_memory() is model
    assert all(t.is_shared() for t in model.state_dict().values()) and all(p.grad.is_shared() for p in model.parameters())
    assert all(ad.equal(a, b) for a, b in zip(expected, model.parameters()))
    x = ad.eye(3).to_sparse().share_memory_()
    assert x.is_shared() and ad.equal(pickle.loads(ForkingPickler.dumps(x)).to_dense(), ad.eye(3))


@pytest.mark.parametrize("method", METHODS)
def test_tensors_travel_by_their_memory(method):
    context = mp.get_context(method)
    requests, answers = context.Queue(), context.Queue()
    child = context.Process(target=work.write_and_answer, args=(requests, answers), daemon=True)
    child.start()
    x, twin = ad.zeros(5, 5), ad.zeros(4)
    requests.put(x)
    requests.put([ad.nn.Linear(2, 3).weight, ad.rand(3, 4).t(), ad.ones(2, requires_grad=True), (twin, twin)])
    assert answers.get(timeout=60) == ("Parameter", True, (1, 4), True, True)
    assert answers.get(timeout=60).tolist() == [8, 8, 8]
    child.join()
    assert x.is_shared() and set(x.flatten().tolist()) == {4.0} and twin.tolist() == [2, 2, 2, 2]
    with pytest.raises(RuntimeError, match="Cowardly refusing to serialize non-leaf tensor.*MulBackward0.*detach"):
        requests.put(ad.ones(2, requires_grad=True) * 2)
    for queue in (requests, answers):
        queue.close()
        queue.join_thread()


@pytest.mark.parametrize("method", METHODS[:2])
def test_pools(method):
    context = mp.get_context(method)
    with context.Pool(2) as pool:
        assert [y.tolist() for y in pool.map(work.square, [ad.full((2,), float(i)) for i in range(3)])] == [
            [0, 0],
            [1, 1],
            [4, 4],
        ]
        with pytest.raises(Exception, match="Cowardly refusing"):
            pool.map(work.with_history, [1.0])


@pytest.mark.parametrize("killed", [False, True])
def test_a_message_outlives_its_sender(killed):
    context = mp.get_context("fork")
    queue = context.Queue()
    child = context.Process(target=work.put_and_end, args=(queue, killed))
    child.start()
    child.join()
    assert child.exitcode == (-signal.SIGKILL if killed else 0)
    assert ad.equal(queue.get(timeout=60), ad.arange(1000.0))


def users_of(inode):
    """The processes that have the file of this number open or mapped."""
    found = set()
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            descriptors = [os.stat(f"/proc/{pid}/fd/{d}").st_ino for d in os.listdir(f"/proc/{pid}/fd")]
            with open(f"/proc/{pid}/maps") as maps:
                mapped = [int(line.split()[4]) for line in maps if "memfd:adjoint" in line]
        except OSError:
            continue
        if inode in descriptors + mapped:
            found.add(int(pid))
    return found


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads Linux's /proc")
def test_memory_is_freed_when_its_last_user_is_killed():
    context = mp.get_context("fork")
    queue, (ready, tell) = context.SimpleQueue(), context.Pipe(duplex=False)
    children = [context.Process(target=work.hold, args=(queue, tell)) for _ in range(2)]
    for child in children:
        child.start()
    x = ad.full((1 << 20,), 3.0).share_memory_()
    inode = os.fstat(x._shared_file()).st_ino
    for _ in children:
        queue.put(x)
        assert ready.recv() == 3
    del x
    for child in children:
        assert users_of(inode) == {c.pid for c in children if c.is_alive()}
        child.kill()
        child.join()
    assert not users_of(inode)
    assert not [name for name in os.listdir("/dev/shm") if "adjoint" in name]


def test_threads_of_kernels_are_made_anew_in_a_forked_child():
    x = ad.rand(400, 400)
    expected = float((x @ x).sum())
    stop = threading.Event()
    busy = threading.Thread(target=lambda: [x @ x for _ in iter(stop.is_set, True)])
    busy.start()
    try:
        with mp.get_context("fork").Pool(2) as pool:
            for total, threads in pool.map(work.sum_of_large, [x] * 6, chunksize=1):
                assert total == pytest.approx(expected) and threads == ad.get_num_threads()
    finally:
        stop.set()
        busy.join()


def test_what_a_thread_of_a_queue_pickles_is_copied():
    x = ad.ones(3)
    data = []
    thread = threading.Thread(target=lambda: data.append(ForkingPickler.dumps(x)))
    thread.start()
    thread.join()
    assert not x.is_shared() and pickle.loads(data[0]).tolist() == [1, 1, 1]
    view, other = x[:2], x[1:]
    assert pickle.loads(ForkingPickler.dumps(view)).tolist() == [1, 1] and not view.is_shared() and not other.is_shared()
    assert pickle.loads(ForkingPickler.dumps(x[:0])).shape == (0,)


def test_more_tensors_than_descriptors():
    code = """
    import resource
    import adjoint as ad
    import adjoint.multiprocessing as mp
    resource.setrlimit(resource.RLIMIT_NOFILE, (64, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
    queue = mp.get_context("fork").Queue()
    queue.put([ad.full((2,), float(i)).share_memory_() for i in range(600)])
    assert [int(x[0]) for x in queue.get()] == list(range(600))
    """
    subprocess.run([sys.executable, "-c", textwrap.dedent(code)], check=True, timeout=120)


def test_spawn_raises_what_a_process_raised():
    with pytest.raises(mp.ProcessRaisedException, match="(?s)-- Process 1 terminated.*ValueError: this one") as caught:
        mp.spawn(work.raise_in_second, ("this one",), nprocs=2)
    assert caught.value.error_index == 1
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)
    with pytest.raises(mp.ProcessExitedException, match="process 0 terminated with signal SIGKILL") as caught:
        mp.start_processes(work.killed_in_first, nprocs=2, start_method="fork")
    assert caught.value.signal_name == "SIGKILL" and caught.value.exit_code == -9
    total = ad.zeros(3).share_memory_()
    mp.start_processes(work.add_own_number, (total,), nprocs=3, start_method="fork")
    assert total.tolist() == [0, 1, 2]


@pytest.mark.parametrize("end", ["raise", "kill", "drop", "unpicklable"])
def test_spawn_removes_its_files(tmp_path, end):
    """Also where an uncaught error holds the processes until the interpreter ends, and where the parent is killed or does not wait."""
    program = tmp_path / "program.py"
    program.write_text(
        textwrap.dedent("""
            import os, signal, sys, time
            import adjoint.multiprocessing as mp

            def work(i, end, more=None):
                if end == "drop":
                    time.sleep(0.2)
                if end == "kill":
                    os.kill(os.getppid(), signal.SIGKILL)
                    time.sleep(60)
                raise ValueError("this one")

            if __name__ == "__main__":
                end = sys.argv[1]
                if end == "drop":
                    mp.spawn(work, (end,), join=False).pids()
                else:
                    mp.spawn(work, (end, (lambda: 0) if end == "unpicklable" else None))
        """)
    )
    left = tmp_path / "left"
    left.mkdir()
    done = subprocess.run(
        [sys.executable, program, end], env={**os.environ, "TMPDIR": str(left)}, capture_output=True, text=True
    )
    assert done.returncode == {"raise": 1, "kill": -signal.SIGKILL, "drop": 0, "unpicklable": 1}[end]
    assert ("this one" in done.stderr) == (end == "raise") and ("pickle" in done.stderr) == (end == "unpicklable")
    deadline = time.monotonic() + 20
    while list(left.glob("adjoint-error-*")) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not list(left.glob("adjoint-error-*"))


def test_processes_that_were_started_end_where_a_later_one_cannot_be(monkeypatch):
    context = mp.get_context("fork")
    started = []

    class Process(context.Process):
        def start(self):
            if len(started) == 1:
                raise OSError("no more processes")
            super().start()
            started.append(self)

    monkeypatch.setattr(type(context), "Process", Process)
    with pytest.raises(OSError, match="no more processes"):
        mp.start_processes(work.wait, (), 2, start_method="fork")
    assert len(started) == 1 and started[0].exitcode in (-signal.SIGTERM, -signal.SIGKILL)


def test_processes_end_with_their_parent():
    queue = mp.get_context("fork").SimpleQueue()
    with pytest.raises(mp.ProcessExitedException):
        mp.start_processes(work.orphan_maker, (queue,), start_method="fork")
    child, end = queue.get(), time.monotonic() + 30
    while os.path.exists(f"/proc/{child}") and time.monotonic() < end:
        time.sleep(0.01)
    assert not os.path.exists(f"/proc/{child}")


def test_strategies():
    mp.set_sharing_strategy("file_system")
    assert mp.get_sharing_strategy() in mp.get_all_sharing_strategies()
    with pytest.raises(ValueError, match="set_sharing_strategy"):
        mp.set_sharing_strategy("carrier pigeon")
    with pytest.raises(ValueError, match="cannot find context"):
        mp.get_context("teleport")


def test_a_file_that_is_too_short_is_refused():
    descriptor = os.memfd_create("short") if hasattr(os, "memfd_create") else os.open(__file__, os.O_RDWR)
    with pytest.raises(RuntimeError, match="share_memory: expected a file of at least"):
        _core._map_shared(descriptor, 1 << 30)


def test_modules_have_the_names_of_pytorch():
    import adjoint.multiprocessing.spawn
    from adjoint.multiprocessing.queue import Queue, SimpleQueue
    from adjoint.multiprocessing.reductions import reduce_tensor
    from adjoint.multiprocessing.spawn import ProcessContext, ProcessRaisedException

    assert (
        adjoint.multiprocessing.spawn is mp.spawn and callable(mp.spawn) and ProcessRaisedException is mp.ProcessRaisedException
    )
    assert isinstance(mp.Queue(), Queue) and isinstance(mp.SimpleQueue(), SimpleQueue) and ProcessContext is mp.SpawnContext
    assert reduce_tensor(ad.ones(1).share_memory_())[0].__name__ == "rebuild_tensor"
