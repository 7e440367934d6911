"""Activations, dropout and rearrangements: functions of `nn.functional` as modules."""

# Written by tools/stubs.py: ./run stubs
from collections.abc import Callable, Sequence
from typing import Any

from adjoint_core import Tensor, dtype

from ..functional.window_sizes import Ints
from .module import Module

class AdaptiveAvgPool1d(Module):
    '`nn.functional.adaptive_avg_pool1d` as a module: Means over `output_size` nearly equal windows of the last dimension.'
    def __init__(self, output_size: Ints) -> None: ...

class AdaptiveAvgPool2d(Module):
    '`nn.functional.adaptive_avg_pool2d` as a module: Means over nearly equal windows of the last two dimensions; None keeps a size.'
    def __init__(self, output_size: int | Sequence[int | None]) -> None: ...

class AdaptiveAvgPool3d(Module):
    '`nn.functional.adaptive_avg_pool3d` as a module: Means over nearly equal windows of the last three dimensions; None keeps a size.'
    def __init__(self, output_size: int | Sequence[int | None]) -> None: ...

class AdaptiveMaxPool1d(Module):
    '`nn.functional.adaptive_max_pool1d` as a module: The maximum of each of `output_size` parts of a line.'
    def __init__(self, output_size: Any, return_indices: bool = False) -> None: ...

class AdaptiveMaxPool2d(Module):
    '`nn.functional.adaptive_max_pool2d` as a module: The maximum of each cell of a grid of `output_size`; None keeps a size.'
    def __init__(self, output_size: Any, return_indices: bool = False) -> None: ...

class AdaptiveMaxPool3d(Module):
    '`nn.functional.adaptive_max_pool3d` as a module: The maximum of each cell of a grid of `output_size` over a volume; None keeps a size.'
    def __init__(self, output_size: Any, return_indices: bool = False) -> None: ...

class AlphaDropout(Module):
    '`nn.functional.alpha_dropout` as a module: Dropout that keeps mean and variance of selu activations.'
    def __init__(self, p: float = 0.5, inplace: bool = False) -> None: ...

class AvgPool1d(Module):
    '`nn.functional.avg_pool1d` as a module: The mean of each window of (n, c, length).'
    def __init__(self, kernel_size: Ints, stride: Ints | None = None, padding: Ints = 0, ceil_mode: bool = False, count_include_pad: bool = True) -> None: ...

class AvgPool2d(Module):
    '`nn.functional.avg_pool2d` as a module: The mean of each window of (n, c, h, w).'
    def __init__(self, kernel_size: Ints, stride: Ints | None = None, padding: Ints = 0, ceil_mode: bool = False, count_include_pad: bool = True, divisor_override: int | None = None) -> None: ...

class AvgPool3d(Module):
    '`nn.functional.avg_pool3d` as a module: The mean of each window of (n, c, d, h, w).'
    def __init__(self, kernel_size: Ints, stride: Ints | None = None, padding: Ints = 0, ceil_mode: bool = False, count_include_pad: bool = True, divisor_override: int | None = None) -> None: ...

class BCELoss(Module):
    '`nn.functional.binary_cross_entropy` as a module: -(t log p + (1 - t) log(1 - p)) for probabilities p.'
    def __init__(self, weight: Tensor | None = None, size_average: bool | None = None, reduce: bool | None = None, reduction: str = 'mean') -> None: ...

class BCEWithLogitsLoss(Module):
    '`nn.functional.binary_cross_entropy_with_logits` as a module: binary_cross_entropy of sigmoid(x), without overflow.'
    def __init__(self, weight: Tensor | None = None, size_average: bool | None = None, reduce: bool | None = None, reduction: str = 'mean', pos_weight: Tensor | None = None) -> None: ...

class CELU(Module):
    '`nn.functional.celu` as a module: x if x > 0, else alpha * (exp(x / alpha) - 1).'
    def __init__(self, alpha: float = 1.0, inplace: bool = False) -> None: ...

class CTCLoss(Module):
    '`nn.functional.ctc_loss` as a module: -log of the probability that a sequence of distributions over labels and a blank spells `targets`.'
    def __init__(self, blank: int = 0, reduction: str = 'mean', zero_infinity: bool = False) -> None: ...

class ChannelShuffle(Module):
    '`nn.functional.channel_shuffle` as a module: Interleaves `groups` groups of channels (dimension 1).'
    def __init__(self, groups: int) -> None: ...

class CircularPad1d(Module):
    '`nn.functional.pad` over the last 1 dimensions as a module.'
    def __init__(self, padding: Any) -> None: ...

class CircularPad2d(Module):
    '`nn.functional.pad` over the last 2 dimensions as a module.'
    def __init__(self, padding: Any) -> None: ...

class CircularPad3d(Module):
    '`nn.functional.pad` over the last 3 dimensions as a module.'
    def __init__(self, padding: Any) -> None: ...

class ConstantPad1d(Module):
    '`nn.functional.pad` over the last 1 dimensions as a module.'
    def __init__(self, padding: Any, value: float) -> None: ...

class ConstantPad2d(Module):
    '`nn.functional.pad` over the last 2 dimensions as a module.'
    def __init__(self, padding: Any, value: float) -> None: ...

class ConstantPad3d(Module):
    '`nn.functional.pad` over the last 3 dimensions as a module.'
    def __init__(self, padding: Any, value: float) -> None: ...

class CosineEmbeddingLoss(Module):
    '`nn.functional.cosine_embedding_loss` as a module: 1 - cos where target is 1, max(0, cos - margin) where it is -1.'
    def __init__(self, margin: float = 0.0, size_average: bool | None = None, reduce: bool | None = None, reduction: str = 'mean') -> None: ...

class CosineSimilarity(Module):
    '`nn.functional.cosine_similarity` as a module: The cosine of the angle between vectors along `dim`.'
    def __init__(self, dim: int = 1, eps: float = 1e-08) -> None: ...

class CrossEntropyLoss(Module):
    '`nn.functional.cross_entropy` as a module: nll_loss of log_softmax; `target` holds class indices or probabilities.'
    def __init__(self, weight: Tensor | None = None, size_average: bool | None = None, ignore_index: int = -100, reduce: bool | None = None, reduction: str = 'mean', label_smoothing: float = 0.0) -> None: ...

class Dropout(Module):
    '`nn.functional.dropout` as a module: Zeroes elements with probability p and scales the others by 1 / (1 - p).'
    def __init__(self, p: float = 0.5, inplace: bool = False) -> None: ...

class Dropout1d(Module):
    '`nn.functional.dropout1d` as a module: Zeroes whole channels of (n, c, length) or (c, length).'
    def __init__(self, p: float = 0.5, inplace: bool = False) -> None: ...

class Dropout2d(Module):
    '`nn.functional.dropout2d` as a module: Zeroes whole channels of (n, c, h, w); those of (n, c, length) too, with a warning, as PyTorch does.'
    def __init__(self, p: float = 0.5, inplace: bool = False) -> None: ...

class Dropout3d(Module):
    '`nn.functional.dropout3d` as a module: Zeroes whole channels of (n, c, d, h, w) or (c, d, h, w).'
    def __init__(self, p: float = 0.5, inplace: bool = False) -> None: ...

class ELU(Module):
    '`nn.functional.elu` as a module: x if x > 0, else alpha * (exp(x) - 1).'
    def __init__(self, alpha: float = 1.0, inplace: bool = False) -> None: ...

class FeatureAlphaDropout(Module):
    '`nn.functional.feature_alpha_dropout` as a module: `alpha_dropout` of whole channels of (n, c, ...).'
    def __init__(self, p: float = 0.5, inplace: bool = False) -> None: ...

class Fold(Module):
    '`nn.functional.fold` as a module: Adds patches up into images, (n, c * kh * kw, patches) -> (n, c, h, w): the transpose of `unfold`.'
    def __init__(self, output_size: Ints, kernel_size: Ints, dilation: Ints = 1, padding: Ints = 0, stride: Ints = 1) -> None: ...

class FractionalMaxPool2d(Module):
    '`nn.functional.fractional_max_pool2d` as a module.'
    def __init__(self, kernel_size: Any, output_size: Any = None, output_ratio: Any = None, return_indices: bool = False, _random_samples: Any = None) -> None: ...

class FractionalMaxPool3d(Module):
    '`nn.functional.fractional_max_pool3d` as a module.'
    def __init__(self, kernel_size: Any, output_size: Any = None, output_ratio: Any = None, return_indices: bool = False, _random_samples: Any = None) -> None: ...

class GELU(Module):
    '`nn.functional.gelu` as a module: x times the normal distribution function at x; `approximate="tanh"` for the tanh form.'
    def __init__(self, approximate: str = 'none') -> None: ...

class GLU(Module):
    '`nn.functional.glu` as a module: The first half along `dim` times the sigmoid of the second.'
    def __init__(self, dim: int = -1) -> None: ...

class GaussianNLLLoss(Module):
    '`nn.functional.gaussian_nll_loss` as a module: Minus the log-likelihood of normal values with variance `var`, which may lack the last dimension or have size 1 there.'
    def __init__(self, full: bool = False, eps: float = 1e-06, reduction: str = 'mean') -> None: ...

class Hardshrink(Module):
    '`nn.functional.hardshrink` as a module: x where |x| > lambd, 0 elsewhere.'
    def __init__(self, lambd: float = 0.5) -> None: ...

class Hardsigmoid(Module):
    '`nn.functional.hardsigmoid` as a module: relu6(x + 3) / 6.'
    def __init__(self, inplace: bool = False) -> None: ...

class Hardswish(Module):
    '`nn.functional.hardswish` as a module: x * hardsigmoid(x).'
    def __init__(self, inplace: bool = False) -> None: ...

class Hardtanh(Module):
    '`nn.functional.hardtanh` as a module: x clamped to [min_val, max_val].'
    def __init__(self, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False, min_value: float | None = None, max_value: float | None = None) -> None: ...

class HingeEmbeddingLoss(Module):
    '`nn.functional.hinge_embedding_loss` as a module: x where target is 1, max(0, margin - x) where it is -1, and their sum elsewhere.'
    def __init__(self, margin: float = 1.0, size_average: bool | None = None, reduce: bool | None = None, reduction: str = 'mean') -> None: ...

class HuberLoss(Module):
    '`nn.functional.huber_loss` as a module: Squared below `delta`, absolute above; the mean of losses with a weight divides by their number.'
    def __init__(self, reduction: str = 'mean', delta: float = 1.0) -> None: ...

class KLDivLoss(Module):
    '`nn.functional.kl_div` as a module: target * (log(target) - input), for log-probabilities `input`.'
    def __init__(self, size_average: bool | None = None, reduce: bool | None = None, reduction: str = 'mean', log_target: bool = False) -> None: ...

class L1Loss(Module):
    '`nn.functional.l1_loss` as a module: Absolute differences.'
    def __init__(self, size_average: bool | None = None, reduce: bool | None = None, reduction: str = 'mean') -> None: ...

class LPPool1d(Module):
    '`nn.functional.lp_pool1d` as a module: (sum x**p)**(1/p) over windows of a line.'
    def __init__(self, norm_type: float, kernel_size: int, stride: Any = None, ceil_mode: bool = False) -> None: ...

class LPPool2d(Module):
    '`nn.functional.lp_pool2d` as a module: (sum x**p)**(1/p) over windows of an image.'
    def __init__(self, norm_type: float, kernel_size: Ints, stride: Any = None, ceil_mode: bool = False) -> None: ...

class LPPool3d(Module):
    '`nn.functional.lp_pool3d` as a module: (sum x**p)**(1/p) over windows of a volume.'
    def __init__(self, norm_type: float, kernel_size: Ints, stride: Any = None, ceil_mode: bool = False) -> None: ...

class LeakyReLU(Module):
    '`nn.functional.leaky_relu` as a module: x if x > 0, else negative_slope * x.'
    def __init__(self, negative_slope: float = 0.01, inplace: bool = False) -> None: ...

class LocalResponseNorm(Module):
    '`nn.functional.local_response_norm` as a module: x divided by a power of the mean square over `size` neighbouring channels.'
    def __init__(self, size: int, alpha: float = 0.0001, beta: float = 0.75, k: float = 1.0) -> None: ...

class LogSigmoid(Module):
    '`nn.functional.logsigmoid` as a module: log(sigmoid(x)).'
    def __init__(self) -> None: ...

class LogSoftmax(Module):
    '`nn.functional.log_softmax` as a module: log(softmax(x)).'
    def __init__(self, dim: int | None = None) -> None: ...

class MSELoss(Module):
    '`nn.functional.mse_loss` as a module: Squared differences.'
    def __init__(self, size_average: bool | None = None, reduce: bool | None = None, reduction: str = 'mean') -> None: ...

class MarginRankingLoss(Module):
    '`nn.functional.margin_ranking_loss` as a module: max(0, -target * (x1 - x2) + margin).'
    def __init__(self, margin: float = 0.0, size_average: bool | None = None, reduce: bool | None = None, reduction: str = 'mean') -> None: ...

class MaxPool1d(Module):
    '`nn.functional.max_pool1d` as a module: The maximum of each window of (n, c, length).'
    def __init__(self, kernel_size: Ints, stride: Ints | None = None, padding: Ints = 0, dilation: Ints = 1, return_indices: bool = False, ceil_mode: bool = False) -> None: ...

class MaxPool2d(Module):
    '`nn.functional.max_pool2d` as a module: The maximum of each window of (n, c, h, w).'
    def __init__(self, kernel_size: Ints, stride: Ints | None = None, padding: Ints = 0, dilation: Ints = 1, return_indices: bool = False, ceil_mode: bool = False) -> None: ...

class MaxPool3d(Module):
    '`nn.functional.max_pool3d` as a module: The maximum of each window of (n, c, d, h, w).'
    def __init__(self, kernel_size: Ints, stride: Ints | None = None, padding: Ints = 0, dilation: Ints = 1, return_indices: bool = False, ceil_mode: bool = False) -> None: ...

class MaxUnpool1d(Module):
    '`nn.functional.max_unpool1d` as a module.'
    def __init__(self, kernel_size: Any, stride: Any = None, padding: Any = 0) -> None: ...

class MaxUnpool2d(Module):
    '`nn.functional.max_unpool2d` as a module.'
    def __init__(self, kernel_size: Any, stride: Any = None, padding: Any = 0) -> None: ...

class MaxUnpool3d(Module):
    '`nn.functional.max_unpool3d` as a module.'
    def __init__(self, kernel_size: Any, stride: Any = None, padding: Any = 0) -> None: ...

class Mish(Module):
    '`nn.functional.mish` as a module: x * tanh(softplus(x)).'
    def __init__(self, inplace: bool = False) -> None: ...

class MultiLabelMarginLoss(Module):
    '`nn.functional.multilabel_margin_loss` as a module: The mean over classes of max(0, 1 - x[j] + x[i]) for each target j and each class i that is none.'
    def __init__(self, size_average: bool | None = None, reduce: bool | None = None, reduction: str = 'mean') -> None: ...

class MultiLabelSoftMarginLoss(Module):
    '`nn.functional.multilabel_soft_margin_loss` as a module: The mean over classes of the binary cross-entropy of logits.'
    def __init__(self, weight: Tensor | None = None, size_average: bool | None = None, reduce: bool | None = None, reduction: str = 'mean') -> None: ...

class MultiMarginLoss(Module):
    '`nn.functional.multi_margin_loss` as a module: The mean over classes of max(0, margin - x[target] + x)**p, without the target itself.'
    def __init__(self, p: int = 1, margin: float = 1.0, weight: Tensor | None = None, size_average: bool | None = None, reduce: bool | None = None, reduction: str = 'mean') -> None: ...

class NLLLoss(Module):
    '`nn.functional.nll_loss` as a module: Minus the log-probability of the target class; input is (n, classes, ...).'
    def __init__(self, weight: Tensor | None = None, size_average: bool | None = None, ignore_index: int = -100, reduce: bool | None = None, reduction: str = 'mean') -> None: ...

class NLLLoss2d(Module):
    '`NLLLoss`, which takes images too: an older name, with a FutureWarning.'
    def __init__(self, *args: Any, **kwargs: Any) -> None: ...

class PairwiseDistance(Module):
    '`nn.functional.pairwise_distance` as a module: The norm of x1 - x2 + eps along the last dimension.'
    def __init__(self, p: float = 2.0, eps: float = 1e-06, keepdim: bool = False) -> None: ...

class PixelShuffle(Module):
    '`nn.functional.pixel_shuffle` as a module: (..., c * r * r, h, w) -> (..., c, h * r, w * r).'
    def __init__(self, upscale_factor: int) -> None: ...

class PixelUnshuffle(Module):
    '`nn.functional.pixel_unshuffle` as a module: (..., c, h * r, w * r) -> (..., c * r * r, h, w).'
    def __init__(self, downscale_factor: int) -> None: ...

class PoissonNLLLoss(Module):
    '`nn.functional.poisson_nll_loss` as a module: Minus the log-likelihood of Poisson counts.'
    def __init__(self, log_input: bool = True, full: bool = False, size_average: bool | None = None, eps: float = 1e-08, reduce: bool | None = None, reduction: str = 'mean') -> None: ...

class RReLU(Module):
    '`nn.functional.rrelu` as a module: x where x > 0, a random slope times x elsewhere; the mean slope if not `training`.'
    def __init__(self, lower: float = 0.125, upper: float = 0.3333333333333333, inplace: bool = False) -> None: ...

class ReLU(Module):
    '`nn.functional.relu` as a module: max(0, x).'
    def __init__(self, inplace: bool = False) -> None: ...

class ReLU6(Module):
    '`nn.functional.relu6` as a module: relu up to 6.'
    def __init__(self, inplace: bool = False) -> None: ...

class ReflectionPad1d(Module):
    '`nn.functional.pad` over the last 1 dimensions as a module.'
    def __init__(self, padding: Any) -> None: ...

class ReflectionPad2d(Module):
    '`nn.functional.pad` over the last 2 dimensions as a module.'
    def __init__(self, padding: Any) -> None: ...

class ReflectionPad3d(Module):
    '`nn.functional.pad` over the last 3 dimensions as a module.'
    def __init__(self, padding: Any) -> None: ...

class ReplicationPad1d(Module):
    '`nn.functional.pad` over the last 1 dimensions as a module.'
    def __init__(self, padding: Any) -> None: ...

class ReplicationPad2d(Module):
    '`nn.functional.pad` over the last 2 dimensions as a module.'
    def __init__(self, padding: Any) -> None: ...

class ReplicationPad3d(Module):
    '`nn.functional.pad` over the last 3 dimensions as a module.'
    def __init__(self, padding: Any) -> None: ...

class SELU(Module):
    '`nn.functional.selu` as a module: The self-normalising elu.'
    def __init__(self, inplace: bool = False) -> None: ...

class SiLU(Module):
    '`nn.functional.silu` as a module: x * sigmoid(x).'
    def __init__(self, inplace: bool = False) -> None: ...

class Sigmoid(Module):
    '`nn.functional.sigmoid` as a module: 1 / (1 + exp(-x)).'
    def __init__(self) -> None: ...

class SmoothL1Loss(Module):
    '`nn.functional.smooth_l1_loss` as a module: Squared below `beta`, absolute above.'
    def __init__(self, size_average: bool | None = None, reduce: bool | None = None, reduction: str = 'mean', beta: float = 1.0) -> None: ...

class SoftMarginLoss(Module):
    '`nn.functional.soft_margin_loss` as a module: log(1 + exp(-target * x)).'
    def __init__(self, size_average: bool | None = None, reduce: bool | None = None, reduction: str = 'mean') -> None: ...

class Softmax(Module):
    '`nn.functional.softmax` as a module: exp(x) divided by its sum along `dim`.'
    def __init__(self, dim: int | None = None) -> None: ...

class Softmin(Module):
    '`nn.functional.softmin` as a module: softmax(-x).'
    def __init__(self, dim: int | None = None) -> None: ...

class Softplus(Module):
    '`nn.functional.softplus` as a module: log(1 + exp(beta * x)) / beta; x itself where beta * x > threshold.'
    def __init__(self, beta: float = 1.0, threshold: float = 20.0) -> None: ...

class Softshrink(Module):
    '`nn.functional.softshrink` as a module: x moved towards zero by lambd; zero within.'
    def __init__(self, lambd: float = 0.5) -> None: ...

class Softsign(Module):
    '`nn.functional.softsign` as a module: x / (1 + |x|).'
    def __init__(self) -> None: ...

class Tanh(Module):
    '`nn.functional.tanh` as a module: The hyperbolic tangent.'
    def __init__(self) -> None: ...

class Tanhshrink(Module):
    '`nn.functional.tanhshrink` as a module: x - tanh(x).'
    def __init__(self) -> None: ...

class Threshold(Module):
    '`nn.functional.threshold` as a module: x where x > threshold, else value.'
    def __init__(self, threshold: float, value: float, inplace: bool = False) -> None: ...

class TripletMarginLoss(Module):
    '`nn.functional.triplet_margin_loss` as a module: max(0, |anchor - positive| - |anchor - negative| + margin).'
    def __init__(self, margin: float = 1.0, p: float = 2.0, eps: float = 1e-06, swap: bool = False, size_average: bool | None = None, reduce: bool | None = None, reduction: str = 'mean') -> None: ...

class TripletMarginWithDistanceLoss(Module):
    "`nn.functional.triplet_margin_with_distance_loss` as a module: max(0, d(a, p) - d(a, n) + margin) with a distance of one's own."
    def __init__(self, *, distance_function: Callable[[Tensor, Tensor], Tensor] | None = None, margin: float = 1.0, swap: bool = False, reduction: str = 'mean') -> None: ...

class Unfold(Module):
    '`nn.functional.unfold` as a module: The patches of images, (n, c, h, w) -> (n, c * kh * kw, patches).'
    def __init__(self, kernel_size: Ints, dilation: Ints = 1, padding: Ints = 0, stride: Ints = 1) -> None: ...

class Upsample(Module):
    '`nn.functional.interpolate` as a module: Resizes the dimensions after (n, c) to `size`, or by `scale_factor`.'
    def __init__(self, size: Ints | None = None, scale_factor: float | Sequence[float] | None = None, mode: str = 'nearest', align_corners: bool | None = None, recompute_scale_factor: bool | None = None) -> None: ...

class ZeroPad1d(Module):
    '`nn.functional.pad` over the last 1 dimensions as a module.'
    def __init__(self, padding: Any) -> None: ...

class ZeroPad2d(Module):
    '`nn.functional.pad` over the last 2 dimensions as a module.'
    def __init__(self, padding: Any) -> None: ...

class ZeroPad3d(Module):
    '`nn.functional.pad` over the last 3 dimensions as a module.'
    def __init__(self, padding: Any) -> None: ...
