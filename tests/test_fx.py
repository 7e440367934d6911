"""`fx`: tracing, the text of graphs, rewriting, graphs built by hand, copies and pickles, interpreters."""

from __future__ import annotations

import copy
import math
import operator
import pickle

import pytest

import adjoint as ad
import adjoint.fx as fx
import adjoint.nn.functional as F
from adjoint import nn


class Block(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(3, 3, 3, padding=1)
        self.bn = nn.BatchNorm2d(3)
        self.layer = nn.Sequential(nn.Conv2d(3, 3, 1), nn.ReLU())
        self.w = nn.Parameter(ad.ones(3, 1, 1))
        self.register_buffer("shift", ad.ones(1))

    def forward(self, x, scale=2, *, extra=None):
        y = F.relu(self.bn(self.conv1(x)), inplace=True) * self.w
        y = self.layer(y) + x * scale + self.shift
        n, c, _, _ = y.shape
        return ad.cat([y, -y], dim=1).reshape(n, 2 * c, -1).sum(dim=-1)


class Calls(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.fc1, self.inner = nn.Linear(4, 4), Inner()

    def forward(self, x):
        return self.inner(self.fc1(x), by=3.0)


class Inner(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.fc = nn.Linear(4, 2)

    def forward(self, x, by):
        return F.gelu(self.fc(x), approximate="tanh") * by


@fx.wrap
def leaf(n):
    return n if n.sum() > 0 else -n


def names(traced):
    return [node.name for node in traced.graph.nodes]


def same(a, b):
    return bool(ad.equal(a, b))


def test_a_traced_block_does_what_the_block_does_and_has_its_state_and_gradients():
    block, x = Block(), ad.randn(2, 3, 4, 4)
    traced = fx.symbolic_trace(block)
    assert same(traced(x), block(x)) and same(traced(x, 5), block(x, scale=5)) and same(traced(x, extra=1), block(x))
    assert sorted(traced.state_dict()) == sorted(block.state_dict())
    block(x).sum().backward()
    expected = [p.grad.clone() for p in block.parameters()]
    block.zero_grad()
    traced(x).sum().backward()
    assert all(same(p.grad, e) for p, e in zip(block.parameters(), expected, strict=True))
    assert list(traced._modules) == ["conv1", "bn", "layer"]  # in the order of the nodes, whatever the hash seed
    assert type(traced).__name__ == "Block" and isinstance(traced, fx.GraphModule) and traced.training
    traced.graph.lint()


def test_names_of_nodes():  # those of PyTorch 2.13
    assert (
        names(fx.symbolic_trace(Block()))
        == (
            "x scale extra conv1 bn relu w mul layer_0 layer_1 mul_1 add shift add_1 getattr_1 getitem getitem_1 getitem_2 getitem_3 "
            "neg cat mul_2 reshape sum_1 output"
        ).split()
    )
    assert names(fx.symbolic_trace(Calls())) == ["x", "fc1", "inner_fc", "gelu", "mul", "output"]


def test_text_of_a_module():  # that of PyTorch 2.13, which has gelu elsewhere
    assert fx.symbolic_trace(Calls()).code == (
        "\n\n\ndef forward(self, x):\n    fc1 = self.fc1(x);  x = None\n    inner_fc = self.inner.fc(fc1);  fc1 = None\n"
        "    gelu = torch.nn.functional.gelu(inner_fc, approximate = 'tanh');  inner_fc = None\n"
        "    mul = gelu * 3.0;  gelu = None\n    return mul\n    "
    )


@pytest.mark.parametrize(
    "f",
    [
        lambda x: x[:, 1:3, None, ...],
        lambda x: {"a": x, "b": [1 / x, 2**x, x // 2, x > 1, x @ x.T, abs(x)]}["b"][5],
        lambda x: ad.ones(4, 4) + x,
        lambda x: x.sum(dim=float("inf") and 0).to(ad.float64),
        lambda x: math.sqrt(x.shape[0]) * x,
        lambda x: ad.einsum("ij,jk->ik", x, x),
        lambda x: leaf(x),
    ],
)
def test_functions(f):
    x = ad.randn(4, 4)
    assert same(fx.symbolic_trace(lambda x: f(x))(x), f(x))


def test_wrapped_functions_are_leaves():
    assert names(fx.symbolic_trace(lambda x: leaf(x) + 1)) == ["x", "leaf", "add", "output"]
    assert leaf(ad.tensor([-1.0])) == 1  # itself again


def test_stars_are_inputs():
    traced = fx.symbolic_trace(lambda a, *args, b=3, **kw: a + args[0] + b)
    assert traced(1, 2) == 6 and traced(1, 2, b=5) == 8


def test_what_depends_on_values_is_refused_with_its_line_and_leaves_modules_as_they_were():
    call, read = nn.Module.__call__, nn.Module.__getattr__
    with pytest.raises(fx.TraceError, match=r"control flow .*test_fx.py.*line \d+"):
        fx.symbolic_trace(lambda x: 1 if x.sum() > 0 else 2)
    with pytest.raises(fx.TraceError, match="iterated"):
        fx.symbolic_trace(lambda x: [i for i in x])
    with pytest.raises(RuntimeError, match="'len' is not supported"):
        fx.symbolic_trace(lambda x: len(x))
    assert nn.Module.__call__ is call and nn.Module.__getattr__ is read and math.sqrt(4) == 2


def test_concrete_arguments_decide():
    traced = fx.symbolic_trace(lambda x, double: x * 2 if double else x, concrete_args={"double": True})
    assert traced(ad.tensor(2.0), True) == 4
    with pytest.raises(AssertionError, match="specialized"):
        traced(ad.tensor(2.0), False)


def test_the_class_of_a_traced_module_is_its_own():
    kind = type(fx.symbolic_trace(nn.Sequential(nn.ReLU())))
    assert "GraphModuleImpl" in str(kind) and kind.__name__ == "Sequential" and kind.__bases__ == (fx.GraphModule,)


def test_where_new_nodes_go_is_said_without_with():
    graph = fx.symbolic_trace(lambda x: ad.relu(x) + 1).graph
    relu = graph.find_nodes(op="call_function", target=ad.relu)[0]
    graph.inserting_after(relu)
    made = [graph.call_function(F.gelu, (relu,)) for _ in range(2)]
    with graph.inserting_before(relu):
        first = graph.call_function(F.silu, relu.args)
    last = graph.call_function(F.gelu, (relu,))
    assert list(graph.nodes)[1:6] == [first, relu, *made, last]


def test_a_graph_is_rewritten():
    traced = fx.symbolic_trace(lambda x: ad.relu(x) + 1)
    node = traced.graph.find_nodes(op="call_function", target=ad.relu)[0]
    with traced.graph.inserting_after(node):
        new = traced.graph.call_function(F.gelu, node.args)
    node.replace_all_uses_with(new)
    traced.graph.erase_node(node)
    traced.recompile()
    x = ad.randn(3)
    assert same(traced(x), F.gelu(x) + 1) and names(traced) == ["x", "gelu", "add", "output"]
    assert new.prev.name == "x" and list(new.users) == [new.next] and new.all_input_nodes == [new.prev]
    with pytest.raises(RuntimeError, match="still had 1 users"):
        traced.graph.erase_node(new)


def test_dead_code_goes_and_lint_finds_disorder():
    graph = fx.Graph()
    x = graph.placeholder("x")
    graph.call_function(ad.sin, (graph.call_function(ad.cos, (x,)),))
    kept = graph.call_function(ad.exp, (x,))
    graph.output(kept)
    assert graph.eliminate_dead_code() and [n.name for n in graph.nodes] == ["x", "exp", "output"]
    assert not graph.eliminate_dead_code() and [n.name for n in reversed(graph.nodes)] == ["output", "exp", "x"]
    kept.append(x)
    with pytest.raises(RuntimeError, match="before it has been defined"):
        graph.lint()


def test_a_graph_is_built_by_hand():
    graph = fx.Graph()
    x1, w = fx.Proxy(graph.placeholder("x1", ad.Tensor)), fx.Proxy(graph.get_attr("_w3j"))
    y = ad.einsum("ij,zj->zi", w, x1.reshape(-1, 2)) * 0.5 + graph_call(graph, x1)
    graph.output(y.node, ad.Tensor)
    root = nn.Module()
    root.register_buffer("_w3j", ad.eye(2))
    root.add_module("lin", nn.Linear(2, 2))
    made = fx.GraphModule(root, graph, class_name="product")
    x = ad.randn(3, 2)
    ad.testing.assert_close(made(x), x * 0.5 + root.lin(x))
    from_table = fx.GraphModule({"_w3j": ad.eye(2), "lin": root.lin}, copy.deepcopy(graph))
    assert same(from_table(x), made(x)) and "_w3j" in dict(from_table.named_buffers())
    with pytest.raises(RuntimeError, match="the graph names '_w3j'"):
        fx.GraphModule({}, graph)


def graph_call(graph, x):
    return fx.Proxy(graph.call_module("lin", (x.node,)), x.tracer)


@pytest.mark.parametrize("again", [copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))])
def test_copies_and_pickles(again):
    traced = fx.symbolic_trace(Calls()).eval()
    other, x = again(traced), ad.randn(2, 4)
    assert same(other(x), traced(x)) and other.code == traced.code and type(other).__name__ == "Calls" and not other.training
    with ad.no_grad():
        other.fc1.weight.zero_()
    assert not same(other(x), traced(x))


def test_submodules_come_and_go():
    traced = fx.symbolic_trace(Calls())
    traced.add_submodule("inner.more", nn.ReLU())
    assert isinstance(traced.get_submodule("inner.more"), nn.ReLU)
    traced.delete_all_unused_submodules()
    assert sorted(n for n, _ in traced.named_modules()) == ["", "fc1", "inner", "inner.fc"]
    assert traced.delete_submodule("inner.fc") and not traced.delete_submodule("nowhere.fc")


def test_interpreter_and_transformer():
    class Swap(fx.Transformer):
        def call_function(self, target, args, kwargs):
            return super().call_function(ad.sub if target is operator.add else target, args, kwargs)

    traced, x = fx.symbolic_trace(Block()), ad.randn(1, 3, 4, 4)
    assert same(fx.Interpreter(traced).run(x), traced(x))
    swapped = Swap(fx.symbolic_trace(lambda a, b: a + b)).transform()
    assert swapped(ad.tensor(3.0), ad.tensor(1.0)) == 2
    with pytest.raises(RuntimeError, match="Expected positional argument for parameter b"):
        fx.Interpreter(swapped).run(ad.tensor(3.0))


def test_leaves_are_as_the_tracer_says(capsys):
    class Shallow(fx.Tracer):
        def is_leaf_module(self, m, module_qualified_name):
            return isinstance(m, Inner) or super().is_leaf_module(m, module_qualified_name)

    graph = Shallow().trace(Calls())
    assert [n.target for n in graph.find_nodes(op="call_module")] == ["fc1", "inner"]
    graph.print_tabular()
    assert "call_module" in capsys.readouterr().out
    assert "%inner : [num_users=1] = call_module[target=inner](args = (%fc1,), kwargs = {by: 3.0})" in str(graph)


@pytest.mark.parametrize("operands", [tuple, list])
def test_operands_of_einsum_are_arguments_of_their_own(operands):
    graph = fx.Graph()
    x = fx.Proxy(graph.placeholder("x"))
    y = ad.einsum("ij,jk->ik", operands([x, x]))
    assert y.node.args == ("ij,jk->ik", x.node, x.node)


def test_assertions_are_steps():
    def f(x):
        ad._assert(x.shape[0] == 2, "two rows")
        return x * 2

    traced = fx.symbolic_trace(f)
    assert [node.name for node in traced.graph.nodes] == ["x", "getattr_1", "getitem", "eq", "_assert", "mul", "output"]
    assert traced(ad.ones(2)).tolist() == [2.0, 2.0]
    with pytest.raises(AssertionError, match="two rows"):
        traced(ad.ones(3))


def test_negative_numbers_keep_their_sign_under_a_power():
    traced = fx.symbolic_trace(lambda x: (-2) ** x)
    assert traced(ad.tensor([2.0, 3.0])).tolist() == [4.0, -8.0]


def test_inputs_may_have_words_of_python_as_names():
    graph = fx.Graph()
    graph.output(graph.call_function(ad.relu, (graph.placeholder("class"),)))
    assert fx.GraphModule(nn.Module(), graph)(ad.tensor([-1.0, 2.0])).tolist() == [0.0, 2.0]
