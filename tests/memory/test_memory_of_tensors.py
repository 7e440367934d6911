"""Which memory tensors look at: `set_`, `resize_`, views in elements of another size, results that are copies."""

import subprocess
import sys

import numpy as np
import pytest

import adjoint as ad


def test_set_takes_memory_with_any_strides() -> None:
    x, y = ad.arange(12.0), ad.empty(0)
    assert y.set_(x.storage(), 1, (2, 2), (4, 1)).tolist() == [[1, 2], [5, 6]]
    assert y.set_(x, 2, (3,)).tolist() == [2, 3, 4]
    assert y.set_(x.untyped_storage(), 0, size=(3,), stride=(2,)).tolist() == [0, 2, 4]
    x[2] = 9
    assert y.tolist() == [0, 9, 4]
    assert y.set_(x.storage()).shape == (12,)
    assert y.set_().shape == (0,)
    assert y._version == 5
    with pytest.raises(RuntimeError, match="source of the type"):
        ad.empty(0, dtype=ad.int32).set_(x)
    with pytest.raises(RuntimeError, match="out of bounds"):
        y.set_(x.storage(), 1, (2, 20))


def test_resize_gives_the_elements_the_order_of_a_format() -> None:
    last = ad.channels_last
    x = ad.arange(8.0).resize_(1, 2, 2, 2, memory_format=last)
    assert x.is_contiguous(memory_format=last) and x._version == 1
    assert x.permute(0, 2, 3, 1).flatten().tolist() == list(range(8))
    like = ad.empty(1, 2, 2, 2).contiguous(memory_format=last)
    assert ad.arange(8.0).resize_as_(like, memory_format=ad.preserve_format).stride() == like.stride()
    assert ad.arange(8.0).resize_as_(like).is_contiguous()
    with pytest.raises(RuntimeError, match="Unsupported memory format"):
        x.resize_(2, memory_format=ad.preserve_format)
    with pytest.raises(RuntimeError, match="rank 4"):
        x.resize_(2, memory_format=last)


@pytest.mark.parametrize("to", ["uint8", "int16", "float32", "int64", "complex128"])
@pytest.mark.parametrize("given", ["int8", "float16", "int32", "float64"])
def test_views_in_elements_of_another_size_are_numpys(given: str, to: str) -> None:
    a = np.arange(96).astype(given).reshape(2, 48)
    view = ad.from_numpy(a).view(getattr(ad, to))
    assert view.data_ptr() == a.ctypes.data and view.shape == a.view(to).shape
    assert view.numpy().tobytes() == a.view(to).tobytes()
    assert view.view(getattr(ad, given)).numpy().tobytes() == a.tobytes()


def test_views_in_elements_of_another_size_need_whole_ones() -> None:
    x = ad.arange(16, dtype=ad.int8)
    for y, rule in (
        (x[0], "dim.. cannot be 0"),
        (x[::2], "stride.-1. must be 1"),
        (x[:6], "size.-1. must be divisible by 4"),
        (x[2:6], "storage_offset.* must be divisible by 4"),
        (x.view(8, 2)[:, :4].as_strided((2, 4), (2, 1)), "stride.0. must be divisible by 4"),
    ):
        with pytest.raises(RuntimeError, match=rule):
            y.view(ad.float32)
    view = x.view(ad.int32)
    view[0] = -1
    assert x[:5].tolist() == [-1, -1, -1, -1, 4]


def test_a_reshape_that_copies_is_no_view() -> None:
    x = ad.arange(6.0).view(2, 3).requires_grad_()
    for y in (x.t().reshape(-1), x.t().flatten(), x.expand(2, 2, 3).reshape(12)):
        assert not y._is_view() and y._base is None
    y = x.t().reshape(6)
    y.mul_(2)
    (y * y.detach()).sum().backward()
    assert x.grad.tolist() == (4 * x.detach()).tolist()
    z = x.t().reshape(6)
    assert z.detach_().is_leaf and not z.requires_grad
    assert x.reshape(3, 2)._is_view()


def test_expand_has_the_strides_of_unsqueeze_where_nothing_repeats() -> None:
    x = ad.randn(3, 2)
    assert x.expand(1, 1, 3, 2).stride() == x[None, None].stride()
    assert ad.randn(()).expand(1).stride() == (1,)
    assert x.expand(4, 1, 3, 2).stride() == (0, 6, 2, 1)


@pytest.mark.parametrize("dtype", [ad.complex64, ad.complex128])
def test_real_and_imaginary_parts_are_assigned_in_place(dtype: ad.dtype) -> None:
    x = ad.randn(3, dtype=dtype, requires_grad=True)
    a = ad.randn(3, dtype=ad.float64, requires_grad=True)
    y = x * 1
    y.real = a
    y.imag = 2
    assert ad.allclose(y.real, a.to(y.real.dtype)) and y.imag.tolist() == [2, 2, 2]
    (y.real * 3).sum().backward()
    assert a.grad.tolist() == [3, 3, 3] and x.grad.abs().sum() == 0
    real = ad.zeros(2)
    real.real = ad.tensor([1, 2])
    assert real.tolist() == [1, 2]
    with pytest.raises(RuntimeError, match="imag is not implemented"):
        real.imag = 1
    with pytest.raises(TypeError):
        del real.real


def test_bytes_of_storages(tmp_path):
    memory = ad.tensor([1.0]).untyped_storage()
    assert (
        isinstance(memory, ad.UntypedStorage)
        and not isinstance(ad.ones(1).storage(), ad.UntypedStorage)
        and memory.untyped() is memory
    )
    assert memory.tolist() == [0, 0, 128, 63] and memory[3] == 63 and memory[1:3].tolist() == [0, 128] and len(memory[1:3]) == 2
    assert ad.asarray(memory[2:], dtype=ad.uint8).tolist() == [128, 63] and len(ad.UntypedStorage(4)) == 4
    file = tmp_path / "bytes"
    file.write_bytes(bytes(range(8)))
    private, shared = ad.UntypedStorage.from_file(file, False, 8), ad.UntypedStorage.from_file(file, shared=True, nbytes=4)
    ad.empty(0, dtype=ad.uint8).set_(private[4:], 0, (4,), (1,)).zero_()
    ad.empty(0, dtype=ad.uint8).set_(shared[2:3], 0, (1,), (1,)).fill_(9)
    assert private.tolist() == [0, 1, 2, 3, 0, 0, 0, 0] and shared.tolist() == [0, 1, 9, 3]
    assert file.read_bytes() == bytes([0, 1, 9, 3, 4, 5, 6, 7])


def test_files_by_the_library_of_safetensors(tmp_path):
    pytest.importorskip("safetensors")
    program = """
import adjoint.as_torch, sys, torch
from safetensors import safe_open
from safetensors.torch import load_file, load_model, save_file, save_model
save_file({"a": torch.arange(6.0).view(2, 3), "h": torch.ones(3, dtype=torch.bfloat16)}, "f")
assert load_file("f")["a"].tolist() == [[0, 1, 2], [3, 4, 5]] and load_file("f")["h"].dtype == torch.bfloat16
with safe_open("f", framework="pt") as file:
    assert file.get_slice("a")[:, 1:].tolist() == [[1, 2], [4, 5]]
one, two = torch.nn.Linear(2, 2), torch.nn.Linear(2, 2)
save_model(one, "f")
load_model(two, "f")
assert torch.equal(one.weight, two.weight)
"""
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_asarray_without_copies_shares_memory_or_raises() -> None:
    x, array = ad.ones(2), np.ones(2)
    assert ad.asarray(x, copy=False) is x and ad.asarray(array, copy=False).data_ptr() == array.ctypes.data
    assert ad.asarray(x, dtype=ad.float32, device="cpu", copy=False) is x
    for data, how in (
        (x, {"dtype": ad.float64}),
        (array, {"dtype": ad.float32}),
        (x, {"device": "meta"}),
        ([1.0], {}),
        (1.0, {}),
    ):
        with pytest.raises(ValueError, match="asarray: copy=False needs a tensor or an array"):
            ad.asarray(data, copy=False, **how)


@pytest.mark.parametrize(
    ("shape", "strides"),
    [
        ((2, 1, 4, 5), (20, 1, 5, 1)),
        ((2, 3, 1, 1), (3, 1, 3, 3)),
        ((0, 3, 4, 5), (60, 1, 15, 3)),
        ((2, 3, 4, 1), (12, 1, 3, 3)),
    ],
)
def test_channels_last_has_its_strides_along_single_elements_too(shape, strides):
    x = ad.ones(shape)
    for y in (x.to(memory_format=ad.channels_last), x.clone(memory_format=ad.channels_last)):
        assert y.stride() == strides and y.to(memory_format=ad.channels_last) is y
    assert x.numel() == 0 or 1 not in shape[1:2] or x.contiguous(memory_format=ad.channels_last) is x


def test_memory_is_written_and_copied_through_its_storage():
    x = ad.arange(4.0)
    memory = x[1:].untyped_storage()
    copied = memory.clone()
    assert memory.device == ad.device("cpu") and not memory.is_cuda and memory.cpu() is memory
    memory.fill_(0)
    assert x.tolist() == [0] * 4
    memory.copy_(copied)
    x.storage()[1] = 7.0
    assert x.tolist() == [0, 7, 2, 3] and x.storage().clone().tolist() == x.tolist() and copied.nbytes() == 16


def test_storages_are_written_byte_by_byte() -> None:
    x = ad.arange(4.0)
    with pytest.raises(RuntimeError, match="size does not match, self was 16 bytes but src was 1 bytes"):
        x.untyped_storage().copy_(ad.ones(1, dtype=ad.uint8).untyped_storage())
    with pytest.raises(RuntimeError, match="size does not match"):
        x.storage().copy_(ad.ones(1).storage())
    x.storage().copy_(ad.ones(4, dtype=ad.int32).untyped_storage())
    assert x.view(ad.int32).tolist() == [1, 1, 1, 1]
    bytes_ = ad.zeros(4, dtype=ad.uint8).untyped_storage()
    assert bytes_.fill_(300).tolist() == [44] * 4 and bytes_.clone().tolist() == [44] * 4
    bytes_[1] = 257
    assert bytes_.tolist() == [44, 1, 44, 44]
    for at, value, kind in (
        (True, 1, TypeError),
        (ad.tensor([0]), 1, TypeError),
        (slice(0, 4, 2), 1, RuntimeError),
        (0, 1.5, RuntimeError),
    ):
        with pytest.raises(kind):
            bytes_[at] = value
    with pytest.raises(TypeError):
        ad.UntypedStorage(4, 2)


def test_memory_counted_in_elements():
    x = ad.arange(4, dtype=ad.int16)
    memory = x.storage()
    assert isinstance(memory, ad.ShortStorage) and not isinstance(memory, (ad.IntStorage, ad.UntypedStorage))
    assert (
        isinstance(memory, ad.storage.TypedStorage)
        and x.storage_type() is ad.ShortStorage
        and memory.type().endswith(".ShortStorage")
    )
    assert memory.float().tolist() == [0.0, 1.0, 2.0, 3.0] and memory.short() is memory and x.untyped_storage().size() == 8
    memory[1] = 7
    assert x.tolist() == [0, 7, 2, 3] and repr(memory.untyped().clone()).endswith("of size 8]")
    assert repr(memory).splitlines()[:2] == [" 0", " 7"] and f"dtype={ad.int16}" in repr(memory)
    assert ad.FloatStorage([1, 2]).tolist() == [1.0, 2.0] and len(ad.BoolStorage(3)) == 3
    made = ad.IntStorage.from_buffer(x.numpy().tobytes())
    assert made.size() == 2 and ad.empty(0, dtype=ad.int16).set_(made.untyped(), 0, (4,)).tolist() == x.tolist()
    assert ad.storage.TypedStorage(wrap_storage=x.untyped_storage(), dtype=ad.int16).data_ptr() == memory.data_ptr()


def test_memory_of_another_size():
    x = ad.arange(4.0)
    assert x.untyped_storage().resize_(32).size() == 32 and x.tolist() == [0, 1, 2, 3]
    assert x.storage().resize_(4).nbytes() == 16 and x.tolist() == [0, 1, 2, 3]
    own = ad.FloatStorage([1, 2]).resize_(1)
    assert own.tolist() == [1] and ad.UntypedStorage(4).resize_(0).tolist() == []
    with pytest.raises(RuntimeError, match="needs 16 bytes"):
        x.untyped_storage().resize_(12)
    view = x[1:]
    with pytest.raises(RuntimeError, match="others look"):
        x.untyped_storage().resize_(32)
    assert view.tolist() == [1, 2, 3]
