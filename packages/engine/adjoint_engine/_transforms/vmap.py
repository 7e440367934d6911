"""vmap: a function of one example applied to a batch, without loops."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from adjoint_core import Tensor, _core, cat

from .. import _engine
from ..trees import broadcast_prefix, tree_flatten, tree_unflatten
from .levels import batch_level


def vmap(
    func: Callable[..., Any], in_dims: Any = 0, out_dims: Any = 0, randomness: str = "error", *, chunk_size: int | None = None
) -> Callable[..., Any]:
    """``func`` mapped over a dimension of its arguments.

    Arguments:
        func: a function of one example: tensors or trees of them.
        in_dims: the mapped dimension of each argument (an int or None, or a tree of them as a prefix of the arguments).
        out_dims: where the batch goes in the outputs.
        randomness: random operations inside are an error ("error"), or draw for each example ("different") or once for all ("same").
        chunk_size: map at most so many examples at once.

    Returns:
        A function with the same arguments, each with one more dimension.

    Raises:
        ValueError: in_dims or out_dims do not fit the arguments, or the sizes of the mapped dimensions differ.

    Example::

        >>> ad.vmap(ad.dot)(ad.ones(2, 3), ad.ones(2, 3))
        tensor([3., 3.])
    """
    if randomness not in ("error", "different", "same"):
        raise RuntimeError(f"Only allowed values for randomness are 'error', 'different', or 'same'. Got {randomness}")
    if chunk_size is not None and chunk_size <= 0:
        raise ValueError(f"vmap: chunk_size should be None or greater than 0. (got {chunk_size})")

    if not all(d is None or isinstance(d, int) for d in tree_flatten(out_dims)[0]):
        raise ValueError(
            f"vmap({_name(func)}, ..., out_dims={out_dims}): `out_dims` must be an int, None or a python collection of ints "
            "representing where in the outputs the vmapped dimension should appear."
        )

    @wraps(func)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        leaves, dims, spec, size = _mapped(func, in_dims, args)
        if chunk_size is None or size <= chunk_size:
            return _run(func, leaves, dims, spec, batch_level(size, randomness), out_dims, kwargs)
        parts, state = [], _core.random_states() if randomness == "same" else None
        for start in range(0, size, chunk_size):
            n = min(chunk_size, size - start)
            piece = [x if d is None else x.narrow(d, start, n) for x, d in zip(leaves, dims, strict=True)]
            if state is not None:
                _core.set_random_states(state)
            parts.append(_run(func, piece, dims, spec, batch_level(n, randomness), out_dims, kwargs))
        return _joined(parts, out_dims)

    return wrapper


def _name(func: Callable[..., Any]) -> str:
    return getattr(func, "__name__", repr(func))


def _mapped(func: Callable[..., Any], in_dims: Any, args: tuple[Any, ...]) -> tuple[list[Any], list[int | None], Any, int]:
    if not isinstance(in_dims, (int, tuple)):
        raise ValueError(
            f"vmap({_name(func)}, in_dims={in_dims}, ...)(<inputs>): expected `in_dims` to be int or a (potentially nested) tuple "
            f"matching the structure of inputs, got: {type(in_dims)}."
        )
    if not args:
        raise ValueError(
            f"vmap({_name(func)})(<inputs>): got no inputs. Maybe you forgot to add inputs, or you are trying to vmap over a function with no inputs."
        )
    leaves, spec = tree_flatten(args)
    given = broadcast_prefix(in_dims, spec)
    if given is None:
        raise ValueError(
            f"vmap({_name(func)}, in_dims={in_dims}, ...)(<inputs>): in_dims is not compatible with the structure of `inputs`."
        )
    dims: list[int | None] = []
    sizes = set()
    for x, d in zip(leaves, given, strict=True):
        if d is None:
            dims.append(None)
            continue
        if not isinstance(d, int):
            raise ValueError(
                f"vmap({_name(func)}, in_dims={in_dims}, ...)(<inputs>): Got in_dim={d} for an input but in_dim must be either an integer dimension or None."
            )
        if not isinstance(x, Tensor):
            raise ValueError(
                f"vmap({_name(func)}, in_dims={in_dims}, ...)(<inputs>): Got in_dim={d} for an input but the input is of type {type(x)}. We cannot vmap over non-Tensor arguments, please use None as the respective in_dim"
            )
        if not -x.dim() <= d < x.dim():
            raise ValueError(
                f"vmap({_name(func)}, in_dims={in_dims}, ...)(<inputs>): Got in_dim={d} for some input, but that input is a Tensor of dimensionality {x.dim()} so expected in_dim to satisfy -{x.dim()} <= in_dim < {x.dim()}."
            )
        dims.append(d % x.dim())
        sizes.add(x.size(d))
    if not sizes:
        raise ValueError(f"vmap({_name(func)}, in_dims={in_dims}, ...)(<inputs>): Expected at least one Tensor to vmap over")
    if len(sizes) > 1:
        raise ValueError(
            f"vmap: Expected all tensors to have the same size in the mapped dimension, got sizes {sorted(sizes)} for the mapped dimension"
        )
    return leaves, dims, spec, sizes.pop()


def _run(
    func: Callable[..., Any],
    leaves: list[Any],
    dims: list[int | None],
    spec: Any,
    lanes: batch_level,
    out_dims: Any,
    kwargs: dict[str, Any],
) -> Any:
    with lanes as level:
        lifted = [x if d is None else level.lift(x, d) for x, d in zip(leaves, dims, strict=True)]
        result = func(*tree_unflatten(lifted, spec), **kwargs)
        outputs, out_spec = tree_flatten(result)
        if isinstance(result, Tensor) and isinstance(out_dims, tuple) and len(out_dims) == 1:
            out_dims = out_dims[0]
        where = broadcast_prefix(tuple(out_dims) if isinstance(out_dims, list) else out_dims, out_spec)
        if where is None:
            raise ValueError(
                f"vmap({_name(func)}, ..., out_dims={out_dims})(<inputs>): out_dims is not compatible with the structure of `outputs`."
            )
        lowered = [_lower(func, level, y, d) for y, d in zip(outputs, where, strict=True)]
        return tree_unflatten(lowered, out_spec)


def _lower(func: Callable[..., Any], level: batch_level, y: Any, dim: int | None) -> Any:
    if dim is not None and not isinstance(y, Tensor):
        raise ValueError(
            f"vmap({_name(func)}, ...): `{_name(func)}` must only return Tensors, got type {type(y)}. Did you mean to set out_dims= to None for output?"
        )
    if dim is None:
        if isinstance(y, Tensor) and _engine.is_batched(y, level.slot):
            raise ValueError(f"vmap({_name(func)}, ...): `{_name(func)}` can not return a BatchedTensor when out_dim is None")
        return y
    return level.lower(y, dim)


def _joined(parts: list[Any], out_dims: Any) -> Any:
    flat = [tree_flatten(p)[0] for p in parts]
    spec = tree_flatten(parts[0])[1]
    where = broadcast_prefix(tuple(out_dims) if isinstance(out_dims, list) else out_dims, spec)
    return tree_unflatten(
        [column[0] if d is None else cat(list(column), d) for column, d in zip(zip(*flat, strict=True), where, strict=True)],
        spec,
    )
