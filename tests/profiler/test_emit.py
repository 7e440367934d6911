"""emit_nvtx and emit_itt, seen by injection libraries that write down what a vendor's tool would be told."""

import os
import re
import shutil
import subprocess
import sys

import pytest

import adjoint as ad
from adjoint.autograd import profiler

COMPILER = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
pytestmark = pytest.mark.skipif(not COMPILER or sys.platform != "linux", reason="needs a C compiler on Linux")

# What both have in common: lines "push TEXT" and "pop" in a file.
WRITE = r"""
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static void line(const char* a, const char* b) {
  FILE* f = fopen(getenv("RECORDING"), "a");
  fprintf(f, "%s%s\n", a, b);
  fclose(f);
}
"""

# NVTX 3: the tool puts its functions into the tables that the package hands out. Numbers and layouts: nvtxTypes.h.
NVTX = (
    WRITE
    + r"""
typedef struct {
  uint16_t version, size;
  uint32_t category;
  int32_t color_type;
  uint32_t color;
  int32_t payload_type, reserved;
  uint64_t payload;
  int32_t message_type;
  const char* message;
} Attributes;
static void* create_domain(const char* name) { return strdup(name); }
static void* register_string(void* domain, const char* text) { return strdup(text); }
static int push(void* domain, const Attributes* a) { line("push ", a->message); return 0; }
static int pop(void* domain) { line("pop", ""); return 0; }
typedef struct {
  size_t size;
  int (*module_table)(int module, void**** table, unsigned* count);
} Callbacks;
int InitializeInjectionNvtx2(const void* (*export_table)(uint32_t)) {
  const Callbacks* callbacks = export_table(1);
  void*** table;
  unsigned count;
  if (!callbacks || !callbacks->module_table(5, &table, &count) || count < 13) return 0;  /* the module of domains */
  *table[4] = (void*)push;
  *table[5] = (void*)pop;
  *table[10] = (void*)register_string;
  *table[12] = (void*)create_domain;
  return 1;
}
"""
)

# ITT: the static part looks the functions up in the tool's library by their names. Layouts: ittnotify.h.
ITT = (
    WRITE
    + r"""
typedef struct { volatile int flags; const char* name; void* wide; int extra1; void *extra2, *next; } Domain;
typedef struct { const char* text; void* wide; int extra1; void *extra2, *next; } String;
typedef struct { unsigned long long d1, d2, d3; } Id;
const char* __itt_api_version(void) { return "1"; }  /* from this version on, all functions are looked up */
Domain* __itt_domain_create(const char* name) {
  Domain* d = calloc(1, sizeof *d);
  d->flags = 1;
  d->name = strdup(name);
  return d;
}
String* __itt_string_handle_create(const char* text) {
  String* s = calloc(1, sizeof *s);
  s->text = strdup(text);
  return s;
}
void __itt_task_begin(const Domain* d, Id task, Id parent, String* name) { line("push ", name->text); }
void __itt_task_end(const Domain* d) { line("pop", ""); }
"""
)

TOOLS = {"nvtx": (NVTX, "nvtx", "NVTX_INJECTION64_PATH"), "itt": (ITT, "ittapi", "INTEL_LIBITTNOTIFY64")}


@pytest.fixture
def recorded(tmp_path):
    """Runs a program under a tool's emit and returns the lines that the tool wrote."""

    def record(tool, program, arguments=""):
        source, package, variable = TOOLS[tool]
        pytest.importorskip(package)
        library, recording = tmp_path / "tool.so", tmp_path / "recording"
        (tmp_path / "tool.c").write_text(source)
        subprocess.run([COMPILER, "-shared", "-fPIC", "-o", library, tmp_path / "tool.c"], check=True)
        body = f"import adjoint as ad\nfrom adjoint.autograd.profiler import *\nwith emit_{tool}({arguments}):\n"
        script = body + "".join(f"    {line}\n" for line in program.splitlines())
        environment = {**os.environ, variable: str(library), "INTEL_ITTNOTIFY_GROUPS": "all", "RECORDING": str(recording)}
        done = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True)
        assert (done.returncode, done.stderr) == (0, "")
        return recording.read_text().splitlines()

    return record


PROGRAM = """x = ad.ones(2, 3, requires_grad=True)
with record_function("mine"):
    y = (x * 2).sin()
y.sum().backward()"""


@pytest.mark.parametrize("tool", TOOLS)
def test_ranges_nest_and_have_names(recorded, tool):
    lines = recorded(tool, PROGRAM)
    depth, parents, seen = 0, [], {}
    for line in lines:
        if line == "pop":
            parents.pop()
            continue
        text = line.removeprefix("push ")
        seen[re.sub(r", seq = \d+", "", text)] = [re.sub(r", seq = \d+", "", p) for p in parents]
        parents.append(text)
    assert depth == 0 and not parents and lines.count("pop") * 2 == len(lines)
    assert seen["aten::mul"][-1].endswith("MulBackward0") and seen["aten::sin"] == ["mine"]
    assert seen["MulBackward0"] == ["autograd::engine::backward", "autograd::engine::evaluate_function: MulBackward0"]


@pytest.mark.parametrize("tool", TOOLS)
def test_calls_and_nodes_have_the_same_number(recorded, tool):
    lines = [line for line in recorded(tool, PROGRAM) if "seq" in line]
    numbers = {re.fullmatch(r"push (.*), seq = (\d+)", line)[1]: int(line.rsplit(" ", 1)[1]) for line in reversed(lines)}
    assert numbers["aten::sin"] == numbers["SinBackward0"] and numbers["aten::mul"] == numbers["MulBackward0"]
    assert numbers["aten::mul"] < numbers["aten::sin"] < numbers["aten::sum"] == numbers["SumBackward0"]


@pytest.mark.parametrize("tool", TOOLS)
def test_double_backward_has_numbers_too(recorded, tool):
    lines = recorded(
        tool,
        """x = ad.ones(2, requires_grad=True)
g, = ad.autograd.grad((x ** 3).sum(), x, create_graph=True)
g.sum().backward()""",
    )
    nodes = re.findall(r"push MulBackward0, seq = (\d+)", "\n".join(lines))
    calls = re.findall(r"push aten::mul, seq = (\d+)", "\n".join(lines))
    assert nodes and set(nodes) <= set(calls)


@pytest.mark.parametrize("tool", TOOLS)
def test_shapes(recorded, tool):
    lines = recorded(tool, "ad.ones(2, 3) * ad.ones(3)\nad.ones(2) * 2", "record_shapes=True")
    products = [line for line in lines if "aten::mul" in line]
    assert [p.split("sizes = ")[1] for p in products] == ["[[2, 3], [3]]", "[[2], []]"]


@pytest.mark.parametrize("tool", TOOLS)
def test_ranges_end_with_errors(recorded, tool):
    lines = recorded(tool, "try: ad.ones(2) + ad.ones(3)\nexcept RuntimeError: pass\nad.ones(1).sin()")
    assert lines[-4:] == ["push aten::ones", "pop", lines[-2], "pop"] and "sin" in lines[-2]
    assert lines.count("pop") * 2 == len(lines)


@pytest.mark.parametrize("emit", [profiler.emit_nvtx, profiler.emit_itt])
def test_disabled_or_entered_twice(emit):
    with emit(enabled=False) as nothing:
        ad.ones(1)
    assert nothing is None
    again = emit()
    again.entered = True
    with pytest.raises(RuntimeError, match="annotation context manager is not reentrant"):
        again.__enter__()


@pytest.mark.parametrize(("emit", "package"), [(profiler.emit_nvtx, "nvtx"), (profiler.emit_itt, "ittapi")])
def test_without_the_package_the_error_names_it(emit, package, monkeypatch):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(RuntimeError, match=f"pip install {package}"):
        emit().__enter__()


@pytest.mark.parametrize("tool", TOOLS)
def test_without_a_tool_nothing_happens(tool):
    pytest.importorskip(TOOLS[tool][1])
    with getattr(profiler, f"emit_{tool}")():
        assert (ad.ones(2) * 2).sum().item() == 4
