"""Every layer beside PyTorch's: what it is printed as, what its attributes are, what it saves; and every public name of `nn`."""

from __future__ import annotations

import copy
import importlib
import inspect
import re
import warnings
from typing import Any

import numpy as np
import pytest

import adjoint as ad

torch = pytest.importorskip("torch")

# How each is made: `lib` and `nn` are those of either library.
CALLS: dict[str, list[str]] = {
    "AdaptiveAvgPool1d": ["5"], "AdaptiveAvgPool2d": ["5", "(5,None)"], "AdaptiveAvgPool3d": ["5"],
    "AdaptiveLogSoftmaxWithLoss": ["8,20,[5,10]", "8,20,[5,10],2.0,True"], "AdaptiveMaxPool1d": ["5"],
    "AdaptiveMaxPool2d": ["5", "(5,7),True"], "AdaptiveMaxPool3d": ["5"], "AlphaDropout": ["", "0.3,True"],
    "AvgPool1d": ["2", "2,1,1,True,False"], "AvgPool2d": ["2", "2,1,1,True,False,3"], "AvgPool3d": ["2", "2,1,1"],
    "BCELoss": ["", "reduction='sum'"], "BCEWithLogitsLoss": ["", "pos_weight=lib.ones(3)"],
    "BatchNorm1d": ["3", "3,1e-3,None,False,False"], "BatchNorm2d": ["3", "3,affine=False"],
    "BatchNorm3d": ["3", "3,track_running_stats=False"], "Bilinear": ["2,3,4", "2,3,4,False"], "CELU": ["", "2.0,True"],
    "CTCLoss": ["", "1,'sum',True"], "ChannelShuffle": ["2"], "CircularPad1d": ["1"], "CircularPad2d": ["1", "(1,2,3,4)"],
    "CircularPad3d": ["1"], "ConstantPad1d": ["1,2.0"], "ConstantPad2d": ["1,2.0"], "ConstantPad3d": ["1,2.0"],
    "Container": ["a=nn.ReLU()"], "Conv1d": ["2,3,1", "2,4,3,2,1,2,2,False,'circular'", "2,3,3,padding='same'"],
    "Conv2d": ["2,3,1", "2,4,(3,2),(2,1),(1,0),2,2,False,'reflect'", "2,3,3,padding='valid'"],
    "Conv3d": ["2,3,1", "2,3,3,padding='same',padding_mode='replicate'"], "ConvTranspose1d": ["2,3,1", "2,4,3,2,1,1,2,False,1"],
    "ConvTranspose2d": ["2,3,1"], "ConvTranspose3d": ["2,3,1"], "CosineEmbeddingLoss": ["", "0.5"],
    "CosineSimilarity": ["", "0,1e-5"], "CrossEntropyLoss": ["", "lib.ones(3),ignore_index=1,label_smoothing=.1"],
    "CrossMapLRN2d": ["2", "3,1e-3,.5,2"], "DataParallel": ["nn.Linear(2,2)"], "Dropout": ["", ".3,True"], "Dropout1d": [""],
    "Dropout2d": [""], "Dropout3d": [""], "ELU": ["", "2.0,True"], "Embedding": ["5,3", "5,3,-1,2.0,1.0,True,True"],
    "EmbeddingBag": ["5,3", "5,3,2.0,1.0,True,'sum',False,None,True,1", "5,3,mode='max'"], "FeatureAlphaDropout": [""],
    "Flatten": ["", "0,2"], "Fold": ["4,2", "(4,5),2,1,1,2"],
    "FractionalMaxPool2d": ["2,output_size=3", "2,output_ratio=.5,return_indices=True"],
    "FractionalMaxPool3d": ["2,output_size=3"], "GELU": ["", "'tanh'"], "GLU": ["", "1"],
    "GRU": ["3,4", "3,4,2,False,True,.1,True"], "GRUCell": ["3,4", "3,4,False"], "GaussianNLLLoss": ["", "full=True"],
    "GroupNorm": ["2,4", "2,4,affine=False"], "Hardshrink": ["", ".3"], "Hardsigmoid": ["", "True"], "Hardswish": ["", "True"],
    "Hardtanh": ["", "-2.0,3.0,True"], "HingeEmbeddingLoss": [""], "HuberLoss": ["", "'sum',2.0"], "Identity": ["", "3,a=4"],
    "InstanceNorm1d": ["3", "3,affine=True,track_running_stats=True"], "InstanceNorm2d": ["3"], "InstanceNorm3d": ["3"],
    "KLDivLoss": ["", "log_target=True"], "L1Loss": ["", "False"], "LPPool1d": ["2,3", "2,3,1,True"], "LPPool2d": ["2,3"],
    "LPPool3d": ["2,3"], "LSTM": ["3,4", "3,4,2,False,True,.1,True,2"], "LSTMCell": ["3,4"],
    "LayerNorm": ["3", "(3,2),1e-3,False", "3,bias=False"], "LazyBatchNorm1d": [""], "LazyBatchNorm2d": [""],
    "LazyBatchNorm3d": [""], "LazyConv1d": ["3,1"], "LazyConv2d": ["3,1"], "LazyConv3d": ["3,1"],
    "LazyConvTranspose1d": ["3,1"], "LazyConvTranspose2d": ["3,1"], "LazyConvTranspose3d": ["3,1"], "LazyInstanceNorm1d": [""],
    "LazyInstanceNorm2d": [""], "LazyInstanceNorm3d": [""], "LazyLinear": ["3", "3,False"], "LeakyReLU": ["", ".2,True"],
    "Linear": ["2,3", "2,3,False"], "LocalResponseNorm": ["2", "3,1e-3,.5,2"], "LogSigmoid": [""], "LogSoftmax": ["", "1"],
    "MSELoss": ["", "size_average=False"], "MarginRankingLoss": ["", "1.0"], "MaxPool1d": ["2", "2,1,1,1,True,True"],
    "MaxPool2d": ["2", "(2,3),(1,2),1,2,True,True"], "MaxPool3d": ["2"], "MaxUnpool1d": ["2", "2,1,1"],
    "MaxUnpool2d": ["2", "(2,3)"], "MaxUnpool3d": ["2"], "Mish": ["", "True"], "Module": [""],
    "ModuleDict": ["", "{'a':nn.ReLU()}"], "ModuleList": ["", "[nn.ReLU(),nn.ReLU(),nn.Tanh()]"], "MultiLabelMarginLoss": [""],
    "MultiLabelSoftMarginLoss": ["", "lib.ones(3)"], "MultiMarginLoss": ["", "2,2.0"],
    "MultiheadAttention": ["4,2", "4,2,.1,False,True,True,3,2,True"], "NLLLoss": ["", "lib.ones(3)"], "NLLLoss2d": [""],
    "PReLU": ["", "3,.1"], "PairwiseDistance": ["", "1.0"], "ParameterDict": ["", "{'a':nn.Parameter(lib.ones(2))}"],
    "ParameterList": ["", "[nn.Parameter(lib.ones(2)),nn.Parameter(lib.ones(2,3))]"], "PixelShuffle": ["2"],
    "PixelUnshuffle": ["2"], "PoissonNLLLoss": ["", "False,True"], "RMSNorm": ["3", "(3,2),1e-3,False"],
    "RNN": ["3,4", "3,4,2,'relu',False,True,.1,True"], "RNNBase": ["'LSTM',3,4"], "RNNCell": ["3,4", "3,4,True,'relu'"],
    "RNNCellBase": ["3,4,True,2"], "RReLU": ["", ".2,.3,True"], "ReLU": ["", "True"], "ReLU6": ["", "True"],
    "ReflectionPad1d": ["1"], "ReflectionPad2d": ["1"], "ReflectionPad3d": ["1"], "ReplicationPad1d": ["1"],
    "ReplicationPad2d": ["1"], "ReplicationPad3d": ["1"], "SELU": ["", "True"], "Sequential": ["", "nn.ReLU(),nn.Linear(2,3)"],
    "SiLU": ["", "True"], "Sigmoid": [""], "SmoothL1Loss": ["", "beta=.5"], "SoftMarginLoss": [""], "Softmax": ["", "1"],
    "Softmax2d": [""], "Softmin": ["", "1"], "Softplus": ["", "2.0,10.0"], "Softshrink": ["", ".3"], "Softsign": [""],
    "SyncBatchNorm": ["3"], "Tanh": [""], "Tanhshrink": [""], "Threshold": [".1,20.0", ".1,20.0,True"],
    "Transformer": ["4,2,1,1,8"], "TransformerDecoder": ["nn.TransformerDecoderLayer(4,2,8),2"],
    "TransformerDecoderLayer": ["4,2,8", "4,2,8,.1,'gelu',1e-3,True,True,False"],
    "TransformerEncoder": ["nn.TransformerEncoderLayer(4,2,8),2"],
    "TransformerEncoderLayer": ["4,2,8", "4,2,8,.1,'gelu',1e-3,True,True,False"], "TripletMarginLoss": ["", "2.0,1.0"],
    "TripletMarginWithDistanceLoss": ["", "margin=2.0"], "Unflatten": ["1,(2,3)"], "Unfold": ["2", "(2,3),1,1,2"],
    "Upsample": ["3", "scale_factor=2.0,mode='bilinear',align_corners=True"], "UpsamplingBilinear2d": ["3"],
    "UpsamplingNearest2d": ["scale_factor=2"], "ZeroPad1d": ["1"], "ZeroPad2d": ["1"], "ZeroPad3d": ["1"],
}  # fmt: skip

# What is not there, and why.
NO_SUCH_DEVICE = {"ipu", "xpu", "mtia"}
TYPES_ONLY = {"T_destination"}
# One path computes recurrent layers: it reads the parameters where they are, so there is no second list to keep.
DERIVED = {"_flat_weight_refs", "_flat_weights", "_flat_weights_names"}
ABSENT = {
    "LinearCrossEntropyLoss": "a chunked loss that is a prototype in PyTorch: Linear and CrossEntropyLoss are there",
    "LinearCrossEntropyOptions": "as LinearCrossEntropyLoss",
}


def made(lib: Any, name: str, call: str) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return eval(f"nn.{name}({call})", {"lib": lib, "nn": lib.nn})


def plain(lib: Any, v: Any) -> Any:
    """The same for equal things of both libraries."""
    if isinstance(v, lib.Tensor):
        return type(v).__name__, "?" if lib.nn.parameter.is_lazy(v) else tuple(v.shape), v.requires_grad
    if isinstance(v, lib.nn.Module):
        return type(v).__name__
    if isinstance(v, (list, tuple, set)):
        return [type(v).__name__, *(plain(lib, x) for x in v)]
    if isinstance(v, dict):
        return [(None if isinstance(k, int) else k, plain(lib, x)) for k, x in v.items()]
    if type(v).__name__ == "RemovableHandle":
        return "handle"
    return "callable" if callable(v) else text(repr(v))


def text(s: str) -> str:
    return s.replace("adjoint.", "torch.")


def facts(lib: Any, module: Any) -> dict[str, Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        public = {name: getattr(module, name) for name in dir(module) if not name.startswith("_")}
    values = {k: plain(lib, v) for k, v in public.items() if not inspect.ismethod(v) and k not in TYPES_ONLY | NO_SUCH_DEVICE}
    own = {k: sorted(plain(lib, v), key=repr) if isinstance(v, dict) else plain(lib, v) for k, v in vars(module).items()}
    own = {k: v for k, v in own.items() if k not in DERIVED and k != "_made_of"}
    kinds = [c.__name__ for c in type(module).__mro__]
    lazy = "Lazy" in type(module).__name__
    return {
        "repr": text(repr(module)), "public": sorted(public.keys() - TYPES_ONLY - NO_SUCH_DEVICE), "values": values, "own": own,
        "keys": [] if lazy else list(module.state_dict()), "version": module._version, "kinds": kinds,
        "constants": sorted(getattr(type(module), "__constants__", [])),
    }  # fmt: skip


CASES = [(name, call) for name, calls in CALLS.items() for call in calls]


@pytest.mark.parametrize(("name", "call"), CASES)
def test_layer(name: str, call: str) -> None:
    ours, theirs = (facts(lib, made(lib, name, call)) for lib in (ad, torch))
    missing_kinds = [kind for kind in theirs.pop("kinds") if kind not in ours["kinds"]]
    assert not [kind for kind in missing_kinds if kind not in ("_LazyNormBase", "_LazyConvXdMixin", "Generic")]
    missing = [n for n in theirs.pop("public") if n not in ours["public"]]
    assert not missing
    own, expected = ours["own"], theirs["own"]
    assert {k: v for k, v in own.items() if k in expected} == expected
    assert not [k for k in own if k not in expected and not k.startswith("_")]
    assert {k: ours["values"][k] for k in theirs["values"]} == theirs["values"]
    for key in ("repr", "keys", "version", "constants"):
        assert ours[key] == theirs[key], key


def test_every_layer_is_made() -> None:
    layers = {n for n, c in vars(torch.nn).items() if inspect.isclass(c) and issubclass(c, torch.nn.Module)}
    assert layers - CALLS.keys() == ABSENT.keys() - {"LinearCrossEntropyOptions"}
    assert not [n for n in ABSENT if hasattr(ad.nn, n)]


# Names of PyTorch's own parts that stand among the public ones.
_MADE_FOR_PYTORCH = re.compile(
    "has_torch_function|handle_torch_function|boolean_dispatch|BroadcastingList|reproducibility_notes|tf32_notes|sparse_support_notes|"
    "assert_int_or_pair|GRID_SAMPLE|ScalingType|SwizzleType|DType$|.*scaled_.*mm|grouped_mm|linear_cross_entropy|conv_tbc|"
    "TYPE_CHECKING$|T$|Tensor$|native_channel_shuffle|convolution_notes|factory_kwargs|is_opaque|is_traceable|OpaqueBase|bind$|copy_method_params|PackedSequence_"
)
_ABSENT_SPACES = {
    "intrinsic": "quantization is not adjoint's subject", "qat": "as intrinsic", "quantizable": "as intrinsic",
    "quantized": "as intrinsic", "backends": "empty in PyTorch",
}  # fmt: skip
SPACES = [
    "nn", "nn.functional", "nn.init", "nn.utils", "nn.utils.rnn", "nn.utils.prune", "nn.utils.parametrize", "nn.utils.parametrizations",
    "nn.utils.stateless", "nn.utils.fusion", "nn.utils.clip_grad", "nn.utils.convert_parameters", "nn.utils.memory_format",
    "nn.utils.init", "nn.parameter", "nn.grad", "nn.common_types", "nn.modules",
    *(f"nn.modules.{m}" for m in "activation adaptive batchnorm channelshuffle container conv distance dropout flatten fold instancenorm "
      "lazy linear loss module normalization padding pixelshuffle pooling rnn sparse transformer upsampling utils".split()),
]  # fmt: skip


@pytest.mark.parametrize("space", SPACES)
def test_names(space: str) -> None:
    theirs, ours = (importlib.import_module(f"{lib.__name__}.{space}") for lib in (torch, ad))
    absent = []
    for name in getattr(theirs, "__all__", dir(theirs)):
        value = getattr(theirs, name)
        of_torch = (getattr(value, "__module__", None) or "torch").startswith("torch") and not inspect.ismodule(value)
        known = name.startswith("_") or name in ABSENT or name in _ABSENT_SPACES or _MADE_FOR_PYTORCH.match(name)
        if of_torch and not known and not hasattr(ours, name):
            absent.append(name)
    assert not absent


# ---- what they compute


def both(f: Any, *arrays: Any) -> list[Any]:
    """The results of a function of the library and tensors, in both, as nested lists."""
    found = []
    for lib in (ad, torch):
        y = f(lib, *(lib.tensor(a) for a in arrays))
        found.append([t.detach().numpy() for t in (y if isinstance(y, (tuple, list)) else [y])])
    return found


RNG = np.random.default_rng(3)
ROOM = RNG.standard_normal((2, 3, 7, 8))


@pytest.mark.parametrize("samples", [0.0, 0.3, 0.99])
@pytest.mark.parametrize("volume", [False, True])
def test_fractional_pooling(samples: float, volume: bool) -> None:
    x = RNG.standard_normal((2, 3, 6, 7, 8)) if volume else ROOM
    draws = np.clip(RNG.random((2, 3, 3 if volume else 2)) + samples - 0.5, 0, 0.999)

    def pool(lib: Any, t: Any, draws: Any) -> Any:
        t.requires_grad_()
        f = lib.nn.functional.fractional_max_pool3d if volume else lib.nn.functional.fractional_max_pool2d
        y, i = f(t, 2, output_size=(3, 4, 5)[-t.dim() + 2 :], return_indices=True, _random_samples=draws)
        (y * y).sum().backward()
        return y, i, t.grad

    for a, b in zip(*both(pool, x, draws), strict=True):
        np.testing.assert_allclose(a, b)


def test_adaptive_log_softmax() -> None:
    x, target = RNG.standard_normal((6, 8)), np.array([0, 4, 5, 11, 19, 10])
    weights = None

    def run(lib: Any, x: Any, target: Any) -> Any:
        nonlocal weights
        layer = lib.nn.AdaptiveLogSoftmaxWithLoss(8, 20, [5, 10], 2.0, True).double()
        if weights is None:
            weights = {k: RNG.standard_normal(tuple(v.shape)) for k, v in layer.state_dict().items()}
        layer.load_state_dict({k: lib.tensor(v) for k, v in weights.items()})
        output, loss = layer(x, target)
        loss.backward()
        return output, loss, layer.log_prob(x), layer.predict(x), *(p.grad for p in layer.parameters())

    for a, b in zip(*both(run, x, target), strict=True):
        np.testing.assert_allclose(a, b, 1e-9)


@pytest.mark.parametrize("size", [2, 3, 4])
def test_older_normalisation(size: int) -> None:
    """PyTorch never takes the first channel out of its running sum: before that both are the same."""
    same = (size - 1) // 2 + 1
    for a, b in zip(*both(lambda lib, x: lib.nn.CrossMapLRN2d(size, 0.3, 0.75, 2)(x)[:, :same], ROOM), strict=True):
        np.testing.assert_allclose(a, b, 1e-9)


def test_gradients_of_convolutions_as_functions() -> None:
    w, v = RNG.standard_normal((4, 3, 2, 3)), RNG.standard_normal((2, 4, 3, 3))

    def run(lib: Any, x: Any, w: Any, v: Any) -> Any:
        g = lib.nn.grad
        return g.conv2d_input(x.shape, w, v, 2), g.conv2d_weight(x, w.shape, v, 2)

    for a, b in zip(*both(run, ROOM[:, :, :6], w, v), strict=True):
        np.testing.assert_allclose(a, b, 1e-9)


PRUNINGS = {
    "l1": lambda lib, m: lib.nn.utils.prune.l1_unstructured(m, "weight", 0.4),
    "ln": lambda lib, m: lib.nn.utils.prune.ln_structured(m, "weight", 1, 2, 0),
    "custom": lambda lib, m: lib.nn.utils.prune.custom_from_mask(m, "bias", lib.tensor([1, 0, 1, 1])),
    "identity": lambda lib, m: lib.nn.utils.prune.identity(m, "weight"),
    "twice": lambda lib, m: lib.nn.utils.prune.ln_structured(
        lib.nn.utils.prune.l1_unstructured(m, "weight", 5), "weight", 1, 1, 1
    ),
    "again": lambda lib, m: lib.nn.utils.prune.l1_unstructured(lib.nn.utils.prune.l1_unstructured(m, "weight", 5), "weight", 2),
    "global": lambda lib, m: lib.nn.utils.prune.global_unstructured(
        [(m, "weight"), (m, "bias")], lib.nn.utils.prune.L1Unstructured, amount=6
    ),
}


@pytest.mark.parametrize("name", PRUNINGS)
def test_pruning(name: str) -> None:
    w, b, x = RNG.standard_normal((4, 3)), RNG.standard_normal(4), RNG.standard_normal((2, 3))

    def run(lib: Any, w: Any, b: Any, x: Any) -> Any:
        m = lib.nn.Linear(3, 4).double()
        m.load_state_dict({"weight": w, "bias": b})
        PRUNINGS[name](lib, m)
        y = m(x)
        y.sum().backward()
        kept = [t for _, t in sorted(m.state_dict().items())]
        grads = [p.grad for _, p in sorted(m.named_parameters())]
        for parameter in ("weight", "bias"):
            if hasattr(m, parameter + "_mask"):
                lib.nn.utils.prune.remove(m, parameter)
        assert not lib.nn.utils.prune.is_pruned(m)
        return y, *kept, *grads, *(t for _, t in sorted(m.state_dict().items()))

    for a, c in zip(*both(run, w, b, x), strict=True):
        np.testing.assert_allclose(a, c, 1e-9)


def part(lib: Any, seen: list[Any]) -> Any:
    """A module that tells what of it is called."""

    class Part(lib.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.weight = lib.nn.Parameter(lib.ones(2))
            self.register_buffer("total", lib.zeros(1))
            self.register_buffer("hidden", lib.zeros(1), persistent=False)

        def forward(self, x: Any) -> Any:
            return x * self.weight

        def train(self, mode: bool = True) -> Any:
            seen.append(("train", mode))
            return super().train(mode)

        def _apply(self, fn: Any, recurse: bool = True) -> Any:
            seen.append("_apply")
            return super()._apply(fn, recurse)

        def _save_to_state_dict(self, destination: Any, prefix: str, keep_vars: bool) -> None:
            seen.append(("save", prefix, keep_vars))
            super()._save_to_state_dict(destination, prefix, keep_vars)
            destination[prefix + "more"] = lib.ones(1)

        def _load_from_state_dict(self, state: Any, prefix: str, local: Any, strict: bool, *lists: Any) -> None:
            seen.append(("load", prefix, dict(local), strict, sorted(state)))
            state.pop(prefix + "more", None)
            super()._load_from_state_dict(state, prefix, local, strict, *lists)

        def __setstate__(self, state: Any) -> None:
            seen.append("__setstate__")
            super().__setstate__(state)

        def extra_repr(self) -> str:
            return "a part"

    return Part


def events(lib: Any) -> list[Any]:
    """What is called, and in which order, when a model is built, run, saved and loaded."""
    seen: list[Any] = []
    Part = part(lib, seen)
    model = lib.nn.Sequential(Part(), lib.nn.Sequential(Part(), lib.nn.BatchNorm1d(2)))
    hooks = lib.nn.modules.module
    handles = [
        hooks.register_module_forward_pre_hook(lambda m, args: seen.append(("all pre", type(m).__name__))),
        hooks.register_module_forward_hook(lambda m, args, y: seen.append(("all", type(m).__name__))),
        hooks.register_module_full_backward_hook(
            lambda m, gi, go: seen.append(("all backward", type(m).__name__, len(gi), len(go)))
        ),
        model[0].register_backward_hook(lambda m, gi, go: seen.append(("older", len(gi), go[0].tolist()))),
        model._register_state_dict_hook(lambda m, state, prefix, local: seen.append(("state", prefix, dict(local))) or None),
        model._register_load_state_dict_pre_hook(lambda state, prefix, *rest: seen.append(("pre", prefix, len(state)))),
        model[0].register_load_state_dict_pre_hook(lambda m, state, prefix, *rest: seen.append((type(m).__name__, prefix))),
        model.register_state_dict_post_hook(lambda m, state, prefix, local: seen.append(("post", len(state)))),
    ]
    model.train()
    model.eval().double().float().to(lib.float32)
    model.train()(lib.ones(3, 2)).sum().backward()
    for handle in handles[:3]:
        handle.remove()
    state = model.state_dict()
    seen.append({k: v for k, v in state._metadata.items()})
    seen.append(repr(model.load_state_dict(state)))
    del state["0.weight"]
    state["1.0.other"] = state["1.1.bias"]
    seen.append(tuple(model.load_state_dict(state, strict=False)))
    try:
        model.load_state_dict(state)
    except RuntimeError as error:
        seen.append(str(error))
    copied = copy.deepcopy(model)
    seen.append((repr(copied), list(copied.state_dict())))
    del state._metadata
    seen.append(tuple(model.load_state_dict(state, strict=False)))
    return seen


@pytest.mark.filterwarnings("ignore:Full backward hook is firing", "ignore:Using a non-full backward hook")
def test_what_is_called() -> None:
    assert [text(repr(e)) for e in events(ad)] == [text(repr(e)) for e in events(torch)]


def refused(lib: Any) -> list[str]:
    m = lib.nn.Linear(2, 2)
    calls = [
        lambda: m.load_state_dict({"weight": lib.ones(3, 3), "x": lib.ones(1)}), lambda: m.load_state_dict({"weight": 3}, strict=False),
        lambda: m.register_buffer("weight", None), lambda: m.register_parameter("a.b", None), lambda: m.register_parameter("", None),
        lambda: m.add_module("q", 3), lambda: m.register_buffer("z", 3), lambda: m.register_parameter("z", lib.ones(2)),
        lambda: setattr(m, "weight", lib.ones(2)), lambda: m.get_submodule("a"), lambda: m.get_parameter("zz"),
        lambda: m.get_buffer("weight"), lambda: m.set_submodule("", m), lambda: m.foo, lambda: lib.nn.Module()(3), lambda: m.to(lib.int32),
        lambda: m.load_state_dict(3), lambda: setattr(m, "weight", 3), lambda: m.train("yes"),
    ]  # fmt: skip
    found = []
    for call in calls:
        with pytest.raises(Exception) as error:
            call()
        found.append(text(f"{error.type.__name__}"))
    return found


def test_what_is_refused() -> None:
    assert refused(ad) == refused(torch)
