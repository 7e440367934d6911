"""`torch` means adjoint: what programs then see. Each program runs in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest


def run(program: str, tmp_path: Path, *arguments: str, module: bool = False) -> str:
    """What the program prints with `python -m adjoint.as_torch`."""
    file = tmp_path / "program.py"
    file.write_text(program)
    command = ["-m", "program"] if module else [str(file)]
    done = subprocess.run(
        [sys.executable, "-m", "adjoint.as_torch", *command, *arguments],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


MODULES = "torch torch.nn torch.nn.functional torch.nn.init torch.nn.modules.linear torch.nn.utils.rnn torch.optim torch.optim.adam \
torch.optim.lr_scheduler torch.autograd.functional torch.autograd.gradcheck torch.func torch.linalg torch.utils.checkpoint torch.cuda"


@pytest.mark.parametrize("module", MODULES.split())
def test_modules_are_adjoints_own(module: str, tmp_path: Path) -> None:
    run(
        f"import sys, importlib, torch, adjoint\nfound = importlib.import_module({module!r})\n"
        f"assert torch is adjoint and found is sys.modules[{module.replace('torch', 'adjoint')!r}]\n"
        f"assert found.__name__ == {module!r}, found.__name__\n",
        tmp_path,
    )


def test_what_it_says_of_itself(tmp_path: Path) -> None:
    program = """
import importlib.metadata, pickle, torch, torch.nn as nn
from torch.nn.modules.batchnorm import BatchNorm1d
assert torch.__version__ == "2.13.0" == importlib.metadata.version("torch")
assert (2, 9) < torch.__version__ < "2.14" and torch.version.__version__ == "2.13.0"
assert torch.storage.UntypedStorage is torch.UntypedStorage  # without an import of its own
from torch import _VF
from torch._tensor import Tensor
from torch.utils._contextlib import _DecoratorContextManager
assert _VF.lstm is torch.lstm and Tensor is torch.Tensor and issubclass(torch.no_grad, _DecoratorContextManager)
assert BatchNorm1d is nn.BatchNorm1d and torch.autograd.gradcheck is not torch.nn
assert repr(torch.float32) == "torch.float32" and repr(torch.ones(2).shape) == "torch.Size([2])"
assert repr(torch.strided) == "torch.strided" and repr(torch.channels_last) == "torch.channels_last"
assert torch.ones(2).type() == "torch.FloatTensor" and "torch.return_types.max" in repr(torch.ones(2).max(0))
for kind, name in [(torch.Tensor, "torch"), (nn.Linear, "torch.nn.modules.linear"), (nn.Module, "torch.nn.modules.module"),
                   (nn.Parameter, "torch.nn.parameter"), (torch.optim.Adam, "torch.optim.adam"), (torch.Size, "torch"),
                   (torch.optim.lr_scheduler.StepLR, "torch.optim.lr_scheduler"), (torch.autograd.Function, "torch.autograd.function")]:
    assert kind.__module__ == name, (kind, kind.__module__)
layer = nn.Linear(2, 3)
text = pickle.dumps(layer)
assert b"torch.nn.modules.linear" in text
assert pickle.loads(text).weight.tolist() == layer.weight.tolist()
"""
    run(program, tmp_path)


def test_what_is_missing_is_named(tmp_path: Path) -> None:
    program = """
import importlib, torch
assert not hasattr(torch, "no_such_name") and not hasattr(torch.nn, "NoSuchLayer")
def said(f):
    try:
        f()
    except (AttributeError, ImportError) as error:
        return type(error).__name__ + ": " + str(error)
planned, absent = "is not in adjoint, which stands for torch here: if PyTorch 2.13.0 has it, it is planned", "is deliberately absent from adjoint"
assert said(lambda: torch.no_such_name) == f"AttributeError: torch.no_such_name {planned}"
assert said(lambda: torch.nn.NoSuchLayer) == f"AttributeError: torch.nn.NoSuchLayer {planned}"
assert said(lambda: importlib.import_module("torch.no_such.x")) == f"ModuleNotFoundError: torch.no_such {planned}"
assert said(lambda: importlib.import_module("torch.package.utils")).startswith(f"ModuleNotFoundError: torch.package")
assert absent in said(lambda: importlib.import_module("torch.package")) and absent in said(lambda: torch.mps.compile_shader)
assert not (torch.mps.is_available() or torch.xpu.is_available() or torch.mtia.is_available())
def take():
    from torch.nn import NoSuchLayer
assert said(take) == f"ImportError: torch.nn.NoSuchLayer {planned}"
"""
    run(program, tmp_path)


def test_arguments_and_modules(tmp_path: Path) -> None:
    program = "import sys, torch; print(__name__, sys.argv[1:], torch.ones(2).sum().item())"
    for module in (False, True):
        assert run(program, tmp_path, "a", "-b", module=module) == "__main__ ['a', '-b'] 2.0\n"


@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_processes_that_import_the_program_anew(method: str, tmp_path: Path) -> None:
    program = f"""
import torch.multiprocessing as mp
import torch

def work(queue):
    queue.put(torch.ones(2) * 3)

if __name__ == "__main__":
    context = mp.get_context({method!r})
    queue = context.SimpleQueue()
    process = context.Process(target=work, args=(queue,))
    process.start()
    print(queue.get().tolist())
    process.join()
"""
    assert run(program, tmp_path) == "[3.0, 3.0]\n"


def test_a_module_that_starts_ranks(tmp_path: Path) -> None:
    pytest.importorskip("mpi4py")  # a developer build may be without
    (tmp_path / "program.py").write_text(
        "import torch; torch.distributed.init_process_group(); print(torch.distributed.get_world_size())"
    )
    command = [
        sys.executable,
        "-m",
        "adjoint.as_torch",
        "-m",
        "torch.distributed.run",
        "--nproc_per_node=1",
        "--master_port",
        "29501",
        "program.py",
    ]
    root = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False, env={**os.environ, **root})
    assert done.returncode == 0 and done.stdout == "1\n", done.stderr


def test_pytorch_that_is_imported_already_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "torch.py").write_text("")
    done = subprocess.run(
        [sys.executable, "-c", "import torch, adjoint.as_torch"], capture_output=True, text=True, cwd=tmp_path, check=False
    )
    assert "RuntimeError: adjoint.as_torch: PyTorch is imported already" in done.stderr


def test_nothing_changes_without_it() -> None:
    import adjoint as ad

    assert repr(ad.float32) == "adjoint.float32" and ad.Tensor.__module__ == "adjoint" and ad.__version__ != "2.13.0"
    assert sys.modules.get("torch") is not ad
    assert ad.nn.modules.linear.Linear is ad.nn.Linear and ad.optim.adam.Adam is ad.optim.Adam


def test_parameter_is_saved_as_pytorch_does_and_loaded_safely(tmp_path: Path) -> None:
    program = """
import io, torch
file = io.BytesIO()
parameter = torch.nn.Parameter(torch.arange(2.0), requires_grad=False)
torch.save({"p": parameter, "same": parameter}, file)
assert b"_rebuild_parameter" in file.getvalue()
file.seek(0)
found = torch.load(file, weights_only=True)
assert type(found["p"]) is torch.nn.Parameter and found["p"] is found["same"]
print(found["p"].tolist(), found["p"].requires_grad)
"""
    assert run(program, tmp_path) == "[0.0, 1.0] False\n"


def test_types_of_numpy_are_none_of_pytorchs(tmp_path: Path) -> None:
    program = """
import numpy as np, torch
for call in (lambda: torch.ones(1).to(np.float64), lambda: torch.zeros(2, dtype=np.dtype("float32"))):
    try:
        call()
    except TypeError:
        print("refused")
print(torch.tensor(np.float64(1)).dtype, torch.tensor([np.int32(1)]).dtype, torch.from_numpy(np.ones(1)).dtype)
"""
    assert run(program, tmp_path) == "refused\nrefused\ntorch.float64 torch.int32 torch.float64\n"
