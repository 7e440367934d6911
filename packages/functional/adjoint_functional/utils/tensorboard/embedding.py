"""Points with labels and pictures, as the projector of TensorBoard reads them: files in a folder, and a list of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from tensorboard.plugins.projector.projector_config_pb2 import EmbeddingInfo

from .summary import array, png

LIST = "projector_config.pbtxt"


def _lines(rows: Any) -> str:
    return "".join("\t".join(str(value) for value in row) + "\n" for row in rows)


def _write_labels(file: Path, labels: Sequence[Any], header: Sequence[str] | None) -> None:
    rows = [row if header else [row] for row in labels]
    file.write_text(_lines([header, *rows] if header else rows), encoding="utf-8")


def _write_pictures(file: Path, pictures: Any) -> None:
    """Pictures (n, channels, height, width) of numbers from 0 to 1, in a square."""
    n, c, h, w = pictures.shape
    side = math.ceil(math.sqrt(n))
    grid = np.concatenate([pictures, np.zeros((side * side - n, c, h, w), pictures.dtype)])
    pixels = grid.reshape(side, side, c, h, w).transpose(0, 3, 1, 4, 2).reshape(side * h, side * w, c)
    pixels = pixels if pixels.dtype == np.uint8 else (pixels.clip(0, 1) * 255).astype(np.uint8)
    file.write_bytes(png(np.repeat(pixels, 3, 2) if c == 1 else pixels))


def _check(points: Any, labels: Sequence[Any] | None, images: Any, header: Sequence[str] | None) -> None:
    if points.ndim != 2:
        raise ValueError(f"add_embedding: mat must have two dimensions, got shape {list(points.shape)}")
    for name, given in (("metadata", labels), ("label_img", images)):
        if given is not None and len(given) != len(points):
            raise ValueError(f"add_embedding: {name} must be as many as the {len(points)} points, got {len(given)}")
    if header and labels is not None:
        for row in labels:
            if len(row) != len(header):
                raise ValueError(
                    f"add_embedding: rows of metadata must have {len(header)} columns, as metadata_header has, got {row}"
                )
    if images is not None and (images.ndim != 4 or images.shape[1] not in (1, 3)):
        raise ValueError(f"add_embedding: label_img must be (n, 1 or 3, height, width), got shape {list(images.shape)}")


def write(
    log_dir: str, mat: Any, labels: Sequence[Any] | None, pictures: Any, step: int, tag: str, header: Sequence[str] | None
) -> None:
    """Writes the points (n, d) into a folder of their own below `log_dir`, and adds them to its list."""
    points, images = array(mat), None if pictures is None else array(pictures)
    _check(points, labels, images, header)
    below = f"{step:05}/{tag.replace('/', '%2F')}"
    folder = Path(log_dir, below)
    folder.mkdir(parents=True, exist_ok=True)
    info = EmbeddingInfo(tensor_name=f"{tag}:{step:05}", tensor_path=f"{below}/tensors.tsv")
    (folder / "tensors.tsv").write_text(_lines(points.tolist()), encoding="utf-8")
    if labels is not None:
        _write_labels(folder / "metadata.tsv", labels, header)
        info.metadata_path = f"{below}/metadata.tsv"
    if images is not None:
        _write_pictures(folder / "sprite.png", images)
        info.sprite.image_path = f"{below}/sprite.png"
        info.sprite.single_image_dim.extend([images.shape[3], images.shape[2]])
    with Path(log_dir, LIST).open("a", encoding="utf-8") as file:
        file.write(f"embeddings {{\n{info}}}\n")
