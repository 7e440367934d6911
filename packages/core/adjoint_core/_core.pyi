"""The tensor and its operations."""

# Written by tools/stubs.py: ./run stubs
from builtins import bool as _bool, complex as _complex, float as _float, int as _int, object as _object, type as _type
from collections.abc import Callable, Iterator, Sequence
import enum
from typing import Any, NamedTuple, Self, TypeAlias, overload

from adjoint_core._tensor.storage import UntypedStorage
from adjoint_core._tensor.typed_storage import TypedStorage
from adjoint_core._size import Size as Size

_Number: TypeAlias = _float | _int | _bool | _complex
_Dims: TypeAlias = _int | Sequence[_int]
_dtype: TypeAlias = dtype
_device: TypeAlias = device


class _ValuesIndices(NamedTuple):
    values: Tensor
    indices: Tensor


class _MinMax(NamedTuple):
    min: Tensor
    max: Tensor


class ShapeError(RuntimeError, ValueError):
    """Shapes that do not fit together."""

class Tensor:
    """A strided array of one element type, with derivatives."""

    @property
    def H(self) -> Tensor:
        """The conjugate transpose of a matrix."""

    @property
    def T(self) -> Tensor:
        """All dimensions reversed."""

    def abs(self) -> Tensor:
        """Absolute value of each element of `x`; derivative 0 at 0."""

    def abs_(self) -> Tensor: ...

    def absolute(self) -> Tensor: ...

    def absolute_(self) -> Tensor: ...

    def acos(self) -> Tensor:
        """Arccosine of each element of `x`."""

    def acos_(self) -> Tensor: ...

    def acosh(self) -> Tensor:
        """Inverse hyperbolic cosine of each element of `x`."""

    def acosh_(self) -> Tensor: ...

    def add(self, other: Tensor | _Number, *, alpha: _Number | None=None) -> Tensor:
        """Elementwise sum."""

    def add_(self, other: Tensor | _Number, *, alpha: _Number | None=None) -> Tensor: ...

    def addbmm(self, batch1: Tensor, batch2: Tensor, *, beta: _Number=1, alpha: _Number=1) -> Tensor: ...

    def addbmm_(self, batch1: Tensor, batch2: Tensor, *, beta: _Number=1, alpha: _Number=1) -> Tensor: ...

    def addcdiv(self, tensor1: Tensor, tensor2: Tensor, *, value: _Number=1) -> Tensor:
        """`x + value * a / b`, elementwise."""

    def addcdiv_(self, tensor1: Tensor, tensor2: Tensor, *, value: _Number=1) -> Tensor: ...

    def addcmul(self, tensor1: Tensor, tensor2: Tensor, *, value: _Number=1) -> Tensor:
        """`x + value * a * b`, elementwise."""

    def addcmul_(self, tensor1: Tensor, tensor2: Tensor, *, value: _Number=1) -> Tensor: ...

    def addmm(self, mat1: Tensor, mat2: Tensor, *, beta: _Number=1, alpha: _Number=1) -> Tensor: ...

    def addmm_(self, mat1: Tensor, mat2: Tensor, *, beta: _Number=1, alpha: _Number=1) -> Tensor: ...

    def addmv(self, mat: Tensor, vec: Tensor, *, beta: _Number=1, alpha: _Number=1) -> Tensor: ...

    def addmv_(self, mat: Tensor, vec: Tensor, *, beta: _Number=1, alpha: _Number=1) -> Tensor: ...

    def addr(self, vec1: Tensor, vec2: Tensor, *, beta: _Number=1, alpha: _Number=1) -> Tensor: ...

    def addr_(self, vec1: Tensor, vec2: Tensor, *, beta: _Number=1, alpha: _Number=1) -> Tensor: ...

    def adjoint(self) -> Tensor: ...

    def all(self, dim: _Dims | None=None, keepdim: _bool=False) -> Tensor:
        """Whether every element over `dims` is non-zero."""

    def allclose(self, other: Tensor, rtol: _float=1e-05, atol: _float=1e-08, equal_nan: _bool=False) -> _bool:
        """Are all elements close?"""

    def amax(self, dim: _Dims | None=None, keepdim: _bool=False) -> Tensor:
        """The largest value over `dims`; equal ones share the derivative."""

    def amin(self, dim: _Dims | None=None, keepdim: _bool=False) -> Tensor:
        """The smallest value over `dims`; equal ones share the derivative."""

    def aminmax(self, *, dim: _int | None=None, keepdim: _bool=False) -> _MinMax: ...

    def angle(self) -> Tensor:
        """Angle of each element of `x` in the complex plane."""

    def any(self, dim: _Dims | None=None, keepdim: _bool=False) -> Tensor:
        """Whether some element over `dims` is non-zero."""

    def apply_(self, callable: Callable[[Any], Any]) -> Tensor:
        """Replaces each element by what a Python function makes of it: slow."""

    def arccos(self) -> Tensor: ...

    def arccos_(self) -> Tensor: ...

    def arccosh(self) -> Tensor: ...

    def arccosh_(self) -> Tensor: ...

    def arcsin(self) -> Tensor: ...

    def arcsin_(self) -> Tensor: ...

    def arcsinh(self) -> Tensor: ...

    def arcsinh_(self) -> Tensor: ...

    def arctan(self) -> Tensor: ...

    def arctan2(self, other: Tensor | _Number) -> Tensor: ...

    def arctan2_(self, other: Tensor | _Number) -> Tensor: ...

    def arctan_(self) -> Tensor: ...

    def arctanh(self) -> Tensor: ...

    def arctanh_(self) -> Tensor: ...

    def argmax(self, dim: _int | None=None, keepdim: _bool=False) -> Tensor:
        """The position of the first largest value along a dimension."""

    def argmin(self, dim: _int | None=None, keepdim: _bool=False) -> Tensor:
        """The position of the first smallest value along a dimension."""

    def argsort(self, dim: _int=-1, descending: _bool=False, stable: _bool=False) -> Tensor: ...

    def argwhere(self) -> Tensor: ...

    def as_strided(self, size: _Dims, stride: _Dims, storage_offset: _int | None=None) -> Tensor:
        """Any sizes and strides over the memory of `x`."""

    def as_strided_(self, *args: Any, **kwargs: Any) -> Tensor:
        """Turns this tensor into what `as_strided` returns."""

    def as_strided_scatter(input: Tensor, src: Tensor, size: Sequence[_int], stride: Sequence[_int], storage_offset: _int | None=None) -> Tensor:
        """A copy of the input in which `src` stands where `as_strided` with these arguments looks.

Example::

    >>> ad.as_strided_scatter(ad.zeros(2, 2), ad.ones(2), (2,), (3,))
    tensor([[1., 0.],
            [0., 1.]])"""

    def as_subclass(self, cls: Any) -> Tensor:
        """The same tensor, as an instance of `cls`."""

    def asin(self) -> Tensor:
        """Arcsine of each element of `x`."""

    def asin_(self) -> Tensor: ...

    def asinh(self) -> Tensor:
        """Inverse hyperbolic sine of each element of `x`."""

    def asinh_(self) -> Tensor: ...

    def atan(self) -> Tensor:
        """Arctangent of each element of `x`."""

    def atan2(self, other: Tensor | _Number) -> Tensor:
        """Angle of the point `(b, a)`, elementwise, in `[-pi, pi]`."""

    def atan2_(self, other: Tensor | _Number) -> Tensor: ...

    def atan_(self) -> Tensor: ...

    def atanh(self) -> Tensor:
        """Inverse hyperbolic tangent of each element of `x`."""

    def atanh_(self) -> Tensor: ...

    def backward(self, gradient: Tensor | None=None, retain_graph: _bool | None=None, create_graph: _bool=False, inputs: Any=None) -> None:
        """Adds the gradients of this tensor to the ``.grad`` of the leaves; see ``autograd.backward``."""

    def baddbmm(self, batch1: Tensor, batch2: Tensor, *, beta: _Number=1, alpha: _Number=1) -> Tensor: ...

    def baddbmm_(self, batch1: Tensor, batch2: Tensor, *, beta: _Number=1, alpha: _Number=1) -> Tensor: ...

    @overload
    def bernoulli(self, *, generator: Generator | None=None) -> Tensor: ...

    @overload
    def bernoulli(self, p: _float, *, generator: Generator | None=None) -> Tensor: ...

    @overload
    def bernoulli_(self, p: Tensor, *, generator: Generator | None=None) -> Tensor: ...

    @overload
    def bernoulli_(self, p: _float=0.5, *, generator: Generator | None=None) -> Tensor: ...

    def bfloat16(self, memory_format: memory_format=...) -> Tensor: ...

    def bincount(self, weights: Tensor | None=None, minlength: _int=0) -> Tensor: ...

    def bitwise_and(self, other: Tensor | _Number) -> Tensor:
        """Bits set in both `a` and `b`."""

    def bitwise_and_(self, other: Tensor | _Number) -> Tensor: ...

    def bitwise_left_shift(self, other: Tensor | _Number) -> Tensor:
        """The bits of `a` moved up by `b`."""

    def bitwise_left_shift_(self, other: Tensor | _Number) -> Tensor: ...

    def bitwise_not(self) -> Tensor:
        """Each element of `x` with all bits inverted."""

    def bitwise_not_(self) -> Tensor: ...

    def bitwise_or(self, other: Tensor | _Number) -> Tensor:
        """Bits set in `a` or `b`."""

    def bitwise_or_(self, other: Tensor | _Number) -> Tensor: ...

    def bitwise_right_shift(self, other: Tensor | _Number) -> Tensor:
        """The bits of `a` moved down by `b`, the sign kept."""

    def bitwise_right_shift_(self, other: Tensor | _Number) -> Tensor: ...

    def bitwise_xor(self, other: Tensor | _Number) -> Tensor:
        """Bits set in exactly one of `a` and `b`."""

    def bitwise_xor_(self, other: Tensor | _Number) -> Tensor: ...

    def bmm(self, mat2: Tensor) -> Tensor: ...

    def bool(self, memory_format: memory_format=...) -> Tensor: ...

    @overload
    def broadcast_to(self, *size: _Dims) -> Tensor: ...

    @overload
    def broadcast_to(self, *, size: _Dims) -> Tensor: ...

    def byte(self, memory_format: memory_format=...) -> Tensor: ...

    def cauchy_(self, median: _float=0, sigma: _float=1, *, generator: Generator | None=None) -> Tensor:
        """Fills with Cauchy numbers."""

    def ccol_indices(self) -> Tensor:
        """(batch..., columns + 1): where the values of each column begin."""

    def cdouble(self, memory_format: memory_format=...) -> Tensor: ...

    def ceil(self) -> Tensor:
        """The smallest integer not below each element of `x`."""

    def ceil_(self) -> Tensor: ...

    def cfloat(self, memory_format: memory_format=...) -> Tensor: ...

    def char(self, memory_format: memory_format=...) -> Tensor: ...

    def cholesky(input: Tensor, upper: _bool=False) -> Tensor:
        """The Cholesky factor: `linalg.cholesky`.

Example::

    >>> ad.cholesky(ad.tensor([[4.0, 2.0], [2.0, 2.0]]))
    tensor([[2., 0.],
            [1., 1.]])"""

    def cholesky_inverse(input: Tensor, upper: _bool=False) -> Tensor:
        """The inverse of A, given its Cholesky factor `input`.

Example::

    >>> ad.cholesky_inverse(ad.tensor([[2.0, 0.0], [0.0, 1.0]]))
    tensor([[0.2500, 0.0000],
            [0.0000, 1.0000]])"""

    def cholesky_solve(input: Tensor, L: Tensor, upper: _bool=False) -> Tensor:
        """X of A X = input, given the Cholesky factor L of A.

Example::

    >>> ad.cholesky_solve(ad.ones(2, 1), 2 * ad.eye(2))
    tensor([[0.2500],
            [0.2500]])"""

    def chunk(self, chunks: _int, dim: _int=0) -> tuple[Tensor, ...]: ...

    def clamp(self, min: Tensor | _Number | None=None, max: Tensor | _Number | None=None) -> Tensor:
        """`minimum(maximum(x, lo), hi)`, elementwise; derivative 1 at the bounds."""

    def clamp_(self, min: Tensor | _Number | None=None, max: Tensor | _Number | None=None) -> Tensor: ...

    def clamp_max(self, max: Tensor | _Number) -> Tensor:
        """Each element of `x`, at most `hi`; derivative 1 at the bound."""

    def clamp_max_(self, max: Tensor | _Number) -> Tensor: ...

    def clamp_min(self, min: Tensor | _Number) -> Tensor:
        """Each element of `x`, at least `lo`; derivative 1 at the bound."""

    def clamp_min_(self, min: Tensor | _Number) -> Tensor: ...

    def clip(self, min: Tensor | _Number | None=None, max: Tensor | _Number | None=None) -> Tensor: ...

    def clip_(self, min: Tensor | _Number | None=None, max: Tensor | _Number | None=None) -> Tensor: ...

    def clone(self, *, memory_format: memory_format | None=None) -> Tensor:
        """A copy of `x` in fresh memory."""

    def coalesce(self) -> Tensor:
        """The same sparse tensor in row-major order, values at one position added."""

    def col_indices(self) -> Tensor:
        """(batch..., nnz): the column of each value, or block."""

    def conj(self) -> Tensor:
        """Complex conjugate of each element of `x`."""

    def conj_physical(self) -> Tensor: ...

    def conj_physical_(self) -> Tensor: ...

    def contiguous(self, memory_format: memory_format=...) -> Tensor:
        """A copy of `x` in row-major order."""

    @overload
    def copy_(self, src: Tensor, non_blocking: _bool=False) -> Tensor:
        """Writes the values of `src` here."""

    @overload
    def copy_(self, src: _Number, non_blocking: _bool=False) -> Tensor:
        """The elements of `source`, broadcast to `self` and converted to its type. In place."""

    def copysign(self, other: Tensor | _Number) -> Tensor:
        """The size of `a` with the sign of `b`, elementwise."""

    def copysign_(self, other: Tensor | _Number) -> Tensor: ...

    def corrcoef(input: Tensor) -> Tensor:
        """The correlation matrix of variables in rows.

Example::

    >>> ad.corrcoef(ad.tensor([[1.0, 2.0, 3.0], [3.0, 2.0, 1.0]]))
    tensor([[ 1., -1.],
            [-1.,  1.]])"""

    def cos(self) -> Tensor:
        """Cosine of each element of `x` (radians)."""

    def cos_(self) -> Tensor: ...

    def cosh(self) -> Tensor:
        """Hyperbolic cosine of each element of `x`."""

    def cosh_(self) -> Tensor: ...

    def count_nonzero(self, dim: _Dims | None=None) -> Tensor: ...

    def cov(input: Tensor, *, correction: _int=1, fweights: Tensor | None=None, aweights: Tensor | None=None) -> Tensor:
        """The covariance matrix of variables in rows, (n, samples) -> (n, n); one variable has a 0-d variance.

Arguments:
    correction: what is taken from the number of samples.
    fweights: how often each sample counts, integers.
    aweights: the importance of each sample.

Example::

    >>> ad.cov(ad.tensor([[1.0, 2.0, 3.0], [6.0, 4.0, 2.0]]))
    tensor([[ 1., -2.],
            [-2.,  4.]])"""

    def cpu(self, non_blocking: _bool=False) -> Tensor:
        """This tensor in host memory."""

    def cross(self, other: Tensor, dim: _int | None=None) -> Tensor: ...

    def crow_indices(self) -> Tensor:
        """(batch..., rows + 1): where the values of each row begin."""

    def cuda(self, device: Any=None, non_blocking: _bool=False) -> Tensor:
        """This tensor on a GPU: the current one, or `device`."""

    def cummax(self, dim: _int) -> _ValuesIndices:
        """The largest element up to each one along a dimension, and where it is."""

    def cummin(self, dim: _int) -> _ValuesIndices:
        """The smallest element up to each one along a dimension, and where it is."""

    def cumprod(self, dim: _int, *, dtype: _dtype | None=None) -> Tensor:
        """Products of the elements up to each one along a dimension."""

    def cumprod_(self, dim: _int, *, dtype: _dtype | None=None) -> Tensor: ...

    def cumsum(self, dim: _int, *, dtype: _dtype | None=None) -> Tensor:
        """Sums of the elements up to each one along a dimension."""

    def cumsum_(self, dim: _int, *, dtype: _dtype | None=None) -> Tensor: ...

    @property
    def data(self) -> Tensor:
        """The same memory without history; assigning replaces the memory."""

    @data.setter
    def data(self, value: Tensor) -> None: ...

    def data_ptr(self) -> _int: ...

    def deg2rad(self) -> Tensor:
        """Each element of `x` from degrees to radians."""

    def deg2rad_(self) -> Tensor: ...

    def dense_dim(self) -> _int:
        """How many trailing dimensions are dense."""

    def det(input: Tensor) -> Tensor:
        """The determinants of (..., n, n) matrices: `linalg.det`.

Example::

    >>> ad.det(ad.tensor([[1.0, 2.0], [3.0, 4.0]]))
    tensor(-2.)"""

    def detach(self) -> Tensor:
        """A view of the same memory without history: it does not require grad.

Example::

    >>> ad.ones(2, requires_grad=True).detach().requires_grad
    False"""

    def detach_(self) -> Tensor:
        """Cuts this tensor off its history in place: it becomes a leaf that does not require grad.

Raises:
    RuntimeError: the tensor is a view."""

    @property
    def device(self) -> _device:
        """Where the memory lives."""

    def diag(self, diagonal: _int=0) -> Tensor: ...

    def diag_embed(self, offset: _int=0, dim1: _int=-2, dim2: _int=-1) -> Tensor: ...

    def diagflat(self, offset: _int=0) -> Tensor: ...

    def diagonal(self, offset: _int=0, dim1: _int=0, dim2: _int=1) -> Tensor:
        """A diagonal of two dimensions, as the last dimension of the result."""

    def diagonal_scatter(self, src: Tensor, offset: _int=0, dim1: _int=0, dim2: _int=1) -> Tensor: ...

    def diff(self, n: _int=1, dim: _int=-1, prepend: Tensor | None=None, append: Tensor | None=None) -> Tensor: ...

    def digamma(self) -> Tensor:
        """Derivative of lgamma at each element of `x`."""

    def digamma_(self) -> Tensor: ...

    def dim(self) -> _int: ...

    def dim_order(self, ambiguity_check: _bool | list[Any]=False) -> tuple[_int, ...]:
        """The dimensions in the order in which they lie in memory, outermost first.

Arguments:
    ambiguity_check: True: there must be no other order; a list of memory formats: or the tensor must have exactly one of them.

Raises:
    RuntimeError: it does not hold.
    TypeError: neither a bool nor a list of memory formats.

Example::

    >>> ad.zeros(2, 3).t().dim_order()
    (1, 0)"""

    def dist(input: Tensor, other: Tensor, p: _float=2) -> Tensor:
        """The p-norm of input - other.

Example::

    >>> ad.dist(ad.tensor([0.0, 3.0]), ad.tensor([4.0, 0.0]))
    tensor(5.)"""

    def div(self, other: Tensor | _Number, *, rounding_mode: str | None=None) -> Tensor:
        """Elementwise quotient; integers give floating point."""

    def div_(self, other: Tensor | _Number, *, rounding_mode: str | None=None) -> Tensor: ...

    def divide(self, other: Tensor | _Number, *, rounding_mode: str | None=None) -> Tensor: ...

    def divide_(self, other: Tensor | _Number, *, rounding_mode: str | None=None) -> Tensor: ...

    def dot(self, tensor: Tensor) -> Tensor: ...

    def double(self, memory_format: memory_format=...) -> Tensor: ...

    def dsplit(self, *indices_or_sections: Any, **named: Any) -> tuple[Tensor, ...]:
        """Views of the pieces along dimension 2, as `tensor_split` makes them.

Example::

    >>> [piece.shape[2] for piece in ad.dsplit(ad.ones(4, 4, 4), [1])]
    [1, 3]"""

    @property
    def dtype(self) -> _dtype:
        """The element type."""

    def eig(self, eigenvectors: _bool=False, *, e: Any=None, v: Any=None) -> NoReturn:
        """The older name of `linalg.eig`, which gives complex tensors. It raises RuntimeError, as in PyTorch."""

    def element_size(self) -> _int: ...

    def eq(self, other: Tensor | _Number) -> Tensor:
        """Whether `a == b`, elementwise."""

    def eq_(self, other: Tensor | _Number) -> Tensor: ...

    def equal(self, other: Tensor) -> _bool:
        """Same shape and same elements?"""

    def erf(self) -> Tensor:
        """Error function of each element of `x`."""

    def erf_(self) -> Tensor: ...

    def erfc(self) -> Tensor:
        """`1 - erf(x)`, accurate for large `x`."""

    def erfc_(self) -> Tensor: ...

    def erfinv(self) -> Tensor:
        """Inverse of the error function of each element of `x`."""

    def erfinv_(self) -> Tensor: ...

    def exp(self) -> Tensor:
        """e to the power of each element of `x`."""

    def exp2(self) -> Tensor:
        """2 to the power of each element of `x`."""

    def exp2_(self) -> Tensor: ...

    def exp_(self) -> Tensor: ...

    @overload
    def expand(self, *size: _Dims) -> Tensor:
        """`x` repeated along new and singleton dimensions without copying."""

    @overload
    def expand(self, *, size: _Dims) -> Tensor: ...

    def expand_as(self, other: Tensor) -> Tensor: ...

    def expm1(self) -> Tensor:
        """`exp(x) - 1`, accurate for small `x`."""

    def expm1_(self) -> Tensor: ...

    def exponential_(self, lambd: _float=1, *, generator: Generator | None=None) -> Tensor:
        """Fills with exponential numbers of rate `lambd`."""

    def fill_(self, value: Tensor | _Number) -> Tensor:
        """Sets every element."""

    def fill_diagonal_(self, fill_value: Any, wrap: _bool=False) -> Tensor:
        """Writes `fill_value` on the main diagonal; with `wrap`, again below a tall matrix."""

    def fix(self) -> Tensor: ...

    def fix_(self) -> Tensor: ...

    def flatten(self, start_dim: _int=0, end_dim: _int=-1) -> Tensor: ...

    @overload
    def flip(self, *dims: _Dims) -> Tensor:
        """`x` in reverse order along some dimensions."""

    @overload
    def flip(self, *, dims: _Dims) -> Tensor: ...

    def fliplr(self) -> Tensor: ...

    def flipud(self) -> Tensor: ...

    def float(self, memory_format: memory_format=...) -> Tensor: ...

    def float_power(input: Tensor | _float, exponent: Tensor | _float) -> Tensor:
        """input ** exponent, computed in double precision.

Example::

    >>> ad.float_power(ad.tensor([2]), 0.5)
    tensor([1.4142], dtype=adjoint.float64)"""

    def float_power_(self, *args: Any, **kwargs: Any) -> Tensor:
        """The in-place form of `float_power`."""

    def floor(self) -> Tensor:
        """The largest integer not above each element of `x`."""

    def floor_(self) -> Tensor: ...

    def floor_divide(self, other: Tensor | _Number) -> Tensor:
        """`floor(a / b)`, elementwise, of the exact quotient."""

    def floor_divide_(self, other: Tensor | _Number) -> Tensor: ...

    def fmax(self, other: Tensor | _Number) -> Tensor:
        """The larger element, or the one that is not NaN. A tie gives the derivative to `a`."""

    def fmax_(self, other: Tensor | _Number) -> Tensor: ...

    def fmin(self, other: Tensor | _Number) -> Tensor:
        """The smaller element, or the one that is not NaN. A tie gives the derivative to `a`."""

    def fmin_(self, other: Tensor | _Number) -> Tensor: ...

    def fmod(self, other: Tensor | _Number) -> Tensor:
        """`a - b * trunc(a / b)`, elementwise: the sign of `a`."""

    def fmod_(self, other: Tensor | _Number) -> Tensor: ...

    def frac(self) -> Tensor:
        """The fraction of each element of `x`, with its sign."""

    def frac_(self) -> Tensor: ...

    def frexp(input: Tensor) -> Any:
        """A mantissa of size in [0.5, 1) and an int32 exponent of each element: input = mantissa * 2 ** exponent; 0, inf and NaN have exponent 0.

Example::

    >>> ad.frexp(ad.tensor([6.0]))
    adjoint.return_types.frexp(
    mantissa=tensor([0.7500]),
    exponent=tensor([3], dtype=adjoint.int32))"""

    def gather(self, dim: _int, index: Tensor, *, sparse_grad: _bool=False) -> Tensor:
        """The elements of `x` at the positions `index` along `dim`; the result has the shape of `index`."""

    def gcd(input: Tensor, other: Tensor) -> Tensor:
        """The greatest common divisor of integers, not negative.

Example::

    >>> ad.gcd(ad.tensor([12, 0]), ad.tensor([-18, 5]))
    tensor([6, 5])"""

    def gcd_(self, *args: Any, **kwargs: Any) -> Tensor:
        """The in-place form of `gcd`."""

    def ge(self, other: Tensor | _Number) -> Tensor:
        """Whether `a >= b`, elementwise."""

    def ge_(self, other: Tensor | _Number) -> Tensor: ...

    def geometric_(self, p: _float, *, generator: Generator | None=None) -> Tensor:
        """Fills with the number of trials, of probability `p` each, up to the first success."""

    def geqrf(input: Tensor) -> Any:
        """R of A (..., m, n) = Q R above the diagonal, below it the vectors of reflections whose product is Q, and their factors tau.

These are what `ormqr` and `linalg.householder_product` take. There is no derivative: `linalg.qr` has one.

Example::

    >>> ad.geqrf(ad.tensor([[3.0], [4.0]])).a
    tensor([[-5.0000],
            [ 0.5000]])"""

    def ger(self, vec2: Tensor) -> Tensor: ...

    def get_device(self) -> _int: ...

    @property
    def grad(self) -> Tensor | None:
        """The gradient that backward added up here; None before."""

    @grad.setter
    def grad(self, value: Tensor | None) -> None: ...

    @property
    def grad_dtype(self) -> _dtype | None:
        """The element type of ``.grad``; None allows any."""

    @grad_dtype.setter
    def grad_dtype(self, value: _dtype | None) -> None: ...

    @property
    def grad_fn(self) -> Any:
        """The node whose output this tensor is; None for a leaf."""

    def gradient(input: Tensor, *, spacing: Any=None, dim: _Dims | None=None, edge_order: _int=1) -> tuple[Tensor, ...]:
        """Finite differences of samples along each of `dim` (all), as a tuple.

Arguments:
    spacing: the step (1), one for each dimension, or tensors of positions.
    edge_order: 1 or 2, the accuracy at the edges.
Example::

    >>> ad.gradient(ad.tensor([0.0, 1.0, 4.0, 9.0]))
    (tensor([1., 2., 4., 5.]),)"""

    def greater(self, other: Tensor | _Number) -> Tensor: ...

    def greater_(self, other: Tensor | _Number) -> Tensor: ...

    def greater_equal(self, other: Tensor | _Number) -> Tensor: ...

    def greater_equal_(self, other: Tensor | _Number) -> Tensor: ...

    def gt(self, other: Tensor | _Number) -> Tensor:
        """Whether `a > b`, elementwise."""

    def gt_(self, other: Tensor | _Number) -> Tensor: ...

    def half(self, memory_format: memory_format=...) -> Tensor: ...

    def hardshrink(input: Tensor, lambd: _float=0.5) -> Tensor:
        """x where |x| > lambd, 0 elsewhere.

Example::

    >>> ad.hardshrink(ad.tensor([-2.0, 0.3, 1.0]))
    tensor([-2.,  0.,  1.])"""

    def hash_tensor(input: Tensor, dim: Any=(), *, keepdim: _bool=False, mode: _int=0) -> Tensor:
        """The bits of all elements, as 64-bit numbers, joined by exclusive or along `dim`, or of all: uint64.

Example::

    >>> ad.hash_tensor(ad.tensor([1, 2, 4]))
    tensor(7, dtype=adjoint.uint64)"""

    def heaviside(self, values: Tensor) -> Tensor:
        """0 where `input` < 0 or NaN, 1 where `input` > 0, `values` where `input` = 0, elementwise."""

    def heaviside_(self, values: Tensor) -> Tensor: ...

    def histc(input: Tensor, bins: _int=100, min: _float=0, max: _float=0) -> Tensor:
        """How many elements fall into each of `bins` equal parts of [min, max], which default to the extremes. Has no gradient.

Raises:
    RuntimeError: fewer than one part, or a range that is empty or not finite; of extremes on a GPU, or inside vmap, nobody looks.

Example::

    >>> ad.histc(ad.tensor([1.0, 2.0, 1.0]), bins=4, min=0, max=3)
    tensor([0., 2., 1., 0.])"""

    def histogram(input: Tensor, bins: Any=100, *, range: Sequence[_float] | None=None, weight: Tensor | None=None, density: _bool=False) -> Any:
        """How many elements fall into each bin, and the edges of the bins: so many equal ones, or those that a tensor names. Has no gradient.

Example::

    >>> ad.histogram(ad.tensor([0.0, 1.0, 1.0]), 2).hist
    tensor([1., 2.])"""

    def hsplit(self, *indices_or_sections: Any, **named: Any) -> tuple[Tensor, ...]:
        """Views of the pieces along dimension 1, as `tensor_split` makes them.

Example::

    >>> [piece.shape[1] for piece in ad.hsplit(ad.ones(4, 4, 4), [1])]
    [1, 3]"""

    def hypot(self, other: Tensor | _Number) -> Tensor:
        """`sqrt(a^2 + b^2)`, elementwise, without overflow on the way."""

    def hypot_(self, other: Tensor | _Number) -> Tensor: ...

    def i0(input: Tensor) -> Tensor:
        """The modified Bessel function of the first kind of order 0.

Example::

    >>> ad.i0(ad.tensor([0.0, 1.0]))
    tensor([1.0000, 1.2661])"""

    def i0_(self, *args: Any, **kwargs: Any) -> Tensor:
        """The in-place form of `i0`."""

    def igamma(self, other: Tensor | _Number) -> Tensor:
        """The regularised lower incomplete gamma function of `a` at `x`, elementwise."""

    def igamma_(self, other: Tensor | _Number) -> Tensor: ...

    def igammac(self, other: Tensor | _Number) -> Tensor:
        """The regularised upper incomplete gamma function of `a` at `x`, elementwise."""

    def igammac_(self, other: Tensor | _Number) -> Tensor: ...

    @property
    def imag(self) -> Tensor:
        """The imaginary part."""

    def index_add(self, dim: _int, index: Tensor, source: Tensor, *, alpha: _Number=1) -> Tensor:
        """`x` with the slices of `source` added at the positions `index` (1-d) along `dim`, in order."""

    def index_add_(self, dim: _int, index: Tensor, source: Tensor, *, alpha: _Number=1) -> Tensor: ...

    def index_copy(self, dim: _int, index: Tensor, source: Tensor) -> Tensor:
        """`x` with the slices of `source` written at the positions `index` (1-d) along `dim`."""

    def index_copy_(self, dim: _int, index: Tensor, source: Tensor) -> Tensor: ...

    def index_fill(self, dim: _int, index: Tensor, value: Tensor | _Number) -> Tensor: ...

    def index_fill_(self, dim: _int, index: Tensor, value: Tensor | _Number) -> Tensor: ...

    def index_put(self, indices: Sequence[Tensor], values: Tensor, accumulate: _bool=False) -> Tensor:
        """`x` with `values` written, or added, at positions given by tensors of integers or masks."""

    def index_put_(self, indices: Sequence[Tensor], values: Tensor, accumulate: _bool=False) -> Tensor: ...

    def index_reduce(input: Tensor, dim: _int, index: Tensor, source: Tensor, reduce: str, *, include_self: _bool=True) -> Tensor:
        """Row i of `source` along `dim` is reduced ("prod", "mean", "amax", "amin") into row index[i] of `input`.

Example::

    >>> ad.index_reduce(ad.ones(2), 0, ad.tensor([0, 0]), ad.tensor([3.0, 5.0]), 'amax')
    tensor([5., 1.])"""

    def index_reduce_(self, *args: Any, **kwargs: Any) -> Tensor:
        """The in-place form of `index_reduce`."""

    def index_select(self, dim: _int, index: Tensor) -> Tensor:
        """The slices of `x` at the positions `index` (1-d) along `dim`."""

    def indices(self) -> Tensor:
        """The positions of a coalesced sparse tensor, (sparse dims, nnz)."""

    def inner(self, other: Tensor) -> Tensor: ...

    def int(self, memory_format: memory_format=...) -> Tensor: ...

    def inverse(input: Tensor) -> Tensor:
        """The inverse of (..., n, n) matrices: `linalg.inv`.

Example::

    >>> ad.inverse(ad.tensor([[2.0, 0.0], [0.0, 4.0]]))
    tensor([[0.5000, 0.0000],
            [-0.0000, 0.2500]])"""

    def is_coalesced(self) -> _bool:
        """Whether no position occurs twice and all are in order."""

    def is_complex(self) -> _bool: ...

    def is_conj(self) -> _bool: ...

    def is_contiguous(self, memory_format: memory_format=...) -> _bool: ...

    @property
    def is_cpu(self) -> Any:
        """Whether the memory is the host's."""

    @property
    def is_cuda(self) -> Any:
        """Whether the memory is a GPU's."""

    def is_distributed(self) -> _bool:
        """False: a tensor lies in one process."""

    def is_floating_point(self) -> _bool: ...

    def is_inference(self) -> _bool:
        """Whether the tensor was made in inference mode."""
    is_ipu: _bool

    @property
    def is_leaf(self) -> _bool:
        """Whether the tensor has no node, or does not require grad."""
    is_maia: _bool

    @property
    def is_meta(self) -> Any:
        """Whether there is no memory: on device meta sizes, types and strides are worked out, and nothing else."""
    is_mkldnn: _bool
    is_mps: _bool
    is_mtia: _bool

    def is_neg(self) -> _bool: ...
    is_nested: _bool

    def is_nonzero(self) -> _bool: ...

    def is_pinned(self) -> _bool:
        """Whether the memory is pinned."""
    is_quantized: _bool

    def is_same_size(self, other: Tensor) -> _bool: ...

    def is_set_to(self, tensor: Tensor) -> _bool: ...

    def is_shared(self) -> _bool:
        """Whether other processes can see the memory: that of `share_memory_`, or a GPU's."""

    def is_signed(self) -> _bool: ...

    @property
    def is_sparse(self) -> _bool:
        """Whether the layout is ``sparse_coo``."""

    @property
    def is_sparse_csr(self) -> Any:
        """Whether the layout is ``sparse_csr``."""
    is_vulkan: _bool
    is_xla: _bool
    is_xpu: _bool

    def isclose(self, other: Tensor, rtol: _float=1e-05, atol: _float=1e-08, equal_nan: _bool=False) -> Tensor: ...

    def isfinite(self) -> Tensor:
        """Whether each element of `x` is neither infinite nor NaN."""

    def isfinite_(self) -> Tensor: ...

    def isinf(self) -> Tensor:
        """Whether each element of `x` is infinite."""

    def isinf_(self) -> Tensor: ...

    def isnan(self) -> Tensor:
        """Whether each element of `x` is NaN."""

    def isnan_(self) -> Tensor: ...

    def isneginf(input: Tensor) -> Tensor:
        """Whether an element is minus infinity.

Example::

    >>> ad.isneginf(ad.tensor([-float('inf'), 1.0]))
    tensor([ True, False])"""

    def isposinf(input: Tensor) -> Tensor:
        """Whether an element is infinity.

Example::

    >>> ad.isposinf(ad.tensor([float('inf'), 1.0]))
    tensor([ True, False])"""

    def isreal(input: Tensor) -> Tensor:
        """Whether the imaginary part is zero.

Example::

    >>> ad.isreal(ad.tensor([1.0 + 0.0j, 2.0j]))
    tensor([ True, False])"""

    def istft(input: Tensor, n_fft: _int, hop_length: _int | None=None, win_length: _int | None=None, window: Tensor | None=None, center: _bool=True, normalized: _bool=False, onesided: _bool | None=None, length: _int | None=None, return_complex: _bool=False) -> Tensor:
        """The signals whose `stft` with the same arguments is nearest to the input, (..., frequencies, frames) -> (..., time).

Arguments:
    length: of the signals; by default what the frames reach.

Example::

    >>> x = ad.arange(16.0)
    >>> w = ad.hann_window(8)
    >>> ad.allclose(ad.istft(ad.stft(x, 8, window=w, return_complex=True), 8, window=w), x, atol=1e-5)
    True"""

    def item(self) -> Any:
        """The value of a one-element tensor, as a Python number."""

    @property
    def itemsize(self) -> _int:
        """Bytes of one element."""

    def kron(self, other: Tensor) -> Tensor: ...

    def kthvalue(self, k: _int, dim: _int=-1, keepdim: _bool=False) -> _ValuesIndices: ...

    @property
    def layout(self) -> Any:
        """How the elements lie in memory."""

    def lcm(input: Tensor, other: Tensor) -> Tensor:
        """The least common multiple of integers, not negative; 0 where one of them is.

Example::

    >>> ad.lcm(ad.tensor([4, 0]), ad.tensor([6, 3]))
    tensor([12,  0])"""

    def lcm_(self, *args: Any, **kwargs: Any) -> Tensor:
        """The in-place form of `lcm`."""

    def ldexp(input: Tensor, other: Tensor) -> Tensor:
        """input * 2**other.

Example::

    >>> ad.ldexp(ad.tensor([1.0, 3.0]), ad.tensor([3, -1]))
    tensor([8.0000, 1.5000])"""

    def ldexp_(self, *args: Any, **kwargs: Any) -> Tensor:
        """The in-place form of `ldexp`."""

    def le(self, other: Tensor | _Number) -> Tensor:
        """Whether `a <= b`, elementwise."""

    def le_(self, other: Tensor | _Number) -> Tensor: ...

    def lerp(self, end: Tensor, weight: Tensor | _Number) -> Tensor:
        """`a + weight * (b - a)`, elementwise."""

    def lerp_(self, end: Tensor, weight: Tensor | _Number) -> Tensor: ...

    def less(self, other: Tensor | _Number) -> Tensor: ...

    def less_(self, other: Tensor | _Number) -> Tensor: ...

    def less_equal(self, other: Tensor | _Number) -> Tensor: ...

    def less_equal_(self, other: Tensor | _Number) -> Tensor: ...

    def lgamma(self) -> Tensor:
        """Logarithm of the absolute value of the gamma function of each element of `x`."""

    def lgamma_(self) -> Tensor: ...

    def log(self) -> Tensor:
        """Natural logarithm of each element of `x`."""

    def log10(self) -> Tensor:
        """Logarithm to base 10 of each element of `x`."""

    def log10_(self) -> Tensor: ...

    def log1p(self) -> Tensor:
        """`log(1 + x)`, accurate for small `x`."""

    def log1p_(self) -> Tensor: ...

    def log2(self) -> Tensor:
        """Logarithm to base 2 of each element of `x`."""

    def log2_(self) -> Tensor: ...

    def log_(self) -> Tensor: ...

    def log_normal_(self, mean: _float=1, std: _float=2, *, generator: Generator | None=None) -> Tensor:
        """Fills with exponentials of normal numbers."""

    def log_softmax(self, dim: _int, dtype: _dtype | None=None) -> Tensor:
        """x - log(sum(exp(x))) along a dimension, without overflow."""

    def logaddexp(self, other: Tensor | _Number) -> Tensor:
        """`log(exp(a) + exp(b))`, elementwise, without overflow."""

    def logaddexp2(self, other: Tensor | _Number) -> Tensor:
        """`log2(2**a + 2**b)`, elementwise, without overflow."""

    def logaddexp2_(self, other: Tensor | _Number) -> Tensor: ...

    def logaddexp_(self, other: Tensor | _Number) -> Tensor: ...

    def logcumsumexp(self, dim: _int) -> Tensor:
        """log(sum(exp(x))) of the elements up to each one along a dimension, without overflow."""

    def logdet(input: Tensor) -> Tensor:
        """The logarithm of the determinant: -inf for singular matrices, NaN for negative determinants of real ones.

Example::

    >>> ad.logdet(2 * ad.eye(2))
    tensor(1.3863)"""

    def logical_and(self, other: Tensor | _Number) -> Tensor:
        """Whether `a` and `b` are both nonzero, elementwise."""

    def logical_and_(self, other: Tensor | _Number) -> Tensor: ...

    def logical_not(self) -> Tensor:
        """Whether each element of `x` is zero."""

    def logical_not_(self) -> Tensor: ...

    def logical_or(self, other: Tensor | _Number) -> Tensor:
        """Whether `a` or `b` is nonzero, elementwise."""

    def logical_or_(self, other: Tensor | _Number) -> Tensor: ...

    def logical_xor(self, other: Tensor | _Number) -> Tensor:
        """Whether exactly one of `a` and `b` is nonzero, elementwise."""

    def logical_xor_(self, other: Tensor | _Number) -> Tensor: ...

    def logit(self, eps: _float | None=None) -> Tensor:
        """`log(x / (1 - x))` for each element of `x`, clamped to [eps, 1 - eps] if eps is not negative."""

    def logit_(self, eps: _float | None=None) -> Tensor: ...

    def logsumexp(self, dim: _Dims, keepdim: _bool=False) -> Tensor:
        """log(sum(exp(x))) over `dims` without overflow."""

    def long(self, memory_format: memory_format=...) -> Tensor: ...

    def lstsq(input: Tensor, A: Tensor, *, out: Any=None) -> NoReturn:
        """The older name of `linalg.lstsq`, whose arguments are the other way round. It raises RuntimeError, as in PyTorch."""

    def lt(self, other: Tensor | _Number) -> Tensor:
        """Whether `a < b`, elementwise."""

    def lt_(self, other: Tensor | _Number) -> Tensor: ...

    def lu(input: Tensor, pivot: _bool=True, get_infos: _bool=False) -> Any:
        """LU and pivots of `linalg.lu_factor_ex`, and its info if asked for.

Example::

    >>> ad.lu(ad.tensor([[1.0, 2.0], [2.0, 1.0]]))
    (tensor([[2.0000, 1.0000],
            [0.5000, 1.5000]]), tensor([2, 2], dtype=adjoint.int32))"""

    def lu_solve(input: Tensor, LU_data: Tensor, LU_pivots: Tensor) -> Tensor:
        """X of A X = input, given the LU and pivots of A: `linalg.lu_solve` with its operands in another order.

Example::

    >>> LU, pivots = ad.lu(ad.tensor([[1.0, 2.0], [2.0, 1.0]]))
    >>> ad.lu_solve(ad.tensor([[3.0], [3.0]]), LU, pivots)
    tensor([[1.],
            [1.]])"""

    @property
    def mH(self) -> Tensor:
        """The conjugate transpose of the last two dimensions."""

    @property
    def mT(self) -> Tensor:
        """The last two dimensions swapped."""

    def map_(self, tensor: Tensor, callable: Callable[[Any, Any], Any]) -> Tensor:
        """Replaces each element by a Python function of it and of the element of `tensor`: slow."""

    def masked_fill(self, mask: Tensor, value: Tensor | _Number) -> Tensor:
        """`value` where `mask` is set, else the element of `x`."""

    def masked_fill_(self, mask: Tensor, value: Tensor | _Number) -> Tensor: ...

    def masked_scatter(self, mask: Tensor, source: Tensor) -> Tensor: ...

    def masked_scatter_(self, mask: Tensor, source: Tensor) -> Tensor: ...

    def masked_select(self, mask: Tensor) -> Tensor: ...

    def matmul(self, other: Tensor) -> Tensor:
        """The product of matrices, or of batches of matrices that broadcast against each other."""

    def matrix_exp(self) -> Tensor:
        """The exponential of square matrices."""

    def matrix_power(A: Tensor, n: _int) -> Tensor:
        """A @ A @ ... @ A, n times, for square matrices (..., m, m), each product rounded; a negative n multiplies inverses.

Example::

    >>> ad.linalg.matrix_power(ad.tensor([[1., 1.], [0., 1.]]), 3)
    tensor([[1., 3.],
            [0., 1.]])"""

    @overload
    def max(self) -> Tensor:
        """The largest value along a dimension and where it is; the derivative goes to that one."""

    @overload
    def max(self, dim: _int, keepdim: _bool=False) -> _ValuesIndices: ...

    @overload
    def max(self, other: Tensor) -> Tensor: ...

    def maximum(self, other: Tensor | _Number) -> Tensor:
        """The larger element; NaN if either is. A tie shares the derivative."""

    def maximum_(self, other: Tensor | _Number) -> Tensor: ...

    def mean(self, dim: _Dims | None=None, keepdim: _bool=False, *, dtype: _dtype | None=None) -> Tensor:
        """The mean over `dim` (all, if none)."""

    @overload
    def median(self) -> Tensor:
        """The (lower) median along a dimension and where it is; the derivative goes to that one."""

    @overload
    def median(self, dim: _int, keepdim: _bool=False) -> _ValuesIndices: ...

    @overload
    def min(self) -> Tensor:
        """The smallest value along a dimension and where it is; the derivative goes to that one."""

    @overload
    def min(self, dim: _int, keepdim: _bool=False) -> _ValuesIndices: ...

    @overload
    def min(self, other: Tensor) -> Tensor: ...

    def minimum(self, other: Tensor | _Number) -> Tensor:
        """The smaller element; NaN if either is. A tie shares the derivative."""

    def minimum_(self, other: Tensor | _Number) -> Tensor: ...

    def mm(self, mat2: Tensor) -> Tensor: ...

    def mode(input: Tensor, dim: _int=-1, keepdim: _bool=False) -> Any:
        """The most frequent value along `dim`, the smallest of those, and its last index.

Example::

    >>> ad.mode(ad.tensor([1, 2, 2])).values
    tensor(2)"""

    def moveaxis(self, source: _Dims, destination: _Dims) -> Tensor: ...

    def movedim(self, source: _Dims, destination: _Dims) -> Tensor: ...

    def msort(input: Tensor) -> Tensor:
        """Sorted along the first dimension.

Example::

    >>> ad.msort(ad.tensor([[3.0, 1.0], [2.0, 4.0]]))
    tensor([[2., 1.],
            [3., 4.]])"""

    def mul(self, other: Tensor | _Number) -> Tensor:
        """Elementwise product."""

    def mul_(self, other: Tensor | _Number) -> Tensor: ...

    def multinomial(input: Tensor, num_samples: _int, replacement: _bool=False, *, generator: Generator | None=None) -> Tensor:
        """Positions drawn with probabilities in proportion to `input`, (n,) or (rows, n): (num_samples,) or (rows, num_samples).

Raises:
    RuntimeError: weights that are negative, sum to zero or are integers, no samples, or more than positions without `replacement`.

Example::

    >>> ad.multinomial(ad.tensor([0.0, 1.0, 0.0]), 3, replacement=True)
    tensor([1, 1, 1])"""

    def multiply(self, other: Tensor | _Number) -> Tensor: ...

    def multiply_(self, other: Tensor | _Number) -> Tensor: ...

    def mv(self, vec: Tensor) -> Tensor: ...

    def mvlgamma(input: Tensor, p: _int) -> Tensor:
        """The logarithm of the multivariate gamma function of dimension `p`.

Example::

    >>> ad.mvlgamma(ad.tensor([2.0, 3.0]), 2)
    tensor([0.4516, 1.5502])"""

    def mvlgamma_(self, *args: Any, **kwargs: Any) -> Tensor:
        """The in-place form of `mvlgamma`."""

    def nan_to_num(self, nan: _float | None=None, posinf: _float | None=None, neginf: _float | None=None) -> Tensor:
        """Each element of `x`, NaN and infinities replaced by numbers; derivative 0 there."""

    def nan_to_num_(self, nan: _float | None=None, posinf: _float | None=None, neginf: _float | None=None) -> Tensor: ...

    def nanmean(input: Tensor, dim: Any=None, keepdim: _bool=False, *, dtype: Any=None) -> Tensor:
        """The mean of the elements that are not NaN.

Example::

    >>> ad.nanmean(ad.tensor([1.0, float('nan'), 3.0]))
    tensor(2.)"""

    @overload
    def nanmedian(self) -> Tensor:
        """The (lower) median of the elements along a dimension that are not NaN, and where it is; the derivative goes to that one."""

    @overload
    def nanmedian(self, dim: _int, keepdim: _bool=False) -> _ValuesIndices: ...

    def nanquantile(input: Tensor, q: Any, dim: _int | None=None, keepdim: _bool=False, *, interpolation: str='linear') -> Tensor:
        """Quantiles of the elements that are not NaN.

Example::

    >>> ad.nanquantile(ad.tensor([1.0, float('nan'), 3.0]), 0.5)
    tensor(2.)"""

    def nansum(self, dim: _Dims | None=None, keepdim: _bool=False, *, dtype: _dtype | None=None) -> Tensor:
        """The sum of the elements that are not NaN, over `dims`."""

    @overload
    def narrow(self, dim: _int, start: _int, length: _int) -> Tensor: ...

    @overload
    def narrow(self, dim: _int, start: Tensor, length: _int) -> Tensor: ...

    def narrow_copy(input: Tensor, *args: Any, **kwargs: Any) -> Any:
        """`narrow` into new memory."""

    @property
    def nbytes(self) -> _int:
        """Bytes of all elements."""

    @property
    def ndim(self) -> _int:
        """The number of dimensions."""

    def ndimension(self) -> _int: ...

    def ne(self, other: Tensor | _Number) -> Tensor:
        """Whether `a != b`, elementwise."""

    def ne_(self, other: Tensor | _Number) -> Tensor: ...

    def neg(self) -> Tensor:
        """Minus each element of `x`."""

    def neg_(self) -> Tensor: ...

    def negative(self) -> Tensor: ...

    def negative_(self) -> Tensor: ...

    def nelement(self) -> _int: ...

    def new(self, *args: Any) -> Tensor:
        """A tensor of this type: uninitialised if given sizes, else with the data; a sparse one of indices, values and a size.

Example: `sparse.new(sparse._indices(), sparse._values() + 1, sparse.shape)`"""

    @overload
    def new_empty(self, *size: _Dims, dtype: _dtype | None=None, device: _device | str | _int | None=None, requires_grad: _bool=False, pin_memory: _bool=False) -> Tensor:
        """A tensor of uninitialised memory."""

    @overload
    def new_empty(self, *, dtype: _dtype | None=None, device: _device | str | _int | None=None, requires_grad: _bool=False, size: _Dims, pin_memory: _bool=False) -> Tensor: ...

    def new_empty_strided(self, size: _Dims, stride: _Dims, *, dtype: _dtype | None=None, device: _device | str | _int | None=None, requires_grad: _bool=False, pin_memory: _bool=False) -> Tensor:
        """Uninitialised memory of this type with the given strides."""

    def new_full(self, size: _Dims, fill_value: _Number, *, dtype: _dtype | None=None, device: _device | str | _int | None=None, requires_grad: _bool=False, pin_memory: _bool=False) -> Tensor:
        """A filled tensor of this type."""

    @overload
    def new_ones(self, *size: _Dims, dtype: _dtype | None=None, device: _device | str | _int | None=None, requires_grad: _bool=False, pin_memory: _bool=False) -> Tensor:
        """A tensor of ones."""

    @overload
    def new_ones(self, *, dtype: _dtype | None=None, device: _device | str | _int | None=None, requires_grad: _bool=False, size: _Dims, pin_memory: _bool=False) -> Tensor: ...

    def new_tensor(self, data: Any, *, dtype: _dtype | None=None, device: _device | str | _int | None=None, requires_grad: _bool=False, pin_memory: _bool=False) -> Tensor:
        """A copy of `data` with this type."""

    @overload
    def new_zeros(self, *size: _Dims, dtype: _dtype | None=None, device: _device | str | _int | None=None, requires_grad: _bool=False, pin_memory: _bool=False) -> Tensor:
        """A tensor of zeros."""

    @overload
    def new_zeros(self, *, dtype: _dtype | None=None, device: _device | str | _int | None=None, requires_grad: _bool=False, size: _Dims, pin_memory: _bool=False) -> Tensor: ...

    def nextafter(self, other: Tensor) -> Tensor:
        """The number of the type that follows `a` in the direction of `b`, elementwise. Its derivative in `a` is 1 where it moves, that in `b` 0."""

    def nextafter_(self, other: Tensor) -> Tensor: ...

    def nonzero(self, *, as_tuple: _bool=False) -> Any:
        """The positions of the elements of `x` that are not zero, one a row."""

    def nonzero_static(input: Tensor, *, size: _int, fill_value: _int=-1) -> Tensor:
        """The first `size` positions of elements other than zero, (size, ndim), with rows of `fill_value` where there are fewer.

Example::

    >>> ad.nonzero_static(ad.tensor([0, 3]), size=2)
    tensor([[ 1],
            [-1]])"""

    def norm(self, p: Any='fro', dim: _Dims | None=None, keepdim: _bool=False, dtype: _dtype | None=None) -> Tensor:
        """(sum |x|^p)^(1/p) over `dim` (all, if none); p may be infinite."""

    def normal_(self, mean: _float=0.0, std: _float=1.0, *, generator: Generator | None=None) -> Tensor: ...

    def not_equal(self, other: Tensor | _Number) -> Tensor: ...

    def not_equal_(self, other: Tensor | _Number) -> Tensor: ...

    def numel(self) -> _int: ...

    def numpy(self, *, force: _bool=False) -> Any:
        """A NumPy array that shares this tensor's memory. One that requires grad gives it only with ``force`` or under no_grad."""

    def orgqr(A: Tensor, tau: Tensor) -> Tensor:
        """The first n columns of H_1 H_2 ... H_k, H_i = 1 - tau_i v_i v_iᴴ; v_i is column i of A (..., m, n) below its 1 on the diagonal.

Example::

    >>> ad.linalg.householder_product(ad.tensor([[0.], [1.]]), ad.tensor([1.]))
    tensor([[ 0.],
            [-1.]])"""

    def ormqr(input: Tensor, tau: Tensor, other: Tensor, left: _bool=True, transpose: _bool=False) -> Tensor:
        """Q @ other, or other @ Q if not `left`, where Q (or Qᴴ if `transpose`) is the whole product of the reflections of `householder_product`.

Example::

    >>> ad.ormqr(ad.tensor([[0.], [1.]]), ad.tensor([1.]), ad.eye(2))
    tensor([[ 0., -1.],
            [-1.,  0.]])"""

    def outer(self, vec2: Tensor) -> Tensor: ...

    @property
    def output_nr(self) -> _int:
        """Which output of ``grad_fn`` this tensor is."""

    @overload
    def permute(self, *dims: _Dims) -> Tensor:
        """The dimensions of `x` in another order."""

    @overload
    def permute(self, *, dims: _Dims) -> Tensor: ...

    def pin_memory(self) -> Tensor:
        """This tensor in host memory that copies to and from a GPU need not wait for."""

    def pinverse(input: Tensor, rcond: _float=1e-15) -> Tensor:
        """The pseudo-inverse: `linalg.pinv` with another default.

Example::

    >>> ad.pinverse(ad.tensor([[2.0], [0.0]]))
    tensor([[0.5000, 0.0000]])"""

    def polygamma(self, n: _int) -> Tensor:
        """The n-th derivative of digamma at each element of `x`."""

    def polygamma_(self, n: _int) -> Tensor: ...

    def positive(self) -> Tensor: ...

    def pow(self, other: Tensor | _Number) -> Tensor:
        """`a` to the power `b`, elementwise."""

    def pow_(self, other: Tensor | _Number) -> Tensor: ...

    def prelu(input: Tensor, weight: Tensor) -> Tensor:
        """x if x > 0, else weight * x, with one weight for all or for each channel (dimension 1).

Example::

    >>> ad.nn.functional.prelu(ad.tensor([-1., 0., 2.]), ad.tensor([0.5]))
    tensor([-0.5000,  0.0000,  2.0000])"""

    def prod(self, dim: _int | None=None, keepdim: _bool=False, *, dtype: _dtype | None=None) -> Tensor:
        """The product along a dimension; integers are multiplied as int64."""

    def put(input: Tensor, index: Tensor, source: Tensor, accumulate: _bool=False) -> Tensor:
        """`input`, seen as a vector, with source at `index`.

Example::

    >>> ad.put(ad.zeros(2, 2), ad.tensor([0, 3]), ad.tensor([1.0, 2.0]))
    tensor([[1., 0.],
            [0., 2.]])"""

    def put_(self, index: Tensor, source: Tensor, accumulate: _bool=False) -> Tensor:
        """The in-place form of `put`: where the tensor is contiguous, only what is written is touched."""

    def qr(input: Tensor, some: _bool=True) -> Any:
        """Q and R: `linalg.qr`, complete unless `some`.

Example::

    >>> Q, R = ad.qr(ad.tensor([[3.0, 1.0], [4.0, 2.0]]))
    >>> Q @ R
    tensor([[3.0000, 1.0000],
            [4.0000, 2.0000]])"""

    def quantile(input: Tensor, q: Any, dim: _int | None=None, keepdim: _bool=False, *, interpolation: str='linear') -> Tensor:
        """The q-quantiles along `dim` (of all elements, if none); several `q` give a new first dimension.

Example::

    >>> ad.quantile(ad.tensor([0.0, 1.0, 3.0]), 0.75)
    tensor(2.)"""

    def rad2deg(self) -> Tensor:
        """Each element of `x` from radians to degrees."""

    def rad2deg_(self) -> Tensor: ...

    @overload
    def random_(self, from_: _int, to: _int, *, generator: Generator | None=None) -> Tensor: ...

    @overload
    def random_(self, to: _int, *, generator: Generator | None=None) -> Tensor: ...

    @overload
    def random_(self, *, generator: Generator | None=None) -> Tensor: ...

    @overload
    def random_(self, from_: _int, to: Any, *, generator: Generator | None=None) -> Tensor: ...

    def ravel(self) -> Tensor: ...

    @property
    def real(self) -> Tensor:
        """The real part."""

    def reciprocal(self) -> Tensor:
        """1 divided by each element of `x`."""

    def reciprocal_(self) -> Tensor: ...

    def record_stream(self, stream: typing.Any) -> None:
        """Says that work on `stream` uses this tensor. Only needed for work that adjoint does not launch."""

    def register_hook(self, hook: Callable[[Tensor], Tensor | None]) -> Any:
        """Calls ``hook(grad)`` when the gradient of this tensor is known; what it returns replaces the gradient."""

    def register_post_accumulate_grad_hook(self, hook: Callable[[Tensor], None]) -> Any:
        """Calls ``hook(leaf)`` after ``leaf.grad`` was updated."""

    def relu(self) -> Tensor:
        """Each element of `x`, or 0 where it is negative; derivative 0 at 0."""

    def relu_(self) -> Tensor: ...

    def remainder(self, other: Tensor | _Number) -> Tensor:
        """`a - b * floor(a / b)`, elementwise: the sign of `b`."""

    def remainder_(self, other: Tensor | _Number) -> Tensor: ...

    def renorm(input: Tensor, p: _float, dim: _int, maxnorm: _float) -> Tensor:
        """Slices along `dim` whose p-norm is above `maxnorm` are scaled down to it.

Example::

    >>> ad.renorm(ad.tensor([[3.0, 4.0], [0.0, 1.0]]), 2, 0, 2.5)
    tensor([[1.5000, 2.0000],
            [0.0000, 1.0000]])"""

    def renorm_(self, *args: Any, **kwargs: Any) -> Tensor:
        """The in-place form of `renorm`."""

    @overload
    def repeat(self, *repeats: _Dims) -> Tensor: ...

    @overload
    def repeat(self, *, repeats: _Dims) -> Tensor: ...

    @overload
    def repeat_interleave(self, repeats: _int, dim: _int | None=None, *, output_size: _int | None=None) -> Tensor: ...

    @overload
    def repeat_interleave(self, repeats: Tensor, dim: _int | None=None, *, output_size: _int | None=None) -> Tensor: ...

    @property
    def requires_grad(self) -> _bool:
        """Whether operations on the tensor are recorded."""

    @requires_grad.setter
    def requires_grad(self, value: _bool) -> None: ...

    def requires_grad_(self, requires_grad: _bool=True) -> Tensor:
        """Says in place whether operations on this leaf are recorded; returns the tensor.

Raises:
    RuntimeError: the element type is neither floating-point nor complex, or ``False`` for a tensor that has a history."""

    @overload
    def reshape(self, *shape: _Dims) -> Tensor: ...

    @overload
    def reshape(self, *, shape: _Dims) -> Tensor: ...

    def reshape_as(self, other: Tensor) -> Tensor: ...

    def resize(self, *sizes: Any) -> Tensor:
        """`reshape`, under a deprecated name.

Raises:
    RuntimeError: another number of elements."""

    def resize_(self, *sizes: Any, size: Any=None, memory_format: Any=adjoint.contiguous_format) -> Tensor:
        """Changes the shape in place; memory grows if it must, and new elements are uninitialised.

Raises:
    RuntimeError: memory that views, NumPy arrays or a graph share would have to grow; the tensor requires grad; `preserve_format`."""

    def resize_as(self, tensor: Tensor) -> Tensor:
        """`resize` to the shape of another."""

    def resize_as_(self, other: Tensor, *, memory_format: Any=None) -> Tensor:
        """Changes the shape in place to that of `other`, and with a memory format the order; `preserve_format` takes that of `other`."""

    def resolve_conj(self) -> Tensor: ...

    def resolve_neg(self) -> Tensor: ...

    def retain_grad(self) -> None:
        """Makes backward keep the gradient of this non-leaf in ``.grad``.

Raises:
    RuntimeError: the tensor does not require grad."""

    @property
    def retains_grad(self) -> _bool:
        """Whether ``retain_grad`` was called on this non-leaf."""

    def roll(self, shifts: _Dims, dims: _Dims | None=None) -> Tensor:
        """`x` shifted along some dimensions; what leaves at one end enters at the other."""

    def rot90(self, k: _int=1, dims: _Dims=...) -> Tensor: ...

    def round(self, *, decimals: _int=0) -> Tensor:
        """The nearest integer to each element of `x`, halves to even."""

    def round_(self, *, decimals: _int=0) -> Tensor: ...

    def row_indices(self) -> Tensor:
        """(batch..., nnz): the row of each value, or block."""

    def rsqrt(self) -> Tensor:
        """1 divided by the square root of each element of `x`."""

    def rsqrt_(self) -> Tensor: ...

    def rsub(self, other: Tensor | _Number, *, alpha: _Number | None=None) -> Tensor: ...

    @overload
    def scatter(self, dim: _int, index: Tensor, src: Tensor | _Number) -> Tensor:
        """`x` with the elements of `source` written at the positions `index` along `dim`."""

    @overload
    def scatter(self, dim: _int, index: Tensor, *, value: Tensor | _Number) -> Tensor: ...

    @overload
    def scatter(self, dim: _int, index: Tensor, src: Tensor | _Number, *, reduce: str) -> Tensor: ...

    @overload
    def scatter(self, dim: _int, index: Tensor, *, value: Tensor | _Number, reduce: str) -> Tensor: ...

    @overload
    def scatter_(self, dim: _int, index: Tensor, src: Tensor | _Number) -> Tensor: ...

    @overload
    def scatter_(self, dim: _int, index: Tensor, *, value: Tensor | _Number) -> Tensor: ...

    @overload
    def scatter_(self, dim: _int, index: Tensor, src: Tensor | _Number, *, reduce: str) -> Tensor: ...

    @overload
    def scatter_(self, dim: _int, index: Tensor, *, value: Tensor | _Number, reduce: str) -> Tensor: ...

    def scatter_add(self, dim: _int, index: Tensor, src: Tensor) -> Tensor:
        """`x` with the elements of `source` added at the positions `index` along `dim`, in order."""

    def scatter_add_(self, dim: _int, index: Tensor, src: Tensor) -> Tensor: ...

    def scatter_reduce(self, dim: _int, index: Tensor, src: Tensor, reduce: str, *, include_self: _bool=True) -> Tensor:
        """`input` with the elements of `src` reduced into the positions `index` along `dim`."""

    def scatter_reduce_(self, dim: _int, index: Tensor, src: Tensor, reduce: str, *, include_self: _bool=True) -> Tensor:
        """`input` with the elements of `src` reduced into the positions `index` along `dim`."""

    def select(self, dim: _int, index: _int) -> Tensor:
        """One position along a dimension, which goes away."""

    def select_scatter(self, src: Tensor, dim: _int, index: _int) -> Tensor: ...

    def set_(self, source: Any=None, storage_offset: _int=0, size: Sequence[_int] | None=None, stride: Sequence[_int]=()) -> Tensor:
        """Looks at other memory from now on; counts as a write. Graphs made before do not lead to this tensor any more.

Arguments:
    source: a tensor, whose memory and shape it takes, or a `Storage`; none empties the tensor.
    storage_offset: the first element in that memory.
    size: the shape; that of ``source`` by default, all of a storage.
    stride: of each dimension; those of a contiguous tensor by default.

Raises:
    RuntimeError: a tensor that requires grad, outside of ``no_grad``; a source of another element type; memory that does not reach."""

    def sgn(self) -> Tensor:
        """`x / abs(x)` for each element of `x`, 0 for 0."""

    def sgn_(self) -> Tensor: ...

    @property
    def shape(self) -> Size:
        """The size of each dimension."""

    def share_memory_(self: T) -> T:
        """Moves the memory to where other processes can map it, and returns the tensor; a tensor of a GPU or one that is there stays.

The memory has no name. It is freed when its last user, in any process, drops it or dies.

Raises:
    RuntimeError: views, arrays or a graph look at the memory too: they would stay behind; or the system gives no memory.

Example::

    >>> ad.ones(3).share_memory_().is_shared()
    True"""

    def short(self, memory_format: memory_format=...) -> Tensor: ...

    def sigmoid(self) -> Tensor:
        """`1 / (1 + exp(-x))` for each element of `x`."""

    def sigmoid_(self) -> Tensor: ...

    def sign(self) -> Tensor:
        """Sign of each element of `x`: -1, 0 or 1."""

    def sign_(self) -> Tensor: ...

    def signbit(input: Tensor) -> Tensor:
        """Whether the sign is negative; true of -0.0 too.

Example::

    >>> ad.signbit(ad.tensor([-0.0, 1.0]))
    tensor([ True, False])"""

    def sin(self) -> Tensor:
        """Sine of each element of `x` (radians)."""

    def sin_(self) -> Tensor: ...

    def sinc(self) -> Tensor:
        """`sin(pi x) / (pi x)` for each element of `x`, 1 at 0."""

    def sinc_(self) -> Tensor: ...

    def sinh(self) -> Tensor:
        """Hyperbolic sine of each element of `x`."""

    def sinh_(self) -> Tensor: ...

    @overload
    def size(self) -> Size: ...

    @overload
    def size(self, dim: _int) -> _int: ...

    def slice_scatter(self, src: Tensor, dim: _int=0, start: _int | None=None, end: _int | None=None, step: _int=1) -> Tensor: ...

    def slogdet(input: Tensor) -> Any:
        """The sign of the determinant and the logarithm of its absolute value: `linalg.slogdet`.

Example::

    >>> ad.slogdet(ad.tensor([[0.0, 1.0], [1.0, 0.0]]))
    adjoint.return_types.linalg_slogdet(
    sign=tensor(-1.),
    logabsdet=tensor(0.))"""

    def smm(input: Tensor, mat2: Tensor) -> Tensor:
        """`spmm`, as a sparse tensor.

Example::

    >>> ad.smm(ad.eye(2).to_sparse(), ad.ones(2, 1)).is_sparse
    True"""

    def softmax(self, dim: _int, dtype: _dtype | None=None) -> Tensor:
        """exp(x) / sum(exp(x)) along a dimension, without overflow."""

    def solve(input: Tensor, A: Tensor, *, out: Any=None) -> NoReturn:
        """The older name of `linalg.solve`, whose arguments are the other way round. It raises RuntimeError, as in PyTorch."""

    def sort(self, dim: _int=-1, descending: _bool=False, stable: _bool | None=False) -> _ValuesIndices:
        """The elements in order along a dimension, and where each came from."""

    def sparse_dim(self) -> _int:
        """How many leading dimensions are sparse."""

    def sparse_mask(self, mask: Tensor) -> Tensor:
        """The values of this tensor where the sparse `mask` specifies some."""

    def sparse_resize_(self, size: Sequence[_int], sparse_dim: _int, dense_dim: _int) -> Tensor:
        """Other sizes, of which the first `sparse_dim` are sparse; new elements of dense dimensions are 0.

Raises:
    RuntimeError: values are specified, and a dimension would become smaller, or sparse and dense ones other in number."""

    def sparse_resize_and_clear_(self, size: Sequence[_int], sparse_dim: _int, dense_dim: _int) -> Tensor:
        """Other sizes, of which the first `sparse_dim` are sparse, and no values."""

    def split(self, split_size: Any, dim: _int=0) -> tuple[Tensor, ...]: ...

    def split_with_sizes(self, split_sizes: _Dims, dim: _int=0) -> tuple[Tensor, ...]: ...

    def sqrt(self) -> Tensor:
        """Square root of each element of `x`."""

    def sqrt_(self) -> Tensor: ...

    def square(self) -> Tensor:
        """Square of each element of `x`."""

    def square_(self) -> Tensor: ...

    @overload
    def squeeze(self, dim: _Dims | None=None) -> Tensor: ...

    @overload
    def squeeze(self, *dims: _Dims) -> Tensor: ...

    def squeeze_(self, *args: Any, **kwargs: Any) -> Tensor:
        """Turns this tensor into what `squeeze` returns."""

    def sspaddmm(input: Tensor, mat1: Tensor, mat2: Tensor, *, beta: _float=1, alpha: _float=1) -> Tensor:
        """`addmm` of a sparse `input` and a sparse `mat1`, as a sparse tensor.

Example::

    >>> eye = ad.eye(2).to_sparse()
    >>> ad.sspaddmm(eye, eye, ad.ones(2, 2)).to_dense()
    tensor([[2., 1.],
            [1., 2.]])"""

    @overload
    def std(self, unbiased: _bool) -> Tensor:
        """The square root of the variance over `dims`; its derivative at 0 is 0."""

    @overload
    def std(self, dim: _Dims | None=None, unbiased: _bool | None=None, keepdim: _bool=False, *, correction: _float | None=None) -> Tensor: ...

    @overload
    def std_mean(self, unbiased: _bool) -> tuple[Tensor, Tensor]: ...

    @overload
    def std_mean(self, dim: _Dims | None=None, unbiased: _bool | None=None, keepdim: _bool=False, *, correction: _float | None=None) -> tuple[Tensor, Tensor]: ...

    def stft(input: Tensor, n_fft: _int, hop_length: _int | None=None, win_length: _int | None=None, window: Tensor | None=None, center: _bool=True, pad_mode: str='reflect', normalized: _bool=False, onesided: _bool | None=None, return_complex: _bool | None=None, align_to_window: _bool | None=None) -> Tensor:
        """Spectra of overlapping frames of signals: (time,) or (n, time) gives (..., frequencies, frames).

Arguments:
    n_fft: samples of a frame.
    hop_length: from one frame to the next, n_fft // 4 by default.
    win_length, window: what the frames are multiplied by, in the middle of n_fft samples; ones by default.
    center: frames are centred at multiples of `hop_length`, the signal padded by `pad_mode`.
    normalized: divided by sqrt(n_fft).
    onesided: only n_fft // 2 + 1 frequencies, the default for real signals.
    return_complex: False gives real and imaginary parts in a last dimension.

Example::

    >>> ad.stft(ad.ones(8), 4, window=ad.hann_window(4), return_complex=True).shape
    adjoint.Size([3, 9])"""

    def storage(self) -> TypedStorage:
        """The memory behind this tensor, counted in its elements."""

    def storage_offset(self) -> _int: ...

    def storage_type(self) -> _type:
        """The class that makes memory like that of this tensor."""

    @overload
    def stride(self) -> tuple[_int, ...]: ...

    @overload
    def stride(self, dim: _int) -> _int: ...

    def sub(self, other: Tensor | _Number, *, alpha: _Number | None=None) -> Tensor:
        """Elementwise difference."""

    def sub_(self, other: Tensor | _Number, *, alpha: _Number | None=None) -> Tensor: ...

    def subtract(self, other: Tensor | _Number, *, alpha: _Number | None=None) -> Tensor: ...

    def subtract_(self, other: Tensor | _Number, *, alpha: _Number | None=None) -> Tensor: ...

    def sum(self, dim: _Dims | None=None, keepdim: _bool=False, *, dtype: _dtype | None=None) -> Tensor:
        """The sum over `dim` (all, if none)."""

    def sum_to_size(self, *sizes: Any, size: Any=None) -> Tensor:
        """Sums over what was broadcast from `size`: the reverse of `expand`."""

    def svd(input: Tensor, some: _bool=True, compute_uv: _bool=True) -> Any:
        """U, S and V (not its conjugate transpose) of input = U diag(S) Vᴴ; zeros for U and V unless `compute_uv`.

Example::

    >>> ad.svd(ad.tensor([[0., 2.], [1., 0.]])).S
    tensor([2., 1.])"""

    def swapaxes(self, dim0: _int, dim1: _int) -> Tensor: ...

    def swapaxes_(self, *args: Any, **kwargs: Any) -> Tensor:
        """Turns this tensor into what `swapaxes` returns."""

    def swapdims(self, dim0: _int, dim1: _int) -> Tensor: ...

    def swapdims_(self, *args: Any, **kwargs: Any) -> Tensor:
        """Turns this tensor into what `swapdims` returns."""

    def symeig(input: Tensor, eigenvectors: _bool=False, upper: _bool=True, *, out: Any=None) -> NoReturn:
        """The older name of `linalg.eigh`, which reads the other triangle. It raises RuntimeError, as in PyTorch."""

    def t(self) -> Tensor: ...

    def t_(self, *args: Any, **kwargs: Any) -> Tensor:
        """Turns this tensor into what `t` returns."""

    def take(self, index: Tensor) -> Tensor: ...

    def take_along_dim(self, indices: Tensor, dim: _int | None=None) -> Tensor: ...

    def tan(self) -> Tensor:
        """Tangent of each element of `x` (radians)."""

    def tan_(self) -> Tensor: ...

    def tanh(self) -> Tensor:
        """Hyperbolic tangent of each element of `x`."""

    def tanh_(self) -> Tensor: ...

    @overload
    def tensor_split(self, indices_or_sections: Any, dim: _int=0) -> tuple[Tensor, ...]: ...

    @overload
    def tensor_split(self, sections: Any, dim: _int=0) -> tuple[Tensor, ...]: ...

    @overload
    def tensor_split(self, indices: Any, dim: _int=0) -> tuple[Tensor, ...]: ...

    @overload
    def tensor_split(self, tensor_indices_or_sections: Any, dim: _int=0) -> tuple[Tensor, ...]: ...

    @overload
    def tile(self, *dims: _Dims) -> Tensor: ...

    @overload
    def tile(self, *, dims: _Dims) -> Tensor: ...

    def to(self, *args: Any, **kwargs: Any) -> Tensor:
        """This tensor with another element type, or on another device."""

    def to_dense(self, dtype: Any=None, *, masked_grad: _bool | None=None) -> Tensor:
        """The strided tensor with these values.

Arguments:
    dtype: of the result.
    masked_grad: whether the gradient of a sparse tensor is taken only where it specifies values (the default)."""

    def to_device(self, device: Any, /, *, stream: Any=None) -> Tensor:
        """The tensor on a device: the array API's name of `to`."""

    def to_padded_tensor(self, padding: _float, output_size: Any=None) -> Tensor:
        """Of a nested tensor: its pieces as one tensor, smaller ones followed by `padding`. Others have no pieces."""

    def to_sparse(self, sparse_dim: _int | layout | None=None, *, layout: layout | None=None, blocksize: Any=None, dense_dim: _int | None=None) -> Tensor:
        """The elements that are not zero, as a sparse tensor whose first `sparse_dim` dimensions are sparse (all by default).

Arguments:
    layout: ``sparse_coo``, or a compressed one; of those, dimensions before the last two sparse ones are batches.
    blocksize: (rows, columns) of the blocks of ``sparse_bsr`` and ``sparse_bsc``.
    dense_dim: how many trailing dimensions are dense."""

    def to_sparse_bsc(self, blocksize: Sequence[_int], dense_dim: _int | None=None) -> Tensor:
        """In layout ``sparse_bsc``: columns of blocks of `blocksize`, (rows, columns), compressed."""

    def to_sparse_bsr(self, blocksize: Sequence[_int], dense_dim: _int | None=None) -> Tensor:
        """In layout ``sparse_bsr``: rows of blocks of `blocksize`, (rows, columns), compressed."""

    def to_sparse_coo(self) -> Tensor:
        """The tensor in layout sparse_coo: the same as `to_sparse()`.

Example::

    >>> ad.eye(2).to_sparse_coo().indices()
    tensor([[0, 1],
            [0, 1]])"""

    def to_sparse_csc(self, dense_dim: _int | None=None) -> Tensor:
        """In layout ``sparse_csc``: columns compressed."""

    def to_sparse_csr(self, dense_dim: _int | None=None) -> Tensor:
        """In layout ``sparse_csr``: rows compressed. Dimensions before the last two sparse ones are batches of as many values."""

    def tolist(self) -> Any:
        """Nested lists of Python numbers."""

    def topk(self, k: _int, dim: _int=-1, largest: _bool=True, sorted: _bool=True) -> _ValuesIndices:
        """The k largest (or smallest) elements along a dimension, and where they are."""

    def trace(self) -> Tensor: ...

    @overload
    def transpose(self, dim0: _int, dim1: _int) -> Tensor:
        """Two dimensions of `x` exchanged."""

    @overload
    def transpose(self, axes: tuple[Any, ...]) -> Tensor: ...

    def transpose_(self, *args: Any, **kwargs: Any) -> Tensor:
        """Turns this tensor into what `transpose` returns."""

    def triangular_solve(input: Tensor, A: Tensor, upper: _bool=True, transpose: _bool=False, unitriangular: _bool=False) -> Any:
        """X of A X = input, or of Aᵀ X = input if `transpose`, and a copy of A: `linalg.solve_triangular`.

A sparse A is made dense; its copy is then empty, as in PyTorch.

Example::

    >>> ad.triangular_solve(ad.tensor([[3.0], [4.0]]), ad.tensor([[1.0, 1.0], [0.0, 2.0]])).solution
    tensor([[1.],
            [2.]])"""

    def tril(self, diagonal: _int=0) -> Tensor:
        """The lower triangle of a matrix or of a batch of matrices; zero elsewhere."""

    def tril_(self, diagonal: _int=0) -> Tensor: ...

    def triu(self, diagonal: _int=0) -> Tensor:
        """The upper triangle of a matrix or of a batch of matrices; zero elsewhere."""

    def triu_(self, diagonal: _int=0) -> Tensor: ...

    def true_divide(self, other: Tensor | _Number, *, rounding_mode: str | None=None) -> Tensor: ...

    def true_divide_(self, other: Tensor | _Number, *, rounding_mode: str | None=None) -> Tensor: ...

    def trunc(self) -> Tensor:
        """Each element of `x` without its fraction."""

    def trunc_(self) -> Tensor: ...

    def type(self, dtype: Any=None, non_blocking: _bool=False) -> Any:
        """The name of this tensor's type, or this tensor with another element type."""

    def type_as(self, other: Tensor) -> Tensor: ...

    def unbind(self, dim: _int=0) -> tuple[Tensor, ...]: ...

    def unflatten(self, dim: _int, sizes: _Dims) -> Tensor: ...

    def unfold(self, dimension: _int, size: _int, step: _int) -> Tensor:
        """All windows of one size along a dimension, `step` apart, as the last dimension of the result."""

    def uniform_(self, from_: _float=0.0, to: _float=1.0, *, generator: Generator | None=None) -> Tensor: ...

    def unique(self, sorted: _bool=True, return_inverse: _bool=False, return_counts: _bool=False, dim: _int | None=None) -> Any:
        """The distinct values in order, which of them each element is, and how often each occurs."""

    def unique_consecutive(input: Tensor, return_inverse: _bool=False, return_counts: _bool=False, dim: _int | None=None) -> Any:
        """One of each run of equal elements, or of equal slices along `dim`.

Example::

    >>> ad.unique_consecutive(ad.tensor([1, 1, 2, 1]))
    tensor([1, 2, 1])"""

    def unsafe_chunk(input: Tensor, chunks: _int, dim: _int=0) -> tuple[Tensor, ...]:
        """`chunk` in pieces that may be written in place, as those of `unsafe_split_with_sizes`.

Example::

    >>> ad.unsafe_chunk(ad.arange(4), 2)
    (tensor([0, 1]), tensor([2, 3]))"""

    def unsafe_split(input: Tensor, split_size: _Dims, dim: _int=0) -> tuple[Tensor, ...]:
        """`split` in pieces that may be written in place, as those of `unsafe_split_with_sizes`.

Example::

    >>> ad.unsafe_split(ad.arange(4), 3)
    (tensor([0, 1, 2]), tensor([3]))"""

    def unsafe_split_with_sizes(input: Tensor, split_sizes: Sequence[_int], dim: _int=0) -> tuple[Tensor, ...]:
        """`split_with_sizes` in pieces that may be written in place: views, or where gradients are recorded copies, so that a write
to one harms nothing that was computed from another.

Example::

    >>> ad.unsafe_split_with_sizes(ad.arange(4), [1, 3])
    (tensor([0]), tensor([1, 2, 3]))"""

    def unsqueeze(self, dim: _int) -> Tensor: ...

    def unsqueeze_(self, *args: Any, **kwargs: Any) -> Tensor:
        """Turns this tensor into what `unsqueeze` returns."""

    def untyped_storage(self) -> UntypedStorage:
        """The memory behind this tensor, counted in bytes."""

    def values(self) -> Tensor:
        """The values of a coalesced or compressed sparse tensor: (nnz, dense dims...), (batch..., nnz, dense dims...) or
(batch..., blocks, rows, columns, dense dims...)."""

    @overload
    def var(self, unbiased: _bool) -> Tensor:
        """The variance over `dims`, with n - correction as divisor."""

    @overload
    def var(self, dim: _Dims | None=None, unbiased: _bool | None=None, keepdim: _bool=False, *, correction: _float | None=None) -> Tensor: ...

    @overload
    def var_mean(self, unbiased: _bool) -> tuple[Tensor, Tensor]: ...

    @overload
    def var_mean(self, dim: _Dims | None=None, unbiased: _bool | None=None, keepdim: _bool=False, *, correction: _float | None=None) -> tuple[Tensor, Tensor]: ...

    def vdot(self, other: Tensor) -> Tensor: ...

    @overload
    def view(self, *shape: _Dims) -> Tensor:
        """The same elements in the same order under another shape, without copying."""

    @overload
    def view(self, *, size: _Dims) -> Tensor: ...

    @overload
    def view(self, *, dtype: _dtype) -> Tensor: ...

    def view_as(self, other: Tensor) -> Tensor: ...

    @property
    def volatile(self) -> Any:
        """Before 0.4, what `no_grad` does now: always False."""

    @volatile.setter
    def volatile(self, value: Any) -> None: ...

    def vsplit(self, *indices_or_sections: Any, **named: Any) -> tuple[Tensor, ...]:
        """Views of the pieces along dimension 0, as `tensor_split` makes them.

Example::

    >>> [piece.shape[0] for piece in ad.vsplit(ad.ones(4, 4, 4), [1])]
    [1, 3]"""

    def where(self, condition: Tensor, other: Tensor | _Number) -> Tensor:
        """`a` where `condition` is set, else `b`."""

    def xlogy(self, other: Tensor | _Number) -> Tensor:
        """`a * log(b)`, elementwise; 0 where `a` is 0."""

    def xlogy_(self, other: Tensor | _Number) -> Tensor: ...

    def zero_(self) -> Tensor:
        """Sets every element to zero."""

    def __abs__(self) -> Tensor: ...

    def __add__(self, other: Tensor | _Number) -> Tensor: ...

    def __and__(self, other: Tensor | _Number) -> Tensor: ...

    def __array__(self, dtype: Any=None, copy: _bool | None=None) -> Any: ...

    def __array_namespace__(self: adjoint.Tensor, *, api_version: str | None=None) -> module:
        """The functions of the array API standard; ValueError for a version that is not supported."""
    __array_priority__: _int

    def __array_wrap__(self, array: Any, context: Any=None, return_scalar: _bool=False) -> Tensor: ...

    def __bool__(self) -> _bool: ...

    def __complex__(self) -> _complex: ...

    def __contains__(self, element: Any) -> _bool: ...

    def __copy__(self) -> Tensor: ...

    @property
    def __cuda_array_interface__(self) -> Any:
        """(arg: Tensor, /) -> dict"""

    def __deepcopy__(self, memo: dict[_int, Any]) -> Tensor: ...

    def __delitem__(self, index: Any) -> None: ...

    def __dir__(self) -> list[str]: ...

    def __div__(self, other: Tensor | _Number) -> Tensor: ...

    def __dlpack__(self, *, stream: Any=None, max_version: Any=None, dl_device: Any=None, copy: _bool | None=None) -> Any: ...

    def __dlpack_device__(self) -> tuple[_int, _int]: ...

    def __eq__(self, other: Tensor | _Number) -> Tensor: ...

    def __float__(self) -> _float: ...

    def __floordiv__(self, other: Tensor | _Number) -> Tensor: ...

    def __format__(self, spec: str) -> str: ...

    def __ge__(self, other: Tensor | _Number) -> Tensor: ...

    def __getitem__(self, index: Any) -> Tensor: ...

    def __gt__(self, other: Tensor | _Number) -> Tensor: ...

    def __hash__(self) -> _int: ...

    def __iadd__(self, other: Tensor | _Number) -> Tensor: ...

    def __iand__(self, other: Tensor | _Number) -> Tensor: ...

    def __ifloordiv__(self, other: Tensor | _Number) -> Tensor: ...

    def __ilshift__(self, other: Tensor | _Number) -> Tensor: ...

    def __imod__(self, other: Tensor | _Number) -> Tensor: ...

    def __imul__(self, other: Tensor | _Number) -> Tensor: ...

    def __index__(self) -> _int: ...

    def __int__(self) -> _int: ...

    def __invert__(self) -> Tensor: ...

    def __ior__(self, other: Tensor | _Number) -> Tensor: ...

    def __ipow__(self, other: Tensor | _Number) -> Tensor: ...

    def __irshift__(self, other: Tensor | _Number) -> Tensor: ...

    def __isub__(self, other: Tensor | _Number) -> Tensor: ...

    def __iter__(self) -> Iterator[Tensor]: ...

    def __itruediv__(self, other: Tensor | _Number) -> Tensor: ...

    def __ixor__(self, other: Tensor | _Number) -> Tensor: ...

    def __le__(self, other: Tensor | _Number) -> Tensor: ...

    def __len__(self) -> _int: ...

    def __lshift__(self, other: Tensor | _Number) -> Tensor: ...

    def __lt__(self, other: Tensor | _Number) -> Tensor: ...

    def __matmul__(self, other: Tensor | _Number) -> Tensor: ...

    def __mod__(self, other: Tensor | _Number) -> Tensor: ...

    def __mul__(self, other: Tensor | _Number) -> Tensor: ...

    def __ne__(self, other: Tensor | _Number) -> Tensor: ...

    def __neg__(self) -> Tensor: ...

    def __init__(self, *args: Any, **kwargs: Any) -> None: ...

    def __or__(self, other: Tensor | _Number) -> Tensor: ...

    def __pos__(self) -> Tensor: ...

    def __pow__(self, other: Tensor | _Number) -> Tensor: ...

    def __radd__(self, other: Tensor | _Number) -> Tensor: ...

    def __rand__(self, other: Tensor | _Number) -> Tensor: ...

    def __rdiv__(self, other: Tensor | _Number) -> Tensor: ...

    def __reduce_ex__(self, protocol: _int) -> Any: ...

    def __repr__(self, *, tensor_contents: str | None=None) -> str:
        """Inside a transform: the level's name around the value below it, which has all lanes of a batch. A dual tensor shows its tangent."""

    def __reversed__(self) -> Tensor: ...

    def __rfloordiv__(self, other: Tensor | _Number) -> Tensor: ...

    def __rlshift__(self, other: Tensor | _Number) -> Tensor: ...

    def __rmatmul__(self, other: Tensor | _Number) -> Tensor: ...

    def __rmod__(self, other: Tensor | _Number) -> Tensor: ...

    def __rmul__(self, other: Tensor | _Number) -> Tensor: ...

    def __ror__(self, other: Tensor | _Number) -> Tensor: ...

    def __rpow__(self, other: Tensor | _Number) -> Tensor: ...

    def __rrshift__(self, other: Tensor | _Number) -> Tensor: ...

    def __rshift__(self, other: Tensor | _Number) -> Tensor: ...

    def __rsub__(self, other: Tensor | _Number) -> Tensor: ...

    def __rtruediv__(self, other: Tensor | _Number) -> Tensor: ...

    def __rxor__(self, other: Tensor | _Number) -> Tensor: ...

    def __setitem__(self, index: Any, value: Any) -> None: ...

    def __sizeof__(self) -> _int:
        """Its bytes, those of its elements among them: what schedulers ask before they move it."""

    def __sub__(self, other: Tensor | _Number) -> Tensor: ...

    def __truediv__(self, other: Tensor | _Number) -> Tensor: ...

    def __xor__(self, other: Tensor | _Number) -> Tensor: ...

    def _addmm_activation(input: Tensor, mat1: Tensor, mat2: Tensor, *, beta: _float=1, alpha: _float=1, use_gelu: _bool=False) -> Tensor:
        """`relu` of `addmm`, or `gelu`."""

    def _alias(self) -> Tensor:
        """The same memory without history."""

    @property
    def _backward_hooks(self) -> Any:
        """The hooks on the tensor, by number; None without any. Assigning replaces a leaf's."""

    @_backward_hooks.setter
    def _backward_hooks(self, value: Any) -> None: ...

    @property
    def _base(self) -> Tensor | None:
        """The tensor that this one is a view of; None if it is none."""

    def _bump_version(self) -> None:
        """Counts a write; an error for an inference tensor outside of inference mode."""

    def _coalesced_(self, coalesced: _bool) -> Tensor:
        """Promises that the positions are in row-major order and differ, or takes that back; nothing is checked."""

    @property
    def _grad_fn(self) -> Any:
        """grad_fn(arg: Tensor, /) -> Node"""

    def _indices(self) -> Tensor:
        """The positions as they are."""

    def _is_view(self): ...

    @staticmethod
    def _make_subclass(cls: Any, data: Tensor, require_grad: _bool=False) -> Any: ...

    def _masked_gradient(self) -> Tensor: ...

    def _memory_is_shared(self) -> _bool: ...

    def _memory_users(self) -> _int: ...

    def _nnz(self) -> _int:
        """How many values are specified, or blocks; of a batched tensor, in each batch."""

    def _set_data(self, source: Tensor, keeps_version: _bool=False) -> Tensor:
        """Takes over the memory of another tensor, without history, and gives what it was; its writes may go on being counted from where they were."""

    def _set_version(self, version: _int) -> None: ...

    def _shared_file(self) -> _int:
        """The descriptor of the memory, if other processes can map it, else -1."""

    def _sparse_values(self) -> Tensor:
        """The values of a coalesced sparse tensor in the order of its positions."""

    def _storage_nbytes(self) -> _int: ...

    def _storage_ptr(self) -> _int:
        """Identifies the memory that views share."""

    def _to_dense(self) -> Tensor: ...

    def _to_sparse(self, sparse_dim: _int | None=None, layout: _int=0, rows: _int=1, columns: _int=1, int32: _bool=False) -> Tensor: ...

    def _typed_storage(self) -> TypedStorage: ...

    def _values(self) -> Tensor:
        """The values as they are, without history."""

    @property
    def _version(self) -> _int:
        """How often the memory was written in place."""

def _library() -> str:
    """The name that stands in front of names when they are printed."""

def _set_library(name: str) -> None: ...

class dtype:
    """An element type, such as `float32`."""

    def __repr__(self) -> str: ...

    def __copy__(self) -> Self: ...

    def __deepcopy__(self, memo: Any) -> Self: ...

    def to_real(self) -> _dtype: ...

    def to_complex(self) -> _dtype: ...

    @property
    def name(self) -> str: ...

    @property
    def itemsize(self) -> _int: ...

    @property
    def is_floating_point(self) -> _bool: ...

    @property
    def is_complex(self) -> _bool: ...

    @property
    def is_signed(self) -> _bool: ...
bool: _dtype = ...
uint8: _dtype = ...
uint16: _dtype = ...
uint32: _dtype = ...
uint64: _dtype = ...
int8: _dtype = ...
int16: _dtype = ...
int32: _dtype = ...
int64: _dtype = ...
float16: _dtype = ...
bfloat16: _dtype = ...
float32: _dtype = ...
float64: _dtype = ...
complex64: _dtype = ...
complex128: _dtype = ...
float: _dtype = ...
double: _dtype = ...
half: _dtype = ...
long: _dtype = ...
int: _dtype = ...
short: _dtype = ...
cfloat: _dtype = ...
cdouble: _dtype = ...

def _default_device() -> _device: ...

def _set_default_device(device: Any) -> None: ...

class device:
    """Where memory lives: `device('cpu')`."""

    def __init__(self, type: Any, index: _int | None=None) -> None: ...

    @property
    def type(self) -> str: ...

    @property
    def index(self) -> _int | None: ...

    def __eq__(self, other: Any) -> _bool: ...

    def __hash__(self) -> _int: ...

    def __enter__(self) -> Any: ...

    def __exit__(self, *args: Any) -> None: ...

    def __str__(self) -> str: ...

    def __repr__(self) -> str: ...

    def __reduce__(self) -> tuple[Any, ...]: ...
_fast_sites: _bool = True

def _site_info(id: _int) -> tuple[str, _int, str] | None:
    """(file, line, function) of a recorded source position; None for id 0."""

def _site_span(id: _int) -> tuple[_int, _int, _int, _int]:
    """(line, column, end line, end column) of a recorded source position."""

def skip_prefix(directory: str) -> None:
    """
    Files below `directory` count as library code: errors name the line that called it.
    """

def _skipped() -> tuple[Any, ...]: ...

def _site() -> _int: ...

class memory_format(enum.Enum):
    """An order of elements in memory."""

    def __str__(self) -> str: ...

    def __repr__(self) -> str: ...
    contiguous_format = 0
    preserve_format = 1
    channels_last = 2
    channels_last_3d = 3
contiguous_format: memory_format = memory_format.contiguous_format
preserve_format: memory_format = memory_format.preserve_format
channels_last: memory_format = memory_format.channels_last
channels_last_3d: memory_format = memory_format.channels_last_3d

def is_floating_point(input: Tensor) -> _bool: ...

def is_complex(input: Tensor) -> _bool: ...

def is_signed(input: Tensor) -> _bool: ...

def is_same_size(input: Tensor, other: Tensor) -> _bool: ...

def is_nonzero(input: Tensor) -> _bool: ...

def is_conj(input: Tensor) -> _bool: ...

def is_neg(input: Tensor) -> _bool: ...

def is_tensor(obj: Any) -> _bool: ...

def numel(input: Tensor) -> _int: ...

def resolve_conj(input: Tensor) -> Tensor: ...

def resolve_neg(input: Tensor) -> Tensor: ...

def clone(input: Tensor, *, memory_format: memory_format | None=None) -> Tensor:
    """A copy of `x` in fresh memory."""

def promote_types(type1: _dtype, type2: _dtype) -> _dtype: ...

def can_cast(from_: _dtype, to: _dtype) -> _bool: ...

def _memory_stats() -> tuple[Any, ...]:
    """
    Bytes of large blocks (over 1 KiB): in use, the most since the last reset, kept for later.
    """

def _booked_bytes(bytes: _int, device: _device | str | _int=...) -> _int:
    """
    What a block of so many bytes counts there; 0: it is small. On a GPU, at least that.
    """

def _reset_peak_memory() -> None:
    """From now on the peak is measured anew."""

def _empty_cache() -> None:
    """Gives kept blocks back to the system."""

class _Lent:
    pass

def _lend(tensor: Tensor) -> _Lent:
    """The elements in order, for the buffer protocol."""

def _from_buffer(data: Any, dtype: _dtype, share: _bool=False) -> Tensor:
    """
    A tensor of one dimension over a buffer, or of a copy if it cannot be written to.
    """

def _make_shared(nbytes: _int) -> Tensor:
    """Zeros in memory that other processes can map."""

def _map_shared(descriptor: _int, nbytes: _int) -> Tensor:
    """Memory that another process made; takes the descriptor over."""

class _Shown:

    @property
    def __array_struct__(self) -> Any: ...

def from_numpy(array: Any) -> Tensor:
    """A tensor that shares the memory of a NumPy array."""

def _array_of(tensor: Tensor) -> Any: ...

def from_dlpack(ext_tensor: Any, *, device: _device | str | _int | None=None, copy: _bool | None=None) -> Tensor:
    """
    A tensor that shares the memory of `ext_tensor`; a copy with `copy=True`, or where it lives on another device than `device`.
    """

@overload
def zeros(*size: _Dims, dtype: _dtype | None=None, device: _device | str | _int | None=None, requires_grad: _bool=False, pin_memory: _bool=False) -> Tensor:
    """A tensor of zeros."""

@overload
def zeros(*, dtype: _dtype | None=None, device: _device | str | _int | None=None, requires_grad: _bool=False, size: _Dims, pin_memory: _bool=False) -> Tensor: ...

def zeros_like(input: Tensor, *, dtype: _dtype | None=None, device: _device | str | _int | None=None, requires_grad: _bool=False, memory_format: memory_format | None=None, pin_memory: _bool=False) -> Tensor:
    """A tensor of zeros."""

@overload
def ones(*size: _Dims, dtype: _dtype | None=None, device: _device | str | _int | None=None, requires_grad: _bool=False, pin_memory: _bool=False) -> Tensor:
    """A tensor of ones."""

@overload
def ones(*, dtype: _dtype | None=None, device: _device | str | _int | None=None, requires_grad: _bool=False, size: _Dims, pin_memory: _bool=False) -> Tensor: ...

def ones_like(input: Tensor, *, dtype: _dtype | None=None, device: _device | str | _int | None=None, requires_grad: _bool=False, memory_format: memory_format | None=None, pin_memory: _bool=False) -> Tensor:
    """A tensor of ones."""

@overload
def empty(*size: _Dims, dtype: _dtype | None=None, device: _device | str | _int | None=None, requires_grad: _bool=False, pin_memory: _bool=False) -> Tensor:
    """A tensor of uninitialised memory."""

@overload
def empty(*, dtype: _dtype | None=None, device: _device | str | _int | None=None, requires_grad: _bool=False, size: _Dims, pin_memory: _bool=False) -> Tensor: ...

@overload
def empty(*size: _Dims, memory_format: memory_format, dtype: _dtype | None=None, device: _device | str | _int | None=None, requires_grad: _bool=False, pin_memory: _bool=False) -> Tensor: ...

def empty_like(input: Tensor, *, dtype: _dtype | None=None, device: _device | str | _int | None=None, requires_grad: _bool=False, memory_format: memory_format | None=None, pin_memory: _bool=False) -> Tensor:
    """A tensor of uninitialised memory."""

def full(size: _Dims, fill_value: _Number, *, dtype: _dtype | None=None, device: _device | str | _int | None=None, requires_grad: _bool=False, pin_memory: _bool=False) -> Tensor:
    """A tensor filled with one value."""

def full_like(input: Tensor, fill_value: _Number, *, dtype: _dtype | None=None, device: _device | str | _int | None=None, requires_grad: _bool=False, memory_format: memory_format | None=None, pin_memory: _bool=False) -> Tensor:
    """A tensor of the shape of `input`, filled with one value."""

@overload
def arange(start: _Number, end: _Number | None=None, step: _Number | None=None, *, dtype: _dtype | None=None, device: _device | str | _int | None=None, requires_grad: _bool=False, pin_memory: _bool=False) -> Tensor:
    """Values from `start` to `end`, without `end`."""

@overload
def arange(*, end: _Number, dtype: _dtype | None=None, device: _device | str | _int | None=None, requires_grad: _bool=False, pin_memory: _bool=False) -> Tensor: ...

@overload
def linspace(start: _Number, end: _Number, steps: _int, *, dtype: _dtype | None=None, device: _device | str | _int | None=None, requires_grad: _bool=False, pin_memory: _bool=False) -> Tensor: ...

@overload
def linspace(start: Tensor | _Number, end: Tensor | _Number, steps: _int, *, dtype: _dtype | None=None, device: _device | str | _int | None=None, requires_grad: _bool=False, pin_memory: _bool=False) -> Tensor:
    """`steps` evenly spaced values, both ends included."""

@overload
def logspace(start: _Number, end: _Number, steps: _int, base: _float=10.0, *, dtype: _dtype | None=None, device: _device | str | _int | None=None, requires_grad: _bool=False, pin_memory: _bool=False) -> Tensor: ...

@overload
def logspace(start: Tensor | _Number, end: Tensor | _Number, steps: _int, base: _float=10.0, *, dtype: _dtype | None=None, device: _device | str | _int | None=None, requires_grad: _bool=False, pin_memory: _bool=False) -> Tensor:
    """`steps` values from base**start to base**end."""

def eye(n: _int, m: _int | None=None, *, dtype: _dtype | None=None, device: _device | str | _int | None=None, requires_grad: _bool=False, pin_memory: _bool=False) -> Tensor:
    """The identity matrix, (n, m)."""

def tensor(data: Any, *, dtype: _dtype | None=None, device: _device | str | _int | None=None, requires_grad: _bool=False, pin_memory: _bool=False) -> Tensor:
    """
    A new tensor with a copy of `data`: numbers, nested sequences, arrays.

    Example:
        >>> tensor([1., 2.])
        tensor([1., 2.])
    """

def as_tensor(data: Any, dtype: _dtype | None=None, device: _device | str | _int | None=None) -> Tensor:
    """`data` as a tensor, without a copy where possible."""

def asarray(obj: Any, *, dtype: _dtype | None=None, device: _device | str | _int | None=None, copy: _bool | None=None, requires_grad: _bool=False, pin_memory: _bool=False) -> Tensor:
    """
    `obj` as a tensor, copied only if asked for or needed; `copy=False` raises ValueError where it is needed. The bytes of a buffer (`bytearray`, `array`) are elements of `dtype`.
    """

def scalar_tensor(s: _Number, *, dtype: _dtype | None=None, device: _device | str | _int | None=None, requires_grad: _bool=False, pin_memory: _bool=False) -> Tensor:
    """A 0-d tensor."""

def empty_strided(size: _Dims, stride: _Dims, *, dtype: _dtype | None=None, device: _device | str | _int | None=None, requires_grad: _bool=False, pin_memory: _bool=False) -> Tensor:
    """Uninitialised memory with the given strides."""

def empty_permuted(size: _Dims, physical_layout: _Dims, *, dtype: _dtype | None=None, device: _device | str | _int | None=None, requires_grad: _bool=False, pin_memory: _bool=False) -> Tensor:
    """
    Uninitialised memory without gaps, with the dimensions in the given order.
    """

def get_default_dtype() -> _dtype:
    """The type of new floating-point tensors."""

def set_default_dtype(d: _dtype) -> None:
    """Sets the type of new floating-point tensors."""

class Generator:
    """A stream of random numbers: a key and a position."""

    def __init__(self, device: _device | str | _int | None=None) -> None: ...

    def manual_seed(self, seed: _int) -> Generator:
        """
        Restarts it. The seed is in [-2**63, 2**64); a negative one stands for itself plus 2**64.
        """

    def initial_seed(self) -> _int: ...

    def seed(self) -> _int: ...

    def get_state(self) -> Tensor:
        """
        The seed and the position, as bytes; with torch meaning adjoint, PyTorch's bytes.
        """

    def set_state(self, new_state: Tensor) -> Generator: ...

    @property
    def device(self) -> _device | str | _int: ...
default_generator: Generator = ...

def device_generator(device: _device | str | _int | None) -> Generator:
    """The default generator of a device."""

def manual_seed(seed: SupportsInt) -> Generator:
    """Restarts the default generators of all devices."""

def seed() -> _int:
    """
    Restarts the default generators of all devices from a random seed, which is returned.
    """

def initial_seed() -> _int: ...

def random_states() -> list[bytes]:
    """Of the default generators of the CPU and all GPUs."""

def set_random_states(states: Sequence[bytes]) -> None: ...

def _all_lanes(arg: Tensor, /) -> Tensor:
    """Inside transforms, the values of all that the tensor stands for."""

@overload
def rand(*size: _Dims, generator: Generator | None=None, dtype: _dtype | None=None, device: _device | str | _int | None=None, requires_grad: _bool=False, pin_memory: _bool=False) -> Tensor: ...

@overload
def rand(*, generator: Generator | None=None, dtype: _dtype | None=None, device: _device | str | _int | None=None, requires_grad: _bool=False, size: _Dims, pin_memory: _bool=False) -> Tensor: ...

def rand_like(input: Tensor, *, dtype: _dtype | None=None, device: _device | str | _int | None=None, requires_grad: _bool=False, memory_format: memory_format | None=None, generator: Generator | None=None, pin_memory: _bool=False) -> Tensor: ...

@overload
def randn(*size: _Dims, generator: Generator | None=None, dtype: _dtype | None=None, device: _device | str | _int | None=None, requires_grad: _bool=False, pin_memory: _bool=False) -> Tensor: ...

@overload
def randn(*, generator: Generator | None=None, dtype: _dtype | None=None, device: _device | str | _int | None=None, requires_grad: _bool=False, size: _Dims, pin_memory: _bool=False) -> Tensor: ...

def randn_like(input: Tensor, *, dtype: _dtype | None=None, device: _device | str | _int | None=None, requires_grad: _bool=False, memory_format: memory_format | None=None, generator: Generator | None=None, pin_memory: _bool=False) -> Tensor: ...

@overload
def randint(low: _int, high: _int, size: _Dims, *, generator: Generator | None=None, dtype: _dtype | None=None, device: _device | str | _int | None=None, requires_grad: _bool=False, pin_memory: _bool=False) -> Tensor:
    """Integers in [low, high), uniformly."""

@overload
def randint(high: _int, size: _Dims, *, generator: Generator | None=None, dtype: _dtype | None=None, device: _device | str | _int | None=None, requires_grad: _bool=False, pin_memory: _bool=False) -> Tensor: ...

@overload
def randint_like(input: Tensor, high: _int, *, dtype: _dtype | None=None, device: _device | str | _int | None=None, requires_grad: _bool=False, memory_format: memory_format | None=None, generator: Generator | None=None, pin_memory: _bool=False) -> Tensor: ...

@overload
def randint_like(input: Tensor, low: _int, high: _int, *, dtype: _dtype | None=None, device: _device | str | _int | None=None, requires_grad: _bool=False, memory_format: memory_format | None=None, generator: Generator | None=None, pin_memory: _bool=False) -> Tensor: ...

def randperm(n: _int, *, generator: Generator | None=None, dtype: _dtype | None=None, device: _device | str | _int | None=None, requires_grad: _bool=False, pin_memory: _bool=False) -> Tensor:
    """A random order of 0 ... n-1."""

@overload
def bernoulli(input: Tensor, *, generator: Generator | None=None) -> Tensor: ...

@overload
def bernoulli(input: Tensor, p: _float, *, generator: Generator | None=None) -> Tensor: ...

def _draw_as_pytorch() -> None:
    """From now on generators of the CPU give PyTorch's numbers."""

def _draws_as_pytorch(generator: Generator | None, like: Tensor) -> _bool:
    """
    Whether what is drawn for `like`, outside of transforms, are PyTorch's numbers.
    """

def _gamma_of_twister(a: Tensor, b: Tensor, generator: Generator | None) -> Tensor: ...

def _poisson_of_twister(a: Tensor, b: Tensor, generator: Generator | None) -> Tensor: ...

def _binomial_of_twister(a: Tensor, b: Tensor, generator: Generator | None) -> Tensor: ...

def _bessel_i(n: _int, input: Tensor) -> Tensor: ...

def _bessel_i_scaled(n: _int, input: Tensor) -> Tensor: ...

def _bessel_j(n: _int, input: Tensor) -> Tensor: ...

def _bessel_k(n: _int, input: Tensor) -> Tensor: ...

def _bessel_k_scaled(n: _int, input: Tensor) -> Tensor: ...

def _bessel_y(n: _int, input: Tensor) -> Tensor: ...

def _erfcx(n: _int, input: Tensor) -> Tensor: ...

def _airy_ai(input: Tensor) -> Tensor: ...

def _orthogonal_polynomial(input: Tensor, n: Tensor, family: _int, parameter: _float) -> Tensor: ...

def _entr(input: Tensor) -> Tensor: ...

def _spherical_bessel_j0(input: Tensor) -> Tensor: ...

def _log_ndtr(input: Tensor) -> Tensor: ...

def _ndtri(input: Tensor) -> Tensor: ...

def _mantissa(input: Tensor) -> Tensor: ...

def _exponent(input: Tensor) -> Tensor: ...

def _zeta(input: Tensor | _Number, other: Tensor | _Number) -> Tensor: ...

def nextafter(input: Tensor, other: Tensor) -> Tensor:
    """
    The number of the type that follows `a` in the direction of `b`, elementwise. Its derivative in `a` is 1 where it moves, that in `b` 0.
    """

def neg(input: Tensor) -> Tensor:
    """Minus each element of `x`."""

def negative(input: Tensor) -> Tensor: ...

def abs(input: Tensor) -> Tensor:
    """Absolute value of each element of `x`; derivative 0 at 0."""

def absolute(input: Tensor) -> Tensor: ...

def sign(input: Tensor) -> Tensor:
    """Sign of each element of `x`: -1, 0 or 1."""

def sgn(input: Tensor) -> Tensor:
    """`x / abs(x)` for each element of `x`, 0 for 0."""

def square(input: Tensor) -> Tensor:
    """Square of each element of `x`."""

def reciprocal(input: Tensor) -> Tensor:
    """1 divided by each element of `x`."""

def exp(input: Tensor) -> Tensor:
    """e to the power of each element of `x`."""

def exp2(input: Tensor) -> Tensor:
    """2 to the power of each element of `x`."""

def expm1(input: Tensor) -> Tensor:
    """`exp(x) - 1`, accurate for small `x`."""

def log(input: Tensor) -> Tensor:
    """Natural logarithm of each element of `x`."""

def log2(input: Tensor) -> Tensor:
    """Logarithm to base 2 of each element of `x`."""

def log10(input: Tensor) -> Tensor:
    """Logarithm to base 10 of each element of `x`."""

def log1p(input: Tensor) -> Tensor:
    """`log(1 + x)`, accurate for small `x`."""

def sqrt(input: Tensor) -> Tensor:
    """Square root of each element of `x`."""

def rsqrt(input: Tensor) -> Tensor:
    """1 divided by the square root of each element of `x`."""

def floor(input: Tensor) -> Tensor:
    """The largest integer not above each element of `x`."""

def ceil(input: Tensor) -> Tensor:
    """The smallest integer not below each element of `x`."""

def trunc(input: Tensor) -> Tensor:
    """Each element of `x` without its fraction."""

def fix(input: Tensor) -> Tensor: ...

def frac(input: Tensor) -> Tensor:
    """The fraction of each element of `x`, with its sign."""

def sin(input: Tensor) -> Tensor:
    """Sine of each element of `x` (radians)."""

def cos(input: Tensor) -> Tensor:
    """Cosine of each element of `x` (radians)."""

def tan(input: Tensor) -> Tensor:
    """Tangent of each element of `x` (radians)."""

def asin(input: Tensor) -> Tensor:
    """Arcsine of each element of `x`."""

def arcsin(input: Tensor) -> Tensor: ...

def acos(input: Tensor) -> Tensor:
    """Arccosine of each element of `x`."""

def arccos(input: Tensor) -> Tensor: ...

def atan(input: Tensor) -> Tensor:
    """Arctangent of each element of `x`."""

def arctan(input: Tensor) -> Tensor: ...

def sinh(input: Tensor) -> Tensor:
    """Hyperbolic sine of each element of `x`."""

def cosh(input: Tensor) -> Tensor:
    """Hyperbolic cosine of each element of `x`."""

def tanh(input: Tensor) -> Tensor:
    """Hyperbolic tangent of each element of `x`."""

def asinh(input: Tensor) -> Tensor:
    """Inverse hyperbolic sine of each element of `x`."""

def arcsinh(input: Tensor) -> Tensor: ...

def acosh(input: Tensor) -> Tensor:
    """Inverse hyperbolic cosine of each element of `x`."""

def arccosh(input: Tensor) -> Tensor: ...

def atanh(input: Tensor) -> Tensor:
    """Inverse hyperbolic tangent of each element of `x`."""

def arctanh(input: Tensor) -> Tensor: ...

def erf(input: Tensor) -> Tensor:
    """Error function of each element of `x`."""

def erfc(input: Tensor) -> Tensor:
    """`1 - erf(x)`, accurate for large `x`."""

def erfinv(input: Tensor) -> Tensor:
    """Inverse of the error function of each element of `x`."""

def lgamma(input: Tensor) -> Tensor:
    """
    Logarithm of the absolute value of the gamma function of each element of `x`.
    """

def digamma(input: Tensor) -> Tensor:
    """Derivative of lgamma at each element of `x`."""

def sinc(input: Tensor) -> Tensor:
    """`sin(pi x) / (pi x)` for each element of `x`, 1 at 0."""

def rad2deg(input: Tensor) -> Tensor:
    """Each element of `x` from radians to degrees."""

def deg2rad(input: Tensor) -> Tensor:
    """Each element of `x` from degrees to radians."""

def logical_not(input: Tensor) -> Tensor:
    """Whether each element of `x` is zero."""

def bitwise_not(input: Tensor) -> Tensor:
    """Each element of `x` with all bits inverted."""

def sigmoid(input: Tensor) -> Tensor:
    """`1 / (1 + exp(-x))` for each element of `x`."""

def relu(input: Tensor) -> Tensor:
    """Each element of `x`, or 0 where it is negative; derivative 0 at 0."""

def isnan(input: Tensor) -> Tensor:
    """Whether each element of `x` is NaN."""

def isinf(input: Tensor) -> Tensor:
    """Whether each element of `x` is infinite."""

def isfinite(input: Tensor) -> Tensor:
    """Whether each element of `x` is neither infinite nor NaN."""

def mul(input: Tensor | _Number, other: Tensor | _Number) -> Tensor:
    """Elementwise product."""

def multiply(input: Tensor | _Number, other: Tensor | _Number) -> Tensor: ...

def pow(input: Tensor | _Number, other: Tensor | _Number) -> Tensor:
    """`a` to the power `b`, elementwise."""

def floor_divide(input: Tensor | _Number, other: Tensor | _Number) -> Tensor:
    """`floor(a / b)`, elementwise, of the exact quotient."""

def remainder(input: Tensor | _Number, other: Tensor | _Number) -> Tensor:
    """`a - b * floor(a / b)`, elementwise: the sign of `b`."""

def fmod(input: Tensor | _Number, other: Tensor | _Number) -> Tensor:
    """`a - b * trunc(a / b)`, elementwise: the sign of `a`."""

def atan2(input: Tensor | _Number, other: Tensor | _Number) -> Tensor:
    """Angle of the point `(b, a)`, elementwise, in `[-pi, pi]`."""

def arctan2(input: Tensor | _Number, other: Tensor | _Number) -> Tensor: ...

def hypot(input: Tensor | _Number, other: Tensor | _Number) -> Tensor:
    """`sqrt(a^2 + b^2)`, elementwise, without overflow on the way."""

def igamma(input: Tensor | _Number, other: Tensor | _Number) -> Tensor:
    """
    The regularised lower incomplete gamma function of `a` at `x`, elementwise.
    """

def igammac(input: Tensor | _Number, other: Tensor | _Number) -> Tensor:
    """
    The regularised upper incomplete gamma function of `a` at `x`, elementwise.
    """

def maximum(input: Tensor | _Number, other: Tensor | _Number) -> Tensor:
    """The larger element; NaN if either is. A tie shares the derivative."""

def minimum(input: Tensor | _Number, other: Tensor | _Number) -> Tensor:
    """The smaller element; NaN if either is. A tie shares the derivative."""

def fmax(input: Tensor | _Number, other: Tensor | _Number) -> Tensor:
    """
    The larger element, or the one that is not NaN. A tie gives the derivative to `a`.
    """

def fmin(input: Tensor | _Number, other: Tensor | _Number) -> Tensor:
    """
    The smaller element, or the one that is not NaN. A tie gives the derivative to `a`.
    """

def xlogy(input: Tensor | _Number, other: Tensor | _Number) -> Tensor:
    """`a * log(b)`, elementwise; 0 where `a` is 0."""

def logaddexp(input: Tensor | _Number, other: Tensor | _Number) -> Tensor:
    """`log(exp(a) + exp(b))`, elementwise, without overflow."""

def logaddexp2(input: Tensor | _Number, other: Tensor | _Number) -> Tensor:
    """`log2(2**a + 2**b)`, elementwise, without overflow."""

def copysign(input: Tensor | _Number, other: Tensor | _Number) -> Tensor:
    """The size of `a` with the sign of `b`, elementwise."""

def eq(input: Tensor | _Number, other: Tensor | _Number) -> Tensor:
    """Whether `a == b`, elementwise."""

def ne(input: Tensor | _Number, other: Tensor | _Number) -> Tensor:
    """Whether `a != b`, elementwise."""

def not_equal(input: Tensor | _Number, other: Tensor | _Number) -> Tensor: ...

def lt(input: Tensor | _Number, other: Tensor | _Number) -> Tensor:
    """Whether `a < b`, elementwise."""

def less(input: Tensor | _Number, other: Tensor | _Number) -> Tensor: ...

def le(input: Tensor | _Number, other: Tensor | _Number) -> Tensor:
    """Whether `a <= b`, elementwise."""

def less_equal(input: Tensor | _Number, other: Tensor | _Number) -> Tensor: ...

def gt(input: Tensor | _Number, other: Tensor | _Number) -> Tensor:
    """Whether `a > b`, elementwise."""

def greater(input: Tensor | _Number, other: Tensor | _Number) -> Tensor: ...

def ge(input: Tensor | _Number, other: Tensor | _Number) -> Tensor:
    """Whether `a >= b`, elementwise."""

def greater_equal(input: Tensor | _Number, other: Tensor | _Number) -> Tensor: ...

def logical_and(input: Tensor | _Number, other: Tensor | _Number) -> Tensor:
    """Whether `a` and `b` are both nonzero, elementwise."""

def logical_or(input: Tensor | _Number, other: Tensor | _Number) -> Tensor:
    """Whether `a` or `b` is nonzero, elementwise."""

def logical_xor(input: Tensor | _Number, other: Tensor | _Number) -> Tensor:
    """Whether exactly one of `a` and `b` is nonzero, elementwise."""

def bitwise_and(input: Tensor | _Number, other: Tensor | _Number) -> Tensor:
    """Bits set in both `a` and `b`."""

def bitwise_or(input: Tensor | _Number, other: Tensor | _Number) -> Tensor:
    """Bits set in `a` or `b`."""

def bitwise_xor(input: Tensor | _Number, other: Tensor | _Number) -> Tensor:
    """Bits set in exactly one of `a` and `b`."""

def bitwise_left_shift(input: Tensor | _Number, other: Tensor | _Number) -> Tensor:
    """The bits of `a` moved up by `b`."""

def bitwise_right_shift(input: Tensor | _Number, other: Tensor | _Number) -> Tensor:
    """The bits of `a` moved down by `b`, the sign kept."""

@overload
def where(condition: Tensor, input: Tensor | _Number, other: Tensor | _Number) -> Tensor:
    """Elements of `input` where `condition`, else of `other`."""

@overload
def where(condition: Tensor) -> tuple[Tensor, ...]:
    """`a` where `condition` is set, else `b`."""

def masked_fill(input: Tensor, mask: Tensor, value: Tensor | _Number) -> Tensor:
    """`value` where `mask` is set, else the element of `x`."""

def masked_select(input: Tensor, mask: Tensor) -> Tensor: ...

def nonzero(input: Tensor, *, as_tuple: _bool=False) -> Any:
    """The positions of the elements of `x` that are not zero, one a row."""

def argwhere(input: Tensor) -> Tensor: ...

def clamp(input: Tensor, min: Tensor | _Number | None=None, max: Tensor | _Number | None=None) -> Tensor:
    """`minimum(maximum(x, lo), hi)`, elementwise; derivative 1 at the bounds."""

def clip(input: Tensor, min: Tensor | _Number | None=None, max: Tensor | _Number | None=None) -> Tensor: ...

def heaviside(input: Tensor, values: Tensor) -> Tensor:
    """0 where `input` < 0 or NaN, 1 where `input` > 0, `values` where `input` = 0, elementwise."""

def clamp_min(input: Tensor, min: Tensor | _Number) -> Tensor:
    """Each element of `x`, at least `lo`; derivative 1 at the bound."""

def clamp_max(input: Tensor, max: Tensor | _Number) -> Tensor:
    """Each element of `x`, at most `hi`; derivative 1 at the bound."""

def add(input: Tensor | _Number, other: Tensor | _Number, *, alpha: _Number | None=None) -> Tensor:
    """Elementwise sum."""

def sub(input: Tensor | _Number, other: Tensor | _Number, *, alpha: _Number | None=None) -> Tensor:
    """Elementwise difference."""

def subtract(input: Tensor | _Number, other: Tensor | _Number, *, alpha: _Number | None=None) -> Tensor: ...

def rsub(input: Tensor, other: Tensor | _Number, *, alpha: _Number | None=None) -> Tensor: ...

def div(input: Tensor | _Number, other: Tensor | _Number, *, rounding_mode: str | None=None) -> Tensor:
    """Elementwise quotient; integers give floating point."""

def divide(input: Tensor | _Number, other: Tensor | _Number, *, rounding_mode: str | None=None) -> Tensor: ...

def true_divide(input: Tensor | _Number, other: Tensor | _Number, *, rounding_mode: str | None=None) -> Tensor: ...

def round(input: Tensor, *, decimals: _int=0) -> Tensor:
    """The nearest integer to each element of `x`, halves to even."""

def lerp(input: Tensor, end: Tensor, weight: Tensor | _Number) -> Tensor:
    """`a + weight * (b - a)`, elementwise."""

def addcmul(input: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: _Number=1) -> Tensor:
    """`x + value * a * b`, elementwise."""

def addcdiv(input: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: _Number=1) -> Tensor:
    """`x + value * a / b`, elementwise."""

def logit(input: Tensor, eps: _float | None=None) -> Tensor:
    """`log(x / (1 - x))` for each element of `x`, clamped to [eps, 1 - eps] if eps is not negative."""

def nan_to_num(input: Tensor, nan: _float | None=None, posinf: _float | None=None, neginf: _float | None=None) -> Tensor:
    """Each element of `x`, NaN and infinities replaced by numbers; derivative 0 there."""

def positive(input: Tensor) -> Tensor: ...

def polygamma(n: _int, input: Tensor) -> Tensor:
    """The n-th derivative of digamma at each element of `x`."""

def real(input: Tensor) -> Tensor: ...

def imag(input: Tensor) -> Tensor: ...

def view_as_real(input: Tensor) -> Tensor:
    """A view of complex `x` as real numbers, with a last dimension of the two parts."""

def view_as_complex(input: Tensor) -> Tensor:
    """A view of real `x`, whose last dimension holds two parts, as complex numbers."""

def conj(input: Tensor) -> Tensor:
    """Complex conjugate of each element of `x`."""

def conj_physical(input: Tensor) -> Tensor: ...

def angle(input: Tensor) -> Tensor:
    """Angle of each element of `x` in the complex plane."""

def complex(real: Tensor, imag: Tensor) -> Tensor:
    """Complex numbers from their real and imaginary parts."""

def polar(abs: Tensor, angle: Tensor) -> Tensor: ...

def gather(input: Tensor, dim: _int, index: Tensor, *, sparse_grad: _bool=False) -> Tensor:
    """The elements of `x` at the positions `index` along `dim`; the result has the shape of `index`."""

@overload
def scatter(input: Tensor, dim: _int, index: Tensor, src: Tensor | _Number) -> Tensor:
    """`x` with the elements of `source` written at the positions `index` along `dim`."""

@overload
def scatter(input: Tensor, dim: _int, index: Tensor, *, value: Tensor | _Number) -> Tensor: ...

@overload
def scatter(input: Tensor, dim: _int, index: Tensor, src: Tensor | _Number, *, reduce: str) -> Tensor: ...

@overload
def scatter(input: Tensor, dim: _int, index: Tensor, *, value: Tensor | _Number, reduce: str) -> Tensor: ...

def scatter_add(input: Tensor, dim: _int, index: Tensor, src: Tensor) -> Tensor:
    """`x` with the elements of `source` added at the positions `index` along `dim`, in order."""

def index_copy(input: Tensor, dim: _int, index: Tensor, source: Tensor) -> Tensor:
    """`x` with the slices of `source` written at the positions `index` (1-d) along `dim`."""

def index_select(input: Tensor, dim: _int, index: Tensor) -> Tensor:
    """The slices of `x` at the positions `index` (1-d) along `dim`."""

def index_add(input: Tensor, dim: _int, index: Tensor, source: Tensor, *, alpha: _Number=1) -> Tensor:
    """`x` with the slices of `source` added at the positions `index` (1-d) along `dim`, in order."""

def index_fill(input: Tensor, dim: _int, index: Tensor, value: Tensor | _Number) -> Tensor: ...

def take_along_dim(input: Tensor, indices: Tensor, dim: _int | None=None) -> Tensor: ...

def take(input: Tensor, index: Tensor) -> Tensor: ...

def _put(input: Tensor, index: Tensor, source: Tensor, accumulate: _bool) -> Tensor: ...

def _expect_puttable(input: Tensor, index: Tensor, source: Tensor) -> None: ...

def _is_among(input: Tensor, few: Tensor) -> Tensor: ...

def index_put(input: Tensor, indices: Sequence[Tensor], values: Tensor, accumulate: _bool=False) -> Tensor:
    """`x` with `values` written, or added, at positions given by tensors of integers or masks."""

def equal(input: Tensor, other: Tensor) -> _bool:
    """Same shape and same elements?"""

def isclose(input: Tensor, other: Tensor, rtol: _float=1e-05, atol: _float=1e-08, equal_nan: _bool=False) -> Tensor: ...

def allclose(input: Tensor, other: Tensor, rtol: _float=1e-05, atol: _float=1e-08, equal_nan: _bool=False) -> _bool:
    """Are all elements close?"""

def result_type(tensor: Tensor | _Number, other: Tensor | _Number) -> _dtype:
    """The element type of an operation on two tensors or numbers."""

def sum(input: Tensor, dim: _Dims | None=None, keepdim: _bool=False, *, dtype: _dtype | None=None) -> Tensor:
    """The sum over `dim` (all, if none)."""

def mean(input: Tensor, dim: _Dims | None=None, keepdim: _bool=False, *, dtype: _dtype | None=None) -> Tensor:
    """The mean over `dim` (all, if none)."""

def _sum_to_size(input: Tensor, size: _Dims) -> Tensor: ...

def nansum(input: Tensor, dim: _Dims | None=None, keepdim: _bool=False, *, dtype: _dtype | None=None) -> Tensor:
    """The sum of the elements that are not NaN, over `dims`."""

def prod(input: Tensor, dim: _int | None=None, keepdim: _bool=False, *, dtype: _dtype | None=None) -> Tensor:
    """The product along a dimension; integers are multiplied as int64."""

def all(input: Tensor, dim: _Dims | None=None, keepdim: _bool=False) -> Tensor:
    """Whether every element over `dims` is non-zero."""

def any(input: Tensor, dim: _Dims | None=None, keepdim: _bool=False) -> Tensor:
    """Whether some element over `dims` is non-zero."""

def count_nonzero(input: Tensor, dim: _Dims | None=None) -> Tensor: ...

def logsumexp(input: Tensor, dim: _Dims, keepdim: _bool=False) -> Tensor:
    """log(sum(exp(x))) over `dims` without overflow."""

def norm(input: Tensor, p: Any='fro', dim: _Dims | None=None, keepdim: _bool=False, dtype: _dtype | None=None) -> Tensor:
    """(sum |x|^p)^(1/p) over `dim` (all, if none); p may be infinite."""

def _vector_norm(x: Tensor, ord: _float, dim: _Dims | None, keepdim: _bool, dtype: _dtype | None) -> Tensor: ...

@overload
def var(input: Tensor, unbiased: _bool) -> Tensor:
    """The variance over `dims`, with n - correction as divisor."""

@overload
def var(input: Tensor, dim: _Dims | None=None, unbiased: _bool | None=None, keepdim: _bool=False, *, correction: _float | None=None) -> Tensor: ...

@overload
def std(input: Tensor, unbiased: _bool) -> Tensor:
    """The square root of the variance over `dims`; its derivative at 0 is 0."""

@overload
def std(input: Tensor, dim: _Dims | None=None, unbiased: _bool | None=None, keepdim: _bool=False, *, correction: _float | None=None) -> Tensor: ...

@overload
def var_mean(input: Tensor, unbiased: _bool) -> tuple[Tensor, Tensor]: ...

@overload
def var_mean(input: Tensor, dim: _Dims | None=None, unbiased: _bool | None=None, keepdim: _bool=False, *, correction: _float | None=None) -> tuple[Tensor, Tensor]: ...

@overload
def std_mean(input: Tensor, unbiased: _bool) -> tuple[Tensor, Tensor]: ...

@overload
def std_mean(input: Tensor, dim: _Dims | None=None, unbiased: _bool | None=None, keepdim: _bool=False, *, correction: _float | None=None) -> tuple[Tensor, Tensor]: ...

def amax(input: Tensor, dim: _Dims | None=None, keepdim: _bool=False) -> Tensor:
    """The largest value over `dims`; equal ones share the derivative."""

def amin(input: Tensor, dim: _Dims | None=None, keepdim: _bool=False) -> Tensor:
    """The smallest value over `dims`; equal ones share the derivative."""

def aminmax(input: Tensor, *, dim: _int | None=None, keepdim: _bool=False) -> _MinMax: ...

def argmax(input: Tensor, dim: _int | None=None, keepdim: _bool=False) -> Tensor:
    """The position of the first largest value along a dimension."""

def argmin(input: Tensor, dim: _int | None=None, keepdim: _bool=False) -> Tensor:
    """The position of the first smallest value along a dimension."""

@overload
def max(input: Tensor) -> Tensor:
    """The largest value along a dimension and where it is; the derivative goes to that one."""

@overload
def max(input: Tensor, dim: _int, keepdim: _bool=False) -> _ValuesIndices: ...

@overload
def max(input: Tensor, other: Tensor) -> Tensor: ...

@overload
def min(input: Tensor) -> Tensor:
    """The smallest value along a dimension and where it is; the derivative goes to that one."""

@overload
def min(input: Tensor, dim: _int, keepdim: _bool=False) -> _ValuesIndices: ...

@overload
def min(input: Tensor, other: Tensor) -> Tensor: ...

@overload
def median(input: Tensor) -> Tensor:
    """The (lower) median along a dimension and where it is; the derivative goes to that one."""

@overload
def median(input: Tensor, dim: _int, keepdim: _bool=False) -> _ValuesIndices: ...

@overload
def nanmedian(input: Tensor) -> Tensor:
    """The (lower) median of the elements along a dimension that are not NaN, and where it is; the derivative goes to that one."""

@overload
def nanmedian(input: Tensor, dim: _int, keepdim: _bool=False) -> _ValuesIndices: ...

def cumsum(input: Tensor, dim: _int, *, dtype: _dtype | None=None) -> Tensor:
    """Sums of the elements up to each one along a dimension."""

def cumprod(input: Tensor, dim: _int, *, dtype: _dtype | None=None) -> Tensor:
    """Products of the elements up to each one along a dimension."""

def logcumsumexp(input: Tensor, dim: _int) -> Tensor:
    """log(sum(exp(x))) of the elements up to each one along a dimension, without overflow."""

def cummax(input: Tensor, dim: _int) -> _ValuesIndices:
    """The largest element up to each one along a dimension, and where it is."""

def cummin(input: Tensor, dim: _int) -> _ValuesIndices:
    """The smallest element up to each one along a dimension, and where it is."""

def sort(input: Tensor, dim: _int=-1, descending: _bool=False, stable: _bool | None=False) -> _ValuesIndices:
    """The elements in order along a dimension, and where each came from."""

def argsort(input: Tensor, dim: _int=-1, descending: _bool=False, stable: _bool=False) -> Tensor: ...

def topk(input: Tensor, k: _int, dim: _int=-1, largest: _bool=True, sorted: _bool=True) -> _ValuesIndices:
    """The k largest (or smallest) elements along a dimension, and where they are."""

def kthvalue(input: Tensor, k: _int, dim: _int=-1, keepdim: _bool=False) -> _ValuesIndices: ...

def unique(input: Tensor, sorted: _bool=True, return_inverse: _bool=False, return_counts: _bool=False, dim: _int | None=None) -> Any:
    """The distinct values in order, which of them each element is, and how often each occurs."""

def _signbit(arg: Tensor, /) -> Tensor: ...

def tile(input: Tensor, dims: _Dims) -> Tensor: ...

def reshape(input: Tensor, shape: _Dims) -> Tensor: ...

def permute(input: Tensor, dims: _Dims) -> Tensor:
    """The dimensions of `x` in another order."""

def flip(input: Tensor, dims: _Dims) -> Tensor:
    """`x` in reverse order along some dimensions."""

def broadcast_to(input: Tensor, size: _Dims) -> Tensor: ...

def flatten(input: Tensor, start_dim: _int=0, end_dim: _int=-1) -> Tensor: ...

def ravel(input: Tensor) -> Tensor: ...

def unflatten(input: Tensor, dim: _int, sizes: _Dims) -> Tensor: ...

def unsqueeze(input: Tensor, dim: _int) -> Tensor: ...

def squeeze(input: Tensor, dim: _Dims | None=None) -> Tensor: ...

@overload
def transpose(input: Tensor, dim0: _int, dim1: _int) -> Tensor:
    """Two dimensions of `x` exchanged."""

@overload
def transpose(input: Tensor, axes: tuple[Any, ...]) -> Tensor: ...

def swapaxes(input: Tensor, dim0: _int, dim1: _int) -> Tensor: ...

def swapdims(input: Tensor, dim0: _int, dim1: _int) -> Tensor: ...

def t(input: Tensor) -> Tensor: ...

def adjoint(input: Tensor) -> Tensor: ...

def movedim(input: Tensor, source: _Dims, destination: _Dims) -> Tensor: ...

def moveaxis(input: Tensor, source: _Dims, destination: _Dims) -> Tensor: ...

def diagonal(input: Tensor, offset: _int=0, dim1: _int=0, dim2: _int=1) -> Tensor:
    """A diagonal of two dimensions, as the last dimension of the result."""

def diag(input: Tensor, diagonal: _int=0) -> Tensor: ...

def diag_embed(input: Tensor, offset: _int=0, dim1: _int=-2, dim2: _int=-1) -> Tensor: ...

def diagflat(input: Tensor, offset: _int=0) -> Tensor: ...

def tril(input: Tensor, diagonal: _int=0) -> Tensor:
    """The lower triangle of a matrix or of a batch of matrices; zero elsewhere."""

def triu(input: Tensor, diagonal: _int=0) -> Tensor:
    """The upper triangle of a matrix or of a batch of matrices; zero elsewhere."""

def as_strided(input: Tensor, size: _Dims, stride: _Dims, storage_offset: _int | None=None) -> Tensor:
    """Any sizes and strides over the memory of `x`."""

def unfold(input: Tensor, dimension: _int, size: _int, step: _int) -> Tensor:
    """All windows of one size along a dimension, `step` apart, as the last dimension of the result."""

def fliplr(input: Tensor) -> Tensor: ...

def flipud(input: Tensor) -> Tensor: ...

def roll(input: Tensor, shifts: _Dims, dims: _Dims | None=None) -> Tensor:
    """`x` shifted along some dimensions; what leaves at one end enters at the other."""

@overload
def narrow(input: Tensor, dim: _int, start: _int, length: _int) -> Tensor: ...

@overload
def narrow(input: Tensor, dim: _int, start: Tensor, length: _int) -> Tensor: ...

def select(input: Tensor, dim: _int, index: _int) -> Tensor:
    """One position along a dimension, which goes away."""

def unbind(input: Tensor, dim: _int=0) -> tuple[Tensor, ...]: ...

def chunk(input: Tensor, chunks: _int, dim: _int=0) -> tuple[Tensor, ...]: ...

@overload
def tensor_split(input: Tensor, indices_or_sections: Any, dim: _int=0) -> tuple[Tensor, ...]: ...

@overload
def tensor_split(input: Tensor, sections: Any, dim: _int=0) -> tuple[Tensor, ...]: ...

@overload
def tensor_split(input: Tensor, indices: Any, dim: _int=0) -> tuple[Tensor, ...]: ...

@overload
def tensor_split(input: Tensor, tensor_indices_or_sections: Any, dim: _int=0) -> tuple[Tensor, ...]: ...

def split(tensor: Tensor, split_size_or_sections: Any, dim: _int=0) -> tuple[Tensor, ...]: ...

def _unsafe_pieces(input: Tensor, size: Any, dim: _int) -> Any: ...

def _unsafe_chunk(input: Tensor, chunks: _int, dim: _int) -> Any: ...

def split_with_sizes(input: Tensor, split_sizes: _Dims, dim: _int=0) -> tuple[Tensor, ...]: ...

def _chunk_cat(tensors: Sequence[Tensor], dim: _int, num_chunks: _int) -> Tensor: ...

def cat(tensors: Sequence[Tensor], dim: _int=0) -> Tensor:
    """Tensors one behind the other along an existing dimension."""

def concat(tensors: Sequence[Tensor], dim: _int=0) -> Tensor: ...

def concatenate(tensors: Sequence[Tensor], dim: _int=0) -> Tensor: ...

def stack(tensors: Sequence[Tensor], dim: _int=0) -> Tensor: ...

def broadcast_tensors(*tensors: Tensor | Sequence[Tensor]) -> tuple[Tensor, ...]: ...

def broadcast_shapes(*shapes: _Dims) -> _Dims: ...

def meshgrid(*tensors: Tensor | Sequence[Tensor], indexing: str | None=None) -> tuple[Tensor, ...]: ...

def hstack(tensors: Sequence[Tensor]) -> Tensor: ...

def vstack(tensors: Sequence[Tensor]) -> Tensor: ...

def row_stack(tensors: Sequence[Tensor]) -> Tensor: ...

def dstack(tensors: Sequence[Tensor]) -> Tensor: ...

def column_stack(tensors: Sequence[Tensor]) -> Tensor: ...

def atleast_1d(*tensors: Tensor | Sequence[Tensor]) -> Any: ...

def atleast_2d(*tensors: Tensor | Sequence[Tensor]) -> Any: ...

def atleast_3d(*tensors: Tensor | Sequence[Tensor]) -> Any: ...

def rot90(input: Tensor, k: _int=1, dims: _Dims=(0, 1)) -> Tensor: ...

def diff(input: Tensor, n: _int=1, dim: _int=-1, prepend: Tensor | None=None, append: Tensor | None=None) -> Tensor: ...

@overload
def repeat_interleave(input: Tensor, repeats: _int, dim: _int | None=None, *, output_size: _int | None=None) -> Tensor: ...

@overload
def repeat_interleave(input: Tensor, repeats: Tensor, dim: _int | None=None, *, output_size: _int | None=None) -> Tensor: ...

@overload
def repeat_interleave(repeats: Tensor, *, output_size: _int | None=None) -> Tensor: ...

def select_scatter(input: Tensor, src: Tensor, dim: _int, index: _int) -> Tensor: ...

def slice_scatter(input: Tensor, src: Tensor, dim: _int=0, start: _int | None=None, end: _int | None=None, step: _int=1) -> Tensor: ...

def diagonal_scatter(input: Tensor, src: Tensor, offset: _int=0, dim1: _int=0, dim2: _int=1) -> Tensor: ...

def masked_scatter(input: Tensor, mask: Tensor, source: Tensor) -> Tensor: ...

def scatter_reduce(input: Tensor, dim: _int, index: Tensor, src: Tensor, reduce: str, *, include_self: _bool=True) -> Tensor:
    """
    `input` with the elements of `src` reduced into the positions `index` along `dim`.
    """

def searchsorted(sorted_sequence: Tensor, input: Tensor | _Number, *, out_int32: _bool=False, right: _bool=False, side: str | None=None, sorter: Tensor | None=None) -> Tensor:
    """
    The positions at which the values of `input` keep the last dimension of `sorted_sequence` sorted.
    """

def bucketize(input: Tensor | _Number, boundaries: Tensor, *, out_int32: _bool=False, right: _bool=False) -> Tensor: ...

def _histogram(points: Tensor, edges: Sequence[Tensor], weight: Tensor | None) -> Tensor: ...

def _histc(arg0: Tensor, arg1: _int, arg2: _float, arg3: _float, /) -> Tensor: ...

def _joined_bits(arg: Tensor, /) -> Tensor: ...

def _segments(arg0: Tensor, arg1: Tensor, arg2: _int, arg3: _int, arg4: _float, /) -> Tensor: ...

def bincount(input: Tensor, weights: Tensor | None=None, minlength: _int=0) -> Tensor: ...

def matmul(input: Tensor, other: Tensor) -> Tensor:
    """The product of matrices, or of batches of matrices that broadcast against each other."""

def mm(input: Tensor, mat2: Tensor) -> Tensor: ...

def bmm(input: Tensor, mat2: Tensor) -> Tensor: ...

def mv(input: Tensor, vec: Tensor) -> Tensor: ...

def dot(input: Tensor, tensor: Tensor) -> Tensor: ...

def outer(input: Tensor, vec2: Tensor) -> Tensor: ...

def ger(input: Tensor, vec2: Tensor) -> Tensor: ...

def _product(arg0: Tensor, arg1: Tensor, /) -> Tensor:
    """matmul that does not round to half types: it gives float32 for them."""

def inner(input: Tensor, other: Tensor) -> Tensor: ...

def vdot(input: Tensor, other: Tensor) -> Tensor: ...

def addmm(input: Tensor, mat1: Tensor, mat2: Tensor, *, beta: _Number=1, alpha: _Number=1) -> Tensor: ...

def addmv(input: Tensor, mat: Tensor, vec: Tensor, *, beta: _Number=1, alpha: _Number=1) -> Tensor: ...

def addr(input: Tensor, vec1: Tensor, vec2: Tensor, *, beta: _Number=1, alpha: _Number=1) -> Tensor: ...

def baddbmm(input: Tensor, batch1: Tensor, batch2: Tensor, *, beta: _Number=1, alpha: _Number=1) -> Tensor: ...

def addbmm(input: Tensor, batch1: Tensor, batch2: Tensor, *, beta: _Number=1, alpha: _Number=1) -> Tensor: ...

def tensordot(a: Tensor, b: Tensor, dims: Any=2) -> Tensor: ...

def _multi_dot(tensors: Sequence[Tensor]) -> Tensor: ...

def _block_diag(tensors: Sequence[Tensor]) -> Tensor: ...

def trace(input: Tensor) -> Tensor: ...

@overload
def einsum(equation: str, *operands: Tensor | Sequence[Tensor]) -> Tensor:
    """A sum of products written with letters: `einsum('ij,jk->ik', a, b)`."""

@overload
def einsum(*args: Any) -> Tensor: ...

def kron(input: Tensor, other: Tensor) -> Tensor: ...

def cross(input: Tensor, other: Tensor, dim: _int | None=None) -> Tensor: ...

def _cholesky(A: Tensor, upper: _bool, check: _bool) -> tuple[Any, ...]: ...

def _lu_factor(A: Tensor, check: _bool) -> tuple[Any, ...]: ...

def _lu_permutation(pivots: Tensor, rows: _int) -> Tensor: ...

def _qr(A: Tensor, complete: _bool) -> tuple[Any, ...]: ...

def _ldl_factor(A: Tensor, hermitian: _bool, check: _bool) -> tuple[Any, ...]: ...

def _ldl_solve(LD: Tensor, pivots: Tensor, B: Tensor, hermitian: _bool) -> Tensor: ...

def _geqrf(A: Tensor) -> tuple[Any, ...]: ...

def _householder_product(A: Tensor, tau: Tensor) -> Tensor: ...

def _ormqr(input: Tensor, tau: Tensor, other: Tensor, left: _bool, transpose: _bool) -> Tensor: ...

def _solve_triangular(A: Tensor, B: Tensor, upper: _bool, left: _bool, unitriangular: _bool) -> Tensor: ...

def _solve(A: Tensor, B: Tensor, left: _bool) -> Tensor: ...

def _solve_unchecked(A: Tensor, B: Tensor, left: _bool) -> tuple[Any, ...]: ...

def _inv(A: Tensor, check: _bool) -> tuple[Any, ...]: ...

def _det(A: Tensor) -> Tensor: ...

def _slogdet(A: Tensor) -> tuple[Any, ...]: ...

def _eigh(A: Tensor, upper: _bool) -> tuple[Any, ...]: ...

def _eigvalsh(A: Tensor, upper: _bool) -> Tensor: ...

def _eig(A: Tensor) -> tuple[Any, ...]: ...

def _eigvals(A: Tensor) -> Tensor: ...

def _svd(A: Tensor, full_matrices: _bool) -> tuple[Any, ...]: ...

def matrix_exp(input: Tensor) -> Tensor:
    """The exponential of square matrices."""

def _pinv(A: Tensor, known: Tensor) -> Tensor: ...

def _svdvals(A: Tensor) -> Tensor: ...

def _fft(input: Tensor, dim: _int, inverse: _bool, scale: _float) -> Tensor: ...

def _rfft(input: Tensor, dim: _int, scale: _float) -> Tensor: ...

def _irfft(input: Tensor, dim: _int, n: _int, scale: _float) -> Tensor: ...

def _half_type(arg0: tuple[Any, ...], arg1: dict[str, Any], /) -> _dtype | None: ...

def _expect_parameters(op: str, x: Tensor, weight: Tensor | None, bias: Tensor | None) -> None: ...

def _expect_type(op: str, what: str, tensor: Tensor | None, of: str, like: Tensor) -> None: ...

def softmax(input: Tensor, dim: _int, dtype: _dtype | None=None) -> Tensor:
    """exp(x) / sum(exp(x)) along a dimension, without overflow."""

def log_softmax(input: Tensor, dim: _int, dtype: _dtype | None=None) -> Tensor:
    """x - log(sum(exp(x))) along a dimension, without overflow."""

def _logsigmoid(arg: Tensor, /) -> Tensor: ...

def _softsign(arg: Tensor, /) -> Tensor: ...

def _gelu(arg0: Tensor, arg1: _bool, /) -> Tensor: ...

def _softplus(arg0: Tensor, arg1: _float, arg2: _float, /) -> Tensor: ...

def _silu(arg0: Tensor, arg1: _bool, /) -> Tensor: ...

def _mish(arg0: Tensor, arg1: _bool, /) -> Tensor: ...

def _hardsigmoid(arg0: Tensor, arg1: _bool, /) -> Tensor: ...

def _hardswish(arg0: Tensor, arg1: _bool, /) -> Tensor: ...

def _selu(arg0: Tensor, arg1: _bool, /) -> Tensor: ...

def _elu(arg0: Tensor, arg1: _float, arg2: _bool, /) -> Tensor: ...

def _celu(arg0: Tensor, arg1: _float, arg2: _bool, /) -> Tensor: ...

def _leaky_relu(arg0: Tensor, arg1: _float, arg2: _bool, /) -> Tensor: ...

def _hardshrink(arg0: Tensor, arg1: _float, /) -> Tensor: ...

def _softshrink(arg0: Tensor, arg1: _float, /) -> Tensor: ...

def _prelu(arg0: Tensor, arg1: Tensor, /) -> Tensor: ...

def _glu(arg0: Tensor, arg1: _int, /) -> Tensor: ...

def _hardtanh(arg0: Tensor, arg1: _float, arg2: _float, arg3: _bool, /) -> Tensor: ...

def _threshold(arg0: Tensor, arg1: _Number, arg2: _Number, arg3: _bool, /) -> Tensor: ...

def _dropout(arg0: Tensor, arg1: _float, arg2: _bool, /) -> Tensor: ...

def dropout(input: Tensor, p: _float, train: _bool) -> Tensor:
    """Zeroes elements at random and scales the others; also which are kept."""

def _linear(x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor: ...

def _conv(x: Tensor, weight: Tensor, bias: Tensor | None, stride: _Dims, padding: _Dims, dilation: _Dims, groups: _int) -> Tensor: ...

def _conv_transpose(x: Tensor, weight: Tensor, bias: Tensor | None, stride: _Dims, padding: _Dims, output_padding: _Dims, dilation: _Dims, groups: _int) -> Tensor: ...

def _max_pool(arg0: Tensor, arg1: _Dims, arg2: _Dims, arg3: _Dims, arg4: _Dims, arg5: _bool, /) -> tuple[Any, ...]: ...

def _avg_pool(x: Tensor, kernel: _Dims, stride: _Dims, padding: _Dims, ceil_mode: _bool, count_include_pad: _bool, divisor: _int | None=None) -> Tensor: ...

def _adaptive_avg_pool(arg0: Tensor, arg1: _Dims, /) -> Tensor: ...

def _adaptive_max_pool(arg0: Tensor, arg1: _Dims, /) -> tuple[Any, ...]: ...

def _grid_sample(arg0: Tensor, arg1: Tensor, arg2: _int, arg3: _int, arg4: _bool, /) -> Tensor: ...

def _resize(arg0: Tensor, arg1: _Dims, arg2: Sequence[_float], arg3: _int, arg4: _bool, /) -> Tensor: ...

def _resize_steps(arg0: _Dims, arg1: _Dims, arg2: Sequence[_float | None], arg3: _int, arg4: _bool, /) -> list[_float]: ...

def _pad(input: Tensor, before: _Dims, after: _Dims, value: _float) -> Tensor: ...

def _fractional_max_pool(arg0: Tensor, arg1: Tensor, arg2: _Dims, arg3: _Dims, /) -> tuple[Any, ...]: ...

def _distances(input: Tensor, other: Tensor, products: _bool=False, power: _int=2) -> Tensor: ...

def _pair_distances(input: Tensor) -> Tensor: ...

def _margin(input: Tensor, target: Tensor, margin: _float, several: _bool) -> Tensor: ...

def _multi_margin_loss(input: Tensor, target: Tensor, margin: _float, weight: Tensor | None, reduction: str) -> Tensor: ...

def _channel_shuffle(input: Tensor, groups: _int) -> Tensor: ...

def _pad_around(input: Tensor, before: _Dims, after: _Dims, border: _int) -> Tensor: ...

def _patches(arg0: _Dims, arg1: _Dims, arg2: _Dims, arg3: _Dims, arg4: Tensor, /) -> tuple[Any, ...]: ...

def _native_layer_norm(x: Tensor, shape: _Dims, weight: Tensor | None, bias: Tensor | None, eps: _float) -> tuple[Any, ...]: ...

def _native_batch_norm(x: Tensor, mean: Tensor | None, var: Tensor | None, weight: Tensor | None, bias: Tensor | None, momentum: _float, eps: _float) -> tuple[Any, ...]: ...

def _grouped_norm(x: Tensor, groups: _int, size: _int, weight: Tensor | None, bias: Tensor | None, eps: _float) -> Tensor: ...

def _native_group_norm(x: Tensor, n: _int, groups: _int, size: _int, weight: Tensor | None, bias: Tensor | None, eps: _float) -> tuple[Any, ...]: ...

def _layer_norm(x: Tensor, shape: _Dims, weight: Tensor | None, bias: Tensor | None, eps: _float) -> Tensor: ...

def _attention(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, scale: _float, causal: _bool, dropout_p: _float=0.0) -> Tensor: ...

def _rms_norm(x: Tensor, shape: _Dims, weight: Tensor | None, eps: _float | None) -> Tensor: ...

def _batch_norm(x: Tensor, mean: Tensor | None, var: Tensor | None, weight: Tensor | None, bias: Tensor | None, training: _bool, momentum: _float, eps: _float) -> Tensor: ...

def _embedding(arg0: Tensor, arg1: Tensor, arg2: _int, arg3: _bool, arg4: _bool, /) -> Tensor: ...

def _embedding_bag(weight: Tensor, input: Tensor, offsets: Tensor | None, per_sample_weights: Tensor | None, mode: _int, padding_idx: _int, include_last_offset: _bool) -> Tensor: ...

def _one_hot(arg0: Tensor, arg1: _int, /) -> Tensor: ...

def _nll_loss(x: Tensor, target: Tensor, weight: Tensor | None, reduction: str, ignore_index: _int) -> Tensor: ...

def _cross_entropy(x: Tensor, target: Tensor, weight: Tensor | None, reduction: str, ignore_index: _int, label_smoothing: _float) -> Tensor: ...

def _mse_loss(arg0: Tensor, arg1: Tensor, arg2: str, /) -> Tensor: ...

def _l1_loss(arg0: Tensor, arg1: Tensor, arg2: str, /) -> Tensor: ...

def _rows_vjp(cotangent: Tensor, input: Tensor, mean: Tensor | None, square: Tensor, weight: Tensor | None, n: _int, eps: _float, sums: _bool) -> Tensor: ...

def _channels_vjp(cotangent: Tensor, input: Tensor, mean: Tensor, square: Tensor, weight: Tensor | None, eps: _float, sums: _bool) -> Tensor: ...

def _class_entropy(input: Tensor, index: Tensor, dim: _int, ignore_index: _int) -> tuple[Tensor, Tensor]: ...

def _binary_cross_entropy(x: Tensor, target: Tensor, weight: Tensor | None, reduction: str) -> Tensor: ...

def _binary_cross_entropy_with_logits(x: Tensor, target: Tensor, weight: Tensor | None, pos_weight: Tensor | None, reduction: str) -> Tensor: ...

def _smooth_l1_loss(arg0: Tensor, arg1: Tensor, arg2: str, arg3: _float, /) -> Tensor: ...

def _huber_loss(arg0: Tensor, arg1: Tensor, arg2: str, arg3: _float, /) -> Tensor: ...

def _kl_div(arg0: Tensor, arg1: Tensor, arg2: str, arg3: _bool, /) -> Tensor: ...

def _sparse_matmul(arg0: Tensor, arg1: Tensor, arg2: Tensor, arg3: Tensor, arg4: _int, /) -> Tensor: ...

def _sampled_addmm(arg0: Tensor, arg1: Tensor, arg2: Tensor, arg3: Tensor, arg4: Tensor, arg5: _Number, arg6: _Number, /) -> Tensor: ...

def _is_sparse(arg: Tensor, /) -> _bool:
    """Whether it is of any sparse layout."""

def _compression(arg: Tensor, /) -> tuple[Any, ...]:
    """
    The number of its layout (-1: strided, 0: sparse_coo, ...), the size of its blocks, and whether its indices are int32.
    """

def _sparse_coo_tensor(values: Tensor, indices: Tensor, size: _Dims | None, coalesced: _bool) -> Tensor: ...

def _op_names() -> list[str]: ...

def _op_record(name: str) -> dict[str, Any]: ...

def _instruction_set() -> str:
    """
    The instruction set that kernels run at: ADJOINT_ISA, or the best of this processor.
    """

def _instruction_sets() -> list[Any]:
    """The instruction sets of this processor that kernels are compiled for."""

def _element_types() -> list[Any]: ...

def _put_out(name: str, result: Any, out: Any) -> Any:
    """
    What `out=` does with the result, or the tuple of results, of a function written in Python.
    """

def _plain_calls(space: str) -> dict[str, Any]:
    """
    The parameters of plain calls whose names begin so: their names, whether they may be given by position, and what they are if not given.
    """

def _takes_no_part(f: Any) -> None:
    """Classes whose __torch_function__ it is are not asked."""

def _is_silent(type: Any) -> None:
    """
    The class of tensors takes no part, for good: its tensors are not looked at.
    """

def _arm_protocol() -> None:
    """
    From now on functions look for __torch_function__ among their arguments before they run.
    """

def _arm_dispatch() -> None:
    """From now on tensors of classes with __torch_dispatch__ are marked."""

def _protocol_off() -> _int: ...

def _set_protocol_off(level: _int) -> _int:
    """1: subclasses do not answer, 2: nobody does; gives what was set."""

def _set_modes(count: _int) -> None: ...

def _is_answered(args: tuple[Any, ...]) -> _bool:
    """Whether a mode, or one of the objects, answers a call."""

def _answers(o: Any) -> _bool: ...

def _asking(f: Any, plain: str | None, inner: Any, rounds: _bool, node: CapsuleType | None) -> Any:
    """
    The function, which objects among its arguments may answer; `plain` names its plain calls, if it has any; `inner` is it without wrappers.
    """

def _node_name(name: str) -> CapsuleType:
    """A name for `_composed`, for ever."""

def _composed(node: CapsuleType, f: Callable, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """f(*args, **kwargs), the node of whose results is called so."""
_api: Any = ...
