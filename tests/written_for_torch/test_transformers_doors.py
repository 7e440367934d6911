"""What libraries of language models look at before they compute: plans of distribution, types of 8 bits, hints of types."""

from __future__ import annotations

import subprocess
import sys

import pytest

import adjoint as ad

PROGRAM = """
import typing
import torch
from torch._dynamo._trace_wrapped_higher_order_op import TransformGetItemToIndex
from torch._higher_order_ops.associative_scan import associative_scan
from torch.distributed._functional_collectives import all_to_all_single_autograd, wait_tensor
from torch.distributed.checkpoint.hf_storage import HuggingFaceStorageReader
from torch.distributed.fsdp import CPUOffloadPolicy, MixedPrecisionPolicy
from torch.distributed.tensor import DTensor, Partial, Replicate, Shard, distribute_tensor
from torch.distributed.tensor._utils import compute_local_shape_and_global_offset
from torch.distributed.tensor.parallel import ColwiseParallel
from torch.distributed.tensor.placement_types import _StridedShard
from torch.utils._pytree import _dict_flatten_with_keys, register_pytree_node

class Layer(torch.nn.Linear):
    more: "int"

assert typing.get_type_hints(Layer)["training"] is bool and typing.get_type_hints(Layer)["more"] is int
assert Shard(1) == Shard(dim=1) != Shard(0) and Shard(1).is_shard(1) and Replicate().is_replicate() and Partial().reduce_op == "sum"
assert ColwiseParallel(output_layouts=Replicate()).output_layouts == Replicate() and isinstance(_StridedShard(0, split_factor=2), Shard)
assert MixedPrecisionPolicy(param_dtype=torch.bfloat16).param_dtype is torch.bfloat16 and CPUOffloadPolicy().pin_memory
assert not isinstance(torch.ones(1), DTensor) and wait_tensor(x := torch.ones(1)) is x
assert str(_dict_flatten_with_keys({"a": 1})[0][0][0]) == "['a']"
with TransformGetItemToIndex():
    assert torch.arange(3)[torch.tensor(1)] == 1
for refused in (lambda: distribute_tensor(x), lambda: HuggingFaceStorageReader("x"), lambda: all_to_all_single_autograd(x)):
    try:
        refused()
    except NotImplementedError as error:
        assert "not sharded" in str(error)
    else:
        raise AssertionError
print("ok")
"""


def test_doors() -> None:
    done = subprocess.run(
        [sys.executable, "-c", "import adjoint.as_torch\n" + PROGRAM], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0 and done.stdout == "ok\n", done.stderr


# eps, smallest normal and largest number, as finfo of PyTorch 2.13 has them; but eps of float8_e5m2fnuz, of two bits, which it says is 0.125
LIMITS = {
    "float8_e4m3fn": (0.125, 0.015625, 448), "float8_e5m2": (0.25, 6.103515625e-05, 57344), "float8_e4m3fnuz": (0.125, 0.0078125, 240),
    "float8_e5m2fnuz": (0.25, 3.0517578125e-05, 57344), "float8_e8m0fnu": (1, 5.877471754111438e-39, 1.7014118346046923e38),
}  # fmt: skip


@pytest.mark.parametrize("name", LIMITS)
def test_narrow_types(name: str) -> None:
    kind = getattr(ad, name)
    info = ad.finfo(kind)
    assert (
        (info.eps, info.tiny, info.max) == LIMITS[name]
        and info.bits == 8
        and kind.is_floating_point
        and repr(kind) == f"adjoint.{name}"
    )
    with pytest.raises(TypeError):
        ad.zeros(2, dtype=kind)


def test_pairs_of_halves() -> None:
    assert ad.chalf is ad.complex32 and ad.complex32.is_complex and not ad.complex32.is_floating_point
    assert (
        ad.ones(1).dtype != ad.complex32 and ad.complex32.to_real() is ad.float16 and ad.complex32.to_complex() is ad.complex32
    )
    with pytest.raises(TypeError, match="adjoint.complex32"):
        ad.ones(1).to(ad.complex32)
