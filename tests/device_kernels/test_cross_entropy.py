"""Cross-entropy in one kernel, and its derivative in another: layouts, options, derivatives of derivatives, classes that there are not."""

import pytest

import adjoint as ad
from adjoint_kernels_triton import _registered

F = ad.nn.functional
SHAPES = [(5,), (4, 7), (3, 1300), (2, 5, 3), (2, 4, 3, 5), (0, 4)]
OPTIONS = [
    {}, {"ignore_index": 1}, {"ignore_index": 1, "reduction": "sum"}, {"ignore_index": 0, "reduction": "none"},
    {"weight": 0}, {"weight": 0, "ignore_index": 0, "reduction": "none"},
]  # fmt: skip


def both(x, target, options):
    """The loss, its gradient, and the gradient's, for losses that need not be one number."""
    x = x.detach().requires_grad_()
    loss = F.cross_entropy(
        x,
        target,
        **{k: ad.linspace(0.5, 2, v, dtype=x.dtype, device=x.device) if k == "weight" else v for k, v in options.items()},
    )
    v = ad.linspace(1, 2, loss.numel(), dtype=loss.dtype, device=x.device).reshape(loss.shape)
    (plain,) = ad.autograd.grad(loss, x, v, retain_graph=True)
    (recorded,) = ad.autograd.grad(loss, x, v, create_graph=True)
    (second,) = ad.autograd.grad(recorded.square().sum(), x)
    return loss, plain, recorded, second


@pytest.mark.parametrize("dtype", [ad.float64, ad.float32, ad.bfloat16], ids=lambda t: t.name)
@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_as_on_the_cpu(shape, options, dtype):
    ad.manual_seed(0)
    classes, rest = (shape[0], ()) if len(shape) == 1 else (shape[1], (shape[0], *shape[2:]))
    options = {k: classes if k == "weight" else v for k, v in options.items()}
    x, target = (ad.randn(shape) * 3 + 1000).to(dtype), ad.randint(0, classes, rest)
    tolerance = {8: 1e-11, 4: 2e-5, 2: 2e-2}[dtype.itemsize]
    for got, wanted in zip(both(x.cuda(), target.cuda(), options), both(x, target, options), strict=True):
        ad.testing.assert_close(got.cpu(), wanted, rtol=tolerance, atol=tolerance, equal_nan=True)


def test_kernels_run(monkeypatch):
    asked = []
    compile = _registered.compile
    monkeypatch.setattr(_registered, "compile", lambda op, *rest: asked.append(op) or compile(op, *rest))
    for op in ("cross_entropy", "cross_entropy_vjp"):
        _registered.put(op, _registered.OPERATIONS.pop(op), own=True)  # anew: no variant has been met
    x = ad.zeros(2, 3, dtype=ad.float64, device="cuda", requires_grad=True)
    F.cross_entropy(x, ad.zeros(2, dtype=ad.long, device="cuda")).backward()
    assert {"cross_entropy", "cross_entropy_vjp"} <= set(asked)


def test_strides_and_levels():
    x, target = ad.randn(4, 7, 3, dtype=ad.float64), ad.randint(0, 3, (4, 7))
    device = x.cuda(), target.cuda()
    ad.testing.assert_close(
        F.cross_entropy(device[0].transpose(1, 2), device[1]).cpu(), F.cross_entropy(x.transpose(1, 2), target)
    )
    each = ad.func.vmap(ad.func.grad(F.cross_entropy))
    ad.testing.assert_close(each(*device).cpu(), each(x, target))
    push = ad.func.jvp(lambda x: F.cross_entropy(x.transpose(1, 2), device[1]), (device[0],), (ad.ones_like(device[0]),))
    assert push[1].item() == pytest.approx(0, abs=1e-12)


def test_ignored():
    """Whatever it is, as one that there is not may be what says so; of none that counts the mean is NaN. Beyond what a float tells apart."""
    far = 2**53 + 1
    x, target = ad.randn(4, 3, device="cuda", requires_grad=True), ad.tensor([far, 1, far, 2]).cuda()
    loss = F.cross_entropy(x, target, ignore_index=far)
    ad.testing.assert_close(loss, F.cross_entropy(x[1::2], target[1::2]))
    loss.backward()
    assert (x.grad == 0).all(1).tolist() == [True, False, True, False]
    assert F.cross_entropy(x, target, reduction="none", ignore_index=far - 1).isnan().tolist() == [True, False, True, False]
    assert F.cross_entropy(x, ad.full_like(target, -100)).isnan().item()


def test_classes_that_there_are_not():
    losses = F.cross_entropy(ad.zeros(4, 3, device="cuda"), ad.tensor([0, 3, -1, 2]).cuda(), reduction="none")
    assert losses.isnan().tolist() == [False, True, True, False]


def test_a_binary_loss_that_is_nearly_none():
    x = ad.tensor([5.0, 10.0, 15.0, 30.0, -3.0, float("inf")])
    target = ad.tensor([1.0, 1.0, 1.0, 1.0, 0.0, 1.0])
    here, there = (F.binary_cross_entropy_with_logits(t, target.to(t.device), reduction="none") for t in (x, x.cuda()))
    ad.testing.assert_close(there.cpu(), here, rtol=1e-5, atol=0.0, equal_nan=True)
