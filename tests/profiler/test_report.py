"""The HTML report: one file without references to others, with all that the profile knows."""

import json
import re
from html.parser import HTMLParser

import pytest

import adjoint as ad
from adjoint.autograd import profiler
from adjoint.profiler import profile

VOID = {"meta", "input", "link", "br", "img"}


class Page(HTMLParser):
    """Tags that nest, attributes that refer elsewhere, and the text of scripts."""

    def __init__(self, text):
        super().__init__()
        self.open, self.references, self.scripts = [], [], {}
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        facts = dict(attributes)
        self.references += [facts[k] for k in ("src", "href", "action") if k in facts]
        if tag not in VOID:
            self.open.append((tag, facts))

    def handle_endtag(self, tag):
        assert self.open.pop()[0] == tag

    def handle_data(self, data):
        if self.open and self.open[-1][0] == "script":
            self.scripts[self.open[-1][1].get("id", "code")] = data


def report(prof, tmp_path, **options):
    prof.html(tmp_path / "report.html", **options)
    text = (tmp_path / "report.html").read_text(encoding="utf-8")
    page = Page(text)
    return text, page, json.loads(page.scripts["data"])


@pytest.fixture
def prof():
    x = ad.randn(8, 8, requires_grad=True)
    with profiler.profile(record_shapes=True, profile_memory=True, with_flops=True, with_stack=True) as prof:
        with profiler.record_function("</script><b>label"):
            y = (x @ x).sum()
        y.backward()
    return prof


def test_one_file_without_network(prof, tmp_path):
    text, page, _ = report(prof, tmp_path, title="<Mine>")
    assert not page.references and not page.open
    assert not re.search(r"https?:|@import|url\(|fetch\(|import\(|\{\{", text)
    assert text.count("&lt;Mine&gt;") == 2 and "<Mine>" not in text and "<b>" not in text


def test_events_are_rows(prof, tmp_path):
    _, _, data = report(prof, tmp_path)
    shown = [e for e in prof.function_events if e.name != "[memory]"]
    assert len(data["events"]) == len(shown)
    for row, event in zip(data["events"], shown, strict=True):
        name, start, length, depth, lane, kind, sequence, detail, _ = row
        assert data["names"][name] == event.name and data["lanes"][lane] == f"thread {event.thread}"
        assert (start, length) == pytest.approx((event.time_range.start, event.time_range.elapsed_us()), abs=1e-3)
        parents = 0
        while event.cpu_parent is not None:
            event, parents = event.cpu_parent, parents + 1
        assert depth == parents and 0 <= kind < len(data["kinds"]) and detail < len(data["details"])
    kinds = {data["names"][row[0]]: data["kinds"][row[5]] for row in data["events"]}
    assert kinds["aten::mm"] == "call" and kinds["MmBackward0"] == "node of backward" and kinds["</script><b>label"] == "label"
    assert {kind for name, kind in kinds.items() if name.startswith("autograd::engine")} == {"engine"}
    numbers = {data["names"][row[0]]: row[6] for row in data["events"]}
    assert numbers["SumBackward0"] == numbers["aten::sum"] >= 0


def test_table_memory_and_summary(prof, tmp_path):
    _, _, data = report(prof, tmp_path)
    columns, rows = data["table"]["columns"], data["table"]["rows"]
    assert columns[-2:] == ["Self memory", "MFLOPs"] and all(len(row) == len(columns) for row in rows)
    assert sum(row[3] for row in rows) == pytest.approx(100)
    assert [live for _, live in data["memory"]["cpu"]] == [live for _, live in prof.memory_curve()]
    assert dict(data["summary"]).keys() >= {"CPU time in events", "peak memory", "events"}
    assert any("shapes [[8, 8], [8, 8]]" in d and __file__ in d for d in data["details"])


def test_profiles_without_anything(tmp_path):
    with profile() as prof:
        pass
    _, _, data = report(prof, tmp_path)
    assert data["events"] == [] and data["memory"] == {} and data["table"]["rows"] == []
