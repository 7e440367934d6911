"""What TensorBoard keeps of a value: one `Summary` for each of its plugins. Formats: the .proto files of the tensorboard package."""

from __future__ import annotations

import io
import struct
import wave
import zlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from tensorboard.compat.proto.summary_pb2 import HistogramProto, Summary, SummaryMetadata
from tensorboard.compat.proto.tensor_pb2 import TensorProto
from tensorboard.compat.proto.tensor_shape_pb2 import TensorShapeProto
from tensorboard.plugins.custom_scalar import layout_pb2
from tensorboard.plugins.hparams import api_pb2, plugin_data_pb2

from adjoint_core import Tensor

DTYPES = {
    "float64": ("DT_DOUBLE", "double_val"),
    "float32": ("DT_FLOAT", "float_val"),
    "int32": ("DT_INT32", "int_val"),
    "int64": ("DT_INT64", "int64_val"),
}


def array(x: Any) -> Any:
    """A NumPy array of a tensor, an array, or numbers."""
    if isinstance(x, Tensor):
        x = x.detach().cpu()
        return np.asarray(x if str(x.dtype).rpartition(".")[2] != "bfloat16" else x.float())
    if not np.isscalar(x) and not isinstance(x, np.ndarray):
        raise NotImplementedError(f"Got {type(x)}, but numpy array or torch tensor are expected.")
    return np.atleast_1d(np.asarray(x))


def _number(x: Any) -> float:
    found = array(x)
    if found.size != 1:
        raise ValueError(f"scalar: a tensor of one element is expected, got shape {found.shape}")
    return float(found.reshape(()))


def _plugin(name: str, content: bytes = b"") -> Any:
    return SummaryMetadata(plugin_data=SummaryMetadata.PluginData(plugin_name=name, content=content))


def _of(tag: str, **value: Any) -> Any:
    return Summary(value=[Summary.Value(tag=tag, **value)])


def scalar(name: str, tensor: Any, new_style: bool = False, double_precision: bool = False) -> Any:
    """A number."""
    number = _number(tensor)
    if not new_style:
        return _of(name, simple_value=number)
    kind, field = DTYPES["float64" if double_precision else "float32"]
    return _of(name, tensor=TensorProto(dtype=kind, **{field: [number]}), metadata=_plugin("scalars"))


def tensor_proto(tag: str, tensor: Any) -> Any:
    """A tensor, which no plugin shows."""
    values = array(tensor)
    if values.dtype.name not in DTYPES:
        raise ValueError(f"{tag} has an unsupported tensor dtype {values.dtype.name}; known are {', '.join(DTYPES)}")
    kind, field = DTYPES[values.dtype.name]
    shape = TensorShapeProto(dim=[TensorShapeProto.Dim(size=n) for n in values.shape])
    return _of(
        tag,
        tensor=TensorProto(dtype=kind, tensor_shape=shape, **{field: values.reshape(-1).tolist()}),
        metadata=_plugin("tensor"),
    )


def _default_edges() -> Any:
    up = np.cumprod([1e-12] + [1.1] * 773)
    up = up[up < 1e20]
    return np.concatenate([-up[::-1], [0.0], up])


def histogram(name: str, values: Any, bins: Any = "tensorflow", max_bins: int | None = None) -> Any:
    """How values are distributed; `bins` is "tensorflow", for edges that grow by a tenth, or what `numpy.histogram` takes."""
    values = array(values).reshape(-1).astype(float)
    if not values.size:
        raise ValueError("The input has no element.")
    counts, edges = np.histogram(values, bins=_default_edges() if isinstance(bins, str) and bins == "tensorflow" else bins)
    if max_bins is not None and len(counts) > max_bins:
        step = len(counts) // max_bins
        counts = np.add.reduceat(counts, np.arange(0, len(counts), step))
        edges = np.concatenate([edges[:-1:step], edges[-1:]])
    used = np.flatnonzero(counts)
    if not used.size:
        raise ValueError("The histogram is empty, please file a bug report.")
    first, last = used[0], used[-1] + 1
    limits = edges[first : last + 1]  # the edge below stands for a bin that is empty
    moments = {
        "min": values.min(),
        "max": values.max(),
        "num": len(values),
        "sum": values.sum(),
        "sum_squares": values.dot(values),
    }
    return _of(name, histo=HistogramProto(**moments, bucket_limit=limits.tolist(), bucket=[0, *counts[first:last].tolist()]))


def png(pixels: Any) -> bytes:
    """Pixels (height, width, channels) of bytes as a PNG file (ISO/IEC 15948)."""
    height, width, channels = pixels.shape

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = b"".join(b"\0" + row.tobytes() for row in np.ascontiguousarray(pixels))
    head = struct.pack(">IIBBBBB", width, height, 8, {1: 0, 2: 4, 3: 2, 4: 6}[channels], 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def _pixels(values: Any, dataformats: str) -> Any:
    """(height, width, channels): images of a batch lie beside each other, in a square as far as they fill it."""
    order = dataformats.upper()
    if len(order) != values.ndim or len(set(order)) != len(order) or not set("HW") <= set(order) <= set("NCHW"):
        raise ValueError(
            f"image: size of input tensor and input format are different: tensor shape {values.shape}, input_format {dataformats}"
        )
    full = [axis for axis in "NHWC" if axis in order]
    values = values.transpose([order.index(axis) for axis in full])
    values = values if "C" in order else np.repeat(values[..., None], 3, -1)
    if values.shape[-1] == 1:
        values = np.repeat(values, 3, -1)
    if "N" not in order:
        return values
    n, h, w, c = values.shape
    columns = min(n, 8)
    rows = -(-n // columns)
    grid = np.concatenate([values, np.zeros((rows * columns - n, h, w, c), values.dtype)])
    return grid.reshape(rows, columns, h, w, c).transpose(0, 2, 1, 3, 4).reshape(rows * h, columns * w, c)


def image(tag: str, tensor: Any, rescale: float = 1, dataformats: str = "NCHW") -> Any:
    """A picture of bytes, or of numbers from 0 to 1."""
    values = array(tensor)
    scale = 1 if values.dtype == np.uint8 else 255
    pixels = _pixels(values, dataformats).astype(np.float32) * scale * rescale
    pixels = pixels.clip(0, 255).astype(np.uint8)
    height, width, channels = pixels.shape
    return _of(tag, image=Summary.Image(height=height, width=width, colorspace=channels, encoded_image_string=png(pixels)))


def audio(tag: str, tensor: Any, sample_rate: int = 44100) -> Any:
    """A sound of one channel: numbers from -1 to 1."""
    values = array(tensor).squeeze()
    if values.ndim > 1:
        raise ValueError(f"add_audio: expected one channel, got shape {list(values.shape)}")
    values = values.reshape(-1).clip(-1, 1)
    file = io.BytesIO()
    with wave.open(file, "wb") as out:
        out.setnchannels(1)
        out.setsampwidth(2)
        out.setframerate(sample_rate)
        out.writeframes((values * (2**15 - 1)).astype("<i2").tobytes())
    sound = {"sample_rate": sample_rate, "num_channels": 1, "length_frames": len(values), "content_type": "audio/wav"}
    return _of(tag, audio=Summary.Audio(encoded_audio_string=file.getvalue(), **sound))


def text(tag: str, text: str) -> Any:
    """A text in Markdown."""
    shape = TensorShapeProto(dim=[TensorShapeProto.Dim(size=1)])
    value = TensorProto(dtype="DT_STRING", string_val=[text.encode()], tensor_shape=shape)
    return _of(f"{tag}/text_summary", tensor=value, metadata=_plugin("text"))


def custom_scalars(layout: Mapping[str, Mapping[str, Sequence[Any]]]) -> Any:
    """Which numbers share a chart: for each category, for each title, "Multiline" or "Margin" and the tags."""
    categories = []
    for category, charts in layout.items():
        made = []
        for title, (kind, tags) in charts.items():
            if kind == "Margin":
                margin = layout_pb2.MarginChartContent.Series(value=tags[0], lower=tags[1], upper=tags[2])
                made.append(layout_pb2.Chart(title=title, margin=layout_pb2.MarginChartContent(series=[margin])))
            else:
                made.append(layout_pb2.Chart(title=title, multiline=layout_pb2.MultilineChartContent(tag=tags)))
        categories.append(layout_pb2.Category(title=category, chart=made))
    content = layout_pb2.Layout(category=categories).SerializeToString()
    value = TensorProto(dtype="DT_STRING", string_val=[content], tensor_shape=TensorShapeProto())
    return _of("custom_scalars__config__", tensor=value, metadata=_plugin("custom_scalars"))


_KINDS = {
    bool: ("bool_value", "DATA_TYPE_BOOL"),
    str: ("string_value", "DATA_TYPE_STRING"),
    float: ("number_value", "DATA_TYPE_FLOAT64"),
}


def _parameter(value: Any) -> tuple[Any, type]:
    value = value.item() if isinstance(value, Tensor) else value
    if isinstance(value, str):
        return value, str
    if isinstance(value, (int, float)):  # truth too
        return float(value), float
    if value is None:
        return "", str
    raise ValueError("value should be one of int, float, str, bool, or torch.Tensor")


def _kind(name: str) -> int:
    return api_pb2.DataType.Value(name)


def hparams(
    hparam_dict: Mapping[str, Any],
    metric_dict: Mapping[str, Any],
    hparam_domain_discrete: Mapping[str, Sequence[Any]] | None = None,
) -> Any:
    """Three summaries of a run's parameters: what kinds they are of, their values, and that the run ended well."""
    for name, value in (("hparam_dict", hparam_dict), ("metric_dict", metric_dict)):
        if not isinstance(value, Mapping):
            raise TypeError(f"parameter: {name} should be a dictionary, nothing logged.")
    start, infos = plugin_data_pb2.SessionStartInfo(), []
    for key, given in hparam_dict.items():
        if given is None:
            continue
        value, kind = _parameter(given)
        field, dtype = _KINDS[kind]
        setattr(start.hparams[key], field, value)
        info = api_pb2.HParamInfo(name=key, type=_kind(dtype))
        if hparam_domain_discrete and key in hparam_domain_discrete:
            for choice in hparam_domain_discrete[key]:
                setattr(info.domain_discrete.values.add(), field, choice)
        infos.append(info)
    metrics = [api_pb2.MetricInfo(name=api_pb2.MetricName(tag=tag)) for tag in metric_dict]
    experiment = api_pb2.Experiment(hparam_infos=infos, metric_infos=metrics)
    end = plugin_data_pb2.SessionEndInfo(status=api_pb2.Status.Value("STATUS_SUCCESS"))

    def of(tag: str, **content: Any) -> Any:
        data = plugin_data_pb2.HParamsPluginData(version=0, **content).SerializeToString()
        return _of(f"_hparams_/{tag}", metadata=_plugin("hparams", data))

    return (
        of("experiment", experiment=experiment),
        of("session_start_info", session_start_info=start),
        of("session_end_info", session_end_info=end),
    )


def pr_curve(tag: str, labels: Any, predictions: Any, num_thresholds: int = 127, weights: Any = None) -> Any:
    """Precision and recall of predictions from 0 to 1, at thresholds in equal steps."""
    labels, predictions = array(labels).reshape(-1).astype(bool), array(predictions).reshape(-1)
    share = np.ones(len(labels)) if weights is None else array(weights).reshape(-1)
    bucket = np.floor(predictions * (num_thresholds - 1)).astype(int)
    positive = np.bincount(bucket, labels * share, num_thresholds)[::-1].cumsum()[::-1]
    negative = np.bincount(bucket, ~labels * share, num_thresholds)[::-1].cumsum()[::-1]
    tiny = 1e-7
    precision, recall = positive / np.maximum(tiny, positive + negative), positive / np.maximum(tiny, positive[0])
    rows = np.stack([positive, negative, negative[0] - negative, positive[0] - positive, precision, recall])
    shape = TensorShapeProto(dim=[TensorShapeProto.Dim(size=n) for n in rows.shape])
    value = TensorProto(dtype="DT_FLOAT", float_val=rows.reshape(-1).tolist(), tensor_shape=shape)
    return _of(
        tag, tensor=value, metadata=_plugin("pr_curves", b"\x10" + bytes([num_thresholds]) if num_thresholds < 128 else b"")
    )
