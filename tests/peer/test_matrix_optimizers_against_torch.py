"""Adafactor and Muon beside PyTorch's: parameters and states after several steps."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import adjoint as ad

CASES = [
    ("Adafactor", {}),
    ("Adafactor", {"lr": 0.1, "weight_decay": 0.1, "d": 1.5, "maximize": True}),
    ("Adafactor", {"eps": (1e-3, 1e-2), "beta2_decay": -0.5}),
    ("Muon", {}),
    ("Muon", {"lr": 0.1, "nesterov": False, "adjust_lr_fn": "match_rms_adamw"}),
    ("Muon", {"ns_steps": 3, "weight_decay": 0.0}),
]


@pytest.mark.parametrize(("name", "options"), CASES, ids=str)
def test_steps(name, options):
    rng = np.random.default_rng(0)
    shapes = [(4, 6), (6, 3)] if name == "Muon" else [(4, 6), (5,), (2, 3, 4), ()]
    values = [rng.normal(size=s).astype(np.float32) for s in shapes]
    ends, states, groups = [], [], []
    for library in (torch, ad):
        parameters = [library.nn.Parameter(library.tensor(v)) for v in values]
        optimizer = getattr(library.optim, name)(parameters, **options)
        gradients = np.random.default_rng(1)
        for _ in range(5):
            for p in parameters:
                p.grad = library.tensor(gradients.normal(size=tuple(p.shape)).astype(np.float32))
            optimizer.step()
        ends.append([p.detach().numpy() for p in parameters])
        states.append({k: sorted(v) for k, v in optimizer.state_dict()["state"].items()})
        groups.append(optimizer.state_dict()["param_groups"])
    assert states[0] == states[1] and groups[0] == groups[1]
    rough = {"rtol": 0.1, "atol": 5e-3} if name == "Muon" else {"rtol": 2e-5, "atol": 1e-6}  # Muon's steps are in bfloat16
    for theirs, mine in zip(*ends):
        np.testing.assert_allclose(mine, theirs, **rough)
