"""The rows of kernels.py: large arrays, one operation each."""

from collections.abc import Iterator
from operator import methodcaller

from _arrays import BIG, array, positions, row
from _compare import Row

X = array(*BIG)
IMAGES = array(32, 64, 56, 56)


def named(name: str, *rest: object) -> object:
    """A call of the library's function of this name."""
    return lambda lib, *arguments: getattr(lib, name)(*arguments, *rest)


def functional(name: str, *rest: object) -> object:
    """A call of the function of this name in nn.functional."""
    return lambda lib, *arguments: getattr(lib.nn.functional, name)(*arguments, *rest)


def elementwise() -> Iterator[Row]:
    for name in "neg abs relu exp log expm1 log1p sin cos tanh sigmoid erf sqrt".split():
        for dtype in ("float32", "float64"):
            yield row(f"{name} {dtype}", named(name), array(*BIG, dtype=dtype))
    for name in "add mul div maximum lt pow atan2".split():
        yield row(f"{name} float32", named(name), X, X)
    for dtype in ("float16", "bfloat16", "complex64"):
        yield row(f"add {dtype}", named("add"), *2 * [array(*BIG, dtype=dtype)])
    yield row("add column", named("add"), X, array(2048, 1))
    yield row("add transposed", lambda lib, x: x.t() + x, X)
    yield row("transposed copy", lambda lib, x: x.t().contiguous(), X)
    yield row("to float64", lambda lib, x: x.to(lib.float64), X)
    yield row("clamp", named("clamp", 0.5, 2.0), X)
    yield row("gelu", functional("gelu"), X)
    yield row("where", lambda lib, x: lib.where(x > 1, x, x), X)


def reductions() -> Iterator[Row]:
    for name in "sum mean amax var logsumexp".split():
        for dims in ((0, 1), (1,), (0,)):
            yield row(f"{name} {dims}", named(name, dims), X)
    for dtype in ("int64", "complex64", "float16"):
        yield row(f"sum {dtype}", named("sum"), array(*BIG, dtype=dtype))
        yield row(f"sum 0 {dtype}", named("sum", 0), array(*BIG, dtype=dtype))
    yield row("amax int64", named("amax", 1), array(*BIG, dtype="int64"))
    for dim in (1, 0):
        yield row(f"argmax {dim}", named("argmax", dim), X)
        yield row(f"max {dim}", named("max", dim), X)
    yield row("argmin flat", named("argmin"), X)
    yield row("any bool", named("any"), lambda lib: X(lib) > 5)
    yield row("all bool 1", named("all", 1), lambda lib: X(lib) < 5)


def norms() -> Iterator[Row]:
    for dim in (1, 0):
        yield row(f"softmax {dim}", named("softmax", dim), X)
        yield row(f"log_softmax {dim}", named("log_softmax", dim), X)
    for p in (2, 1, float("inf")):
        yield row(f"norm {p}", named("norm", p), X)
        yield row(f"norm {p} 1", named("norm", p, 1), X)
    w = array(2048)
    yield row("layer_norm", lambda lib, x, w: lib.nn.functional.layer_norm(x, (2048,), w, w), X, w)
    for title, x, n in (("batch_norm", IMAGES, 64), ("batch_norm 2d", array(4096, 512), 512)):
        yield row(title, lambda lib, x, w: lib.nn.functional.batch_norm(x, None, None, w, w, True), x, array(n))
    for name in ("cross_entropy", "nll_loss"):
        yield row(name, functional(name), array(2048, 1000), positions(2048, below=1000))


def scans_and_sorts() -> Iterator[Row]:
    for dim in (1, 0):
        yield row(f"cumsum {dim}", named("cumsum", dim), X)
        yield row(f"cumprod {dim}", named("cumprod", dim), X)
    yield row("cumsum flat", named("cumsum", 0), array(1 << 22))
    for shape in ((1 << 22,), (512, 2048), (65536, 16)):
        yield row(f"sort {' x '.join(map(str, shape))}", named("sort"), array(*shape))
    yield row("topk 100 of 1 Mi", named("topk", 100), array(1 << 20))
    yield row("topk 10 of 2048", named("topk", 10), X)


def indexing() -> Iterator[Row]:
    lines, everywhere = positions(2048, below=2048), positions(*BIG, below=2048)
    for dim in (1, 0):
        yield row(f"index_select {dim}", lambda lib, x, i, dim=dim: lib.index_select(x, dim, i), X, lines)
        yield row(f"gather {dim}", lambda lib, x, i, dim=dim: lib.gather(x, dim, i), X, everywhere)
        yield row(f"scatter_add {dim}", lambda lib, x, i, dim=dim: lib.scatter_add(x, dim, i, x), X, everywhere)
        yield row(f"scatter {dim}", lambda lib, x, i, dim=dim: lib.scatter(x, dim, i, x), X, everywhere)
        yield row(f"index_add {dim}", lambda lib, x, i, dim=dim: lib.index_add(x, dim, i, x), X, lines)
    many = positions(1 << 20, below=1 << 20)
    yield row("index_add 1 Mi", lambda lib, x, i: lib.index_add(x, 0, i, x), array(1 << 20), many)
    table, words = array(10000, 256), positions(64, 128, below=10000)
    yield row("embedding", lambda lib, x, i: lib.nn.functional.embedding(i, x), table, words)
    yield row(
        "embedding gradient",
        lambda lib, x, i, v: lib.autograd.grad(lib.nn.functional.embedding(i, x), x, v),
        lambda lib: methodcaller("requires_grad_")(table(lib)),
        words,
        array(64, 128, 256),
    )


def pooling() -> Iterator[Row]:
    for name, *sizes in (("max_pool2d", 2), ("max_pool2d", 3, 2, 1), ("avg_pool2d", 2), ("avg_pool2d", 3, 1, 1)):
        yield row(f"{name} {', '.join(map(str, sizes))}", functional(name, *sizes), IMAGES)
