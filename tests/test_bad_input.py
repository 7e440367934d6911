"""Wrong arguments to every public function and method: a clear exception or a result, never a crash, a hang or a riddle.

Each test is a loop over what is public, so that a new name is covered when it appears. A crash ends the whole run: look at
the last test that started (`pytest -v`), then at `python -X faulthandler`.
"""

import itertools
import random
import re
import warnings

import numpy as np
import pytest

import adjoint as ad
import adjoint_functional.nn.modules as modules
from adjoint.autograd import Function, forward_ad, functional, graph
from op_cases import CASES
from op_cases._inputs import Input

warnings_off = pytest.mark.filterwarnings("ignore")
EXPECTED = (TypeError, ValueError, RuntimeError, IndexError, AttributeError, OverflowError, MemoryError, BufferError)
RIDDLE = re.compile(r"std::|bad_alloc|bad_cast|basic_string|vector::|unknown C\+\+|null argument|with an exception set")
SETTINGS = {
    "set_num_threads",
    "set_default_device",
    "set_default_dtype",
    "set_printoptions",
    "manual_seed",
    "set_grad_enabled",
    "skip_prefix",
}
SETTINGS |= {"save", "load", "set_detect_anomaly", "set_multithreading_enabled", "enter_dual_level", "exit_dual_level"}


class IndexRaises:
    def __index__(self):
        raise KeyError("from __index__")


class ArrayOfItself:
    def __array__(self, *args, **kwargs):
        return self


class Shrinks:
    """An index that empties the list it stands in."""

    def __init__(self):
        self.within = [self, 2, 3]

    def __index__(self):
        self.within.clear()
        return 1


def plain_values():
    """Fresh every time: some calls write to their arguments."""
    x = ad.tensor([1.0, 2.0, 3.0], requires_grad=True)
    return [
        None, "x", "", 0, 1, -1, 7, 2**62, -(2**63), 2**70, 1.5, float("nan"), float("inf"), 2j, True, (), [], (0,), (1, 2),
        (-1, 5), [1.5], (2**40, 2**40), (None,), ["a"], {}, slice(None, None, -1), ..., object(), len, int, IndexRaises(),
        ArrayOfItself(), Shrinks().within, [2] * 70, ad.float16, "cuda", "meta", "sum", np.arange(6.0)[::-1],
        np.array(["a"]), np.array([None]), np.zeros(2, ">f4"), x, [x, None],
    ]  # fmt: skip


def tensors():
    x = ad.arange(12.0).reshape(3, 4)
    used = ad.tensor([1.0, 2.0], requires_grad=True)
    freed = used.exp() * used
    freed.sum().backward()
    return [
        x, x.clone().requires_grad_(), freed, ad.zeros(0), ad.zeros(3, 0, 2), ad.tensor(2.5), ad.tensor([0, 100, -100]),
        ad.tensor([0, 1], dtype=ad.int32), ad.tensor([True, False, True]), ad.tensor([1 + 2j, 3j]), ad.tensor([1, 2], dtype=ad.uint64),
        ad.ones(3, dtype=ad.float16), ad.tensor([float("nan"), 1.0]), ad.zeros((1,) * 64), ad.ones(1).expand(5), ad.zeros(3, 0),
        x.as_strided((3, 3), (1, 1)), x.t(), ad.randn(2, 3, 5, 5), ad.ones(2, 3, device="meta"), x.to_sparse_csr(),
    ]  # fmt: skip


def public(module, prefix):
    for name in sorted(vars(module)):
        value = getattr(module, name)
        if not name.startswith("_") and callable(value) and name not in SETTINGS:
            yield f"{prefix}.{name}", value


FUNCTIONS = dict(
    itertools.chain(
        public(ad, "adjoint"),
        public(ad.nn.functional, "functional"),
        public(ad.linalg, "linalg"),
        public(ad.autograd, "autograd"),
        public(graph, "graph"),
        public(forward_ad, "forward_ad"),
        public(functional, "autograd.functional"),
        public(ad.func, "func"),
        public(modules, "nn"),
        public(ad.nn.init, "init"),
        public(ad.optim, "optim"),
    )
)
UNSUITED = {"__class__", "__init_subclass__", "__subclasshook__", "__new__", "__getattribute__", "__dir__", "__doc__"}
METHODS = {n: getattr(ad.Tensor, n) for n in sorted(dir(ad.Tensor)) if n not in UNSUITED and callable(getattr(ad.Tensor, n))}


def probe(what, f, *args, **kwargs):
    """The call's exception, if any, which must be a clear one."""
    try:
        result = f(*args, **kwargs)
        if isinstance(result, ad.Tensor) and result.numel() < 1000:
            repr(result)
        if isinstance(result, graph.RemovableHandle):
            result.remove()
        return None
    except KeyError as e:
        assert "from __index__" in str(e) or what in ("adjoint.einsum",), (what, e)
        return e
    except EXPECTED as e:
        assert str(e) or type(e) is MemoryError, f"{what}: {type(e).__name__} without a message for {args} {kwargs}"
        assert not RIDDLE.search(str(e)), f"{what}: {e}"
        assert not str(e).startswith("an argument has a type that does not fit"), f"{what}: {e}"
        return e


@warnings_off
@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions(name):
    f, rng, values, some = FUNCTIONS[name], random.Random(name), plain_values(), tensors()
    probe(name, f)
    probe(name, f, no_such_argument=1)
    for value in (*values, *some):
        probe(name, f, value)
    for t in some:
        probe(name, f, t, rng.choice(values + some))
        probe(name, f, t, rng.choice(some), rng.choice(values))
        probe(name, f, t, rng.choice(values), rng.choice(values))


@warnings_off
@pytest.mark.parametrize("name", METHODS)
def test_methods(name):
    f, rng, values, some = METHODS[name], random.Random(name), plain_values(), tensors()
    for value in ("x", None, 1, [1.0], object()):
        probe(name, f, value)
    for t in some:
        probe(name, f, t)
        probe(name, f, t, rng.choice(values + some))
        probe(name, f, t, rng.choice(values + some), rng.choice(values + some))


@warnings_off
@pytest.mark.parametrize("name", sorted(n for n in METHODS if not n.startswith("_")))
def test_methods_inside_transforms(name):
    rng, values = random.Random(name), plain_values()

    def call(x):
        args = [rng.choice([*values, x, x.sum()]) for _ in range(rng.randrange(3))]
        probe(name, METHODS[name], x, *args)
        return x.sum()

    for x in (ad.randn(2, 3), ad.ones(2), ad.zeros(2, 0)):
        probe(name, ad.vmap(call), x)
        probe(name, ad.func.grad(call), x)
        with forward_ad.dual_level():
            probe(name, call, forward_ad.make_dual(x, ad.ones_like(x)))


SHAPES = [(), (0,), (1,), (2,), (7,), (3, 2), (0, 3), (2, 2, 2), (1, 1, 1, 1), (2, 3, 4), (1,) * 64]
TYPES = [ad.float32, ad.float16, ad.int64, ad.uint8, ad.bool, ad.complex64]


def spoilt(rng, t):
    """A tensor that does not fit where t did."""
    return rng.choice(
        [
            lambda: ad.ones(rng.choice(SHAPES)).to(t.dtype),
            lambda: ad.ones(rng.choice(SHAPES)).to(rng.choice(TYPES)),
            lambda: t.detach().to(rng.choice(TYPES)),
            lambda: ad.full(t.shape, rng.choice([100, -100])).to(t.dtype),
            lambda: t.unsqueeze(0),
            lambda: t[..., :0] if t.ndim else t,
            lambda: t.reshape(-1),
            lambda: rng.choice(plain_values()),
        ]
    )()


def spoil_argument(rng, case):
    """The case with one of its plain arguments replaced."""
    slots = [k for k, v in (*enumerate(case.args), *case.kwargs.items()) if not isinstance(v, Input)]
    if not slots:
        return case
    slot, wrong = rng.choice(slots), rng.choice(plain_values())
    args = tuple(wrong if k == slot else v for k, v in enumerate(case.args))
    kwargs = {k: wrong if k == slot else v for k, v in case.kwargs.items()}
    return type(case)(**{**{f: getattr(case, f) for f in case.__dataclass_fields__}, "args": args, "kwargs": kwargs})


@warnings_off
@pytest.mark.parametrize("case", CASES, ids=lambda c: c.id)
def test_good_calls_with_one_bad_argument(case):
    rng = random.Random(case.id)
    for k in range(12):
        given = [ad.tensor(a) for a in case.sample(0)]
        call = case
        if k % 3 == 0 or not given:
            call = spoil_argument(rng, case)
        else:
            i = rng.randrange(len(given))
            given[i] = spoilt(rng, given[i])
        for t in given:
            if isinstance(t, ad.Tensor) and t.is_leaf and (t.is_floating_point() or t.is_complex()):
                t.requires_grad_()

        def run(call=call, given=given):
            found = call.run(ad, given)
            for y in found if isinstance(found, (tuple, list)) else (found,):
                if isinstance(y, ad.Tensor) and y.requires_grad:
                    (y.abs() if y.is_complex() else y).sum().backward(retain_graph=True)

        probe(case.id, run)


@warnings_off
@pytest.mark.parametrize("case", [c for c in CASES if c.differentiable], ids=lambda c: c.id)
def test_gradients_of_the_wrong_shape(case):
    """Nodes called by hand, gradient edges and hooks can bring anything into a rule."""
    rng = random.Random(case.id)
    given = [ad.tensor(a) for a in case.sample(0)]
    for i in case.differentiable:
        given[i].requires_grad_()
    leaves = [given[i] for i in case.differentiable]
    found = case.run(ad, given)
    for y in found if isinstance(found, (tuple, list)) else (found,):
        if not isinstance(y, ad.Tensor) or y.grad_fn is None:
            continue
        for _ in range(5):
            g = ad.ones(rng.choice(SHAPES)).to(rng.choice([y.dtype, *TYPES]))
            probe(case.id, y.grad_fn, g)
            edge = graph.get_gradient_edge(y)
            probe(case.id, ad.autograd.grad, edge, leaves, g, retain_graph=True, allow_unused=True)
        handle = y.grad_fn.register_prehook(lambda gs: tuple(ad.ones(rng.choice(SHAPES)) for _ in gs))
        probe(case.id, y.abs().sum().backward, retain_graph=True)
        handle.remove()
        handle = y.grad_fn.register_hook(lambda gs, _: tuple(ad.ones(rng.choice(SHAPES)) for _ in gs))
        probe(case.id, y.abs().sum().backward, retain_graph=True)
        handle.remove()
        for leaf in leaves:
            leaf.grad = None
        y.abs().sum().backward(retain_graph=True)


# ---- messages


@pytest.mark.parametrize(
    "call, kind, words",
    [
        (lambda x: x + ad.ones(7), ad.ShapeError, ["add", "4", "7"]),
        (lambda x: x @ ad.ones(7), ad.ShapeError, ["m", "4", "7"]),
        (lambda x: x.sum(5), IndexError, ["sum", "5", "[-2, 1]"]),
        (lambda x: x.reshape(5, 5), ad.ShapeError, ["reshape", "[5, 5]", "12"]),
        (lambda x: x.expand(2, 2**62), ad.ShapeError, ["expand"]),
        (lambda x: ad.zeros(2**40, 2**40), ad.ShapeError, ["1099511627776"]),
        (lambda x: ad.empty(2**50), ad.OutOfMemoryError, ["bytes"]),
        (lambda x: ad.cat([x, None]), TypeError, ["cat"]),
        (lambda x: ad.stack([x, ad.ones(2)]), RuntimeError, ["stack", "[2]"]),
        (lambda x: x[5], IndexError, ["5", "3"]),
        (lambda x: x[ad.tensor([9])], IndexError, ["9", "3"]),
        (lambda x: x[1.5], IndexError, ["float"]),
        (lambda x: x.gather(1, ad.tensor([[9]])), (RuntimeError, IndexError), ["gather", "9"]),
        (lambda x: x.as_subclass(int), TypeError, ["as_subclass", "type"]),
        (lambda x: ad.tensor([[1.0], [1.0, 2.0]]), ValueError, ["tensor", "length 1"]),
        (lambda x: ad.tensor(ArrayOfItself()), TypeError, ["__array__", "ArrayOfItself"]),
        (lambda x: x.to("cuda:9"), RuntimeError, ["cuda"]),
        (lambda x: x.requires_grad_().backward(), RuntimeError, ["scalar", "[3, 4]"]),
        (lambda x: ad.ones(2, dtype=ad.int64).requires_grad_(), RuntimeError, ["int64"]),
        (lambda x: x.masked_fill(x > 0, ad.ones(1)), RuntimeError, ["masked_fill", "0-dimensional", "1 dim"]),
        (lambda x: x.sum().unflatten(0, (1, 1)), RuntimeError, ["unflatten", "no dimensions"]),
        (lambda x: x.view((1,) * 65 + (12,)), ad.ShapeError, ["64", "66"]),
        (lambda x: x.to_padded_tensor(0.0), NotImplementedError, ["to_padded_tensor", "nested", "[3, 4]"]),
        (lambda x: ad.autograd.backward(None), TypeError, ["NoneType"]),
        (lambda x: ad.autograd.grad(x.requires_grad_().sum(), None), TypeError, ["NoneType"]),
        (lambda x: ad.nn.functional.pad(x, (1, 1), mode="reflect", value=1.0), RuntimeError, ["pad", "reflect", "1.0"]),
        (
            lambda x: ad.segment_reduce(x, "sum", offsets=ad.tensor([0.0, 3.0])),
            RuntimeError,
            ["segment_reduce", "offsets", "float32"],
        ),
        (
            lambda x: ad.segment_reduce(x, "sum", lengths=ad.tensor([3.0])),
            RuntimeError,
            ["segment_reduce", "lengths", "float32"],
        ),
        (lambda x: ad.nn.parallel.scatter(x, []), RuntimeError, ["scatter", "at least one device"]),
    ],
)
def test_the_message_says_what_was_wrong(call, kind, words):
    with pytest.raises(kind) as caught:
        call(ad.arange(12.0).reshape(3, 4))
    for word in words:
        assert word in str(caught.value)


# ---- errors in backward leave everything usable


def test_hooks_that_misbehave():
    def backward_again(g):
        y.sum().backward(retain_graph=True)

    def remove_itself(g):
        handle.remove()

    x = ad.tensor([1.0, 2.0], requires_grad=True)
    y = x * x
    for hook in (
        lambda g: 1 / 0,
        lambda g: "no tensor",
        lambda g: g[:1],
        lambda g: g.double(),
        lambda g, more: None,
        backward_again,
    ):
        handle = y.register_hook(hook)
        with pytest.raises((ZeroDivisionError, TypeError, RuntimeError)) as caught:
            y.sum().backward(retain_graph=True)
        assert str(caught.value)
        handle.remove()
    x.grad = None
    handle = y.register_hook(remove_itself)
    y.sum().backward(retain_graph=True)
    y.sum().backward()
    assert x.grad.tolist() == [4.0, 8.0]


@pytest.mark.parametrize(
    "result", [None, (), (None, None, None), "x", 1.5, [], (ad.ones(5),), (ad.ones(2, dtype=ad.int64),), object()]
)
def test_functions_that_return_nonsense_from_backward(result):
    class Nonsense(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return result

    x = ad.tensor([1.0, 2.0], requires_grad=True)
    y = (x * 3).exp()
    probe("Function", lambda: Nonsense.apply(y).sum().backward(retain_graph=True))
    x.grad = None
    y.sum().backward()
    assert x.grad is not None


@warnings_off
@pytest.mark.parametrize("result", [None, (), "x", 1.5, object(), [ad.ones(2)], {"a": 1}, (None, 3)])
def test_functions_that_return_nonsense_from_forward(result):
    class Nonsense(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.mark_dirty(x, x)
            ctx.save_for_backward(x, None)
            return result

        @staticmethod
        def backward(ctx, g):
            return g

    x = ad.tensor([1.0, 2.0], requires_grad=True) * 1
    probe("Function", lambda: Nonsense.apply(x))
    probe("Function", lambda: Nonsense.apply())
    probe("Function", lambda: Nonsense.apply(None, "x"))
    assert (x * 2).tolist() == [2.0, 4.0]


def test_an_error_on_the_way_leaves_the_graph_usable():
    x = ad.tensor([1.0, 2.0], requires_grad=True)
    y = (x * x).exp()
    handle = y.register_hook(lambda g: 1 / 0)
    for _ in range(3):
        with pytest.raises(ZeroDivisionError):
            y.sum().backward()
    handle.remove()
    y.sum().backward()
    assert ad.allclose(x.grad, 2 * x * (x * x).exp())
    assert ad.is_grad_enabled() and (x * 2).requires_grad


def test_an_error_inside_a_transform_leaves_its_level():
    def fails(x):
        raise ValueError("on purpose")

    for transform in (ad.func.grad, ad.vmap, ad.func.jacrev, ad.func.jacfwd, ad.func.hessian):
        with pytest.raises(ValueError, match="on purpose"):
            transform(fails)(ad.ones(2))
    x = ad.ones(2, requires_grad=True)
    (x * 2).sum().backward()
    assert x.grad.tolist() == [2.0, 2.0]


def test_data_that_change_while_they_are_read():
    class Liar(float):
        pass

    data = [1.0, 2.0, 3.0]

    class Grows(np.float64):
        def item(self):
            data.extend([4.0] * 1000)
            return 1.0

    Grows.__module__ = "numpy"
    data.append(Grows(1))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        probe("tensor", ad.tensor, data)
        probe("tensor", ad.tensor, [Liar(1), Shrinks().within])
        probe("zeros", ad.zeros, Shrinks().within)
        probe("index", lambda: ad.ones(4)[Shrinks().within])


@pytest.mark.parametrize(
    "call",
    [
        lambda f, x: f.pad(x[0], (2**62, 2**62), mode="replicate"),
        lambda f, x: f.unfold(x, 1, padding=2**40),
        lambda f, x: f.unfold(x, (2**31 + 1, 1), dilation=2**32),
        lambda f, x: f.fold(x[0], (2**40, 2**40), 1),
        lambda f, x: f.interpolate(x[0, 0], size=[2] * 70),
        lambda f, x: f.multilabel_margin_loss(x[0, 0], x[0, 0]),
        lambda f, x: f.fractional_max_pool2d(x, (2, 2, 2), output_size=(3, 3)),
        lambda f, x: ad.grid_sampler_2d(x, ad.zeros(1, 2, 2, 2), 7, 0, False),
        lambda f, x: ad.grid_sampler_2d(x, ad.zeros(1, 2, 2, 2), 0, -3, False),
        lambda f, x: f.conv2d(x, x, padding=2**63 - 1),
        lambda f, x: f.conv2d(x, x, padding=4, stride=2**62),
        lambda f, x: f.conv2d(x, x, dilation=2**62),
        lambda f, x: f.conv_transpose2d(x, x, padding=2**63 - 1),
        lambda f, x: f.conv_transpose2d(x, x, stride=2**62),
        lambda f, x: f.max_pool2d(x, 2, 1, 0, 2**63 - 1),
        lambda f, x: f.avg_pool2d(x, 2**62, 1, 2**61),
        lambda f, x: f.pad(x, (-(2**63), -(2**63))),
        lambda f, x: ad.diag_embed(x, -(2**63)),
        lambda f, x: ad.repeat_interleave(x, 2**63 - 1),
        lambda f, x: ad.sparse_coo_tensor([[2**63 - 1]], [1.0]),
    ],
)
def test_sizes_and_choices_of_images_that_are_none(call):
    with pytest.raises((RuntimeError, ValueError, TypeError)):
        call(ad.nn.functional, ad.rand(1, 1, 4, 4))


def test_places_of_windows_stay_inside():
    """Numbers that are none in [0, 1) would have put windows outside of the plane."""
    x = ad.arange(72.0).reshape(1, 2, 6, 6)
    samples = ad.tensor([[[float("nan"), 1e30], [-5.0, 1e9]]])
    y, at = ad.nn.functional.fractional_max_pool2d(x, 2, output_size=(3, 3), _random_samples=samples, return_indices=True)
    assert ad.equal(x.flatten(2).gather(2, at.flatten(2)), y.flatten(2))
