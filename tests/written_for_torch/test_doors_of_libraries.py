"""What libraries such as torchvision ask for when they are imported, on the way to code that runs."""

from __future__ import annotations

import enum
import io
import subprocess
import sys
import unittest

import pytest

import adjoint as ad
from adjoint import _C, _utils, ao, onnx
from adjoint.storage import _load_from_bytes


def test_libraries_of_operators_are_refused_as_what_does_not_load():
    code = """
import adjoint as ad
def fake(x): return x
try:
    ad.library.register_fake("nobody::f")(fake)
except RuntimeError as error:
    assert "nobody::f is not defined" in str(error)
try:
    ad.ops.load_library("libf.so")
except OSError as error:
    assert "libf.so" in str(error)
assert ad.library.register_fake("nobody::f")(fake) is fake  # the library goes on without its operators
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_keys_of_the_dispatcher():
    keys = _C.DispatchKeySet(_C.DispatchKey.AutocastCPU) | _C.DispatchKeySet(_C.DispatchKey.AutocastXPU)
    assert (
        isinstance(_C.DispatchKey.CPU, enum.Enum) and keys.has(_C.DispatchKey.AutocastCPU) and not keys.has(_C.DispatchKey.CPU)
    )
    assert keys.add(_C.DispatchKey.CPU).remove(_C.DispatchKey.CPU) == keys and keys & keys == keys and keys - keys != keys
    a = ad.ones(2, 2)
    with ad.autocast("cpu"):
        assert (a @ a).dtype == ad.bfloat16
        with _C._ExcludeDispatchKeyGuard(keys):
            assert (a @ a).dtype == ad.float32
        assert (a @ a).dtype == ad.bfloat16
    with pytest.raises(NotImplementedError, match="leave out CPU"):
        _C._ExcludeDispatchKeyGuard(keys.add(_C.DispatchKey.CPU))


def test_nothing_is_exported_compiled_or_quantized():
    from adjoint._dynamo.utils import counters, is_compile_supported

    def symbolic(g):
        return g

    assert not onnx.is_in_onnx_export() and onnx.symbolic_helper.parse_args("v")(symbolic) is symbolic
    onnx.register_custom_op_symbolic("mine::f", symbolic, 11)
    with pytest.raises(NotImplementedError, match="files of other runtimes"):
        onnx.export(None)
    assert not is_compile_supported("cpu") and not counters["stats"]["calls"]
    x = ad.ones(2)
    assert ao.quantization.QuantStub()(x) is x and ao.quantization.DeQuantStub()(x) is x
    assert ad.jit._overload(symbolic) is ad.jit._script_if_tracing(symbolic) is symbolic


def test_tensors_of_plain_pickles():
    file = io.BytesIO()
    ad.save(ad.arange(6.0), file, _use_new_zipfile_serialization=False)
    memory = _load_from_bytes(file.getvalue())
    assert memory.size() == 6 and _utils._rebuild_tensor_v2(memory, 1, (2, 2), (2, 1), True, {}).tolist() == [[1, 2], [3, 4]]
    assert type(_utils._rebuild_parameter(ad.ones(1), True, {})) is ad.nn.Parameter


def test_tensors_in_one_piece():
    tensors = [ad.ones(2, 3), ad.zeros(()), ad.arange(2.0)]
    flat = _utils._flatten_dense_tensors(tensors)
    assert flat.shape == (9,) and all(ad.equal(a, b) for a, b in zip(_utils._unflatten_dense_tensors(flat, tensors), tensors))
    assert (
        _utils._get_device_index("cuda:1") == 1 == _utils._get_device_index(1)
        and _utils._get_device_index("cpu", allow_cpu=True) == -1
    )
    for wrong in ("cpu", None, "cuda"):
        with pytest.raises(ValueError, match="Expected a"):
            _utils._get_device_index(wrong)


def test_progress():
    from adjoint.hub import tqdm
    from adjoint_functional.progress import Percents

    assert list(tqdm([1, 2], disable=True)) == [1, 2]
    shown, out = io.StringIO(), sys.stderr
    sys.stderr = shown
    try:
        with Percents(total=4) as bar:
            bar.update()
            bar.update(3)
        assert list(Percents(iter([5]))) == [5]
    finally:
        sys.stderr = out
    assert shown.getvalue() == "\r25.0%\r100.0%\n\r1\n"


def test_the_test_case_of_pytorch():
    from adjoint_functional.test_case import TestCase

    case = TestCase()
    case.assertEqual({"a": [ad.ones(2), "x"]}, {"a": (ad.ones(2) + 1e-7, "x")})
    case.assertEqual(ad.ones(2), [1.0, 1.0])
    assert isinstance(case, unittest.TestCase)
    for a, b in (
        (ad.ones(2), ad.zeros(2)),
        (ad.ones(2), ad.ones(2, dtype=ad.float64)),
        (1.0, 1.1),
        ([1], [1, 2]),
        ("a", "b"),
        ({"a": 1}, {"b": 1}),
    ):
        with pytest.raises(AssertionError):
            case.assertEqual(a, b)


def test_under_the_name_of_torch():
    code = """
import adjoint.as_torch, pickle
import torch.ao.quantization, torch._custom_ops, torch.onnx
from torch.onnx import symbolic_opset11
from torch.jit.annotations import BroadcastingList2
from torch.fx.graph_module import _CodeOnlyModule, _copy_attr, _USER_PRESERVED_ATTRIBUTES_KEY
from torch.testing._internal.common_utils import TestCase, make_tensor
from torch.utils.model_zoo import tqdm
assert BroadcastingList2[int] == int | list[int] and torch.serialization.pickle is pickle
a, b = torch.nn.Sequential(torch.nn.BatchNorm1d(2)), torch.nn.Module()
_copy_attr(a, b, "0.running_mean"); _copy_attr(a, b, "0.weight"); _copy_attr(a, b, "1.weight")
assert list(dict(b.named_buffers())) == ["0.running_mean"] and list(dict(b.named_parameters())) == ["0.weight"]
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_an_optimizer_without_defaults():
    class Nothing(ad.optim.Optimizer):
        def __init__(self):
            super().__init__([ad.zeros(1)], [])

    assert Nothing().param_groups[0].keys() == {"params"}


def test_a_bernoulli_into_bools():
    chosen = ad.empty(3, dtype=ad.bool)
    assert ad.bernoulli(ad.tensor([1.0, 0.0, 1.0]), out=chosen) is chosen and chosen.tolist() == [True, False, True]


def test_rows_of_sparse_matrices():
    x = (ad.arange(12.0).view(4, 3) % 4).to_sparse()
    rows, columns = x.indices()
    begins = ad._convert_indices_from_coo_to_csr(rows, 4)
    csr = x.to_sparse_csr()
    assert ad.equal(begins, csr.crow_indices()) and begins.dtype == ad.int64
    assert ad.equal(ad._convert_indices_from_csr_to_coo(begins, columns), x.indices())
    turned = ad._convert_indices_from_csr_to_coo(begins, columns, transpose=True, out_int32=True)
    assert turned.dtype == ad.int32 and ad.equal(turned[0].long(), columns)
    assert ad._shape_as_tensor(x.to_dense()).tolist() == [4, 3]
    for wrong in (
        lambda: ad._convert_indices_from_coo_to_csr(x.indices(), 4),
        lambda: ad._convert_indices_from_csr_to_coo(begins, x.indices()),
    ):
        with pytest.raises(RuntimeError, match="of one dimension"):
            wrong()


def test_values_that_parameters_start_from():
    weight = ad.nn.Linear(3, 4).weight
    assert ad.nn.init._no_grad_uniform_(weight, 2, 3) is weight and weight.is_leaf and 2 <= weight.min() <= weight.max() < 3
    assert ad.nn.init._no_grad_normal_(weight, 5, 0.0).tolist() == [[5.0] * 3] * 4


def test_tensors_of_one_element_are_numbers():
    one, two = ad.tensor([1]), ad.tensor([[2]])
    assert ad.tensor([one, two]).tolist() == [1, 2] and ad.tensor([[one, two], [3, one]]).tolist() == [[1, 2], [3, 1]]
    assert ad.tensor([one, 0.5]).tolist() == [1.0, 0.5] and ad.tensor([ad.ones(2), ad.zeros(2)]).shape == (2, 2)
