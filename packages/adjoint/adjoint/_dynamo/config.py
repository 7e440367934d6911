"""What programs set for PyTorch's compiler: kept, and without effect."""

from ._patch import patch_of

cache_size_limit = recompile_limit = 8
suppress_errors = verbose = False
patch = patch_of(globals())
