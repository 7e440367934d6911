"""utils.data: datasets, samplers, and DataLoader with and without workers."""

from __future__ import annotations

import collections
import copy
import itertools
import os
import random
import signal
import subprocess
import sys
import time
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import adjoint as ad

D = ad.utils.data

more_workers_than_processors = pytest.mark.filterwarnings("ignore:This DataLoader will create")


class Numbers(D.Dataset):
    def __init__(self, n, act=lambda i: None):
        self.n, self.act = n, act

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        self.act(i)
        return ad.tensor(float(i))


class Stream(D.IterableDataset):
    """0, 1, ... cut between the workers; the first worker has fewer."""

    def __init__(self, n):
        self.n = n

    def __iter__(self):
        info = D.get_worker_info()
        parts = (0, 1) if info is None else (info.id, info.num_workers)
        return iter(range(self.n)[parts[0] :: parts[1]])


def flat(loader):
    return list(itertools.chain.from_iterable(batch.tolist() for batch in loader))


@given(n=st.integers(1, 40), size=st.integers(1, 9), drop=st.booleans(), shuffle=st.booleans())
def test_every_sample_once(n, size, drop, shuffle):
    loader = D.DataLoader(Numbers(n), size, shuffle, drop_last=drop)
    seen = flat(loader)
    assert len(list(loader)) == len(loader) == (n // size if drop else -(-n // size))
    assert len(set(seen)) == len(seen) == (n // size * size if drop else n)
    assert shuffle or seen == list(range(len(seen)))


@more_workers_than_processors
@pytest.mark.parametrize("workers", [1, 3])
@pytest.mark.parametrize(
    "options", [{}, {"prefetch_factor": 5}, {"in_order": False}, {"multiprocessing_context": "spawn"}], ids=str
)
def test_workers_give_what_one_process_gives(workers, options):
    if options.get("multiprocessing_context") == "spawn" and workers > 1:
        workers = 2
    data = D.TensorDataset(ad.arange(50.0).view(25, 2), ad.arange(25))
    alone = list(D.DataLoader(data, 4))
    many = list(D.DataLoader(data, 4, num_workers=workers, **options))
    if not options.get("in_order", True):
        many.sort(key=lambda batch: batch[1][0].item())
    assert all(ad.equal(a, b) for x, y in zip(alone, many, strict=True) for a, b in zip(x, y))


@given(n=st.integers(0, 30), size=st.integers(1, 5))
def test_streams(n, size):
    assert flat(D.DataLoader(Stream(n), size)) == list(range(n))
    chain = D.ChainDataset([Stream(n), Stream(2)])
    assert flat(D.DataLoader(chain, size, drop_last=True)) == [*range(n), 0, 1][: (n + 2) // size * size]


@more_workers_than_processors
@pytest.mark.parametrize("persistent", [False, True])
def test_streams_of_workers(persistent):
    loader = D.DataLoader(Stream(11), 2, num_workers=3, persistent_workers=persistent)
    for _ in range(2):
        assert sorted(flat(loader)) == list(range(11))


def test_persistent_workers_are_the_same_processes_and_forget_old_orders():
    loader = D.DataLoader(Pids(), None, num_workers=2, persistent_workers=True)
    first = {pid.item() for pid in loader}
    interrupted = iter(loader)
    next(interrupted)
    assert {pid.item() for pid in loader} == first and len(first) == 2
    indices = D.DataLoader(Numbers(20), None, num_workers=2, persistent_workers=True)
    next(iter(indices))
    assert [x.item() for x in indices] == list(range(20))


class Pids(D.Dataset):
    def __len__(self):
        return 8

    def __getitem__(self, i):
        return ad.tensor(os.getpid())


class Seeds(D.Dataset):
    def __len__(self):
        return 4

    def __getitem__(self, i):
        info = D.get_worker_info()
        return info.seed - info.id, ad.initial_seed() - info.seed, ad.rand(()).item(), random.random(), np.random.rand()


def test_random_numbers_of_workers_follow_the_seed():
    def run(seed, generator=None):
        ad.manual_seed(seed)
        return [tuple(x) for x in D.DataLoader(Seeds(), None, num_workers=2, generator=generator)]

    one, again, other = run(1), run(1), run(2)
    assert one == again != other
    assert len({x[0] for x in one}) == 1 and all(x[1] == 0 for x in one)
    assert all(len({x[k] for x in one}) == 4 for k in (2, 3, 4))
    generator = ad.Generator()
    generator.manual_seed(5)
    own = run(1, generator)
    assert own != one
    generator.manual_seed(5)
    assert run(2, generator) == own


class Strange(Exception):
    def __init__(self, a, b):
        super().__init__(a, b)


def fail(i):
    if i == 3:
        raise [KeyError, Strange, ValueError][os.environ["FAILS"] == "strange"]("bad\nkey", 1)


@pytest.mark.parametrize(("kind", "seen"), [("key", KeyError), ("strange", RuntimeError)])
def test_exceptions_of_workers_are_raised_with_their_traceback(kind, seen, monkeypatch):
    monkeypatch.setenv("FAILS", kind)
    batches = iter(D.DataLoader(Numbers(6, fail), 1, num_workers=2))
    with pytest.raises(seen, match=r"(?s)Caught .* in DataLoader worker process 1\.\nOriginal Traceback.*in fail"):
        for expected in range(6):
            assert next(batches).item() == expected
    assert [x.item() for x in batches] == [4, 5]


def test_what_cannot_be_pickled_is_an_exception_too():
    with pytest.raises(Exception, match="Caught"):
        list(D.DataLoader([1], None, num_workers=1, collate_fn=lambda x: lambda: x))


def test_worker_init_fn():
    def init(i):
        D.get_worker_info().dataset.n = 100 + i
        assert i < 1, "only the first"

    loader = D.DataLoader(
        Numbers(4), None, num_workers=1, worker_init_fn=init, collate_fn=lambda x: D.get_worker_info().dataset.n
    )
    assert list(loader) == [100] * 4
    with pytest.raises(AssertionError, match="only the first"):
        list(D.DataLoader(Numbers(4), num_workers=2, worker_init_fn=init))


def test_a_worker_that_dies_or_sleeps():
    with pytest.raises(RuntimeError, match=r"DataLoader worker \(pid \d+\) is killed by signal: Killed"):
        list(D.DataLoader(Numbers(8, lambda i: i == 5 and os.kill(os.getpid(), signal.SIGKILL)), num_workers=2))
    with pytest.raises(RuntimeError, match=r"DataLoader worker \(pid\(s\) \d+\) exited unexpectedly, with exit code 7"):
        list(D.DataLoader(Numbers(8, lambda i: i == 5 and os._exit(7)), num_workers=2))
    with pytest.raises(RuntimeError, match="timed out after 0.2 seconds"):
        list(D.DataLoader(Numbers(8, lambda i: i == 2 and time.sleep(3)), num_workers=1, timeout=0.2))


def test_large_orders_and_large_batches_do_not_wait_for_each_other():
    order = list(range(20_000)) * 8
    data = D.TensorDataset(ad.arange(20_000))
    batches = list(
        D.DataLoader(data, batch_sampler=[order] * 4, num_workers=1, prefetch_factor=4, collate_fn=lambda b: np.ones(10**6))
    )
    assert len(batches) == 4


def gone(pid):
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] == "Z"
    except FileNotFoundError:
        return True


def ended(pids, seconds=20):
    end = time.monotonic() + seconds
    while time.monotonic() < end and not all(map(gone, pids)):
        time.sleep(0.05)
    return all(map(gone, pids))


PROGRAM = """
import os, sys, time
import adjoint as ad
class Pids(ad.utils.data.Dataset):
    def __len__(self): return 100
    def __getitem__(self, i):
        if i > 5: time.sleep(100)
        return os.getpid()
pids = set()
for i, pid in enumerate(ad.utils.data.DataLoader(Pids(), None, num_workers=3)):
    pids.add(pid)
    if i == 5: break
print(*pids, flush=True)
keep = iter(ad.utils.data.DataLoader(Pids(), None, num_workers=1))
print(next(keep), flush=True)
END
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
@pytest.mark.parametrize("end", ["time.sleep(100)", "raise SystemExit(3)", "os.abort()"])
def test_no_worker_is_left_behind(end):
    program = subprocess.Popen(
        [sys.executable, "-c", PROGRAM.replace("END", end)], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    lines = [program.stdout.readline() for _ in range(2)]
    pids = [int(word) for line in lines for word in line.split()]
    assert len(pids) == 4
    if "sleep" in end:
        program.kill()
    program.wait(timeout=30)
    assert ended(pids)
    program.communicate()


def test_an_iterator_that_is_dropped_ends_its_workers():
    it = iter(D.DataLoader(Pids(), None, num_workers=2))
    pids = {next(it).item() for _ in range(4)}
    del it
    assert ended(pids)


def test_collate_keeps_containers():
    Point = collections.namedtuple("Point", "x y")
    batch = D.default_collate([{"p": Point(1, 2.5), "s": "a", "l": [ad.ones(2)], "n": np.float32(1)}] * 2)
    assert type(batch["p"]) is Point and batch["p"].y.dtype is ad.float64 and batch["s"] == ["a", "a"]
    assert type(batch["l"]) is list and batch["l"][0].shape == (2, 2) and batch["n"].dtype is ad.float32
    ordered = D.default_collate([collections.OrderedDict(a=np.arange(3))] * 2)
    assert type(ordered) is collections.OrderedDict and ordered["a"].shape == (2, 3)
    converted = D.default_convert((np.ones(2), {"a": np.int32(3)}, "text", np.array(["x"])))
    assert isinstance(converted[0], ad.Tensor) and converted[1]["a"].dtype is ad.int32 and converted[2] == "text"
    assert D.default_collate([np.float64(2.0)]).tolist() == [2.0] and D.default_collate([b"a"]) == [b"a"]
    for bad in ([None], [1j], [{1}], [np.array(["a"])]):
        with pytest.raises(TypeError, match="default_collate: batch must contain"):
            D.default_collate(bad)
    with pytest.raises(RuntimeError, match="equal size"):
        D.default_collate([[1], [1, 2]])


def test_datasets_joined_and_cut():
    a, b = Numbers(3), Numbers(2)
    joined = a + b
    assert [joined[i].item() for i in (0, 3, 4, -1, -5)] == [0, 0, 1, 1, 0]
    with pytest.raises(ValueError, match="should not exceed"):
        joined[-6]
    with pytest.warns(DeprecationWarning):
        assert joined.cummulative_sizes == [3, 5]
    stack = D.StackDataset(a, D.Subset(joined, [4, 3, 2]))
    assert [x.item() for x in stack[0]] == [0, 1] and stack.__getitems__([1])[0][1].item() == 0
    for wrong in (lambda: D.StackDataset(), lambda: D.StackDataset(a, b), lambda: D.StackDataset(a, x=a)):
        with pytest.raises(ValueError):
            wrong()
    with pytest.raises(AssertionError, match="Size mismatch"):
        D.TensorDataset(ad.ones(2), ad.ones(3))


@given(st.integers(1, 50), st.lists(st.integers(1, 5), min_size=1, max_size=4), st.integers(0, 99))
def test_random_split(n, weights, seed):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        parts = D.random_split(range(n), [w / sum(weights) for w in weights], ad.Generator().manual_seed(seed))
        again = D.random_split(range(n), [len(p) for p in parts], ad.Generator().manual_seed(seed))
    assert sorted(i for p in parts for i in p.indices) == list(range(n))
    assert [p.indices for p in parts] == [p.indices for p in again]
    with pytest.raises(ValueError, match="does not equal"):
        D.random_split(range(n), [n, 1])


def test_samplers():
    ad.manual_seed(0)
    drawn = list(D.RandomSampler(range(5), num_samples=12))
    assert sorted(drawn[:5]) == sorted(drawn[5:10]) == list(range(5)) and len(drawn) == 12
    weighted = collections.Counter(D.WeightedRandomSampler([1.0, 0.0, 3.0], 4000))
    assert weighted[1] == 0 and abs(weighted[2] / 4000 - 0.75) < 0.05
    assert sorted(D.WeightedRandomSampler([1.0, 1.0, 3.0], 3, replacement=False)) == [0, 1, 2]
    assert sorted(D.SubsetRandomSampler([4, 7])) == [4, 7]


def test_the_length_of_a_stream_that_is_wrong_is_told():
    class Liar(Stream):
        def __len__(self):
            return 2

    loader = D.DataLoader(Liar(5), 1)
    assert len(loader) == 2
    with pytest.warns(UserWarning, match="was reported to be 2"):
        assert len(list(loader)) == 5


WRONG = [
    ({"num_workers": -1}, "non-negative"),
    ({"timeout": -1}, "timeout option"),
    ({"prefetch_factor": 2}, "prefetch_factor option could only"),
    ({"persistent_workers": True}, "persistent_workers option needs"),
    ({"shuffle": True, "sampler": [1]}, "mutually exclusive with shuffle"),
    ({"batch_sampler": [[1]], "shuffle": True}, "mutually exclusive"),
    ({"batch_size": None, "drop_last": True}, "disables auto-batching"),
    ({"batch_size": 0}, "positive integer"),
    ({"multiprocessing_context": "fork"}, "can only be used with multi-process"),
    ({"multiprocessing_context": "no", "num_workers": 1}, "valid start method"),
]


@pytest.mark.parametrize(("options", "text"), WRONG, ids=str)
def test_options_that_do_not_fit(options, text):
    with pytest.raises(ValueError, match=text):
        D.DataLoader([1], **options)
    if "shuffle" in options:
        with pytest.raises(ValueError, match="DataLoader with IterableDataset"):
            D.DataLoader(Stream(1), **options)
    with pytest.raises(ValueError, match="should not be set after"):
        D.DataLoader([1]).batch_size = 3


@pytest.mark.parametrize("large", [False, True])
def test_large_batches_come_as_memory_that_both_see(large):
    data = D.TensorDataset(ad.arange(4 * (100_000 if large else 10)).view(4, -1))
    batches = [x for (x,) in D.DataLoader(data, 2, num_workers=2)]
    assert all(x.is_shared() == large for x in batches)
    assert ad.equal(ad.cat(batches), data.tensors[0])  # the workers have ended
    batches[0].fill_(0)
    assert data.tensors[0].any()


def test_a_shuffled_pass_leaves_the_generator_where_pytorchs_does() -> None:
    g, h = ad.Generator().manual_seed(3), ad.Generator().manual_seed(3)
    order = list(ad.utils.data.RandomSampler(range(5), generator=g))
    assert order == ad.randperm(5, generator=h).tolist()
    ad.randperm(5, generator=h)  # of which nothing is left to take
    assert ad.rand(3, generator=g).equal(ad.rand(3, generator=h))


def test_a_copy_of_the_map_knows_arrays_and_asks_its_own_function_for_tensors() -> None:
    """As libraries take it at import, before anything was collated."""
    from adjoint.utils.data._utils.collate import collate, default_collate_fn_map

    own = copy.deepcopy(default_collate_fn_map)
    own[ad.Tensor] = lambda batch, *, collate_fn_map: [t.tolist() for t in batch]
    batch = [{"x": np.ones(n), "n": np.float64(n)} for n in (1, 2)]
    result = collate(batch, collate_fn_map=own)
    assert result["x"] == [[1.0], [1.0, 1.0]] and ad.equal(result["n"], ad.tensor([1.0, 2.0], dtype=ad.float64))
    own[np.ndarray] = lambda batch, *, collate_fn_map: "mine"
    assert collate(batch, collate_fn_map=own)["x"] == "mine"
