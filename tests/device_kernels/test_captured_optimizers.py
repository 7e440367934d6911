"""Optimizers inside CUDA graphs, with `capturable`: replays count their steps, and take the CPU's."""

import os

import pytest
from device_checks import agree

import adjoint as ad

STEPS = 7
OPTIONS = {
    "SGD": {"momentum": 0.9},
    "Adam": {"amsgrad": True, "capturable": True},
    "AdamW": {"capturable": True},
    "NAdam": {"capturable": True},
    "RAdam": {"betas": (0.9, 0.99), "capturable": True},
    "Adamax": {"capturable": True},
    "ASGD": {"t0": 2.0, "lambd": 0.1, "capturable": True},
    "RMSprop": {"momentum": 0.5, "centered": True, "capturable": True},
    "Adadelta": {"capturable": True},
    "Rprop": {"capturable": True},
}


def start(name, device, **options):
    w = ad.nn.Parameter(ad.tensor([2.0, -1.0, 0.5]).to(device))
    return w, getattr(ad.optim, name)([w], lr=0.1, **{**OPTIONS[name], **options})


def step(w, optimizer):
    optimizer.zero_grad()
    (w.square() * (w + 3)).sum().backward()
    optimizer.step()


def replayed(w, optimizer, steps):
    """The first step runs eagerly: it makes the state."""
    side = ad.cuda.Stream()
    with ad.cuda.stream(side):
        step(w, optimizer)
    graph = ad.cuda.CUDAGraph()
    with ad.cuda.graph(graph, stream=side):
        step(w, optimizer)
    for _ in range(steps - 1):
        graph.replay()
    return graph


@pytest.mark.parametrize("name", OPTIONS)
def test_replays_take_the_steps_of_the_cpu(name):
    host = start(name, "cpu", **({"capturable": False} if "capturable" in OPTIONS[name] else {}))
    for _ in range(STEPS):
        step(*host)
    w, optimizer = start(name, "cuda")
    replayed(w, optimizer, STEPS)
    agree([w.detach()], [host[0].detach()], ad.float32)
    counts = [state["step"] for state in optimizer.state.values() if "step" in state]
    assert all(count.is_cuda and count.item() == STEPS for count in counts if OPTIONS[name].get("capturable"))


def test_a_state_that_is_loaded_goes_on_counting():
    w, optimizer = start("Adam", "cpu")
    for _ in range(3):
        step(w, optimizer)
    other, copied = start("Adam", "cuda")
    with ad.no_grad():
        other.copy_(w)
    copied.load_state_dict(optimizer.state_dict())
    assert copied.state[other]["step"].is_cuda
    replayed(other, copied, 4)
    for _ in range(4):
        step(w, optimizer)
    agree([other.detach()], [w.detach()], ad.float32)


def test_without_capturable_the_capture_is_refused():
    w, optimizer = start("Rprop", "cuda", capturable=False)
    side = ad.cuda.Stream()
    with ad.cuda.stream(side):
        step(w, optimizer)
    graph = ad.cuda.CUDAGraph()
    with pytest.raises(RuntimeError, match="counts steps on the CPU.*Give it capturable=True"):
        with ad.cuda.graph(graph, stream=side):
            step(w, optimizer)


@pytest.mark.skipif(os.environ.get("ADJOINT_GPU") == "1", reason="asks the interpreter what it ran")
@pytest.mark.parametrize(("name", "most"), [("Adam", 7), ("AdamW", 8), ("Adamax", 6), ("NAdam", 8), ("RMSprop", 5)])
def test_launches_of_a_step(name, most, stand_in):
    w = ad.nn.Parameter(ad.ones(3, device="cuda"))
    w.grad = ad.ones_like(w)
    optimizer = getattr(ad.optim, name)([w])
    optimizer.step()
    before = len(stand_in.launched)
    optimizer.step()
    assert len(stand_in.launched) - before <= most
