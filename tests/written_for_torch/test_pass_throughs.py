"""What programs for PyTorch set, script and compile: it changes nothing, and says what it is."""

from __future__ import annotations

import copy
import hashlib
import pickle
from pathlib import Path

import pytest

import adjoint as ad
from adjoint_functional.foreach import _NEVER_IN_PLACE, _ONLY_IN_PLACE, NAMES


def test_scripts_and_compiled_functions_are_what_they_were() -> None:
    def double(x: ad.Tensor) -> ad.Tensor:
        return x + x

    layer = ad.nn.Linear(2, 2)
    for same in (ad.jit.script, ad.jit.trace, ad.jit.ignore, ad.jit.ignore(), ad.jit.unused, ad.jit.export, ad.compile(disable=True),
                 ad.compiler.disable, ad.compiler.disable()):  # fmt: skip
        assert same(double) is double and same(layer) is layer
    assert not (
        ad.jit.is_scripting() or ad.jit.is_tracing() or ad.compiler.is_compiling() or isinstance(layer, ad.jit.ScriptModule)
    )
    assert ad.compile(double) is double and ad.compile(mode="max-autotune")(double) is double
    assert ad.jit.wait(ad.jit.fork(double, ad.ones(1))).item() == 2
    with pytest.raises(RuntimeError, match="mode or options"):
        ad.compile(double, mode="default", options={})


def test_a_compiled_module_is_around_the_other() -> None:
    inner = ad.nn.Sequential(ad.nn.Linear(2, 3), ad.nn.Dropout())
    outer = ad.compile(inner, mode="max-autotune")
    assert isinstance(outer, ad._dynamo.OptimizedModule) and outer._orig_mod is inner and ad.compile(outer) is outer
    assert [n for n, _ in outer.named_parameters()] == list(outer.state_dict()) == ["_orig_mod.0.weight", "_orig_mod.0.bias"]
    assert len(outer) == 2 and "append" in dir(outer) and ad.equal(outer.eval()(ad.ones(2)), inner(ad.ones(2)))
    assert not (inner.training or inner[1].training)
    outer.training = True
    outer.flag = 3
    assert inner.training and inner.flag == 3 and "flag" not in vars(outer)
    inner.eval()
    assert not outer.training
    del outer.flag
    for lost in (lambda: inner.flag, lambda: outer.flag):
        with pytest.raises(AttributeError, match="'Sequential' object has no attribute 'flag'"):
            lost()
    for copied in (copy.deepcopy(outer), pickle.loads(pickle.dumps(outer))):
        assert type(copied) is type(outer) and copied._orig_mod is not inner
        assert ad.equal(copied._orig_mod[0].weight, inner[0].weight)
    outer.forward = lambda x: 3
    assert outer(ad.ones(2)) == 3 and "forward" not in vars(inner)


@pytest.mark.parametrize("name", [n for n in NAMES if n not in (*_ONLY_IN_PLACE, *_NEVER_IN_PLACE, "clamp_min", "clamp_max")])
def test_foreach_is_the_operation_on_each(name: str) -> None:
    lists = [[ad.rand(3) * 0.5 + 0.25, ad.rand(2, 2) * 0.5 + 0.25] for _ in range(3)]
    binary = name in ("add", "sub", "mul", "div", "pow", "maximum", "minimum")
    count = 3 if name in ("addcmul", "addcdiv", "lerp") else 2 if binary else 1
    expected = [getattr(ad.Tensor, name)(*operands) for operands in zip(*lists[:count])]
    got = getattr(ad, f"_foreach_{name}")(*lists[:count])
    assert all(ad.equal(a, b) for a, b in zip(expected, got, strict=True))
    if binary:
        got = getattr(ad, f"_foreach_{name}")(lists[0], [2.0, 3.0] if name not in ("maximum", "minimum") else lists[1])
        assert len(got) == 2
    assert getattr(ad, f"_foreach_{name}_")(*lists[:count]) is lists[0]
    assert all(ad.equal(a, b) for a, b in zip(expected, lists[0], strict=True))


def test_foreach_with_numbers_of_their_own() -> None:
    a, b, c = ([ad.ones(2), ad.ones(1)] for _ in range(3))
    ad._foreach_addcmul_(a, b, c, ad.tensor([2.0, 3.0]))
    assert [x.tolist() for x in a] == [[3, 3], [4]]
    ad._foreach_clamp_max_(a, 3.5)
    assert a[1].item() == 3.5 and [round(n.item(), 5) for n in ad._foreach_norm(b)] == [1.41421, 1]
    ad._foreach_copy_(a, b)
    assert ad.equal(a[0], b[0]) and ad._foreach_zero_(a) is a and a[1].item() == 0
    ad._foreach_add_(a, other=b, alpha=2)
    ad._foreach_mul_(self=a, scalar=3)
    ad._foreach_addcmul_(a, tensor1=b, tensor2=b, scalars=[1, 2])
    assert a[0].tolist() == [7, 7] and a[1].tolist() == [8] and ad._foreach_pow(2.0, exponent=b)[1].item() == 2
    with pytest.raises(RuntimeError, match="same number of tensors"):
        ad._foreach_add(a, b[:1])
    with pytest.raises(TypeError, match="_foreach_add: expected a list of tensors, got \\['Tensor'\\]"):
        ad._foreach_add(ad.ones(2))
    with pytest.raises(AttributeError, match="_foreach_fly"):
        getattr(ad, "_foreach_fly")  # noqa: B009


def test_switches_remember_and_refuse() -> None:
    ad.set_deterministic_debug_mode("warn")
    assert ad.get_deterministic_debug_mode() == 1 and ad.is_deterministic_algorithms_warn_only_enabled()
    ad.use_deterministic_algorithms(False)
    assert not ad.are_deterministic_algorithms_enabled()
    ad.set_default_device("cpu")
    assert ad.get_default_device() == ad.device("cpu")
    with ad.backends.cudnn.flags(benchmark=True):
        assert ad.backends.cudnn.benchmark
    assert not (ad.backends.cudnn.benchmark or ad.backends.cudnn.is_available() or ad.backends.mps.is_built())
    for kind in (AssertionError, RuntimeError):  # what a script's failed assertion is
        with pytest.raises(kind, match="no"):
            ad._assert(False, "no")
    with pytest.raises(RuntimeError, match="never"):
        ad._check(False, lambda: "never")


def test_sizes_and_keys() -> None:
    utils = ad.nn.modules.utils
    assert utils._pair(3) == (3, 3) and utils._triple([1, 2, 3]) == (1, 2, 3)
    assert utils._reverse_repeat_tuple((1, 2), 2) == (2, 2, 1, 1)
    assert utils._list_with_default([None, 5], [7, 8, 9]) == [8, 5]


def test_the_inside_of_the_compiler_is_a_pass_through() -> None:
    d = ad._dynamo
    assert d.disable(abs) is abs and d.optimize("eager")(abs) is abs and d.run(abs) is abs and not d.is_compiling()
    with d.config.patch(cache_size_limit=64):
        assert d.config.cache_size_limit == 64
    assert d.config.cache_size_limit == 8 and not isinstance(ad.nn.Linear(1, 1), d.OptimizedModule)
    assert ad._vmap_internals._vmap(lambda x: x * 2)(ad.ones(2)).tolist() == [2, 2]


def test_dlpack_by_its_module() -> None:
    x = ad.ones(2)
    y = ad.utils.dlpack.from_dlpack(ad.utils.dlpack.to_dlpack(x))
    y[0] = 5
    assert x.tolist() == [5, 1]


def test_hub_runs_local_models_and_reads_files_by_address(tmp_path: Path) -> None:
    (tmp_path / "hubconf.py").write_text("def double(n):\n    'Doubles.'\n    return 2 * n\n")
    where = str(tmp_path)
    assert ad.hub.load(where, "double", 4, source="local", trust_repo=True) == 8
    assert ad.hub.list(where, source="local") == ["double"] and ad.hub.help(where, "double", source="local") == "Doubles."
    with pytest.raises(RuntimeError, match="Cannot find callable triple"):
        ad.hub.load(where, "triple", source="local")
    with pytest.raises(NotImplementedError, match="source='github'"):
        ad.hub.load("a/b", "c")
    ad.save({"w": ad.ones(2)}, tmp_path / "w.pt")
    digest = hashlib.sha256((tmp_path / "w.pt").read_bytes()).hexdigest()
    for name in (f"w-{digest[:8]}.pt", "w-00000000.pt"):
        (tmp_path / name).write_bytes((tmp_path / "w.pt").read_bytes())
    kept = str(tmp_path / "kept")
    good, bad = (f"file://{tmp_path}/{name}" for name in (f"w-{digest[:8]}.pt", "w-00000000.pt"))
    assert ad.hub.load_state_dict_from_url(good, kept, check_hash=True)["w"].tolist() == [1, 1]
    with pytest.raises(RuntimeError, match="invalid hash"):
        ad.hub.load_state_dict_from_url(bad, kept, check_hash=True)
    assert [file.name for file in Path(kept).iterdir()] == [f"w-{digest[:8]}.pt"]


def test_trees_with_registered_classes() -> None:
    class Pair:
        def __init__(self, a: object, b: object) -> None:
            self.a, self.b = a, b

    p = ad.utils._pytree
    p.register_pytree_node(Pair, lambda x: ([x.a, x.b], "kept"), lambda children, context: Pair(*children))
    with pytest.raises(ValueError, match="already registered"):
        p._register_pytree_node(Pair, lambda x: ([], None), lambda children, context: None)
    leaves, spec = p.tree_flatten({"x": Pair(1, [2, 3])})
    assert leaves == [1, 2, 3] and spec == p.tree_structure({"x": Pair(4, [5, 6])}) and spec.children_specs[0].context == "kept"
    assert p.tree_unflatten([7, 8, 9], spec)["x"].b == [8, 9]
    assert p.tree_leaves([(1, 2), 3], is_leaf=lambda x: isinstance(x, tuple)) == [(1, 2), 3]
    assert p._broadcast_to_and_flatten(Pair(0, None), spec.children_specs[0]) == [0, None, None]
    assert ad.vmap(lambda pair: Pair(pair.a * 2, pair.b))(Pair(ad.ones(3), ad.zeros(3))).a.tolist() == [2, 2, 2]
    assert p.tree_map_only(int, str, [1, 2.5]) == ["1", 2.5] and p.tree_any(lambda n: n > 2, [1, (3,)])
    assert p.tree_all_only(str, str.isupper, [1, "A"]) and not p.tree_is_leaf([1])


def test_sparse_products_by_their_older_names() -> None:
    a, b = ad.eye(2).to_sparse(), ad.rand(2, 3)
    assert all(ad.equal(f(a, b), b) for f in (ad.spmm, ad.dsmm, ad.hsmm)) and ad.equal(ad.smm(a, b).to_dense(), b)


def test_types_of_tensors_elsewhere() -> None:
    sparse = ad.eye(2).to_sparse()
    assert isinstance(ad.ones(1), ad.FloatTensor) and not isinstance(sparse, ad.FloatTensor)
    assert isinstance(sparse, ad.sparse.FloatTensor) and not isinstance(
        ad.ones(1), (ad.sparse.FloatTensor, ad.cuda.FloatTensor)
    )
    assert ad.cuda.ByteTensor is ad.cuda.ByteTensor and ad.cuda.ByteTensor.__module__ == "adjoint.cuda"
    built = ad.sparse.DoubleTensor(ad.tensor([[0], [1]]), ad.tensor([3.0]), (2, 2))
    assert built.dtype is ad.float64 and built.to_dense().tolist() == [[0, 3], [0, 0]]
    assert not hasattr(ad.sparse, "QuickTensor") and ad.arange(2).type(ad.Tensor).dtype is ad.float32


def test_sizes_become_integers() -> None:
    size = ad.Size((ad.tensor(3), 2))
    assert size == (3, 2) and type(size[0]) is int and ad.Size() == () and type(size[1:]) is ad.Size
    with pytest.raises(TypeError, match=r"item 0 is 'float'"):
        ad.Size((2.5,))


def test_what_a_compiler_would_say_of_a_function() -> None:
    from adjoint._dynamo.backends import debugging

    for said in (ad._dynamo.explain(ad.sin)(ad.ones(2)), ad._dynamo.explain(ad.sin, ad.ones(2))):
        assert isinstance(said, debugging.ExplainOutput) and (said.graph_count, said.graph_break_count) == (1, 0)


def test_devices_of_blocks_by_their_inner_names() -> None:
    context = ad.utils._device.DeviceContext("meta")
    with context as entered:
        assert entered is context and ad.ones(2).device.type == "meta"
    assert (
        ad.utils._device.set_device("meta")(lambda n: ad.ones(n))(2).device.type == "meta" and ad.ones(2).device.type == "cpu"
    )


def test_settings_of_compilers_are_kept() -> None:
    from adjoint import _inductor

    _inductor.config.triton.unique_kernel_names = True
    for config, name in ((_inductor.config, "max_autotune"), (ad._dynamo.config, "suppress_errors")):
        with config.patch({name: True}):
            assert getattr(config, name)
        assert not getattr(config, name)
