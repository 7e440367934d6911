"""Modules: what they own, their state, their hooks. Their values are compared with PyTorch's in tests/peer."""

import copy
import io
import pickle
from typing import Any

import pytest

import adjoint as ad
from adjoint import nn
from adjoint.nn import functional as F


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 1))
        self.scale = nn.Parameter(ad.ones(1))
        self.tied = self.layers[0]
        self.register_buffer("mean", ad.zeros(2))
        self.register_buffer("count", ad.tensor(0), persistent=False)

    def forward(self, x):
        return self.layers(x - self.mean) * self.scale


NAMES = ["scale", "layers.0.weight", "layers.0.bias", "layers.2.weight", "layers.2.bias"]


def test_what_a_module_owns():
    m = Model()
    assert [n for n, _ in m.named_parameters()] == NAMES
    assert len(list(m.parameters())) == 5 and len(list(m.named_parameters(remove_duplicate=False))) == 7
    assert [n for n, _ in m.named_parameters(prefix="m", recurse=False)] == ["m.scale"]
    assert [n for n, _ in m.named_buffers()] == ["mean", "count"]
    assert [n for n, _ in m.named_modules()] == ["", "layers", "layers.0", "layers.1", "layers.2"]
    assert [n for n, _ in m.named_children()] == ["layers", "tied"] and len(list(m.modules())) == 5
    assert (
        m.get_submodule("layers.0") is m.tied and m.get_parameter("tied.bias") is m.tied.bias and m.get_buffer("mean") is m.mean
    )
    assert "scale" in dir(m) and "layers" in dir(m)


def test_attributes():
    m = Model()
    with pytest.raises(TypeError, match="cannot assign 'adjoint.FloatTensor' as parameter 'scale'"):
        m.scale = ad.ones(1)
    with pytest.raises(TypeError, match="cannot assign 'int' as child module 'tied'"):
        m.tied = 3
    m.mean = nn.Parameter(ad.zeros(2))
    assert "mean" in m._parameters and "mean" not in m._buffers
    m.scale = None
    assert m.scale is None and "scale" not in m.state_dict()
    del m.scale
    with pytest.raises(AttributeError, match="'Model' object has no attribute 'scale'"):
        _ = m.scale
    with pytest.raises(KeyError, match="already exists"):
        m.register_buffer("forward", None)
    with pytest.raises(KeyError, match="module name can"):
        m.add_module("a.b", None)
    with pytest.raises(AttributeError, match=r"before Module.__init__\(\) call"):
        type("Early", (nn.Module,), {"__init__": lambda self: setattr(self, "p", nn.Parameter())})()
    with pytest.raises(NotImplementedError, match='"forward"'):
        nn.Module()(1)


def test_a_state_goes_round():
    m, other = Model(), Model()
    state = m.state_dict()
    assert list(state) == ["scale", "mean", *NAMES[1:], "tied.weight", "tied.bias"]
    assert not any(t.requires_grad for t in state.values())
    assert repr(other.load_state_dict(state)) == "<All keys matched successfully>"
    x = ad.randn(4, 2)
    assert ad.equal(m(x), other(x))
    file = io.BytesIO()
    ad.save(state, file)
    file.seek(0)
    assert ad.equal(ad.load(file)["scale"], m.scale)
    for twin in (copy.deepcopy(m), pickle.loads(pickle.dumps(m))):
        assert ad.equal(twin(x), m(x)) and twin.scale is not m.scale and twin.tied is twin.layers[0]


def test_states_that_do_not_fit():
    layer = nn.Linear(2, 1)
    with pytest.raises(RuntimeError) as error:
        layer.load_state_dict({"weight": ad.ones(3, 1), "more": ad.ones(1)})
    for part in (
        "Error(s) in loading state_dict for Linear:",
        'Missing key(s) in state_dict: "bias"',
        'Unexpected key(s) in state_dict: "more"',
        "size mismatch for weight",
    ):
        assert part in str(error.value)
    missing, unexpected = layer.load_state_dict({"weight": ad.tensor([[1.0, 2.0]]), "more": 0}, strict=False)
    assert missing == ["bias"] and unexpected == ["more"] and layer.weight.tolist() == [[1.0, 2.0]]
    weight = ad.zeros(1, 2)
    layer.load_state_dict({"weight": weight, "bias": ad.zeros(1)}, assign=True)
    assert layer.weight.data_ptr() == weight.data_ptr() and layer.weight.requires_grad


def test_extra_state():
    class Counter(nn.Module):
        count = 3

        def get_extra_state(self):
            return {"count": self.count}

        def set_extra_state(self, state):
            self.count = state["count"]

    m = nn.Sequential(Counter())
    state = m.state_dict()
    m[0].count = 0
    m.load_state_dict(state)
    assert list(state) == ["0._extra_state"] and m[0].count == 3


def test_conversions():
    m = Model()
    m(ad.ones(1, 2)).sum().backward()
    p = m.scale
    m.double()
    assert m.scale is p and p.dtype == p.grad.dtype == m.mean.dtype == ad.float64 and m.count.dtype == ad.int64
    m.to("cpu", ad.float32).to(ad.ones(1, dtype=ad.float64)).to(dtype=ad.float16)
    assert p.dtype == ad.float16
    with pytest.raises(TypeError, match=r"only accepts floating point or complex dtypes.*int32"):
        m.to(ad.int32)
    m.zero_grad(set_to_none=False)
    assert p.grad.tolist() == [0.0]
    m.zero_grad()
    assert p.grad is None
    assert not any(q.requires_grad for q in m.requires_grad_(False).parameters())
    assert not any(k.training for k in m.eval().modules()) and m.train().layers[1].training
    seen = []
    m.apply(seen.append)
    assert seen[-1] is m and len(seen) == 5 + len([m.tied])


def test_hooks_are_removed_and_always_called():
    m, seen = nn.Linear(1, 1), []
    handle = m.register_forward_hook(lambda *a: seen.append("after"), always_call=True)
    with pytest.raises(RuntimeError):
        m(ad.ones(3))
    handle.remove()
    m(ad.ones(1))
    assert seen == ["after"]
    m.register_full_backward_hook(lambda m, gi, go: ())
    with pytest.raises(RuntimeError, match="invalid number of grad_input, got 0, but expected 1"):
        m(ad.ones(1, requires_grad=True)).backward()


def test_what_hooks_hang_on_is_not_written_in_place():
    m = nn.ReLU(inplace=True)
    m.register_full_backward_hook(lambda *a: None)
    with pytest.raises(RuntimeError, match="Output 0 of BackwardHookFunction is a view and is being modified inplace"):
        m(ad.ones(2, requires_grad=True) * 2)
    layer = nn.Linear(1, 1)
    layer.register_full_backward_hook(lambda *a: None)
    with pytest.raises(RuntimeError, match="is being modified inplace"):
        layer(ad.ones(1, 1)).add_(1)


def test_containers():
    a, b, c = nn.ReLU(), nn.Tanh(), nn.Sigmoid()
    seq = nn.Sequential({"a": a, "b": b})
    assert seq.a is a and list(seq.state_dict()) == [] and len(seq[:1]) == 1 and seq[-1] is b
    listed = nn.ModuleList([a]) + [b]
    listed.insert(0, c)
    listed += [a]
    assert list(listed) == [c, a, b, a] and listed.pop(-1) is a and listed[1:][0] is a
    listed[0] = b
    del listed[1]
    assert list(listed) == [b, b] and "(0-1): 2 x Tanh()" in repr(listed)
    named = nn.ModuleDict({"x": a})
    named["y"] = b
    assert list(named.items()) == [("x", a), ("y", b)] and "x" in named and named.pop("x") is a and len(named) == 1
    parameters = nn.ParameterList([ad.ones(1), nn.Parameter(ad.zeros(1))])
    assert list(parameters.state_dict()) == ["0", "1"] and all(isinstance(p, nn.Parameter) for p in parameters)
    assert list(nn.ParameterDict({"w": ad.ones(2)}).state_dict()) == ["w"]


def test_parameters_start_within_their_bounds():
    for layer, fan in (
        (nn.Linear(16, 64), 16),
        (nn.Conv2d(4, 64, 3), 36),
        (nn.ConvTranspose1d(8, 64, 2), 128),
        (nn.LSTM(3, 25), 25),
    ):
        for name, p in layer.named_parameters():
            bound = fan**-0.5
            assert 0.8 * bound < p.abs().max() <= bound, name
    assert abs(nn.Embedding(200, 50).weight.std().item() - 1) < 0.05
    assert nn.Embedding(5, 3, padding_idx=-1).weight[4].tolist() == [0.0, 0.0, 0.0]


def test_init():
    w = ad.empty(30, 200, requires_grad=True)
    for f, std in (
        (nn.init.kaiming_normal_, (2 / 200) ** 0.5),
        (nn.init.xavier_uniform_, (2 / 230) ** 0.5),
        (nn.init.kaiming_uniform_, (2 / 200) ** 0.5),
    ):
        assert f(w) is w and w.grad_fn is None
        assert abs(float(w.detach().std()) / std - 1) < 0.05
    assert ad.allclose(nn.init.orthogonal_(w).detach() @ w.detach().t(), ad.eye(30), atol=1e-5)
    assert nn.init.trunc_normal_(w, 0, 1, -0.5, 0.5).abs().max().item() <= 0.5
    assert int((nn.init.sparse_(w, 0.5) == 0).sum()) == 15 * 200
    kernel = nn.init.dirac_(ad.empty(2, 2, 3))
    x = ad.randn(1, 2, 5)
    assert ad.equal(F.conv1d(x, kernel, padding=1), x)
    with pytest.raises(ValueError, match="fan_in"):
        nn.init.kaiming_normal_(w, mode="fan")
    with pytest.raises(ValueError, match="fewer than 2 dimensions"):
        nn.init.xavier_normal_(ad.ones(2))


def test_dropout_and_batch_norm_look_at_the_mode():
    x = ad.ones(100, 4)
    m = nn.Sequential(nn.BatchNorm1d(4), nn.Dropout(0.5))
    assert bool((m(x + ad.randn(100, 4)) == 0).any()) and m[0].num_batches_tracked.item() == 1
    m.eval()
    assert not bool((m(x) == 0).any()) and m[0].num_batches_tracked.item() == 1
    with pytest.raises(ValueError, match="expected 4D input"):
        nn.BatchNorm2d(4)(x)


@pytest.mark.parametrize(
    ("make", "error"),
    [
        (lambda: nn.ReLU(1, 2), TypeError), (lambda: nn.Conv1d(3, 4, 2, groups=2), ValueError), (lambda: nn.GroupNorm(2, 3), ValueError),
        (lambda: nn.RNN(2, 3, nonlinearity="sin"), ValueError), (lambda: nn.GRU(2, 3, proj_size=1), ValueError), (lambda: nn.LSTM(2, 0), ValueError),
        (lambda: nn.Embedding(3, 2, padding_idx=3), ValueError), (lambda: nn.Conv2d(1, 1, 2, padding_mode="mirror"), ValueError),
        (lambda: nn.ConvTranspose1d(1, 1, 2, stride=2)(ad.ones(1, 1, 3), [9]), ValueError), (lambda: nn.LSTM(2, 3)(ad.ones(4, 5)), RuntimeError),
        (lambda: nn.LSTM(2, 3)(ad.ones(1, 1, 2), (ad.ones(1, 1, 2),) * 2), RuntimeError), (lambda: nn.Linear(2, 3, depth=1), TypeError),
    ],
)  # fmt: skip
def test_bad_arguments(make, error):
    with pytest.raises(error):
        make()


def test_output_size_of_a_transposed_convolution():
    layer = nn.ConvTranspose1d(1, 1, 3, stride=2)
    assert [layer(ad.ones(1, 1, 4), [n]).shape[-1] for n in (9, 10)] == [9, 10]


def test_a_module_as_a_function_of_its_parameters():
    m, x = Model(), ad.randn(4, 2)
    given = {"scale": ad.full((1,), 2.0), "tied.bias": ad.zeros(3)}
    before = {n: p for n, p in m.named_parameters()}
    y = ad.func.functional_call(m, given, x)
    twin = copy.deepcopy(m)
    with ad.no_grad():
        twin.scale.fill_(2)
        twin.tied.bias.zero_()  # which is the bias of layers.0 too
    assert ad.allclose(y, twin(x)) and all(p is before[n] for n, p in m.named_parameters())
    with pytest.raises(AttributeError, match="unknown"):
        ad.func.functional_call(m, {"unknown.weight": x}, x)
    with pytest.raises(RuntimeError, match="Missing"):
        ad.func.functional_call(m, given, x, strict=True)
    models = [Model() for _ in range(3)]
    parameters, buffers = ad.func.stack_module_state(models)
    together = ad.vmap(lambda p, b: ad.func.functional_call(m, (p, b), (x,)))(parameters, buffers)
    assert ad.allclose(together, ad.stack([k(x) for k in models]))


def test_training():
    ad.manual_seed(0)
    x = ad.linspace(-1, 1, 32).reshape(-1, 1)
    m = nn.Sequential(nn.Linear(1, 16), nn.Tanh(), nn.Linear(16, 1))
    optimizer, loss = ad.optim.Adam(m.parameters(), lr=0.05), nn.MSELoss()
    for _ in range(200):
        optimizer.zero_grad()
        error = loss(m(x), (3 * x).sin())
        error.backward()
        optimizer.step()
    assert float(error.detach()) < 0.02


def test_a_recorded_step():
    lr = ad.tensor(0.1, requires_grad=True)
    p = ad.tensor([1.0, 2.0], requires_grad=True)
    w = p.clone()
    w.grad = ad.tensor([3.0, 4.0])
    ad.optim.SGD([w], lr=lr, differentiable=True).step()
    w.sum().backward()
    assert lr.grad.item() == -7.0 and p.grad.tolist() == [1.0, 1.0]


@pytest.mark.parametrize(
    ("make", "error"),
    [
        (lambda p: ad.optim.SGD([]), ValueError), (lambda p: ad.optim.SGD(p), TypeError), (lambda p: ad.optim.SGD([p * 2]), ValueError),
        (lambda p: ad.optim.Adam([p], lr=-1), ValueError), (lambda p: ad.optim.Adam([p], betas=(1.0, 0.5)), ValueError),
        (lambda p: ad.optim.SGD([{"params": [p]}, {"params": p}]), ValueError), (lambda p: ad.optim.SGD([p], nesterov=True), ValueError),
        (lambda p: ad.optim.SGD([1.0]), TypeError), (lambda p: ad.optim.SGD([p]).load_state_dict({"state": {}, "param_groups": []}), ValueError),
    ],
)  # fmt: skip
def test_bad_optimizers(make, error):
    with pytest.raises(error):
        make(ad.ones(2, requires_grad=True))


def test_buffers_by_assignment() -> None:
    class Model(ad.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.kept, self.lost = ad.nn.Buffer(ad.ones(2)), ad.nn.parameter.Buffer(ad.zeros(1), persistent=False)

    model = Model()
    assert list(model.state_dict()) == ["kept"] and list(dict(model.named_buffers())) == ["kept", "lost"]
    assert type(model.kept) is ad.Tensor and repr(model.kept) == "tensor([1., 1.])" and not isinstance(ad.ones(1), ad.nn.Buffer)
    assert isinstance(model.kept, ad.nn.Buffer) and not isinstance(model.kept, ad.nn.Parameter) and not list(model.parameters())
    model.kept = ad.zeros(3)
    assert model.double().state_dict()["kept"].dtype is ad.float64
    model.lost = ad.nn.Buffer(ad.ones(1))
    assert list(model.state_dict()) == ["kept", "lost"]
    model.weight = ad.nn.Parameter(ad.ones(1))
    with pytest.raises(TypeError, match="cannot assign 'adjoint.FloatTensor' as parameter 'weight'"):
        model.weight = ad.nn.Buffer()
    assert list(dict(model.named_parameters())) == ["weight"]
    with pytest.raises(AttributeError, match="cannot assign buffer before Module"):
        ad.nn.Module.__new__(ad.nn.Module).kept = ad.nn.Buffer()
    model.kept = ad.nn.Buffer()  # in the place of the one before
    assert list(dict(model.named_buffers())) == ["kept", "lost"] and model.kept.shape == (0,)


def test_hooks_around_states() -> None:
    model, log = ad.nn.Sequential(ad.nn.Linear(1, 2), ad.nn.ReLU()), []
    model.register_state_dict_pre_hook(lambda module, prefix, keep: log.append(("save", module is model, prefix, keep)))
    renamed = model[0].register_state_dict_post_hook(
        lambda module, state, prefix, local: state.update({prefix + "old": state.pop(prefix + "bias")})
    )

    def rename(module: Any, state: Any, prefix: str, local: Any, strict: bool, *lists: list[str]) -> None:
        log.append(("load", module is model[0], prefix, strict, *map(len, lists)))
        state[prefix + "bias"] = state.pop(prefix + "old")

    model[0].register_load_state_dict_pre_hook(rename)
    model.register_load_state_dict_post_hook(lambda module, keys: log.append(("loaded", module is model, keys)))
    state = model.state_dict()
    assert list(state) == ["0.weight", "0.old"]
    keys = model.load_state_dict({k: v + 1 for k, v in state.items()})
    assert (
        log == [("save", True, "", False), ("load", True, "0.", True, 0, 0, 0), ("loaded", True, keys)]
        and str(keys) == "<All keys matched successfully>"
    )
    model.register_load_state_dict_post_hook(lambda module, keys: keys.missing_keys.clear())
    model.load_state_dict({"0.old": ad.zeros(2)})
    renamed.remove()
    assert list(model.state_dict()) == ["0.weight", "0.bias"] and not model[0].bias.any()
    model[0].register_state_dict_post_hook(lambda *given: 5)
    with pytest.raises(RuntimeError, match="state_dict post-hook must return None"):
        model.state_dict()
    model[0].register_load_state_dict_post_hook(lambda *given: 5)
    with pytest.raises(RuntimeError, match="are not expected to return new values"):
        model.load_state_dict({"0.old": ad.zeros(2)})


def test_old_names_and_bad_arguments_of_init() -> None:
    init, w = ad.nn.init, ad.empty(3, 4)
    for name in (
        "constant",
        "dirac",
        "eye",
        "kaiming_normal",
        "kaiming_uniform",
        "normal",
        "orthogonal",
        "sparse",
        "uniform",
        "xavier_normal",
        "xavier_uniform",
    ):
        x = ad.empty(3, 4, 2) if name == "dirac" else w
        with pytest.warns(FutureWarning, match=f"`nn.init.{name}` is now deprecated in favor of `nn.init.{name}_`"):
            assert getattr(init, name)(x, *([0.5] if name in ("constant", "sparse") else [])) is x
    assert init._calculate_fan_in_and_fan_out(ad.empty(3, 4, 5)) == (20, 15) and init._calculate_correct_fan(w, "FAN_OUT") == 3
    for slope in (True, "a"):
        with pytest.raises(ValueError, match=f"negative_slope {slope} not a valid number"):
            init.calculate_gain("leaky_relu", slope)
    with pytest.warns(UserWarning, match="zero-element tensors is a no-op"):
        init.kaiming_uniform_(ad.empty(2, 0))
    with pytest.warns(UserWarning, match="mean is more than 2 std"):
        init.trunc_normal_(w, mean=10.0, a=-1, b=1)


def test_clipping_takes_what_pytorchs_does() -> None:
    utils, w = ad.nn.utils, ad.ones(2, requires_grad=True)

    def gradient(scale: float) -> Any:
        w.grad = None
        (scale * w).sum().backward()
        return w.grad

    for options in ({"foreach": True}, {"foreach": False}, {"norm_type": "inf"}):
        grad = gradient(3.0)
        assert utils.clip_grad_norm_([w], 1.5, **options).item() == pytest.approx(3 if "norm_type" in options else 18**0.5)
        assert utils.get_total_norm([grad], **options).item() == pytest.approx(1.5, rel=1e-5)
    utils.clip_grad_value_([w], 0.25, foreach=None)
    utils.clip_grads_with_norm_([w], 1.0, ad.tensor(2.0), foreach=True)
    assert w.grad.tolist() == pytest.approx([0.125, 0.125])
    with pytest.warns(FutureWarning, match="deprecated in favor of `nn.utils.clip_grad_norm_`"):
        utils.clip_grad_norm(w, 1.0)
    with pytest.raises(TypeError, match="expected Tensor, but got: list"):
        utils.vector_to_parameters([1.0, 2.0], [w])


def test_layers_for_older_programs():
    x = ad.randn(2, 6, 3, 3)
    assert ad.allclose(nn.CrossMapLRN2d(3, 0.5)(x), nn.LocalResponseNorm(3, 0.5)(x), atol=1e-6)
    with pytest.warns(FutureWarning, match=r"`nn.Container` is deprecated"):
        assert list(nn.Container(a=nn.ReLU()).state_dict()) == []
    wrapped = nn.DataParallel(nn.Linear(2, 3))
    assert nn.parallel.data_parallel(wrapped.module, ad.ones(4, 2)).shape == (4, 3) == wrapped(ad.ones(4, 2)).shape
    y = nn.FeatureAlphaDropout(0.5)(ad.ones(4, 8, 5))
    assert ad.equal(y, y[..., :1].expand_as(y)) and 1 < len(y.unique()) < 3
    before = ad.get_rng_state()
    assert nn.utils.skip_init(nn.Linear, 2, 3).weight.shape == (3, 2)
    assert nn.utils.skip_init(nn.Linear, 2, 3, device="meta").weight.is_meta and ad.equal(before, ad.get_rng_state())
    conv = nn.utils.convert_conv2d_weight_memory_format(nn.Conv2d(2, 3, 2), ad.channels_last)
    assert conv.weight.is_contiguous(memory_format=ad.channels_last)


def test_parts_of_a_batch_on_several_devices():
    model = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2))
    model.append(model[0])
    x = ad.randn(5, 2)
    both = nn.DataParallel(model)
    both.device_ids, both.output_device = ["cpu", "cpu"], "cpu"
    y = both(x)
    y.square().sum().backward()
    found = [p.grad for p in model.parameters()]
    assert model[1].num_batches_tracked == 2  # one device, twice
    model.zero_grad()
    alone = ad.cat([model(x[:3]), model(x[3:])])
    alone.square().sum().backward()
    assert ad.allclose(y, alone) and all(ad.allclose(g, p.grad) for g, p in zip(found, model.parameters(), strict=True))
    first, second = nn.parallel.replicate(model, ["cpu", "cpu"], detach=True)
    assert first[0] is first[2] is not second[0] and list(first.parameters()) == [] and not first(x).requires_grad
    with ad.no_grad():
        assert ad.equal(both(x), ad.cat([model(x[:3]), model(x[3:])]))
    with pytest.raises(ValueError, match="2 modules got 1 inputs"):
        nn.parallel.parallel_apply([model, model], [x])
    both.device_ids = ["meta", "cpu"]
    with pytest.raises(RuntimeError, match="parameters and buffers on device meta"):
        both(x)


def test_batch_norm_over_processes_is_a_batch_norm_alone():
    layer = nn.BatchNorm2d(3)
    both = nn.SyncBatchNorm.convert_sync_batchnorm(nn.Sequential(layer, nn.ReLU()))
    x = ad.randn(4, 3, 2, 2)
    assert type(both[0]) is nn.SyncBatchNorm and both[0].weight is layer.weight and both[0].running_mean is layer.running_mean
    assert ad.allclose(both(x), layer(x).relu())
    with pytest.raises(ValueError, match="at least 2D"):
        both[0](ad.ones(3))


def test_parametrizations_of_another_module():
    parametrize = nn.utils.parametrize

    class Twice(nn.Module):
        def forward(self, x):
            return x * 2

    a, b = nn.Linear(2, 2), nn.Linear(2, 2)
    assert parametrize.transfer_parametrizations_and_params(a, b) is b and not parametrize.is_parametrized(b)
    parametrize.register_parametrization(a, "weight", Twice())
    parametrize.transfer_parametrizations_and_params(a, b)
    assert ad.equal(a.weight, b.weight) and parametrize.is_parametrized(b, "weight")
    with pytest.raises(RuntimeError, match="no parametrized tensor 'bias'"):
        parametrize.transfer_parametrizations_and_params(a, b, "bias")


def test_parts_of_a_module_replaced():
    from adjoint.nn.utils.stateless import _reparametrize_module

    layer = nn.Linear(2, 1)
    before = layer.weight
    with _reparametrize_module(layer, {"weight": ad.ones(1, 2)}):
        assert layer.weight.tolist() == [[1, 1]]
    assert layer.weight is before
