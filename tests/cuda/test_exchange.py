"""DLPack and the CUDA array interface, both ways, on the stand-in driver."""

import ctypes
import os

import pytest

import adjoint as ad

driver = ctypes.CDLL(os.environ["ADJOINT_CUDA_DRIVER"])
driver.standin_log.restype = ctypes.c_char_p


class Array:
    """Another library's array: it has what it is given."""

    def __init__(self, **members):
        self.__dict__.update(members)


class Producer:
    """A tensor that others see through DLPack alone."""

    def __init__(self, tensor):
        self.tensor, self.asked = tensor, {}

    def __dlpack__(self, **options):
        self.asked = options
        return self.tensor.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.tensor.__dlpack_device__()


def example(device="cuda"):
    return ad.arange(6.0).view(2, 3).to(device)


@pytest.mark.parametrize("device", ["cuda:0", "cuda:1"])
def test_dlpack(device):
    x = example(device)
    for view in (x, x.t(), x[:, 1:], x[:0], x[1, 2]):
        y = ad.from_dlpack(Producer(view))
        assert (y.device, y.shape, y.stride(), y.data_ptr()) == (x.device, view.shape, view.stride(), view.data_ptr())
    assert x.__dlpack_device__() == (2, x.device.index) and ad.ones(2).pin_memory().__dlpack_device__() == (3, 0)
    before = ad.cuda.memory_allocated(device)
    y = ad.from_dlpack(x)
    del x, view
    assert ad.cuda.memory_allocated(device) == before and y.tolist() == example().tolist()
    del y
    assert ad.cuda.memory_allocated(device) < before


def test_dlpack_orders_streams():
    side, x = ad.cuda.Stream(), example()
    with ad.cuda.stream(side):
        producer = Producer(x)
        ad.from_dlpack(producer)
        assert producer.asked["stream"] == side.cuda_stream
        assert ad.from_dlpack(x).tolist() == x.tolist()
    driver.standin_log()
    x.__dlpack__(stream=side.cuda_stream)
    assert [line.split()[0] for line in driver.standin_log().decode().splitlines()] == ["record", "wait"]
    for stream in (None, 1, -1):  # the stream that it is on, or no order wanted
        x.__dlpack__(stream=stream)
        assert not driver.standin_log()
    for stream, error in ((0, ValueError), (-5, ValueError), ("s", TypeError)):
        with pytest.raises(error, match="__dlpack__: .*stream"):
            x.__dlpack__(stream=stream)


def test_dlpack_to_a_device_and_as_a_copy():
    x = example("cuda:1")
    assert ad.from_dlpack(x, copy=True).data_ptr() != x.data_ptr() == ad.from_dlpack(x, device=1, copy=False).data_ptr()
    for device in ("cpu", "cuda:0"):
        y = ad.from_dlpack(Producer(x), device=device)
        assert y.device == ad.device(device) and y.tolist() == x.tolist()
        with pytest.raises(ValueError, match="without copying"):
            ad.from_dlpack(x, device=device, copy=False)


def test_dlpack_to_the_cpu():
    x = example()
    y = ad.from_dlpack(x.__dlpack__(dl_device=(1, 0)))
    assert y.device.type == "cpu" and y.tolist() == x.tolist()
    with pytest.raises(RuntimeError, match="cannot export"):
        x.__dlpack__(dl_device=(7, 0))


@pytest.mark.parametrize("device", [3, (2,), (2, 99), (2, "a"), (2, 10**9), ("x", 0), None])
def test_producers_of_nonsense(device):
    source = Producer(3)
    source.__class__ = type(
        "Nonsense", (Producer,), {"__dlpack_device__": lambda self: device, "__dlpack__": lambda self, **o: 3}
    )
    with pytest.raises((TypeError, ValueError, RuntimeError)):
        ad.from_dlpack(source)


@pytest.mark.parametrize("device", ["cuda:0", "cuda:1"])
def test_the_cuda_array_interface(device):
    for dtype in (ad.float32, ad.float16, ad.int8, ad.bool, ad.complex64):
        x = example(device).to(dtype) if dtype in (ad.float32,) else example().cpu().to(dtype).to(device)
        for view in (x, x.t(), x[:, 1:], x[:0]):
            facts = view.__cuda_array_interface__
            assert facts["version"] == 3 and facts["shape"] == tuple(view.shape)
            y = ad.as_tensor(Array(__cuda_array_interface__=facts))
            assert y.dtype == dtype and y.shape == view.shape
            assert not y.numel() or (y.device, y.data_ptr(), y.stride()) == (x.device, view.data_ptr(), view.stride())
    owner = Array(__cuda_array_interface__=example().__cuda_array_interface__)
    owner.tensor = x = example(device)
    owner.__cuda_array_interface__ = x.__cuda_array_interface__
    y = ad.as_tensor(owner)
    del owner, x
    assert y.tolist() == example().tolist()  # it keeps its owner


def test_what_has_no_interface():
    with pytest.raises(AttributeError, match=r"use Tensor.cuda\(\) first"):
        _ = ad.ones(2).__cuda_array_interface__
    with pytest.raises(TypeError, match="no bfloat16"):
        _ = ad.ones(2, dtype=ad.bfloat16, device="cuda").__cuda_array_interface__
    with pytest.raises(RuntimeError, match="requires grad"):
        _ = ad.ones(2, device="cuda", requires_grad=True).__cuda_array_interface__


WRONG = [
    ("typestr", "<x9"), ("typestr", 3), ("typestr", ">f4"), ("shape", (-1, 3)), ("shape", "ab"), ("shape", (2**40, 2**40)),
    ("strides", (1,)), ("strides", (-12, 4)), ("strides", (3, 4)), ("data", None), ("data", "xx"), ("data", ("a", False)), ("data", ()),
    ("data", (12345, False)), ("data", (0, False)), ("data", (2**70, False)), ("stream", 0), ("stream", "q"), ("mask", 1),
]  # fmt: skip


@pytest.mark.parametrize(("key", "value"), WRONG)
def test_interfaces_of_nonsense(key, value):
    x = example()
    with pytest.raises((TypeError, ValueError, RuntimeError, IndexError)):
        ad.as_tensor(Array(__cuda_array_interface__=x.__cuda_array_interface__ | {key: value}))


def test_interfaces_without_what_is_needed():
    x = example()
    for key in ("typestr", "shape", "data"):
        facts = x.__cuda_array_interface__
        del facts[key]
        with pytest.raises(ValueError, match=f"has no {key}"):
            ad.as_tensor(Array(__cuda_array_interface__=facts))
    with pytest.raises(TypeError, match="must be a dict"):
        ad.as_tensor(Array(__cuda_array_interface__=5))
