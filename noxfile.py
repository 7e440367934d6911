"""Tasks of the repository; `./run TASK` runs one where nox is not installed."""

from pathlib import Path

import nox

nox.options.default_venv_backend = "venv"
nox.options.reuse_venv = "yes"
nox.options.sessions = ["lint", "tests", "demo"]

ROOT = Path(__file__).parent
DIST = ROOT / "dist"
TEST_TOOLS = ["numpy>=1.26", "scipy", "pytest>=8", "pytest-xdist", "hypothesis"]
BUILD_TOOLS = ["scikit-build-core>=1.1,<2", "nanobind>=3.1,<3.2", "nanobind-backend>=1.0", "scipy-openblas32>=0.3.30",
               "hatchling>=1.27", "cmake>=3.26", "ninja"]  # fmt: skip
EXTENSIONS = [
    ("core", "adjoint_core", "_core"),
    ("engine", "adjoint_engine", "_engine"),
    ("kernels-cpu", "adjoint_kernels_cpu", "_kernels"),
]


def install(session: nox.Session, *others: str) -> None:
    """Install the wheels of dist/ and the packages named; a reused environment gets the new wheels."""
    wheels = [str(wheel) for wheel in sorted(DIST.glob("adjoint*.whl")) if "triton" not in wheel.name]
    session.install("--force-reinstall", "--no-deps", *wheels)
    session.install(*wheels, *others)


@nox.session
def wheels(session: nox.Session) -> None:
    """Build the wheels that are out of date into dist/, core first."""
    session.install(*BUILD_TOOLS)
    session.run("python", "tools/wheels.py", str(DIST))


@nox.session(requires=["wheels"])
def demo(session: nox.Session) -> None:
    """Install adjoint and train the digits example."""
    install(session, "numpy>=1.26", "matplotlib", "rich")
    session.run("python", "examples/digits/train.py", *session.posargs)


@nox.session(requires=["wheels"])
def tests(session: nox.Session) -> None:
    """Install every package and run all tests."""
    install(session, *TEST_TOOLS)
    session.run("python", "-m", "pytest", "-q", "-n", "2", *session.posargs)


@nox.session(requires=["wheels"])
def peer(session: nox.Session) -> None:
    """Compare with PyTorch, operation by operation."""
    install(session, *TEST_TOOLS, "torch==2.13.0")
    session.run("python", "-m", "pytest", "-q", "tests/peer", *session.posargs)


@nox.session(requires=["wheels"])
def docs(session: nox.Session) -> None:
    """Run the examples of the docstrings and of docs/."""
    install(session, *TEST_TOOLS)
    session.run("python", "-m", "pytest", "-q", "--doctest-modules", "--pyargs", "adjoint_functional", *session.posargs)
    pages = [str(page) for page in sorted((ROOT / "docs").rglob("*.md"))]
    if pages:
        session.run("python", "-m", "pytest", "-q", "--doctest-glob=*.md", *pages)


@nox.session(requires=["wheels"])
def bench(session: nox.Session) -> None:
    """Run the benchmarks; arguments name some of them."""
    install(session, *TEST_TOOLS)
    names = session.posargs or sorted(path.stem for path in (ROOT / "benchmarks").glob("[!_]*.py"))
    unset = {"OPENBLAS_CORETYPE": None, "OPENBLAS_L2_SIZE": None}  # either would slow OpenBLAS down
    for name in names:
        session.run("python", f"benchmarks/{name}.py", env=unset)


@nox.session(requires=["wheels"])
def stubs(session: nox.Session) -> None:
    """Write the stubs of the C++ modules into the sources; `--check` compares instead."""
    install(session, "nanobind>=3.1,<3.2")
    for folder, package, module in EXTENSIONS:
        committed = ROOT / "packages" / folder / package / f"{module}.pyi"
        output = Path(session.create_tmp()) / committed.name if "--check" in session.posargs else committed
        session.run("python", "-m", "nanobind.stubgen", "-q", "-m", f"{package}.{module}", "-o", str(output))
        if committed.read_text() != output.read_text():
            session.error(f"{committed.relative_to(ROOT)} is out of date: ./run stubs")


@nox.session
def lint(session: nox.Session) -> None:
    """Check style, layers and sizes."""
    session.install("ruff>=0.14")
    session.run("ruff", "check", ".")
    session.run("python", "tools/check_layers.py")
    session.run("python", "tools/size.py")


@nox.session
def sanitize(session: nox.Session) -> None:
    """Build the C++ libraries and their tests with the address and undefined-behaviour sanitizers, and run them."""
    session.install("cmake>=3.26", "ninja")
    build = str(ROOT / "build" / "sanitize")
    options = ["-DADJOINT_SANITIZE=address,undefined", "-DADJOINT_PYTHON=OFF", "-DADJOINT_TESTS=ON", "-DADJOINT_WERROR=ON"]
    session.run("cmake", "-S", str(ROOT), "-B", build, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=RelWithDebInfo", *options)
    session.run("cmake", "--build", build)
    session.run("ctest", "--test-dir", build, "--output-on-failure")


@nox.session(venv_backend="none")
def dev(session: nox.Session) -> None:
    """Build in one tree and install over links to the sources; see tools/dev.sh."""
    session.run("bash", "tools/dev.sh", "-DADJOINT_WERROR=ON", *session.posargs, external=True)
