"""Where programs written for PyTorch look for what the rooms have."""

import subprocess
import sys

PROGRAM = """
import adjoint.as_torch, torch
import torch.distributions as dist
from torch.distributions import constraints, biject_to, transform_to
from torch.distributions.utils import broadcast_all, lazy_property
from torch.distributions.normal import Normal
from torch.distributions.multivariate_normal import _batch_mahalanobis, _batch_mv, _precision_to_scale_tril
from torch.distributions.transforms import Transform, AffineTransform, StickBreakingTransform, CorrCholeskyTransform, ReshapeTransform
from torch.distributions.constraints import Constraint, _GreaterThan, _Interval
from torch.distributions.utils import _standard_normal, _sum_rightmost, probs_to_logits, clamp_probs
from torch.distributions.transforms import _InverseTransform
from torch.distributions.constraint_registry import ConstraintRegistry
from torch.distributions.relaxed_bernoulli import LogitRelaxedBernoulli
from torch.distributions.relaxed_categorical import ExpRelaxedCategorical
from torch.distributions import Distribution, ExponentialFamily
from torch.utils.data import DataLoader, Dataset, TensorDataset, random_split, Sampler
from torch.utils.data.dataloader import default_collate
from torch.utils.data.dataset import Subset
from torch.utils.data.sampler import RandomSampler
from torch.utils.data.distributed import DistributedSampler
from torch.utils.data import DistributedSampler
from torch.utils.data._utils.collate import default_collate_fn_map
from torch.utils.data._utils.worker import get_worker_info
from torch.amp import autocast, GradScaler
from torch.cuda.amp import autocast as a2, GradScaler as g2, custom_fwd, custom_bwd
from torch.cpu.amp import autocast as a3
from torch.nn.utils import weight_norm, spectral_norm, fuse_conv_bn_eval
from torch.nn.utils.fusion import fuse_conv_bn_weights
from torch.nn.attention import sdpa_kernel, SDPBackend
from torch.nn.parameter import UninitializedParameter, is_lazy
from torch.nn.modules.lazy import LazyModuleMixin
from torch.nn.modules.transformer import TransformerEncoderLayer
from torch.optim import Adafactor, Muon
from torch.random import fork_rng
from torch.distributions.transforms import __all__ as transforms
from torch.fx.experimental.proxy_tensor import get_proxy_mode
from torch.nn.parallel.scatter_gather import gather, scatter, scatter_kwargs
from torch.serialization import MAP_LOCATION
from torch.utils._foreach_utils import _group_tensors_by_device_and_dtype
from torch.utils._pytree import _namedtuple_flatten, _namedtuple_unflatten
from torch._subclasses.fake_tensor import is_fake
import torch.utils.data.dataloader
from torch.utils.data.dataloader import _BaseDataLoaderIter, _InfiniteConstantSampler, _collate_fn_t
import functorch
from functorch import make_functional, vmap
assert functorch.vmap is torch.vmap
from torch.fx.node import Node
from torch.fx.graph_module import GraphModule
from torch.distributed.tensor import DTensor
from torch._dynamo.testing import CompileCounter
from torch.nn.modules.rnn import RNNBase
from torch.utils.data import get_worker_info, IterableDataset, ConcatDataset, ChainDataset, Subset, SequentialSampler, BatchSampler, WeightedRandomSampler, SubsetRandomSampler
from torch.functional import einsum
from torch.nn.modules.conv import _single, _pair, _triple, _reverse_repeat_tuple, Parameter, Tensor, Module, init
from torch.nn.modules.rnn import PackedSequence
from torch.functional import F
from torch._guards import detect_fake_mode
from torch._jit_internal import _copy_to_script_wrapper
assert _copy_to_script_wrapper(len) is len
from torch._subclasses import FakeTensor
from torch._subclasses.fake_tensor import FakeTensorMode, unset_fake_temporarily
from torch._tensor_str import printoptions
from torch._utils import is_compiling
from torch.optim.optimizer import _capturable_doc, _differentiable_doc, _foreach_doc, _fused_doc, _maximize_doc, _params_doc, StateDict
from torch.utils._pytree import Context
from torch.utils.data._utils.collate import collate_tensor_fn, collate_numpy_array_fn, default_collate_err_msg_format, np_str_obj_array_pattern
assert collate_tensor_fn([torch.ones(1)] * 2).shape == (2, 1) and np_str_obj_array_pattern.search("<U1") and not is_compiling()
assert torch.get_device_module() is torch.get_device_module("cpu") is torch.cpu and not isinstance(torch.ones(1), FakeTensor)
with printoptions(precision=2): assert repr(torch.tensor([1 / 3])) == "tensor([0.33])"
assert repr(torch.tensor([1 / 3])) == "tensor([0.3333])"
from torch._ops import OpOverload, OpOverloadPacket
assert detect_fake_mode() is None and isinstance(torch.ops.aten.add.Tensor, OpOverload)
assert F is torch.nn.functional and F.torch is torch and not hasattr(F, "Linear") and not hasattr(F, "sin")
from torch.optim.adam import Optimizer, _get_value
from torch.distributions.categorical import Distribution, probs_to_logits
from torch.utils.data.dataloader import Dataset, BatchSampler
assert init is torch.nn.init and Optimizer is torch.optim.Optimizer
assert not hasattr(torch.nn.modules.conv, "nonsense") and not hasattr(torch.nn.modules.utils, "nonsense") and not hasattr(torch.optim.adam, "nonsense")
assert einsum is torch.einsum and torch.functional.split is torch.split
from torch.cuda.amp.grad_scaler import GradScaler as g3
from torch.cuda.memory import memory_allocated
from torch.distributed.distributed_c10d import ReduceOp, all_reduce
from torch.distributed.elastic.multiprocessing.errors import record
from torch.distributed.tensor.placement_types import Shard
from torch.masked.maskedtensor.core import MaskedTensor
from torch.nn.attention.bias import causal_lower_right
from torch.nn.attention.flex_attention import _mask_mod_signature, flex_attention
from torch.nn.utils.weight_norm import weight_norm as w2, remove_weight_norm
from torch.nn.parallel.data_parallel import data_parallel
from torch.signal.windows.windows import hann
from torch.storage import UntypedStorage
from torch.utils.benchmark.utils.timer import Timer
from torch.utils.model_zoo import load_url
from torch.utils.weak import WeakTensorKeyDictionary
import torch.monitor, torch.__future__, torch.return_types
assert isinstance(torch.ones(2).max(0), torch.return_types.max)
assert torch.nn.utils.weight_norm(torch.nn.Linear(2, 2)).weight_g.shape == (2, 1)
import torch.distributed.rpc, torch.distributed.autograd as dist_autograd
assert not torch.distributed.rpc.is_available() and not dist_autograd.is_available()
try:
    torch.distributed.rpc.init_rpc
except AttributeError as error:
    assert "deliberately absent" in str(error)
try:
    with dist_autograd.context() as number:
        pass
except NotImplementedError as error:
    assert "processes speak by MPI" in str(error)
assert not isinstance(torch.nn.ReLU(), torch._dynamo.eval_frame.OptimizedModule) and torch.fx.node.Target and torch.fx.node.Argument
from torch._tensor_str import PRINT_OPTS, _tensor_str
from torch._C import _TensorMeta
from torch import DeviceObjType, PyTorchFileReader, ScriptFunction, ScriptModule
from torch.utils._pytree import SUPPORTED_NODES, LeafSpec, PyTree, TreeSpec, _get_node_type, tree_unflatten
assert ScriptModule is torch.jit.ScriptModule and (str | DeviceObjType) and tree_unflatten([1], TreeSpec(list, None, [LeafSpec()])) == [1]
assert isinstance(torch.Tensor, _TensorMeta) and PRINT_OPTS.threshold == 1000
assert isinstance(torch.distributed.ReduceOp.SUM, torch.distributed.ReduceOp.RedOpType)
from torch.utils.data.datapipes.iter.combinatorics import ShufflerIterDataPipe
assert issubclass(ShufflerIterDataPipe, IterableDataset)
from torch.distributions.transforms import _clipped_sigmoid
assert _clipped_sigmoid(torch.tensor([200.0, -200.0])).tolist() == [1 - 2.0**-23, 2.0**-126]
try:
    torch.quantize_per_tensor
except AttributeError as error:
    assert "quantization is not its subject" in str(error)
try:
    from torch.functional import relu_twice
except ImportError:
    pass
import torch; torch.autocast; torch.GradScaler; torch.is_autocast_enabled(); torch._standard_gamma; torch.set_autocast_enabled
assert torch.torch is torch
assert Normal(0.0, 1.0).sample().shape == () and repr(Normal) == repr(torch.distributions.Normal)
"""


def test_imports_of_programs() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
