"""The writer of files that TensorBoard shows."""

from __future__ import annotations

import io
import os
import socket
import sys
import time
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

import numpy as np
from tensorboard.compat.proto import event_pb2
from tensorboard.compat.proto.config_pb2 import RunMetadata
from tensorboard.compat.proto.step_stats_pb2 import DeviceStepStats, StepStats
from tensorboard.summary.writer.event_file_writer import EventFileWriter

from . import embedding, summary
from .graph import graph


class FileWriter:
    """Writes summaries into one file of a folder."""

    def __init__(
        self, log_dir: str | os.PathLike[str], max_queue: int = 10, flush_secs: int = 120, filename_suffix: str = ""
    ) -> None:
        self.event_writer = EventFileWriter(str(log_dir), max_queue, flush_secs, filename_suffix)

    def get_logdir(self) -> str:
        """The folder."""
        return self.event_writer.get_logdir()

    def add_event(self, event: Any, step: int | None = None, walltime: float | None = None) -> None:
        """Writes an `Event`, at this step and time."""
        event.wall_time = time.time() if walltime is None else walltime
        if step is not None:
            event.step = int(step)
        self.event_writer.add_event(event)

    def add_summary(self, summary: Any, global_step: int | None = None, walltime: float | None = None) -> None:
        """Writes a `Summary`."""
        self.add_event(event_pb2.Event(summary=summary), global_step, walltime)

    def add_graph(self, graph: Any, walltime: float | None = None) -> None:
        """Writes a `GraphDef`, and that it ran."""
        self.add_event(event_pb2.Event(graph_def=graph.SerializeToString()), None, walltime)
        stats = StepStats(dev_stats=[DeviceStepStats(device="/device:CPU:0")])
        ran = event_pb2.TaggedRunMetadata(tag="step1", run_metadata=RunMetadata(step_stats=stats).SerializeToString())
        self.add_event(event_pb2.Event(tagged_run_metadata=ran), None, walltime)

    def flush(self) -> None:
        """Writes out what waits."""
        self.event_writer.flush()

    def close(self) -> None:
        """Writes out what waits, and ends the file."""
        self.event_writer.close()


class SummaryWriter:
    """Writes numbers, distributions, pictures and texts for TensorBoard.

    Arguments:
        log_dir: the folder; `runs/`, the time and the host if None.
        comment: stands behind the name of that folder.
        purge_step: what an earlier run wrote from this step on is not shown.
        max_queue, flush_secs: how many entries, and how long, they may wait.
    """

    def __init__(
        self,
        log_dir: str | os.PathLike[str] | None = None,
        comment: str = "",
        purge_step: int | None = None,
        max_queue: int = 10,
        flush_secs: int = 120,
        filename_suffix: str = "",
    ) -> None:
        self.log_dir = log_dir or os.path.join(
            "runs", datetime.now().strftime("%b%d_%H-%M-%S_") + socket.gethostname() + comment
        )
        self.purge_step, self._options = purge_step, (max_queue, flush_secs, filename_suffix)
        self.file_writer: FileWriter | None = None
        self.all_writers: dict[str, FileWriter] = {}
        self._get_file_writer()

    def _get_file_writer(self) -> FileWriter:
        if self.file_writer is None:
            self.file_writer = self._in(str(self.log_dir))
            if self.purge_step is not None:
                self.file_writer.add_event(event_pb2.Event(step=self.purge_step, file_version="brain.Event:2"))
                start = event_pb2.SessionLog(status=event_pb2.SessionLog.START)
                self.file_writer.add_event(event_pb2.Event(step=self.purge_step, session_log=start))
                self.purge_step = None
        return self.file_writer

    def _in(self, folder: str) -> FileWriter:
        if folder not in self.all_writers:
            self.all_writers[folder] = FileWriter(folder, *self._options)
        return self.all_writers[folder]

    def _add(self, made: Any, step: int | None, walltime: float | None) -> None:
        self._get_file_writer().add_summary(made, step, walltime)

    def get_logdir(self) -> str:
        """The folder."""
        return str(self.log_dir)

    def add_scalar(
        self,
        tag: str,
        scalar_value: Any,
        global_step: int | None = None,
        walltime: float | None = None,
        new_style: bool = False,
        double_precision: bool = False,
    ) -> None:
        """Writes a number."""
        self._add(summary.scalar(tag, scalar_value, new_style, double_precision), global_step, walltime)

    def add_scalars(
        self, main_tag: str, tag_scalar_dict: Mapping[str, Any], global_step: int | None = None, walltime: float | None = None
    ) -> None:
        """Writes numbers that share a chart, each into a folder of its own."""
        for tag, value in tag_scalar_dict.items():
            folder = f"{self.get_logdir()}/{main_tag.replace('/', '_')}_{tag}"
            self._in(folder).add_summary(summary.scalar(main_tag, value), global_step, walltime)

    def add_tensor(self, tag: str, tensor: Any, global_step: int | None = None, walltime: float | None = None) -> None:
        """Writes a tensor."""
        self._add(summary.tensor_proto(tag, tensor), global_step, walltime)

    def add_histogram(
        self,
        tag: str,
        values: Any,
        global_step: int | None = None,
        bins: Any = "tensorflow",
        walltime: float | None = None,
        max_bins: int | None = None,
    ) -> None:
        """Writes how values are distributed.

        Raises:
            ValueError: there are none.
        """
        self._add(summary.histogram(tag, values, bins, max_bins), global_step, walltime)

    def add_image(
        self, tag: str, img_tensor: Any, global_step: int | None = None, walltime: float | None = None, dataformats: str = "CHW"
    ) -> None:
        """Writes a picture of bytes, or of numbers from 0 to 1.

        Raises:
            ValueError: `dataformats` does not name the dimensions.
        """
        self._add(summary.image(tag, img_tensor, dataformats=dataformats), global_step, walltime)

    def add_images(
        self,
        tag: str,
        img_tensor: Any,
        global_step: int | None = None,
        walltime: float | None = None,
        dataformats: str = "NCHW",
    ) -> None:
        """Writes pictures of one size, beside each other."""
        self.add_image(tag, img_tensor, global_step, walltime, dataformats)

    def add_figure(
        self, tag: str, figure: Any, global_step: int | None = None, close: bool = True, walltime: float | None = None
    ) -> None:
        """Writes a figure of matplotlib, or several of one size, and closes it."""
        pictures = []
        for one in figure if isinstance(figure, list) else [figure]:
            file = io.BytesIO()
            one.savefig(file, format="rgba", dpi=one.dpi)
            width, height = one.canvas.get_width_height()
            pictures.append(np.frombuffer(file.getvalue(), np.uint8).reshape(height, width, 4)[..., :3])
            if close and "matplotlib.pyplot" in sys.modules:
                sys.modules["matplotlib.pyplot"].close(one)
        self.add_image(tag, np.stack(pictures), global_step, walltime, "NHWC")

    def add_audio(
        self,
        tag: str,
        snd_tensor: Any,
        global_step: int | None = None,
        sample_rate: int = 44100,
        walltime: float | None = None,
    ) -> None:
        """Writes a sound of one channel: numbers from -1 to 1.

        Raises:
            ValueError: there are several channels.
        """
        self._add(summary.audio(tag, snd_tensor, sample_rate), global_step, walltime)

    def add_graph(self, model: Any, input_to_model: Any = None, verbose: bool = False, use_strict_trace: bool = True) -> None:
        """Writes the operations of a call of the model, in the modules that they belong to.

        Arguments:
            input_to_model: a tensor, or a tuple of what the model is called with.
            verbose: print the nodes.
            use_strict_trace: of no effect: the model runs as it is.

        Raises:
            TypeError: the model is no Module.
            ValueError: there is no input.
        """
        found = graph(model, input_to_model)
        if verbose:
            print(found)
        self._get_file_writer().add_graph(found)

    def add_embedding(
        self,
        mat: Any,
        metadata: Sequence[Any] | None = None,
        label_img: Any = None,
        global_step: int | None = None,
        tag: str = "default",
        metadata_header: Sequence[str] | None = None,
    ) -> None:
        """Writes points (n, d) for the projector.

        Arguments:
            metadata: a label of each point, or as many as ``metadata_header`` names.
            label_img: a picture of each point, (n, 1 or 3, height, width).

        Raises:
            ValueError: labels or pictures are not as many as the points, or columns of labels as the header; pictures of another shape.
        """
        embedding.write(self.get_logdir(), mat, metadata, label_img, global_step or 0, tag, metadata_header)

    def add_text(self, tag: str, text_string: str, global_step: int | None = None, walltime: float | None = None) -> None:
        """Writes a text in Markdown."""
        self._add(summary.text(tag, text_string), global_step, walltime)

    def add_pr_curve(
        self,
        tag: str,
        labels: Any,
        predictions: Any,
        global_step: int | None = None,
        num_thresholds: int = 127,
        weights: Any = None,
        walltime: float | None = None,
    ) -> None:
        """Writes precision and recall of predictions from 0 to 1."""
        self._add(summary.pr_curve(tag, labels, predictions, num_thresholds, weights), global_step, walltime)

    def add_custom_scalars(self, layout: Mapping[str, Mapping[str, Sequence[Any]]]) -> None:
        """Writes which numbers share a chart."""
        self._add(summary.custom_scalars(layout), None, None)

    def add_hparams(
        self,
        hparam_dict: Mapping[str, Any],
        metric_dict: Mapping[str, Any],
        hparam_domain_discrete: Mapping[str, Sequence[Any]] | None = None,
        run_name: str | None = None,
        global_step: int | None = None,
    ) -> None:
        """Writes a run's parameters and what came of it, into a folder of its own.

        Raises:
            TypeError: these are no dictionaries.
            ValueError: a parameter is neither number, text nor truth.
        """
        made = summary.hparams(hparam_dict, metric_dict, hparam_domain_discrete)
        with SummaryWriter(os.path.join(self.get_logdir(), run_name or str(time.time()))) as writer:
            for one in made:
                writer._get_file_writer().add_summary(one, global_step)
            for tag, value in metric_dict.items():
                writer.add_scalar(tag, value, global_step)

    def flush(self) -> None:
        """Writes out what waits."""
        for writer in self.all_writers.values():
            writer.flush()

    def close(self) -> None:
        """Writes out what waits, and ends the files; what is written later begins new ones."""
        for writer in self.all_writers.values():
            writer.flush()
            writer.close()
        self.file_writer, self.all_writers = None, {}

    def __enter__(self) -> SummaryWriter:
        return self

    def __exit__(self, exc_type: object, exc_val: object, exc_tb: object) -> None:
        self.close()
