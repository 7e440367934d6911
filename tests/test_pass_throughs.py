"""What programs for PyTorch set, script and compile: it changes nothing, and says what it is."""

from __future__ import annotations

import pytest

import adjoint as ad
from adjoint_functional.foreach import NAMES


def test_scripts_and_compiled_functions_are_what_they_were() -> None:
    def double(x: ad.Tensor) -> ad.Tensor:
        return x + x

    layer = ad.nn.Linear(2, 2)
    for same in (ad.jit.script, ad.jit.trace, ad.jit.ignore, ad.jit.ignore(), ad.jit.unused, ad.jit.export, ad.compile,
                 ad.compile(mode="max-autotune"), ad.compiler.disable, ad.compiler.disable()):  # fmt: skip
        assert same(double) is double and same(layer) is layer
    assert not (ad.jit.is_scripting() or ad.jit.is_tracing() or ad.compiler.is_compiling() or isinstance(layer, ad.jit.ScriptModule))
    assert ad.jit.wait(ad.jit.fork(double, ad.ones(1))).item() == 2
    with pytest.raises(RuntimeError, match="mode or options"):
        ad.compile(double, mode="default", options={})


@pytest.mark.parametrize("name", [n for n in NAMES if n not in ("copy", "zero", "norm", "clamp_min", "clamp_max")])
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
    assert getattr(ad, f"_foreach_{name}_")(*lists[:count]) is None
    assert all(ad.equal(a, b) for a, b in zip(expected, lists[0], strict=True))


def test_foreach_with_numbers_of_their_own() -> None:
    a, b, c = ([ad.ones(2), ad.ones(1)] for _ in range(3))
    ad._foreach_addcmul_(a, b, c, ad.tensor([2.0, 3.0]))
    assert [x.tolist() for x in a] == [[3, 3], [4]]
    ad._foreach_clamp_max_(a, 3.5)
    assert a[1].item() == 3.5 and [round(n.item(), 5) for n in ad._foreach_norm(b)] == [1.41421, 1]
    ad._foreach_copy_(a, b)
    assert ad.equal(a[0], b[0]) and ad._foreach_zero_(a) is None and a[1].item() == 0
    with pytest.raises(RuntimeError, match="same number of tensors"):
        ad._foreach_add(a, b[:1])
    with pytest.raises(AttributeError, match="_foreach_fly"):
        getattr(ad, "_foreach_fly")  # noqa: B009


def test_switches_remember_and_refuse() -> None:
    ad.set_deterministic_debug_mode("warn")
    assert ad.get_deterministic_debug_mode() == 1 and ad.is_deterministic_algorithms_warn_only_enabled()
    ad.use_deterministic_algorithms(False)
    assert not ad.are_deterministic_algorithms_enabled()
    ad.set_default_device("cpu")
    assert ad.get_default_device() == ad.device("cpu")
    with pytest.raises(NotImplementedError, match="expected the CPU, got 'cuda'"):
        ad.set_default_device("cuda")
    with ad.backends.cudnn.flags(benchmark=True):
        assert ad.backends.cudnn.benchmark
    assert not (ad.backends.cudnn.benchmark or ad.backends.cudnn.is_available() or ad.backends.mps.is_built())
    with pytest.raises(AssertionError, match="no"):
        ad._assert(False, "no")
    with pytest.raises(RuntimeError, match="never"):
        ad._check(False, lambda: "never")


def test_sizes_and_keys() -> None:
    utils = ad.nn.modules.utils
    assert utils._pair(3) == (3, 3) and utils._triple([1, 2, 3]) == (1, 2, 3)
    assert utils._reverse_repeat_tuple((1, 2), 2) == (2, 2, 1, 1)
    assert utils._list_with_default([None, 5], [7, 8, 9]) == [8, 5]
