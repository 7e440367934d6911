"""A world of one process, which wants no MPI: what a collective gives is what went in."""

import sys
import warnings

import pytest

import adjoint as ad
import adjoint.distributed as dist
from adjoint.utils.data.distributed import DistributedSampler
from adjoint_functional.distributed._launch import announced

pytestmark = pytest.mark.skipif(announced()[1] != "", reason="a launcher started the tests")


@pytest.fixture(autouse=True)
def no_mpi(monkeypatch):
    """As if mpi4py were not installed; and no world stays behind."""
    monkeypatch.setitem(sys.modules, "mpi4py", None)
    yield
    if dist.is_initialized():
        dist.destroy_process_group()


@pytest.fixture
def world():
    dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)


@pytest.mark.parametrize("backend", [None, "gloo", "mpi", "cpu:gloo"])
@pytest.mark.parametrize("how", ["env", "tcp://127.0.0.1:29600", "file", "store"])
def test_every_way_in(backend, how, tmp_path, monkeypatch):
    for name, value in {"MASTER_ADDR": "localhost", "MASTER_PORT": "29601", "RANK": "0", "WORLD_SIZE": "1"}.items():
        monkeypatch.setenv(name, value)
    given = {
        "env": {},
        "file": {"init_method": f"file://{tmp_path}/meeting", "rank": 0, "world_size": 1},
        "store": {"store": dist.HashStore(), "rank": 0, "world_size": 1},
    }.get(how, {"init_method": how, "rank": 0, "world_size": 1})
    for _ in range(2):
        dist.init_process_group(backend, **given)
        assert (dist.get_rank(), dist.get_world_size()) == (0, 1) and dist.get_backend() == (backend or "undefined")
        dist.destroy_process_group()
        assert not dist.is_initialized()


def test_ways_that_do_not_fit():
    with pytest.raises(ValueError, match=r"a world of 1 needs rank in \[0, 0\], got 1"):
        dist.init_process_group("gloo", rank=1, world_size=1, store=dist.HashStore())
    with pytest.raises(ValueError, match="Cannot specify both init_method and store"):
        dist.init_process_group("gloo", "env://", rank=0, world_size=1, store=dist.HashStore())
    with pytest.raises(ValueError, match="a store is for world_size=1"):
        dist.init_process_group("gloo", None, None, -1, 0, dist.HashStore())
    with pytest.raises(ValueError, match='backend must be "mpi"'):
        dist.init_process_group("nccl", rank=0, world_size=1)


def into(call, like):
    to = ad.zeros_like(like)
    call(to)
    return to


def collectives(x, **how):
    yield into(lambda to: dist.all_gather([to], x, **how), x)
    yield into(lambda to: dist.all_gather_into_tensor(to, x, **how), x)
    yield into(lambda to: dist.gather(x, [to], 0, **how), x)
    yield into(lambda to: dist.scatter(to, [x], 0, **how), x)
    yield into(lambda to: dist.reduce_scatter(to, [x], **how), x)
    yield into(lambda to: dist.reduce_scatter_tensor(to, x, **how), x)
    yield into(lambda to: dist.all_to_all([to], [x], **how), x)
    yield into(lambda to: dist.all_to_all_single(to, x, **how), x)
    for op in (dist.ReduceOp.SUM, dist.ReduceOp.PRODUCT, dist.ReduceOp.MIN, dist.ReduceOp.MAX):
        for call in (dist.all_reduce, lambda y, op, **how: dist.reduce(y, 0, op, **how)):
            y = x.clone()
            call(y, op, **how)
            yield y
    y = x.clone()
    dist.broadcast(y, 0, **how)
    yield y


@pytest.mark.parametrize("dtype", [ad.float32, ad.bfloat16, ad.int64, ad.bool])
@pytest.mark.parametrize("fixed", [False, True])
def test_collectives_give_what_went_in(world, dtype, fixed):
    x = ad.arange(6).reshape(3, 2).t().to(dtype)
    dist.set_fixed_order(fixed)
    try:
        for group in (None, dist.new_group([0]), dist.new_group()):
            for y in collectives(x, group=group):
                assert y.dtype is dtype and ad.equal(y, x)
    finally:
        dist.set_fixed_order(False)
    dist.barrier()
    dist.monitored_barrier()


def test_work_and_objects(world):
    x = ad.ones(3)
    work = dist.all_reduce(x, dist.ReduceOp.AVG, async_op=True)
    assert work.is_completed() and work.wait() and work.get_future().value()[0] is x
    every, some = [None], [{"a": 1}]
    dist.all_gather_object(every, {"b": ad.ones(1)})
    dist.broadcast_object_list(some, 0)
    assert every[0]["b"].item() == 1 and some == [{"a": 1}]


@pytest.mark.parametrize(
    ("call", "end"), [("send", "destination"), ("isend", "destination"), ("recv", "source"), ("irecv", "source")]
)
def test_nobody_to_send_to(world, call, end):
    with pytest.raises(ValueError, match=f"Invalid {end} rank: {end} rank should not be the same as the rank of the current"):
        getattr(dist, call)(ad.ones(1), 0)
    with pytest.raises(ValueError, match="Global rank 1 is not part of group"):
        getattr(dist, call)(ad.ones(1), 1)
    with pytest.raises(dist.DistBackendError, match="nobody sends"):
        dist.recv(ad.ones(1))


def test_training_is_that_of_the_model_itself(world):
    ad.manual_seed(0)
    model, x = ad.nn.Linear(3, 2), ad.randn(4, 3)
    model(x).sum().backward()
    alone = [p.grad.clone() for p in model.parameters()]
    model.zero_grad()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ad.nn.parallel.DistributedDataParallel(model)(x).sum().backward()
    assert all(ad.equal(a, p.grad) for a, p in zip(alone, model.parameters()))
    assert list(DistributedSampler(range(5), shuffle=False)) == [0, 1, 2, 3, 4]
