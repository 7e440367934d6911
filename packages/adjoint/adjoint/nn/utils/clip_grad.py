"""Clipping of gradients."""

from adjoint_functional.nn.utils.gradients import clip_grad_norm as clip_grad_norm
from adjoint_functional.nn.utils.gradients import clip_grad_norm_ as clip_grad_norm_
from adjoint_functional.nn.utils.gradients import clip_grad_value_ as clip_grad_value_
from adjoint_functional.nn.utils.gradients import clip_grads_with_norm_ as clip_grads_with_norm_
from adjoint_functional.nn.utils.gradients import get_total_norm as get_total_norm
