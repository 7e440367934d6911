"""The older place of `hub.load_state_dict_from_url`, and of what it shows its progress with."""

from adjoint_functional.hub import load_state_dict_from_url as load_url
from adjoint_functional.progress import tqdm as tqdm

__all__ = ["load_url"]
