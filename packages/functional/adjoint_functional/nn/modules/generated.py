"""Layers that are a function of `nn.functional` with its keywords kept: activations, losses, pooling, padding, dropout.

`layer("ELU", F.elu, "alpha inplace")` makes a module whose constructor takes `alpha` and `inplace`, with the function's defaults,
and whose `forward` takes what the function takes in front.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from .. import functional as F
from .module import Module


class _FromFunction(Module):
    """A function of `nn.functional` as a module."""

    _function: Callable[..., Any]
    _keywords: inspect.Signature
    _trains = False

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()
        try:
            given = self._keywords.bind(*args, **kwargs)
        except TypeError as error:
            raise TypeError(f"{type(self).__name__}: {error}") from None
        given.apply_defaults()
        for name, value in given.arguments.items():
            if name in ("weight", "pos_weight"):  # of a loss: moves with it
                self.register_buffer(name, value)
            else:
                setattr(self, name, value)

    def forward(self, *inputs: Any) -> Any:
        """The function's value."""
        keywords = {name: getattr(self, name) for name in self._keywords.parameters}
        if self._trains:
            keywords["training"] = self.training
        return type(self)._function(*inputs, **keywords)

    def extra_repr(self) -> str:
        """The constructor's arguments."""
        shown = ((name, getattr(self, name)) for name in self._keywords.parameters)
        return ", ".join(f"{name}={value!r}" for name, value in shown if value is not None and (name != "inplace" or value))


def layer(name: str, function: Callable[..., Any], arguments: str = "", **defaults: Any) -> type[Module]:
    """The module ``name`` for ``function``, whose constructor takes ``arguments`` (words) in this order."""
    known = inspect.signature(function).parameters
    kept = []
    for word in arguments.split():
        parameter = known[word].replace(kind=inspect.Parameter.POSITIONAL_OR_KEYWORD)
        kept.append(parameter.replace(default=defaults[word]) if word in defaults else parameter)
    contents = {
        "__doc__": f"`nn.functional.{function.__name__}` as a module: {(function.__doc__ or '').partition(chr(10))[0]}",
        "__module__": __name__,
        "_function": staticmethod(function),
        "_keywords": inspect.Signature(kept),
        "__signature__": inspect.Signature(kept),
        "_trains": "training" in known,
    }
    return type(name, (_FromFunction,), contents)


# Activations.
CELU = layer("CELU", F.celu, "alpha inplace")
ELU = layer("ELU", F.elu, "alpha inplace")
GELU = layer("GELU", F.gelu, "approximate")
GLU = layer("GLU", F.glu, "dim")
Hardshrink = layer("Hardshrink", F.hardshrink, "lambd")
Hardsigmoid = layer("Hardsigmoid", F.hardsigmoid, "inplace")
Hardswish = layer("Hardswish", F.hardswish, "inplace")
Hardtanh = layer("Hardtanh", F.hardtanh, "min_val max_val inplace")
LeakyReLU = layer("LeakyReLU", F.leaky_relu, "negative_slope inplace")
LogSigmoid = layer("LogSigmoid", F.logsigmoid)
LogSoftmax = layer("LogSoftmax", F.log_softmax, "dim")
Mish = layer("Mish", F.mish, "inplace")
RReLU = layer("RReLU", F.rrelu, "lower upper inplace")
ReLU = layer("ReLU", F.relu, "inplace")
ReLU6 = layer("ReLU6", F.relu6, "inplace")
SELU = layer("SELU", F.selu, "inplace")
SiLU = layer("SiLU", F.silu, "inplace")
Sigmoid = layer("Sigmoid", F.sigmoid)
Softmax = layer("Softmax", F.softmax, "dim")
Softmin = layer("Softmin", F.softmin, "dim")
Softplus = layer("Softplus", F.softplus, "beta threshold", beta=1.0, threshold=20.0)
Softshrink = layer("Softshrink", F.softshrink, "lambd")
Softsign = layer("Softsign", F.softsign)
Tanh = layer("Tanh", F.tanh)
Tanhshrink = layer("Tanhshrink", F.tanhshrink)
Threshold = layer("Threshold", F.threshold, "threshold value inplace")

# Losses.
BCELoss = layer("BCELoss", F.binary_cross_entropy, "weight size_average reduce reduction")
BCEWithLogitsLoss = layer(
    "BCEWithLogitsLoss", F.binary_cross_entropy_with_logits, "weight size_average reduce reduction pos_weight"
)
CTCLoss = layer("CTCLoss", F.ctc_loss, "blank reduction zero_infinity")
CosineEmbeddingLoss = layer("CosineEmbeddingLoss", F.cosine_embedding_loss, "margin size_average reduce reduction")
CrossEntropyLoss = layer(
    "CrossEntropyLoss", F.cross_entropy, "weight size_average ignore_index reduce reduction label_smoothing"
)
GaussianNLLLoss = layer("GaussianNLLLoss", F.gaussian_nll_loss, "full eps reduction")
HingeEmbeddingLoss = layer("HingeEmbeddingLoss", F.hinge_embedding_loss, "margin size_average reduce reduction")
HuberLoss = layer("HuberLoss", F.huber_loss, "reduction delta")
KLDivLoss = layer("KLDivLoss", F.kl_div, "size_average reduce reduction log_target")
L1Loss = layer("L1Loss", F.l1_loss, "size_average reduce reduction")
MSELoss = layer("MSELoss", F.mse_loss, "size_average reduce reduction")
MarginRankingLoss = layer("MarginRankingLoss", F.margin_ranking_loss, "margin size_average reduce reduction")
MultiLabelMarginLoss = layer("MultiLabelMarginLoss", F.multilabel_margin_loss, "size_average reduce reduction")
MultiLabelSoftMarginLoss = layer(
    "MultiLabelSoftMarginLoss", F.multilabel_soft_margin_loss, "weight size_average reduce reduction"
)
MultiMarginLoss = layer("MultiMarginLoss", F.multi_margin_loss, "p margin weight size_average reduce reduction")
NLLLoss = layer("NLLLoss", F.nll_loss, "weight size_average ignore_index reduce reduction")
PoissonNLLLoss = layer("PoissonNLLLoss", F.poisson_nll_loss, "log_input full size_average eps reduce reduction")
SmoothL1Loss = layer("SmoothL1Loss", F.smooth_l1_loss, "size_average reduce reduction beta")
SoftMarginLoss = layer("SoftMarginLoss", F.soft_margin_loss, "size_average reduce reduction")
TripletMarginLoss = layer("TripletMarginLoss", F.triplet_margin_loss, "margin p eps swap size_average reduce reduction")
TripletMarginWithDistanceLoss = layer(
    "TripletMarginWithDistanceLoss", F.triplet_margin_with_distance_loss, "distance_function margin swap reduction"
)

# Noise.
AlphaDropout = layer("AlphaDropout", F.alpha_dropout, "p inplace")
Dropout = layer("Dropout", F.dropout, "p inplace")
Dropout1d = layer("Dropout1d", F.dropout1d, "p inplace")
Dropout2d = layer("Dropout2d", F.dropout2d, "p inplace")
Dropout3d = layer("Dropout3d", F.dropout3d, "p inplace")

# Pooling.
_MAX, _AVG = (
    "kernel_size stride padding dilation return_indices ceil_mode",
    "kernel_size stride padding ceil_mode count_include_pad",
)
AdaptiveAvgPool1d = layer("AdaptiveAvgPool1d", F.adaptive_avg_pool1d, "output_size")
AdaptiveAvgPool2d = layer("AdaptiveAvgPool2d", F.adaptive_avg_pool2d, "output_size")
AdaptiveAvgPool3d = layer("AdaptiveAvgPool3d", F.adaptive_avg_pool3d, "output_size")
AdaptiveMaxPool1d = layer("AdaptiveMaxPool1d", F.adaptive_max_pool1d, "output_size return_indices")
AdaptiveMaxPool2d = layer("AdaptiveMaxPool2d", F.adaptive_max_pool2d, "output_size return_indices")
AdaptiveMaxPool3d = layer("AdaptiveMaxPool3d", F.adaptive_max_pool3d, "output_size return_indices")
AvgPool1d = layer("AvgPool1d", F.avg_pool1d, _AVG)
AvgPool2d = layer("AvgPool2d", F.avg_pool2d, _AVG + " divisor_override")
AvgPool3d = layer("AvgPool3d", F.avg_pool3d, _AVG + " divisor_override")
LPPool1d = layer("LPPool1d", F.lp_pool1d, "norm_type kernel_size stride ceil_mode")
LPPool2d = layer("LPPool2d", F.lp_pool2d, "norm_type kernel_size stride ceil_mode")
MaxPool1d = layer("MaxPool1d", F.max_pool1d, _MAX)
MaxPool2d = layer("MaxPool2d", F.max_pool2d, _MAX)
MaxPool3d = layer("MaxPool3d", F.max_pool3d, _MAX)
MaxUnpool1d = layer("MaxUnpool1d", F.max_unpool1d, "kernel_size stride padding")
MaxUnpool2d = layer("MaxUnpool2d", F.max_unpool2d, "kernel_size stride padding")
MaxUnpool3d = layer("MaxUnpool3d", F.max_unpool3d, "kernel_size stride padding")

# Rearrangements, distances, and the rest.
ChannelShuffle = layer("ChannelShuffle", F.channel_shuffle, "groups")
CosineSimilarity = layer("CosineSimilarity", F.cosine_similarity, "dim eps")
Fold = layer("Fold", F.fold, "output_size kernel_size dilation padding stride")
LocalResponseNorm = layer("LocalResponseNorm", F.local_response_norm, "size alpha beta k")
PairwiseDistance = layer("PairwiseDistance", F.pairwise_distance, "p eps keepdim")
PixelShuffle = layer("PixelShuffle", F.pixel_shuffle, "upscale_factor")
PixelUnshuffle = layer("PixelUnshuffle", F.pixel_unshuffle, "downscale_factor")
Unfold = layer("Unfold", F.unfold, "kernel_size dilation padding stride")
Upsample = layer("Upsample", F.interpolate, "size scale_factor mode align_corners recompute_scale_factor")


def _padding(kind: str, mode: str, n: int) -> type[Module]:
    """`ReflectionPad2d(padding)`: the padding of each side, or one number for all."""

    class Pad(Module):
        def __init__(self, padding: Any, *value: float) -> None:
            super().__init__()
            self.padding = (padding,) * (2 * n) if isinstance(padding, int) else tuple(padding)
            if kind == "Constant":
                (self.value,) = value
            elif value:
                raise TypeError(f"{type(self).__name__}: expected padding alone, got {value} too")

        def forward(self, input: Any) -> Any:
            return F.pad(input, self.padding, mode, getattr(self, "value", None))

        def extra_repr(self) -> str:
            return f"padding={self.padding}, value={self.value}" if kind == "Constant" else f"{self.padding}"

    Pad.__name__ = Pad.__qualname__ = f"{kind}Pad{n}d"
    Pad.__doc__ = f"`nn.functional.pad` over the last {n} dimensions, mode {mode!r}, as a module."
    return Pad


CircularPad1d, CircularPad2d, CircularPad3d = (_padding("Circular", "circular", n) for n in (1, 2, 3))
ConstantPad1d, ConstantPad2d, ConstantPad3d = (_padding("Constant", "constant", n) for n in (1, 2, 3))
ReflectionPad1d, ReflectionPad2d, ReflectionPad3d = (_padding("Reflection", "reflect", n) for n in (1, 2, 3))
ReplicationPad1d, ReplicationPad2d, ReplicationPad3d = (_padding("Replication", "replicate", n) for n in (1, 2, 3))
ZeroPad1d, ZeroPad2d, ZeroPad3d = (_padding("Zero", "constant", n) for n in (1, 2, 3))

__all__ = [
    name for name, value in globals().items() if name[0] != "_" and inspect.isclass(value) and value.__module__ == __name__
]
