"""What programs set for PyTorch's compiler of kernels: kept, and without effect."""

from types import SimpleNamespace

from .._dynamo._patch import patch_of

coordinate_descent_tuning = force_disable_caches = freezing = fx_graph_cache = max_autotune = False
triton, cpp = SimpleNamespace(cudagraphs=False, unique_kernel_names=True), SimpleNamespace(threads=-1)
patch = patch_of(globals())
