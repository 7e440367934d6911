"""`replace_pattern`: a piece of a program, wherever it stands, by another piece."""

from __future__ import annotations

import copy
import operator
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from adjoint_functional.nn.modules import Module

from .graph import Graph
from .graph_module import GraphModule, _copy_attr
from .node import Node, map_arg
from .tracer import symbolic_trace

Found = dict[Node, Any]  # what in a program the nodes of a pattern are


class Match(NamedTuple):
    """Where a pattern stands: the first node that it gives, and what each of its nodes is."""

    anchor: Node
    nodes_map: Found


class InternalMatch(NamedTuple):
    """A match as filters see it: what the pattern gives, and what of the program its inputs and its results are."""

    anchors: list[Node]
    nodes_map: Found
    placeholder_nodes: list[Any]
    returning_nodes: list[Node]


class ReplacedPatterns(NamedTuple):
    """A match, and the nodes that stand there now."""

    anchor: Node
    nodes_map: Found
    replacements: list[Node]


def _fits(wanted: Any, given: Any, found: Found) -> bool:
    """Whether the part `given` of a program is `wanted`, a part of a pattern; what its nodes are is added to `found`."""
    if isinstance(wanted, Node):
        if wanted in found:
            return found[wanted] is given if isinstance(given, Node) else bool(found[wanted] == given)
        if wanted.op != "placeholder" and not (
            isinstance(given, Node) and (wanted.op, wanted.target) == (given.op, given.target)
        ):
            return False
        if isinstance(given, Node) and given in found.values():
            return False
        found[wanted] = given
        return wanted.op == "placeholder" or _fits((wanted.args, wanted.kwargs), (given.args, given.kwargs), found)
    if type(wanted) is not type(given):
        return False
    if isinstance(wanted, (tuple, list)):
        return len(wanted) == len(given) and all(_fits(w, g, found) for w, g in zip(wanted, given))
    if isinstance(wanted, dict):
        return wanted.keys() == given.keys() and all(_fits(w, given[k], found) for k, w in wanted.items())
    if isinstance(wanted, slice):
        return _fits((wanted.start, wanted.stop, wanted.step), (given.start, given.stop, given.step), found)
    return bool(wanted == given)


def _from_anchors(anchors: list[Node], nodes: list[Node], found: Found) -> Iterator[Found]:
    """All ways to find the nodes that a pattern gives, with those before them."""
    if not anchors:
        yield found
        return
    for node in [found[anchors[0]]] if anchors[0] in found else nodes:
        if _fits(anchors[0], node, tried := dict(found)):
            yield from _from_anchors(anchors[1:], nodes, tried)


def _given(graph: Graph) -> list[Node]:
    """The nodes that a program returns."""
    returned: list[Node] = []
    map_arg(graph.output_node().args[0], returned.append)
    return returned


def _is_whole(found: Found, given: list[Node]) -> bool:
    """Nothing inside is taken from outside, but for what the pattern gives."""
    inside = {n for p, n in found.items() if p.op != "placeholder"}
    return all(user in inside for p, n in found.items() if p.op != "placeholder" and p not in given for user in n.users)


def _matches(graph: Graph, pattern: Graph) -> Iterator[Found]:
    """From first to last, without nodes in common."""
    given, taken = _given(pattern), set[Node]()
    for found in _from_anchors(given, list(graph.nodes), {}):
        inside = {n for p, n in found.items() if p.op != "placeholder"}
        if _is_whole(found, given) and not inside & taken:
            taken |= inside
            yield found


def _graph_of(program: Any) -> Graph:
    return (
        program
        if isinstance(program, Graph)
        else program.graph
        if isinstance(program, GraphModule)
        else symbolic_trace(program).graph
    )


def _put(graph: Graph, found: Found, pattern: Graph, replacement: Graph, now: dict[Node, Any]) -> list[Node]:
    """Puts the replacement where the pattern was found; `now`: what nodes that are gone became. The nodes that are new."""
    inputs = [n for n in pattern.nodes if n.op == "placeholder"]
    values: Found = {
        r: now.get(found[p], found[p]) for p, r in zip(inputs, (n for n in replacement.nodes if n.op == "placeholder"))
    }
    given, there = [found[p] for p in _given(pattern)], set(graph.nodes)
    inside = {n for p, n in found.items() if p.op != "placeholder"}
    first = next(n for n in graph.nodes if n not in inside and any(g in n.all_input_nodes for g in given))
    with graph.inserting_before(first):
        graph.graph_copy(replacement, values)
    new = [values[n] for n in _given(replacement)]
    if len(new) != len(given):
        raise RuntimeError(f"replace_pattern: the pattern gives {len(given)} values, and its replacement {len(new)}")
    for old, node in zip(given, new):
        old.replace_all_uses_with(node)
        now[old] = node
    for node in [n for n in reversed(graph.nodes) if n in inside]:
        graph.erase_node(node)
    return [n for n in graph.nodes if n not in there]


def _has(owner: Any, target: str) -> bool:
    try:
        operator.attrgetter(target)(owner)
    except AttributeError:
        return False
    return True


def replace_pattern_with_filters(
    gm: GraphModule,
    pattern: Any,
    replacement: Any = None,
    match_filters: list[Callable[[Any, Graph, Graph], bool]] | None = None,
) -> list[ReplacedPatterns]:
    """`replace_pattern` where all `match_filters`, called with a match and the graphs of the program and the pattern, say so."""
    wanted, other, done, now = _graph_of(pattern), _graph_of(replacement), list[ReplacedPatterns](), dict[Node, Any]()
    given, inputs = _given(wanted), [n for n in wanted.nodes if n.op == "placeholder"]
    for found in list(_matches(gm.graph, wanted)):
        match = InternalMatch(given, found, [found[n] for n in inputs], [found[n] for n in given])
        if all(allows(match, gm.graph, wanted) for allows in match_filters or ()):
            done.append(ReplacedPatterns(given[0], found, _put(gm.graph, found, wanted, other, now)))
    if isinstance(replacement, Module):
        gm.delete_all_unused_submodules()
        for node in gm.graph.nodes:
            if node.op in ("call_module", "get_attr") and not _has(gm, node.target):
                _copy_attr(copy.deepcopy(replacement), gm, node.target)
    gm.recompile()
    return done


def replace_pattern(gm: GraphModule, pattern: Any, replacement: Any) -> list[Match]:
    """Replaces each piece of a program that is `pattern` by `replacement`: functions or modules, which are traced, with as many inputs and results.

    An input of the pattern stands for a node or a number. A piece of which something inside is taken elsewhere stays. Submodules of a
    `replacement` are copied where `gm` has none of their names. Gives the places.

    Example::

        >>> traced = ad.fx.symbolic_trace(lambda x: ad.relu(x) + 1)
        >>> len(ad.fx.replace_pattern(traced, lambda x: ad.relu(x), lambda x: ad.neg(x)))
        1
        >>> traced(ad.tensor([2.0]))
        tensor([-1.])
    """
    return [Match(*done[:2]) for done in replace_pattern_with_filters(gm, pattern, replacement)]
