"""PyTorch's table of operators, cell by cell: the same calls on adjoint and on PyTorch.

    python tests/peer/operator_table.py [-o FILE] [-n SAMPLES] [NAME ...]

runs the operators named (all of them without names) and writes a line for each cell that differs, as JSON: with the words of
docs/differences.md where it is meant to. A cell that PyTorch refuses is left out.
"""

import argparse
import collections
import functools
import importlib
import json
import operator
import signal
import sys
import types
import warnings

import torch
from known_cells import reason
from torch.testing._internal.common_methods_invocations import op_db
from torch.utils import _pytree

import adjoint as ad

NOT_PUBLIC = (
    *("jiterator_unary", "jiterator_binary", "jiterator_2inputs_2outputs", "jiterator_4inputs_with_extra_args"),
    *("jiterator_binary_return_by_ref", "torch._scaled_mm", "torch._scaled_mm_v2"),
)
"Operators of the dispatcher, and of devices that adjoint has not."

UNSET = ("empty", "empty_like", "empty_permuted", "empty_strided", "new_empty", "new_empty_strided")
"Operators whose values mean nothing."

TOLERANCE = {torch.float32: 2e-4, torch.complex64: 2e-4, torch.float64: 1e-6, torch.complex128: 1e-6, torch.bfloat16: 4e-2}
"By the type of a result."

LIMIT_S = 30
OTHER_NAMES = {"log_sigmoid": "nn.functional.logsigmoid", "_threshold": "nn.functional.threshold", "_sparse_mm": "sparse.mm"}
PLACES = ("torch", "torch.linalg", "torch.special", "torch.fft", "torch.nn.functional", "torch.masked", "torch.sparse")


class TooLong(Exception):
    """An operator took longer than its limit."""


# ---- from PyTorch to adjoint


def ours(value):
    """A tensor, dtype, ... of PyTorch as adjoint has it."""
    if isinstance(value, torch.Tensor):
        return ours_tensor(value)
    if isinstance(value, torch.dtype):
        return getattr(ad, str(value).rpartition(".")[2])
    if isinstance(value, torch.device):
        return ad.device(value.type)
    if isinstance(value, (torch.memory_format, torch.layout)):
        return getattr(ad, str(value).rpartition(".")[2])
    if isinstance(value, torch.Generator):
        return ad.Generator()
    if isinstance(value, torch.nn.Module):
        raise NotImplementedError("a module of PyTorch")
    return value


def ours_tensor(t):
    """The tensor with the same values, type and strides."""
    plain = t.detach().resolve_conj().resolve_neg()
    if plain.layout != torch.strided:
        raise NotImplementedError(f"{t.layout}")
    if plain.dtype is torch.bfloat16:
        flat = ad.from_numpy(plain.contiguous().float().numpy()).to(ad.bfloat16)
    else:
        flat = ad.from_numpy(plain.contiguous().numpy().copy())
    if plain.numel() and not plain.is_contiguous() and torch._debug_has_internal_overlap(plain) == 0:
        placed = ad.empty_strided(tuple(plain.shape), plain.stride(), dtype=flat.dtype)
        flat = placed.copy_(flat)
    return flat.requires_grad_(t.requires_grad)


def theirs_tensor(t):
    """What came from adjoint as a tensor of PyTorch; anything else as it is."""
    if isinstance(t, ad.Tensor):
        t = t.detach() if t.layout is ad.strided else t.detach().to_dense()
        if t.dtype is ad.bfloat16:
            return torch.from_numpy(t.float().contiguous().numpy().copy()).bfloat16()
        return torch.from_numpy(t.contiguous().numpy().copy())
    if isinstance(t, ad.dtype):
        return getattr(torch, str(t).rpartition(".")[2])
    return t


class Rebound(types.ModuleType):
    """`torch` in the functions of the table: adjoint, and PyTorch's helpers where those are meant."""

    def __getattr__(self, name):
        return torch.testing if name == "testing" else getattr(ad, name)


REBOUND = Rebound("torch")


def found(f):
    """The function of adjoint that has the name of this one of PyTorch."""
    module, name = getattr(f, "__module__", None) or "", getattr(f, "__name__", "")
    if isinstance(f, types.MethodDescriptorType) or getattr(torch.Tensor, name, None) is f:
        return getattr(ad.Tensor, name)
    for place in (module, module.rpartition(".")[0], *PLACES):
        theirs = sys.modules.get(place)
        short = name.removeprefix(place.rpartition(".")[2] + "_")  # `linalg_qr` of `torch._C._linalg`
        for own in (name, short):
            if place.startswith("torch") and getattr(theirs, own, None) is f:
                try:
                    mine = importlib.import_module("adjoint" + place.removeprefix("torch"))
                    return getattr(mine, own)
                except (ImportError, AttributeError):
                    continue
    if name in OTHER_NAMES:
        return operator.attrgetter(OTHER_NAMES[name])(ad)
    raise AttributeError(f"adjoint has no {module}.{name}")


def rebind(f):
    """A function of the table that calls adjoint where it calls PyTorch."""
    if isinstance(f, functools.partial):
        return functools.partial(rebind(f.func), *ours_tree(f.args), **ours_tree(f.keywords))
    own = getattr(f, "__module__", "") or ""
    if isinstance(f, types.FunctionType) and own.startswith("torch.testing"):
        cells = f.__closure__ and tuple(types.CellType(rebound(c.cell_contents)) for c in f.__closure__)
        copy = types.FunctionType(f.__code__, Globals(f.__globals__), f.__name__, f.__defaults__, cells)
        copy.__kwdefaults__ = f.__kwdefaults__
        return copy
    if getattr(f, "__name__", None) in type(ad.Tensor).__dict__ or type(f).__name__ in (
        "method_descriptor",
        "wrapper_descriptor",
    ):
        return getattr(ad.Tensor, f.__name__)
    return found(f)


def rebound(value):
    """Anything that a function of the table names."""
    if value is torch:
        return REBOUND
    if isinstance(value, types.ModuleType) and value.__name__.startswith("torch.") and "testing" not in value.__name__:
        return importlib.import_module("adjoint" + value.__name__.removeprefix("torch"))
    if callable(value) and not isinstance(value, type):
        try:
            return rebind(value)
        except AttributeError:
            return value
    return ours(value)


class Globals(dict):
    """The globals of a function of the table, bound to adjoint when they are looked up."""

    def __init__(self, names):
        super().__init__({k: REBOUND if v is torch else v for k, v in names.items()})
        for k, v in names.items():
            if v is not torch and isinstance(v, types.ModuleType) and v.__name__.startswith("torch.nn"):
                self[k] = rebound(v)
        for name, maker in HELPERS.items():
            if name in names:
                self[name] = maker


HELPERS = {}
"Helpers of the table that look at tensors."


def ours_tree(tree):
    return _pytree.tree_map(ours, tree)


# ---- what is compared


def tensors(tree):
    return [x for x in _pytree.tree_leaves(as_tree(tree)) if isinstance(x, (torch.Tensor, ad.Tensor))]


def as_tree(value):
    """Results with the fields of named tuples and dicts as plain lists, and everything as PyTorch has it."""
    if isinstance(value, (tuple, list)):
        return [as_tree(v) for v in value]
    return value


def same(a, b, values=True):
    """Why two results differ, in their values too if asked; None if they do not."""
    a, b = _pytree.tree_leaves(as_tree(a)), _pytree.tree_leaves(as_tree(b))
    if len(a) != len(b):
        return f"{len(b)} results for {len(a)}"
    for x, y in zip(a, b, strict=True):
        y = theirs_tensor(y)
        if isinstance(x, torch.Tensor) != isinstance(y, torch.Tensor):
            return f"{type(y).__name__} for {type(x).__name__}"
        if not isinstance(x, torch.Tensor):
            if x != y and not (x != x and y != y):
                return f"{y!r} for {x!r}"
            continue
        x = x.detach() if x.layout is torch.strided else x.detach().to_dense()
        x = x.resolve_conj().resolve_neg()
        if x.shape != y.shape:
            return f"shape {tuple(y.shape)} for {tuple(x.shape)}"
        if x.dtype != y.dtype:
            return f"{y.dtype} for {x.dtype}"
        rtol = TOLERANCE.get(x.dtype, 0)
        if values and not torch.allclose(x, y, rtol=rtol, atol=rtol, equal_nan=True):
            return f"values off by {worst(x, y)}"
    return None


def worst(x, y):
    if not x.numel():
        return 0
    if x.dtype == torch.bool:
        return int((x != y).sum())
    wide = torch.complex128 if x.is_complex() else torch.float64
    gap = (x.to(wide) - y.to(wide)).abs()
    return f"{gap.nan_to_num(nan=-1.0).max().item():.3g}, NaN {int(torch.isnan(x).sum())} and {int(torch.isnan(y).sum())}"


class Side:
    """One library with the operator, its input and how results are processed before they are compared."""

    def __init__(self, lib, f, args, kwargs, process):
        self.lib, self.f, self.process = lib, f, process
        self.leaves, self.tree = _pytree.tree_flatten((args, kwargs))
        self.places = [i for i, x in enumerate(self.leaves) if isinstance(x, lib.Tensor)]
        self.moving = [i for i in self.places if self.leaves[i].is_floating_point() or self.leaves[i].is_complex()]

    def call(self, given, f=None):
        """Tensors that come of the operator where `given` replaces some of its leaves."""
        leaves = [given.get(i, x) for i, x in enumerate(self.leaves)]
        args, kwargs = _pytree.tree_unflatten(leaves, self.tree)
        return self.process((f or self.f)(*args, **kwargs))

    def recorded(self, result):
        return [y for y in tensors(result) if y.requires_grad]

    def copies(self, requires_grad=False):
        made = {i: self.leaves[i].detach().clone() for i in self.places}
        if requires_grad:
            for i in self.moving:
                made[i].requires_grad_()
        return made

    def value(self):
        return self.call(self.copies())

    def gradient(self, order=1):
        given = self.copies(True)
        xs = [given[i] for i in self.moving]
        ys = self.recorded(self.call(given))
        gs = [self.lib.zeros_like(x) for x in xs]
        for again in range(order):
            if not ys:
                return [self.lib.zeros_like(x) for x in xs]
            us = [weights(self.lib, y, again) for y in ys]
            gs = self.lib.autograd.grad(ys, xs, us, allow_unused=True, materialize_grads=True, create_graph=again + 1 < order)
            ys = [g for g in gs if g.requires_grad]
        return [g.detach() for g in gs]

    def forward(self):
        given, fwd = self.copies(), self.lib.autograd.forward_ad
        with fwd.dual_level():
            for i in self.moving:
                given[i] = fwd.make_dual(given[i], weights(self.lib, given[i], 3))
            pairs = [fwd.unpack_dual(y) for y in tensors(self.call(given))]
            return [self.lib.zeros_like(p) if t is None else t.clone() for p, t in pairs]

    def lanes(self):
        given = self.copies()
        stacked = [self.lib.stack([given[i], given[i]]) for i in self.places]

        def f(*lanes):
            return tuple(tensors(self.call(dict(zip(self.places, lanes, strict=True)))))

        return self.lib.func.vmap(f, randomness="different")(*stacked)

    def in_place(self, f):
        given = self.copies()
        result = self.call(given, f)
        return [result, given[self.places[0]]]


def weights(lib, y, seed):
    """The same numbers for both libraries."""
    kind = torch.complex128 if y.is_complex() else torch.float64
    made = torch.randn(tuple(y.shape), dtype=kind, generator=torch.Generator().manual_seed(17 + seed)) + 0.1
    return made.to(y.dtype) if lib is torch else ad.from_numpy(made.numpy()).to(y.dtype)


def spread(samples, most):
    """At most so many, over the whole list."""
    samples = list(samples)
    step = max(1, -(-len(samples) // most))
    return samples[::step]


class Table:
    def __init__(self, most, out):
        self.most, self.out = most, out
        self.differing, self.unknown = collections.Counter(), 0
        self.cells = 0

    def note(self, op, cell, dtype, text, sample):
        self.differing[op.name, cell] += 1
        known = reason(op.name, cell)
        self.unknown += known is None
        line = {
            "op": full_name(op),
            "cell": cell,
            "dtype": str(dtype),
            "what": text[:300],
            "sample": sample[:300],
            "known": known,
        }
        self.out.write(json.dumps(line) + "\n")
        self.out.flush()

    def cell(self, op, name, dtype, theirs, mine, values, sample):
        try:
            expected = theirs()
        except TooLong:
            raise
        except Exception:
            return
        self.cells += 1
        try:
            why = same(expected, mine(), values)
        except TooLong:
            raise
        except Exception as error:
            why = f"{type(error).__name__}: {error}"
        if why:
            self.note(op, name, dtype, why, sample)

    def sample(self, op, f, dtype, sample):
        args, kwargs = (sample.input, *sample.args), sample.kwargs
        shown = f"{shapes(args)} {shapes(kwargs)}"
        try:
            mine_args, mine_kwargs = ours_tree((args, kwargs))
            process = rebind(sample.output_process_fn_grad)
        except NotImplementedError:  # sparse tensors and modules are compared elsewhere
            return
        them = Side(torch, op.op, args, kwargs, sample.output_process_fn_grad)
        us = Side(ad, f, mine_args, mine_kwargs, process)
        values = not is_random(op, them)
        compare = functools.partial(self.cell, op, dtype=dtype, values=values, sample=shown)
        compare("value", theirs=them.value, mine=us.value)
        if dtype in (torch.float64, torch.complex128) and op.supports_autograd and dtype in op.supported_backward_dtypes("cpu"):
            compare("gradient", theirs=them.gradient, mine=us.gradient)
            if op.supports_gradgrad:
                compare("second", theirs=lambda: them.gradient(2), mine=lambda: us.gradient(2))
            if op.supports_forward_ad:
                compare("forward", theirs=them.forward, mine=us.forward)
        if dtype in (torch.float64, torch.int64, torch.bool) and them.places:
            compare("vmap", theirs=them.lanes, mine=us.lanes)
        if op.inplace_variant and isinstance(sample.input, torch.Tensor):
            compare(
                "in place",
                theirs=lambda: them.in_place(op.inplace_variant),
                mine=lambda: us.in_place(rebind(op.inplace_variant)),
            )

    def errors(self, op, f):
        try:
            inputs = list(op.error_inputs("cpu"))
        except Exception:
            return
        for error in inputs:
            sample = error.sample_input
            args, kwargs = (sample.input, *sample.args), sample.kwargs
            try:
                mine_args, mine_kwargs = ours_tree((args, kwargs))
            except Exception:
                continue
            self.cells += 1
            try:
                f(*mine_args, **mine_kwargs)
                why = f"no error for {error.error_type.__name__}: {error.error_regex}"
            except error.error_type:
                continue
            except Exception as other:
                why = f"{type(other).__name__} for {error.error_type.__name__}: {other}"
            if why.endswith(": ") and error.error_type is Exception:  # numbers are taken where PyTorch wants tensors
                continue
            self.note(op, "error", None, why, f"{shapes(args)} {shapes(kwargs)}")

    def operator(self, op):
        if "aten" in str(getattr(op.op, "__module__", "")) or op.name in NOT_PUBLIC:
            return
        try:
            f = rebind(op.op)
        except Exception as error:
            return self.note(op, "name", None, str(error), "")
        for dtype in (torch.float64, torch.float32, torch.complex128, torch.int64, torch.bool, torch.uint8, torch.bfloat16):
            if dtype not in op.supported_dtypes("cpu"):
                continue
            torch.manual_seed(0)
            try:
                samples = spread(op.sample_inputs("cpu", dtype), self.most)
            except Exception:
                continue
            for sample in samples:
                self.sample(op, f, dtype, sample)
        self.errors(op, f)

    def run(self, op):
        def late(*_):
            raise TooLong

        signal.signal(signal.SIGALRM, late)
        signal.alarm(LIMIT_S)
        try:
            self.operator(op)
        except TooLong:
            self.note(op, "time", None, f"more than {LIMIT_S} s", "")
        finally:
            signal.alarm(0)


def is_random(op, side):
    """Whether values of two calls differ, or mean nothing."""
    named = op.op.__code__.co_names if hasattr(op.op, "__code__") else ()
    if op.name in UNSET or "wrapper_set_seed" in named:
        return True
    try:
        a, b = side.value(), side.value()
        return same(a, b) is not None
    except Exception:
        return False


def shapes(tree):
    def one(x):
        return f"{str(x.dtype).rpartition('.')[2]}{list(x.shape)}" if isinstance(x, torch.Tensor) else x

    return str(_pytree.tree_map(one, tree))


def full_name(op):
    return op.name + ("." + op.variant_test_name if op.variant_test_name else "")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-o", default="-")
    parser.add_argument("-n", type=int, default=12, help="samples of each operator and type")
    parser.add_argument("--part", default="0/1", help="i/n: the i-th of n parts")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    part, parts = map(int, options.part.split("/"))
    chosen = (
        [op for op in op_db if op.name in options.names or full_name(op) in options.names]
        if options.names
        else op_db[part::parts]
    )
    with open(1 if options.o == "-" else options.o, "w") as out:
        table = Table(options.n, out)
        for op in chosen:
            table.run(op)
        print(
            f"{len(chosen)} operators, {table.cells} cells, {sum(table.differing.values())} differ, {table.unknown} of them not on purpose",
            file=sys.stderr,
        )


if __name__ == "__main__":
    main()
