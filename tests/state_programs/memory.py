"""Actions on memory and identity: who holds what, and tensors that become others."""

from __future__ import annotations

import copy
import gc
import io
import os
import pickle
import random
import signal
import weakref
from typing import Any

import numpy

import adjoint as ad

from .pool import DTYPES, SHAPES, SLOTS, State, action


@action(14)
def data(s: State, r: random.Random) -> None:
    t = s.pick(r)
    how = r.randrange(5)
    if how == 0:
        t.data = s.pick(r)
    elif how == 1:
        t.data = s.partner(r, t)
    elif how == 2:
        t.data = s.fresh(r, t.dtype)
    elif how == 3:
        t.data.add_(1)
    else:
        s.put(t.data, r)


@action(10)
def set_memory(s: State, r: random.Random) -> Any:
    t, u = s.pick(r), s.pick(r)
    sizes = r.choice(SHAPES)
    strides = tuple(r.randint(0, 3) for _ in sizes)
    ways = (lambda: t.set_(u), lambda: t.set_(), lambda: t.set_(u.untyped_storage(), r.randint(0, 3), sizes, strides), lambda: t.set_(u.storage()),
            lambda: t.set_(u.untyped_storage(), 0, sizes), lambda: t.set_(u, r.randint(0, 2), sizes, strides), lambda: t.as_strided_(sizes, strides))  # fmt: skip
    if r.random() < 0.5:
        with ad.no_grad():
            return r.choice(ways)()
    return r.choice(ways)()


@action(8)
def resize(s: State, r: random.Random) -> Any:
    t, shape = s.pick(r), r.choice(SHAPES)
    with ad.set_grad_enabled(r.random() < 0.5):
        return t.detach().resize_(shape) if r.random() < 0.3 else t.resize_(shape)


@action(6)
def storages(s: State, r: random.Random) -> Any:
    storage = s.pick(r).untyped_storage() if r.random() < 0.7 else s.pick(r).storage()
    ways = (lambda: storage.resize_(r.choice((0, 8, 64, 1))), lambda: storage[r.randint(-2, 9)], lambda: storage.__setitem__(r.randint(-2, 9), 1),
            lambda: list(storage), lambda: s.keep(storage, r), lambda: storage[1:3],
            lambda: storage.__init__(), lambda: bytes(storage))  # fmt: skip
    return r.choice(ways)()


@action(8)
def identity(s: State, r: random.Random) -> Any:
    t, u = s.pick(r), s.pick(r)
    ways = (lambda: ad.utils.swap_tensors(t, u), lambda: t.detach_(), lambda: t.requires_grad_(r.random() < 0.5), lambda: t.retain_grad(), lambda: setattr(t, "requires_grad", True),
            lambda: t.__init__(), lambda: t.__init__(u), lambda: ad.Tensor.__new__(ad.Tensor), lambda: t._bump_version(), lambda: ad.nn.Parameter(t), lambda: t._alias(),
            lambda: setattr(t, "_version", 3), lambda: t._set_version(0), lambda: object.__new__(type(t)), lambda: t.as_subclass(ad.nn.Parameter), lambda: setattr(t, "__dict__", {}),
            lambda: t._set_data(u), lambda: type(t).__new__(type(t), u), lambda: ad.Tensor._make_subclass(ad.nn.Parameter, t, True))  # fmt: skip
    return r.choice(ways)()


@action(8)
def copies(s: State, r: random.Random) -> Any:
    t, u = s.pick(r), s.pick(r)
    ways = (lambda: copy.deepcopy(t), lambda: copy.copy(t), lambda: pickle.loads(pickle.dumps([t, u, t])), lambda: copy.deepcopy(s.tensors), through_a_file,
            lambda: copy.deepcopy({"a": t, "g": t.grad}), lambda: t.type(r.choice(DTYPES)), lambda: t.new_tensor([1.0]))  # fmt: skip
    way = r.choice(ways)
    return way(t, u) if way is through_a_file else way()


def through_a_file(t: Any, u: Any) -> Any:
    file = io.BytesIO()
    ad.save([t, u], file)
    file.seek(0)
    return ad.load(file)


@action(10)
def arrays(s: State, r: random.Random) -> Any:
    """numpy's arrays that are kept, and written to behind the back of all versions."""
    t = s.pick(r)
    if r.random() < 0.5:
        array = t.detach().numpy() if r.random() < 0.8 else numpy.from_dlpack(t.detach())
        s.keep(array, r)
        return ad.from_numpy(array) if r.random() < 0.3 else None
    array = s.kept_of(numpy.ndarray, r)
    array[...] = r.choice((99, -7, 1, 2**40, float("nan")))
    return ad.as_tensor(array)


@action(6)
def exchange(s: State, r: random.Random) -> Any:
    t = s.pick(r)
    capsule = t.detach().__dlpack__()
    ways = (lambda: ad.from_dlpack(t.detach()), lambda: s.keep(capsule, r), lambda: ad.utils.dlpack.from_dlpack(capsule), lambda: [ad.utils.dlpack.from_dlpack(capsule) for _ in "ab"],
            lambda: t.__dlpack__(stream=r.choice((None, 1, -1))), lambda: t.__dlpack__(copy=True, max_version=(1, 0)), lambda: ad.from_dlpack(s.kept[r.randrange(len(s.kept))]),
            lambda: ad.frombuffer(bytearray(16), dtype=r.choice(DTYPES), offset=r.randint(0, 9)))  # fmt: skip
    return r.choice(ways)()


@action(6)
def collect(s: State, r: random.Random) -> None:
    t = s.pick(r)
    if r.random() < 0.4:
        s.keep(weakref.ref(t, lambda _: s.inner(s.later(r), 1) if r.random() < 0.3 else None), r)
    if r.random() < 0.4:
        t.cycle = [t, s.pick(r)]
    if r.random() < 0.5:
        s.tensors[r.randrange(SLOTS)] = s.fresh(r)
    if r.random() < 0.3 and s.kept:
        del s.kept[r.randrange(len(s.kept))]
    gc.collect(r.choice((0, 1, 2)))


@action(0)
def crash(s: State, r: random.Random) -> None:
    """Never drawn: for the test that crashes are seen."""
    os.kill(os.getpid(), signal.SIGSEGV)


@action(4)
def gradients(s: State, r: random.Random) -> Any:
    t = s.pick(r)
    ways = (lambda: setattr(t, "grad", s.partner(r, t)), lambda: setattr(t, "grad", None), lambda: t.grad, lambda: t.grad.add_(1), lambda: setattr(t.grad, "data", s.pick(r)),
            lambda: t.grad.resize_(7), lambda: delattr(t, "grad"), lambda: setattr(t, "grad", t), lambda: t.grad.detach_(), lambda: setattr(t, "grad_dtype", r.choice(DTYPES)),
            lambda: t.grad.set_(s.pick(r)), lambda: t.grad.t_())  # fmt: skip
    return r.choice(ways)()


@action(4)
def attributes(s: State, r: random.Random) -> Any:
    """Any attribute read, set or deleted."""
    t = s.pick(r)
    name = r.choice(sorted(dir(t)))
    if name in ("__class__", "share_memory_", "__reduce_ex__"):
        return None
    return r.choice((lambda: getattr(t, name), lambda: delattr(t, name), lambda: setattr(t, name, s.argument(r, t))))()
