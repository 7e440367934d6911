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


def test_cross_entropy(stand_in):
    """Its classes are looked at by masks, as the host does not wait to see which are ignored; of what is as large as the scores there are two."""
    x, y = drawn(64, 7), classes(64)
    loss, forward = launches(stand_in, lambda: F.cross_entropy(x, y))
    backward = launches(stand_in, lambda: ad.autograd.grad(loss, x))[1]
    assert forward.count("cross_entropy") == 1 and len(forward) <= 9
    assert backward.count("cross_entropy_vjp") == 1 and len(backward) <= 3


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
