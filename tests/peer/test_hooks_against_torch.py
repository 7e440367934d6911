"""Random programs with hooks of all kinds: what is called, in which order, with what, is as in PyTorch.

Left out, as adjoint differs on purpose (docs/differences.md): what a hook makes of a gradient that is asked for, multi-grad hooks
on a lone root and on leaves under `grad`.
"""

import random

import pytest

import adjoint as ad

torch = pytest.importorskip("torch")

BLOCKS, PROGRAMS, MOST_HANDLES = 20, 30, 20


class Stop(Exception):
    pass


def functions(t):
    """A Function of two outputs that may withhold either gradient, in either library."""

    class Two(t.autograd.Function):
        @staticmethod
        def forward(ctx, a, b, withheld):
            ctx.withheld = withheld
            ctx.set_materialize_grads(False)
            return a * 1, b * 1

        @staticmethod
        def backward(ctx, g, h):
            return None if ctx.withheld == 0 else g, None if ctx.withheld == 1 else h, None

    return Two


TWO = {t: functions(t) for t in (torch, ad)}

OPERATIONS = {
    "mul": lambda t, x, y: [x * y],
    "sub": lambda t, x, y: [x - y],
    "square": lambda t, x, y: [x**2],
    "clone": lambda t, x, y: [x.clone()],
    "cut": lambda t, x, y: [x * y.detach()],
    "where": lambda t, x, y: [t.where(x > 1, x, y)],
    "in place": lambda t, x, y: [x.clone().mul_(y)],
    "unbind": lambda t, x, y: list(t.cat([x, y]).view(2, 2).unbind(0)),
    "two": lambda t, x, y: list(TWO[t].apply(x, y, 2)),
    "two without first": lambda t, x, y: list(TWO[t].apply(x, y, 0)),
    "two without second": lambda t, x, y: list(TWO[t].apply(x, y, 1)),
}
KINDS = ["tensor", "tensor", "retain", "before", "after", "accumulated", "before leaf", "after leaf", "all", "any"]


class Program:
    """Leaves, operations on what there is so far, hooks on it, and backwards through it; the same in both libraries."""

    def __init__(self, seed):
        r = random.Random(seed)
        self.leaves = r.randint(1, 3)
        self.operations, count = [], self.leaves
        for _ in range(r.randint(1, 7)):
            name = r.choice(list(OPERATIONS))
            self.operations.append((name, r.randrange(count), r.randrange(count)))
            count += 2 if name == "unbind" or name.startswith("two") else 1
        asks = r.random() < 0.5
        acts = ["look"] * 6 + ["stop", "remove", "add", "nested"] + ([] if asks else ["scale"] * 3)
        self.hooks = [
            (r.choice(KINDS), r.randrange(count), r.sample(range(count), min(2, count)), r.choice(acts), r.randrange(8))
            for _ in range(r.randint(1, 7))
        ]
        self.joint = any(kind == "all" for kind, *_ in self.hooks)
        ways = ["backward"] + (["inputs"] + ([] if self.joint else ["grad"]) if asks else [])
        self.runs = [
            ([r.randrange(count) for _ in range(r.randint(1, 2))], r.choice(ways), [r.randrange(count) for _ in range(2)])
            for _ in range(r.randint(1, 4))
        ]


def told(g):
    return (
        [told(x) for x in g]
        if isinstance(g, (tuple, list))
        else None
        if g is None
        else [round(v, 4) for v in g.reshape(-1).tolist()]
    )


class Played:
    """A program in one library, and the log of what happened."""

    def __init__(self, t, program):
        self.t, self.program, self.log, self.handles, self.calls = t, program, [], [], 0
        self.values = [t.tensor([1.5 + i, 0.5 + i], requires_grad=True) for i in range(program.leaves)]
        for name, a, b in program.operations:
            self.values += OPERATIONS[name](t, self.values[a], self.values[b])
        self.nodes = [t.autograd.graph.get_gradient_edge(x).node if x.requires_grad else None for x in self.values]
        for number, hook in enumerate(program.hooks):
            self.register(number, *hook)
        for outputs, way, inputs in program.runs:
            self.run([self.values[i] for i in outputs], way, [self.values[i] for i in inputs])
            self.log.append([told(x.grad) for x in self.values if x.is_leaf or x.retains_grad])

    def register(self, number, kind, at, several, act, which):
        t, x = self.t, self.values[at]
        leaf = self.values[at % self.program.leaves]
        node = self.nodes[at % self.program.leaves if "leaf" in kind else at]

        def hook(*given):
            self.log.append((number, kind, *map(told, given)))
            return self.act(act, which, given[0])

        def watch(given):
            hook(given)

        if kind in ("all", "any"):
            tensors = [y for y in (self.values[i] for i in several) if y.requires_grad]
            if tensors:
                self.handles.append(t.autograd.graph.register_multi_grad_hook(tensors, watch, mode=kind))
        elif kind == "accumulated":
            self.handles.append(leaf.register_post_accumulate_grad_hook(lambda x: watch(x.grad)))
        elif x.requires_grad:
            if kind == "retain":
                x.retain_grad()
            elif kind == "tensor":
                self.handles.append(x.register_hook(hook))
            else:
                self.handles.append(node.register_prehook(hook) if "before" in kind else node.register_hook(hook))

    def act(self, act, which, given):
        if act == "stop":
            self.calls += 1
            if self.calls % 2:
                raise Stop
        elif act == "remove" and self.handles:
            self.handles[which % len(self.handles)].remove()
        elif act == "add" and len(self.handles) < MOST_HANDLES:
            self.handles.append(self.values[0].register_hook(lambda g: self.log.append(("added", told(g)))))
        elif act == "nested":
            with self.t.enable_grad():
                inner = self.t.ones(2, requires_grad=True)
                inner.register_hook(lambda g: self.log.append(("nested", told(g))))
                (inner * 3).sum().backward()
        elif act == "scale":
            if isinstance(given, tuple):
                return tuple(None if g is None else g * 2 for g in given)
            return None if given is None else given * 2
        return None

    def run(self, outputs, way, inputs):
        t = self.t
        if self.program.joint:
            outputs = [*outputs, t.ones(2, requires_grad=True)]
        cotangents = [t.ones(2) for _ in outputs]
        try:
            if way == "grad":
                self.log.append(told(t.autograd.grad(outputs, inputs, cotangents, retain_graph=True, allow_unused=True)))
            else:
                asked = {"inputs": inputs} if way == "inputs" else {}
                t.autograd.backward(outputs, cotangents, retain_graph=True, **asked)
        except (Stop, RuntimeError) as error:
            self.log.append(type(error).__name__)


@pytest.mark.parametrize("block", range(BLOCKS))
def test_hooks(block):
    for seed in range(block * PROGRAMS, (block + 1) * PROGRAMS):
        program = Program(seed)
        assert Played(ad, program).log == Played(torch, program).log, f"program {seed}: {vars(program)}"
