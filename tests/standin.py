"""The stand-in for NVIDIA's driver, which a process chooses before anything asks for a GPU."""

import hashlib
import os
import subprocess
import tempfile
from pathlib import Path

SOURCE = Path(__file__).parent / "cuda" / "standin_driver.cpp"


def build_driver() -> Path:
    """The stand-in as a shared library; one build for all processes of the same sources."""
    text = b"".join(part.read_bytes() for part in sorted(SOURCE.parent.glob("standin_*")))
    built = Path(tempfile.gettempdir()) / f"adjoint-standin-{os.getuid()}-{hashlib.sha256(text).hexdigest()[:16]}.so"
    if not built.exists():
        with tempfile.NamedTemporaryFile(dir=built.parent, suffix=".so", delete=False) as partial:
            command = [os.environ.get("CXX", "c++"), "-std=c++17", "-O1", "-shared", "-fPIC", str(SOURCE), "-o", partial.name]
            subprocess.run(command, check=True)
        os.replace(partial.name, built)
    return built


def choose_driver(kernels: str) -> None:
    """The stand-in as the driver of this process, and the module that its kernels come from."""
    os.environ["ADJOINT_CUDA_DRIVER"] = str(build_driver())
    import adjoint  # after the driver is chosen

    adjoint.cuda.load_kernels_from(kernels)
