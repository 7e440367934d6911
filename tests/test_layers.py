"""Layers and losses of `nn.functional` that are composed in Python, against definitions written out."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest

import adjoint as ad

F = ad.nn.functional
rng = np.random.default_rng(7)


def sample(*shape: int, grad: bool = True) -> Any:
    return ad.tensor(rng.normal(size=shape), requires_grad=grad)


def spelled(path: tuple[int, ...], blank: int) -> tuple[int, ...]:
    return tuple(c for c, _ in itertools.groupby(path) if c != blank)


def all_alignments(log_probs: np.ndarray, target: tuple[int, ...], blank: int) -> float:
    """-log of the summed probability of every path that spells the target."""
    steps, classes = log_probs.shape
    paths = (p for p in itertools.product(range(classes), repeat=steps) if spelled(p, blank) == target)
    total = sum(math.exp(sum(log_probs[t, c] for t, c in enumerate(p))) for p in paths)
    return -math.log(total) if total else math.inf


@pytest.mark.parametrize("blank", [0, 2])
@pytest.mark.parametrize("joined", [False, True])
def test_ctc_loss(blank: int, joined: bool) -> None:
    classes = [c for c in range(3) if c != blank]
    targets = [(classes[0], classes[0]), (classes[1],), ()]
    steps = [4, 3, 2]
    log_probs = sample(4, 3, 3).log_softmax(2)
    flat = [c for t in targets for c in t]
    padded = [list(t) + [blank] * (2 - len(t)) for t in targets]
    given = ad.tensor(flat) if joined else ad.tensor(padded)
    lengths = [len(t) for t in targets]
    expected = [all_alignments(log_probs[:n, b].detach().numpy(), t, blank) for b, (n, t) in enumerate(zip(steps, targets))]
    losses = F.ctc_loss(log_probs, given, steps, lengths, blank, "none")
    np.testing.assert_allclose(losses.detach().numpy(), expected)
    mean = np.mean([e / max(n, 1) for e, n in zip(expected, lengths)])
    assert F.ctc_loss(log_probs, given, ad.tensor(steps), ad.tensor(lengths), blank).item() == pytest.approx(mean)
    one = F.ctc_loss(log_probs[:, 0], ad.tensor(targets[0]), [4], [2], blank, "sum")
    assert one.item() == pytest.approx(expected[0])
    call = lambda x: F.ctc_loss(x.log_softmax(2), given, steps, lengths, blank)  # noqa: E731
    assert ad.autograd.gradcheck(call, sample(4, 3, 3), check_forward_ad=True)


def test_ctc_loss_of_targets_with_a_blank() -> None:
    log_probs = ad.full((4, 3), 1 / 3).log().unsqueeze(1)
    (loss,) = F.ctc_loss(
        log_probs, ad.tensor([[1, 2, 1, 0]]), [4], [4], reduction="none"
    )  # four steps for four labels: one alignment
    assert loss.item() == pytest.approx(4 * math.log(3))


def test_ctc_loss_of_what_does_not_fit() -> None:
    x = sample(1, 1, 3)
    target = ad.tensor([[1, 2]])
    assert F.ctc_loss(x.log_softmax(2), target, [1], [2]).item() == math.inf
    loss = F.ctc_loss(x.log_softmax(2), target, [1], [2], zero_infinity=True)
    loss.backward()
    assert loss.item() == 0 and not x.grad.any()
    for steps, lengths, blank in (([2], [1], 0), ([1], [3], 0), ([1, 1], [1], 0), ([1], [1], 3)):
        with pytest.raises(RuntimeError, match="^ctc_loss"):
            F.ctc_loss(x.log_softmax(2), target, steps, lengths, blank)


@pytest.mark.parametrize("n", [1, 2, 3])
def test_unpooling(n: int) -> None:
    pool, unpool = (getattr(F, f"max_{name}{n}d") for name in ("pool", "unpool"))
    x = sample(2, *[4] * n)
    values, at = pool(x, 2, return_indices=True)
    y = unpool(values, at, 2)
    kept = y != 0
    assert y.shape == x.shape and int(kept.sum()) == values.numel() and bool((y[kept] == x[kept]).all())
    assert ad.autograd.gradcheck(lambda v: unpool(v, at, 2), values.detach().requires_grad_(), check_forward_ad=True)
    assert unpool(values, at, 2, output_size=[2, *[5] * n]).shape[-1] == 5
    with pytest.raises(ValueError, match="output_size"):
        unpool(values, at, 2, output_size=[9] * n)
    with pytest.raises(RuntimeError, match="invalid max index"):
        unpool(values, at + 4**n, 2)
    with pytest.raises(RuntimeError, match="same shape"):
        unpool(values, at[:1], 2)


def test_adaptive_pools_of_volumes() -> None:
    x = sample(1, 2, 4, 5, 6)
    mean = F.adaptive_avg_pool3d(x, (2, None, 1))
    assert mean.shape == (1, 2, 2, 5, 1)
    np.testing.assert_allclose(mean[0, 0, 0, 0, 0].item(), x[0, 0, :2, 0].mean().item())
    most, at = F.adaptive_max_pool3d(x, 2, return_indices=True)
    assert bool((x.flatten(2).gather(2, at.flatten(2)) == most.flatten(2)).all())
    assert ad.autograd.gradcheck(lambda x: F.adaptive_avg_pool3d(x, 2), sample(1, 1, 2, 3, 2))


def test_multilabel_margin_loss() -> None:
    x = ad.tensor([[0.1, 0.2, 0.4, 0.8]], dtype=ad.float64, requires_grad=True)
    y = ad.tensor([[3, 0, -1, 1]])
    expected = 0.25 * ((1 - (0.1 - 0.2)) + (1 - (0.1 - 0.4)) + (1 - (0.8 - 0.2)) + (1 - (0.8 - 0.4)))
    assert F.multilabel_margin_loss(x, y).item() == pytest.approx(expected)
    assert F.multilabel_margin_loss(x[0], y[0], reduction="sum").item() == pytest.approx(expected)
    assert ad.autograd.gradcheck(lambda x: F.multilabel_margin_loss(x, y, reduction="none"), x)


def attend(**options: Any) -> Any:
    weights = {
        "in_proj_weight": sample(12, 4),
        "in_proj_bias": sample(12),
        "out_proj_weight": sample(4, 4),
        "out_proj_bias": sample(4),
    }
    given = {"bias_k": None, "bias_v": None, "add_zero_attn": False, "dropout_p": 0.0, **weights, **options}
    q, k = sample(3, 2, 4), sample(5, 2, 4)
    return F.multi_head_attention_forward(q, k, k, 4, 2, **given), (q, k, given)


def test_attention_with_many_heads() -> None:
    (out, weights), (q, k, given) = attend(average_attn_weights=False)
    w, b = given["in_proj_weight"].chunk(3), given["in_proj_bias"].chunk(3)
    heads = [(x @ w[i].t() + b[i]).reshape(-1, 2, 2, 2).permute(1, 2, 0, 3) for i, x in enumerate((q, k, k))]
    expected = F.scaled_dot_product_attention(*heads).permute(2, 0, 1, 3).reshape(3, 2, 4)
    expected = expected @ given["out_proj_weight"].t() + given["out_proj_bias"]
    np.testing.assert_allclose(out.detach().numpy(), expected.detach().numpy())
    assert weights.shape == (2, 2, 3, 5)
    np.testing.assert_allclose(weights.sum(-1).detach().numpy(), 1.0)


def test_masks_of_attention() -> None:
    hidden = ad.tensor([[False] * 4 + [True]] * 2)
    (_, weights), _ = attend(key_padding_mask=hidden, attn_mask=ad.ones(3, 5, dtype=ad.bool).triu(2))
    assert weights.shape == (2, 3, 5) and not weights[:, :, 4].any() and not weights[:, 0, 2:].any()
    (_, weights), _ = attend(bias_k=sample(1, 1, 4), bias_v=sample(1, 1, 4), add_zero_attn=True)
    assert weights.shape == (2, 3, 7)
    (out, weights), _ = attend(need_weights=False, use_separate_proj_weight=True, in_proj_weight=None, in_proj_bias=None,
                               q_proj_weight=sample(4, 4), k_proj_weight=sample(4, 4), v_proj_weight=sample(4, 4))  # fmt: skip
    assert weights is None and out.shape == (3, 2, 4)
    with pytest.raises(ValueError, match="num_heads"):
        F.multi_head_attention_forward(
            sample(3, 4), sample(3, 4), sample(3, 4), 4, 3, sample(12, 4), None, None, None, False, 0.0, sample(4, 4), None
        )


@pytest.mark.parametrize(
    "name", ["mse_loss", "cosine_similarity", "scaled_dot_product_attention", "ctc_loss", "embedding", "linear"]
)
def test_arguments_that_are_no_tensors_are_named(name: str) -> None:
    count = 4 if name == "ctc_loss" else 3
    with pytest.raises(TypeError, match=r"argument|Tensor"):
        getattr(F, name)(*[3] * count)


def test_errors_of_layers_name_the_argument() -> None:
    with pytest.raises(TypeError, match="^multilabel_margin_loss: argument 'input' must be Tensor, not str"):
        F.multilabel_margin_loss("two", ad.ones(2))


@pytest.mark.parametrize("norm", [lambda x, **w: F.group_norm(x, 2, **w), F.instance_norm])
@pytest.mark.parametrize("name", ["weight", "bias"])
def test_channels_of_a_norm_that_do_not_fit(norm, name: str) -> None:
    with pytest.raises(RuntimeError, match=rf"{name} of shape \[1000\] and input of shape \[2, 4, 3\]"):
        norm(sample(2, 4, 3), **{name: sample(1000)})


@pytest.mark.parametrize("size", [8, 8.0, "8"])
def test_an_output_size_without_a_length(size) -> None:
    with pytest.raises(
        TypeError, match=f"^ConvTranspose1d: output_size must be a tuple or a list of 1 ints, got {type(size).__name__}"
    ):
        ad.nn.ConvTranspose1d(1, 1, 3, stride=2)(ad.ones(1, 1, 3), output_size=size)


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda: ad.nn.Conv2d(2, 4, 3, padding="foo"), ValueError),
        (lambda: ad.nn.Conv2d(2, 4, 3, stride=(1, 2), padding="same"), ValueError),
        (lambda: ad.nn.Unflatten(1, 2), TypeError),
        (lambda: F.max_pool1d(ad.ones(5), 2), RuntimeError),
        (lambda: F.max_pool2d(ad.ones(5, 5), 2), RuntimeError),
        (lambda: F.avg_pool3d(ad.ones(5, 5, 5), 2), RuntimeError),
        (lambda: F.adaptive_avg_pool2d(ad.ones(5, 5), 2), RuntimeError),
        (lambda: F.adaptive_max_pool1d(ad.ones(5), 2), RuntimeError),
        (lambda: F.interpolate(ad.ones(2, 3), scale_factor=2), NotImplementedError),
        (lambda: F.interpolate(ad.ones(1, 1, 2, 2, 2, 2), scale_factor=2), NotImplementedError),
        (lambda: F.pad(ad.ones(1, 2, 3), (4, 0), "circular"), RuntimeError),
    ],
)
def test_what_layers_refuse(call: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        call()
    assert F.pad(ad.arange(3.0).view(1, 1, 3), (3, 0), "circular").tolist() == [[[0, 1, 2, 0, 1, 2]]]


def test_layers_one_after_the_other_are_a_list() -> None:
    a, b = ad.nn.ReLU(), ad.nn.Tanh()
    m = ad.nn.Sequential(dict(x=a, y=b))
    assert list(m * 2) == list(2 * m) == [a, b, a, b] and list(m) == [a, b]
    assert list(m[::-1].named_children()) == [("y", b), ("x", a)]
    m *= 2
    assert list(m._modules) == ["0", "1", "2", "3"]
    for wrong, error in ((lambda: m * 0, ValueError), (lambda: m * 1.5, TypeError), (lambda: m.insert(5, a), IndexError)):
        with pytest.raises(error):
            wrong()
    joined = {"z": a} | ad.nn.ParameterDict({"w": ad.ones(1)})
    assert list(joined) == ["z", "w"] and isinstance(joined, dict)
