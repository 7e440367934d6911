"""Actions on sparse, compressed, nested and meta tensors, and on subclasses."""

from __future__ import annotations

import random
from typing import Any

import adjoint as ad

from .pool import State, action


@action(8)
def sparse(s: State, r: random.Random) -> Any:
    t = s.pick(r)
    many = r.randint(0, 3)
    positions = ad.tensor([[r.randint(-1 if r.random() < 0.1 else 0, 3) for _ in range(many)] for _ in range(r.randint(1, 3))])
    values = s.pick(r) if r.random() < 0.5 else ad.ones(many, dtype=ad.float64, requires_grad=True)
    pointers = ad.tensor([0] + sorted(r.randint(0, many) for _ in range(3)) if r.random() < 0.8 else [0, 5, -2])
    columns = ad.tensor([r.randint(0, 3) for _ in range(many)])
    unchecked = r.random() < 0.3
    compressed = r.choice((ad.sparse_csr_tensor, ad.sparse_csc_tensor))
    ways = (lambda: t.to_sparse(), lambda: t.to_sparse(1), lambda: t.to_sparse_csr(), lambda: t.to_sparse_csc(), lambda: t.to_sparse_bsr((1, 1)), lambda: t.to_dense(),
            lambda: ad.sparse_coo_tensor(positions, values), lambda: ad.sparse_coo_tensor(positions, values, (4,) * positions.shape[0], check_invariants=not unchecked),
            lambda: ad.sparse_coo_tensor(positions, values, (2,) * positions.shape[0], check_invariants=not unchecked, is_coalesced=True),
            lambda: compressed(pointers, columns, values, (3, 4), check_invariants=not unchecked), lambda: compressed(pointers, columns, values))  # fmt: skip
    return r.choice(ways)()


def of_layout(s: State, r: random.Random) -> Any:
    some = [t for t in s.tensors if t.layout is not ad.strided]
    return r.choice(some) if some else s.pick(r).to_sparse()


@action(8)
def on_sparse(s: State, r: random.Random) -> Any:
    t = of_layout(s, r)
    parts = [
        lambda t: t._indices(),
        lambda t: t._values(),
        lambda t: t.indices(),
        lambda t: t.values(),
        lambda t: t.crow_indices(),
        lambda t: t.col_indices(),
    ]
    part = r.choice(parts)
    ways = (lambda: t.coalesce(), lambda: part(t), lambda: part(t).fill_(r.choice((99, -5, 0))), lambda: part(t).resize_(r.choice((0, 1, 7))), lambda: setattr(part(t), "data", s.pick(r)), lambda: part(t).set_(),
            lambda: t.to_dense(), lambda: t + t, lambda: t * 2, lambda: t @ s.pick(r), lambda: ad.sparse.mm(t, s.pick(r)), lambda: ad.sparse.sum(t, 0), lambda: t.sum(), lambda: t.t(),
            lambda: t._coalesced_(True), lambda: t.sparse_resize_((9, 9), 2, 0), lambda: t.add_(s.pick(r)), lambda: s.pick(r).add_(t), lambda: t.sparse_mask(of_layout(s, r)),
            lambda: s.pick(r).sparse_mask(t), lambda: t.index_select(0, ad.tensor([0, 1])), lambda: t[0], lambda: t.copy_(of_layout(s, r)), lambda: ad.sparse.softmax(t, 0),
            lambda: t.zero_(), lambda: t.detach(), lambda: ad.cat([t, t]), lambda: t.to_sparse_csr(), lambda: t.sparse_resize_and_clear_((2,), 1, 0), lambda: ad.sparse.addmm(s.pick(r), t, s.pick(r)),
            lambda: t.set_(s.pick(r)), lambda: setattr(t, "data", of_layout(s, r)), lambda: setattr(s.pick(r), "data", t), lambda: setattr(t, "data", s.pick(r)),
            lambda: setattr(s.floating(r), "grad", t), lambda: s.pick(r).set_(t), lambda: ad.utils.swap_tensors(t, s.pick(r)))  # fmt: skip
    return r.choice(ways)()


@action(3)
def nested(s: State, r: random.Random) -> None:
    """Kept out of the pool: to cut along a ragged dimension takes minutes."""
    values, offsets = s.floating(r), ad.tensor([0] + [r.randint(-1, 5) for _ in range(r.randint(1, 3))])
    ways = (lambda: ad.nested.nested_tensor([s.floating(r), s.floating(r)], layout=ad.jagged), lambda: ad.nested.nested_tensor([s.floating(r)]),
            lambda: ad.nested.nested_tensor_from_jagged(values, offsets), lambda: ad.nested.to_padded_tensor(s.pick(r), 0.0), lambda: ad.nested.as_nested_tensor(s.pick(r)))  # fmt: skip
    n = r.choice(ways)()
    more = (
        lambda: n * 2,
        lambda: n.unbind(),
        lambda: n.sum(),
        lambda: n.values(),
        lambda: n.offsets().fill_(9),
        lambda: n.to_padded_tensor(0.0),
        lambda: n[0],
        lambda: n.clone(),
    )
    r.choice(more)()


@action(3)
def meta(s: State, r: random.Random) -> Any:
    t = s.pick(r).to("meta")
    ways = (lambda: t, lambda: t + s.pick(r), lambda: t.sum(), lambda: t.item(), lambda: s.pick(r).copy_(t), lambda: t.copy_(s.pick(r)), lambda: setattr(s.pick(r), "data", t),
            lambda: setattr(t, "data", s.pick(r)), lambda: s.pick(r).set_(t), lambda: t.numpy(), lambda: t.tolist(), lambda: t.untyped_storage()[0], lambda: s.pick(r)[t],
            lambda: ad.utils.swap_tensors(t, s.pick(r)), lambda: t.resize_(9), lambda: t.to("cpu"), lambda: setattr(s.floating(r), "grad", t), lambda: t.data_ptr())  # fmt: skip
    return r.choice(ways)()


@action(5)
def subclass(s: State, r: random.Random) -> Any:
    """A subclass whose overrides raise, give back anything, or act themselves."""
    own = s.later(r)

    class Drawn(ad.Tensor):
        @classmethod
        def __torch_function__(cls, f: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            how = own.randrange(8)
            if how == 0:
                raise ValueError("override")
            if how == 1:
                s.inner(own, 1)
            if how == 2:
                return own.choice((NotImplemented, None, s.pick(own), 3))
            return super().__torch_function__(f, types, args, kwargs or {})

        def __del__(self) -> None:
            if own.random() < 0.2:
                s.put(self, own)
            if own.random() < 0.1:
                s.inner(own, 1)

    t = s.pick(r)
    ways = (
        lambda: t.as_subclass(Drawn),
        lambda: Drawn(t),
        lambda: Drawn.__new__(Drawn),
        lambda: ad.Tensor._make_subclass(Drawn, t.detach()),
        lambda: Drawn([1.0, 2.0]),
        lambda: become(t, Drawn),
    )
    return r.choice(ways)()


def become(t: Any, kind: type) -> Any:
    t.__class__ = kind
    return t


@action(3)
def function_mode(s: State, r: random.Random) -> None:
    own = s.later(r)

    class Drawn(ad.overrides.TorchFunctionMode):
        def __torch_function__(self, f: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            if own.random() < 0.1:
                raise ValueError("mode")
            if own.random() < 0.1:
                s.inner(own, 1)
            return f(*args, **(kwargs or {}))

    with Drawn():
        s.inner(r, 5)


@action(2)
def dispatch_mode(s: State, r: random.Random) -> None:
    own = s.later(r)

    class Drawn(ad.utils._python_dispatch.TorchDispatchMode):
        def __torch_dispatch__(self, f: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            if own.random() < 0.1:
                raise ValueError("dispatch")
            if own.random() < 0.1:
                return own.choice((None, 3, s.pick(own)))
            return f(*args, **(kwargs or {}))

    with Drawn():
        s.inner(r, 5)
