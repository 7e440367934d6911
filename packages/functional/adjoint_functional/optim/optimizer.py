"""The base of optimizers, and hooks of all of them."""

from ._hooks import register_optimizer_step_post_hook as register_optimizer_step_post_hook
from ._hooks import register_optimizer_step_pre_hook as register_optimizer_step_pre_hook
from ._optimizer import Optimizer as Optimizer
