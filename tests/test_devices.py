"""Names of devices, of those too that have no memory here."""

import copy
import pickle

import pytest

import adjoint as ad


@pytest.mark.parametrize("name", ["mps", "xpu", "xla:1", "hpu", "cpu:64", "meta:1", "privateuseone"])
def test_devices_without_memory_here_have_names(name: str) -> None:
    """Programs name them to ask whether they are there, at the head of their tests too."""
    kind, _, index = name.partition(":")
    d = ad.device(name)
    assert (d.type, d.index, str(d)) == (kind, int(index) if index else None, name)
    assert d == ad.device(kind, int(index)) if index else d == ad.device(d) == ad.device(kind)
    assert d != ad.device("cpu") and hash(d) == hash(ad.device(name)) and {d: 1}[ad.device(name)] == 1
    assert pickle.loads(pickle.dumps(d)) == d and copy.deepcopy(d) == d and eval(repr(d), {"device": ad.device}) == d
    if kind in ("cpu", "meta"):
        assert ad.ones(1, device=d).device == ad.device(kind)
        return
    for making in (
        lambda: ad.zeros(1, device=d),
        lambda: ad.zeros(1, device=name),
        lambda: ad.ones(1).to(d),
        lambda: ad.ones(1).to(name),
        lambda: ad.nn.Linear(1, 1).to(d),
        lambda: ad.tensor(1.0, device=name),
        lambda: ad.set_default_device(name),
        d.__enter__,
    ):
        with pytest.raises(RuntimeError, match=f"not linked with support for {kind} devices"):
            making()
    assert ad.ones(1).device == ad.device("cpu")


@pytest.mark.parametrize("name", ["foo", "", "cuda:01", "cpu:-1", "mps:", "MPS", "cuda:1000"])
def test_words_that_are_no_devices(name: str) -> None:
    with pytest.raises(RuntimeError, match=r"[Dd]evice"):
        ad.device(name)
