"""Attention on a device, with derivatives: what its tests share."""

import math

import adjoint as ad

attend = ad.nn.functional.scaled_dot_product_attention


def operands(dtype, queries, keys, features=5, outputs=3, leading=(2, 2)):
    shapes = ((*leading, queries, features), (*leading, keys, features), (*leading, keys, outputs))
    return [(ad.arange(math.prod(s), dtype=ad.float64) * (0.7 + 0.1 * i)).sin().view(s).to(dtype) for i, s in enumerate(shapes)]


def run(device, given, order=1, **options):
    """The result and gradients; with `order` 2 those of gradients."""
    given = [x.to(device).requires_grad_() for x in given]
    options = {name: o.to(device) if isinstance(o, ad.Tensor) else o for name, o in options.items()}
    y = attend(*given, **options)
    assert device == "cpu" or "ScaledDotProductFlashAttentionBackward0" in nodes(
        y
    )  # the CPU composes what drops weights, and half types
    gradients = ad.autograd.grad((y * y).sum(), given, create_graph=order == 2)
    if order == 2:
        gradients = ad.autograd.grad(sum((g * g).sum() for g in gradients), given)
    return [y.detach(), *gradients]


def nodes(y):
    """Names of the last nodes of a graph."""
    node, names = y.grad_fn, []
    while node is not None and len(names) < 4:
        names.append(node.name())
        node = node.next_functions[0][0] if node.next_functions else None
    return names


SIZES = {"one_block": (4, 5), "blocks": (70, 50), "more_keys": (3, 70), "one_query": (1, 33)}
