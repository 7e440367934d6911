"""`monitor`, `utils.weak`, and what a rank that raises leaves behind."""

from __future__ import annotations

import datetime
import gc
import json
from pathlib import Path
from typing import Any

import pytest

import adjoint as ad
from adjoint.monitor import Aggregation, Event, Stat, log_event, register_event_handler, unregister_event_handler
from adjoint.utils.weak import TensorWeakRef, WeakIdKeyDictionary, WeakTensorKeyDictionary
from adjoint_functional.distributed.elastic_errors import record


def test_events_reach_their_handlers() -> None:
    got: list[Event] = []
    handle = register_event_handler(got.append)
    event = Event("epoch", datetime.datetime.now(), {"loss": 0.5, "model": "small"})
    log_event(event)
    assert got == [event] and event.data["model"] == "small"
    stat = Stat("loss", list(Aggregation), datetime.timedelta(hours=1), 3)
    stat.add(1)
    stat.add(2)
    assert stat.count == 2 and set(stat.get().values()) == {0}
    stat.add(4)
    assert stat.count == 0 and stat.get()[Aggregation.MEAN] == pytest.approx(7 / 3)
    assert got[1].name == "torch.monitor.Stat"
    assert got[1].data == {
        "loss.value": 4,
        "loss.mean": pytest.approx(7 / 3),
        "loss.count": 3,
        "loss.sum": 7,
        "loss.max": 4,
        "loss.min": 1,
    }
    unregister_event_handler(handle)
    log_event(event)
    assert len(got) == 2
    with pytest.raises(TypeError, match="timestamp"):
        Event("epoch", 3, {})  # type: ignore[arg-type]


def test_a_window_of_time_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 1000.0
    monkeypatch.setattr("adjoint_functional.monitor.time.time", lambda: now)
    stat = Stat("loss", [Aggregation.SUM, Aggregation.COUNT], datetime.timedelta(seconds=10))
    stat.add(1)
    stat.add(2)
    now = 1011.0
    assert stat.get() == {Aggregation.SUM: 3, Aggregation.COUNT: 2} and stat.count == 0


def test_dictionaries_by_tensors() -> None:
    x, y = ad.ones(2), ad.ones(2)
    names = WeakTensorKeyDictionary({x: "x", y: "y"})
    assert names[x] == "x" and len(names) == 2 and sorted(names.values()) == ["x", "y"] and 3 not in names
    assert any(key is x for key in names) and isinstance(names, WeakIdKeyDictionary)
    reference = TensorWeakRef(y)
    assert reference() is y
    del y
    gc.collect()
    assert len(names) == 1 and reference() is None
    del names[x]
    with pytest.raises(KeyError):
        names[x]
    with pytest.raises(AssertionError, match="got int"):
        TensorWeakRef(3)  # type: ignore[arg-type]


def test_what_a_program_raises_is_written_down(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "rank" / "error.json"
    monkeypatch.setenv("TORCHELASTIC_ERROR_FILE", str(file))

    @record
    def main(error: Any) -> None:
        raise error

    with pytest.raises(ValueError, match="oops"):
        main(ValueError("oops"))
    message = json.loads(file.read_text())["message"]
    assert message["message"] == "ValueError: oops" and "in main" in message["extraInfo"]["py_callstack"]
    assert main(SystemExit(0)) is None
    with pytest.raises(SystemExit):
        main(SystemExit(3))
