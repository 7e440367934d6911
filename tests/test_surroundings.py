"""The same program in poor surroundings: it must run, and give the same bits as at home."""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

LINUX = sys.platform == "linux"
needs_linux = pytest.mark.skipif(not LINUX, reason="uses Linux's calls to make the surroundings")

# Trains, prints, saves and loads, profiles; large enough for kernels in threads. Prints what must be the same everywhere.
PROGRAM = """
import hashlib, io, sys, threading
import adjoint as ad
ad.manual_seed(1)
model = ad.nn.Sequential(ad.nn.Linear(200, 300), ad.nn.Tanh(), ad.nn.Linear(300, 1))
optimizer = ad.optim.Adam(model.parameters(), lr=0.01)
x = ad.randn(400, 200)
with ad.autograd.profiler.profile() as profile:
    for _ in range(3):
        optimizer.zero_grad()
        loss = ((model(x) - x.sum(1, keepdim=True)) ** 2).mean()
        loss.backward()
        optimizer.step()
assert "matmul" in profile.key_averages().table() or "addmm" in profile.key_averages().table()
assert all(event.cpu_time_total >= 0 for event in profile.key_averages())
file = io.BytesIO()
ad.save(model.state_dict(), file)
file.seek(0)
parameters = ad.load(file).values()
digest = hashlib.sha256()
for p in parameters:
    for number in p.flatten().tolist():
        digest.update(float.hex(number).encode())
print(digest.hexdigest(), ad.tensor([1.5, -2.25e-7, 1e20]), ad.linalg.eigvalsh(ad.eye(3)).sum().item())
"""


def python(program: str, *options: str, env: dict[str, str] | None = None, **how: Any) -> str:
    """Its output in a process of its own, with `env` beside the usual variables."""
    command = [sys.executable, *options, "-c", program]
    done = subprocess.run(
        command, env={**os.environ, **(env or {})}, capture_output=True, text=True, encoding="utf-8", check=False, **how
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


@functools.cache
def at_home() -> str:
    return python(PROGRAM)


@pytest.mark.parametrize("options", ["-O", "-OO", "-I", "-B", "-E", "-X dev", "-X utf8=0", "-W error", "-X importtime"])
def test_options_of_python(options: str) -> None:
    assert python(PROGRAM, *options.split(" ", 1)) == at_home()


THREADS = ["0", "-1", "", "two", "1", "3", "2,1", "64", "1000000000", "99999999999999999999999", "1e3", "٣"]


@pytest.mark.parametrize("variable", ["ADJOINT_NUM_THREADS", "OMP_NUM_THREADS"])
@pytest.mark.parametrize("value", THREADS)
def test_numbers_of_threads(variable: str, value: str) -> None:
    assert python(PROGRAM, env={variable: value}) == at_home()


@pytest.mark.parametrize(
    "env",
    [
        {"PYTHONHASHSEED": "random"},
        {"PYTHONHASHSEED": "4294967295"},
        {"HOME": "/dev/null", "XDG_CACHE_HOME": "/dev/null/cache", "TRITON_CACHE_DIR": "/dev/null/triton"},
        {"HOME": "", "TMPDIR": "/nowhere", "PYTHONDONTWRITEBYTECODE": "1"},
        {"LC_ALL": "C", "LANG": ""},
        {"LC_ALL": "no_SUCH.locale"},
        {"TZ": "Antarctica/Troll"},
        {"PATH": "/nowhere"},
        {"OPENBLAS_NUM_THREADS": "7", "OPENBLAS_CORETYPE": "Atom", "OPENBLAS_L2_SIZE": "-1", "GOTO_NUM_THREADS": "x"},
        {"OMP_PROC_BIND": "true", "OMP_PLACES": "cores", "KMP_AFFINITY": "nonsense", "MKL_NUM_THREADS": "-5"},
        {"COLUMNS": "1", "TERM": "dumb", "NO_COLOR": "1"},
        {"CUDA_VISIBLE_DEVICES": "17", "PYTHONMALLOC": "debug"},
    ],
    ids=lambda env: next(iter(env)),
)
def test_environment(env: dict[str, str]) -> None:
    assert python(PROGRAM, env=env) == at_home()


def test_nothing_in_the_environment() -> None:
    command = [sys.executable, "-c", PROGRAM]
    done = subprocess.run(command, env={}, capture_output=True, text=True, encoding="utf-8", check=False)
    assert done.stdout == at_home(), done.stderr


def test_locale_with_commas(tmp_path: Path) -> None:
    if not (localedef := shutil.which("localedef")):
        pytest.skip("localedef is not installed, so there is no locale with decimal commas to try")
    made = subprocess.run([localedef, "-i", "de_DE", "-f", "UTF-8", tmp_path / "de_DE.UTF-8"], capture_output=True, check=False)
    if made.returncode:
        pytest.skip("localedef has no sources of the locale de_DE")
    program = "import locale; locale.setlocale(locale.LC_ALL, ''); assert locale.str(0.5) == '0,5'\n" + PROGRAM
    assert python(program, env={"LOCPATH": str(tmp_path), "LC_ALL": "de_DE.UTF-8"}) == at_home()


@needs_linux
def test_one_core() -> None:
    first = min(os.sched_getaffinity(0))
    pinned = f"import os; os.sched_setaffinity(0, {{{first}}})\n"
    clean = {"ADJOINT_NUM_THREADS": "", "OMP_NUM_THREADS": ""}
    assert python(pinned + PROGRAM, env=clean) == at_home()
    assert python(pinned + "import adjoint; print(adjoint.get_num_threads())", env=clean) == "1\n"


@pytest.fixture
def half_a_core() -> Iterator[Path]:
    """A control group whose processes together get half a core."""
    groups = Path("/sys/fs/cgroup")
    group, limits = groups / f"adjoint-{os.getpid()}", {"cpu.max": "50000 100000"}
    if (groups / "cpu").is_dir():  # the first version: a hierarchy for each controller
        group, limits = groups / "cpu" / group.name, {"cpu.cfs_period_us": "100000", "cpu.cfs_quota_us": "50000"}
    try:
        group.mkdir()
    except OSError as error:
        pytest.skip(f"no control group can be made here: {error}")
    try:
        for name, limit in limits.items():
            try:
                (group / name).write_text(limit)
            except OSError as error:
                pytest.skip(f"processor time can't be limited here: {error}")
        yield group
    finally:
        group.rmdir()


@needs_linux
def test_half_a_core(half_a_core: Path) -> None:
    """Threads follow what the container may use, not what the machine has."""
    entered = f"import os; open({str(half_a_core / 'cgroup.procs')!r}, 'w').write(str(os.getpid()))\n"
    plain = {name: "" for name in ("ADJOINT_NUM_THREADS", "OMP_NUM_THREADS")}
    assert python(f"{entered}import adjoint as ad; print(ad.get_num_threads())", env=plain) == "1\n"
    assert python(entered + PROGRAM, env=plain) == at_home()


def test_no_network() -> None:
    audit = """
import sys
def refuse(event, arguments):
    if event.startswith("socket.") and event != "socket.__new__":
        raise RuntimeError(f"a program that uses the network: {event} {arguments}")
sys.addaudithook(refuse)
"""
    assert python(audit + PROGRAM) == at_home()


def test_no_current_folder_and_no_input(tmp_path: Path) -> None:
    gone = f"import os; os.mkdir({str(tmp_path / 'gone')!r}); os.chdir({str(tmp_path / 'gone')!r}); os.rmdir({str(tmp_path / 'gone')!r})\n"
    assert python(gone + PROGRAM, stdin=subprocess.DEVNULL) == at_home()


def copy_of_the_install(folder: Path) -> Path:
    """The packages as an installer would put them, in `folder`."""
    site = Path(sysconfig.get_path("platlib"))
    for package in [*site.glob("adjoint*"), *site.glob("scipy_openblas32"), *site.glob("nanobind*")]:
        if package.is_dir():
            shutil.copytree(package, folder / package.name, ignore=shutil.ignore_patterns("__pycache__"))
    return folder


def test_path_with_spaces_and_letters_of_others(tmp_path: Path) -> None:
    folder = copy_of_the_install(tmp_path / "a place with späces, ключ and 'quotes'")
    where = "import adjoint, sys; assert 'späces' in adjoint.__file__, adjoint.__file__\n"
    assert python(where + PROGRAM, env={"PYTHONPATH": str(folder)}) == at_home()


def keep_to_permissions() -> None:
    """What is run next may not write to read-only files, even if it is the superuser: CAP_DAC_OVERRIDE leaves the bounding set."""
    import ctypes

    PR_CAPBSET_DROP, CAP_DAC_OVERRIDE = 24, 1
    ctypes.CDLL(None).prctl(PR_CAPBSET_DROP, CAP_DAC_OVERRIDE, 0, 0, 0)


@needs_linux
def test_read_only_install(tmp_path: Path) -> None:
    folder = copy_of_the_install(tmp_path / "site")
    for path in [*folder.rglob("*"), folder]:
        path.chmod(0o555 if path.is_dir() else 0o444)
    refused = """import adjoint
from pathlib import Path
try: Path(adjoint.__file__).write_text("")
except PermissionError: pass
else: raise SystemExit("the install could be written")
"""
    try:
        environment = {"PYTHONPATH": str(folder), "HOME": "/nonexistent"}
        assert python(refused + PROGRAM, env=environment, preexec_fn=keep_to_permissions) == at_home()
    finally:
        for path in [folder, *folder.rglob("*")]:
            path.chmod(0o755)


SHIM = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sys/time.h>
#include <time.h>
static long jumps;
static time_t jumped(void) { return (++jumps % 2) ? 0 : 4000000000L; }
int gettimeofday(struct timeval *t, void *zone) { t->tv_sec = jumped(); t->tv_usec = 0; return 0; }
time_t time(time_t *t) { time_t now = jumped(); if (t) *t = now; return now; }
int clock_gettime(clockid_t clock, struct timespec *t) {
  static int (*real)(clockid_t, struct timespec *);
  if (!real) real = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
  if (clock != CLOCK_REALTIME) return real(clock, t);
  t->tv_sec = jumped(); t->tv_nsec = 0; return 0;
}
"""


@needs_linux
def test_clock_that_jumps(tmp_path: Path) -> None:
    if not (compiler := shutil.which("cc")):
        pytest.skip("needs a C compiler for a clock of its own")
    (tmp_path / "clock.c").write_text(SHIM)
    subprocess.run([compiler, "-shared", "-fPIC", "-o", tmp_path / "clock.so", tmp_path / "clock.c", "-ldl"], check=True)
    jumps = "import time; a, b = time.time(), time.time(); assert abs(b - a) > 1e9\n"
    before = os.environ.get("LD_PRELOAD", "")
    preload = {"LD_PRELOAD": f"{before} {tmp_path / 'clock.so'}".strip()}
    assert python(jumps + PROGRAM, env=preload) == at_home()


FORKS = """
import os, threading, time
import adjoint as ad
ad.set_num_threads(3)
x = ad.randn(600, 600, requires_grad=True)
expected = (x @ x).sum().item()
stop = threading.Event()
def work():
    while not stop.is_set():
        (x @ x).sum().backward()
threads = [threading.Thread(target=work, daemon=True) for _ in range(2)]
for t in threads: t.start()
for attempt in range(12):
    child = os.fork()
    if child == 0:
        y = x.detach().clone().requires_grad_()
        ok = (y @ y).sum().item() == expected
        (y @ y).sum().backward()
        os._exit(0 if ok and y.grad is not None and ad.get_num_threads() == 3 else 1)
    deadline = time.monotonic() + 60
    while True:
        done, status = os.waitpid(child, os.WNOHANG)
        if done: break
        if time.monotonic() > deadline:
            os.kill(child, 9); raise SystemExit("a child hangs")
        time.sleep(0.01)
    assert status == 0, status
stop.set()
for t in threads: t.join()
print("ok")
"""


@needs_linux
def test_fork_in_the_middle_of_work() -> None:
    """Children of a process whose threads and kernels are at work can compute, and end."""
    assert python(FORKS, "-W", "ignore::DeprecationWarning") == "ok\n"


@needs_linux
def test_a_gigabyte_is_enough() -> None:
    """The tests of every operation's value and derivative, in a process that may not have more."""
    import resource

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_DATA, (1 << 30, 1 << 30))

    root = Path(__file__).parents[1]
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-x",
        "-p",
        "no:cacheprovider",
        "tests/test_every_op.py",
        "-k",
        "value or vjp",
    ]
    done = subprocess.run(command, cwd=root, preexec_fn=limit, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-3000:]


EVERYTHING = """
import importlib, pkgutil, adjoint, adjoint_core, adjoint_engine, adjoint_functional, adjoint_profiler
for package in (adjoint_core, adjoint_engine, adjoint_functional, adjoint_profiler, adjoint):
    for module in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
        last = module.name.rpartition(".")[2]
        if last in ("as_torch", "__main__") or last.startswith("lib"): continue  # an alias, a program, and no module
        try: importlib.import_module(module.name)
        except ModuleNotFoundError as error: assert not error.name.startswith("adjoint"), error
print("ok")
"""


def test_every_module_without_docstrings() -> None:
    assert python(EVERYTHING, "-OO") == "ok\n"
