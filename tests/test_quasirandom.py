"""Sobol's points: what each block of them covers, scrambled and not; the numbers themselves are compared in tests/peer."""

from __future__ import annotations

import pytest

import adjoint as ad


@pytest.mark.parametrize("scramble", (False, True))
def test_one_point_in_each_part(scramble: bool) -> None:
    points = ad.quasirandom.SobolEngine(337, scramble, 3).draw_base2(6)
    assert (points.amin() >= 0) & (points.amax() < 1)
    places = (points * 64).long().sort(0).values
    assert ad.equal(places, ad.arange(64).unsqueeze(1).expand(64, 337))


def test_parts_of_the_square() -> None:
    """Of 2**6 points one lies in each of the 8 x 8, 4 x 16, ... parts."""
    points = ad.quasirandom.SobolEngine(2, True, 5).draw(64)
    for bits in range(7):
        part = (points[:, 0] * 2**bits).long() * 2 ** (6 - bits) + (points[:, 1] * 2 ** (6 - bits)).long()
        assert ad.equal(part.sort().values, ad.arange(64))


def test_in_steps() -> None:
    whole = ad.quasirandom.SobolEngine(5, True, 1).draw(20)
    engine = ad.quasirandom.SobolEngine(5, True, 1)
    assert ad.equal(
        ad.cat([engine.draw(3), engine.draw(), engine.draw(0), engine.fast_forward(2).draw(14)]),
        whole[[0, 1, 2, 3, *range(6, 20)]],
    )
    assert engine.num_generated == 20
    assert ad.equal(engine.reset().draw(20, ad.empty(1)), whole)
    assert repr(engine) == "SobolEngine(dimension=5, scramble=True, seed=1)"


def test_refusals() -> None:
    with pytest.raises(ValueError, match="dimensionality"):
        ad.quasirandom.SobolEngine(338)
    with pytest.raises(ValueError, match="power of 2"):
        ad.quasirandom.SobolEngine(2).fast_forward(3).draw_base2(2)
    with pytest.raises(ValueError, match="must not be negative"):
        ad.quasirandom.SobolEngine(2).draw(-1)
