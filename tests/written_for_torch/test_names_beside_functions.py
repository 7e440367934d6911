"""Private names of PyTorch that libraries import beside the functions they use or copy, and types that `isinstance` is asked about."""

from __future__ import annotations

import subprocess
import sys

import pytest

import adjoint as ad
import adjoint.nn.functional as F
from adjoint.nn import _reduction
from adjoint.optim.lr_scheduler import EPOCH_DEPRECATION_WARNING, _enable_get_lr_call, _warn_get_lr_called_within_step  # type: ignore[attr-defined]

PROGRAM = """
import adjoint.as_torch, torch, functorch
from torch._C import Generator, Size, _LinAlgError, _TensorBase, _infer_size, default_generator
from torch._C._functorch import get_unwrapped, is_batchedtensor, is_gradtrackingtensor, maybe_current_level, maybe_get_bdim, maybe_get_level
from torch._functorch.apis import vmap
from torch._functorch.eager_transforms import jacrev, vjp
from torch._functorch.functional_call import functional_call
from torch._functorch.make_functional import make_functional
from torch._lowrank import svd_lowrank
from torch.optim import _multi_tensor
from torch.testing._comparison import assert_close
from torch.testing._creation import make_tensor
from torch.types import Storage, Tensor
assert Generator is torch.Generator and Size is torch.Size and _LinAlgError is torch.linalg.LinAlgError and _TensorBase is torch.Tensor
assert torch._C._linalg.det is torch.linalg.det and _infer_size((2, 1), (3,)) == (2, 3) and default_generator is torch.default_generator
assert functorch.vmap(torch.sin)(torch.zeros(2)).tolist() == vmap(torch.sin)(torch.zeros(2)).tolist() == [0, 0]
seen = []
def look(x):
    seen.append((is_batchedtensor(x), is_gradtrackingtensor(x), maybe_get_bdim(x), maybe_get_level(x), maybe_current_level(), tuple(get_unwrapped(x).shape)))
    return x.sum()
torch.vmap(look)(torch.ones(2, 3))
torch.vmap(torch.func.grad(look))(torch.ones(2, 3))
assert seen == [(True, False, 0, 1, 1, (2, 3)), (False, True, -1, 2, 2, (3,))], seen
x = torch.ones(2)
assert not is_batchedtensor(x) and maybe_get_level(x) == maybe_get_bdim(x) == -1 and maybe_current_level() is None
optimizer = _multi_tensor.SGD([torch.nn.Parameter(x)], lr=0.5)
assert isinstance(optimizer, torch.optim.SGD) and optimizer.param_groups[0]["foreach"] and optimizer.param_groups[0]["lr"] == 0.5
types = {getattr(torch, name): None for name in ("qint8", "quint8", "qint32", "quint4x2", "quint2x4")}
assert len(types) == 5 and torch.qint32.itemsize == 4 and torch.qint8.is_signed and x.dtype not in types
"""


def test_a_program_that_imports_them() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr


def test_named_results_are_of_the_types_that_they_name() -> None:
    square = ad.eye(2, dtype=ad.float64)
    results = [
        ad.linalg.eigh(square), ad.linalg.svd(square), ad.svd(square), ad.linalg.qr(square), ad.qr(square), ad.linalg.slogdet(square),
        ad.linalg.lstsq(square, square), square.max(0), square.sort(), ad.aminmax(square),
    ]  # fmt: skip
    for result in results:
        assert type(result) is getattr(ad.return_types, type(result).__name__)
    assert ad.return_types.svd is not ad.return_types.linalg_svd


def test_values_below_transforms() -> None:
    shapes = []

    def look(x: ad.Tensor) -> ad.Tensor:
        shapes.append((ad.func.debug_unwrap(x).shape, ad.func.debug_unwrap(x, recurse=False).shape))
        return x.sum()

    ad.vmap(ad.vmap(look))(ad.ones(2, 3, 4))
    assert shapes == [((2, 3, 4), (3, 4))]
    x = ad.ones(2)
    assert ad.func.debug_unwrap(x) is x


def test_reductions_by_number() -> None:
    assert F._Reduction is _reduction and [_reduction.get_enum(name) for name in ("none", "mean", "sum")] == [0, 1, 2]
    assert _reduction.legacy_get_string(False, None, emit_warning=False) == "sum"
    assert _reduction.legacy_get_enum(None, False, emit_warning=False) == 0
    with pytest.raises(ValueError, match="largest is not a valid value for reduction"):
        _reduction.get_enum("largest")


def test_a_schedule_with_a_step_of_its_own() -> None:
    class Halved(ad.optim.lr_scheduler.LRScheduler):
        def get_lr(self) -> list[float]:
            _warn_get_lr_called_within_step(self)
            return [rate / 2**self.last_epoch for rate in self.base_lrs]

        def step(self, epoch: int | None = None) -> None:
            self._step_count += 1
            self.last_epoch += 1
            with _enable_get_lr_call(self):
                rates = self.get_lr()
            for group, rate in zip(self.optimizer.param_groups, rates, strict=True):
                group["lr"] = rate

    optimizer = ad.optim.SGD([ad.nn.Parameter(ad.ones(1))], lr=1.0)
    schedule = Halved(optimizer)
    optimizer.step()
    schedule.step()
    assert optimizer.param_groups[0]["lr"] == 0.5
    with pytest.warns(UserWarning, match="get_last_lr"):
        schedule.get_lr()
    with pytest.warns(UserWarning) as warned:
        ad.optim.lr_scheduler.StepLR(optimizer, 1).step(3)
    assert str(warned[0].message) == EPOCH_DEPRECATION_WARNING


def test_a_copied_attention_projects_as_the_layer() -> None:
    ad.manual_seed(0)
    layer = ad.nn.MultiheadAttention(4, 2, batch_first=True)
    x, hidden = ad.randn(2, 3, 4), ad.tensor([[False, False, True], [False, False, False]])
    assert F._mha_shape_check(x, x, x, hidden, None, 2)
    q, k, v = F._in_projection_packed(x, x, x, layer.in_proj_weight, layer.in_proj_bias)
    parts, biases = layer.in_proj_weight.chunk(3), layer.in_proj_bias.chunk(3)
    for one, other in zip(F._in_projection(x, x, x, *parts, *biases), (q, k, v), strict=True):
        ad.testing.assert_close(one, other)
    mask = F._canonical_mask(hidden, "key_padding_mask", F._none_or_dtype(None), "attn_mask", x.dtype)
    heads = [part.view(2, 3, 2, 2).transpose(1, 2) for part in (q, k, v)]
    attended = F.scaled_dot_product_attention(*heads, mask[:, None, None]).transpose(1, 2).reshape(2, 3, 4)
    ad.testing.assert_close(layer.out_proj(attended), layer(x, x, x, key_padding_mask=hidden, need_weights=False)[0])
    with pytest.raises(AssertionError, match="expected `key` to be 3-D"):
        F._mha_shape_check(x, x[0], x, None, None, 2)
    with pytest.raises(ValueError, match="more than 1 value per channel"):
        F._verify_batch_size([1, 3, 1])
    with pytest.raises(RuntimeError, match="only bool and floating types of mask"):
        F._canonical_mask(ad.ones(2, dtype=ad.int64), "mask", None, "", ad.float32)


def test_unrecorded_fills() -> None:
    w = ad.nn.Parameter(ad.ones(64))
    ad.nn.init._no_grad_fill_(w, 2.0)
    assert w.sum().item() == 128 and w.grad_fn is None
    ad.nn.init._no_grad_trunc_normal_(w, 0.0, 1.0, -1.0, 1.0)
    assert w.detach().abs().max() <= 1
    assert ad.nn.init._no_grad_zero_(w).detach().count_nonzero() == 0
