"""Pieces of traced programs replaced by others, and what is known of the tensors on the way. Texts are those of PyTorch 2.13."""

from __future__ import annotations

from typing import Any

import pytest

import adjoint as ad

fx = ad.fx
x = ad.tensor([-1.0, 0.5, 2.0])


def traced(f: Any, pattern: Any, replacement: Any) -> tuple[Any, int]:
    module = fx.symbolic_trace(f)
    found = fx.replace_pattern(module, pattern, replacement)
    module.graph.lint()
    return module, len(found)


def test_each_place_is_replaced_where_its_result_is_taken() -> None:
    module, count = traced(lambda t: ad.relu(ad.relu(t)) + t.neg().neg(), lambda a: ad.relu(a), lambda a: ad.sigmoid(a))
    assert count == 2 and module(x).equal(x.sigmoid().sigmoid() + x)
    assert [n.name for n in module.graph.nodes] == ["t", "sigmoid", "neg", "neg_1", "sigmoid_1", "add", "output"]


def test_places_with_nodes_in_common_are_taken_from_the_first_one() -> None:
    module, count = traced(lambda t: t.neg().neg().neg(), lambda a: a.neg().neg(), lambda a: a)
    assert count == 1 and [n.name for n in module.graph.nodes] == ["t", "neg_2", "output"] and module(x).equal(-x)


def test_what_is_taken_inside_stays() -> None:
    def program(t, u):
        both = t + u
        return both.sum(), both * 2

    module, count = traced(program, lambda a, b: (a + b) * 2, lambda a, b: a - b)
    assert count == 0 and module(x, x)[1].equal(x * 4)


def test_inputs_of_a_pattern_stand_for_numbers_too_and_two_of_them_for_two_nodes() -> None:
    module, count = traced(lambda t: (ad.mul(t, t), ad.mul(t, 2)), lambda a, b: ad.mul(a, b), lambda a, b: ad.div(a, b))
    assert count == 1 and module(x)[0].equal(x * x) and module(x)[1].equal(x / 2)
    _, count = traced(lambda t: ad.mul(t, t), lambda a: ad.mul(a, a), lambda a: ad.exp(a))
    assert count == 1


@pytest.mark.parametrize(
    ("f", "pattern", "there"),
    [
        (lambda t: ad.add(t, 3, alpha=2), lambda a: ad.add(a, 3, alpha=2), 1),
        (lambda t: ad.add(t, 3, alpha=2), lambda a: ad.add(a, 3, alpha=3), 0),
        (lambda t: ad.add(t, 3, alpha=2), lambda a: ad.add(a, 3), 0),
        (lambda t: ad.add(t, 3), lambda a: ad.add(a, 3.0), 0),
        (lambda t: t[1:2], lambda a: a[1:2], 1),
        (lambda t: t[1:2], lambda a: a[1:3], 0),
        (lambda t: ad.cat([t, t]), lambda a: ad.cat([a, a]), 1),
        (lambda t: ad.cat([t, t]), lambda a: ad.cat([a]), 0),
    ],
)
def test_numbers_names_and_slices_have_to_be_the_same(f: Any, pattern: Any, there: int) -> None:
    assert traced(f, pattern, lambda a: a)[1] == there


def test_several_results() -> None:
    module, count = traced(lambda t: (t.sin(), t.cos()), lambda a: (a.sin(), a.cos()), lambda a: (a.tan(), a.exp()))
    assert count == 1 and module(x)[0].equal(x.tan()) and module(x)[1].equal(x.exp())
    with pytest.raises(RuntimeError, match="gives 2 values, and its replacement 1"):
        traced(lambda t: (t.sin(), t.cos()), lambda a: (a.sin(), a.cos()), lambda a: a)


class Step(ad.nn.Module):
    def __init__(self, **parts: ad.nn.Module) -> None:
        super().__init__()
        for name, part in parts.items():
            setattr(self, name, part)

    def forward(self, t):
        for part in self.children():
            t = part(t)
        return t


def test_modules_bring_the_parts_that_are_not_there() -> None:
    module = fx.symbolic_trace(Step(a=ad.nn.ReLU(), b=ad.nn.Tanh()))
    other = Step(b=ad.nn.Sigmoid(), c=ad.nn.Softplus())
    (done,) = fx.replace_pattern(module, Step(a=ad.nn.ReLU()), other)
    assert done.anchor.name == "a" and len(done.nodes_map) == 2
    assert [name for name, _ in module.named_children()] == ["b", "c"] and module.c is not other.c
    ad.testing.assert_close(module(x), ad.nn.functional.softplus(x.tanh()).tanh())  # b is the one that was there, as in PyTorch


def test_filters_choose() -> None:
    module = fx.symbolic_trace(lambda t: (t.neg().sin(), t.neg().cos()))
    takes_sin = lambda match, graph, pattern: [n.target for n in match.nodes_map[match.anchors[0]].users] == ["sin"]  # noqa: E731
    (done,) = fx.subgraph_rewriter.replace_pattern_with_filters(module, lambda a: a.neg(), lambda a: a.abs(), [takes_sin])
    assert (
        module(x)[0].equal(x.abs().sin())
        and module(x)[1].equal((-x).cos())
        and [n.name for n in done.replacements] == ["abs_1"]
    )


def test_shapes_along_a_program(capsys) -> None:
    layers = ad.nn.Sequential(ad.nn.Conv2d(1, 2, 3), ad.nn.ReLU(), ad.nn.Flatten())
    module = fx.symbolic_trace(layers)
    image = ad.ones(1, 1, 4, 4)
    assert fx.passes.shape_prop.ShapeProp(module).propagate(image).equal(layers(image))
    facts = [n.meta["tensor_meta"] for n in module.graph.nodes]
    assert [f.shape for f in facts] == [(1, 1, 4, 4), (1, 2, 2, 2), (1, 2, 2, 2), (1, 8), (1, 8)]
    assert [f.requires_grad for f in facts] == [False, True, True, True, True]
    assert facts[1].stride == (8, 4, 2, 1) and facts[1].dtype is ad.float32 and facts[1].memory_format is ad.contiguous_format
    with pytest.raises(RuntimeError, match="ShapeProp error for: node="):
        fx.passes.shape_prop.ShapeProp(module).propagate(ad.ones(1, 3, 4, 4))
