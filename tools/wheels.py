"""Build the wheels of all packages in order of dependence: python tools/wheels.py dist

Runs in an environment that holds the build tools; core's wheel is installed into it for engine and kernels-cpu to link.
A package is built again when a file of it, or of core for a C++ package, has changed since its wheel was made.
"""

import hashlib
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ["core", "engine", "kernels-cpu", "functional", "profiler", "kernels-triton", "adjoint"]
LINKED_TO_CORE = {"engine", "kernels-cpu"}
SKIPPED = {"build", "tests", "__pycache__"}
PIP = [sys.executable, "-m", "pip", "--disable-pip-version-check", "-q"]


def sources(package: str) -> Iterator[Path]:
    folder = ROOT / "packages" / package
    for path in sorted(folder.rglob("*")):
        if path.is_file() and not SKIPPED & set(path.relative_to(folder).parts):
            yield path


def digest(package: str) -> str:
    sha = hashlib.sha256(sys.version.encode())
    for name in ["core", package] if package in LINKED_TO_CORE else [package]:
        for path in sources(name):
            sha.update(str(path.relative_to(ROOT)).encode())
            sha.update(path.read_bytes())
    return sha.hexdigest()


def wheels_of(package: str, dist: Path) -> list[Path]:
    name = "adjoint" if package == "adjoint" else f"adjoint_{package.replace('-', '_')}"
    return list(dist.glob(f"{name}-*.whl"))


def build(package: str, dist: Path) -> None:
    stamp = dist / f"{package}.sha256"
    wanted = digest(package)
    if wheels_of(package, dist) and stamp.exists() and stamp.read_text() == wanted:
        return
    print("building", package, flush=True)
    stamp.unlink(missing_ok=True)
    for old in wheels_of(package, dist):
        old.unlink()
    source = str(ROOT / "packages" / package)
    environment = os.environ | {"ADJOINT_WHEELHOUSE": "1"}
    subprocess.check_call([*PIP, "wheel", "--no-deps", "--no-build-isolation", "-w", dist, source], env=environment)
    if package == "core":
        subprocess.check_call([*PIP, "install", "--no-deps", "--force-reinstall", *wheels_of(package, dist)])
    stamp.write_text(wanted)


def main() -> None:
    dist = Path(sys.argv[1]).resolve()
    dist.mkdir(parents=True, exist_ok=True)
    for package in PACKAGES:
        build(package, dist)


if __name__ == "__main__":
    main()
