"""Corners of operations: what does not fit, what is empty, and what transforms find there."""

from __future__ import annotations

import math
import statistics
from array import array
from typing import Any

import pytest

import adjoint as ad


def test_foreach_gives_tuples_and_those_that_write_their_list() -> None:
    lists = [ad.ones(1), ad.ones(2)]
    assert isinstance(ad._foreach_add(lists, 1), tuple)
    assert isinstance(ad._foreach_norm(lists), tuple)
    assert ad._foreach_add_(lists, 1) is lists
    assert [x.item() for x in ad._foreach_powsum([ad.tensor([1.0, -2.0]), ad.tensor([3.0])], 3)] == [9, 27]
    assert ad._foreach_max([ad.arange(4)])[0].item() == 3
    with pytest.raises(RuntimeError, match="at least one tensor"):
        ad._foreach_add([], 1)
    assert not hasattr(ad, "_foreach_max_")


@pytest.mark.parametrize("x", [ad.tensor([2], dtype=ad.int8), ad.tensor(2, dtype=ad.int8), ad.empty(0, dtype=ad.int8)])
def test_whole_exponents_must_fit(x: ad.Tensor) -> None:
    for power in (lambda n: x**n, lambda n: ad.pow(x, n), x.clone().pow_):
        with pytest.raises(RuntimeError, match="pow: value cannot be converted to type int8 without overflow, got 300"):
            power(300)
        with pytest.raises(RuntimeError, match="pow: Integers to negative integer powers are not allowed, got -1"):
            power(-1)
        assert power(127).dtype is ad.int8
    assert (x**300.0).dtype is ad.float32


def test_powers_of_bools() -> None:
    x = ad.tensor([True, False])
    assert (x**True).tolist() == [True, False]
    assert (x**False).tolist() == [True, True]
    assert (x**300).tolist() == [1, 0]
    assert (ad.tensor([2.0]) ** True).tolist() == [2.0]
    for exponent in (True, False):
        y = x.clone()
        y **= exponent
        assert y.tolist() == x.clone().pow_(exponent).tolist() == (x**exponent).tolist()
    with pytest.raises(NotImplementedError, match="pow: not implemented for bool"):
        x ** ad.tensor(True)


@pytest.mark.parametrize("dtype", [ad.float16, ad.bfloat16])
def test_halves_hold_their_exponents(dtype: ad.dtype) -> None:
    x = ad.tensor([2.0, 1.0], dtype=dtype)
    for power in (lambda: x**1e39, lambda: x.clone().pow_(-1e39)):
        with pytest.raises(RuntimeError, match="pow: value cannot be converted to type b?float16 without overflow, got 1e"):
            power()
    assert (x ** float("inf")).tolist() == [math.inf, 1.0]


def test_positions_of_an_empty_result_are_looked_at() -> None:
    for call in (lambda at: ad.ones(3, 0).index_select(0, at), lambda at: ad.nn.functional.embedding(at, ad.ones(3, 0))):
        assert call(ad.tensor([0, 2])).shape == (2, 0)
        with pytest.raises(IndexError, match="index 3 is out of bounds for dimension 0 with size 3"):
            call(ad.tensor([3]))
    assert ad.vmap(lambda at: ad.ones(3, 0).index_select(0, at))(ad.tensor([[0], [2]])).shape == (2, 1, 0)
    assert ad.ones(3, 0, device="meta").index_select(0, ad.empty(1, dtype=ad.int64, device="meta")).shape == (1, 0)


def test_bytes_of_a_buffer_are_elements() -> None:
    memory = bytearray([1, 0, 2, 0])
    x = ad.asarray(memory, dtype=ad.int16)
    memory[0] = 3
    assert x.tolist() == [3, 2]
    assert ad.asarray(memory, dtype=ad.int16, copy=True).tolist() == [3, 2]
    assert ad.asarray(array("f", [1, 2])).tolist() == [1, 2]
    assert ad.asarray(array("f", [1, 2]), requires_grad=True).requires_grad
    with pytest.raises(ValueError, match=r"asarray: both buffer length \(0\)"):
        ad.asarray(b"")
    with pytest.raises(ValueError, match=r"buffer length \(3 bytes\) must be a multiple of the element size"):
        ad.asarray(bytes(3), dtype=ad.int16)
    assert ad.array_api.asarray(array("b", [1, 2])).dtype is ad.int64  # the standard takes values


@pytest.mark.parametrize("shape", [(2, 0, 4), (0, 3, 4), (2, 3, 0)])
def test_batch_norm_of_nothing(shape: tuple[int, ...]) -> None:
    c = shape[1]
    assert ad.nn.functional.batch_norm(ad.ones(shape), ad.zeros(c), ad.ones(c), training=True).shape == shape
    with pytest.raises(ValueError, match="Expected more than 1 value per channel when training"):
        ad.nn.functional.batch_norm(ad.ones(1, c), None, None, training=True)


def test_a_loss_of_several_dimensions_wants_a_batch() -> None:
    with pytest.raises(RuntimeError, match="requires batched input"):
        ad.nn.functional.linear_cross_entropy(ad.ones(3), ad.ones(2, 4, 3), ad.ones(2, 4))


def test_counts_of_the_members_of_a_batch() -> None:
    x = ad.tensor([[0, 3, 3], [1, 1, 0]])
    assert ad.vmap(ad.bincount)(x).tolist() == [ad.bincount(row, minlength=4).tolist() for row in x]
    weights = ad.rand(2, 3)
    assert ad.vmap(ad.bincount)(x, weights).tolist() == [ad.bincount(a, b, minlength=4).tolist() for a, b in zip(x, weights)]
    with pytest.raises(RuntimeError, match="non-negative"):
        ad.vmap(ad.bincount)(x - 1)


@pytest.mark.parametrize("density", [False, True])
def test_histograms_of_the_members_of_a_batch(density: bool) -> None:
    x = ad.cat([ad.rand(3, 20, dtype=ad.float64), ad.ones(1, 20, dtype=ad.float64)])
    counts, edges = ad.vmap(lambda row: tuple(ad.histogram(row, 4, density=density)))(x)
    for i, row in enumerate(x):
        own = ad.histogram(row, 4, density=density)
        assert own.hist.tolist() == counts[i].tolist()
        assert ad.allclose(own.bin_edges, edges[i])


def test_order_of_dimensions() -> None:
    x = ad.zeros(2, 3, 4, 5)
    assert x.dim_order() == (0, 1, 2, 3)
    assert x.transpose(1, 2).dim_order() == (0, 2, 1, 3)
    assert x.to(memory_format=ad.channels_last).dim_order(ambiguity_check=True) == (0, 2, 3, 1)
    for formats in (True, []):
        with pytest.raises(RuntimeError, match="does not have unique dim order"):
            x[:1].dim_order(ambiguity_check=formats)
    assert x[:1].dim_order(ambiguity_check=[ad.contiguous_format, ad.channels_last]) == (0, 1, 2, 3)
    with pytest.raises(TypeError, match="must be a bool or a list"):
        x.dim_order(ambiguity_check="no")


def test_streams_and_events_of_the_cpu() -> None:
    with ad.Stream("cpu") as stream:
        stream.synchronize()
        stream.wait_stream(ad.Stream())
    assert stream == ad.Stream() and stream.query() and stream.device == ad.device("cpu")
    event = ad.Event()
    event.wait(stream)
    event.synchronize()
    assert event.query() and event.device.type == "cpu"
    with pytest.raises(RuntimeError, match="cpu backend doesn't support events"):
        stream.record_event()
    with pytest.raises(ValueError, match="must be recorded"):
        event.elapsed_time(event)


@pytest.mark.parametrize("n", [4, 40, 9000])
def test_bytes_seen_as_bool_count_once(n):
    x = ad.zeros(n, dtype=ad.uint8)
    x[0], x[2], x[n - 1] = 190, 4, 255
    mask = x.view(ad.bool)
    assert mask.sum().item() == 3 and ad.count_nonzero(mask).item() == 3
    assert mask.nonzero().squeeze(1).tolist() == [0, 2, n - 1]
    assert mask.view(1, n).expand(3, n).sum(0).tolist() == [3 * (i in (0, 2, n - 1)) for i in range(n)]
    assert ad.arange(n)[mask].tolist() == [0, 2, n - 1]


def test_nothing_is_read_from_a_dimension_of_nothing() -> None:
    place = ad.zeros(3, 5, dtype=ad.int64)
    for call in (
        lambda: ad.zeros(0, 5).gather(0, place),
        lambda: ad.zeros(2, 0, 5).gather(1, place.expand(2, 3, 5)),
        lambda: ad.take_along_dim(ad.zeros(0, 5), place, 0),
        lambda: ad.func.vmap(lambda x: x.gather(0, place))(ad.zeros(2, 0, 5)),
        lambda: ad.zeros(0, 5).scatter(0, place, 1.0),
        lambda: ad.zeros(0, 5).scatter_add(0, place, ad.ones(3, 5)),
        lambda: ad.zeros(0, 5).scatter_reduce(0, place, ad.ones(3, 5), "amax"),
    ):
        with pytest.raises(IndexError, match="out of bounds for dimension"):
            call()


def test_rrelu_that_writes_its_input_has_its_gradient() -> None:
    x = ad.tensor([-1.0, 0.0, 2.0], requires_grad=True)
    for in_place in (False, True):
        y = ad.nn.functional.rrelu(x.clone(), 0.25, 0.5, training=True, inplace=in_place)
        (g,) = ad.autograd.grad(y.sum(), x)
        assert 0.25 <= g[0] <= 0.5 and g[0] == -y[0] and 0.25 <= g[1] <= 0.5 and g[2] == 1


def test_histograms_to_infinity() -> None:
    x = ad.tensor([0.5, math.inf, 2.0, math.nan, -1.0, 1.0])
    assert ad.histogram(x, ad.tensor([0.0, 1.0, math.inf])).hist.tolist() == [1, 3]
    assert ad.histogram(x, ad.tensor([-math.inf, 0.0, 1.0])).hist.tolist() == [1, 2]
    with pytest.raises(NotImplementedError, match="not implemented for adjoint.int64"):
        ad.histogram(ad.arange(3), 2)


def test_whole_elements_count_by_whole_numbers_that_fit() -> None:
    for alpha in (math.inf, math.nan, 1e30):
        with pytest.raises(RuntimeError, match="value cannot be converted to type int64_t without overflow"):
            ad.arange(3).index_add(0, ad.tensor([0]), ad.tensor([1]), alpha=alpha)


def test_labels_of_negative_lengths() -> None:
    with pytest.raises(RuntimeError, match="Expected target_lengths to be at least 0"):
        ad.nn.functional.ctc_loss(ad.zeros(4, 2, 3).log_softmax(-1), ad.ones(3, dtype=ad.int64), [4, 4], [-2, 3])


@pytest.mark.parametrize("dtype", [ad.float32, ad.float64, ad.float16])
@pytest.mark.parametrize("at", [0, 5, 70])
def test_running_logarithms_of_sums_stay_nan(at: int, dtype: ad.dtype) -> None:
    x = ad.linspace(-3, 3, 71, dtype=dtype)
    x[at] = math.nan
    for y in (ad.logcumsumexp(x, 0), ad.logcumsumexp(ad.stack([x, x], 1), 0)[:, 1]):
        assert y.isnan().tolist() == [i >= at for i in range(71)]


@pytest.mark.parametrize("name", ["addmm", "addmv", "addbmm"])
def test_a_product_times_nothing_is_nothing(name: str) -> None:
    shapes = {"addmm": ((2, 2), (2, 2)), "addmv": ((2, 2), (2,)), "addbmm": ((1, 2, 2), (1, 2, 2))}[name]
    a, b = (ad.full(shape, math.nan, requires_grad=True) for shape in shapes)
    for beta in (0, 3):
        y = getattr(ad, name)(ad.ones(2, 2)[0] if name == "addmv" else ad.ones(2, 2), a, b, beta=beta, alpha=0)
        assert (y == beta).all()
        assert y.requires_grad


def test_outer_products_of_bools_have_the_type_of_all() -> None:
    of_type = {t: ad.ones(2, dtype=t) for t in (ad.bool, ad.uint8, ad.int32)}
    for c, u in of_type.items():
        for a, v in of_type.items():
            for numbers in ({}, {"beta": 0}, {"alpha": 2, "beta": 3}):
                y = ad.addr(u.expand(2, 2), v, of_type[ad.bool], **numbers)
                want = numbers.get("beta", 1) + numbers.get("alpha", 1)
                assert y.dtype == ad.promote_types(c, a) and (y == want).all() or y.dtype == ad.bool and y.all()


def test_what_does_not_fit_in_expanded_memory_is_not_warned_of(recwarn: pytest.WarningsRecorder) -> None:
    x = ad.zeros(3, 1).expand(3, 2)
    ad.set_warn_always(True)
    try:
        for wrong in (lambda: x.masked_fill_(ad.ones(3, 2), 1), lambda: x.index_fill_(0, ad.ones(3), 1)):
            with pytest.raises((RuntimeError, IndexError)):
                wrong()
    finally:
        ad.set_warn_always(False)
    assert not recwarn.list


def test_a_complex_number_without_imaginary_part_fills_real_ones() -> None:
    x, mask, v = ad.zeros(2), ad.tensor([True, False]), ad.tensor(2 + 0j, requires_grad=True)
    assert x.masked_fill(mask, v).tolist() == x.masked_fill_(mask, v.detach()).tolist() == [2, 0]
    assert ad.autograd.grad(x.masked_fill(mask, v).sum(), v)[0] == 1 + 0j
    with pytest.raises(RuntimeError, match="without overflow"):
        x.masked_fill(mask, ad.tensor(2 + 1j))


def test_a_power_of_nothing_has_no_slope() -> None:
    for base in (math.nan, math.inf, -math.inf, 0.0, 2.0):
        x, e = ad.tensor([base], requires_grad=True), ad.zeros(1)
        assert (x**e).item() == 1 and ad.autograd.grad(x**e, x)[0].item() == 0


@pytest.mark.parametrize("name", ["addmm", "addmv", "addbmm", "baddbmm"])
def test_what_is_added_to_a_product_fits_it(name: str) -> None:
    a, b = ad.ones(2, 3, 3), ad.ones(2, 3) if name == "addmv" else ad.ones(2, 3, 3)
    a, b = (a, b) if "bmm" in name else (a[0], b[0])
    with pytest.raises(RuntimeError):
        getattr(ad, name)(ad.ones(2, 2, 3, 3), a, b)


def test_words_that_are_no_device_are_errors_of_the_device() -> None:
    for make in (
        lambda: ad.zeros(2, device="foo"),
        lambda: ad.tensor([1.0], device="cpu:x"),
        lambda: ad.nn.Linear(1, 1, device=""),
    ):
        with pytest.raises(RuntimeError, match="[Dd]evice"):
            make()
    with pytest.raises(TypeError):
        ad.zeros(2, device=1.5)


def test_positions_are_no_complex_numbers() -> None:
    with pytest.raises(TypeError, match="complex"):
        ad.arange(4)[[1 + 0j]]


def test_nothing_has_no_hash_but_along_a_dimension() -> None:
    assert ad.hash_tensor(ad.ones(2, 3), None).equal(ad.hash_tensor(ad.ones(2, 3)))
    with pytest.raises(IndexError, match="non-zero size"):
        ad.hash_tensor(ad.zeros(3, 0), 1)
    with pytest.raises(RuntimeError, match="dim"):
        ad.hash_tensor(ad.zeros(0))
    with pytest.raises(TypeError):
        ad.argsort(ad.arange(2), stable=None)


@pytest.mark.parametrize("f", [ad.nn.functional.elu, ad.nn.functional.celu, ad.nn.functional.selu])
def test_bends_are_those_of_the_right_at_zero(f) -> None:
    x = ad.zeros(1, requires_grad=True)
    (slope,) = ad.autograd.grad(f(x), x, create_graph=True)
    assert ad.autograd.grad(slope, x)[0].tolist() == [0.0]


def test_what_does_not_vary_is_zero_after_instance_norm_without_eps() -> None:
    x = ad.stack([ad.full((4,), 3.0), ad.tensor([1.0, 1, 3, 3])])[None]
    assert ad.nn.functional.instance_norm(x, eps=0).tolist() == [[[0, 0, 0, 0], [-1, -1, 1, 1]]]


@pytest.mark.parametrize("dtype, scale", [(ad.float32, 1e-15), (ad.float64, 1e-100)])
def test_instance_norm_without_eps_is_that_of_any_scale(dtype: ad.dtype, scale: float) -> None:
    x = ad.tensor([[[1.0, 2, 3, 4], [5, 5, 5, 5]]], dtype=dtype)
    y, small = (ad.nn.functional.instance_norm(v, weight=ad.tensor([2.0, 1], dtype=dtype), eps=0) for v in (x, x * scale))
    assert ad.allclose(y, small) and ad.allclose(y[0, 0], 2 * (x[0, 0] - 2.5) / 1.25**0.5)
    leaf = x.clone().requires_grad_()
    ad.nn.functional.instance_norm(leaf, eps=0).backward(x)
    assert leaf.grad[0, 1].tolist() == [0, 0, 0, 0] and leaf.grad.isfinite().all()


def test_fold_wants_windows() -> None:
    with pytest.raises(RuntimeError, match="kernel size should be greater than zero"):
        ad.nn.functional.fold(ad.ones(1, 4, 4), (2, 2), (0, 1))


def test_softmax_asks_what_is_like_a_tensor() -> None:
    class Alike:
        ndim = 1

        def softmax(self, dim: int, dtype: object) -> str:
            return f"along {dim}"

    assert ad.nn.functional.softmax(Alike(), 0) == "along 0"  # type: ignore[arg-type]


def test_what_has_the_shape_of_a_broadcast_stays_the_leaf_that_it_is() -> None:
    x = ad.zeros(2, requires_grad=True)
    assert ad.broadcast_tensors(x, ad.ones(1))[0] is x and ad.broadcast_tensors(x, ad.ones(1))[1].shape == (2,)
    ad.distributions.Normal(x, 1.0).loc.sum().backward()
    assert ad.distributions.Normal(x, 1.0).loc.grad.tolist() == [1, 1]


@pytest.mark.parametrize("size", [1e-44, 1e-30, 1e30, 3e38])
def test_deviations_whose_squares_leave_the_type(size: float) -> None:
    x = ad.tensor([[0.25, 1.0, 0.5], [0.5, 0.5, 0.5], [0.0, 0.0, 0.0]]) * size
    expected = [statistics.stdev(row) for row in x.double().tolist()]
    assert x.std(-1).tolist() == pytest.approx(expected, rel=1e-6, abs=1e-45)
    assert ad.std_mean(x, -1)[0].tolist() == x.std(-1).tolist()
    assert x.var(-1).tolist()[1:] == [0, 0]


def test_a_mean_of_small_integers_whose_count_wraps() -> None:
    x, index = ad.zeros(1, dtype=ad.int8), ad.zeros(130, dtype=ad.int64)
    assert x.index_reduce(0, index, ad.ones(130, dtype=ad.int8), "mean").tolist() == [1]


@pytest.mark.parametrize("lies", [lambda a: a.t(), lambda a: a[1:], lambda a: a[::2]])
def test_as_strided_of_complex_numbers_that_are_not_dense(lies: Any) -> None:
    def gradient(dtype: Any) -> Any:
        x = lies(ad.zeros(4, 4, dtype=dtype)).detach().requires_grad_()
        return ad.autograd.grad(ad.as_strided(x, (2, 2), (4, 1), 5).sum().real, x)[0]

    assert ad.equal(gradient(ad.complex64).real, gradient(ad.float32))
