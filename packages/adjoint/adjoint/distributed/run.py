"""``python -m adjoint.distributed.run -n 4 train.py`` starts a program in several processes."""

import sys

from adjoint_functional.distributed.run import find_mpiexec as find_mpiexec
from adjoint_functional.distributed.run import main as main

if __name__ == "__main__":
    sys.exit(main())
