"""A pytest plugin: examples in docstrings know the library as `ad`, beside the names of their own module."""

from typing import Any

import pytest

import adjoint


@pytest.fixture(autouse=True)
def names(doctest_namespace: dict[str, Any]) -> None:
    doctest_namespace["ad"] = adjoint
