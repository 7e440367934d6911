"""Files that TensorBoard shows. Needs the package tensorboard."""

import sys as _sys

from adjoint_functional.utils.tensorboard import FileWriter as FileWriter
from adjoint_functional.utils.tensorboard import SummaryWriter as SummaryWriter
from adjoint_functional.utils.tensorboard import summary as summary
from adjoint_functional.utils.tensorboard import writer as writer

for _part in (summary, writer):
    _sys.modules[f"{__name__}.{_part.__name__.rpartition('.')[2]}"] = _part
