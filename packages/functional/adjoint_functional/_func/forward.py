"""func: transformations in forward mode, and those that mix the modes."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from .._backend import Tensor, TreeSpec, tangent_level, tree_flatten, tree_unflatten, vmap, zeros, zeros_like
from .arguments import ArgNums, lowered, select, split_aux, tensor_leaves
from .reverse import jacrev, nested, unit_vectors, vjp


def _push(
    func: Callable[..., Any], args: list[Any], tangents: list[Tensor | None], strict: bool, has_aux: bool, api: str
) -> tuple[list[Tensor], list[Tensor], TreeSpec, Any]:
    """Outputs, their tangents, their structure, and aux, for tangents (or None) of the leaves of ``args``."""
    leaves, spec = tree_flatten(args)
    with tangent_level() as level:
        duals = [x if v is None else level.make_dual(x, v) for x, v in zip(leaves, tangents, strict=True)]
        output, aux = split_aux(func(*tree_unflatten(duals, spec)), has_aux, api)
        results, out_spec = tensor_leaves(output, api)
        pairs = [level.unpack(y) for y in results]
        aux = lowered(aux, lambda t: level.unpack(t)[0])
    if strict and any(tangent is None for _, tangent in pairs):
        raise RuntimeError(
            "jvp(f, primals, tangents, strict=True): The output of f is independent of the inputs. "
            "This is not allowed with strict=True."
        )
    out_tangents = [zeros_like(y) if v is None else v for y, v in pairs]
    return [y for y, _ in pairs], out_tangents, out_spec, aux


def _check_tangents(primals: Any, tangents: Any, api: str) -> list[Tensor]:
    """The tangents' leaves; RuntimeError unless they match the primals in structure, shape and dtype."""
    points, spec = tree_flatten(primals)
    vectors, vector_spec = tree_flatten(tangents)
    if vector_spec != spec:
        raise RuntimeError(
            f"{api}: Expected primals and tangents to have the same python structure. For example, if primals is a "
            f"tuple of 3 tensors, tangents also must be. Got primals with structure {spec} and tangents with "
            f"structure {vector_spec}"
        )
    for x, v in zip(points, vectors, strict=True):
        if not isinstance(x, Tensor) or not isinstance(v, Tensor):
            raise RuntimeError(f"{api}: Expected primals and tangents to only contain Tensors, got {type(x)}, {type(v)}")
        if x.shape != v.shape:
            raise RuntimeError(
                f"{api}: Trying to set a forward gradient that has a different size than that of the original Tensor, this is not "
                f"supported. Tensor is of size {list(x.shape)} while the given forward gradient is of size {list(v.shape)}."
            )
        if x.dtype != v.dtype:
            raise RuntimeError(f"{api}: tangents must have the primals' dtypes, {x.dtype}, got {v.dtype}")
    return vectors


def jvp(
    func: Callable[..., Any], primals: Any, tangents: Any, *, strict: bool = False, has_aux: bool = False
) -> tuple[Any, ...]:
    """``func`` at ``primals``, and its derivative there in the direction ``tangents``: ``J v``.

    Arguments:
        func: takes tensors or trees of them, returns a tensor or a tree of them.
        primals: a tuple, the arguments of ``func``.
        tangents: a tuple of the same structure, shapes and dtypes.
        strict: raises where an output is independent of the inputs, instead of giving zeros.
        has_aux: ``func`` returns ``(output, aux)``.

    Returns:
        ``(output, tangent)``, or ``(output, tangent, aux)``; the tangent has the output's structure and shapes.

    Raises:
        RuntimeError: primals is no tuple; tangents differ in structure, shape or dtype; an independence if strict.

    Example::

        >>> jvp(lambda x: x * x, (ad.tensor([1., 2.]),), (ad.ones(2),))
        (tensor([1., 4.]), tensor([2., 4.]))
    """
    api = "jvp(f, primals, tangents)"
    if not isinstance(primals, tuple):
        raise RuntimeError(f"{api}: Expected primals to be a tuple. E.g. it should be valid to call f(*primals).")
    vectors: list[Tensor | None] = list(_check_tangents(primals, tangents, api))
    if not vectors:
        raise RuntimeError(f"{api}: Expected primals to contain at least one Tensor.")
    ys, vs, spec, aux = _push(func, list(primals), vectors, strict, has_aux, api)
    result = (tree_unflatten(ys, spec), tree_unflatten(vs, spec))
    return (*result, aux) if has_aux else result


def jacfwd(
    func: Callable[..., Any], argnums: ArgNums = 0, has_aux: bool = False, *, randomness: str = "error"
) -> Callable[..., Any]:
    """A function that returns the Jacobian of ``func``, column by column in one batched forward pass per input.

    Arguments:
        func: returns a tensor or a tree of them, or ``(output, aux)`` with ``has_aux``.
        argnums: the position, or positions, of the arguments to differentiate.
        has_aux: ``func`` also returns auxiliary values.
        randomness: what random ops do in the batch: "error", "same" or "different" (see ``vmap``).

    Returns:
        ``J(*args)``: for each output a tensor of shape ``output.shape + arg.shape``, in the output's tree of the
        arguments' trees; ``(J, aux)`` with ``has_aux``.

    Raises:
        RuntimeError: an output is no tensor; argnums are out of range.

    Example::

        >>> jacfwd(lambda x: x * x)(ad.tensor([1., 2.]))
        tensor([[2., 0.],
                [0., 4.]])
    """
    api = "jacfwd(f)(*args)"

    @wraps(func)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        picked = select(args, argnums, api)
        out_spec: TreeSpec | None = None
        aux: Any = None
        columns: list[list[Tensor]] = []
        for i, x in enumerate(picked.leaves):

            def push(v: Tensor, i: int = i) -> tuple[tuple[Tensor, ...], Any]:
                nonlocal out_spec
                tangents: list[Tensor | None] = [None] * len(picked.leaves)
                tangents[i] = v
                inner = _push(
                    lambda *leaves: func(*picked.replaced(leaves), **kwargs),
                    list(picked.leaves),
                    tangents,
                    False,
                    has_aux,
                    api,
                )
                out_spec = inner[2]
                return tuple(inner[1]), inner[3] if has_aux else ()

            n = x.numel()
            basis = unit_vectors(x) if n else zeros((1, *x.shape), dtype=x.dtype, device=x.device)
            found, aux = vmap(push, out_dims=(0, None), randomness=randomness)(basis)
            columns.append([t.movedim(0, -1)[..., :n].reshape((*t.shape[1:], *x.shape)) for t in found])
        assert out_spec is not None
        result = nested(list(zip(*columns, strict=True)), out_spec, picked)
        return (result, aux) if has_aux else result

    return wrapper


def hessian(func: Callable[..., Any], argnums: ArgNums = 0) -> Callable[..., Any]:
    """A function that returns the Hessian of ``func``: forward over reverse, ``jacfwd(jacrev(func))``.

    Arguments:
        func: returns a tensor or a tree of them.
        argnums: the position, or positions, of the arguments to differentiate.

    Returns:
        ``H(*args)`` with blocks of shape ``output.shape + arg.shape + arg.shape``.

    Example::

        >>> hessian(lambda x: (x ** 3).sum())(ad.tensor([1., 2.]))
        tensor([[ 6.,  0.],
                [ 0., 12.]])
    """
    return jacfwd(jacrev(func, argnums), argnums)


def linearize(func: Callable[..., Any], *primals: Any) -> tuple[Any, Callable[..., Any]]:
    """``func`` at ``primals``, and its derivative there as a function: ``v -> J v``.

    ``func`` runs once; each call of the derivative runs over the recorded linear map only (the vjp, transposed).

    Returns:
        ``(output, jvp_fn)``; ``jvp_fn(*tangents)`` takes one tangent for each primal, of its structure, shape and
        dtype, and returns a tangent of the output's structure and shapes.

    Raises:
        RuntimeError: tangents differ from the primals in structure, shape or dtype.

    Example::

        >>> output, jvp_fn = linearize(lambda x: x * x, ad.tensor([1., 2.]))
        >>> jvp_fn(ad.tensor([1., 0.]))
        tensor([2., 0.])
    """
    output, pull = vjp(func, *primals)
    leaves, spec = tree_flatten(output)
    _, push = vjp(pull, tree_unflatten([zeros_like(y) for y in leaves], spec))

    points, points_spec = tree_flatten(primals)

    def jvp_fn(*tangents: Any) -> Any:
        vectors, vectors_spec = tree_flatten(tangents)
        if vectors_spec != points_spec:
            raise RuntimeError(f"Expected the tangents {vectors_spec} to have the same argspec as the primals {points_spec}")
        for i, (x, v) in enumerate(zip(points, vectors, strict=True)):
            for what, wanted, got in (("shape", x.shape, v.shape), ("device", x.device, v.device), ("dtype", x.dtype, v.dtype)):
                if got != wanted:
                    raise RuntimeError(
                        f"Tangent:{i} with {what} {got} in flattened pytree doesn't match the {what} {wanted} of the corresponding primal."
                    )
        return push(tangents)[0]

    return output, jvp_fn
