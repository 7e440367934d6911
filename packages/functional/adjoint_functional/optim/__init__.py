"""Optimizers: each writes new values into parameters from their `.grad`; a state survives in `state_dict`."""

from . import lr_scheduler as lr_scheduler
from . import optimizer as optimizer
from . import swa_utils as swa_utils
from ._classic import SGD as SGD
from ._classic import Adagrad as Adagrad
from ._classic import Adam as Adam
from ._classic import AdamW as AdamW
from ._classic import RMSprop as RMSprop
from ._lbfgs import LBFGS as LBFGS
from ._line_search import _cubic_interpolate as _cubic_interpolate
from ._line_search import _strong_wolfe as _strong_wolfe
from ._matrices import Adafactor as Adafactor
from ._matrices import Muon as Muon
from ._optimizer import Optimizer as Optimizer
from ._variants import ASGD as ASGD
from ._variants import Adadelta as Adadelta
from ._variants import Adamax as Adamax
from ._variants import NAdam as NAdam
from ._variants import RAdam as RAdam
from ._variants import Rprop as Rprop
from ._variants import SparseAdam as SparseAdam
