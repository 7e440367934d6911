"""load_nvprof and parse_nvprof_trace, on files of nvprof's format."""

import sqlite3

import pytest

from adjoint.autograd import profiler

TABLES = """
CREATE TABLE StringTable (_id_ INTEGER, value TEXT);
CREATE TABLE CUPTI_ACTIVITY_KIND_MARKER (_id_ INTEGER, id INTEGER, name INTEGER, timestamp INTEGER, objectKind INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (_id_ INTEGER, cbid INTEGER, start INTEGER, end INTEGER, correlationId INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL (_id_ INTEGER, start INTEGER, end INTEGER, name INTEGER, correlationId INTEGER);
"""
NAMES = {1: "aten::mm", 2: "aten::add", 3: "_ZN5volta4gemmEv", 4: "step"}
RANGES = [(7, 4, 1_000, 90_000), (8, 1, 2_000, 40_000), (9, 2, 50_000, 80_000)]  # id, name, begin and end in nanoseconds
LAUNCHES = [(1, 3_000, 5_000, 100), (2, 52_000, 53_000, 101), (3, 95_000, 96_000, 102)]  # the last outside of all ranges
KERNELS = [(10_000, 30_000, 3, 100), (60_000, 65_000, 2, 101), (97_000, 98_000, 3, 102)]


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "prof.nvprof"
    with sqlite3.connect(path) as file:
        file.executescript(TABLES)
        file.executemany("INSERT INTO StringTable VALUES (?, ?)", NAMES.items())
        for key, name, begin, end in RANGES:
            file.execute("INSERT INTO CUPTI_ACTIVITY_KIND_MARKER VALUES (1, ?, ?, ?, 2)", (key, name, begin))
            file.execute("INSERT INTO CUPTI_ACTIVITY_KIND_MARKER VALUES (2, ?, 0, ?, 2)", (key, end))
        for key, begin, end, correlation in LAUNCHES:
            file.execute("INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (?, 211, ?, ?, ?)", (key, begin, end, correlation))
        for begin, end, name, correlation in KERNELS:
            file.execute(
                "INSERT INTO CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL VALUES (1, ?, ?, ?, ?)", (begin, end, name, correlation)
            )
    file.close()
    return path


def test_ranges_and_the_kernels_that_were_started_in_them(path):
    events = profiler.parse_nvprof_trace(path)
    assert [(e.name, e.time_range.start, e.time_range.end) for e in events] == [
        ("step", 1, 90),
        ("aten::mm", 2, 40),
        ("aten::add", 50, 80),
    ]
    kernels = {e.name: [(k.name, k.duration) for k in e.kernels] for e in events}
    assert kernels["aten::mm"][0][0] in ("volta::gemm()", "_ZN5volta4gemmEv") and kernels["aten::mm"][0][1] == 20
    assert kernels["aten::add"] == [("aten::add", 5)] and len(kernels["step"]) == 2


def test_the_list_has_a_tree_and_tables(path):
    events = profiler.load_nvprof(path)
    assert [e.cpu_parent.name if e.cpu_parent else None for e in events] == [None, "step", "step"]
    averages = {a.key: a for a in events.key_averages()}
    assert averages["aten::mm"].device_time_total == 20 and averages["step"].self_cpu_time_total == 89 - 38 - 30
    assert "Self CUDA" in events.table(sort_by="device_time_total")


def test_other_files_are_refused(tmp_path):
    (tmp_path / "text").write_text("this is no database, but long enough to be looked at" * 10)
    with pytest.raises(sqlite3.Error):
        profiler.load_nvprof(tmp_path / "text")
    with pytest.raises(sqlite3.Error):
        profiler.load_nvprof(tmp_path / "not there")
