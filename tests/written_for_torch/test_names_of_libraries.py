"""Names that libraries written for PyTorch take from its less public corners, with the values of PyTorch 2.13."""

from __future__ import annotations

import collections
import io
import itertools
import pickle
from unittest import mock

import pytest

import adjoint as ad


def test_a_module_is_not_a_traced_one_and_nothing_is_script():
    assert not isinstance(ad.nn.Linear(1, 1), ad.fx.GraphModule) and issubclass(ad.fx.GraphModule, ad.nn.Module)
    assert not isinstance(3, (ad.fx.Node, ad.fx.Graph, ad.fx.Proxy))
    for call in (lambda: ad.jit.load("x"), lambda: ad.jit.save(None, "x")):
        with pytest.raises(NotImplementedError, match="TorchScript"):
            call()


def test_nothing_is_sharded():
    from adjoint.distributed import fsdp, tensor
    from adjoint.distributed._composable.fsdp import FSDPModule
    from adjoint.distributed._tensor.experimental import implicit_replication
    from adjoint.distributed.tensor import parallel

    layer = ad.nn.Linear(1, 1)
    assert (
        issubclass(tensor.DTensor, ad.Tensor)
        and FSDPModule is fsdp.FSDPModule
        and ad.distributed.device_mesh.DeviceMesh is tensor.DeviceMesh
    )
    assert not isinstance(layer.weight, tensor.DTensor) and not isinstance(layer, (FSDPModule, fsdp.FullyShardedDataParallel))
    with implicit_replication():
        assert (ad.ones(2) + 1).tolist() == [2.0, 2.0]
    refused = [
        lambda: tensor.DTensor(ad.ones(1), None),
        lambda: tensor.DTensor.from_local(ad.ones(1)),
        lambda: tensor.distribute_tensor(ad.ones(1)),
        lambda: tensor.distribute_module(layer),
        lambda: tensor.init_device_mesh("cpu", (1,)),
        lambda: parallel.parallelize_module(layer),
        lambda: fsdp.fully_shard(layer),
        lambda: FSDPModule(),
        lambda: fsdp.FullyShardedDataParallel(layer),
    ]
    for call in refused:
        with pytest.raises(NotImplementedError, match="not sharded over processes"):
            call()


def test_modules_taken_apart():
    from adjoint._functorch import combine_state_for_ensemble, grad, make_functional, make_functional_with_buffers, vmap

    layer, x = ad.nn.Linear(2, 3), ad.rand(4, 2)
    f, params = make_functional(layer)
    assert f.param_names == ("weight", "bias") and params[0] is not layer.weight and params[0].requires_grad
    assert ad.equal(f(params, x), layer(x)) and grad(lambda p: f(p, x).sum())(params)[1].tolist() == [4.0] * 3
    norm = ad.nn.Sequential(layer, ad.nn.BatchNorm1d(3)).eval()
    with pytest.raises(RuntimeError, match="`model` has buffers"):
        make_functional(norm)
    f, params, buffers = make_functional_with_buffers(norm, disable_autograd_tracking=True)
    assert not any(p.requires_grad for p in params) and f.buffer_names[0] == "1.running_mean"
    assert ad.allclose(f(params, (buffers[0] + 1, *buffers[1:]), x), norm(x) - 1, atol=1e-4)
    f, params, buffers = combine_state_for_ensemble([layer.train(), ad.nn.Linear(2, 3)])
    assert (
        params[0].shape == (2, 3, 2)
        and not params[0].requires_grad
        and ad.equal(vmap(f, (0, 0, None))(params, buffers, x)[0], layer(x))
    )


def test_stand_ins_count_as_tensors():
    assert (
        ad.is_tensor(mock.MagicMock(spec=ad.Tensor))
        and ad.is_tensor(ad.ones(1))
        and not ad.is_tensor(mock.MagicMock())
        and not ad.is_tensor(None)
    )


def test_what_counts_compiled_programs():
    from adjoint._dynamo.testing import CompileCounter

    counter = CompileCounter()
    counter.frame_count += 1
    counter.clear()
    assert (counter.frame_count, counter.op_count) == (0, 0)


def test_nothing_stands_for_a_tensor():
    from adjoint._subclasses.fake_tensor import is_fake
    from adjoint.fx.experimental.proxy_tensor import get_proxy_mode

    assert not is_fake(ad.ones(1)) and get_proxy_mode() is None


def test_what_it_was_built_with():
    assert "adjoint" in ad.__config__.show() and "USE_OPENMP=ON" not in ad.__config__.show()
    assert str(ad.get_num_threads()) in ad.__config__.parallel_info()


def test_names_of_backends():
    backend = ad.distributed.Backend
    assert (backend.GLOO, backend.MPI, backend.NCCL, backend.UNDEFINED) == ("gloo", "mpi", "nccl", "undefined")


def test_parse_to():
    cpu, parse = ad.device("cpu"), ad._C._nn._parse_to
    assert parse("cpu", ad.float64, True) == (cpu, ad.float64, True, None)
    assert parse(ad.ones(1, dtype=ad.int8)) == parse(other=ad.ones(1, dtype=ad.int8)) == (cpu, ad.int8, False, None)
    assert parse(dtype=ad.half, memory_format=ad.channels_last) == (None, ad.half, False, ad.channels_last)
    assert parse(device=None, non_blocking=True) == (None, None, True, None)


def test_namedtuples_as_trees():
    from adjoint.utils import _pytree as trees

    pair = collections.namedtuple("Pair", "a b")
    values, context = trees._namedtuple_flatten(pair(1, 2))
    assert (values, context) == ([1, 2], pair) and trees._namedtuple_unflatten([3, 4], context) == pair(3, 4)


def test_groups_of_tensors():
    from adjoint.utils._foreach_utils import _group_tensors_by_device_and_dtype as groups

    x, y, z = ad.ones(1), ad.ones(1).double(), ad.zeros(1)
    found = groups([[x, y, z], [None, x, y], []], with_indices=True)
    assert {dtype: places for (_, dtype), (_, places) in found.items()} == {ad.float32: [0, 2], ad.float64: [1]}
    lists, nothing = groups([[x, y, z], [None, x, y], []])[ad.device("cpu"), ad.float32]
    assert [list(map(id, each)) for each in lists] == [[id(x), id(z)], [id(None), id(y)], []] and nothing == []
    for wrong in ([], [[None]], [[x], [x, y]]):
        with pytest.raises(RuntimeError, match="_group_tensors"):
            groups(wrong)


def test_scatter_and_gather():
    from adjoint.nn.parallel import gather, scatter
    from adjoint.nn.parallel.scatter_gather import scatter_kwargs

    pair = collections.namedtuple("Pair", "x rest")
    given = pair(ad.arange(6).reshape(3, 2), {"y": [ad.arange(3), None], "name": "a"})
    parts = scatter(given, ["cpu", ad.device("cpu")])
    assert [(p.x.tolist(), p.rest["y"][0].tolist(), p.rest["name"]) for p in parts] == [
        ([[0, 1], [2, 3]], [0, 1], "a"),
        ([[4, 5]], [2], "a"),
    ]
    back = gather([pair(p.x, {"y": p.rest["y"]}) for p in parts], "cpu")
    assert isinstance(back, pair) and back.x.tolist() == given.x.tolist() and back.rest["y"][0].tolist() == [0, 1, 2]
    assert gather([ad.tensor(1.0), ad.tensor(2.0)], "cpu").tolist() == [1, 2]
    assert [p.tolist() for p in scatter(ad.arange(4).reshape(2, 2), ["cpu", "cpu"], dim=1)] == [[[0], [2]], [[1], [3]]]
    inputs, named = scatter_kwargs((ad.arange(2),), {}, ["cpu", "cpu"])
    assert len(inputs) == 2 and named == ({}, {}) and inputs[1][0].tolist() == [1]
    with pytest.raises(ValueError, match="same keys"):
        gather([{"a": ad.ones(1)}, {"b": ad.ones(1)}], "cpu")


def test_new_of_a_sparse_tensor():
    x = ad.sparse_coo_tensor([[0, 2]], [1.0, 2.0], (3,), dtype=ad.float64)
    made = x.new(x._indices(), x._values() + 1, x.shape)
    assert made.is_sparse and made.dtype is ad.float64 and made.to_dense().tolist() == [2, 0, 3]
    empty = x.new().resize_as_(x)
    assert empty.is_sparse and empty._nnz() == 0 and empty.shape == x.shape and empty.dtype is x.dtype
    assert x.new(2, 3).shape == (2, 3) and x.new(2, 3)._nnz() == 0
    with pytest.raises(RuntimeError, match="resize_: a sparse tensor must be empty"):
        x.resize_(4)


def test_view_by_name():
    x = ad.ones(4)
    assert x.view(dtype=ad.int32).tolist() == [0x3F800000] * 4 and x.view(size=(2, 2)).shape == (2, 2)


def test_optimizers_that_wrap_others():
    class Wrapper(ad.optim.Optimizer):
        def __init__(self, optimizer):  # does not call that of Optimizer, as wrappers of pytorch_optimizer
            self.optimizer = optimizer
            self._optimizer_step_post_hooks = collections.OrderedDict()
            self._patch_step_function()

        def step(self):
            self.optimizer.step()

    seen = []
    wrapper = Wrapper(ad.optim.SGD([ad.ones(1, requires_grad=True)], lr=0.1))
    wrapper.register_step_post_hook(lambda *given: seen.append(given))
    wrapper.step()
    assert len(seen) == 1


def test_assert_allclose():
    with pytest.warns(FutureWarning, match="deprecated"):
        ad.testing.assert_allclose(ad.ones(1), ad.ones(1).double() + 1e-4)
        ad.testing.assert_allclose([1.0, float("nan")], [1.0, float("nan")])
        with pytest.raises(AssertionError, match="hi"):
            ad.testing.assert_allclose(ad.ones(1), ad.zeros(1), msg="hi")
        with pytest.raises(ValueError, match="atol"):
            ad.testing.assert_allclose(ad.ones(1), ad.ones(1), rtol=1)


def test_assert_async():
    ad._assert_async(ad.tensor(1))
    with pytest.raises(RuntimeError, match="Expected Tensor with single nonzero value, but got zero"):
        ad._assert_async(ad.tensor(0))
    with pytest.raises(RuntimeError, match="hey"):
        ad._assert_async(ad.tensor(False), "hey")
    with pytest.raises(TypeError, match="must be Tensor, not int"):
        ad._assert_async(1)


def test_frombuffer():
    memory = bytearray(8)
    x = ad.frombuffer(memory, dtype=ad.int16, offset=2, count=2)
    x[0] = 0x0201
    assert memory == bytes([0, 0, 1, 2, 0, 0, 0, 0]) and x.tolist() == [513, 0]
    assert ad.frombuffer(b"\1\0\2\0", dtype=ad.int16).tolist() == [1, 2]
    assert ad.frombuffer(memory, dtype=ad.float32, requires_grad=True).requires_grad
    for options in ({"count": 3}, {"count": 0}, {"offset": 8}, {"offset": -1}, {"offset": 6}):
        with pytest.raises(ValueError, match="frombuffer: "):
            ad.frombuffer(memory, dtype=ad.float32, **options)
    with pytest.raises(ValueError, match="buffer protocol"):
        ad.frombuffer(3, dtype=ad.float32)


def test_resize():
    x = ad.ones(2, 3, requires_grad=True)
    with pytest.warns(UserWarning, match="non-inplace resize is deprecated"):
        x.resize(3, 2).sum().backward()
        assert x.resize((6,)).shape == (6,) and x.grad.tolist() == [[1.0] * 3] * 2
        with pytest.raises(RuntimeError, match="requested resize to"):
            x.resize(5)
    with pytest.warns(UserWarning, match="non-inplace resize_as is deprecated"):
        assert x.resize_as(ad.ones(6)).shape == (6,)


def test_type():
    assert ad.ones(2).to_sparse().type().endswith(".sparse.FloatTensor")
    assert ad.ones(2, dtype=ad.int32).type("torch.Tensor").dtype is ad.float32


class Thing:
    def __init__(self, x):
        self.x = x


def test_safe_globals():
    def load():
        file.seek(0)
        return ad.load(file).x.tolist()

    file = io.BytesIO()
    ad.save(Thing(ad.ones(2)), file)
    with pytest.raises(Exception, match="add_safe_globals"):
        load()
    with ad.serialization.safe_globals([Thing]):
        assert load() == [1.0, 1.0] and ad.serialization.get_safe_globals() == [Thing]
    assert ad.serialization.get_safe_globals() == []
    ad.serialization.add_safe_globals([(Thing, f"{__name__}.Thing")])
    assert load() == [1.0, 1.0]
    ad.serialization.clear_safe_globals()
    with pytest.raises(Exception, match="add_safe_globals"):
        load()
    with pytest.raises(ValueError, match="a pair of an object and its name"):
        ad.serialization.add_safe_globals([(Thing,)])


def test_steps_of_autograd_functional():
    steps = ad.autograd.functional
    basis = steps._construct_standard_basis_for((ad.zeros(2), ad.zeros(1, 1, dtype=ad.float64)), (2, 1))
    assert [b.tolist() for b in basis] == [[[1, 0], [0, 1], [0, 0]], [[0], [0], [1]]] and basis[1].dtype is ad.float64
    one, two = ad.ones(1), ad.ones(1, requires_grad=True) * 2
    assert steps._as_tuple(3) == (False, (3,)) and steps._as_tuple((one,), "inputs", "f") == (True, (one,))
    with pytest.raises(TypeError, match="The a given to b must be either a Tensor or a tuple"):
        steps._as_tuple([one], "a", "b")
    assert not steps._grad_postprocess((two,), False)[0].requires_grad and steps._grad_postprocess((two,), True) == (two,)
    assert steps._tuple_postprocess(((one,), (two,)), (True, False)) == (one, two)
    assert steps._tuple_postprocess((one,), False) is one
    x = ad.tensor([3.0], requires_grad=True)
    assert steps._autograd_grad((x * x,), (x,))[0].tolist() == [6.0] and steps._autograd_grad((one,), (x,)) == (None,)
    assert steps._grad_preprocess((one, 3), False, True)[0].requires_grad


def test_line_search():
    def loss(x, t, d):
        y = x + t * d
        return float((y**4).sum()), 4 * y**3

    x = ad.tensor([1.0, 2.0])
    f, g = loss(x, 0, x * 0)
    found = ad.optim.lbfgs._strong_wolfe(loss, x, 1.0, -g, f, g, g.dot(-g))
    assert found[0] == pytest.approx(0.29925546) and found[2] == pytest.approx(0.0792, abs=1e-4) and found[3] == 4
    assert ad.optim.lbfgs._strong_wolfe(loss, x, 1.0, -g, f, g, g.dot(-g), max_ls=2)[2:] == (0, 3)
    values = [ad.tensor(v) for v in (0.0, 1.0, -1.0, 1.0, 0.5, 1.0)]
    assert ad.optim.lbfgs._cubic_interpolate(*values).item() == pytest.approx(0.7676, abs=1e-4)
    assert ad.optim.lbfgs._cubic_interpolate(0.0, 1.0, -1.0, 1.0, 2.0, 1.0, bounds=(0.2, 0.4)) == 0.2


def test_helpers_of_optimizers():
    from adjoint.optim import optimizer

    class Steps(ad.optim.Optimizer):
        @optimizer._use_grad_for_differentiable
        def step(self):
            return ad.is_grad_enabled()

    p = ad.ones(1, requires_grad=True)
    assert [Steps([p], {"differentiable": on}).step() for on in (True, False)] == [True, False]
    assert optimizer._default_to_fused_or_foreach([p], False) == (False, False)
    assert optimizer._get_value(ad.tensor(2.0)) == 2.0 and optimizer._get_value(3) == 3 == optimizer._stack_if_compiling(3)
    assert optimizer._get_scalar_dtype() is ad.float32 and optimizer._to_scalar(ad.ones(1)).shape == ()
    assert optimizer._disable_dynamo_if_unsupported()(abs) is abs and "cuda" in optimizer._get_capturable_supported_devices()
    params, grads = [ad.ones(2, dtype=ad.complex64), ad.ones(2)], [ad.zeros(2, dtype=ad.complex64), ad.zeros(2)]
    optimizer._view_as_real(params, grads)
    assert [x.shape for x in params + grads] == [(2, 2), (2,)] * 2


def test_benchmark():
    from adjoint.utils import benchmark

    ticks = itertools.count()
    times = iter([0.0, 1e-6] * 3 + [0.0, 0.1, 0.0, 0.11] * 99)  # the estimate is 1, 10 ... executions of the first three
    found = benchmark.Timer("x + 1", "y = x", globals={"x": 1}, timer=lambda: next(times), label="sum").blocked_autorange(
        min_run_time=0.2
    )
    assert found.number_per_run == 1000 and found.raw_times == pytest.approx([0.11, 0.1]) and found.label == "sum"
    assert found.median == found.mean == pytest.approx(1.05e-4) and found.iqr == pytest.approx(5e-6) and not found.has_warnings
    assert repr(found).startswith(
        "Measurement: sum\nsetup: y = x\n  Median: 105.00 us\n  IQR:    5.00 us\n  2 measurements, 1000 runs"
    )
    before, seen = ad.get_num_threads(), []
    once = benchmark.Timer(
        "seen.append(n())", globals={"seen": seen, "n": ad.get_num_threads}, timer=lambda: float(next(ticks)), num_threads=2
    )
    one = once.timeit(100)
    assert one.times == [0.01] and one.iqr == 0 and set(seen) == {2} and ad.get_num_threads() == before
    assert benchmark.Measurement.merge([one, one])[0].times == [0.01, 0.01]
    assert len(once.adaptive_autorange().times) == 4 and one.meets_confidence()
    with pytest.raises(ValueError, match="Python"):
        benchmark.Timer("int x;", language="c++")


def test_windows_are_strided():
    assert ad.signal.windows.hann(3, layout=ad.strided).tolist() == [0.0, 1.0, 0.0]
    for make in (ad.signal.windows.hann, ad.signal.windows.nuttall, ad.signal.windows.kaiser):
        with pytest.raises(ValueError, match="strided tensors only"):
            make(3, layout=ad.sparse_coo)


def test_ranges_between_tensors_of_vmap():
    start = ad.tensor([0.0, 1.5])
    assert ad.vmap(lambda s, e: ad.linspace(s, e, 5))(start, ad.tensor([7, -3])).tolist() == [
        [0.0, 1.75, 3.5, 5.25, 7.0],
        [1.5, 0.375, -0.75, -1.875, -3.0],
    ]
    assert ad.vmap(lambda s: ad.linspace(s, 5, 6, dtype=ad.int64))(start).tolist() == [[0, 1, 2, 3, 4, 5], [1, 1, 2, 3, 4, 5]]
    assert ad.vmap(lambda s: ad.linspace(s, 5.0, 1))(start).tolist() == [[0.0], [1.5]] and ad.vmap(
        lambda s: ad.linspace(s, 5.0, 0)
    )(start).shape == (2, 0)
    assert ad.allclose(
        ad.vmap(lambda s: ad.logspace(s, 0.5, 3, base=2.0))(start), 2.0 ** ad.tensor([[0.0, 0.25, 0.5], [1.5, 1.0, 0.5]])
    )
    with pytest.raises(RuntimeError, match="0-dimensional"):
        ad.vmap(lambda s: ad.linspace(s, 5, 2))(ad.ones(2, 2))
    assert ad.linspace(1j, 1, 3).tolist() == [1j, 0.5 + 0.5j, 1] and ad.linspace(1j, 1, 3).dtype == ad.complex64
    assert abs(ad.logspace(1j, 1, 2, dtype=ad.complex128) - ad.tensor([10**1j, 10])).max() < 1e-6
    with pytest.raises(RuntimeError, match="linspace: start or end is complex, and dtype is float32"):
        ad.linspace(1j, 1, 3, dtype=ad.float32)


def test_response_norm_of_integers():
    found = ad.nn.functional.local_response_norm(ad.arange(18).view(1, 6, 3), 2, alpha=0.5, beta=0.5, k=1.25)
    assert ad.allclose(found[0, 0], ad.tensor([0.0, 0.8944, 1.3333]), atol=1e-4)


def test_optimizers_keep_what_libraries_put_into_their_state():
    layer = ad.nn.Linear(2, 1)
    sgd = ad.optim.SGD(layer.parameters(), lr=0.1, momentum=0.9)
    sgd.state["ema"], sgd.state["k"], sgd.state[layer.bias] = {"x": 1}, ad.tensor([3]), {}
    assert sgd.state_dict()["state"] == {"ema": {"x": 1}, "k": ad.tensor([3]), 1: {}}
    layer(ad.ones(1, 2)).sum().backward()
    sgd.step()
    saved = sgd.state_dict()
    saved["state"][17] = {"a": 1}
    other = ad.optim.SGD(layer.parameters(), lr=0.1, momentum=0.9)
    other.load_state_dict(saved)
    assert (
        other.state["ema"] == {"x": 1}
        and other.state[17] == {"a": 1}
        and other.state[layer.weight]["momentum_buffer"].tolist() == [[1.0, 1.0]]
    )
    plain = ad.optim.SGD(layer.parameters(), lr=0.1)
    plain.step()
    assert plain.state_dict()["state"] == {} == dict(plain.state)
    assert ad.ones(3).storage().element_size() == 4 and ad.ones(3).untyped_storage().element_size() == 1


def test_the_device_without_memory():
    meta = ad.device("meta")
    assert (str(meta), repr(meta), meta.type, meta.index) == ("meta", "device(type='meta')", "meta", None)
    assert meta == ad.device(meta) and meta not in (ad.device("cpu"), ad.device("meta:0")) and ad.ones(1).device != meta
    assert hash(meta) == hash(ad.device("meta")) and pickle.loads(pickle.dumps(meta)) == meta
    with ad.device("cpu") as device:
        assert ad.ones(1).device == device


def test_lower_bounds_have_a_reserved_name():
    x = ad.empty(100)
    assert 2 <= x.uniform_(**{"from": 2.0, "to": 3.0}).min() and x.max() <= 3
    assert set(x.random_(**{"from": 5, "to": 7}).tolist()) == {5.0, 6.0}
    assert ad._C._mps_is_available() is False


def test_sequences_put_back_in_order_lie_without_gaps():
    rnn, x = ad.nn.utils.rnn, ad.arange(12).reshape(3, 4)
    packed = rnn.pack_padded_sequence(x, ad.tensor([2, 3, 4]), batch_first=True, enforce_sorted=False)
    rows, lengths = rnn.pad_packed_sequence(packed, batch_first=True)
    assert rows.view(-1).tolist() == [0, 1, 0, 0, 4, 5, 6, 0, 8, 9, 10, 11] and lengths.tolist() == [2, 3, 4]
    assert rnn.pad_packed_sequence(packed)[0].T.tolist() == rows.tolist()


def test_names_that_a_scan_of_more_libraries_found():
    assert ad.cuda.OutOfMemoryError is ad.OutOfMemoryError and issubclass(ad.cuda.OutOfMemoryError, RuntimeError)
    assert ad.ones(1).is_distributed() is False
    assert ad.jit.Attribute(0.5, float) == (0.5, float) and ad.jit.Attribute([], list).type is list
    assert [ad._utils._element_size(kind) for kind in (ad.bool, ad.bfloat16, ad.complex64)] == [1, 2, 8]
    assert ad.distributed.GroupMember.WORLD is ad.distributed.group.WORLD is None
