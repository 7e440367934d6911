"""Functions bound in C++ say what they do, in one sentence with an example that runs."""

from __future__ import annotations

import doctest

import pytest

import adjoint as ad
from adjoint_core import _documentation

BOUND = {
    f"{space.__name__}.{name}": getattr(space, name)
    for space in (ad, ad.Tensor)
    for name in dir(space)
    if not name.startswith("_")
    and "nb_" in repr(getattr(space, name))
    and type(getattr(space, name)).__name__.startswith("Direct")
    and not isinstance(getattr(space, name), type)
}


@pytest.mark.parametrize("name", sorted(_documentation.entries()))
def test_entry(name: str) -> None:
    assert hasattr(ad, name) or hasattr(ad.Tensor, name)
    text = _documentation.told(name)
    test = doctest.DocTestParser().get_doctest(text, {"ad": ad}, name, None, 0)
    result = doctest.DocTestRunner(verbose=False).run(test)
    assert result.failed == 0 and (result.attempted == 1 or text.startswith("The same as"))


def test_every_function_says_what_it_does() -> None:
    assert len(BOUND) > 700
    silent = [name for name, f in BOUND.items() if "\n\n" not in (f.__doc__ or "") or not f.__doc__.split("\n\n", 1)[1].strip()]
    assert not silent


def test_help_shows_signature_sentence_and_example_once() -> None:
    for f in (ad.sum, ad.Tensor.sum):
        assert f.__doc__.startswith("sum(") and f.__doc__.count(">>>") == 1 and f.__doc__.count("The sum over") == 1
    assert ad.absolute.__doc__.endswith("The same as `abs`.")
    assert ad.Tensor.exp_.__doc__.endswith("In place.")
