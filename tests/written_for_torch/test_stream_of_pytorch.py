"""With torch meaning adjoint, random numbers of the CPU are PyTorch's: what PyTorch 2.13 gives after the same seeds."""

from __future__ import annotations

from pathlib import Path

import pytest
from test_as_torch import run

PROGRAM = """
import torch
for x in {draws}:
    print(x.double().flatten().numpy().round(4).tolist())
"""

# What follows the seed 5, each draw from the seed anew, and what PyTorch 2.13.0 returned.
DRAWS = {
    "torch.rand(2)": [0.8303, 0.1261],
    "torch.rand(2, dtype=torch.float16)": [0.8301, 0.1261],
    "torch.randn(3)": [-0.4868, -0.6038, -0.5581],
    "torch.randn(16)[:3]": [1.8423, 0.5189, -1.7119],
    "torch.randn(17)[14:]": [0.2492, 1.747, 0.7448],
    "torch.cat([torch.randn(17, dtype=torch.float16)[:1], torch.rand(2, dtype=torch.float16)])": [1.8428, 0.0442, 0.4885],
    "torch.cat([torch.rand(1000)[:1], torch.randn(1000)[-2:], torch.rand(1)])": [0.8303, -1.4387, 1.3227, 0.8149],
    "torch.cat([torch.randn(40, dtype=torch.float64)[-2:], torch.rand(1)])": [0.3132, -0.0871, 0.0183],
    "torch.randint(0, 100, (4,))": [11, 14, 67, 85],
    "torch.randint(0, 2**28 + 7, (2,))": [19093593, 254744705],
    "torch.empty(2, dtype=torch.int32).random_()": [953453411, 236996814],
    "torch.empty(2).random_()": [13929259, 2115776],
    "torch.randperm(7)": [1, 0, 4, 2, 6, 5, 3],
    "torch.empty(5).bernoulli_(0.3)": [0, 1, 0, 0, 1],
    "torch.bernoulli(torch.full((4,), 0.5))": [0, 1, 0, 0],
    "torch.nn.functional.dropout(torch.ones(4), 0.4)": [0.0, 1.6667, 1.6667, 1.6667],
    "torch.empty(4).exponential_()": [1.0273, 0.3008, 0.4476, 0.3785],
    "torch.empty(2).cauchy_(0, 1)": [0.4783, -0.9405],
    "torch.empty(2).geometric_(0.3)": [2, 4],
    "torch.multinomial(torch.tensor([0.2, 0.3, 0.5]), 6, replacement=True)": [2, 1, 1, 1, 1, 2],
    "torch.multinomial(torch.tensor([0.2, 0.3, 0.5]), 2)": [2, 1],
    "torch._standard_gamma(torch.tensor([2.0, 0.5]))": [1.1139, 0.2948],
    "torch.poisson(torch.tensor([3.0, 20.0]))": [3, 17],
    "torch.nn.functional.dropout(torch.ones(3, 4).t(), 0.4)": [
        0.0,
        1.6667,
        0.0,
        1.6667,
        0.0,
        1.6667,
        1.6667,
        1.6667,
        1.6667,
        1.6667,
        0.0,
        1.6667,
    ],
    "torch.distributions.StudentT(4.0).sample((2,))": [-0.6734, -0.5211],
    "torch.distributions.Cauchy(0.0, 1.0).sample((2,))": [0.4783, -0.9405],
    "torch.distributions.VonMises(0.0, 2.0).sample((3,))": [1.016, 0.3011, 0.4394],
    "torch.nn.init.trunc_normal_(torch.empty(4), std=0.5)": [-0.2434, -0.3019, -0.279, 0.3338],
    "torch.nn.init.trunc_normal_(torch.empty(3), a=1.0, b=2.0)": [1.0724, 1.9201, 1.9075],
}


def test_numbers_are_pytorchs(tmp_path: Path) -> None:
    draws = "(torch.manual_seed(5) and f() for f in [" + ", ".join(f"lambda: {draw}" for draw in DRAWS) + "])"
    found = run(PROGRAM.format(draws=draws), tmp_path).splitlines()
    assert len(found) == len(DRAWS)
    for line, (draw, expected) in zip(found, DRAWS.items()):
        assert eval(line) == pytest.approx(expected, abs=1.5e-4), draw


def test_states_are_pytorchs_bytes_and_bring_the_stream_back(tmp_path: Path) -> None:
    run(
        """
import struct, torch
torch.manual_seed(5)
torch.randn(3)
state = torch.get_rng_state()
assert state.shape == (5056,)
assert struct.unpack("<QiiQ", bytes(state.tolist()[:24])) == (5, 617, 1, 8)
drawn = torch.randn(1), torch.rand(700)
torch.set_rng_state(state)
assert all(torch.equal(a, b) for a, b in zip(drawn, (torch.randn(1), torch.rand(700))))
generator = torch.Generator().manual_seed(5)
assert torch.equal(torch.randn(3, generator=generator), torch.manual_seed(5) and torch.randn(3))
try:
    torch.set_rng_state(torch.zeros(5056, dtype=torch.uint8))
except TypeError as error:
    assert "no state of a generator" in str(error)
else:
    raise AssertionError("a state that is none was taken")
x = torch.ones(4, requires_grad=True)
from torch.utils.checkpoint import checkpoint
y = checkpoint(lambda x: torch.nn.functional.dropout(x, 0.5), x, use_reentrant=False)
y.sum().backward()
assert torch.equal(x.grad, y.detach())
""",
        tmp_path,
    )


def test_many_binomial_and_poisson_numbers_have_their_means(tmp_path: Path) -> None:
    run(
        """
import torch
torch.manual_seed(0)
for n, p in [(5, 0.3), (100, 0.4), (100, 0.9)]:
    x = torch.binomial(torch.full((4000,), float(n)), torch.full((4000,), p))
    assert abs(x.mean() - n * p) < 5 * (n * p * (1 - p) / 4000) ** 0.5 and x.min() >= 0 and x.max() <= n
for rate in (0.5, 30.0):
    x = torch.poisson(torch.full((4000,), rate))
    assert abs(x.mean() - rate) < 5 * (rate / 4000) ** 0.5
assert torch.binomial(torch.tensor([3.0, 3.0]), torch.tensor([0.0, 1.0])).tolist() == [0, 3]
assert torch.poisson(torch.zeros(1)).item() == 0
""",
        tmp_path,
    )
