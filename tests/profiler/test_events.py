"""Events, averages, lists and tables, made by hand."""

import pytest

import adjoint as ad
from adjoint.autograd import profiler_util as util
from adjoint.autograd.profiler_util import EventList, FunctionEvent, FunctionEventAvg


def tree():
    """A parent of 100 us with a child of 30, and another event of the child's name."""
    parent = FunctionEvent(1, "parent", 0, 0, 100, cpu_memory_usage=1000)
    child = FunctionEvent(2, "child", 0, 10, 40, cpu_memory_usage=400, input_shapes=[[2]], flops=5)
    other = FunctionEvent(3, "child", 0, 200, 220, input_shapes=[[3]], stack=["f.py(1): f", "g.py(2): g"])
    parent.append_cpu_child(child)
    child.set_cpu_parent(parent)
    return EventList([parent, child, other], profile_memory=True, with_flops=True)


def test_self_values_leave_children_out():
    parent, child, _ = tree()
    assert (parent.cpu_time_total, parent.self_cpu_time_total) == (100, 70)
    assert (parent.cpu_memory_usage, parent.self_cpu_memory_usage) == (1000, 600)
    assert child.cpu_parent is parent


def test_kernels_are_device_time():
    event = FunctionEvent(1, "op", 0, 0, 10, use_device="cuda")
    child = FunctionEvent(2, "sub", 0, 1, 2, use_device="cuda")
    event.append_cpu_child(child)
    event.append_kernel("k", 0, 5)
    child.append_kernel("l", 0, 7)
    assert (event.device_time_total, event.self_device_time_total, child.device_time_total) == (12, 5, 7)
    on_device = FunctionEvent(3, "k", 0, 0, 9, use_device="cuda", device_type=util.DeviceType.CUDA)
    assert on_device.device_time_total == 9 and on_device.cpu_time_total == 0
    with pytest.raises(ValueError, match="CPU"):
        event.append_cpu_child(on_device)
    with pytest.warns(FutureWarning, match="device_time_total"):
        assert event.cuda_time_total == 12


def test_averages_add_up():
    averages = {a.key: a for a in tree().key_averages()}
    assert averages["child"].count == 2 and averages["child"].cpu_time == 25 and averages["child"].flops == 5
    assert len(tree().key_averages(group_by_input_shapes=True)) == 3
    assert len(tree().key_averages(group_by_stack_n=1)) == 3
    with pytest.raises(ValueError, match="key"):
        averages["child"].add(FunctionEvent(9, "other", 0, 0, 1))
    with pytest.raises(TypeError, match="got str"):
        FunctionEventAvg().add("child")


def test_averages_of_averages_are_those_of_the_events():
    again = FunctionEventAvg()
    for event in tree().key_averages(group_by_input_shapes=True):
        if event.key == "child":
            again += event
    assert (again.count, again.cpu_time_total) == (2, 50)


def test_the_total_counts_each_microsecond_once():
    total = tree().total_average()
    assert total.key == "Total" and total.count == 3 and total.self_cpu_time_total == 120 == tree().self_cpu_time_total


def test_trees_from_times():
    events = EventList(
        [
            FunctionEvent(i, str(i), thread, a, b)
            for i, thread, a, b in [(1, 0, 0, 10), (2, 0, 2, 4), (3, 0, 4, 9), (4, 0, 5, 6), (5, 1, 5, 6), (6, 0, 10, 12)]
        ]
    )
    events._build_tree()
    assert [e.cpu_parent.name if e.cpu_parent else None for e in events] == [None, "1", "1", "3", None, None]


def rows(table):
    lines = table.splitlines()
    rules = [i for i, line in enumerate(lines) if line.startswith("---")]
    return lines[rules[0] + 1].split("  "), [
        line.split()[0] for line in lines[rules[1] + 1 : rules[2]] if line[: len(lines[rules[0]].split()[0])].strip()
    ]


def test_tables_sort_limit_and_say_so():
    averages = tree().key_averages()
    assert rows(averages.table(sort_by="count"))[1] == ["child", "parent"]
    assert rows(averages.table(sort_by="cpu_time_total", row_limit=1))[1] == ["parent"]
    assert rows(averages.table(row_limit=-1))[1] == ["parent", "child"]
    assert rows(tree().table(top_level_events_only=True))[1] == ["parent", "child"]
    text = averages.table(header="A HEADER", time_unit="ms")
    assert text.splitlines()[1] == "A HEADER" and "0.100ms" in text and "Self CPU time total: 0.120ms" in text
    with pytest.raises(AttributeError, match="nope"):
        averages.table(sort_by="nope")
    with pytest.raises(ValueError, match="time_unit"):
        averages.table(time_unit="h")


def test_names_of_devices_sort_as_the_device_and_nothing_is_printed(recwarn):
    slow, fast = FunctionEvent(1, "slow", 0, 0, 1, use_device="cuda"), FunctionEvent(2, "fast", 0, 0, 1, use_device="cuda")
    fast.append_kernel("k", 0, 1)
    slow.append_kernel("k", 0, 5)
    slow.device_memory_usage = 8
    for metric in ("time", "time_total", "memory_usage"):
        for kind in ("cuda", "xpu", "privateuse1"):
            assert rows(EventList([fast, slow]).table(sort_by=f"{kind}_{metric}"))[1] == ["slow", "fast"]
    for metric in ("time_total", "memory_usage"):
        assert rows(EventList([fast, slow]).table(sort_by=f"self_cuda_{metric}"))[1] == ["slow", "fast"]
    assert not recwarn.list and not hasattr(FunctionEvent, "extra_meta")


def test_columns_show_what_there_is():
    titles = [t.strip() for t in rows(tree().table())[0] if t.strip()]
    assert titles == [
        "Name",
        "Self CPU %",
        "Self CPU",
        "CPU total %",
        "CPU total",
        "CPU time avg",
        "CPU Mem",
        "Self CPU Mem",
        "# of Calls",
        "Input Shapes",
        "Source Location",
        "Total FLOPs",
    ]
    bare = EventList([FunctionEvent(1, "op", 0, 0, 1)])
    assert [t.strip() for t in rows(bare.table())[0] if t.strip()] == [
        "Name",
        "Self CPU %",
        "Self CPU",
        "CPU total %",
        "CPU total",
        "CPU time avg",
        "# of Calls",
    ]
    event = FunctionEvent(1, "op", 0, 0, 1, use_device="cuda", node_id=3)
    event.append_kernel("k", 0, 2000)
    with_device = EventList([event], use_device="cuda").table()
    assert "Self CUDA %" in with_device and "Self CUDA time total: 2.000ms" in with_device and "Node ID" in with_device


def test_lines_of_a_table_are_equally_long_and_long_text_is_cut():
    event = FunctionEvent(1, "n" * 100, 0, 0, 1, input_shapes=[[1] * 60], stack=["/long" * 40 + "/f.py(1): f"])
    lines = EventList([event]).table().splitlines()
    assert len({len(line) for line in lines[:5]}) == 1
    assert "n" * 52 + "..." in lines[3] and "...g/long" in lines[3] and "f.py(1): f" in lines[3]
    assert "n" * 17 + "... " in EventList([event]).table(max_name_column_width=20)


def test_stacks_have_a_line_for_each_frame():
    event = FunctionEvent(1, "op", 0, 0, 1, stack=["f.py(3): inner", "f.py(9): outer"])
    event_of_one = FunctionEvent(2, "two", 0, 1, 2, stack=["g.py(1): alone"])
    lines = EventList([event, event_of_one]).table().splitlines()
    assert lines[1].rstrip().endswith("Source Location") and len({len(line) for line in lines[:7]}) == 1
    assert [line.split()[-2:] for line in lines[3:7]] == [
        ["f.py(3):", "inner"],
        ["f.py(9):", "outer"],
        [],
        ["g.py(1):", "alone"],
    ]


def test_flops_have_the_unit_of_the_largest():
    events = EventList([FunctionEvent(i, str(i), 0, 0, 1, flops=f) for i, f in enumerate([2_500_000, 0, 999])])
    text = events.table()
    assert "Total MFLOPs" in text and "2.500" in text and "--" in text and "0.001" in text


@pytest.mark.parametrize(("us", "text"), [(0.5, "0.500us"), (1500, "1.500ms"), (2e6, "2.000s")])
def test_times_have_units(us, text):
    assert FunctionEvent(1, "op", 0, 0, us).cpu_time_str == text


@pytest.mark.parametrize(
    ("bytes", "text"), [(0, "0 B"), (-512, "-512 B"), (2048, "2.00 KB"), (3 << 20, "3.00 MB"), (5 << 30, "5.00 GB")]
)
def test_bytes_have_units(bytes, text):
    assert text in EventList([FunctionEvent(1, "op", 0, 0, 1, cpu_memory_usage=bytes)], profile_memory=True).table()


def test_notebooks_get_a_table():
    events = EventList([FunctionEvent(1, "<b>", 0, 0, 1)])
    html = events._repr_html_()
    assert html.startswith("<table>") and "&lt;b&gt;" in html and "<b>" not in html and "Self CPU time total" in html


def test_metadata_of_kernels():
    event = FunctionEvent(
        1,
        "k",
        0,
        0,
        1,
        extra_meta={"stream": "7", "grid": "[4, 1, 1]", "blocks per SM": "0.5", "unknown": "x", "queued": "late"},
    )
    meta = event.event_metadata
    assert (meta.stream, meta.grid, meta.blocks_per_sm, meta.queued, meta.bytes) == (7, [4, 1, 1], 0.5, None, None)
    assert '"stream": "7"' in event.metadata_json and FunctionEvent(1, "k", 0, 0, 1).event_metadata is None


def test_names_of_cpp_are_demangled():
    names = util.StringTable()
    assert names["t"] == "t" and names["mul"] == "mul" and names["_Znope"] == "_Znope"
    assert names["_ZN2at3mulEi"] in ("at::mul(int)", "_ZN2at3mulEi") and "_ZN2at3mulEi" in names


def test_memory_records_by_time():
    class Record:
        def __init__(self, time):
            self.time = time

        def start_ns(self):
            return self.time

    found = util.MemRecordsAcc([(Record(t), t) for t in (9, 1, 3, 5)])
    assert [t for _, t in found.in_interval(1, 5)] == [1, 3, 5] and list(found.in_interval(6, 8)) == []


def test_reprs():
    event = FunctionEvent(1, "op", 0, 0, 10)
    assert "id=1 name=op" in repr(event) and "cpu_time=10.000us" in repr(event)
    assert "key=op" in repr(EventList([event]).key_averages()[0]) and repr(util.Interval(1, 2)) == "Interval(1, 2)"
    assert util.Interval(12.4, 14.183).elapsed_us() == 1.783  # not 1.7829999999999995


def test_differences_of_two_profiles():
    before = EventList([FunctionEvent(1, "same", 0, 0, 10), FunctionEvent(2, "gone", 0, 20, 50)])
    after = EventList(
        [FunctionEvent(1, "same", 0, 0, 14), FunctionEvent(2, "same", 0, 20, 22), FunctionEvent(3, "new", 0, 30, 31)]
    )
    diff = before.diff(after)
    assert [(c.key, c.count, c.time_change) for c in diff.changes] == [
        ("gone", (1, 0), -30),
        ("same", (1, 2), 6),
        ("new", (0, 1), 1),
    ]
    text = str(diff)
    assert "-30.000us" in text and "1.60x" in text and "new" in text and "40.000us -> 17.000us (0.42x)" in text
    assert "Mem" not in text and diff._repr_html_().startswith("<table>")
    assert len(diff.table(row_limit=1).splitlines()) == len(text.splitlines()) - 2


def test_a_planted_change_shows_in_the_difference():
    def run(n):
        with ad.autograd.profiler.profile(profile_memory=True) as prof:
            for _ in range(n):
                ad.ones(100).sin()
        return prof

    changes = {c.key: c for c in run(1).diff(run(5)).changes}
    assert changes["aten::sin"].count == (1, 5) and changes["aten::sin"].self_cpu_memory_usage == (400, 2000)
