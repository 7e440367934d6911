"""In-place methods that PyTorch also has as functions: `sin_(x)` is `x.sin_()`."""

from __future__ import annotations

from .._core import Tensor

__all__ = [
    f"{name}_"
    for name in (
        "abs acos acosh addmv arccos arccosh arcsin arcsinh arctan arctanh as_strided asin asinh atan atanh ceil clamp clamp_max clamp_min clip "
        "cos cosh deg2rad detach erf erfc exp exp2 expm1 fill fix floor frac index_put log log10 log1p log2 logit nan_to_num neg negative "
        "rad2deg reciprocal relu round rsqrt sigmoid sin sinc sinh sqrt square tan tanh trunc xlogy zero"
    ).split()
    if hasattr(Tensor, name + "_")
]
globals().update({name: getattr(Tensor, name) for name in __all__})
