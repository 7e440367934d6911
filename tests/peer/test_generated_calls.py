"""A sample of generated calls; `generated_calls.py` makes them of every function."""

import io
import json
import signal

import pytest

pytest.importorskip("torch")
pytest.importorskip("expecttest")

SAMPLE = {
    "torch": "adaptive_max_pool1d clamp cumsum diff gather index_add index_copy index_select lcm lerp logsumexp masked_fill "
    "scatter_add std sum view_copy where",
    "Tensor": "amax div_ index_add_ index_fill mul narrow permute scatter squeeze unfold",
    "special": "entr erfcx log_ndtr",
    "functional": "avg_pool2d conv2d conv_transpose1d huber_loss interpolate l1_loss layer_norm margin_ranking_loss max_pool2d_with_indices "
    "nll_loss pad pixel_shuffle softplus unfold",
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("place", "name"), [(place, name) for place, names in SAMPLE.items() for name in names.split()])
def test_what_pytorch_computes(place, name, monkeypatch):
    import generated_calls
    import operator_table

    monkeypatch.setattr(operator_table, "ours_tensor", generated_calls.mirrored)
    lines = io.StringIO()
    before = signal.signal(signal.SIGALRM, generated_calls.late)
    try:
        answered = generated_calls.compare(place, name, 25, 1, lines)
    finally:
        signal.signal(signal.SIGALRM, before)
    assert answered > 0
    differing = [json.loads(line) for line in lines.getvalue().splitlines()]
    assert [d for d in differing if d["kind"] in ("error", "value", "written")] == []
