"""Programs written for PyTorch run unchanged with `python -m adjoint.as_torch`, and learn."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAMS = Path(__file__).resolve().parents[2] / "examples" / "ported"
FALLS = {  # to what part of the first loss the last one falls at least
    "char_rnn": 0.1,
    "checkpoints": 0.3,
    "custom_function": 0.05,
    "digits_cnn": 0.2,
    "dqn": 0.1,
    "forward_forward": 0.7,
    "gan": 0.6,
    "maml": 0.6,
    "mixed_precision": 0.6,
    "per_sample_gradients": 0.1,
    "reinforce": 0.3,
    "siamese": 0.1,
    "style_transfer": 0.3,
    "super_resolution": 0.1,
    "time_sequence": 0.02,
    "transformer_classifier": 0.6,
    "translation": 0.3,
    "vae": 0.5,
    "word_language_model": 0.7,
}


@pytest.mark.parametrize("name", sorted(FALLS))
def test_program_learns(name: str, tmp_path: Path) -> None:
    command = [sys.executable, "-W", "error", "-m", "adjoint.as_torch", str(PROGRAMS / f"{name}.py")]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False)
    assert done.returncode == 0, done.stderr
    found = re.search(r"^loss: first (\S+), last (\S+)$", done.stdout, re.MULTILINE)
    assert found, done.stdout
    first, last = map(float, found.groups())
    assert 0 <= last < FALLS[name] * first


def test_each_program_is_tested() -> None:
    assert {file.stem for file in PROGRAMS.glob("*.py")} == set(FALLS)


def test_programs_are_short_and_know_only_pytorch() -> None:
    for file in PROGRAMS.glob("*.py"):
        text = file.read_text()
        assert len(text.splitlines()) <= 90 and "adjoint" not in text, file.name
