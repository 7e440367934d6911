"""A sample of PyTorch's table of operators; `operator_table.py` runs all of it."""

import io
import json
import warnings
from pathlib import Path

import pytest

pytest.importorskip("torch")
pytest.importorskip("expecttest")
pytestmark = pytest.mark.filterwarnings("ignore")

from known_cells import KNOWN  # noqa: E402

SAMPLE = (
    *("addmm", "cumsum", "index_select", "linalg.inv", "linalg.lstsq", "linalg.qr", "masked.mean", "masked.softmax"),
    *("nn.functional.layer_norm", "nn.functional.conv2d", "nn.functional.embedding_bag", "nonzero_static", "sort", "where"),
    *("quantile", "svd_lowrank", "_segment_reduce", "histogram", "geqrf", "hash_tensor"),
)


@pytest.fixture(scope="module")
def found():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from operator_table import Table, op_db

        lines = io.StringIO()
        table = Table(3, lines)
        for op in op_db:
            if op.name in SAMPLE:
                table.run(op)
    return table.cells, [json.loads(line) for line in lines.getvalue().splitlines()]


def test_cells(found):
    cells, lines = found
    assert cells > 500
    assert [line for line in lines if line["known"] is None] == []


def test_known_cells_are_documented():
    page = " ".join((Path(__file__).parents[2] / "docs" / "differences.md").read_text().split())
    assert [words for words in KNOWN if words not in page] == []
