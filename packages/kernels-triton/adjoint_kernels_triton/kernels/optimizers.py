"""Steps of optimizers over lists of tensors, one launch for all parameters of a group.

A table in the GPU's memory says where the tensors lie (as in Triton's tutorial on grouped products of matrices); a program looks up, by
halves, which tensor its elements are of. The arithmetic is what `adjoint.optim` writes down for one tensor, operation by operation,
so that both give the same float32 and float64; half types are rounded when they are stored alone.
"""

import triton
import triton.language as tl

from .._declare import over_lists
from .._templates import widened
from .binary import addcdiv, addcmul, div, lerp, maximum
from .unary import expm1, sqrt


@triton.jit
def tensor_of(table, count):
    """Whose elements this program takes: the last tensor whose first program is not behind it."""
    program = tl.program_id(0).to(tl.int64)
    low = tl.cast(0, tl.int32)
    high = tl.cast(count, tl.int32)
    while high - low > 1:
        middle = (low + high) // 2
        before = tl.load(table + middle) <= program
        low = tl.where(before, middle, low)
        high = tl.where(before, high, middle)
    return low


@triton.jit
def elements(table, tensor, count, BLOCK: tl.constexpr):
    """This program's elements of the tensor, and how many the tensor has."""
    start = (tl.program_id(0).to(tl.int64) - tl.load(table + tensor)) * BLOCK
    return start, tl.load(table + count + tensor)


@triton.jit
def place(table, list, tensor, count, like, ALIGNED: tl.constexpr):
    """Where the tensor of a list lies."""
    p = tl.load(table + (2 + list) * count + tensor).to(like.dtype)
    if ALIGNED:
        p = tl.multiple_of(p, 16)
    return p


@triton.jit
def put(p, i, x, mask):
    tl.store(p + i, x.to(p.dtype.element_ty), mask=mask)


@over_lists
def count_steps(table, like, count, ALIGNED: tl.constexpr, BLOCK: tl.constexpr):
    tensor = tensor_of(table, count)
    p = place(table, 1, tensor, count, like, ALIGNED)
    tl.store(p, tl.load(p) + 1.0)


@triton.jit
def adam_block(
    g, p, mean, square, largest, i, mask, sign, decay, share, kept, share2, eps, root, factor,
    DECAY: tl.constexpr, AMSGRAD: tl.constexpr, COUNTED: tl.constexpr,
):  # fmt: skip
    x, v = widened(tl.load(p + i, mask=mask)), widened(tl.load(g + i, mask=mask)) * sign
    if DECAY == 1:
        v = v + x * decay
    elif DECAY == 2:
        x = x * decay
    m = lerp(widened(tl.load(mean + i, mask=mask)), v, share)
    s = addcmul(widened(tl.load(square + i, mask=mask)) * kept, v, v, share2)
    put(mean, i, m, mask)
    put(square, i, s, mask)
    if AMSGRAD:
        s = maximum(widened(tl.load(largest + i, mask=mask)), s)
        put(largest, i, s, mask)
    spread = div(sqrt(s), root) + eps
    if COUNTED:
        x = x - div(m, spread) * factor
    else:
        x = addcdiv(x, m, spread, factor)
    put(p, i, x, mask)


@triton.jit
def less_power(step, log_beta):
    """1 - beta^step."""
    return -expm1(step * log_beta.to(tl.float32))


@over_lists
def adam(
    table, like, count, sign, decay, share, kept, share2, eps, first, second, lr,
    ALIGNED: tl.constexpr, DECAY: tl.constexpr, AMSGRAD: tl.constexpr, COUNTED: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """Of gradients, parameters, running means of gradients and of their squares, and the largest of these. DECAY: none, of the gradient,
    or of the parameter. COUNTED: steps are counted on the GPU, `first` and `second` are the logarithms of both betas; else `second` is
    the root of what the second leaves, and `lr` is divided by what the first leaves, with the sign that `addcdiv` wants."""
    tensor = tensor_of(table, count)
    start, n = elements(table, tensor, count, BLOCK)
    g, p = place(table, 0, tensor, count, like, ALIGNED), place(table, 1, tensor, count, like, ALIGNED)
    mean, square = place(table, 2, tensor, count, like, ALIGNED), place(table, 3, tensor, count, like, ALIGNED)
    largest = square
    if AMSGRAD:
        largest = place(table, 4, tensor, count, like, ALIGNED)
    root, factor = second, lr
    if COUNTED:
        step = tl.load(tl.load(table + (6 + AMSGRAD) * count + tensor).to(tl.pointer_type(tl.float32)))
        root = sqrt(less_power(step, second)).to(second.dtype)
        factor = div(lr.to(tl.float32), less_power(step, first)).to(lr.dtype)
    i = start + tl.arange(0, BLOCK)
    if start + BLOCK <= n:  # without a mask, loads are of 16 bytes
        adam_block(
            g, p, mean, square, largest, i, None, sign, decay, share, kept, share2, eps, root, factor, DECAY, AMSGRAD, COUNTED
        )
    else:
        adam_block(
            g, p, mean, square, largest, i, i < n, sign, decay, share, kept, share2, eps, root, factor, DECAY, AMSGRAD, COUNTED
        )


@triton.jit
def sgd_block(
    g, p, along, i, mask, sign, decay, momentum, share, lr, DECAY: tl.constexpr, MOMENTUM: tl.constexpr, NESTEROV: tl.constexpr
):
    x, v = widened(tl.load(p + i, mask=mask)), widened(tl.load(g + i, mask=mask)) * sign
    if DECAY:
        v = v + x * decay
    if MOMENTUM:
        direction = v
        if MOMENTUM == 2:
            direction = widened(tl.load(along + i, mask=mask)) * momentum + v * share
        put(along, i, direction, mask)
        v = v + direction * momentum if NESTEROV else direction
    put(p, i, x - v * lr, mask)


@over_lists
def sgd(
    table, like, count, sign, decay, momentum, share, lr,
    ALIGNED: tl.constexpr, DECAY: tl.constexpr, MOMENTUM: tl.constexpr, NESTEROV: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """Of gradients, parameters and, with momentum, directions. MOMENTUM: none, the first step, or a later one."""
    tensor = tensor_of(table, count)
    start, n = elements(table, tensor, count, BLOCK)
    g, p = place(table, 0, tensor, count, like, ALIGNED), place(table, 1, tensor, count, like, ALIGNED)
    along = p
    if MOMENTUM:
        along = place(table, 2, tensor, count, like, ALIGNED)
    i = start + tl.arange(0, BLOCK)
    if start + BLOCK <= n:
        sgd_block(g, p, along, i, None, sign, decay, momentum, share, lr, DECAY, MOMENTUM, NESTEROV)
    else:
        sgd_block(g, p, along, i, i < n, sign, decay, momentum, share, lr, DECAY, MOMENTUM, NESTEROV)
