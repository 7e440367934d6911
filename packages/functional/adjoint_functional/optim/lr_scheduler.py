"""Schedules of learning rates: each changes the ``lr`` of an optimizer's groups when its ``step`` is called, once an epoch."""

from ._cycles import CosineAnnealingWarmRestarts as CosineAnnealingWarmRestarts
from ._cycles import CyclicLR as CyclicLR
from ._cycles import OneCycleLR as OneCycleLR
from ._plateau import ReduceLROnPlateau as ReduceLROnPlateau
from ._schedule import EPOCH_DEPRECATION_WARNING as EPOCH_DEPRECATION_WARNING
from ._schedule import ChainedScheduler as ChainedScheduler
from ._schedule import ConstantLR as ConstantLR
from ._schedule import CosineAnnealingLR as CosineAnnealingLR
from ._schedule import ExponentialLR as ExponentialLR
from ._schedule import LambdaLR as LambdaLR
from ._schedule import LinearLR as LinearLR
from ._schedule import LRScheduler as LRScheduler
from ._schedule import MultiplicativeLR as MultiplicativeLR
from ._schedule import MultiStepLR as MultiStepLR
from ._schedule import PolynomialLR as PolynomialLR
from ._schedule import SequentialLR as SequentialLR
from ._schedule import StepLR as StepLR
from ._schedule import _enable_get_lr_call as _enable_get_lr_call
from ._schedule import _warn_get_lr_called_within_step as _warn_get_lr_called_within_step

_LRScheduler = LRScheduler  # its older name
