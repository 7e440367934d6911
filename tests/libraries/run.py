"""Runs the tests of libraries written for PyTorch, nothing edited, with torch meaning adjoint.

python run.py FOLDER [NAME ...]                       # fetches them into FOLDER, runs, compares with adjoint.json
python run.py FOLDER --write [NAME ...]               # writes adjoint.json and README.md instead
PYTHON_WITH_TORCH run.py FOLDER --pytorch [NAME ...]  # writes pytorch.json: what passes there
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tarfile
import tomllib
from collections import Counter
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

HERE = Path(__file__).parent
LIBRARIES: dict[str, dict[str, Any]] = tomllib.loads((HERE / "libraries.toml").read_text())
Outcome = dict[str, Any]  # "passed": how many, "failed": the last word of each that does not


def fetch(name: str, folder: Path) -> Path:
    """The unpacked source distribution."""
    wanted = f"{name}-{LIBRARIES[name]['version']}"
    if not (folder / wanted).is_dir():
        options = ["--no-deps", "--no-binary", ":all:", "-d", str(folder)]
        subprocess.run(
            [sys.executable, "-m", "pip", "download", "-q", *options, f"{name}=={LIBRARIES[name]['version']}"], check=True
        )
        with tarfile.open(folder / f"{wanted}.tar.gz") as archive:
            archive.extractall(folder, filter="data")
    return folder / wanted


def outcome(report: Path) -> Outcome:
    """What a report of pytest in JUnit's form says."""
    passed, failed = 0, {}
    for case in ElementTree.parse(report).iter("testcase"):
        wrong = [part for kind in ("failure", "error") if (part := case.find(kind)) is not None]
        if wrong:
            text = re.sub(r"\s+", " ", wrong[0].get("message", "")).removeprefix("collection failure")
            failed[f"{case.get('classname')}::{case.get('name')}"] = text[:160]
        elif case.find("skipped") is None:
            passed += 1
    return {"passed": passed, "failed": failed}


def run(name: str, folder: Path, pytorch: bool) -> Outcome:
    """Runs a library's tests in a process of its own."""
    source, library = fetch(name, folder), LIBRARIES[name]
    report = folder / f"{name}.xml"
    report.unlink(missing_ok=True)
    plugin = [] if pytorch else ["-p", "adjoint.as_torch"]
    options = [
        "-q",
        "-W",
        "ignore",
        "-p",
        "no:cacheprovider",
        "-n",
        "2",
        "--tb=line",
        "-o",
        "junit_family=xunit1",
        f"--junitxml={report}",
    ]
    path = os.pathsep.join(map(str, (source, source / "src", os.environ.get("PYTHONPATH", ""))))
    environment = {**os.environ, "PYTHONPATH": path, "OMP_NUM_THREADS": "1", **library.get("environment", {})}
    command = [sys.executable, "-m", "pytest", *plugin, *options, *library["tests"]]
    subprocess.run(command, cwd=source, env=environment, stdout=subprocess.DEVNULL, check=False)
    if not report.exists():
        raise RuntimeError(f"{name}: pytest wrote no report: {' '.join(command)} in {source}")
    return outcome(report)


def table(pytorch: dict[str, Outcome], here: dict[str, Outcome]) -> str:
    """The page with what passes, and why the rest does not."""
    lines = [
        "# Tests of libraries, with torch meaning adjoint",
        "",
        "Written by run.py: how many of a library's own tests pass on PyTorch 2.13, and of these how many here. Nothing is edited.",
        "",
        "| library | pass on PyTorch | of these pass | |",
        "|---|---|---|---|",
    ]
    reasons = []
    for name in sorted(here):
        total = pytorch[name]["passed"]
        worse = {test: why for test, why in here[name]["failed"].items() if test not in pytorch[name]["failed"]}
        share = 100 * (total - len(worse)) / total
        lines.append(f"| {name} {LIBRARIES[name]['version']} | {total:,} | {total - len(worse):,} | {share:.1f} % |")
        counted = Counter(re.sub(r"\d+\.\d+(e-?\d+)?|0x\w+", "#", why).replace("|", " ") for why in worse.values())
        reasons += [f"| {name} | {n} | {why} |" for why, n in counted.most_common()]
    heads = ["", "What fails, by what it says:", "", "| library | tests | |", "|---|---|---|"]
    return "\n".join(lines + heads + reasons) + "\n" + (HERE / "by_hand.md").read_text()


def main(folder: str, *arguments: str) -> int:
    """The task of the command line; 1 if a test fails that did not."""
    pytorch, write = "--pytorch" in arguments, "--write" in arguments
    names = [argument for argument in arguments if not argument.startswith("-")] or sorted(LIBRARIES)
    Path(folder).mkdir(parents=True, exist_ok=True)
    files = {kind: HERE / f"{kind}.json" for kind in ("pytorch", "adjoint")}
    known = {kind: json.loads(file.read_text()) if file.exists() else {} for kind, file in files.items()}
    new = 0
    for name in names:
        found = run(name, Path(folder).resolve(), pytorch)
        print(f"{name}: {found['passed']} passed, {len(found['failed'])} failed")
        if pytorch or write:
            kind = "pytorch" if pytorch else "adjoint"
            known[kind][name] = found
            files[kind].write_text(json.dumps(known[kind], indent=1, sort_keys=True) + "\n")
            continue
        expected = known["pytorch"][name]["failed"].keys() | known["adjoint"][name]["failed"].keys()
        for test in sorted(found["failed"].keys() - expected):
            print(f"  {test} fails: {found['failed'][test]}")
            new += 1
    if write:
        (HERE / "README.md").write_text(table(known["pytorch"], known["adjoint"]))
    return 1 if new else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
