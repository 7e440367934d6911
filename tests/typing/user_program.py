"""What a user writes, for `mypy --strict`: `./run types`."""

from collections.abc import Iterator
from typing import Any

import adjoint as ad
import adjoint.nn.functional as F
from adjoint import Tensor, nn
from adjoint.autograd import Function
from adjoint.optim.lr_scheduler import StepLR
from adjoint.utils.data import DataLoader, Dataset, TensorDataset


class Cube(Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    def backward(ctx: Any, grad_output: Tensor) -> Tensor:
        x: Tensor = ctx.saved_tensors[0]
        return 3 * x**2 * grad_output


class Net(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(2, width), nn.ReLU(), nn.Dropout(0.1), nn.Linear(width, 3))
        self.scale = nn.Parameter(ad.ones(3))

    def forward(self, x: Tensor) -> Tensor:
        hidden: Tensor = self.layers(x)
        return hidden * self.scale


def batches(data: Dataset[Any]) -> Iterator[tuple[Tensor, Tensor]]:
    yield from DataLoader(data, batch_size=8, shuffle=True)


def train(steps: int) -> float:
    ad.manual_seed(0)
    model = Net(16)
    optimizer = ad.optim.AdamW(model.parameters(), lr=1e-2)
    schedule = StepLR(optimizer, 10)
    criterion = nn.CrossEntropyLoss(label_smoothing=0.1)
    loss = ad.zeros(())
    for _ in range(steps):
        for x, y in batches(TensorDataset(ad.randn(32, 2), ad.randint(0, 3, (32,)))):
            optimizer.zero_grad()
            loss = criterion(model(x), y) + 0.1 * F.mse_loss(model(x), ad.zeros(len(x), 3))
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
        schedule.step()
    return float(loss)


def derivatives() -> Tensor:
    x = ad.linspace(0, 1, 4, dtype=ad.float64, requires_grad=True)
    y = Cube.apply(x).sum()
    (g,) = ad.autograd.grad(y, x, create_graph=True)
    hessian = ad.func.hessian(lambda t: (t**2).sum())(x)
    with ad.no_grad():
        total: Tensor = g + hessian.diagonal()
    index = total.argmax()
    values, order = total.sort()
    solved = ad.linalg.solve(ad.eye(4, dtype=ad.float64), values)
    return solved[order] + index


if __name__ == "__main__":
    print(train(1), derivatives())
