"""`utils.collect_env`: what the machine, the system and the packages are."""

from __future__ import annotations

import platform
import subprocess
import sys
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path
from typing import NamedTuple

from adjoint_core import cuda

__all__ = ["SystemEnv", "get_env_info", "get_pretty_env_info"]

_PACKAGES = ("adjoint", "numpy", "triton", "mpi4py", "nanobind", "mypy", "pytest", "torch", "optree")


class SystemEnv(NamedTuple):
    """What a report of a fault should say."""

    torch_version: str
    os: str
    libc_version: str
    python_version: str
    python_platform: str
    gcc_version: str | None
    clang_version: str | None
    cmake_version: str | None
    is_cuda_available: str
    cuda_runtime_version: str | None
    nvidia_gpu_models: str | None
    nvidia_driver_version: str | None
    cpu_info: str
    pip_packages: str


def _first_line(command: Sequence[str]) -> str | None:
    """The first line that a program prints; None if it is not there or fails."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=20)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.partition("\n")[0].strip() or None if done.returncode == 0 else None


def _system() -> str:
    release = platform.freedesktop_os_release() if sys.platform == "linux" and Path("/etc/os-release").exists() else {}
    return f"{release.get('PRETTY_NAME', platform.system())} ({platform.machine()})"


def _processor() -> str:
    about = Path("/proc/cpuinfo")
    lines = about.read_text().splitlines() if about.exists() else []
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return f"{models[0]} x {len(models)}" if models else platform.processor() or platform.machine()


def _version() -> str:
    try:
        return f"adjoint {metadata.version('adjoint')}"
    except metadata.PackageNotFoundError:
        return "adjoint, a developer build"


def _packages() -> str:
    found = ((d.metadata["Name"], d.version) for d in metadata.distributions())
    wanted = {(name, version) for name, version in found if name and name.lower().startswith(_PACKAGES)}
    return "\n".join(f"{name}=={version}" for name, version in sorted(wanted))


def get_env_info() -> SystemEnv:
    """Asks the system; what is not installed is None.

    Example::

        >>> ad.utils.collect_env.get_env_info().python_platform.split("-")[0]
        'Linux'
    """
    query = ["nvidia-smi", "--format=csv,noheader"]
    gpu = cuda.is_available()
    return SystemEnv(
        torch_version=_version(),
        os=_system(),
        libc_version="-".join(platform.libc_ver()),
        python_version=f"{sys.version} ({sys.maxsize.bit_length() + 1}-bit runtime)".replace("\n", ""),
        python_platform=platform.platform(),
        gcc_version=_first_line(["gcc", "--version"]),
        clang_version=_first_line(["clang", "--version"]),
        cmake_version=_first_line(["cmake", "--version"]),
        is_cuda_available=str(gpu),
        cuda_runtime_version=_first_line(["nvcc", "--version"]),
        nvidia_gpu_models="\n".join(cuda.get_device_name(i) for i in range(cuda.device_count())) if gpu else None,
        nvidia_driver_version=_first_line([*query, "--query-gpu=driver_version"]),
        cpu_info=_processor(),
        pip_packages=_packages(),
    )


_LABELS = {
    "torch_version": "PyTorch version", "os": "OS", "libc_version": "Libc version", "gcc_version": "GCC version", "clang_version": "Clang version",
    "cmake_version": "CMake version", "python_version": "Python version", "python_platform": "Python platform",
    "is_cuda_available": "Is CUDA available", "cuda_runtime_version": "CUDA runtime version", "nvidia_gpu_models": "GPU models and configuration",
    "nvidia_driver_version": "Nvidia driver version", "cpu_info": "CPU",
}  # fmt: skip


def get_pretty_env_info() -> str:
    """The same as text.

    Example::

        >>> "Python version: 3." in ad.utils.collect_env.get_pretty_env_info()
        True
    """
    info = get_env_info()
    lines = [f"{label}: {getattr(info, field) or 'Could not collect'}" for field, label in _LABELS.items()]
    return "\n".join([*lines, "", "Versions of relevant libraries:", info.pip_packages])


def main() -> None:
    """Prints it."""
    print("Collecting environment information...")
    print(get_pretty_env_info())
