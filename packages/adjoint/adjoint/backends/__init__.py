"""What operations may trade for speed on a kind of device."""

from adjoint_core.backends import cpu as cpu

from . import cuda as cuda
from . import cudnn as cudnn
from . import mha as mha
from . import mkl as mkl
from . import mkldnn as mkldnn
from . import mps as mps
from . import openmp as openmp
from . import opt_einsum as opt_einsum
