"""Files for TensorBoard, read back by the tensorboard package. Expected values: PyTorch 2.13 on the same calls."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path
from typing import Any

import pytest

import adjoint as ad

event_pb2 = pytest.importorskip("tensorboard.compat.proto.event_pb2")
tensorboard = pytest.importorskip("adjoint.utils.tensorboard")


def read(folder: Path) -> dict[str, Any]:
    """What the files of a folder say, by tag."""
    from tensorboard.backend.event_processing.event_file_loader import RawEventFileLoader

    events = [
        event_pb2.Event.FromString(raw)
        for file in sorted(folder.glob("*tfevents*"))
        for raw in RawEventFileLoader(str(file)).Load()
    ]
    return {value.tag: (event.step, value) for event in events for value in event.summary.value}


def test_numbers(tmp_path: Path) -> None:
    with tensorboard.SummaryWriter(tmp_path) as writer:
        writer.add_scalar("loss/a", ad.tensor(1.5), 3)
        writer.add_scalar("new", 2, 4, new_style=True)
        writer.add_scalar("wide", 0.1, 4, new_style=True, double_precision=True)
        writer.add_scalars("many/x", {"a": 1.0, "b": ad.tensor([2.0])}, 5)
        with pytest.raises(ValueError, match="one element"):
            writer.add_scalar("loss/a", ad.ones(2))
        with pytest.raises(NotImplementedError, match="Got <class 'list'>"):
            writer.add_scalar("loss/a", [1.0, 2.0])
    found = read(tmp_path)
    assert found["loss/a"][0] == 3 and found["loss/a"][1].simple_value == 1.5
    assert found["new"][1].tensor.float_val == [2.0] and found["new"][1].metadata.plugin_data.plugin_name == "scalars"
    assert found["wide"][1].tensor.double_val == [0.1]
    assert read(tmp_path / "many_x_a")["many/x"][1].simple_value == 1 and read(tmp_path / "many_x_b")["many/x"][0] == 5


def test_histograms(tmp_path: Path) -> None:
    x = ad.arange(50.0) ** 2 - 100
    with tensorboard.SummaryWriter(tmp_path) as writer:
        writer.add_histogram("h", x, 1)
        writer.add_histogram("five", x, 1, bins=5)
        writer.add_histogram("few", x, 1, max_bins=50)
        writer.add_histogram("zero", ad.zeros(2, dtype=ad.bfloat16))
        with pytest.raises(ValueError, match="no element"):
            writer.add_histogram("none", ad.zeros(0))
    found = {tag: value.histo for tag, (_, value) in read(tmp_path).items()}
    h = found["h"]
    assert (h.min, h.max, h.num, h.sum, h.sum_squares) == (-100, 2301, 50, 35425, 51831665)
    assert h.bucket_limit[0] == -107.67633591020055 and sum(h.bucket) == 50 and h.bucket[0] == 0
    assert list(found["five"].bucket) == [0, 22, 9, 7, 6, 6]
    assert found["few"].bucket_limit[0] == -408.90070642751868 and sum(found["few"].bucket) == 50
    assert list(found["zero"].bucket_limit) == [0, 1e-12] and list(found["zero"].bucket) == [0, 2]


def pixels(value: Any) -> list[int]:
    """The bytes of a picture without filters."""
    data = value.image.encoded_image_string
    assert data[:8] == b"\x89PNG\r\n\x1a\n" and struct.unpack(">II", data[16:24]) == (value.image.width, value.image.height)
    start = data.index(b"IDAT")
    rows = zlib.decompress(data[start + 4 : start + 4 + struct.unpack(">I", data[start - 4 : start])[0]])
    step = 1 + value.image.width * 3
    return [byte for i in range(0, len(rows), step) for byte in rows[i + 1 : i + step]]


def test_pictures(tmp_path: Path) -> None:
    with tensorboard.SummaryWriter(tmp_path) as writer:
        writer.add_image("i", ad.tensor([[[0.0, 0.5]], [[1.0, 2.0]], [[-1.0, 1.0]]]), 2)
        writer.add_image("bytes", ad.tensor([[1], [2]], dtype=ad.uint8), 2, dataformats="HW")
        writer.add_images("batch", ad.arange(10.0).view(10, 1, 1, 1) / 255)
        with pytest.raises(ValueError, match="different"):
            writer.add_image("bad", ad.ones(2, 2))
    found = {tag: value for tag, (_, value) in read(tmp_path).items()}
    assert pixels(found["i"]) == [0, 255, 0, 127, 255, 255]
    assert pixels(found["bytes"]) == [1, 1, 1, 2, 2, 2]
    assert (found["batch"].image.height, found["batch"].image.width) == (2, 8)
    assert pixels(found["batch"])[::3] == [*range(10), 0, 0, 0, 0, 0, 0]


def test_figures(tmp_path: Path) -> None:
    pyplot = pytest.importorskip("matplotlib.pyplot")
    before = pyplot.get_fignums()
    with tensorboard.SummaryWriter(tmp_path) as writer:
        writer.add_figure("f", pyplot.figure(figsize=(2, 1), dpi=50), 1)
    value = read(tmp_path)["f"][1]
    assert (
        (value.image.width, value.image.height) == (100, 50) and set(pixels(value)) == {255} and pyplot.get_fignums() == before
    )


def test_texts_and_charts(tmp_path: Path) -> None:
    with tensorboard.SummaryWriter(tmp_path, purge_step=7) as writer:
        writer.add_text("t", "hello", 2)
        writer.add_tensor("ones", ad.ones(2, 3, dtype=ad.int64))
        writer.add_custom_scalars({"A": {"x": ["Multiline", ["a", "b"]], "y": ["Margin", ["a", "b", "c"]]}})
        writer.add_pr_curve("pr", ad.tensor([0, 1, 1, 0]), ad.tensor([0.1, 0.8, 0.4, 0.6]), num_thresholds=5)
        with pytest.raises(ValueError, match="unsupported tensor dtype"):
            writer.add_tensor("bad", ad.ones(1, dtype=ad.complex64))
        assert writer.get_logdir() == str(tmp_path) == writer.file_writer.get_logdir()
    found = {tag: value for tag, (_, value) in read(tmp_path).items()}
    assert found["t/text_summary"].tensor.string_val == [b"hello"]
    assert found["ones"].tensor.int64_val == [1] * 6 and [d.size for d in found["ones"].tensor.tensor_shape.dim] == [2, 3]
    layout = b'\x12"\n\x01A\x12\x0b\n\x01x\x12\x06\n\x01a\n\x01b\x12\x10\n\x01y\x1a\x0b\n\t\n\x01a\x12\x01b\x1a\x01c'
    assert found["custom_scalars__config__"].tensor.string_val == [layout]
    assert list(found["pr"].tensor.float_val)[:10] == [2, 2, 1, 1, 0, 2, 1, 1, 0, 0]


def test_parameters_of_runs(tmp_path: Path) -> None:
    from tensorboard.plugins.hparams.plugin_data_pb2 import HParamsPluginData

    with tensorboard.SummaryWriter(tmp_path) as writer:
        writer.add_hparams(
            {"lr": 0.1, "opt": "sgd", "b": True, "no": None}, {"acc": 0.5}, {"lr": [0.1, 0.2]}, run_name="one", global_step=3
        )
        with pytest.raises(TypeError, match="dictionary"):
            writer.add_hparams([], {})
        with pytest.raises(ValueError, match="value should be one of"):
            writer.add_hparams({"x": object()}, {})
    found = read(tmp_path / "one")
    data = {tag: HParamsPluginData.FromString(value.metadata.plugin_data.content) for tag, (_, value) in found.items()}
    start = data["_hparams_/session_start_info"].session_start_info.hparams
    assert (start["lr"].number_value, start["opt"].string_value, start["b"].number_value) == (0.1, "sgd", 1.0)
    assert [len(info.domain_discrete.values) for info in data["_hparams_/experiment"].experiment.hparam_infos] == [2, 0, 0]
    assert (
        data["_hparams_/session_end_info"].session_end_info.status == 1
        and found["acc"][1].simple_value == 0.5
        and found["acc"][0] == 3
    )


def test_graph_of_a_model(tmp_path: Path) -> None:
    model = ad.nn.Sequential(ad.nn.Conv2d(1, 4, 3), ad.nn.ReLU(), ad.nn.Sequential(ad.nn.Flatten(), ad.nn.Linear(16, 3)))
    before = ad.rand(1, 1, 4, 4)
    with tensorboard.SummaryWriter(tmp_path) as writer:
        writer.add_graph(model, before)
    graph_pb2 = pytest.importorskip("tensorboard.compat.proto.graph_pb2")
    from tensorboard.backend.event_processing.event_file_loader import RawEventFileLoader

    file = next(tmp_path.glob("*tfevents*"))
    events = [event_pb2.Event.FromString(raw) for raw in RawEventFileLoader(str(file)).Load()]
    graph = graph_pb2.GraphDef.FromString(next(e.graph_def for e in events if e.graph_def))
    nodes = {node.name: node for node in graph.node}
    assert any(e.tagged_run_metadata.tag == "step1" for e in events)
    conv = nodes["Sequential/Conv2d[0]/convolution"]
    assert (conv.op, list(conv.input)) == ("aten::convolution", ["input/input", "Sequential/Conv2d[0]/weight"])
    assert [d.size for d in conv.attr["_output_shapes"].list.shape[0].dim] == [1, 4, 2, 2]
    assert nodes["Sequential/Sequential[2]/Linear[1]/mm"].op == "aten::mm"
    last = list(nodes["output/output"].input)
    assert last == ["Sequential/Sequential[2]/Linear[1]/add"] and all(i in nodes for node in graph.node for i in node.input)
    assert not model[0]._forward_hooks and not model[0]._forward_pre_hooks
    with pytest.raises(RuntimeError), tensorboard.SummaryWriter(tmp_path) as writer:
        writer.add_graph(model, ad.rand(2))
    with tensorboard.SummaryWriter(tmp_path) as writer:
        with pytest.raises(TypeError, match="model must be a Module, got function"):
            writer.add_graph(lambda x: x, ad.rand(2))
        with pytest.raises(ValueError, match="input_to_model must be"):
            writer.add_graph(model)
    assert not model[0]._forward_hooks and ad.autograd.grad(model(before).sum(), model[0].weight)


def test_points_of_the_projector(tmp_path: Path) -> None:
    config_pb2 = pytest.importorskip("tensorboard.plugins.projector.projector_config_pb2")
    text_format = pytest.importorskip("google.protobuf.text_format")
    with tensorboard.SummaryWriter(tmp_path) as writer:
        points = ad.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
        writer.add_embedding(points, ["a", "b", "c"], ad.rand(3, 1, 2, 4), 7, tag="x/y")
        writer.add_embedding(points, [["a", 1], ["b", 2], ["c", 3]], metadata_header=["name", "number"])
        with pytest.raises(ValueError, match="metadata must be as many as the 3 points, got 1"):
            writer.add_embedding(points, ["a"])
        with pytest.raises(ValueError, match="two dimensions"):
            writer.add_embedding(ad.ones(3))
        with pytest.raises(ValueError, match=r"must have 2 columns, as metadata_header has, got \['a'\]"):
            writer.add_embedding(points, [["a"]] * 3, metadata_header=["name", "number"], tag="wrong")
        for shape in [(3, 4, 4), (3, 2, 4, 4)]:
            with pytest.raises(ValueError, match="label_img must be"):
                writer.add_embedding(points, label_img=ad.rand(shape), tag="wrong")
    assert not (tmp_path / "00000/wrong").exists()
    first = tmp_path / "00007" / "x%2Fy"
    assert (first / "tensors.tsv").read_text().splitlines() == ["1.0\t2.0", "3.0\t4.0", "5.0\t6.0"]
    assert (first / "metadata.tsv").read_text() == "a\nb\nc\n"
    assert struct.unpack(">II", (first / "sprite.png").read_bytes()[16:24]) == (8, 4)
    assert (tmp_path / "00000/default/metadata.tsv").read_text().splitlines()[:2] == ["name\tnumber", "a\t1"]
    config = text_format.Parse((tmp_path / "projector_config.pbtxt").read_text(), config_pb2.ProjectorConfig())
    assert [e.tensor_name for e in config.embeddings] == ["x/y:00007", "default:00000"]
    assert (
        list(config.embeddings[0].sprite.single_image_dim) == [4, 2]
        and (tmp_path / config.embeddings[1].metadata_path).exists()
    )


def test_sounds(tmp_path: Path) -> None:
    with tensorboard.SummaryWriter(tmp_path) as writer:
        writer.add_audio("tone", ad.tensor([0.0, 0.5, -2.0]), 1, sample_rate=8000)
        with pytest.raises(ValueError, match=r"one channel, got shape \[2, 3\]"):
            writer.add_audio("stereo", ad.zeros(2, 3))
    sound = read(tmp_path)["tone"][1].audio
    assert (sound.sample_rate, sound.length_frames, sound.content_type) == (8000, 3, "audio/wav")
    assert struct.unpack("<3h", sound.encoded_audio_string[-6:]) == (0, 16383, -32767)
