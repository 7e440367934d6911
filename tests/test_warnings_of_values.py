"""Warnings of what loses, hides or copies values: PyTorch's class and beginning, at the line of the user, once where PyTorch warns once."""

import types
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from warned import given

import adjoint as ad

F, D = ad.nn.functional, ad.utils.data
z, leaf = ad.ones(2, dtype=ad.complex64), ad.ones((), requires_grad=True)
frozen = np.ones(2)
frozen.flags.writeable = False
REAL = "Casting complex values to real discards the imaginary part"
SCALAR = "Converting a tensor with requires_grad=True to a scalar may lead to unexpected behavior.\nConsider using tensor.detach() first."
COPY = "To copy construct from a tensor, it is recommended to use sourceTensor.detach().clone() or"
ARRAY = "The given NumPy array is not writable, and PyTorch does not support non-writable tensors."
EMPTY = "Initializing zero-element tensors is a no-op"


def written(key: Any, value: Any) -> None:
    ad.ones(2)[key] = value


ONCE: dict[str, tuple[Callable[[], object], str]] = {
    **{f"complex to {t}": (lambda t=t: z.to(getattr(ad, t)), REAL) for t in ("float32", "float16", "int64")},
    "double()": (lambda: z.double(), REAL),
    "type_as": (lambda: z.type_as(ad.ones(1)), REAL),
    "copy_": (lambda: ad.ones(2).copy_(z), REAL),
    "fill_": (lambda: ad.ones(2).fill_(z[0]), REAL),
    "x[0] = z": (lambda: written(0, z[0]), REAL),
    "as_tensor of z": (lambda: ad.as_tensor(z, dtype=ad.float32), REAL),
    "tensor of an array": (lambda: ad.tensor(np.ones(2, complex), dtype=ad.float32), REAL),
    "float": (lambda: float(leaf), SCALAR),
    "complex": (lambda: complex(leaf * 2), SCALAR),
    "tensor of a list": (lambda: ad.tensor([leaf.reshape(1)]), SCALAR),
    "from_numpy": (lambda: ad.from_numpy(frozen), ARRAY),
    "as_tensor": (lambda: ad.as_tensor(frozen), ARRAY),
    "arrays": (lambda: ad.tensor([np.ones(2)]), "Creating a tensor from a list of numpy.ndarrays is extremely slow."),
    "searchsorted": (lambda: ad.searchsorted(ad.arange(8.0)[::2], ad.ones(2)), "torch.searchsorted(): boundary tensor is non-contiguous"),
    "bucketize": (lambda: ad.bucketize(ad.ones(4)[::2], ad.ones(4)), "torch.searchsorted(): input value tensor is non-contiguous"),
    "conv1d": (lambda: F.conv1d(ad.ones(1, 1, 4), ad.ones(1, 1, 2), padding="same"), "Using padding='same' with even kernel lengths"),
}  # fmt: skip
EACH: dict[str, tuple[Callable[[], object], str]] = {
    "tensor": (lambda: ad.tensor(ad.ones(2)), COPY),
    "new_tensor": (lambda: ad.ones(2).new_tensor(ad.ones(2)), COPY),
    "x[[:, 0]]": (lambda: ad.ones(2, 2)[[slice(None), 0]], "Using a non-tuple sequence for multidimensional indexing"),
    "cov": (lambda: ad.cov(ad.ones(2, 1)), "cov(): degrees of freedom is <= 0. Correction should be strictly less"),
    "weighted cov": (lambda: ad.cov(ad.ones(2, 2), aweights=ad.tensor([0.0, 1.0])), "cov(): degrees of freedom is <= 0."),
    "clip_grad_norm_": (
        lambda: ad.nn.utils.clip_grad_norm_((p for p in ()), 1.0),
        "`parameters` is an empty generator, no gradient clipping will occur.",
    ),
    "Linear": (lambda: ad.nn.Linear(0, 2), EMPTY),
    "InstanceNorm": (lambda: ad.nn.InstanceNorm1d(3)(ad.ones(2, 2, 4)), "input's size at dim=1 does not match num_features."),
    "masks": (
        lambda: ad.nn.MultiheadAttention(2, 1)(
            *[ad.ones(2, 1, 2)] * 3, key_padding_mask=ad.zeros(1, 2).bool(), attn_mask=ad.zeros(2, 2)
        ),
        "Support for mismatched key_padding_mask and attn_mask is deprecated.",
    ),
    "DataLoader": (
        lambda: D.DataLoader([1], num_workers=10**4),
        "This DataLoader will create 10000 worker processes in total.",
    ),
    "Wishart": (
        lambda: ad.distributions.Wishart(ad.tensor(1.5), ad.eye(2)),
        "Low df values detected. Singular samples are highly likely to occur for ndim - 1 < df < ndim.",
    ),
}


@pytest.mark.parametrize("name", [*ONCE, *EACH])
def test_at_the_line_of_the_user(name: str) -> None:
    call, text = (ONCE | EACH)[name]
    both = given(call, True)
    assert len(both) == 2 and all(str(w.message).startswith(text) for w in both), [str(w.message) for w in both]
    assert {(w.category, w.filename) for w in both} == {(UserWarning, __file__)}
    assert len(given(call, False)) == (0 if name in ONCE else 2)


def test_what_loses_nothing_says_nothing() -> None:
    def numbers() -> None:
        with ad.no_grad():
            float(leaf)

    quiet: list[Callable[[], object]] = [
        *(lambda: z.bool(), lambda: z.real.float(), lambda: z.to(ad.complex128), lambda: ad.tensor(frozen), numbers),
        *(lambda: leaf.item(), lambda: int(leaf), lambda: bool(leaf), lambda: f"{leaf:.1f}", lambda: ad.ones(2) + frozen),
        *(
            lambda: ad.ones(2)[[0, 1]],
            lambda: ad.cov(ad.ones(2, 3)),
            lambda: ad.as_tensor(z),
            lambda: ad.ones(3)[np.ones(3, bool)],
        ),
        *(lambda: ad.autograd.grad((z * leaf).sum().real, leaf), lambda: ad.nn.utils.clip_grad_norm_([], 1.0)),
        *(
            lambda: ad.zeros(2, out=ad.ones(3)),
            lambda: ad.linspace(0, 1, 2, out=ad.ones(3)),
            lambda: ad.tensor([leaf.detach()]),
        ),
    ]
    assert [str(w.message) for call in quiet for w in given(call, True)] == []


def schedules() -> dict[str, Callable[[Any], Any]]:
    rates = ad.optim.lr_scheduler
    return {
        **{name: lambda o, name=name: getattr(rates, name)(o, 2) for name in ("StepLR", "ExponentialLR", "CosineAnnealingLR")},
        **{"LambdaLR": lambda o: rates.LambdaLR(o, lambda e: 1.0), "OneCycleLR": lambda o: rates.OneCycleLR(o, 0.1, 5)},
        **{"CosineAnnealingWarmRestarts": lambda o: rates.CosineAnnealingWarmRestarts(o, 2)},
        **{"SWALR": lambda o: ad.optim.swa_utils.SWALR(o, 0.05), "LinearLR": lambda o: rates.LinearLR(o)},
    }


@pytest.mark.parametrize("name", schedules())
def test_rates_asked_for_between_steps(name: str) -> None:
    optimizer = ad.optim.SGD([ad.nn.Parameter(ad.ones(1))], lr=0.1, momentum=0.5)
    schedule = schedules()[name](optimizer)
    with pytest.warns(UserWarning, match=r"To get the last learning rate .*, please use `get_last_lr\(\)`") as said:
        schedule.get_lr()
    assert [w.filename for w in said] == [__file__]
    optimizer.step()
    schedule.step()
    schedule.get_last_lr()


def test_a_schedule_of_schedules_asks_within_its_step() -> None:
    rates, optimizer = ad.optim.lr_scheduler, ad.optim.SGD([ad.nn.Parameter(ad.ones(1))], lr=0.1)
    parts = [
        rates.ConstantLR(optimizer),
        rates.CosineAnnealingWarmRestarts(optimizer, 2),
        rates.MultiplicativeLR(optimizer, float),
    ]
    schedule = rates.SequentialLR(optimizer, parts, [2, 4])
    for _ in range(6):
        optimizer.step()
        schedule.step()
    plateau = rates.ReduceLROnPlateau(optimizer)
    with pytest.warns(UserWarning, match=r"The epoch parameter in `scheduler.step\(\)` was not necessary"):
        plateau.step(1.0, epoch=3)


def test_pinning_without_a_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "adjoint_functional.utils.data.iterators.core", types.SimpleNamespace(cuda=types.SimpleNamespace(is_available=bool))
    )
    with pytest.warns(UserWarning, match="'pin_memory' argument is set as true but no accelerator is found"):
        assert list(D.DataLoader([1, 2], pin_memory=True, collate_fn=lambda x: x)) == [[1], [2]]
