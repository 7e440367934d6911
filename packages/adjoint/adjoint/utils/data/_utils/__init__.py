"""Where programs look for functions that make batches."""

import sys as _sys

from adjoint_functional.utils.data import collate as collate
from adjoint_functional.utils.data import fetch as fetch
from adjoint_functional.utils.data import worker as worker

for _part in (collate, fetch, worker):
    _sys.modules[f"{__name__}.{_part.__name__.rpartition('.')[2]}"] = _part
