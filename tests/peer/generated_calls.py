"""Random calls by the signatures of PyTorch's functions, on adjoint and on PyTorch.

    python tests/peer/generated_calls.py PLACE [-n CALLS] [--seed N] [--part i/n] [NAME ...]

PLACE is torch, Tensor (methods), linalg, special, fft, or functional (`nn.functional`). A line of JSON for each call that differs: in
its error, value, type, strides, or in what it wrote. Many arguments fit no function, and then the kinds of errors are compared.
Each function runs in a process of its own, as some calls end PyTorch's.
"""

import argparse
import inspect
import json
import os
import random
import signal
import sys
import warnings
import zlib

import operator_table
import torch
from fitting_arguments import rules_of
from operator_table import ours_tree, same, shapes, tensors

import adjoint as ad

LEFT_OUT = set(
    """rand randn randint randperm normal bernoulli multinomial poisson dropout rand_like randn_like randint_like empty empty_like empty_strided
    empty_permuted feature_dropout alpha_dropout feature_alpha_dropout native_dropout rrelu binomial set_ resize_ resize_as_ new_empty random_
    new_empty_strided data set_data backward requires_grad_ retain_grad storage normal_ uniform_ cauchy_ exponential_ geometric_ log_normal_
    bernoulli_ from_file hash_tensor share_memory_ pin_memory is_pinned to record_stream dropout_ fractional_max_pool2d fractional_max_pool3d
    rrelu_ conj resolve_conj resolve_neg is_conj is_neg conj_physical_ svd pca_lowrank svd_lowrank lobpcg geqrf ormqr to_mkldnn to_sparse
    Generator manual_seed set_grad_enabled rnn_tanh_cell rnn_relu_cell gru_cell lstm_cell lstm gru rnn_tanh rnn_relu native_batch_norm range
    dropout1d dropout2d dropout3d gumbel_softmax fractional_max_pool2d_with_indices fractional_max_pool3d_with_indices boolean_dispatch
    multi_head_attention_forward handle_torch_function has_torch_function scaled_dot_product_attention""".split()
)
"Random functions, those of memory, of layouts and of layers with states, and helpers."

KINDS = [torch.float32] * 4 + [torch.float64] * 2 + [torch.int64] * 3 + [torch.bool] * 2
KINDS += [torch.int32, torch.int16, torch.uint8, torch.bfloat16, torch.float16, torch.complex64, torch.complex128]
SIZES = [
    (),
    (1,),
    (3,),
    (0,),
    (2, 3),
    (1, 3),
    (3, 1),
    (2, 0),
    (0, 3),
    (2, 3, 4),
    (1, 1),
    (3, 3),
    (2, 3, 3),
    (1, 2, 3, 4),
    (2, 2, 5, 5),
]
NUMBERS = [0, 1, 2, -1, 0.5, 1.5, -2.5, True, False, 1 + 2j, 3]
WORDS = {
    "reduce": ["sum", "mean", "amax", "amin", "prod"], "rounding_mode": ["floor", "trunc"], "UPLO": ["L", "U"], "approximate": ["none", "tanh"],
    "mode": ["reduced", "complete", "r", "nearest", "bilinear", "constant", "reflect", "sum"], "norm": ["ortho", "forward", "backward"],
    "reduction": ["mean", "sum", "none"], "interpolation": ["linear", "lower", "nearest"], "indexing": ["ij", "xy"], "ord": ["fro", "nuc"],
}  # fmt: skip
PREFIX = {"fft": "fft_", "linalg": "linalg_", "special": "special_"}


class Unfit(Exception):
    """An argument of a kind that is not generated."""


class Late(Exception):
    """A call took too long."""


def mirrored(t):
    """The tensor of adjoint over the same elements of memory, with the same strides: what overlaps in one overlaps in the other."""
    plain = t.detach().resolve_conj().resolve_neg()
    flat = torch.as_strided(plain, (plain.untyped_storage().nbytes() // plain.element_size(),), (1,), 0)
    base = (
        ad.from_numpy(flat.float().numpy()).to(ad.bfloat16)
        if plain.dtype is torch.bfloat16
        else ad.from_numpy(flat.numpy().copy())
    )
    return base.as_strided(tuple(plain.shape), plain.stride(), plain.storage_offset()).detach()


class Generator:
    """Arguments of one call: its tensors tend to have one size and one type."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.size, self.kind = self.one_of(SIZES), self.one_of(KINDS)

    def one_of(self, values):
        return self.random.choice(values)

    def chance(self, p):
        return self.random.random() < p

    def elements(self, size, kind):
        g = torch.Generator().manual_seed(self.random.randrange(1 << 30))
        if kind is torch.bool:
            return torch.rand(size, generator=g) > 0.5
        if not kind.is_floating_point and not kind.is_complex:
            return torch.randint(0 if kind is torch.uint8 else self.one_of([-3, 0, 0]), 4, size, generator=g).to(kind)
        x = torch.randn(size, generator=g, dtype=torch.complex128 if kind.is_complex else torch.float64)
        if x.numel() and not kind.is_complex and self.chance(0.1):
            x.view(-1)[0] = self.one_of([float("nan"), float("inf"), -float("inf"), 0.0])
        return x.to(kind)

    def tensor(self, kind=None):
        kind = kind or (self.kind if self.chance(0.7) else self.one_of(KINDS))
        return self.laid_out(self.size if self.chance(0.75) else self.one_of(SIZES), kind)

    def laid_out(self, size, kind):
        layout = self.one_of(["plain", "plain", "plain", "turned", "stepped", "expanded"])
        if layout == "turned" and len(size) > 1:
            return self.elements(size[::-1], kind).permute(*range(len(size))[::-1])
        if layout == "stepped" and size:
            return self.elements((*size[:-1], size[-1] * 2), kind)[..., ::2]
        if layout == "expanded" and size and size[0]:
            return self.elements((1, *size[1:]), kind).expand(size)
        return self.elements(size, kind)

    def whole(self, name):
        return self.one_of([0, -1, 1, -2, 2] if "dim" in name else [0, 1, 2, 3, -1])

    def value(self, name, kind):
        """By the name of an argument, and its type in PyTorch's words."""
        if "Tensor" in kind:
            wanted = torch.int64 if name.startswith("ind") else torch.bool if name in ("mask", "condition") else None
            return [self.tensor() for _ in range(2)] if "List" in kind else self.tensor(wanted)
        if name in WORDS or kind == "str":
            return self.one_of(WORDS.get(name, ["sum"]))
        if name == "dtype":
            return self.one_of([torch.float32, torch.float64, torch.int64, torch.bool, torch.complex64, torch.bfloat16])
        if kind in ("number", "Scalar"):
            return self.one_of(NUMBERS)
        if kind == "float":
            return self.one_of([0.0, 0.5, 1.0, 2.0, -1.0, 3, 1e-5])
        if kind == "bool":
            return self.chance(0.5)
        if kind in ("int", "SymInt"):
            return self.whole(name)
        if kind in ("List[int]", "List[SymInt]"):
            return tuple(self.whole(name) for _ in range(self.one_of([1, 1, 2, 3])))
        raise Unfit

    def arguments(self, wanted, rules):
        """Of (name, type, has a default, by name alone): some with defaults are left out, some of the others go by name.

        Most calls follow the rules, if there are any.
        """
        positional, named, by_name, made = [], {}, False, {}
        rules = {"self": rules["input"], **rules} if "input" in rules else rules
        rules = rules if self.chance(0.75) else {}
        for name, kind, optional, only_named in wanted:
            if name in ("out", "generator", "device", "layout", "pin_memory", "memory_format") or optional and self.chance(0.5):
                by_name = True
                continue
            missing = kind.startswith("Optional[") and self.chance(0.4)
            if name in rules and not (optional and missing):
                given = rules[name](self, made)
            else:
                given = (
                    None if missing else self.value(name, kind[len("Optional[") : -1] if kind.startswith("Optional[") else kind)
                )
            made[name] = given
            by_name = by_name or bool(positional) and self.chance(0.15)
            if only_named or by_name:
                named[name] = given
            else:
                positional.append(given)
        return positional, named


# ---- signatures


def by_schema(name):
    """The overloads of an operator, each as a list for `arguments`."""
    found = []
    for s in torch._C._jit_get_schemas_for_operator("aten::" + name):
        if not any(a.is_out or "Dimname" in str(a) or str(a.type) == "str" and "dim" in a.name for a in s.arguments):
            found.append([(a.name, str(a.type), a.has_default_value(), a.kwarg_only) for a in s.arguments])
    return found


def by_annotation(f):
    """The one signature of a function written in Python."""
    wanted = []
    for p in inspect.signature(f).parameters.values():
        if p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) or p.name in ("inplace", "size_average", "reduce", "_stacklevel"):
            continue
        text, default = str(p.annotation), p.default
        kind = next(
            (k for k in ("Tensor", "bool", "str", "float", "int") if k in text or type(default).__name__ == k), "Tensor"
        )
        if "BroadcastingList" in text or "List[int]" in text or "tuple" in text.lower():
            kind = "List[int]"
        wanted.append((p.name, kind, default is not p.empty, p.kind == p.KEYWORD_ONLY))
    return [wanted]


def signatures(place, name):
    if place == "functional":
        try:
            return by_annotation(getattr(torch.nn.functional, name))
        except (TypeError, ValueError):
            return by_schema(name)
    return by_schema(PREFIX.get(place, "") + name)


def rooms(place):
    if place == "functional":
        return torch.nn.functional, ad.nn.functional
    return (torch, ad) if place == "torch" else (getattr(torch, place), getattr(ad, place))


def names(place):
    theirs, mine = rooms(place)
    public = [n for n in dir(theirs) if not n.startswith("_") and n[0].islower() and n not in LEFT_OUT and hasattr(mine, n)]
    return [n for n in public if callable(getattr(theirs, n)) and signatures(place, n)]


# ---- what is compared


def steps(result):
    return [tuple(s for s, n in zip(t.stride(), t.shape, strict=True) if n > 1) if t.numel() else None for t in tensors(result)]


def attempt(f, positional, named):
    try:
        return f(*positional, **named), None
    except Late:
        raise
    except Exception as error:
        return None, error


def difference(theirs, mine, name, positional, ours_positional):
    """What differs, and how, of (result, error) and (result, error); None if nothing does."""
    (a, their_error), (b, our_error) = theirs, mine
    if their_error and not our_error:
        return "no error", repr(their_error)
    if their_error:
        fits = isinstance(our_error, type(their_error))
        return None if fits else ("class", f"{our_error!r:.120} for {their_error!r:.120}")
    if our_error:
        return "error", repr(our_error)
    if why := same(a, b):
        return "value", why
    if steps(a) != steps(b):
        return "strides", f"{steps(b)} for {steps(a)}"
    if name.endswith("_") and (why := same(positional[0], ours_positional[0])):
        return "written", why
    return None


def compare(place, name, calls, seed, out):
    """Writes what differs, a line each; how many calls gave a result there."""
    answered = 0
    theirs, mine = (getattr(room, name) for room in rooms(place))
    overloads = signatures(place, name)
    for k in range(calls):
        generator = Generator(seed + k)
        try:
            positional, named = generator.arguments(generator.one_of(overloads), rules_of(name))
            given = ours_tree((positional, named))
        except (Unfit, NotImplementedError):
            continue
        if place == "Tensor" and not (positional and isinstance(positional[0], torch.Tensor)):
            continue
        shown = f"{shapes(positional)} {shapes(named)} {[t.stride() for t in tensors((positional, named))]}"
        signal.alarm(10)
        try:
            expected = attempt(theirs, positional, named)
            found = difference(expected, attempt(mine, *given), name, positional, given[0])
            answered += expected[1] is None
        except Late:
            continue
        finally:
            signal.alarm(0)
        if found:
            line = {"op": f"{place}.{name}", "kind": found[0], "what": found[1][:300], "call": shown[:300], "seed": seed + k}
            print(json.dumps(line), file=out, flush=True)
    return answered


def apart(place, name, calls, seed):
    """The same in a process of its own."""
    child = os.fork()
    if child == 0:
        compare(place, name, calls, seed, sys.stdout)
        os._exit(0)
    if os.waitpid(child, 0)[1]:
        print(f"{place}.{name}: the process ended early", file=sys.stderr)


def late(*_):
    raise Late


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("place", choices=["torch", "Tensor", "functional", *PREFIX])
    parser.add_argument("-n", type=int, default=20, help="calls of each function")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--part", default="0/1", help="i/n: the i-th of n parts")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    signal.signal(signal.SIGALRM, late)
    operator_table.ours_tensor = mirrored
    part, parts = map(int, options.part.split("/"))
    for name in options.names or names(options.place)[part::parts]:
        apart(options.place, name, options.n, options.seed + zlib.crc32(name.encode()))


if __name__ == "__main__":
    main()
