"""Backward and plain calls from several threads at once: right results, errors where they belong, no crash."""

import threading
from pathlib import Path

import pytest

import adjoint as ad
import adjoint_core
from adjoint.autograd import Function

THREADS = 6


def together(*tasks):
    """Runs the tasks at the same time; the first error is raised here."""
    start, failed = threading.Barrier(len(tasks)), []

    def run(task):
        start.wait()
        try:
            task()
        except BaseException as e:
            failed.append(e)

    threads = [threading.Thread(target=run, args=(t,)) for t in tasks]
    for t in threads:
        t.start()
    for t in threads:
        t.join(60)
    assert not any(t.is_alive() for t in threads)
    if failed:
        raise failed[0]


def test_separate_graphs():
    found = [None] * THREADS

    def task(i):
        for _ in range(200):
            x = ad.full((8,), float(i), requires_grad=True)
            (x**2).sum().backward()
            found[i] = x.grad.tolist()

    together(*(lambda i=i: task(i) for i in range(THREADS)))
    assert found == [[2.0 * i] * 8 for i in range(THREADS)]


@pytest.mark.parametrize("size", [4, 200_000])
def test_one_leaf_gathers_every_gradient(size):
    x = ad.zeros(size, requires_grad=True)
    rounds = 400 if size < 100 else 10

    def task():
        for _ in range(rounds):
            (x * 2).sum().backward()

    together(*[task] * THREADS)
    assert ad.equal(x.grad, ad.full((size,), 2.0 * rounds * THREADS))


def test_one_graph_many_backwards():
    x = ad.ones(100_000, requires_grad=True)
    y = (x * 3).sin().exp().sum()
    together(*[lambda: y.backward(retain_graph=True)] * THREADS)
    (once,) = ad.autograd.grad(y, x)
    assert ad.allclose(x.grad, once * THREADS)


def test_one_graph_freed_under_others():
    """Without retain_graph one backward wins; the others are right too or say that the graph is gone."""
    for _ in range(20):
        x = ad.ones(70_000, requires_grad=True)
        y = x.exp().sin().exp().sum()
        errors = []

        def task(y=y, errors=errors):
            try:
                y.backward()
            except RuntimeError as e:
                errors.append(str(e))

        together(*[task] * 3)
        assert all("second time" in e for e in errors)
        assert len(errors) < 3


def test_errors_stay_in_their_thread():
    class Fails(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, g):
            raise ValueError("on purpose")

    caught, x = [], ad.ones(4, requires_grad=True)

    def bad():
        for _ in range(100):
            try:
                Fails.apply(x).sum().backward()
            except ValueError as e:
                caught.append(str(e))

    def good():
        for _ in range(100):
            (x * 2).sum().backward()

    together(bad, good, bad, good)
    assert caught == ["on purpose"] * 200
    assert x.grad.tolist() == [400.0] * 4


def test_backward_inside_backward():
    inner = ad.ones(3, requires_grad=True)

    def hook(g):
        with ad.enable_grad():
            (inner * 2).sum().backward()
        return g * 3

    def task():
        for _ in range(50):
            x = ad.ones(3, requires_grad=True)
            y = x * 2
            y.register_hook(hook)
            y.sum().backward()
            assert x.grad.tolist() == [6.0] * 3

    together(*[task] * THREADS)
    assert inner.grad.tolist() == [2.0 * 50 * THREADS] * 3


class Deeper(ad.autograd.Function):
    """The identity; its backward runs `depth` others, one inside the other, and `at_the_end` in the last."""

    @staticmethod
    def forward(ctx, x, depth, at_the_end):
        ctx.depth, ctx.at_the_end = depth, at_the_end
        return x.clone()

    @staticmethod
    def backward(ctx, g):
        assert not ad.is_grad_enabled()
        if ctx.depth == 0:
            ctx.at_the_end()
            return g, None, None
        inner = ad.ones(2, requires_grad=True)
        with ad.enable_grad():
            Deeper.apply(inner, ctx.depth - 1, ctx.at_the_end).sum().backward()
        return g + inner.grad, None, None


def test_backwards_may_stand_deep_inside_one_another():
    def task():
        x, modes = ad.ones(2, requires_grad=True), []
        with ad.autograd.set_multithreading_enabled(False):
            Deeper.apply(x, 800, lambda: modes.append(ad.autograd.is_multithreading_enabled())).sum().backward()
        assert x.grad.tolist() == [801.0] * 2 and modes == [False]

    together(task, task)


def test_a_gradient_may_be_taken_away_while_it_is_added_to():
    x, done = ad.ones(100_000, requires_grad=True), threading.Event()

    def clear():
        while not done.is_set():
            x.grad = None

    def run():
        for _ in range(100):
            (x * 2).sum().backward()
        done.set()

    together(clear, run)
    x.grad = None
    (x * 2).sum().backward()
    assert x.grad[0].item() == 2


def test_what_belongs_to_the_thread_goes_along_into_the_deepest_backward():
    seen = []

    def program():
        with ad.enable_grad():
            a = ad.full((2,), 3.0, requires_grad=True)
            b = a.clone()
            y = (b * b).sum()
            b.zero_()
        y.backward()
        seen.append(a.grad.tolist())
        with pytest.raises(ad.autograd.NonFiniteError):
            ad.zeros(1) / 0
        with pytest.raises(RuntimeError, match="nested"), ad.autograd.graph.allow_mutation_on_saved_tensors():
            pass
        with pytest.raises(RuntimeError, match="nested"), ad.utils.checkpoint.GraphExecGroup():
            pass

    def task():
        with (
            ad.autograd.graph.allow_mutation_on_saved_tensors(),
            ad.autograd.detect_nan(),
            ad.utils.checkpoint.GraphExecGroup(),
        ):
            Deeper.apply(ad.ones(2, requires_grad=True), 100, program).sum().backward()
        with ad.autograd.graph.allow_mutation_on_saved_tensors(), ad.utils.checkpoint.GraphExecGroup():
            pass  # nothing was left behind

    together(task, task)
    assert seen == [[6.0, 6.0]] * 2


def test_an_error_deep_inside_comes_out():
    x = ad.ones(2, requires_grad=True)
    with pytest.raises(ZeroDivisionError):
        Deeper.apply(x, 300, lambda: 1 / 0).sum().backward()
    assert x.grad is None and ad._C._current_graph_task_id() == -1
    x.sum().backward()
    assert x.grad.tolist() == [1, 1]


def test_backward_from_a_thread_inside_backward():
    x, other = ad.ones(3, requires_grad=True), ad.ones(200_000, requires_grad=True)
    y = x * 2
    y.register_hook(lambda g: together(lambda: (other * 2).sum().backward()))
    y.sum().backward()
    assert x.grad.tolist() == [2.0] * 3
    assert other.grad[0].item() == 2


def test_modes_belong_to_their_thread():
    entered, leave = threading.Event(), threading.Event()

    def quiet():
        with ad.no_grad(), ad.autograd.forward_ad.dual_level():
            entered.set()
            leave.wait(10)

    t = threading.Thread(target=quiet)
    t.start()
    entered.wait(10)
    assert ad.is_grad_enabled() and (ad.ones(1, requires_grad=True) * 2).requires_grad
    leave.set()
    t.join()


def test_large_kernels_beside_changes_of_their_operands():
    """Kernels on large operands run without the interpreter's lock: the memory they read and write stays theirs."""
    size = 1 << 20
    x, stop = ad.ones(size), threading.Event()

    def read():
        try:
            for _ in range(60):
                y = x.exp()
                assert y.numel() == size
        finally:
            stop.set()

    def change():
        while not stop.is_set():
            x.data = ad.ones(size)
            x.resize_(size // 2, 2).resize_(size)

    x.exp()
    together(read, change)


def test_identity_under_concurrent_first_looks():
    """A tensor that only the graph held gets one Python object, whoever looks first."""
    for _ in range(200):
        x = ad.ones(2, requires_grad=True)
        y = (x * 2).exp()
        seen = []
        together(*[lambda y=y, seen=seen: seen.append(y.grad_fn._saved_result)] * 3)
        assert all(s is seen[0] or s.equal(seen[0]) for s in seen)


def test_no_library_wants_thread_local_words_of_the_c_plus_plus_library():
    """At fixed offsets (call_once): a program that imported PyTorch first could not import adjoint."""
    folders = [Path(adjoint_core.__file__).parent, *Path(adjoint_core.__file__).parent.parent.glob("adjoint_[ek]*")]
    libraries = [file for folder in folders for file in folder.glob("*.so")]
    assert len(libraries) >= 4 and not [file for file in libraries if b"__once_callable" in file.read_bytes()]
