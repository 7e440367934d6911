"""Make the pictures of docs/graphs.md anew: python tools/pictures.py [--check]"""

import sys
from html import escape
from pathlib import Path

import adjoint as ad
from adjoint.autograd import graph

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "docs" / "images"


class Layer:
    def __init__(self, n_in: int, n_out: int) -> None:
        self.weight = (ad.randn(n_in, n_out) / n_in**0.5).requires_grad_()
        self.bias = ad.zeros(n_out, requires_grad=True)

    def __call__(self, x: ad.Tensor) -> ad.Tensor:
        return x @ self.weight + self.bias


class Residual:
    def __init__(self) -> None:
        self.first, self.second = Layer(64, 64), Layer(64, 10)

    def __call__(self, x: ad.Tensor) -> ad.Tensor:
        h = self.first(x)
        h = h + h.tanh()
        h[:, 0].mul_(0.5)
        return self.second(h)


def small_graph() -> str:
    model, x = Residual(), ad.randn(128, 64)
    y = model(x)
    y.register_hook(lambda grad: None)
    loss = (y * y).mean()
    return graph.to_svg(loss)


def folded_graph() -> str:
    w, u = ad.randn(32, 32).requires_grad_(), ad.randn(8, 32).requires_grad_()
    h, losses = ad.zeros(16, 32), []
    for _ in range(50):
        h = (h @ w + ad.ones(16, 8) @ u).sigmoid()
        losses.append((h - 0.5).square().mean())
    loss = sum(losses)
    return graph.to_svg(loss, fold="line")


def ledger() -> str:
    model, x = Residual(), ad.randn(128, 64)
    loss = model(x).square().mean()
    return terminal("print(graph.ledger(loss))", repr(graph.ledger(loss)))


def leak() -> str:
    model, x, history = Layer(64, 64), ad.randn(128, 64), []

    def step() -> None:  # of a validation
        loss = model(x).tanh().square().mean()
        history.append(loss)  # each keeps its graph: should be loss.item()

    step()
    before = graph.ledger()
    step()
    return terminal("print(graph.ledger() - before)", repr(graph.ledger() - before))


def hunt() -> str:
    def distance(a: ad.Tensor, b: ad.Tensor) -> ad.Tensor:
        return (a - b).square().sum(1).sqrt()

    points = ad.tensor([[0.0, 1.0], [2.0, 2.0]], requires_grad=True)
    try:
        with ad.autograd.detect_nan():
            (distance(points, ad.tensor([[1.0, 1.0], [2.0, 2.0]])) * 0).sum().backward()
    except ad.autograd.NonFiniteError as error:
        text = f"NonFiniteError: {error}".replace(str(Path(__file__).parent) + "/", "")
    return terminal("loss.backward()", text)


def terminal(command: str, text: str) -> str:
    """Text as a terminal shows it."""
    lines = [f">>> {command}", *text.splitlines()]
    width, height = 24 + max(map(len, lines)) * 7.25, 28 + 17 * len(lines)
    rows = "".join(
        f'<text x="14" y="{27 + 17 * i}" xml:space="preserve"{" fill=" + chr(34) + "#8fd0ff" + chr(34) if i == 0 else ""}>{escape(line)}</text>'
        for i, line in enumerate(lines)
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height}" viewBox="0 0 {width:.0f} {height}">'
        "<style>text{font-family:'DejaVu Sans Mono',Menlo,Consolas,monospace;font-size:12px;white-space:pre}</style>"
        f'<rect width="100%" height="100%" rx="8" fill="#1e2530"/><g fill="#dde3ec">{rows}</g></svg>'
    )


def main() -> int:
    stale = []
    for picture in (small_graph, folded_graph, ledger, leak, hunt):
        path, text = FOLDER / f"{picture.__name__}.svg", picture().replace(f"{ROOT}/", "") + "\n"  # the same in every clone
        if not path.exists() or path.read_text() != text:
            stale.append(str(path))
            if "--check" not in sys.argv:
                path.write_text(text)
    print("\n".join(stale) or "the pictures are up to date")
    return 1 if stale and "--check" in sys.argv else 0


if __name__ == "__main__":
    sys.exit(main())
