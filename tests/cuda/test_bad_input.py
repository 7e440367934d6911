"""Wrong arguments to everything that Python reaches of the GPU runtime: errors that say what was wrong, and no crash."""

import subprocess
import sys

import pytest

import adjoint as ad
from adjoint_core import registry
from adjoint_kernels_triton._formula import CODE

ONE = [0, 1]  # the formula of the number 1
IMAGE = (b"STANDIN1" + bytes(64), "kernel", 0, 128, 1, False, False, 0, [])


def wrong(call, error, message=None):
    with pytest.raises(error, match=message):
        call()


def test_devices_streams_and_events():
    cuda = ad.cuda
    for device, error in (
        ("cpu", ValueError),
        (5, RuntimeError),
        ("cuda:9", RuntimeError),
        (3.5, TypeError),
        (object(), TypeError),
    ):
        for call in (cuda.Stream, cuda.set_device, cuda.synchronize, cuda.get_device_properties, cuda.current_stream,
                     cuda.memory_stats, cuda.mem_get_info, cuda.reset_peak_memory_stats, ad.ones(2).cuda):  # fmt: skip
            wrong(lambda call=call, device=device: call(device), error)
    wrong(lambda: cuda.set_device(-1), RuntimeError, "invalid device ordinal: got -1")
    wrong(lambda: cuda.set_stream(3), TypeError)
    wrong(lambda: cuda.Stream().wait_stream(None), TypeError)
    wrong(lambda: cuda.Stream().wait_event(None), TypeError)
    wrong(lambda: cuda.Stream().record_event(3), TypeError)
    wrong(lambda: cuda.Event().record("a stream"), TypeError)
    wrong(lambda: cuda.Event().elapsed_time(cuda.Event()), ValueError, "enable_timing=True")
    event = cuda.Event()
    event.record(cuda.Stream(device=0))
    wrong(lambda: event.record(cuda.Stream(device=1)), RuntimeError, "does not match recording stream's device")
    wrong(lambda: ad.ones(2, device="cuda").record_stream(None), TypeError)
    wrong(lambda: cuda.offload(3), TypeError)
    event.wait(None)
    assert event.query()


def test_graphs_and_generators():
    graph = ad.cuda.CUDAGraph()
    wrong(lambda: graph.capture_begin("pool"), TypeError)
    wrong(lambda: graph.capture_begin(pool=(1, -1)), TypeError)
    wrong(lambda: ad.cuda.CUDAGraph("yes"), TypeError)
    wrong(lambda: ad.cuda.graph(3).__enter__(), AttributeError)
    wrong(lambda: ad.cuda.get_rng_state("cpu"), ValueError, "expected a cuda device, got 'cpu'")
    wrong(lambda: ad.cuda.get_rng_state(9), RuntimeError, "invalid device ordinal")
    wrong(lambda: ad.cuda.manual_seed("seed"), ValueError, "invalid literal for int")
    wrong(lambda: ad.cuda.set_rng_state(ad.zeros(3)), TypeError, "expected the bytes that get_state returned")
    wrong(lambda: ad.cuda.set_rng_state(ad.cuda.get_rng_state().cuda()), TypeError)
    wrong(lambda: ad.cuda.set_rng_state_all([]), ValueError)
    wrong(lambda: ad._core.set_random_states([]), ValueError, "expected what random_states returned")
    wrong(lambda: ad.Generator(device="cuda:9"), RuntimeError, "invalid device ordinal")
    wrong(lambda: ad.autograd.graph.set_override_stale_capture_stream(1), TypeError, "expected a bool, got 1")
    wrong(
        lambda: registry.register_random("random_walk", 256, lambda *a: IMAGE),
        ValueError,
        "no random numbers of the name random_walk",
    )
    wrong(lambda: registry.register_random("random_mask", 0, lambda *a: IMAGE), ValueError, "block must be positive")


def test_sparse_tensors_and_dense_ones_of_another_device():
    index, values = ad.tensor([[0, 1], [1, 2]]), ad.tensor([1.0, 2.0])
    sparse, dense = ad.sparse_coo_tensor(index, values, (3, 4)), ad.ones(3, 4, device="cuda")
    for call in (lambda: sparse + dense, lambda: dense + sparse, lambda: sparse * dense, lambda: sparse @ dense.t(), lambda: dense.add_(sparse),
                 lambda: sparse * ad.ones((), device="cuda"), lambda: sparse.add_(dense), lambda: ad.sparse.addmm(dense[:, :3], sparse, ad.ones(4, 3))):  # fmt: skip
        wrong(call, (RuntimeError, NotImplementedError), "same device")


FORMULAS = [
    ([], "must leave one value"), ([0, 1, 0, 1], "must leave one value"), ([0], "ends in its middle"),
    ([999], "no such code"), ([-1], "no such code"), ([0, 1, 3, 99], "operands are"), ([1, 77], "no such attribute"),
    ([2, 0], "not known yet"), ([3, 0], "takes more values"), ([CODE["add"]], "takes more values"), ([0, 1, CODE["choose"]], "takes more values"),
    ([CODE["log2"]], "takes more values"), ([CODE["element"], 0], "takes more values"), ([0, 1, CODE["element"], 9], "no such attribute"),
    ([CODE["n"]] * 40, "too many values"),
]  # fmt: skip


def structured(
    arguments=((0, 0, []), (0, -1, [])), constants=(), grid=(ONE, ONE, ONE), along="dim", options=(), image=IMAGE, when=(),
    workspaces=(), rounds=(), info=(), steps=1, longest=2**40, suits=(), names=(),
):  # fmt: skip
    step = ("", list(arguments), list(constants), list(grid), list(when))
    how = (
        [step] * steps,
        list(workspaces),
        list(rounds),
        list(info),
        along,
        list(options),
        64,
        longest,
        list(suits),
        list(names),
    )
    registry.register_structured("softmax", *how, lambda *asked: image)


def test_names():
    for names in ([[CODE["named"], 0]], [[0, 1], [CODE["named"], 1]], [[CODE["named"], -1]]):
        wrong(lambda names=names: structured(names=names), ValueError, "a name that is not known yet")
    wrong(lambda: structured(names=[[0, 1]] * 65), ValueError, "too many names")


@pytest.mark.parametrize(("code", "message"), FORMULAS)
def test_formulas(code, message):
    wrong(lambda: structured(constants=[code]), ValueError, message)
    wrong(lambda: structured(grid=(ONE, code, ONE)), ValueError, "softmax")
    wrong(lambda: structured([(1, 0, code)]), ValueError, message)
    wrong(lambda: structured(workspaces=[(0, 8, code)]), ValueError, "softmax")
    if code:
        wrong(lambda: structured(rounds=code), ValueError, message)
        wrong(lambda: structured(when=code), ValueError, message)


def test_kernels():
    for argument in ((7, 0, []), (3, 0, []), (0, 99, []), (0, -9, []), (2, 55, []), (2, -3, [])):
        wrong(lambda argument=argument: structured([argument]), ValueError, "register_structured: softmax")
    wrong(lambda: structured([(0, 0, [])] * 64), ValueError, "too many")
    wrong(lambda: structured(constants=[ONE] * 17), ValueError, "too many")
    wrong(lambda: structured(grid=(ONE, ONE)), ValueError)
    wrong(lambda: structured(along="row"), ValueError, "no attribute 'row'")
    wrong(lambda: structured(options=["quick"]), ValueError, "there is no option 'quick'")
    wrong(lambda: structured(along="", options=["matching"]), ValueError, "need a dimension")
    x = ad.ones(3, 4, device="cuda")
    structured([(0, 5, []), (1, 0, [CODE["numel"], 5])])  # numel of an operand that there is not
    wrong(lambda: x.softmax(0), RuntimeError, "asks for operand 5")
    wrong(lambda: structured(steps=0), ValueError, "must be a step")
    wrong(lambda: structured(steps=2, options=["split"]), ValueError, "split takes no more than one")
    for workspace in ((3, 8, ONE), (0, 99, ONE), (0, -1, ONE), (1, 99, ONE)):
        wrong(lambda workspace=workspace: structured(workspaces=[workspace]), ValueError, "register_structured: softmax")
    structured(longest=3, grid=([0, 0], ONE, ONE))
    x.softmax(0)
    wrong(
        lambda: x.softmax(1),
        NotImplementedError,
        "softmax: no kernel for device cuda for more than 3 elements along a dimension, got 4",
    )
    for info in ((1, 0, []), (3, 0, []), (0, 99, [])):
        wrong(lambda info=info: structured(info=[info]), ValueError, "register_structured: softmax")
    structured(workspaces=[(0, 8, [0, -4])])
    wrong(lambda: x.softmax(0), NotImplementedError, "a workspace of -4 elements")
    structured(grid=([0, -4], ONE, ONE))
    wrong(lambda: x.softmax(0), NotImplementedError, "a grid of -4")
    structured(grid=([0, 8, 0, 0, CODE["divide"]], ONE, ONE))  # 8 // 0
    x.softmax(0)
    for bad in ((b"", *IMAGE[1:]), (*IMAGE[:3], 0, *IMAGE[4:]), (*IMAGE[:4], 0, *IMAGE[5:]), (*IMAGE[:7], 1 << 60, [])):
        structured(image=bad)
        wrong(lambda: x.softmax(0), RuntimeError, "no image that could be loaded")
    for bad in (
        3,
        (),
        IMAGE[:5],
        (None, *IMAGE[1:]),
        (*IMAGE[:8], 7),
        (*IMAGE[:8], [3]),
        (*IMAGE[:8], [(9, 4)]),
        (*IMAGE[:8], [(0, 16)]),
        (*IMAGE[:8], [(0, 300)]),
    ):
        structured(image=bad)
        wrong(lambda: x.softmax(0), Exception)
    wrong(lambda: registry.register_elementwise("sin", [], 0, lambda *asked: IMAGE), ValueError, "block must be positive")
    wrong(lambda: registry.register_elementwise("sin", [], 1024, None), TypeError)
    for name in ("sinn", "to_dense"):
        wrong(
            lambda name=name: registry.register_on_host(name, "why"),
            ValueError,
            f"no record with a kernel for the CPU is named '{name}'",
        )


def test_a_forked_child_cannot_use_the_gpu():
    code = """
import os, sys
import adjoint as ad
x = ad.ones(3, device="cuda", requires_grad=True)
y = x.cpu().sum()
y.backward()
if os.fork() == 0:
    try:
        x.cpu().sum().backward()
    except RuntimeError as error:
        print(error, flush=True)
    os._exit(0)
os.wait()
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert "Cannot re-initialize CUDA in forked subprocess" in run.stdout, run.stderr
