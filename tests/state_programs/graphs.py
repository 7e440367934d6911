"""Actions on the graph: backward, hooks of every kind, custom Functions, checkpoints, saved tensors, threads."""

from __future__ import annotations

import contextlib
import gc
import random
import threading
from typing import Any

import adjoint as ad
from adjoint.utils.checkpoint import checkpoint

from .pool import State, action


def scalar(t: Any) -> Any:
    t = t.to_dense() if t.layout is not ad.strided else t
    return (t.abs() if t.is_complex() else t).sum()


@action(20)
def backward(s: State, r: random.Random) -> None:
    t = s.floating(r)
    again = r.random() < 0.5
    how = r.randrange(4)
    if how == 0:
        t.backward(s.partner(r, t), retain_graph=again)
    elif how == 1:
        scalar(t).backward(retain_graph=again, create_graph=r.random() < 0.3)
    elif how == 2:
        scalar(t).backward(retain_graph=again, inputs=[s.pick(r), s.floating(r)])
    else:
        y = scalar(t)
        y.backward(retain_graph=True)
        y.backward()
        y.backward()


@action(14)
def grad(s: State, r: random.Random) -> Any:
    outputs = [s.floating(r) for _ in range(r.randint(1, 2))]
    if r.random() < 0.6:
        outputs = [scalar(t) for t in outputs]
    along = [ad.ones_like(t) if r.random() < 0.8 else s.pick(r) for t in outputs]
    batched = r.random() < 0.15
    if batched:
        along = [ad.stack([v, v]) for v in along]
    return ad.autograd.grad(outputs, [s.pick(r), s.floating(r)], along, retain_graph=r.random() < 0.5, create_graph=r.random() < 0.4, allow_unused=True,
                            is_grads_batched=batched, materialize_grads=r.random() < 0.3)  # fmt: skip


def what_a_hook_does(s: State, r: random.Random, handles: list[Any]) -> Any:
    """A function of any arguments that may raise, give back something else, or change what it runs in."""
    own = s.later(r)

    def hook(*given: Any) -> Any:
        how = own.randrange(10)
        first = given[0][0] if given and isinstance(given[0], tuple) and given[0] else (given[0] if given else None)
        if how == 0:
            raise ValueError("a hook")
        if how == 1:
            gc.collect()
        elif how == 2 and handles:
            handles[0].remove()
        elif how == 3:
            return s.pick(own)
        elif how == 4:
            return (first * 2,) if isinstance(given[0], tuple) else first * 2
        elif how == 5 and isinstance(first, ad.Tensor):
            own.choice(
                (
                    lambda: first.zero_(),
                    lambda: first.resize_(7),
                    lambda: setattr(first, "data", s.pick(own)),
                    lambda: s.put(first, own),
                    lambda: first.set_(),
                    lambda: first.detach_(),
                )
            )()
        elif how == 6:
            return tuple(given[0]) + (None,) if isinstance(given[0], tuple) else None
        else:
            s.inner(own)
        return None

    return hook


@action(12)
def hooks(s: State, r: random.Random) -> None:
    t, handles = s.floating(r), []
    f = what_a_hook_does(s, r, handles)
    node = t.grad_fn
    ways = [
        lambda: t.register_hook(f),
        lambda: t.register_post_accumulate_grad_hook(f),
        lambda: ad.autograd.graph.register_multi_grad_hook([t, s.floating(r)], f, mode=r.choice(("all", "any"))),
    ]
    if node is not None:
        node = node.next_functions[0][0] if r.random() < 0.3 and node.next_functions else node
        ways += [lambda: node.register_hook(f), lambda: node.register_prehook(f)] * 2
    handles.append(r.choice(ways)())
    s.keep(handles[0], r)


@action(4)
def handles(s: State, r: random.Random) -> None:
    thing = s.kept[r.randrange(len(s.kept))]
    r.choice(
        (
            lambda: thing.remove(),
            lambda: thing(),
            lambda: next(thing),
            lambda: thing.__exit__(None, None, None),
            lambda: thing.__enter__(),
        )
    )()


@action(8)
def nodes(s: State, r: random.Random) -> Any:
    node = s.floating(r).grad_fn
    for _ in range(r.randint(0, 3)):
        node = r.choice(node.next_functions)[0]
    s.keep(node, r)
    saved = [n for n in dir(node) if n.startswith("_saved") or n.startswith("_raw") or n == "saved_tensors"]
    ways = (lambda: getattr(node, r.choice(saved)), lambda: node(s.pick(r)), lambda: type(node)(), lambda: type(node).__new__(type(node)), lambda: node.name(), lambda: setattr(node, "x", node),
            lambda: node.metadata.update(a=node), lambda: getattr(node, r.choice(dir(node))), lambda: setattr(node, r.choice(dir(node)), s.pick(r)), lambda: node.variable,
            lambda: getattr(node, r.choice(saved)).register_hooks(lambda t: t, lambda t: s.pick(r)), lambda: node.__init__())  # fmt: skip
    return r.choice(ways)()


def forward_of(how: int, x: Any, s: State, own: random.Random) -> Any:
    results = (
        lambda: x * 2,
        lambda: x.view(-1),
        lambda: x,
        lambda: x.mul_(2),
        lambda: s.pick(own),
        lambda: x[0],
        lambda: x.detach(),
        lambda: x.clone().data,
    )
    return results[how]()


def backward_of(how: int, ctx: Any, v: Any, s: State, own: random.Random) -> Any:
    results = (
        lambda: v * 2,
        lambda: v,
        lambda: None,
        lambda: s.pick(own),
        lambda: v.sum(),
        lambda: ctx.saved_tensors[0],
        lambda: v.zero_(),
        lambda: 3.0,
    )
    return results[how]()


MARKS = ("dirty", "non_differentiable", "materialize", "save", "save_result", "forward_save", "keep")


def mark(ctx: Any, marks: list[str], given: tuple[Any, ...], y: Any, s: State, own: random.Random) -> None:
    x = given[0]
    ctx.mark_dirty(x) if "dirty" in marks else None
    ctx.mark_non_differentiable(y) if "non_differentiable" in marks else None
    ctx.set_materialize_grads(False) if "materialize" in marks else None
    ctx.save_for_backward(*given, x.view(-1), None, s.pick(own)) if "save" in marks else None
    ctx.save_for_backward(y, x) if "save_result" in marks else None
    ctx.save_for_forward(x, y) if "forward_save" in marks else None
    if "keep" in marks:
        ctx.kept = (x, y)
        s.keep(ctx, own)


@action(10)
def function(s: State, r: random.Random) -> Any:
    """A Function that saves, marks, returns and raises as it likes."""
    own, marks = s.later(r), r.sample(MARKS, r.randint(0, 4))
    how_forward, how_backward = r.randrange(8), r.randrange(8)

    class Drawn(ad.autograd.Function):
        @staticmethod
        def forward(ctx: Any, *given: Any) -> Any:
            x = given[0]
            if how_forward == 0:
                s.inner(own)
            y = forward_of(how_forward, x, s, own)
            mark(ctx, marks, given, y, s, own)
            if own.random() < 0.05:
                raise ValueError("forward")
            return (y, x * 1, 3) if own.random() < 0.3 else y

        @staticmethod
        def backward(ctx: Any, *v: Any) -> Any:
            n = len(ctx.needs_input_grad)
            if how_backward == 0:
                raise ValueError("backward")
            if how_backward == 1:
                s.inner(own)
            g = backward_of(how_backward, ctx, v[0], s, own)
            return own.choice((g, (g,) * n, (g,) + (None,) * (n - 1), (g,) * (n + 1)))

        @staticmethod
        def jvp(ctx: Any, *t: Any) -> Any:
            return own.choice((lambda: t[0], lambda: t[0] * 2, lambda: s.pick(own), lambda: None, lambda: ctx.saved_tensors))()

        @staticmethod
        def vmap(info: Any, dims: Any, *given: Any) -> Any:
            return own.choice(
                (lambda: (given[0] * 2, dims[0]), lambda: (given[0], 0), lambda: (s.pick(own), 1), lambda: None)
            )()

    given = [s.floating(r) if r.random() < 0.9 else 2.0 for _ in range(r.randint(1, 3))]
    if r.random() < 0.3:
        return ad.vmap(Drawn.apply)(*given)
    return Drawn.apply(*given)


@action(7)
def saved_hooks(s: State, r: random.Random) -> None:
    own = s.later(r)

    def pack(t: Any) -> Any:
        how = own.randrange(6)
        if how == 0:
            raise ValueError("pack")
        if how == 1:
            s.inner(own, 1)
        return t if how < 5 else None

    def unpack(packed: Any) -> Any:
        how = own.randrange(8)
        if how == 0:
            raise ValueError("unpack")
        if how == 1:
            s.inner(own, 1)
        if how == 2:
            return own.choice((None, 3, s.pick(own), s.pick(own), s.floating(own)))
        return packed

    context = r.choice((lambda: ad.autograd.graph.saved_tensors_hooks(pack, unpack), lambda: ad.autograd.graph.save_on_cpu(), lambda: ad.autograd.graph.disable_saved_tensors_hooks("no"),
                        lambda: ad.autograd.graph.allow_mutation_on_saved_tensors()))()  # fmt: skip
    with context:
        s.inner(r, 5)


@action(6)
def checkpointed(s: State, r: random.Random) -> Any:
    own, x = s.later(r), s.floating(r)

    def body(*given: Any) -> Any:
        s.inner(own, 2) if own.random() < 0.3 else None
        y = given[0] * 2 if own.random() < 0.9 else s.pick(own)
        return y.sin() if own.random() < 0.95 else y.mul_(2)

    return checkpoint(
        body,
        x,
        s.partner(r, x),
        use_reentrant=r.random() < 0.5,
        determinism_check=r.choice(("default", "none")),
        early_stop=r.random() < 0.5,
    )


@action(8)
def modes(s: State, r: random.Random) -> None:
    ways = (ad.no_grad, ad.enable_grad, ad.inference_mode, ad.autograd.detect_anomaly, lambda: ad.autograd.set_multithreading_enabled(False), lambda: ad.autocast("cpu", dtype=ad.bfloat16),
            lambda: ad.autograd._unsafe_preserve_version_counter(s.pick(r)), lambda: ad.autograd.graph.increment_version(s.pick(r)) or contextlib.nullcontext())  # fmt: skip
    with r.choice(ways)():
        s.inner(r, 5)


@action(3)
def threads(s: State, r: random.Random) -> None:
    """Backward of one graph, or any actions, on two threads."""
    y, seeds = scalar(s.floating(r)), [s.later(r) for _ in range(2)]
    same = r.random() < 0.5

    def work(own: random.Random) -> None:
        with contextlib.suppress(Exception):
            if same:
                y.backward(retain_graph=own.random() < 0.7)
            else:
                s.inner(own, 6)

    workers = [threading.Thread(target=work, args=(own,)) for own in seeds]
    for w in workers:
        w.start()
    for w in workers:
        w.join()


@action(3)
def generators(s: State, r: random.Random) -> None:
    """Generators that are left in the middle of a mode, and go on later or never."""
    own = s.later(r)

    @ad.no_grad()
    def numbers() -> Any:
        with ad.enable_grad():
            while True:
                s.inner(own, 1)
                yield s.pick(own) * 2

    g = numbers()
    s.put(next(g), r)
    s.keep(g, r)
