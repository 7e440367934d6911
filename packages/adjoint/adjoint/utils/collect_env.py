"""What the machine, the system and the packages are, as text for a report of a fault: `python -m adjoint.utils.collect_env`."""

from adjoint_functional.utils.collect_env import *  # noqa: F403
from adjoint_functional.utils.collect_env import main as main

if __name__ == "__main__":
    main()
