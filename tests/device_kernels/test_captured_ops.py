"""Every case of tests/op_cases in a CUDA graph: replayed on other inputs as on the CPU, or refused with an error that names the operation."""

import re

import pytest
from device_checks import MIXED, NO_KERNEL, agree, tensors_of

import adjoint as ad
from adjoint_core import registry
from adjoint_kernels_triton._on_host import ON_HOST
from op_cases import CASES

DTYPE = ad.float64
READING = {
    *("nonzero", "unique", "bincount", "repeat_interleave", *ON_HOST),
    *(name for name in registry.names() if "check" in registry.record(name).attributes),
}
"What the host reads values for."
ASCENDING = {"searchsorted": 0, "nn.functional.embedding_bag": 2}
"The operand whose values ascend."


def inputs(case):
    made = [ad.tensor(a) for a in case.sample()]
    return [t.to(DTYPE) if t.is_floating_point() else t for t in made]


def gradients(case, run, tensors):
    """Results, and derivatives by the inputs that have them."""
    leaves = [tensors[i].requires_grad_() for i in case.differentiable]
    results = tensors_of(run(tensors))
    ends = [y for y in results if y.requires_grad]
    if not ends:
        return results
    ones = [ad.ones_like(y) for y in ends]
    found = ad.autograd.grad(ends, leaves, ones, allow_unused=True)
    return [y.detach() for y in results] + [g for g in found if g is not None]


def replayed(run, samples, others):
    """Captured on `samples`, replayed on `others`; None where it was refused, by a message that is returned."""
    static = [t.cuda() for t in samples]
    with ad.cuda.stream(ad.cuda.Stream()):
        run([t.detach() for t in static])  # kernels are compiled
    graph = ad.cuda.CUDAGraph()
    try:
        with ad.cuda.graph(graph):
            results = run([t.detach() for t in static])
    except RuntimeError as error:
        assert not ad.cuda.is_current_stream_capturing()
        return None, str(error)
    for t, other in zip(static, others, strict=True):
        t.copy_(other.cuda())
    for _ in range(2):
        graph.replay()
    return results, ""


@pytest.mark.parametrize("case", CASES, ids=lambda c: c.id)
@pytest.mark.filterwarnings("ignore:The CUDA Graph is empty")
def test_captured(case):
    def run(tensors):
        return gradients(case, lambda t: case.run(ad, t), tensors)

    samples = inputs(case)
    others = [t if i == ASCENDING.get(case.name) else t.flip(tuple(range(t.dim()))) for i, t in enumerate(samples)]
    try:
        expected = run([t.clone() for t in others])
    except RuntimeError as error:
        pytest.skip(f"not on the CPU: {error}")
    try:
        results, refusal = replayed(run, samples, others)
    except (NotImplementedError, RuntimeError) as error:
        if not NO_KERNEL.search(str(error)) and not (case.call is not None and MIXED in str(error)):
            raise
        pytest.skip(str(error))
    if results is None:
        names = {case.name.rpartition(".")[2].removeprefix("shifted_"), *READING}
        assert re.search(f"not permitted when stream is capturing: ({'|'.join(names)}): ", refusal), refusal
    else:
        agree(results, expected, DTYPE)


q = [(2, 5, 4), (2, 5, 4), (2, 5, 4)]
FACTORIES = {
    "zeros": lambda d: ad.zeros(3, device=d),
    "full": lambda d: ad.full((2, 3), 1.5, device=d),
    "full_complex": lambda d: ad.full((2,), 1 + 2j, device=d),
    "arange": lambda d: ad.arange(2, 11, 3, device=d),
    "arange_float": lambda d: ad.arange(0.5, 3.0, 0.25, dtype=ad.float64, device=d),
    "linspace": lambda d: ad.linspace(-1, 1, 7, device=d),
    "logspace": lambda d: ad.logspace(0, 2, 5, device=d),
    "eye": lambda d: ad.eye(3, 4, device=d),
    "tril_indices": lambda d: ad.tril_indices(4, 5, device=d),
    "triu_indices": lambda d: ad.triu_indices(4, 5, 1, device=d),
    "one_hot": lambda d: ad.nn.functional.one_hot(ad.arange(4, device=d), 5),
    "meshgrid": lambda d: ad.meshgrid(ad.arange(3, device=d), ad.arange(2, device=d), indexing="ij")[0].clone(),
    "fftfreq": lambda d: ad.fft.fftfreq(6, device=d),
    "list": lambda d: ad.arange(5, device=d)[[3, 1]],
    "scatter": lambda d: ad.zeros(5, device=d).scatter(0, ad.arange(2, device=d), 2.0),
    "vander": lambda d: ad.vander(ad.arange(1, 4, device=d)),
    "causal": lambda d: ad.nn.functional.scaled_dot_product_attention(*(ad.ones(s, device=d) for s in q), is_causal=True),
}


@pytest.mark.parametrize("make", FACTORIES.values(), ids=FACTORIES)
def test_factories_are_captured(make):
    graph = ad.cuda.CUDAGraph()
    make("cuda")
    with ad.cuda.graph(graph):
        made = make("cuda")
    for t in tensors_of(made):
        t.zero_()
    graph.replay()
    agree(made, make("cpu"), ad.float32)


@pytest.mark.parametrize("name", ["randperm", "tensor"])
def test_what_would_replay_one_value_for_ever(name):
    make = {"randperm": lambda: ad.randperm(5, device="cuda"), "tensor": lambda: ad.tensor([1.0, 2.0], device="cuda")}[name]
    make()
    with pytest.raises(RuntimeError, match="not permitted when stream is capturing"):
        with ad.cuda.graph(ad.cuda.CUDAGraph()):
            make()
