"""Forward mode, vmap, and derivatives of functions: small arguments, so the transformations themselves are measured."""

from _compare import Row, Table, main


def cubes(t):
    return (t * t * t).sum()


def waves(t):
    return (t * t).sin()


def forward_mode(lib):
    x, t = lib.ones(4), lib.ones(4)
    fwd = lib.autograd.forward_ad

    def run():
        with fwd.dual_level():
            fwd.unpack_dual(waves(fwd.make_dual(x, t)))

    return run


def vmap(lib):
    x, f = lib.ones(8, 4), lib.func.vmap(lambda t: waves(t).sum())
    return lambda: f(x)


def gradients_of_samples(lib):
    x, f = lib.ones(8, 4), lib.func.vmap(lib.func.grad(cubes))
    return lambda: f(x)


def of_two(name):
    def make(lib):
        x, v = lib.ones(4), lib.ones(4)
        f = getattr(lib.autograd.functional, name)
        return lambda: f(cubes, x, v)

    return make


def jvp(lib):
    x, v = lib.ones(4), lib.ones(4)
    return lambda: lib.func.jvp(waves, (x,), (v,))


def vjp(lib):
    x, v = lib.ones(4), lib.ones(4)
    return lambda: lib.func.vjp(waves, x)[1](v)


def of_one(where, name, f):
    def make(lib):
        x, g = lib.ones(4), getattr(getattr(lib, where) if where == "func" else lib.autograd.functional, name)
        return (lambda: g(f)(x)) if where == "func" else (lambda: g(f, x))

    return make


if __name__ == "__main__":
    rows = [
        Row("forward mode: dual level, sin(x * x)", forward_mode, 4),
        Row("func.jvp", jvp, 4),
        Row("func.vjp", vjp, 4),
        Row("func.vmap", vmap, 4),
        Row("func.vmap(func.grad)", gradients_of_samples, 4),
        Row("functional.hvp", of_two("hvp"), 4),
        Row("functional.vhp", of_two("vhp"), 4),
        Row("functional.jacobian", of_one("functional", "jacobian", waves), 4),
        Row("functional.hessian", of_one("functional", "hessian", cubes), 4),
        Row("func.jacrev", of_one("func", "jacrev", waves), 4),
        Row("func.jacfwd", of_one("func", "jacfwd", waves), 4),
        Row("func.hessian", of_one("func", "hessian", cubes), 4),
    ]
    main(Table("Transformations of functions of 4 elements", rows))
