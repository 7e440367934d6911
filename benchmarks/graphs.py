"""What it takes to look at a graph: capturing, drawing, a ledger, by the number of nodes."""

import time

from _compare import ad

BUDGET = 1.0  # seconds, for a picture of 10,000 nodes


def recurrent(steps):
    w, u, b = (ad.randn(*s).requires_grad_() for s in ((8, 8), (4, 8), (8,)))
    h, x = ad.zeros(2, 8), ad.ones(2, 4)
    for _ in range(steps):
        h = (h @ w + x @ u + b).tanh()
    return h.sum()


def seconds(f):
    found = []
    for _ in range(3):
        start = time.process_time()
        f()
        found.append(time.process_time() - start)
    return min(found)


def main():
    graph = ad.autograd.graph
    print(
        "\n### Looking at a graph, seconds of processor time\n\n| nodes | picture | folded by line | list | ledger |\n|---|---|---|---|---|"
    )
    for steps in (20, 200, 2000):
        loss = recurrent(steps)
        nodes = len(graph.show(loss, fold=None).graph.nodes)
        picture = seconds(lambda loss=loss: graph.to_svg(loss, fold=None))
        others = [
            seconds(f)
            for f in (
                lambda loss=loss: graph.to_svg(loss, fold="line"),
                lambda loss=loss: graph.to_text(loss, fold=None),
                lambda loss=loss: graph.ledger(loss),
            )
        ]
        verdict = "" if nodes < 10_000 else " kept" if picture <= BUDGET else " **over**"
        print(f"| {nodes} | {picture:.3f}{verdict} | {' | '.join(f'{s:.3f}' for s in others)} |")


if __name__ == "__main__":
    main()
