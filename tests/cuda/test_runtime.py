"""Devices, memory, streams and copies, on the stand-in driver."""

import ctypes
import ctypes.util
import os
import subprocess
import sys

import pytest

import adjoint as ad

driver = ctypes.CDLL(os.environ["ADJOINT_CUDA_DRIVER"])
driver.standin_log.restype = ctypes.c_char_p
driver.standin_allocated.restype = ctypes.c_size_t


def log():
    return driver.standin_log().decode().splitlines()


def python(code, **environment):
    run = subprocess.run(
        [sys.executable, "-c", code], env=os.environ | environment, capture_output=True, text=True, check=False
    )
    return run.stdout + run.stderr


def values(shape, dtype=ad.float32):
    n = 1
    for s in shape:
        n *= s
    return ad.arange(n).view(shape).to(dtype)


class TestDevices:
    def test_names(self):
        assert str(ad.device("cuda")) == "cuda" and ad.device("cuda").index is None
        assert ad.device("cuda", 1) == ad.device("cuda:1") != ad.device("cuda:0")
        assert repr(ad.device("cuda:1")) == "device(type='cuda', index=1)"

    def test_numbers(self):
        assert ad.device(1) == ad.device("cuda:1")
        x = ad.zeros(2, device=1)
        assert x.device == ad.zeros(2).to(1).device == ad.tensor([0.0], device=1).device == ad.device("cuda:1")
        assert x.new_empty_strided((2, 2), (2, 1)).device == x.device
        for wrong in (-1, 128, True, 1.5, 2**70):
            with pytest.raises((RuntimeError, TypeError)):
                ad.device(wrong)
            with pytest.raises((RuntimeError, TypeError, OverflowError)):
                ad.zeros(2, device=wrong)

    def test_names_of_types(self):
        x, y = ad.zeros(2, device=1), ad.zeros(2)
        assert (x.type(), y.type()) == ("adjoint.cuda.FloatTensor", "adjoint.FloatTensor")
        assert x.type(y.type()).device == x.type_as(y).device == y.device
        assert y.type_as(x).device == x.type(x.type()).device == x.device and y.type(x.type()).device == ad.device("cuda:0")

    def test_results_go_to_no_other_device(self):
        x, y = ad.zeros(3, device="cuda"), ad.zeros(3)
        for call in (lambda: ad.abs(y, out=x), lambda: ad.cat([x[:1], x[1:]], out=y), lambda: ad.zeros(3, device=1, out=x)):
            with pytest.raises(RuntimeError, match="cross-device copies are not allowed"):
                call()
        assert ad.arange(3, out=x) is x and x.tolist() == [0, 1, 2] and x.device == ad.device("cuda:0")

    def test_without_an_index_is_the_current_one(self):
        assert ad.zeros(2, device="cuda").device == ad.device("cuda:0")
        with ad.cuda.device(1):
            assert ad.cuda.current_device() == 1
            assert ad.zeros(2, device="cuda").device == ad.device("cuda:1")
        assert ad.cuda.current_device() == 0

    def test_properties(self):
        p = ad.cuda.get_device_properties("cuda:1")
        assert (p.name, p.major, p.warp_size) == ("Stand-in GPU 1", 9, 32)
        assert ad.cuda.get_device_name(0) == "Stand-in GPU 0" and ad.cuda.get_device_capability() == (9, 0)
        assert ad.cuda.is_available() and ad.cuda.device_count() == 2

    @pytest.mark.parametrize("wrong", ["cuda:7", "cuda:-1", "cuda:x", "gpu"])
    def test_devices_that_are_not_there(self, wrong):
        with pytest.raises((RuntimeError, TypeError)):
            ad.zeros(2, device=wrong)

    def test_mixed_devices(self):
        x, y = ad.ones(3), ad.ones(3, device="cuda")
        for call in (lambda: x + y, lambda: y.add_(x), lambda: ad.ones(()).add_(ad.ones((), device="cuda"))):
            with pytest.raises(RuntimeError, match="Expected all tensors to be on the same device"):
                call()
        with pytest.raises(RuntimeError, match="same device.*cuda:0 and cuda:1|same device.*cuda:1 and cuda:0"):
            y + ad.ones(3, device="cuda:1")

    def test_no_driver(self):
        code = "import adjoint as ad\nassert not ad.cuda.is_available()\nad.ones(2).to('cuda')"
        if not ctypes.util.find_library("cuda"):
            assert "RuntimeError: cuda: Found no NVIDIA driver" in python(code, ADJOINT_CUDA_DRIVER="")
            pinned = (
                "import adjoint as ad\nprint(ad.cuda.memory_allocated(), ad.cuda.memory_stats())\nad.ones(2, pin_memory=True)"
            )
            said = python(pinned, ADJOINT_CUDA_DRIVER="")
            assert said.startswith("0 {}\n") and "RuntimeError: pin_memory=True requires a CUDA" in said
        assert "can't load /nowhere.so" in python(code, ADJOINT_CUDA_DRIVER="/nowhere.so")
        assert "has no cuInit" in python(code, ADJOINT_CUDA_DRIVER="libc.so.6")
        assert "No CUDA GPUs are available" in python(code, CUDA_VISIBLE_DEVICES="")


class TestCopies:
    @pytest.mark.parametrize("dtype", [ad.bool, ad.uint8, ad.int64, ad.float16, ad.bfloat16, ad.float32, ad.complex128])
    def test_there_and_back(self, dtype):
        x = values((3, 4), dtype)
        y = x.to("cuda")
        assert y.device.type == "cuda" and y.is_cuda and not x.is_cuda and y.dtype == dtype
        assert y.cpu().tolist() == x.tolist() == y.tolist()
        assert y.cuda() is y and x.cpu() is x and x.to("cpu") is x

    @pytest.mark.parametrize(
        "view", [lambda x: x.t(), lambda x: x[::2], lambda x: x[:, 1:], lambda x: x[0, 0], lambda x: x[:0]]
    )
    def test_layouts(self, view):
        x = view(values((4, 6)))
        y = x.to("cuda")
        assert y.cpu().tolist() == x.tolist()
        if x.numel() and x.ndim == 2 and x.stride() == (1, 6):
            assert y.stride() == x.stride()  # PyTorch keeps a dense layout

    def test_type_and_device(self):
        y = values((5,)).to("cuda", ad.int16)
        assert y.dtype == ad.int16 and y.tolist() == [0, 1, 2, 3, 4]
        assert y.to(values((1,), ad.int16)).device.type == "cpu"

    def test_between_devices(self):
        x = values((5,)).to("cuda:0").to("cuda:1")
        assert x.device.index == 1 and x.tolist() == [0, 1, 2, 3, 4]

    def test_copy_into(self):
        x, y = values((2, 3)), ad.zeros(2, 3, device="cuda")
        y.copy_(x)
        assert y.tolist() == x.tolist()
        z = ad.zeros(2, 3)
        z.copy_(y)
        assert z.tolist() == x.tolist()

    def test_gradients_come_back(self):
        x = values((3,)).requires_grad_()
        y = x.cuda()
        assert type(y.grad_fn).__name__ == "ToCopyBackward0"
        y.cpu().backward(ad.tensor([1.0, 2.0, 3.0]))
        assert x.grad.tolist() == [1, 2, 3] and x.grad.device.type == "cpu"

    def test_tangents_and_batches_cross(self):
        primal, tangent = ad.func.jvp(lambda x: x.to("cuda"), (values((3,)),), (ad.ones(3),))
        assert primal.is_cuda and tangent.is_cuda and tangent.tolist() == [1, 1, 1]
        assert ad.vmap(lambda x: x.to("cuda"), in_dims=1, out_dims=1)(values((2, 3))).tolist() == values((2, 3)).tolist()

    def test_printing_and_pickling(self):
        import pickle

        x = ad.tensor([1.0, 2.0], device="cuda")
        assert repr(x) == "tensor([1., 2.], device='cuda:0')"
        assert pickle.loads(pickle.dumps(x)).tolist() == [1, 2]
        with pytest.raises(TypeError, match="Use Tensor.cpu"):
            x.numpy()


class TestFactories:
    @pytest.mark.parametrize(
        ("make", "expected"),
        [
            (lambda d: ad.zeros(2, 2, device=d), [[0, 0], [0, 0]]),
            (lambda d: ad.ones(2, dtype=ad.float64, device=d), [1, 1]),
            (lambda d: ad.ones(2, dtype=ad.float16, device=d), [1, 1]),
            (lambda d: ad.full((3,), 7, device=d), [7, 7, 7]),
            (lambda d: ad.full((2,), 1 + 2j, device=d), [1 + 2j, 1 + 2j]),
            (lambda d: ad.full((2,), True, device=d), [True, True]),
            (lambda d: ad.arange(3, device=d), [0, 1, 2]),
            (lambda d: ad.linspace(0, 1, 3, device=d), [0, 0.5, 1]),
            (lambda d: ad.eye(2, device=d), [[1, 0], [0, 1]]),
            (lambda d: ad.tensor([1, 2], device=d), [1, 2]),
            (lambda d: ad.as_tensor([1, 2], device=d), [1, 2]),
            (lambda d: ad.zeros_like(ad.ones(2, device=d)), [0, 0]),
            (lambda d: ad.ones(2, device=d).new_zeros(1), [0]),
        ],
    )
    def test_values(self, make, expected):
        x = make("cuda")
        assert x.is_cuda and x.tolist() == expected

    def test_random_numbers_need_kernels(self):
        with pytest.raises(RuntimeError, match="the kernels for GPUs are not installed"):
            ad.rand(2, device="cuda")

    def test_fill(self):
        x = ad.empty(4, device="cuda").fill_(2.5)
        assert x.tolist() == [2.5] * 4
        assert x.zero_().tolist() == [0] * 4

    def test_item(self):
        assert ad.tensor(3, device="cuda").item() == 3 and bool(ad.tensor(True, device="cuda"))


class TestMemory:
    def test_books_are_exact(self):
        ad.cuda.empty_cache()
        before = ad.cuda.memory_allocated()
        x = ad.empty(1000, device="cuda")
        assert ad.cuda.memory_allocated() == before + 4096
        y = x[10:]
        del x
        assert ad.cuda.memory_allocated() == before + 4096
        del y
        assert ad.cuda.memory_allocated() == before
        ad.cuda.reset_peak_memory_stats()
        assert ad.cuda.max_memory_allocated() == before

    def test_memory_is_kept_and_given_back(self):
        ad.cuda.empty_cache()
        base = driver.standin_allocated(0)
        x = ad.empty(1_000_000, device="cuda")
        assert driver.standin_allocated(0) == base + (20 << 20) and ad.cuda.memory_reserved() == driver.standin_allocated(0)
        address = x.data_ptr()
        del x
        assert ad.empty(1_000_000, device="cuda").data_ptr() == address
        ad.cuda.empty_cache()
        assert driver.standin_allocated(0) == base

    def test_more_than_there_is(self):
        kept = ad.empty(40 << 20, dtype=ad.uint8, device="cuda")
        del kept  # is given back before the request fails
        x = ad.empty(1000 << 20, dtype=ad.uint8, device="cuda")
        with pytest.raises(ad.OutOfMemoryError, match="CUDA out of memory. Tried to allocate"):
            ad.empty(1000 << 20, dtype=ad.uint8, device="cuda")
        del x
        ad.cuda.empty_cache()

    def test_memory_used_on_another_stream_waits(self):
        side = ad.cuda.Stream()
        x = ad.empty(3000, device="cuda")
        address = x.data_ptr()
        driver.standin_hold(ctypes.c_void_p(side.cuda_stream), 1)
        with ad.cuda.stream(side):
            copied = x.clone()  # the dispatcher notes the use
        del x
        assert ad.cuda.memory_stats()["waiting.all.current"] == 1
        assert ad.empty(3000, device="cuda").data_ptr() != address
        driver.standin_hold(ctypes.c_void_p(side.cuda_stream), 0)
        ad.empty(1, device="cuda")
        assert ad.cuda.memory_stats()["waiting.all.current"] == 0
        del copied

    def test_driver_errors_have_names(self):
        driver.standin_fail(b"cuMemcpyHtoDAsync_v2", 700)
        with pytest.raises(
            RuntimeError, match="an illegal memory access was encountered .CUDA_ERROR_ILLEGAL_ADDRESS. in cuMemcpyHtoDAsync"
        ):
            ad.ones(3).cuda()


class TestStreams:
    def test_the_current_stream_is_a_threads(self):
        assert ad.cuda.current_stream() == ad.cuda.default_stream() and ad.cuda.current_stream().cuda_stream == 0
        s = ad.cuda.Stream(device="cuda:1", priority=-1)
        with ad.cuda.stream(s):
            assert ad.cuda.current_stream() == s and ad.cuda.current_device() == 1
        assert ad.cuda.current_device() == 0
        with ad.cuda.stream(None):
            assert ad.cuda.current_stream().device.index == 0

    def test_order(self):
        a, b = ad.cuda.Stream(), ad.cuda.Stream()
        log()
        b.wait_stream(a)
        event = a.record_event()
        event.wait(b)
        event.synchronize()
        assert event.query() and a.query()
        lines = log()
        assert [line.split()[0] for line in lines] == ["record", "wait", "record", "wait", "synchronize"]

    def test_timing(self):
        start, end = ad.cuda.Event(enable_timing=True), ad.cuda.Event(enable_timing=True)
        x = ad.ones(16000, dtype=ad.uint8, device="cuda")
        start.record()
        y = x.clone()
        end.record()
        assert y.numel() and start.elapsed_time(end) == pytest.approx(0.002)  # as the stand-in computes it
        with pytest.raises(ValueError, match="enable_timing"):
            ad.cuda.Event().elapsed_time(end)

    def test_copies_run_on_the_current_stream(self):
        s = ad.cuda.Stream()
        x = ad.ones(4).pin_memory()
        log()
        with ad.cuda.stream(s):
            y = x.to("cuda", non_blocking=True)
        assert [line for line in log() if line.startswith(("to_device", "synchronize"))] == [
            f"to_device 16 stream {stream_number(s)}"
        ]
        x.to("cuda")
        assert log()[-1].startswith("synchronize")
        del y


def stream_number(stream):
    stream.record_event()
    return int(log()[-1].split()[-1])


class TestPinned:
    def test_pinned_memory(self):
        x = values((3, 2))
        y = x.pin_memory()
        assert y.is_pinned() and not x.is_pinned() and y.pin_memory() is y and y.tolist() == x.tolist()
        made = [ad.tensor([1.0], pin_memory=True), ad.full((2,), 1, pin_memory=True), x.new_ones(2, pin_memory=True)]
        made += [ad.ones_like(x, pin_memory=True), ad.empty_strided((2,), (1,), pin_memory=True).fill_(1)]
        made += [ad.ones(2, requires_grad=True, pin_memory=True)]
        for t in made:
            assert t.is_pinned() and set(t.flatten().tolist()) == {1} and t.requires_grad == (t is made[-1])
        assert not ad.ones(2, pin_memory=False).is_pinned()
        with pytest.raises(TypeError, match="pin_memory"):
            ad.sin(x, pin_memory=True)
        with pytest.raises(RuntimeError, match="only dense CPU tensors can be pinned"):
            ad.ones(2, device="cuda", pin_memory=True)
        with pytest.raises(RuntimeError, match="only dense CPU tensors can be pinned"):
            x.cuda().pin_memory()

    def test_a_block_is_not_handed_out_while_a_copy_runs(self):
        s = ad.cuda.Stream()
        x = ad.ones(1000).pin_memory()
        address = x.data_ptr()
        driver.standin_hold(ctypes.c_void_p(s.cuda_stream), 1)
        with ad.cuda.stream(s):
            y = x.to("cuda", non_blocking=True)
        del x
        assert ad.ones(1000).pin_memory().data_ptr() != address
        driver.standin_hold(ctypes.c_void_p(s.cuda_stream), 0)
        assert address in {t.data_ptr() for t in [ad.ones(1000).pin_memory() for _ in range(2)]}
        del y
