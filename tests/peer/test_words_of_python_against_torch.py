"""Python's operators between tensors and what programs put beside them: the same results, or the same kinds of errors."""

import itertools
import operator
import warnings

import numpy as np
import pytest

import adjoint as ad

torch = pytest.importorskip("torch")

TENSORS = {
    "float": lambda m: m.tensor([1.0, 2.0]), "int": lambda m: m.tensor([1, 2]), "bool": lambda m: m.tensor([True, False]),
    "number": lambda m: m.tensor(3), "complex": lambda m: m.tensor([1 + 1j]), "uint8": lambda m: m.tensor([250], dtype=m.uint8),
}  # fmt: skip
OTHERS = [
    None,
    "a",
    [1, 2],
    (1, 2),
    np.float32(2),
    np.float64(2.5),
    np.int64(3),
    2,
    -1,
    2.5,
    True,
    1j,
    float("nan"),
    {},
]
WORDS = [*("add sub mul truediv floordiv mod pow matmul and_ or_ xor lshift rshift eq ne lt le gt ge".split())]
IN_PLACE = ["iadd", "isub", "imul", "itruediv", "ifloordiv", "imod", "ipow", "imatmul", "iand", "ior", "ixor", "ilshift"]
ALONE = ["neg", "pos", "invert", "abs", "index", "not_", "truth"]
POSITIONS = [
    1, -7, 2.0, None, ..., True, [], [1, 0], [1.0, 0.0], [True, False], [[0, 1], [1, 0]], [None], [slice(None), 0], (0, [2.0]), "a", {}, range(2),
    np.array(1), np.array([]), np.array([1.0]), np.array([[True, False, True]] * 2), np.float32(1), slice(0, 2, -1), slice(1.5, 2), (..., ...), (0, 0, 0),
]  # fmt: skip


def outcome(call):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            y = call()
        except Exception as error:
            return None, error
    if not hasattr(y, "dtype") or isinstance(y, np.generic):
        return y, None
    return (str(y.dtype).rpartition(".")[2], tuple(y.shape), y.tolist()), None


def same(a, b):
    near = isinstance(a, tuple) and a[:2] == b[:2] and np.allclose(np.array(a[2]), np.array(b[2]), equal_nan=True, atol=1e-4)
    return repr(a) == repr(b) or near


def differing(calls):
    found = []
    for name, call in calls:
        (theirs, their_error), (mine, my_error) = outcome(lambda: call(torch)), outcome(lambda: call(ad))
        if not (isinstance(my_error, type(their_error)) if their_error else my_error is None and same(theirs, mine)):
            found.append((name, theirs, their_error, mine, my_error))
    return found


def test_operators():
    pairs = [(w, t, o) for w, t, o in itertools.product(WORDS, TENSORS, OTHERS)]
    calls = [((w, t, o), lambda m, w=w, t=t, o=o: getattr(operator, w)(TENSORS[t](m), o)) for w, t, o in pairs]
    calls += [((w, o, t), lambda m, w=w, t=t, o=o: getattr(operator, w)(o, TENSORS[t](m))) for w, t, o in pairs]
    calls += [((w, t), lambda m, w=w, t=t: getattr(operator, w)(TENSORS[t](m))) for w in ALONE for t in TENSORS]
    calls += [
        ((w, t, o), lambda m, w=w, t=t, o=o: getattr(operator, w)(TENSORS[t](m), o))
        for w in IN_PLACE
        for t in TENSORS
        for o in OTHERS
    ]
    assert differing(calls) == []


def test_positions():
    x = {m: m.arange(6).view(2, 3) for m in (torch, ad)}
    assert differing([(key, lambda m, key=key: x[m][key]) for key in POSITIONS]) == []

    def written(m, key, value):
        y = x[m].clone()
        y[key] = value
        return y

    values = [1, 1.7, True, None, "a", [7, 8, 9], 300]
    calls = [((key, v), lambda m, key=key, v=v: written(m, key, v)) for key in POSITIONS for v in values]
    assert differing(calls) == []
