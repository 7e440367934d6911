"""Nothing stays behind: long trainings, cycles through Python, deep graphs and deep chains of views."""

import gc
import os
import threading
import weakref

import pytest

import adjoint as ad
from adjoint.autograd import Function, graph

PAGE = os.sysconf("SC_PAGE_SIZE")
STEPS, DEEP, LONG_CHAIN = 100_000, 1_000_000, 100_000


def resident():
    with open("/proc/self/statm") as f:
        return int(f.read().split()[1]) * PAGE


def growth(step, times):
    """Bytes that `times` steps add to the process, after as many as fill its caches."""
    for _ in range(2_000):
        step()
    gc.collect()
    before = resident()
    for _ in range(times):
        step()
    gc.collect()
    return resident() - before


needs_proc = pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="reads resident memory from /proc")


@needs_proc
def test_training_steps():
    w, b = ad.randn(4, 3, requires_grad=True), ad.zeros(3, requires_grad=True)
    x = ad.randn(2, 4)

    def step():
        ((x @ w + b).tanh() ** 2).sum().backward()
        with ad.no_grad():
            w.sub_(w.grad * 0.01)
            b.sub_(b.grad * 0.01)
        w.grad = b.grad = None

    assert growth(step, STEPS) < 4 << 20


class Cube(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        ctx.scale = 3
        return x * x * x

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * ctx.scale * x * x


def step_with_hooks(x):
    y = x * 2
    y.register_hook(lambda g: g * 1)
    y.grad_fn.register_prehook(lambda gs: None)
    y.sum().backward()
    x.grad = None


def step_with_function(x):
    Cube.apply(x).sum().backward()
    x.grad = None


def step_with_forward_mode(x):
    with ad.autograd.forward_ad.dual_level():
        d = ad.autograd.forward_ad.make_dual(x.detach(), x.detach())
        ad.autograd.forward_ad.unpack_dual(d * d)


def step_with_transforms(x):
    ad.vmap(ad.func.grad(lambda t: (t * t).sum()))(x.detach().reshape(1, -1))


def step_with_views(x):
    y = x * 1
    y[0].mul_(2)
    y[1:].add_(y[:-1])
    y.sum().backward()
    x.grad = None


def step_with_errors(x):
    for wrong in (lambda: x @ ad.ones(7), lambda: x.sum(5), lambda: ad.cat([x, None]), lambda: (x * x).backward()):
        with pytest.raises((RuntimeError, IndexError, TypeError)):
            wrong()


def step_with_an_error_in_backward(x):
    y = (x * x).exp()
    y.register_hook(lambda g: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        y.sum().backward()


def step_with_create_graph(x):
    (g,) = ad.autograd.grad((x**3).sum(), x, create_graph=True)
    g.sum().backward()
    x.grad = None


@needs_proc
@pytest.mark.parametrize(
    "step",
    [
        step_with_hooks,
        step_with_function,
        step_with_forward_mode,
        step_with_transforms,
        step_with_views,
        step_with_errors,
        step_with_an_error_in_backward,
        step_with_create_graph,
    ],
)
def test_steps(step):
    x = ad.tensor([1.0, 2.0], requires_grad=True)
    assert growth(lambda: step(x), 5_000) < 2 << 20


# ---- cycles, which only the collector can break


def held_by_its_hook():
    x = ad.ones(2, requires_grad=True)
    y = x * 2
    y.register_hook(lambda g: y.detach() * g)
    return y


def leaf_held_by_its_hook():
    x = ad.ones(2, requires_grad=True)
    x.register_hook(lambda g: x.detach())
    return x


def held_by_an_attribute():
    x = ad.ones(2, requires_grad=True)
    y = x.exp()
    y.grad_fn.metadata["me"] = y
    return y


def held_downstream():
    x = ad.ones(2, requires_grad=True)
    x.later = x * 2
    return x


def held_by_its_context():
    class Keep(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.result = x * 2
            return ctx.result

        @staticmethod
        def backward(ctx, g):
            return g

    return Keep.apply(ad.ones(2, requires_grad=True))


def held_by_a_prehook():
    y = ad.ones(2, requires_grad=True) * 2
    y.grad_fn.register_prehook(lambda gs, y=y: None)
    return y


@pytest.mark.parametrize(
    "make",
    [
        held_by_its_hook,
        leaf_held_by_its_hook,
        held_by_an_attribute,
        held_downstream,
        held_by_its_context,
        held_by_a_prehook,
    ],
)
def test_the_collector_breaks_cycles(make):
    gc.collect()
    t = make()
    alive = weakref.ref(t)
    del t
    gc.collect()
    gc.collect()
    assert alive() is None


def test_without_a_cycle_nothing_waits_for_the_collector():
    gc.disable()
    try:
        x = ad.ones(2, requires_grad=True)
        y = x.exp()
        node = weakref.ref(y.grad_fn)
        tensor, leaf = weakref.ref(y), weakref.ref(x)
        z = y.sum()
        del x, y
        assert node() is not None
        del z
        assert node() is None and tensor() is None and leaf() is None
    finally:
        gc.enable()


# ---- depth: neither backward nor the end of a graph may recurse


def chain(x, n):
    for _ in range(n):
        x = x * 1.0
    return x


def in_a_small_stack(f):
    """Runs f where recursion would end early."""
    failed = []

    def run():
        try:
            f()
        except BaseException as e:
            failed.append(e)

    old = threading.stack_size(512 << 10)
    try:
        t = threading.Thread(target=run)
        t.start()
        t.join()
    finally:
        threading.stack_size(old)
    if failed:
        raise failed[0]


def test_a_graph_of_a_million_nodes():
    def run():
        x = ad.ones(1, requires_grad=True)
        y = chain(x, DEEP)
        y.backward()
        assert x.grad.item() == 1
        del y

    in_a_small_stack(run)


def test_a_deep_graph_that_is_dropped_unused():
    in_a_small_stack(lambda: chain(ad.ones(1, requires_grad=True), LONG_CHAIN))


def test_a_deep_graph_under_the_collector():
    def run():
        x = ad.ones(1, requires_grad=True)
        x.register_hook(lambda g: None)
        y = chain(x, LONG_CHAIN)
        x.cycle = y
        del x, y
        gc.collect()

    in_a_small_stack(run)


def test_deep_custom_functions():
    def run():
        x = y = ad.ones(1, requires_grad=True)
        for _ in range(LONG_CHAIN // 5):
            y = Cube.apply(y)
        y.backward()
        assert x.grad is not None

    in_a_small_stack(run)


@pytest.mark.parametrize("requires_grad", [False, True])
def test_views_of_views(requires_grad):
    def run():
        x = ad.ones(4, requires_grad=requires_grad)
        v = base = x * 1
        for k in range(LONG_CHAIN):
            v = v.view(2, 2) if k % 2 else v.view(4)
        del base
        assert v.shape == (2, 2)

    in_a_small_stack(run)


def test_writing_through_views_of_views():
    def run():
        x = ad.ones(4, requires_grad=True)
        base = x * 1
        v = base.view(4)
        for _ in range(200):
            v = v.view(4)
        v.mul_(3)
        base.sum().backward()
        assert x.grad.tolist() == [3.0] * 4
        base.mul_(2)
        assert v.tolist() == [6.0] * 4

    in_a_small_stack(run)


def test_gradients_of_gradients_of_gradients():
    def run():
        first = x = ad.ones(1)
        for _ in range(LONG_CHAIN):
            x.grad = ad.ones(1)
            x = x.grad
        del first

    in_a_small_stack(run)


def test_tensors_that_hold_tensors():
    def run():
        x = None
        for _ in range(LONG_CHAIN):
            y = ad.ones(1)
            y.before = x
            x = y

    in_a_small_stack(run)


def test_edges_outlive_tensors():
    x = ad.ones(2, requires_grad=True)
    edge = graph.get_gradient_edge(x * x)
    alive = weakref.ref(x)
    del x
    assert alive() is not None
    del edge
    assert alive() is None
