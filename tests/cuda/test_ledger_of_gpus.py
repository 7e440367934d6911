"""The ledger of memory counts that of GPUs, as the books of their allocator do."""

import gc

import pytest

import adjoint as ad
from adjoint.autograd import graph
from adjoint_core import _core


def live():
    return _core._memory_stats()[0] + sum(ad.cuda.memory_allocated(i) for i in range(2))


def test_everything_is_counted():
    gc.collect()
    before = graph.ledger()
    x = ad.ones(1000, device="cuda", requires_grad=True)
    y = x.clone().cpu()
    small = ad.zeros(3, device="cuda:1")
    after = graph.ledger()
    assert after.live == live() == before.live + 4096 + 512 + _core._booked_bytes(4000)
    booked = {row.owner: row.booked for row in after.rows}
    assert (booked["x"], booked["small"], booked["y"]) == (4096, 512, _core._booked_bytes(y.nbytes))
    assert sum(change.bytes for change in after - before) == x.nbytes + y.nbytes + small.nbytes


def test_what_backward_will_need():
    x = ad.ones(100_000, device="cuda", requires_grad=True)
    y = x.to("cuda:1").clone()
    loss = y.cpu().sum()
    gc.collect()
    book = graph.ledger(loss)
    assert book.booked >= ad.cuda.memory_stats(0)["requested_bytes.all.current"] - 4000
    ad.cuda.reset_peak_memory_stats(0)
    ad.cuda.reset_peak_memory_stats(1)
    before = [ad.cuda.memory_allocated(i) for i in range(2)]
    loss.backward()
    grown = sum(ad.cuda.max_memory_allocated(i) - before[i] for i in range(2))
    assert book.predicted_peak - book.live == pytest.approx(grown, rel=0.5)
