"""`backends`: what operations may trade for speed on a kind of device."""

from __future__ import annotations

from . import _core


class _MatmulOnCuda:
    """Products of matrices on GPUs."""

    @property
    def allow_tf32(self) -> bool:
        """Whether operands of float32 may be rounded to TF32, of 10 bits behind the point: several times faster. Off at first.

        Example::

            >>> ad.backends.cuda.matmul.allow_tf32
            False
        """
        return _core._cuda.allow_tf32()

    @allow_tf32.setter
    def allow_tf32(self, allowed: bool) -> None:
        if not isinstance(allowed, bool):
            raise TypeError(f"allow_tf32: expected a bool, got {allowed!r}")
        _core._cuda.set_allow_tf32(allowed)


class _Cuda:
    matmul = _MatmulOnCuda()


class _Cpu:
    """Kernels on the processor."""

    @staticmethod
    def get_cpu_capability() -> str:
        """The instructions that kernels use: "DEFAULT", "AVX2", "AVX512" or "NEON".

        It is the best that the processor has, unless the environment variable `ADJOINT_ISA` named another before the import.

        Example::

            >>> ad.backends.cpu.get_cpu_capability() in ("DEFAULT", "AVX2", "AVX512", "NEON")
            True
        """
        name = _core._instruction_set()
        return "DEFAULT" if name == "baseline" else name.split("_")[0].upper()


cuda = _Cuda()
cpu = _Cpu()


def set_float32_matmul_precision(precision: str) -> None:
    """How exact products of float32 matrices are on GPUs: "highest" (the default) keeps float32, "high" and "medium" allow TF32.

    Raises:
        ValueError: another word.

    Example::

        >>> ad.set_float32_matmul_precision("highest")
    """
    if precision not in ("highest", "high", "medium"):
        raise ValueError(f"set_float32_matmul_precision: expected 'highest', 'high' or 'medium', got {precision!r}")
    global _precision
    _precision = precision
    cuda.matmul.allow_tf32 = precision != "highest"


def get_float32_matmul_precision() -> str:
    """How exact products of float32 matrices are on GPUs.

    Example::

        >>> ad.get_float32_matmul_precision()
        'highest'
    """
    if not cuda.matmul.allow_tf32:
        return "highest"
    return _precision if _precision != "highest" else "high"


_precision = "highest"
