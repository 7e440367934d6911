"""The profiler's older class: deprecated in favour of autograd.profiler."""

from __future__ import annotations

from ._profile import profile as _profile

__all__ = ["profile"]


class profile(_profile):
    """autograd.profiler.profile with the parameters of older versions.

    Example::

        >>> with ad.autograd.profiler_legacy.profile() as prof:
        ...     y = ad.ones(2) + 1
        >>> [e.key for e in prof.key_averages()]
        ['aten::ones', 'aten::add']
    """

    def __init__(
        self,
        enabled: bool = True,
        *,
        use_cuda: bool = False,
        record_shapes: bool = False,
        with_flops: bool = False,
        profile_memory: bool = False,
        with_stack: bool = False,
        with_modules: bool = False,
    ) -> None:
        super().__init__(
            enabled,
            use_cuda=use_cuda,
            record_shapes=record_shapes,
            with_flops=with_flops,
            profile_memory=profile_memory,
            with_stack=with_stack,
            with_modules=with_modules,
        )
