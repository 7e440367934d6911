"""Named results of operations that return several tensors."""

from __future__ import annotations

from collections import namedtuple

from ._core import _library

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def _named(name: str, *fields: str) -> Any:
    result = namedtuple(name, fields, module=__name__)

    def shown(self: Any) -> str:
        parts = ",\n".join(f"{field}={value!r}" for field, value in zip(fields, self, strict=True))
        return f"{_library()}.return_types.{name}(\n{parts})"

    result.__repr__ = shown  # type: ignore[method-assign]
    return result


def _pair(name: str) -> Any:
    return _named(name, "values", "indices")


max = _pair("max")
min = _pair("min")
median = _pair("median")
mode = _pair("mode")
nanmedian = _pair("nanmedian")
sort = _pair("sort")
topk = _pair("topk")
kthvalue = _pair("kthvalue")
cummax = _pair("cummax")
cummin = _pair("cummin")
aminmax = _named("aminmax", "min", "max")
cholesky_ex = _named("linalg_cholesky_ex", "L", "info")
eig = _named("linalg_eig", "eigenvalues", "eigenvectors")
eigh = _named("linalg_eigh", "eigenvalues", "eigenvectors")
frexp = _named("frexp", "mantissa", "exponent")
inv_ex = _named("linalg_inv_ex", "inverse", "info")
geqrf = _named("geqrf", "a", "tau")
histogram = _named("histogram", "hist", "bin_edges")
histogramdd = _named("histogramdd", "hist", "bin_edges")
ldl_factor = _named("linalg_ldl_factor", "LD", "pivots")
ldl_factor_ex = _named("linalg_ldl_factor_ex", "LD", "pivots", "info")
lstsq = _named("linalg_lstsq", "solution", "residuals", "rank", "singular_values")
lu = _named("linalg_lu", "P", "L", "U")
lu_factor = _named("linalg_lu_factor", "LU", "pivots")
lu_factor_ex = _named("linalg_lu_factor_ex", "LU", "pivots", "info")
lu_unpack = _named("lu_unpack", "P", "L", "U")
qr = _named("linalg_qr", "Q", "R")
older_qr = _named("qr", "Q", "R")
slogdet = _named("linalg_slogdet", "sign", "logabsdet")
solve_ex = _named("linalg_solve_ex", "result", "info")
svd = _named("linalg_svd", "U", "S", "Vh")
thin_svd = _named("svd", "U", "S", "V")
triangular_solve = _named("triangular_solve", "solution", "cloned_coefficient")
