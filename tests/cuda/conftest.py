"""These tests run on a stand-in for the NVIDIA driver: it is built here and chosen before anything asks for a GPU."""

import hashlib
import os
import subprocess
import tempfile
from pathlib import Path

HERE = Path(__file__).parent


def build_driver() -> Path:
    """The stand-in as a shared library; one build for all processes of a source."""
    source = HERE / "standin_driver.cpp"
    text = source.read_bytes()
    built = Path(tempfile.gettempdir()) / f"adjoint-standin-{os.getuid()}-{hash_of(text)}.so"
    if not built.exists():
        with tempfile.NamedTemporaryFile(dir=built.parent, suffix=".so", delete=False) as partial:
            command = [os.environ.get("CXX", "c++"), "-std=c++17", "-O1", "-shared", "-fPIC", str(source), "-o", partial.name]
            subprocess.run(command, check=True)
        os.replace(partial.name, built)
    return built


def hash_of(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:16]


os.environ["ADJOINT_CUDA_DRIVER"] = str(build_driver())

import adjoint  # noqa: E402  (after the driver is chosen)

adjoint.cuda.load_kernels_from("no_kernels_in_these_tests")  # Triton may be installed or not
