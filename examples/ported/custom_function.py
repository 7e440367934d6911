"""A polynomial with a function of our own in it, its derivative given by hand, is fitted to a sine; gradcheck confirms it."""

import argparse
import math

import torch
from torch.autograd import Function, gradcheck
from torch.autograd.function import once_differentiable


class LegendrePolynomial3(Function):
    @staticmethod
    def forward(ctx, input):
        ctx.save_for_backward(input)
        return 0.5 * (5 * input**3 - 3 * input)

    @staticmethod
    def backward(ctx, grad_output):
        (input,) = ctx.saved_tensors
        return grad_output * 1.5 * (5 * input**2 - 1)


class StraightThroughRound(Function):
    """Rounds to a grid; the gradient passes as if it had not."""

    @staticmethod
    def forward(ctx, input, step):
        ctx.mark_non_differentiable(count := torch.tensor(input.numel()))
        return torch.round(input / step) * step, count

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output, _):
        assert ctx.needs_input_grad == (True, False)
        return grad_output, None


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=1500)
    args = parser.parse_args()
    sample = torch.linspace(-1, 1, 5, dtype=torch.double, requires_grad=True)
    print("gradcheck:", gradcheck(LegendrePolynomial3.apply, (sample,)))
    x = torch.linspace(-math.pi, math.pi, 2000)
    y = torch.sin(x)
    a = torch.full((), 0.0, requires_grad=True)
    b = torch.full((), -1.0, requires_grad=True)
    c = torch.full((), 0.0, requires_grad=True)
    d = torch.full((), 0.3, requires_grad=True)
    learning_rate, losses = 5e-6, []
    for _ in range(args.steps):
        y_pred = a + b * LegendrePolynomial3.apply(c + d * x)
        y_pred, _ = StraightThroughRound.apply(y_pred, 1e-3)
        loss = (y_pred - y).pow(2).sum()
        losses.append(loss.item())
        loss.backward()
        with torch.no_grad():
            for p in (a, b, c, d):
                p -= learning_rate * p.grad
                p.grad = None
    print(f"y = {a.item():.4f} + {b.item():.4f} * P3({c.item():.4f} + {d.item():.4f} x)")
    print(f"loss: first {losses[0]:.6f}, last {losses[-1]:.6f}")


if __name__ == "__main__":
    main()
