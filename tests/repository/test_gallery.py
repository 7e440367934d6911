"""Every example of the gallery runs, draws its picture and finds what it says."""

from __future__ import annotations

import runpy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

GALLERY = Path(__file__).resolve().parents[2] / "examples" / "gallery"
FOUND: dict[str, Callable[[dict[str, Any]], bool]] = {
    "bundle_adjustment": lambda n: n["error"] < 1e-3 and n["distance"] < 0.01,
    "digits_vae": lambda n: n["drawn"] + n["spread"] < 26 and n["same"] > 0.6,
    "gaussian_process": lambda n: abs(n["noise"].item() - n["NOISE"]) < 0.05 and n["gradient"](n["logs"]).norm().item() < 1e-6,
    "image_registration": lambda n: n["error"] < 0.01,
    "kalman_filter": lambda n: abs(n["push"] - n["TRUE_PUSH"]) < 0.4 and abs(n["noise"] - n["TRUE_NOISE"]) < 0.05,
    "neural_ode": lambda n: n["error"] < 0.3 and 0.01 < n["shrinks"] < 0.5,
    "optimal_control": lambda n: n["missed"] < 0.05 and abs(n["speed"]) < 0.2,
    "pendulum_sensitivity": lambda n: n["exponent"] > 1 > 0.2 > n["calm_exponent"] and n["error"] < 1e-4,
    "physics_informed_network": lambda n: n["error"] < 0.05,
    "tiny_gpt": lambda n: n["right"] > 0.95,
}


@pytest.mark.parametrize("name", sorted(FOUND))
def test_example(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MPLBACKEND", "Agg")
    monkeypatch.chdir(tmp_path)
    namespace = runpy.run_path(str(GALLERY / f"{name}.py"), run_name="__main__")
    assert FOUND[name](namespace)
    assert (tmp_path / f"{name}.png").stat().st_size > 5000


def test_each_example_is_tested() -> None:
    assert {file.stem for file in GALLERY.glob("*.py")} == set(FOUND)
