"""Adam and SGD step all parameters on a GPU in one launch, with the numbers that one by one gives."""

import pytest

import adjoint as ad

SIZES = ((3, 4), (2100,), (), (5, 5, 2), (0, 3))
FORMS = {
    "sgd": (ad.optim.SGD, {}),
    "momentum": (ad.optim.SGD, {"momentum": 0.9, "dampening": 0.1, "weight_decay": 0.01}),
    "nesterov": (ad.optim.SGD, {"momentum": 0.9, "nesterov": True, "maximize": True}),
    "adam": (ad.optim.Adam, {}),
    "amsgrad": (ad.optim.Adam, {"amsgrad": True, "weight_decay": 0.1, "maximize": True}),
    "adamw": (ad.optim.AdamW, {"fused": True}),
    "capturable": (ad.optim.AdamW, {"capturable": True, "amsgrad": True}),
    "beta 0": (ad.optim.Adam, {"capturable": True, "betas": (0.0, 0.99)}),
}


def weights(dtype, sizes=SIZES):
    ad.manual_seed(0)
    found = [ad.randn(*size, dtype=dtype).cuda().requires_grad_() for size in sizes]
    found.append(ad.randn(2, 3, 4, 4, dtype=dtype).cuda().to(memory_format=ad.channels_last).requires_grad_())
    return found


def step(optimizer, ws, i):
    for j, w in enumerate(ws):
        g = w.detach() * (j + 1) + i
        w.grad = g / (1 + g.abs())
    optimizer.step()


@pytest.mark.parametrize("dtype", [ad.float32, ad.float64, ad.complex64, ad.bfloat16], ids=lambda t: t.name)
@pytest.mark.parametrize("name", FORMS)
def test_as_one_by_one(name, dtype):
    kind, options = FORMS[name]
    together, apart = weights(dtype), weights(dtype)
    optimizers = [kind(together, lr=0.1, **options), kind(apart, lr=0.1, **{**options, "fused": None, "foreach": False})]
    for i in range(3):
        for optimizer, ws in zip(optimizers, (together, apart), strict=True):
            step(optimizer, ws, i)
    for a, b in zip(together, apart, strict=True):
        if dtype is ad.bfloat16:  # rounded when it is stored, not after each operation
            ad.testing.assert_close(a.cpu(), b.cpu(), rtol=0.02, atol=0.07)
        else:
            assert ad.equal(a.cpu(), b.cpu())


def test_one_launch(stand_in):
    if stand_in is None:
        pytest.skip("launches are counted on the stand-in")
    ws = weights(ad.float32)
    optimizer = ad.optim.Adam(ws, lr=0.1)
    step(optimizer, ws, 0)
    for j, w in enumerate(ws):
        w.grad = w.detach().clone() * j
    before = len(stand_in.launched)
    optimizer.step()
    assert stand_in.launched[before:] == ["adam"]


def test_types_and_steps_apart():
    """Of two types, one of them on the CPU, and one a step younger than the others: each as if it were alone."""

    def all_steps(foreach):
        ws = [*weights(ad.float32), *weights(ad.float64), ad.ones(3, requires_grad=True)]
        optimizer = ad.optim.Adam(ws, lr=0.1, foreach=foreach)
        ws[0].grad = ad.ones_like(ws[0])
        optimizer.step()
        step(optimizer, ws, 1)
        return ws, optimizer

    (a, first), (b, second) = all_steps(None), all_steps(False)
    assert all(ad.equal(x.cpu(), y.cpu()) for x, y in zip(a, b, strict=True))
    assert (
        [first.state[w]["step"].item() for w in a]
        == [second.state[w]["step"].item() for w in b]
        == [2.0] + [1.0] * (len(a) - 1)
    )


def test_what_lies_differently_goes_alone():
    w = ad.ones(3, 4, device="cuda", requires_grad=True)
    w.grad = ad.arange(12.0, device="cuda").view(4, 3).t()
    ad.optim.SGD([w], lr=0.5).step()
    assert w.tolist() == [[1 - 0.5 * (3 * j + i) for j in range(4)] for i in range(3)]


def test_writes_count():
    w = ad.ones(3, device="cuda", requires_grad=True)
    y = w.square().sum()
    w.grad = ad.ones(3, device="cuda")
    ad.optim.SGD([w], lr=0.5).step()
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.backward()


def test_a_subclass_with_an_update_of_its_own():
    class Still(ad.optim.SGD):
        def update(self, p, g, state, group):
            p.add_(1.0)

    w = ad.zeros(2, device="cuda", requires_grad=True)
    w.grad = ad.ones(2, device="cuda")
    Still([w], lr=0.5).step()
    assert w.tolist() == [1.0, 1.0]
