"""Device meta: every operation works out shapes, types and strides, forward and backward, and reads nothing."""

from __future__ import annotations

import copy
import io
import pickle
from typing import Any

import pytest

import adjoint as ad
from op_cases import CASES
from op_checks.cells import posed, results
from op_checks.numeric import is_floating, tensors


def form(x: Any) -> Any:
    return (x.shape, x.dtype, x.stride())


def on_meta(x: Any) -> Any:
    return x.detach().to("meta")


OF_VALUES = {name: "the size of the result" for name in ("unique", "bincount", "nonzero", "masked_select")} | {
    "Tensor.__getitem__-mask": "the size of the result",
    "Tensor.__getitem__-row_mask": "the size of the result",
}
"Cases whose results depend on values, and what of them."


@pytest.mark.parametrize("case", CASES, ids=lambda c: c.id)
def test_operations(case: Any) -> None:
    """The results and gradients on meta have the form of the CPU's."""
    inputs = tensors(case.sample())
    if case.name in OF_VALUES or case.id in OF_VALUES:
        with pytest.raises(NotImplementedError, match="depends on values"):
            case.run(ad, [on_meta(x) for x in inputs])
        return
    wanted = results(case, inputs)
    got = results(case, [on_meta(x) for x in inputs])
    assert [y.device.type for y in got] == ["meta"] * len(got)
    assert [form(y) for y in got] == [form(y) for y in wanted]
    if not case.differentiable:
        return
    f, xs = posed(case, [on_meta(x) for x in inputs])
    xs = [x.requires_grad_() for x in xs]
    ys = [y for y in f(*xs) if is_floating(y)]
    found = ad.autograd.grad(ys, xs, [ad.ones_like(y) for y in ys], allow_unused=True)
    assert all(
        g is None or (g.shape, g.dtype, g.device.type) == (x.shape, x.dtype, "meta") for g, x in zip(found, xs, strict=True)
    )


def test_nothing_is_read() -> None:
    x = ad.ones(2, 3, device="meta")
    for read in (
        lambda: x.sum().item(), x.tolist, x.cpu, lambda: x.to("cpu"), lambda: bool(x[0, 0]), lambda: float(x[0, 0]), lambda: ad.equal(x, x),
        lambda: ad.ones(2, 3).copy_(x), lambda: ad.tensor([x[0, 0]]), lambda: x.untyped_storage().tolist(), lambda: x.__dlpack__(),
        lambda: x.storage().tolist(), lambda: list(x.untyped_storage()), x.share_memory_, x.pin_memory, lambda: ad.from_dlpack(x),
    ):  # fmt: skip
        with pytest.raises((RuntimeError, TypeError, BufferError)):
            read()
    with pytest.raises(TypeError, match="meta"):
        x.numpy()
    with pytest.raises(NotImplementedError, match="a sparse tensor is its positions"):
        ad.ones(2).to_sparse().to("meta")


def test_no_memory() -> None:
    x = ad.empty(10**6, 10**6, device="meta")
    y = (x @ x + 1).sin().sum(0)
    assert y.shape == (10**6,) and y.is_meta and x.data_ptr() == 0
    assert repr(y) == "tensor(..., device='meta', size=(1000000,))"


def test_devices_mix_as_elsewhere() -> None:
    x = ad.ones(2, device="meta")
    assert (x + ad.tensor(1.0)).is_meta and x.copy_(ad.ones(2)).is_meta and x[ad.tensor([1])].shape == (1,)
    with pytest.raises(RuntimeError, match="meta and cpu"):
        x + ad.ones(2)


def test_masks_are_written_through() -> None:
    x, v = ad.ones(2, 3, device="meta", requires_grad=True), ad.ones(3, device="meta", requires_grad=True)
    y = x * 1
    y[x > 0] = v
    y.sum().backward()
    assert x.grad.shape == (2, 3) and v.grad.shape == (3,)


def test_random_numbers_leave_the_generator() -> None:
    ad.manual_seed(3)
    before = ad.get_rng_state().tolist()
    x = ad.rand(3, device="meta")
    for y in (ad.randn_like(x), ad.randint(3, (2,), device="meta"), ad.randperm(3, device="meta"), x.bernoulli(), x.normal_(), ad.normal(x, x),
              ad.nn.functional.dropout(x), x.uniform_(), x.exponential_(), ad.multinomial(x, 2)):  # fmt: skip
        assert y.is_meta
    assert ad.get_rng_state().tolist() == before


def test_modules() -> None:
    """Made without memory, given it later, or filled with what a file holds."""
    with ad.device("meta"):
        model = ad.nn.Sequential(ad.nn.Conv2d(1, 2, 3), ad.nn.BatchNorm2d(2), ad.nn.Flatten(), ad.nn.Linear(32, 3))
    assert {p.device.type for p in (*model.parameters(), *model.buffers())} == {"meta"} and ad.ones(1).device.type == "cpu"
    out = model(ad.ones(2, 1, 6, 6, device="meta"))
    out.sum().backward()
    assert out.shape == (2, 3) and all(p.grad is not None and p.grad.is_meta for p in model.parameters())
    other = ad.nn.Sequential(ad.nn.Conv2d(1, 2, 3), ad.nn.BatchNorm2d(2), ad.nn.Flatten(), ad.nn.Linear(32, 3))
    copied = copy.deepcopy(model)
    copied.load_state_dict(other.state_dict(), assign=True)
    x = ad.rand(2, 1, 6, 6)
    assert ad.equal(copied.eval()(x), other.eval()(x))
    assert model.to_empty(device="cpu")(x).shape == (2, 3)


def test_files_and_pickles() -> None:
    x = ad.ones(2, 3, device="meta").t().requires_grad_()
    file = io.BytesIO()
    ad.save({"x": x, "w": ad.ones(2)}, file)
    file.seek(0)
    for y in (pickle.loads(pickle.dumps(x)), ad.load(file)["x"], copy.deepcopy(x)):
        assert y.is_meta and form(y) == form(x) and y.requires_grad
    file.seek(0)
    assert ad.load(file, map_location="meta")["w"].is_meta


def test_default_device() -> None:
    assert str(ad.get_default_device()) == "cpu"
    ad.set_default_device("meta")
    try:
        made = (
            ad.ones(1),
            ad.tensor([1.0]),
            ad.rand(2),
            ad.arange(3),
            ad.as_tensor([1]),
            ad.eye(2),
            ad.linspace(0, 1, 3),
            ad.full((2,), 1.0),
        )
        assert all(t.is_meta for t in made)
        with ad.device("cpu"):
            assert not ad.ones(1).is_meta and str(ad.get_default_device()) == "cpu"
            with ad.device("meta"), pytest.raises(ZeroDivisionError):
                raise ZeroDivisionError
            assert not ad.zeros(1).is_meta
        assert ad.ones(1).is_meta and not ad.ones(1, device="cpu").is_meta and ad.nn.Linear(1, 1).weight.is_meta
    finally:
        ad.set_default_device(None)
    assert not ad.ones(1).is_meta


def test_device() -> None:
    d = ad.device("meta")
    assert (
        d == ad.ones(1, device=d).device == ad.ones(1, device="meta:0").device != ad.device("meta", 0)
        and d.index is None
        and d != ad.device("cpu")
        and repr(d) == "device(type='meta')"
    )
    assert pickle.loads(pickle.dumps(d)) == d and hash(d) == hash(ad.device("meta"))


@pytest.mark.parametrize("index", [ad.tensor([0, 1]).to_sparse(), ad.eye(2).long().to_sparse_csr()])
@pytest.mark.parametrize("use", [lambda x, i: x[i], lambda x, i: x.__setitem__(i, 1.5), lambda x, i: x.take(i)])
def test_positions_without_values_are_refused(use: Any, index: Any) -> None:
    for x in (ad.ones(3, device="meta"), ad.ones(3)):
        with pytest.raises(NotImplementedError, match="not supported for a tensor of layout sparse"):
            use(x, index)


def test_gradients_lie_where_their_results_do() -> None:
    x = ad.ones(3, requires_grad=True)
    with pytest.raises(RuntimeError, match="invalid gradient at index 0 - expected device cpu but got meta"):
        (x * 2).backward(ad.ones(3, device="meta"))
    assert x.grad is None
