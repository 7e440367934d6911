"""`testing._internal.common_utils`: the class that tests of libraries are derived from, whose `assertEqual` compares tensors, and what makes these."""

from __future__ import annotations

import unittest
from collections.abc import Mapping
from typing import Any

import numpy as np

import adjoint_core as core
from adjoint_core import Tensor

from ._random_tensors import make_tensor
from .testing import assert_close

__all__ = ["TestCase", "make_tensor", "run_tests"]


class TestCase(unittest.TestCase):
    """`unittest`'s, with the generators seeded before each test.

    Example::

        >>> TestCase().assertEqual([ad.ones(2), 1], [ad.ones(2), 1.0])
    """

    precision, rel_tol = 0.0, 0.0  # what is allowed at least

    def setUp(self) -> None:
        """Seeds the random streams."""
        core.manual_seed(1234)

    def assertEqual(  # noqa: N802
        self, x: Any, y: Any, msg: Any = None, *, atol: float | None = None, rtol: float | None = None, equal_nan: bool = True,
        exact_dtype: bool = True, exact_device: bool = False, exact_layout: bool = False, exact_stride: bool = False, **other: Any,
    ) -> None:  # fmt: skip
        """Whether two are equal: tensors, arrays and numbers as close as `assert_close` wants them, and what holds them."""
        allowed = {} if atol is None else {"atol": atol, "rtol": rtol or 0.0}
        if isinstance(x, (Tensor, np.ndarray)) or isinstance(y, (Tensor, np.ndarray)):
            a, b = (v if isinstance(v, Tensor) else core.as_tensor(v) for v in (x, y))
            if a.dtype != b.dtype and (not exact_dtype or not isinstance(x, Tensor) or not isinstance(y, Tensor)):
                a = a.to(b.dtype)
            options = {"check_device": exact_device, "check_layout": exact_layout, "check_stride": exact_stride}
            assert_close(a, b, equal_nan=equal_nan, msg=msg, **allowed, **options)
        elif isinstance(x, (bool, str, bytes)) or isinstance(y, (bool, str, bytes)):
            super().assertEqual(x, y, msg)
        elif isinstance(x, (int, float, complex)) and isinstance(y, (int, float, complex)):
            assert_close(x, y, equal_nan=equal_nan, msg=msg, check_dtype=False, **allowed)
        elif isinstance(x, Mapping) and isinstance(y, Mapping):
            super().assertEqual(list(x), list(y), msg)
            for key in x:
                self.assertEqual(x[key], y[key], msg, atol=atol, rtol=rtol, equal_nan=equal_nan, exact_dtype=exact_dtype)
        elif isinstance(x, (list, tuple)) and isinstance(y, (list, tuple)):
            super().assertEqual(len(x), len(y), msg)
            for a, b in zip(x, y, strict=True):
                self.assertEqual(a, b, msg, atol=atol, rtol=rtol, equal_nan=equal_nan, exact_dtype=exact_dtype)
        else:
            super().assertEqual(x, y, msg)


def run_tests(argv: list[str] | None = None) -> None:
    """Runs the tests of the program."""
    unittest.main(argv=argv)
