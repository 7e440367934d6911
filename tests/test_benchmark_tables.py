"""`utils.benchmark.Compare`: the tables that it prints."""

from __future__ import annotations

import pytest

from adjoint.utils import benchmark


def measured(sub_label: str, description: str, threads: int, seconds: float, spread: float = 0.02) -> benchmark.Measurement:
    task = benchmark.TaskSpec("x", "pass", label="Dot", sub_label=sub_label, description=description, num_threads=threads)
    return benchmark.Measurement(1, [seconds, seconds * (1 + spread), seconds * (1 - spread)], task)


RESULTS = [measured("[1, 1]", "mul", 1, 5.12e-6), measured("[1, 1]", "bmm", 1, 7.2e-6), measured("[64, 64]", "mul", 1, 1.5e-4)]


def test_rows_columns_and_threads() -> None:
    assert str(benchmark.Compare([*RESULTS, measured("[1, 1]", "mul", 4, 6e-6)])).splitlines() == [
        "[------------ Dot -------------]",
        "                |   mul   |  bmm",
        "1 threads: ---------------------",
        "      [1, 1]    |    5.1  |  7.2",
        "      [64, 64]  |  150.0  |     ",
        "4 threads: ---------------------",
        "      [1, 1]    |    6.0  |     ",
        "",
        "Times are in microseconds (us).",
    ]


def test_colours_digits_and_warnings(capsys: pytest.CaptureFixture[str]) -> None:
    compare = benchmark.Compare(RESULTS)
    compare.colorize()
    compare.trim_significant_figures()
    compare.highlight_warnings()
    compare.extend_results([measured("wide", "bmm", 1, 8e-6, spread=0.5)])
    compare.print()
    text = capsys.readouterr().out
    assert "\033[92m5.1\033[0m" in text and "\033[31m150\033[0m" in text
    assert "8 (! 50%)" in text


def test_what_is_no_measurement_is_refused() -> None:
    with pytest.raises(TypeError, match="Compare: results are Measurements, got float"):
        benchmark.Compare([1.0])
