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


def skipping(steps):
    """Every step uses the state of twenty steps ago too: long edges side by side."""
    w, states = ad.randn(8, 8).requires_grad_(), [ad.zeros(2, 8)]
    for i in range(steps):
        states.append((states[-1] @ w + states[max(0, i - 20)]).tanh().sin().cos())
    return states[-1].sum()


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
        "\n### Looking at a graph, seconds of processor time\n\n| program | nodes | picture | folded by line | list | ledger |\n|---|---|---|---|---|---|"
    )
    for program, steps in ((recurrent, 20), (recurrent, 200), (recurrent, 2000), (skipping, 2000)):
        loss = program(steps)
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
        print(f"| {program.__name__} | {nodes} | {picture:.3f}{verdict} | {' | '.join(f'{s:.3f}' for s in others)} |")


if __name__ == "__main__":
    main()
