"""A sample of PyTorch's table of operators; `operator_table.py` runs all of it."""

import io
import json
import warnings

import pytest

pytest.importorskip("torch")
pytest.importorskip("expecttest")
pytestmark = pytest.mark.filterwarnings("ignore")

SAMPLE = (
    *("addmm", "cumsum", "index_select", "linalg.inv", "linalg.lstsq", "linalg.qr", "masked.mean", "masked.softmax"),
    *("nn.functional.layer_norm", "nn.functional.conv2d", "nn.functional.embedding_bag", "nonzero_static", "sort", "where"),
    *("quantile", "svd_lowrank", "_segment_reduce", "histogram", "geqrf", "hash_tensor"),
)
CELLS_THAT_DIFFER = {
    ("nn.functional.embedding_bag", "vmap"),  # of max_norm and scale_grad_by_freq
    ("nonzero_static", "vmap"),
    ("nn.functional.conv2d", "error"),  # operands of different types are promoted
    ("index_select", "error"),  # `out=` that shares the memory of the input
    ("sort", "value"),  # the order of equal elements
    ("sort", "vmap"),
}


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
    assert [line for line in lines if (line["op"].partition(".lengths")[0], line["cell"]) not in CELLS_THAT_DIFFER] == []
