"""What one small operation costs: plain, recorded, backward, custom Functions."""

from _compare import Row, Table, hundred, main


def add(lib):
    a, b = lib.ones(4), lib.ones(4)
    return hundred(lambda: a + b)


def add_hundred(lib):
    a, b = lib.ones(100), lib.ones(100)
    return hundred(lambda: a + b)


def by_number(lib):
    a = lib.ones(4)
    return hundred(lambda: a * 2.0)


def view(lib):
    a = lib.ones(4, 3)
    return hundred(lambda: a.t())


def item(lib):
    a = lib.ones(4, 3)
    return hundred(lambda: a[1])


def in_place(lib):
    a, b = lib.ones(4), lib.ones(4)
    return hundred(lambda: a.add_(b))


def recorded(lib):
    a, b = lib.ones(4, requires_grad=True), lib.ones(4)
    return hundred(lambda: a * b)


def chain(lib):
    x = lib.ones(1, requires_grad=True)

    def run():
        y = x
        for _ in range(10):
            y = (y * x) + x
        y.backward()
        x.grad = None

    return run


def backward_nodes(lib):
    x = lib.ones(4, requires_grad=True)
    y = x
    for _ in range(500):
        y = (y * x) + x
    y = y.sum()
    grad = lib.autograd.grad
    return lambda: grad(y, x, retain_graph=True)


def per_row(lib):
    w = lib.ones(20, 5, requires_grad=True)
    rows = (w * 2.0).sin().sum(1).unbind()
    grad = lib.autograd.grad

    def run():
        for y in rows:
            grad(y, w, retain_graph=True)

    return run


def custom_function(lib):
    class Square(lib.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return g * x * 2.0

    x = lib.ones(4, requires_grad=True)
    one = lib.ones(4)

    def run():
        Square.apply(x).backward(one)
        x.grad = None

    return run


if __name__ == "__main__":
    main(
        Table(
            "Overhead",
            [
                Row("a + b, 4 elements, nothing recorded", add, 10, per=100),
                Row("a + b, 100 elements", add_hundred, 10, per=100),
                Row("a * 2.0, 4 elements", by_number, 10, per=100),
                Row("a.t()", view, 10, per=100),
                Row("a[1]", item, 10, per=100),
                Row("a.add_(b)", in_place, 10, per=100),
                Row("a * b, recorded", recorded, 8, per=100),
                Row("20-op chain on 1 element, forward and backward", chain, 9),
                Row("backward over 1,000 nodes, a node", backward_nodes, 10, per=1000),
                Row("20 backwards, one per output row", per_row, 5),
                Row("custom Function, forward and backward", custom_function, 4),
            ],
        )
    )
