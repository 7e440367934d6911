"""What a release uploads, made and tried: python tools/release.py dist release [--python PYTHON ...]

Wheels of `dist` for Linux are renamed by the oldest manylinux that their symbols keep to (auditwheel says which, and refuses those that a platform
forbids), sdists are made beside them, descriptions checked (twine). Then each sdist builds a wheel by itself, and for each Python the wheels are
installed into a new environment in which no compiler is found, where a model is trained.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
OURS = ("core", "engine", "kernels-cpu", "functional", "profiler", "kernels-triton", "adjoint")
FROM_ELSEWHERE = ("libadjoint_core*.so*", "libadjoint_engine*.so*", "libscipy_openblas*.so*")  # in wheels that ours depend on
TRIAL = """
import adjoint as ad
ad.manual_seed(0)
x = ad.linspace(-1, 1, 64).unsqueeze(1)
model = ad.nn.Sequential(ad.nn.Linear(1, 32), ad.nn.Tanh(), ad.nn.Linear(32, 1))
optimizer = ad.optim.Adam(model.parameters(), lr=0.02)
for _ in range(300):
    optimizer.zero_grad()
    loss = (model(x) - (3 * x).sin()).square().mean()
    loss.backward()
    optimizer.step()
assert loss.item() < 1e-2, loss
assert ad.autograd.gradcheck(ad.linalg.solve, (ad.rand(3, 3, dtype=ad.float64, requires_grad=True), ad.rand(3, dtype=ad.float64)))
print(f"adjoint {ad.__version__} learns: {loss.item():.4f}")
"""


def run(*command: object, **environment: str) -> None:
    print("+", *command, flush=True)
    subprocess.run([str(c) for c in command], check=True, env={**os.environ, **environment})


def rename(wheel: Path, release: Path) -> None:
    """Copies a wheel; with the name of the manylinux that it keeps to, if it holds compiled code."""
    if wheel.name.endswith("-any.whl"):
        shutil.copy(wheel, release)
    else:
        excluded = [word for name in FROM_ELSEWHERE for word in ("--exclude", name)]
        run(sys.executable, "-m", "auditwheel", "repair", *excluded, "--only-plat", "-w", release, wheel)


def make_sdists(release: Path) -> list[Path]:
    for package in OURS:  # nothing is compiled: engine and kernels-cpu do not need core here
        unasked = ("--no-isolation", "--skip-dependency-check")
        run(sys.executable, "-m", "build", "--sdist", *unasked, "-o", release, ROOT / "packages" / package)
    return sorted(release.glob("*.tar.gz"))


def build_alone(sdist: Path, release: Path) -> None:
    """A wheel from an sdist, in an environment that pip makes of what the sdist asks for."""
    with tempfile.TemporaryDirectory() as folder:
        run(
            sys.executable,
            "-m",
            "pip",
            "wheel",
            "-q",
            "--no-deps",
            "--find-links",
            release,
            "-w",
            folder,
            sdist,
            PIP_FIND_LINKS=str(release),
        )


def try_in(python: str, release: Path) -> None:
    """Installs the wheels where there is no compiler, and trains."""
    with tempfile.TemporaryDirectory() as folder:
        run(python, "-m", "venv", folder)
        bare = {"PATH": f"{folder}/bin", "CC": "/nonexistent", "CXX": "/nonexistent"}
        inside = f"{folder}/bin/python"
        run(
            inside,
            "-m",
            "pip",
            "install",
            "-q",
            "--disable-pip-version-check",
            "--only-binary",
            ":all:",
            "--find-links",
            release,
            "adjoint",
            **bare,
        )
        run(inside, "-I", "-W", "error", "-c", TRIAL, **bare)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("dist", type=Path)
    parser.add_argument("release", type=Path)
    parser.add_argument("--python", nargs="*", default=[sys.executable])
    given = parser.parse_args()
    release = given.release.resolve()
    shutil.rmtree(release, ignore_errors=True)
    release.mkdir(parents=True)
    for wheel in sorted(given.dist.glob("*.whl")):
        rename(wheel, release)
    sdists = make_sdists(release)
    run(sys.executable, "-m", "twine", "check", "--strict", *sorted(release.iterdir()))
    for python in given.python:
        try_in(python, release)
    for sdist in sdists:
        build_alone(sdist, release)
    for path in sorted(release.iterdir()):
        print(f"{path.stat().st_size / 1e6:6.2f} MB  {path.name}")


if __name__ == "__main__":
    main()
