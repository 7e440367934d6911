"""Actions that compute, view and write."""

from __future__ import annotations

import random
from typing import Any

import adjoint as ad

from .pool import SHAPES, State, action

UNARY = "sin exp neg abs sqrt tanh sigmoid square reciprocal relu log1p floor sign conj clone real angle sgn erf isnan logical_not contiguous".split()
BINARY = "add sub mul div pow maximum atan2 fmod remainder eq lt logical_and xlogy hypot where floor_divide copysign matmul dot outer kron".split()
REDUCE = "sum mean prod amax amin std var norm logsumexp any all argmax cumsum cumprod cummax softmax sort median unique topk mode nansum count_nonzero".split()
IN_PLACE = "add_ mul_ sub_ div_ pow_ copy_ fill_ zero_ sin_ exp_ neg_ relu_ clamp_ square_ cumsum_ tril_ masked_fill_ index_fill_ index_add_ scatter_ random_ normal_ bernoulli_ t_ transpose_ squeeze_ unsqueeze_ logical_not_ lerp_ addcmul_ resize_as_ fill_diagonal_ put_ index_put_ sigmoid_".split()
VIEWS = "t detach view reshape transpose permute select narrow unsqueeze squeeze flatten unflatten expand diagonal unfold split chunk unbind movedim as_strided real imag conj mT swapaxes tensor_split expand_as view_as ravel adjoint".split()
FUNCTIONS = "relu softmax log_softmax gelu layer_norm dropout linear conv1d conv2d max_pool1d max_pool2d avg_pool1d avg_pool2d pad interpolate embedding embedding_bag cross_entropy nll_loss mse_loss l1_loss kl_div binary_cross_entropy ctc_loss batch_norm group_norm instance_norm glu prelu normalize cosine_similarity one_hot unfold fold max_unpool1d max_unpool2d grid_sample affine_grid pixel_shuffle scaled_dot_product_attention bilinear adaptive_avg_pool1d adaptive_max_pool2d fractional_max_pool2d lp_pool1d rrelu logsigmoid multi_margin_loss gumbel_softmax conv_transpose1d conv_transpose2d cosine_embedding_loss triplet_margin_loss".split()
# Names that wait, write files, look for hardware, or change what is the process's and not a tensor's.
LEFT_OUT = {"from_file", "save", "load", "share_memory_", "cuda", "pin_memory", "fork", "wait", "compile", "seed", "manual_seed", "record_stream",
            "to", "to_device", "set_default_device", "set_default_dtype", "set_default_tensor_type", "set_num_threads", "set_num_interop_threads", "set_printoptions",
            "set_flush_denormal", "set_warn_always", "use_deterministic_algorithms", "set_deterministic_debug_mode", "set_float32_matmul_precision", "lobpcg"}  # fmt: skip


def names_of(owner: Any) -> list[str]:
    """Functions of a namespace or methods of a type, in an order that does not change."""
    names = (n for n in sorted(dir(owner)) if not n.startswith("_") and n not in LEFT_OUT)
    return [n for n in names if not isinstance(getattr(owner, n, None), type) and callable(getattr(owner, n, None))]


METHODS, OF_AD = names_of(ad.Tensor), [n for n in names_of(ad) if n[0].islower() and "window" not in n]
ROOMS = {room: names_of(room) for room in (ad.linalg, ad.fft, ad.special)}


def arguments(s: State, r: random.Random, t: Any, most: int = 3) -> list[Any]:
    return [s.argument(r, t) for _ in range(r.choice((0, 0, *range(most + 1))))]


@action(10)
def new(s: State, r: random.Random) -> Any:
    return s.fresh(r)


@action(14)
def unary(s: State, r: random.Random) -> Any:
    return getattr(s.floating(r), r.choice(UNARY))()


@action(24)
def binary(s: State, r: random.Random) -> Any:
    t = s.pick(r)
    return getattr(t, r.choice(BINARY))(s.partner(r, t))


@action(12)
def reduce(s: State, r: random.Random) -> Any:
    t = s.pick(r)
    return getattr(t, r.choice(REDUCE))(*([s.dim(r, t)] if r.random() < 0.7 else []))


@action(30)
def view(s: State, r: random.Random) -> Any:
    t, name = s.pick(r), r.choice(VIEWS)
    if name in ("real", "imag", "mT"):
        return r.choice((lambda: getattr(t, name), lambda: ad.view_as_real(t), lambda: ad.view_as_complex(t)))()
    if name == "as_strided":
        return t.as_strided(
            r.choice(SHAPES),
            *(tuple(r.randint(0, 3) for _ in range(r.randint(0, 3))) for _ in range(1)),
            r.choice((0, 0, 1, 5)),
        )
    likely = {"view": [-1], "reshape": [-1], "expand": [2, *t.shape], "split": [1, s.dim(r, t)], "chunk": [2], "unfold": [s.dim(r, t), 2, 1],
              "select": [s.dim(r, t), 0], "narrow": [s.dim(r, t), 0, 1], "transpose": [s.dim(r, t), s.dim(r, t)], "swapaxes": [0, -1], "movedim": [0, -1],
              "unsqueeze": [s.dim(r, t)], "unflatten": [s.dim(r, t), (1, -1)], "tensor_split": [2], "permute": r.sample(range(t.dim()), t.dim()),
              "expand_as": [s.pick(r)], "view_as": [s.partner(r, t)]}.get(name, [])  # fmt: skip
    if name == "view" and r.random() < 0.3:
        likely = [r.choice((ad.int32, ad.float64, ad.uint8, ad.complex64))]
    return getattr(t, name)(*likely)


@action(14)
def getitem(s: State, r: random.Random) -> Any:
    t = s.pick(r)
    return t[s.index(r, t)]


@action(14)
def setitem(s: State, r: random.Random) -> None:
    t = s.pick(r)
    t[s.index(r, t)] = s.partner(r, t) if r.random() < 0.6 else 1.5


@action(30)
def in_place(s: State, r: random.Random) -> Any:
    t, name = s.pick(r), r.choice(IN_PLACE)
    plain = {"clamp_": [-1, 1], "cumsum_": [0], "masked_fill_": [t > 0 if not t.is_complex() else None, 2], "t_": [], "unsqueeze_": [0], "transpose_": [0, -1], "fill_": [2],
             "index_fill_": [0, ad.tensor([0]), 3], "index_add_": [0, ad.tensor([0, 0]), s.pick(r)], "scatter_": [0, s.pick(r), 1.0],
             "lerp_": [s.partner(r, t), 0.5], "addcmul_": [s.partner(r, t), s.partner(r, t)], "put_": [ad.tensor([0, -1]), s.pick(r)],
             "index_put_": [(ad.tensor([0, -1]),), s.partner(r, t)], "fill_diagonal_": [1], "resize_as_": [s.pick(r)]}  # fmt: skip
    alone = "zero_ sin_ exp_ neg_ relu_ square_ tril_ random_ normal_ bernoulli_ squeeze_ logical_not_ sigmoid_".split()
    return getattr(t, name)(*([] if name in alone else plain.get(name, [s.partner(r, t)])))


@action(6)
def operator_in_place(s: State, r: random.Random) -> Any:
    t = s.pick(r)
    u = s.partner(r, t)
    if r.random() < 0.5:
        t += u
    else:
        t *= u
    return t


@action(10)
def out(s: State, r: random.Random) -> Any:
    t = s.pick(r)
    name = r.choice(
        ("add", "mul", "sin", "sum", "cat", "matmul", "sort", "topk", "max", "where", "index_select", "stack", "svd", "cumsum")
    )
    given = {"sin": [t], "sum": [t, s.dim(r, t)], "cat": [[t, s.pick(r)]], "stack": [[t, t]], "sort": [t], "topk": [t, 1], "max": [t, 0], "where": [t > 0, t, t],
             "index_select": [t, 0, ad.tensor([0])], "svd": [t], "cumsum": [t, 0]}.get(name, [t, s.partner(r, t)])  # fmt: skip
    into = (s.pick(r), s.pick(r)) if name in ("sort", "topk", "max") else s.pick(r)
    return getattr(ad, name)(*given, out=(*into, s.pick(r)) if name == "svd" and isinstance(into, tuple) else into)


@action(8)
def joined(s: State, r: random.Random) -> Any:
    some = [s.pick(r) for _ in range(r.randint(1, 3))]
    return r.choice((ad.cat, ad.stack, ad.meshgrid, ad.block_diag, ad.broadcast_tensors, ad.cartesian_prod, ad.einsum))(some)


@action(6)
def products(s: State, r: random.Random) -> Any:
    a, b = s.floating(r), s.floating(r)
    rule = r.choice(("ij,jk->ik", "ij,kj", "i,j->ij", "ii->i", "...i,...i->...", "ijk->kji", "ij->", "bij,bjk->bik"))
    return ad.einsum(rule, *((a, b) if "," in rule else (a,)))


@action(25)
def any_method(s: State, r: random.Random) -> Any:
    t = s.pick(r)
    return getattr(t, r.choice(METHODS))(*arguments(s, r, t))


@action(18)
def any_function(s: State, r: random.Random) -> Any:
    t = s.pick(r)
    return getattr(ad, r.choice(OF_AD))(t, *arguments(s, r, t))


@action(8)
def any_of_a_room(s: State, r: random.Random) -> Any:
    t, room = s.floating(r), r.choice(list(ROOMS))
    return getattr(room, r.choice(ROOMS[room]))(t, *arguments(s, r, t, 2))


@action(10)
def functional(s: State, r: random.Random) -> Any:
    t = s.floating(r)
    t = t.unsqueeze(0) if r.random() < 0.4 else t
    return getattr(ad.nn.functional, r.choice(FUNCTIONS))(t, *arguments(s, r, t))


@action(8)
def indexed(s: State, r: random.Random) -> Any:
    t, name = (
        s.pick(r),
        r.choice(
            (
                "gather",
                "take",
                "index_select",
                "scatter",
                "scatter_add",
                "index_add",
                "take_along_dim",
                "embedding",
                "masked_select",
            )
        ),
    )
    i = s.pick(r) if r.random() < 0.5 else ad.tensor([[r.randint(-1, 2)] * 2], dtype=ad.int64)
    if name == "embedding":
        return ad.nn.functional.embedding(i, t)
    given = {
        "take": [i],
        "masked_select": [i],
        "take_along_dim": [i, 0],
        "gather": [0, i],
        "index_select": [0, i.reshape(-1)],
    }.get(name, [0, i, s.pick(r)])
    return getattr(t, name)(*given)


@action(5)
def number(s: State, r: random.Random) -> Any:
    t = s.pick(r)
    return r.choice(
        (
            lambda: t.tolist(),
            lambda: repr(t),
            lambda: t.item(),
            lambda: bool(t),
            lambda: list(t),
            lambda: [0, 1, 2][t],
            lambda: f"{t:.2f}",
            lambda: hash(t),
            lambda: t in [t],
        )
    )()


@action(4)
def randomness(s: State, r: random.Random) -> Any:
    g = r.choice((None, ad.Generator()))
    if g is not None and r.random() < 0.5:
        r.choice(
            (
                lambda: g.manual_seed(r.getrandbits(20)),
                lambda: g.set_state(g.get_state()),
                lambda: g.set_state(s.pick(r)),
                lambda: s.keep(g, r),
                lambda: g.__init__(),
            )
        )()
    t = s.floating(r)
    ways = (lambda: ad.randn(2, 3, generator=g), lambda: ad.randperm(4, generator=g), lambda: t.normal_(generator=g), lambda: ad.multinomial(t.abs(), 2, True, generator=g),
            lambda: ad.bernoulli(t, generator=g), lambda: t.uniform_(0, 1, generator=g), lambda: ad.randint(3, (2,), generator=g), lambda: ad.normal(t, 1.0, generator=g))  # fmt: skip
    return r.choice(ways)()
