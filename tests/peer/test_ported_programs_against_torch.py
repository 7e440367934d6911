"""The programs of examples/ported print the same losses in PyTorch, once both libraries start from the same numbers.

The random numbers of the libraries differ, so NumPy's stand in for those that a program draws and for the parameters that an optimizer gets.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch")

PROGRAMS = Path(__file__).resolve().parents[2] / "examples" / "ported"
STEPS = {  # as many as rounding lets them stay together
    "char_rnn": 10,
    "custom_function": 100,
    "digits_cnn": 5,
    "dqn": 50,
    "forward_forward": 20,
    "gan": 10,
    "maml": 10,
    "mixed_precision": 10,
    "siamese": 5,
    "style_transfer": 5,  # LBFGS's next step divides by rounding: instruction sets part there as far (0.005327, 0.005369) as PyTorch (0.005331)
    "super_resolution": 20,
    "time_sequence": 1,
    "transformer_classifier": 10,
    "translation": 10,
    "vae": 20,
    "word_language_model": 20,
}
SAME_NUMBERS = """
import runpy, sys
{start}
import numpy as np
import torch
numbers = np.random.default_rng(0)
def size(shape):
    return shape[0] if shape and not isinstance(shape[0], int) else shape
torch.rand = lambda *shape, **_: torch.tensor(numbers.random(size(shape)), dtype=torch.float32)
torch.randn = lambda *shape, **_: torch.tensor(numbers.standard_normal(size(shape)), dtype=torch.float32)
torch.randn_like = lambda x: torch.randn(*x.shape)
torch.randint = lambda low, high, shape: torch.tensor(numbers.integers(low, high, tuple(shape)))
def fill(p):
    if p.dim() > 1:
        return numbers.uniform(-1, 1, tuple(p.shape)) / p[0].numel() ** 0.5
    constant = p.numel() > 1 and bool((p == p[0]).all())  # the ones and zeros of norms
    return p.tolist() if constant else numbers.uniform(-0.1, 0.1, tuple(p.shape))
made = torch.optim.Optimizer.__init__
def init(self, params, defaults):
    params = list(params)
    for group in params:
        if isinstance(group, dict):
            group["params"] = list(group["params"])
        for p in group["params"] if isinstance(group, dict) else [group]:
            if isinstance(p, torch.nn.Parameter):
                p.data.copy_(torch.tensor(fill(p)))
    made(self, params, defaults)
torch.optim.Optimizer.__init__ = init
sys.argv = [sys.argv[1], "--steps", sys.argv[2]]
runpy.run_path(sys.argv[0], run_name="__main__")
"""


def losses(start: str, name: str) -> list[float]:
    """The first and the last loss that the program prints."""
    command = [sys.executable, "-c", SAME_NUMBERS.format(start=start), str(PROGRAMS / f"{name}.py"), str(STEPS[name])]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found = re.search(r"^loss: first (\S+), last (\S+)$", done.stdout, re.MULTILINE)
    assert found, done.stdout
    return [float(value) for value in found.groups()]


@pytest.mark.parametrize("name", sorted(STEPS))
def test_losses_are_pytorchs(name: str) -> None:
    assert losses("import adjoint.as_torch", name) == pytest.approx(losses("", name), rel=1e-3, abs=1e-5)
