"""Checkpoints: what comes back, into how many ranks, and what a killed process leaves."""

import math
import os
import signal
import sys
import threading
import time

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import adjoint as ad
from adjoint_functional.distributed import checkpoint
from adjoint_functional.distributed.checkpoint import CheckpointException, FileSystemReader, FileSystemWriter, Shard, ranks
from adjoint_functional.distributed.checkpoint import state_dict as helpers

pytestmark = pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")


class Together(threading.local):
    """Ranks in threads: what `Ranks` asks a process group."""

    rank, count, meeting = 0, 1, None


together = Together()


@pytest.fixture
def in_ranks(monkeypatch):
    """Runs f(rank) in so many threads that save and load as ranks, and gives what each returned or raised."""

    def gather(self, obj):
        if together.meeting is None:
            return [obj]
        barrier, table = together.meeting
        table[together.rank] = obj
        barrier.wait(60)
        found = [table[r] for r in range(together.count)]
        barrier.wait(60)
        return found

    def init(self, group, alone):
        self.group, self.rank, self.count = group, together.rank, together.count

    monkeypatch.setattr(ranks.Ranks, "gather", gather)
    monkeypatch.setattr(ranks.Ranks, "__init__", init)

    def run(count, f):
        results = [None] * count
        meeting = threading.Barrier(count), {}

        def work(rank):
            together.rank, together.count, together.meeting = rank, count, meeting
            try:
                results[rank] = f(rank)
            except Exception as error:
                results[rank] = error

        threads = [threading.Thread(target=work, args=(r,)) for r in range(count)]
        for t in threads:
            t.start()
        for t in threads:
            t.join(60)
            assert not t.is_alive()
        return results

    return run


def trained(seed=0, steps=2):
    ad.manual_seed(seed)
    model = ad.nn.Sequential(ad.nn.Linear(3, 4), ad.nn.Tanh(), ad.nn.Linear(4, 1))
    optimizer = ad.optim.Adam(model.parameters(), lr=0.1)
    for _ in range(steps):
        optimizer.zero_grad()
        model(ad.rand(5, 3)).square().sum().backward()
        optimizer.step()
    return model, optimizer


def equal(a, b):
    if isinstance(a, ad.Tensor):
        return a.dtype == b.dtype and ad.equal(a, b)
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(equal(a[k], b[k]) for k in a)
    return all(map(equal, a, b)) if isinstance(a, list) else a == b


@pytest.mark.parametrize("steps", [0, 2])
def test_modules_and_optimizers_come_back(tmp_path, steps):
    model, optimizer = trained()
    written = checkpoint.save({"model": model, "optimizer": optimizer, "epoch": 7}, checkpoint_id=tmp_path)
    assert written.state_dict_metadata["model.0.weight"].size == (4, 3)
    other, its = trained(seed=1, steps=steps)  # with 0 steps, its optimizer has no state yet
    state = {"model": other, "optimizer": its, "epoch": 0}
    checkpoint.load(state, checkpoint_id=tmp_path)
    assert state["epoch"] == 7 and state["model"] is other
    assert equal(model.state_dict(), other.state_dict()) and equal(optimizer.state_dict(), its.state_dict())


def test_helpers_name_states_by_parameters(tmp_path):
    model, optimizer = trained()
    model_state, optimizer_state = helpers.get_state_dict(model, optimizer)
    assert optimizer_state["param_groups"][0]["params"][0] == "0.weight"
    checkpoint.save({"model": model_state, "optimizer": optimizer_state}, checkpoint_id=tmp_path)
    other, its = trained(seed=1)
    state = dict(zip(("model", "optimizer"), helpers.get_state_dict(other, its)))
    checkpoint.load(state, storage_reader=FileSystemReader(tmp_path))
    helpers.set_state_dict(other, its, model_state_dict=state["model"], optim_state_dict=state["optimizer"])
    assert equal(model.state_dict(), other.state_dict()) and equal(optimizer.state_dict(), its.state_dict())


def test_options_of_state_dicts():
    model, optimizer = trained()
    model[0].weight.requires_grad_(False)
    of_all, of_some = helpers.get_model_state_dict(model), helpers.StateDictOptions(ignore_frozen_params=True, cpu_offload=True)
    state, _ = helpers.get_state_dict(model, optimizer, options=of_some)
    assert of_all.keys() - state.keys() == {"0.weight"} and all(state[name].data_ptr() for name in state)
    other, its = trained(seed=1)
    with pytest.raises(RuntimeError, match="Missing key"):
        helpers.set_model_state_dict(other, state)
    loose = helpers.StateDictOptions(full_state_dict=True, strict=False)
    assert helpers.set_model_state_dict(other, state, options=loose).missing_keys == ["0.weight"]
    other[0].weight.requires_grad_(False)
    assert not helpers.set_model_state_dict(other, state, options=of_some).missing_keys and ad.equal(
        other[0].bias, model[0].bias
    )
    with pytest.raises(NotImplementedError, match="StateDictOptions: broadcast_from_rank0 must be False"):
        helpers.StateDictOptions(broadcast_from_rank0=True)


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_parts_are_put_together_in_any_number_of_ranks(data, in_ranks, tmp_path_factory):
    folder = tmp_path_factory.mktemp("parts")
    shape = tuple(data.draw(st.lists(st.integers(1, 6), min_size=1, max_size=3)))
    whole = ad.arange(math.prod(shape), dtype=ad.float64).view(shape)
    before, after = data.draw(st.integers(1, 4)), data.draw(st.integers(1, 4))

    def part(rank, count, dim, source):
        bounds = [shape[dim] * i // count for i in range(count + 1)]
        offsets = [0] * len(shape)
        offsets[dim] = bounds[rank]
        return Shard(source.narrow(dim, bounds[rank], bounds[rank + 1] - bounds[rank]).clone(), tuple(offsets), shape)

    dim = data.draw(st.integers(0, len(shape) - 1))

    def save(rank):
        own = {f"only on {rank}": ad.full((2,), float(rank)), "everywhere": whole, "w": part(rank, before, dim, whole), "n": 3}
        return checkpoint.save(own, checkpoint_id=folder)

    assert all(isinstance(m, checkpoint.Metadata) for m in in_ranks(before, save))
    other = data.draw(st.integers(0, len(shape) - 1))

    def load(rank):
        state = {
            "w": part(rank, after, other, ad.zeros_like(whole)),
            "everywhere": ad.zeros_like(whole),
            "only on 0": ad.ones(2),
        }
        checkpoint.load(state, checkpoint_id=folder)
        return equal(state["w"].tensor, part(rank, after, other, whole).tensor) and ad.equal(state["everywhere"], whole)

    assert in_ranks(after, load) == [True] * after
    alone = {"w": ad.zeros_like(whole), f"only on {before - 1}": ad.zeros(2)}
    assert in_ranks(1, lambda rank: checkpoint.load(alone, checkpoint_id=folder)) == [None]
    assert ad.equal(alone["w"], whole) and alone[f"only on {before - 1}"].tolist() == [before - 1] * 2


def test_pieces_are_written_once_and_shared_out(in_ranks, tmp_path):
    state = {str(i): ad.rand(1000) for i in range(8)}
    in_ranks(4, lambda rank: checkpoint.save(state, checkpoint_id=tmp_path))
    sizes = [os.path.getsize(tmp_path / name) for name in os.listdir(tmp_path) if name.endswith(".shards")]
    assert len(sizes) == 4 and max(sizes) < 2 * 4000 + 200


def test_errors_are_raised_on_all_ranks(in_ranks, tmp_path):
    found = in_ranks(2, lambda rank: checkpoint.save({"w": ad.ones(2 + rank)}, checkpoint_id=tmp_path))
    assert all("'w' is float32 of shape (2,) on rank 0, and float32 of shape (3,) on rank 1" in str(e) for e in found)
    lost = lambda rank: checkpoint.save({"w": Shard(ad.ones(2), (0,), (3,))}, checkpoint_id=tmp_path)  # noqa: E731
    assert all("2 elements, the whole has 3" in str(e) for e in in_ranks(2, lost))
    in_ranks(2, lambda rank: checkpoint.save({"w": ad.ones(1)}, checkpoint_id=tmp_path))
    one_fails = lambda rank: checkpoint.save({"w": ad.ones(1), f"f{rank}": object() if rank else 1}, checkpoint_id=tmp_path)  # noqa: E731
    found = in_ranks(2, one_fails)
    assert all(isinstance(e, (CheckpointException, TypeError)) and "'f1'" in str(e) for e in found), found
    load = lambda rank: checkpoint.load({"w": ad.zeros(1 + rank)}, checkpoint_id=tmp_path)  # noqa: E731
    found = in_ranks(2, load)
    assert all(isinstance(e, CheckpointException) and list(e.failures) == [1] and "Size mismatch" in str(e) for e in found)


def checkpoint_error(state, folder):
    """What rank 0 raised."""
    with pytest.raises(CheckpointException) as caught:
        checkpoint.async_save(state, checkpoint_id=folder).result(60)
    return caught.value.failures[0]


def test_what_does_not_fit_is_refused(tmp_path):
    with pytest.raises(ValueError, match="checkpoint_id or a storage_writer"):
        checkpoint.save({})
    with pytest.raises(ValueError, match="must lie within the whole"):
        Shard(ad.ones(2), (2,), (3,))
    with pytest.raises(ValueError, match="two values .* 'a.b'"):
        raise checkpoint_error({"a": {"b": 1}, "a.b": 2}, tmp_path)
    with pytest.raises(CheckpointException, match="FileNotFoundError"):
        checkpoint.load({"w": ad.ones(1)}, checkpoint_id=tmp_path / "none")
    checkpoint.save({"w": ad.ones(3), "empty": ad.ones(0), "number": ad.tensor(2.0)}, checkpoint_id=tmp_path)
    with pytest.raises(CheckpointException, match="Missing key in checkpoint state_dict: v"):
        checkpoint.load({"v": ad.ones(3)}, checkpoint_id=tmp_path)
    state = {"v": 1, "w": ad.zeros(3), "empty": ad.ones(0), "number": ad.tensor(0.0)}
    checkpoint.load(state, checkpoint_id=tmp_path, planner=checkpoint.DefaultLoadPlanner(allow_partial_load=True))
    assert state["v"] == 1 and state["w"].tolist() == [1, 1, 1] and state["number"] == 2


def test_changed_files_are_noticed(tmp_path):
    checkpoint.save({"w": ad.ones(100)}, checkpoint_id=tmp_path)
    for name in os.listdir(tmp_path):
        with open(tmp_path / name, "r+b") as f:
            f.seek(-50, os.SEEK_END)
            byte = f.read(1)
            f.seek(-1, os.SEEK_CUR)
            f.write(bytes([byte[0] ^ 1]))
        with pytest.raises(CheckpointException, match="was changed"):
            checkpoint.load({"w": ad.zeros(100)}, checkpoint_id=tmp_path)
        with open(tmp_path / name, "r+b") as f:
            f.seek(-50, os.SEEK_END)
            f.write(byte)
    checkpoint.load({"w": ad.zeros(100)}, checkpoint_id=tmp_path)


def test_a_checkpoint_may_be_replaced_while_it_is_read(tmp_path):
    stop = threading.Event()

    def save_on():
        for step in range(1, 200):
            checkpoint.save({"w": ad.full((50,), float(step))}, checkpoint_id=tmp_path)
            if stop.is_set():
                return

    checkpoint.save({"w": ad.zeros(50)}, checkpoint_id=tmp_path)
    thread = threading.Thread(target=save_on)
    thread.start()
    for _ in range(50):
        state = {"w": ad.full((50,), -1.0)}
        checkpoint.load(state, checkpoint_id=tmp_path)
        assert len(set(state["w"].tolist())) == 1 and state["w"][0] >= 0
    stop.set()
    thread.join()


def test_saves_in_the_background_keep_what_was_there_at_the_call(tmp_path):
    w = ad.zeros(1000)
    futures = []
    for step in range(5):
        w.fill_(step)
        futures.append(checkpoint.async_save({"w": w, "step": step}, storage_writer=FileSystemWriter(tmp_path / str(step))))
    w.fill_(-1)
    for step, future in enumerate(futures):
        assert isinstance(future.result(60), checkpoint.Metadata)
        state = {"w": ad.zeros(1000), "step": -1}
        checkpoint.load(state, checkpoint_id=tmp_path / str(step))
        assert state["step"] == step and set(state["w"].tolist()) == {step}
    with pytest.raises(RuntimeError, match="TypeError.*'f'"):
        raise checkpoint_error({"f": object()}, tmp_path)


def killed_at(call, work):
    """Runs `work` in a forked process that is killed at this call of a function written in C; returns whether it was."""
    pid = os.fork()
    if not pid:
        left = [call]

        def count(frame, event, argument):
            if event in ("c_call", "c_return"):
                left[0] -= 1
                if not left[0]:
                    os.kill(os.getpid(), signal.SIGKILL)

        sys.setprofile(count)
        try:
            work()
        finally:
            sys.setprofile(None)
            os._exit(0)
    end = time.monotonic() + 60
    while not (status := os.waitpid(pid, os.WNOHANG))[0]:
        assert time.monotonic() < end
        time.sleep(0.0005)
    return os.WIFSIGNALED(status[1])


def moments(work):
    """Every moment of the work, up to its end."""
    call = 1
    while killed_at(call, work):
        yield call
        call += 1 + call // 25  # all of the first ones, then every few


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are forked")
def test_a_saver_that_is_killed_leaves_the_last_checkpoint(tmp_path):
    state = lambda step: {"w": ad.full((50,), float(step)), "v": ad.full((3, 3), float(step)), "step": step}  # noqa: E731
    checkpoint.save(state(0), checkpoint_id=tmp_path)
    count = 0
    for _ in moments(lambda: checkpoint.save(state(1), checkpoint_id=tmp_path)):
        count += 1
        found = state(-1)
        checkpoint.load(found, checkpoint_id=tmp_path)
        assert found["step"] in (0, 1)
        assert equal(found, state(found["step"]))
        if found["step"]:
            checkpoint.save(state(0), checkpoint_id=tmp_path)
    assert count > 50
    checkpoint.save(state(2), checkpoint_id=tmp_path)
    assert len(os.listdir(tmp_path)) == 2  # .metadata and one file of shards: what was killed left nothing


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are forked")
def test_ad_save_is_there_whole_or_not_at_all(tmp_path):
    file = tmp_path / "w.pt"
    ad.save(ad.zeros(100), file)
    os.chmod(file, 0o600)
    count = 0
    for _ in moments(lambda: ad.save(ad.ones(100), file)):
        count += 1
        found = set(ad.load(file).tolist())
        assert found in ({0.0}, {1.0})
        if found == {1.0}:
            ad.save(ad.zeros(100), file)
    assert count > 5 and os.stat(file).st_mode & 0o777 == 0o600
    with pytest.raises(TypeError, match="pickle"):
        ad.save((x for x in ()), file)
    assert len(ad.load(file)) == 100
    link = tmp_path / "link.pt"
    link.symlink_to(file)
    ad.save(ad.full((2,), 5.0), link)
    assert link.is_symlink() and ad.load(file).tolist() == [5, 5]
