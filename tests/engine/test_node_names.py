"""What nodes keep has PyTorch's names, which come from the records."""

import pytest

import adjoint as ad
from op_cases import CASES


def leaf(*sizes):
    return ad.rand(*sizes).add(0.5).requires_grad_()


@pytest.mark.parametrize(
    ("call", "node", "kept"),
    [
        (lambda x: x.sum(1, keepdim=True), "SumBackward1", {"dim": (1,), "keepdim": True, "self_sym_sizes": (3, 4)}),
        (lambda x: x.var(0), "VarBackward0", {"dim": (0,), "correction": 1.0, "keepdim": False}),
        (lambda x: x.transpose(0, 1), "TransposeBackward0", {"dim0": 0, "dim1": 1}),
        (lambda x: x.permute(1, 0), "PermuteBackward0", {"dims": (1, 0)}),
        (lambda x: x[:, 1:3], "SliceBackward0", {"dim": 1, "start": 1, "end": 3, "step": 1}),
        (lambda x: x.diagonal(1), "DiagonalBackward0", {"offset": 1, "dim1": 0, "dim2": 1}),
        (lambda x: x.clamp(0.6, 1.2), "ClampBackward1", {"min": pytest.approx(0.6), "max": pytest.approx(1.2)}),
        (lambda x: ad.nn.functional.softplus(x, 2.0, 10.0), "SoftplusBackward0", {"beta": 2.0, "threshold": 10.0}),
        (lambda x: ad.nn.functional.hardtanh(x, -2, 3), "HardtanhBackward0", {"min_val": -2.0, "max_val": 3.0}),
        (lambda x: ad.addcmul(x, x, x, value=2), "AddcmulBackward0", {"value": 2.0}),
        (lambda x: ad.polygamma(2, x), "PolygammaBackward0", {"n": 2}),
        (lambda x: x.mean(), "MeanBackward0", {"self_sym_numel": 12}),
        (lambda x: x @ x.t(), "MmBackward0", {"mat2_sym_sizes": (4, 3), "self_sym_argsize_minus_1": 4}),
        (lambda x: ad.linalg.qr(x)[0], "LinalgQrBackward0", {}),
        (lambda x: ad.fft.ifft(x), "ConjBackward0", {}),
        (lambda x: ad.fft.fftn(x[0]), "FftC2CBackward0", {}),
        (lambda x: x**3, "PowBackward0", {"exponent": 3}),
    ],
)
def test_attributes(call, node, kept):
    grad_fn = call(leaf(3, 4)).grad_fn
    assert grad_fn.name() == node
    for name, value in kept.items():
        found = getattr(grad_fn, f"_saved_{name}")
        assert found == value and type(found) is type(value) or value == pytest.approx(found), name
        assert "sym" in name or f"_saved_{name}" in dir(grad_fn)


def test_what_was_not_saved():
    x, index = leaf(2, 2), ad.tensor([0, 1])
    node = x[:, index].grad_fn
    assert node._saved_indices[0] is None
    with pytest.raises(RuntimeError, match="with value None is forbidden"):
        node._raw_saved_indices[0].register_hooks(lambda t: t, lambda t: t)
    for f in (ad.tanh, ad.sigmoid, ad.expm1):  # the graph keeps x: the result is computed again
        assert ad.equal(f(x).grad_fn._saved_result, f(x))
    assert (x.logit().grad_fn._saved_eps, x.logit(0.25).grad_fn._saved_eps) == (None, 0.25)
    assert ad.div(x, 2, rounding_mode="trunc").grad_fn._saved_rounding_mode == "trunc"


def test_tensors():
    x, y = leaf(4, 3), leaf(4, 3)
    q, r = ad.linalg.qr(x)
    assert ad.equal(q.grad_fn._saved_Q, q) and ad.equal(q.grad_fn._saved_R, r)
    values, vectors = ad.linalg.eigh(x @ x.t())
    assert ad.equal(vectors.grad_fn._saved_eigenvalues, values)
    index = ad.tensor([[0, 1, 1]])
    assert ad.equal(x.gather(0, index).grad_fn._saved_index, index)
    z = ad.addcmul(x, x, y)
    assert ad.equal(z.grad_fn._saved_tensor2, y)
    z.grad_fn._raw_saved_tensor1.register_hooks(lambda t: t, lambda t: t * 10)
    assert ad.allclose(ad.autograd.grad(z.sum(), y)[0], 10 * x)
    with pytest.raises(AttributeError, match="_saved_tensor3"):
        _ = z.grad_fn._saved_tensor3


@pytest.mark.parametrize("case", CASES, ids=lambda c: c.id)
def test_every_name_in_dir_is_there(case):
    tensors = [ad.tensor(a) for a in case.sample()]
    for t, leaf in zip(tensors, case.inputs):
        if leaf.differentiable:
            t.requires_grad_()
    y = case.run(ad, tensors)
    node = (y[0] if isinstance(y, tuple | list) else y).grad_fn
    for name in dir(node) if node is not None else ():
        if name.startswith(("_saved_", "_raw_saved_")):
            getattr(node, name)


F = ad.nn.functional
COMPOSED = {
    "AddmmBackward0": lambda x: F.linear(x, x, x[:, 0].detach()),
    "CdistBackward0": lambda x: ad.cdist(x, x),
    "MaxBackward1": lambda x: x.max(),
    "MseLossBackward0": lambda x: ad.nn.MSELoss()(x, x.detach()),
    "NllLossBackward0": lambda x: F.cross_entropy(x, ad.tensor([0, 1, 2])),
    "PixelShuffleBackward0": lambda x: ad.nn.PixelShuffle(1)(x[None, None]),
    "SoftmaxBackward0": lambda x: x.softmax(0),
    "SqueezeBackward1": lambda x: x[None].squeeze(0),
    "StackBackward0": lambda x: ad.stack([x, x]),
    "TopkBackward0": lambda x: x.topk(2)[0],
    "UnsqueezeBackward0": lambda x: x.unsqueeze(0),
    "VarMeanBackward0": lambda x: ad.var_mean(x)[1],
}


@pytest.mark.parametrize("name", COMPOSED)
def test_functions_made_of_several_records(name):
    x = leaf(3, 4)
    node = COMPOSED[name](x).grad_fn
    assert (node.name(), repr(node).partition(" ")[0]) == (name, "<" + name)
    inside = {behind.name() for behind, _ in node.next_functions if behind is not None}
    assert name not in inside  # only the last of its steps
    assert ad.autograd.grad(COMPOSED[name](x).sum(), x)[0].shape == x.shape


def test_composed_in_other_ways():
    assert ad.nn.Conv2d(1, 2, 2)(leaf(1, 3, 4)[None]).grad_fn.name() == "ConvolutionBackward0"  # of the sum with the bias
    x = leaf(3, 4).half()
    assert F.huber_loss(x, ad.zeros(3, 4).half()).grad_fn.name() == "HuberLossBackward0"  # not that of the last conversion
    assert F.mse_loss(x.detach(), ad.zeros(3, 4).half()).grad_fn is None
    assert (x * 2).grad_fn.name() == "MulBackward0"  # what follows is its own


def test_what_is_cut_says_where():
    x = leaf(2, 6, 3) * 1

    def kept(pieces):
        return {name: getattr(pieces[0].grad_fn, name) for name in dir(pieces[0].grad_fn) if name.startswith("_saved_")}

    assert kept(x.split((2, 4), 1)) == {"_saved_dim": 1, "_saved_self_sym_sizes": (2, 6, 3), "_saved_split_sizes": (2, 4)}
    assert kept(x.chunk(2, 1)) == {"_saved_dim": 1, "_saved_self_sym_sizes": (2, 6, 3), "_saved_split_size": 3}
    assert kept(x.unbind(1)) == {"_saved_dim": 1}
    assert not hasattr(x.unbind(1)[0].grad_fn, "_saved_split_size")
