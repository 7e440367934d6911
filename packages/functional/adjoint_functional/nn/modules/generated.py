"""Activations, dropout and rearrangements: functions of `nn.functional` as modules."""

from __future__ import annotations

from .. import functional as F
from ..asserted import AssertedValueError
from .from_function import _FromFunction, layer


class _Bare(_FromFunction):
    """Shown with the value of its one argument."""

    def extra_repr(self) -> str:
        return "".join(f"{getattr(self, name)}" for name in self._handed)


class _Plain(_FromFunction):
    """Shown without arguments."""

    def extra_repr(self) -> str:
        return ""


class _Along(_FromFunction):
    """Along a dimension."""

    def extra_repr(self) -> str:
        return f"dim={self.dim}"


class _Sized(_FromFunction):
    """Shown with its size first."""

    def extra_repr(self) -> str:
        return f"{self.size}, {self._shown('alpha', 'beta', 'k')}"


class _Between(_FromFunction):
    """Between two numbers."""

    def _settle(self) -> None:
        if not self.max_val > self.min_val:
            raise AssertedValueError(
                f"max_val must be larger than min_val, got min_val={self.min_val} and max_val={self.max_val}"
            )


class _DropoutNd(_FromFunction):
    """What sets elements or channels to zero in training."""

    def _settle(self) -> None:
        if not 0 <= self.p <= 1:
            raise ValueError(f"dropout probability has to be between 0 and 1, but got {self.p}")

    def extra_repr(self) -> str:
        return self._shown("p", "inplace")


CELU = layer("CELU", F.celu, "alpha inplace")
ELU = layer("ELU", F.elu, "alpha inplace")
GELU = layer("GELU", F.gelu, "approximate")
GLU = layer("GLU", F.glu, "dim")
Hardshrink = layer("Hardshrink", F.hardshrink, "lambd", _Bare)
Hardsigmoid = layer("Hardsigmoid", F.hardsigmoid, "inplace", _Plain)
Hardswish = layer("Hardswish", F.hardswish, "inplace", _Plain)
Hardtanh = layer(
    "Hardtanh", F.hardtanh, "min_val max_val inplace", _Between, renamed={"min_value": "min_val", "max_value": "max_val"}
)
LeakyReLU = layer("LeakyReLU", F.leaky_relu, "negative_slope inplace")
LogSigmoid = layer("LogSigmoid", F.logsigmoid)
LogSoftmax = layer("LogSoftmax", F.log_softmax, "dim", _Along)
Mish = layer("Mish", F.mish, "inplace")
RReLU = layer("RReLU", F.rrelu, "lower upper inplace")
ReLU = layer("ReLU", F.relu, "inplace")
SELU = layer("SELU", F.selu, "inplace")
SiLU = layer("SiLU", F.silu, "inplace")
Sigmoid = layer("Sigmoid", F.sigmoid)
Softmax = layer("Softmax", F.softmax, "dim", _Along)
Softmin = layer("Softmin", F.softmin, "dim", _Along)
Softplus = layer("Softplus", F.softplus, "beta threshold", beta=1.0, threshold=20.0)
Softshrink = layer("Softshrink", F.softshrink, "lambd", _Bare)
Softsign = layer("Softsign", F.softsign)
Tanh = layer("Tanh", F.tanh)
Tanhshrink = layer("Tanhshrink", F.tanhshrink)
Threshold = layer("Threshold", F.threshold, "threshold value inplace")

# Noise.
AlphaDropout = layer("AlphaDropout", F.alpha_dropout, "p inplace", _DropoutNd)
Dropout = layer("Dropout", F.dropout, "p inplace", _DropoutNd)
Dropout1d = layer("Dropout1d", F.dropout1d, "p inplace", _DropoutNd)
Dropout2d = layer("Dropout2d", F.dropout2d, "p inplace", _DropoutNd)
Dropout3d = layer("Dropout3d", F.dropout3d, "p inplace", _DropoutNd)
FeatureAlphaDropout = layer("FeatureAlphaDropout", F.feature_alpha_dropout, "p inplace", _DropoutNd)

# Rearrangements, distances, and the rest.
ChannelShuffle = layer("ChannelShuffle", F.channel_shuffle, "groups")
CosineSimilarity = layer("CosineSimilarity", F.cosine_similarity, "dim eps", _Plain)
Fold = layer("Fold", F.fold, "output_size kernel_size dilation padding stride")
LocalResponseNorm = layer("LocalResponseNorm", F.local_response_norm, "size alpha beta k", _Sized)
PairwiseDistance = layer("PairwiseDistance", F.pairwise_distance, "p eps keepdim", _Plain, attributes={"p": "norm"})
PixelShuffle = layer("PixelShuffle", F.pixel_shuffle, "upscale_factor")
PixelUnshuffle = layer("PixelUnshuffle", F.pixel_unshuffle, "downscale_factor")
Unfold = layer("Unfold", F.unfold, "kernel_size dilation padding stride")


class ReLU6(Hardtanh):
    """`nn.functional.relu6` as a module: relu up to 6.

    Example::

        >>> ad.nn.ReLU6()(ad.tensor([-1.0, 7.0]))
        tensor([0., 6.])
    """

    def __init__(self, inplace: bool = False) -> None:
        super().__init__(0.0, 6.0, inplace)

    def extra_repr(self) -> str:
        """Whether it writes in place."""
        return "inplace=True" if self.inplace else ""


class _Resized(_FromFunction):
    def _settle(self) -> None:
        self.name = type(self).__name__
        if self.scale_factor is not None:
            given = self.scale_factor
            self.scale_factor = tuple(map(float, given)) if isinstance(given, tuple) else float(given)

    def extra_repr(self) -> str:
        """The size or the factor, and the mode."""
        return self._shown("size" if self.scale_factor is None else "scale_factor", "mode")


Upsample = layer("Upsample", F.interpolate, "size scale_factor mode align_corners recompute_scale_factor", _Resized)
Upsample.__constants__.append("name")


__all__ = [
    name for name, value in globals().items() if name[0] != "_" and isinstance(value, type) and value.__module__ == __name__
]
