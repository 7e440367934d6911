"""Programs made of many small operations."""

from _compare import Row, Table, main


def mlp_step(lib):
    x = lib.ones(32, 64)
    weights = [lib.full((64, 64), 0.01, requires_grad=True) for _ in range(3)]

    def run():
        h = x
        for w in weights:
            h = (h @ w).tanh()
        (h * h).sum().backward()
        with lib.no_grad():
            for w in weights:
                w -= 0.01 * w.grad
                w.grad = None

    return run


def lstm(lib):
    n = 14
    x = lib.ones(1, n)
    w = lib.full((2 * n, 4 * n), 0.05, requires_grad=True)

    def run():
        h, c = lib.zeros(1, n), lib.zeros(1, n)
        for _ in range(50):
            i, f, g, o = (lib.cat([x, h], 1) @ w).chunk(4, 1)
            c = f.sigmoid() * c + i.sigmoid() * g.tanh()
            h = o.sigmoid() * c.tanh()
        h.sum().backward()
        w.grad = None

    return run


def logistic_map(lib):
    r = lib.tensor(3.7, requires_grad=True)

    def run():
        x = lib.tensor(0.4)
        for _ in range(100):
            x = r * x * (1 - x)
        x.backward()
        r.grad = None

    return run


def assignments(lib):
    x = lib.ones(20, requires_grad=True)

    def run():
        y = lib.zeros(20)
        for i in range(20):
            y[i] = x[i] * i
        y.sum().backward()
        x.grad = None

    return run


if __name__ == "__main__":
    rows = [
        Row("training step of an MLP, 32 x 64, 3 layers", mlp_step, 4),
        Row("50 LSTM steps of 14, forward and backward", lstm, 4),
        Row("100 logistic-map steps, forward and backward", logistic_map, 4),
        Row("20 indexed assignments, forward and backward", assignments, 4),
    ]
    main(Table("Programs of small operations", rows))
