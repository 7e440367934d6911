"""How many launches what models are made of takes, forward and backward: kernels that fuse are reached, and stay so."""

import pytest

import adjoint as ad

F = ad.nn.functional


def drawn(*sizes):
    return ad.randn(*sizes, device="cuda", requires_grad=True)


def classes(*sizes):
    return ad.randint(0, 7, sizes).cuda()


ROWS, COLUMN = (64, 40), (40,)
IMAGES, CHANNELS = (8, 5, 4, 4), (5,)
ROWS_VJP, WEIGHT_VJP = ["standardise_vjp"], ["weight_sums", "added_up"]
CALLS = {
    "softmax": (lambda x: x.softmax(1), [ROWS], ["softmax"], ["softmax_vjp"]),
    "softmax of channels": (lambda x: x.softmax(1), [IMAGES], ["softmax"], ["softmax_vjp"]),
    "log_softmax": (lambda x: x.log_softmax(1), [ROWS], ["log_softmax"], ["log_softmax_vjp"]),
    "log_softmax of channels": (lambda x: x.log_softmax(1), [IMAGES], ["log_softmax"], ["log_softmax_vjp"]),
    "layer_norm": (lambda *t: F.layer_norm(t[0], COLUMN, *t[1:]), [ROWS, COLUMN, COLUMN], ["layer_norm"], [*ROWS_VJP, *WEIGHT_VJP, "sum"]),
    "layer_norm of x": (lambda x: F.layer_norm(x, COLUMN), [ROWS], ["layer_norm"], ROWS_VJP),
    "rms_norm": (lambda *t: F.rms_norm(t[0], COLUMN, *t[1:]), [ROWS, COLUMN], ["rms_norm"], [*ROWS_VJP, *WEIGHT_VJP]),
    "rms_norm of many": (lambda *t: F.rms_norm(t[0], COLUMN, *t[1:]), [(2, 2000, 40), COLUMN], ["rms_norm"], [*ROWS_VJP, *WEIGHT_VJP]),
    "batch_norm": (
        lambda *t: F.batch_norm(t[0], None, None, *t[1:], training=True), [IMAGES, CHANNELS, CHANNELS],
        ["batch_norm"], ["batch_norm_vjp", "batch_norm_vjp", "strided", "sum"],
    ),
}  # fmt: skip
"A call, sizes of its operands, and the launches of it and of its backward. A sum over dimensions that are no neighbours is a copy and a sum."


def launches(stand_in, call):
    if stand_in is None:
        pytest.skip("launches are counted on the stand-in")
    before = len(stand_in.launched)
    result = call()
    return result, stand_in.launched[before:]


@pytest.mark.parametrize("name", CALLS)
def test_operations(name, stand_in):
    call, sizes, forward, backward = CALLS[name]
    operands = [drawn(*s) for s in sizes]
    y, seen = launches(stand_in, lambda: call(*operands))
    assert seen == forward
    v = ad.ones_like(y)
    assert launches(stand_in, lambda: ad.autograd.grad(y, operands, v))[1] == backward


def test_running_statistics(stand_in):
    x, mean, square = drawn(*IMAGES), ad.zeros(5, device="cuda"), ad.ones(5, device="cuda")
    _, seen = launches(stand_in, lambda: F.batch_norm(x, mean, square, training=True))
    assert seen == ["batch_norm", "flat", "flat"]


@pytest.mark.parametrize("ignored", [-100, 3])
def test_cross_entropy(ignored, stand_in):
    """A mean divides by how many classes count, which the host does not know."""
    x, y = drawn(64, 7), classes(64)
    for reduction, forward, backward in (("none", [], []), ("sum", ["sum"], []), ("mean", ["sum", "sum", "flat"], ["flat"])):
        loss, seen = launches(stand_in, lambda: F.cross_entropy(x, y, reduction=reduction, ignore_index=ignored))
        assert seen == ["cross_entropy", *forward]
        v = ad.ones_like(loss)
        assert launches(stand_in, lambda: ad.autograd.grad(loss, x, v))[1] == [*backward, "cross_entropy_vjp"]


@pytest.mark.parametrize(
    ("make", "kernel"),
    [
        (ad.optim.Adam, "adam"),
        (lambda p: ad.optim.AdamW(p, amsgrad=True), "adam"),
        (lambda p: ad.optim.SGD(p, lr=0.1), "sgd"),
        (lambda p: ad.optim.SGD(p, lr=0.1, momentum=0.9, nesterov=True), "sgd"),
    ],
    ids=["Adam", "AdamW", "SGD", "momentum"],
)
def test_steps_of_optimizers(make, kernel, stand_in):
    parameters = [drawn(n) for n in (3, 40, 1)]
    optimizer = make(parameters)
    for p in parameters:
        p.grad = ad.ones_like(p)
    optimizer.step()
    assert launches(stand_in, optimizer.step)[1] == [kernel]


def test_maxima_of_equal_parts_take_one_launch(stand_in):
    x = ad.randn(2, 3, 8, 8, device="cuda")
    assert launches(stand_in, lambda: F.adaptive_max_pool2d(x, (4, 2)))[1] == ["max_pool"]
