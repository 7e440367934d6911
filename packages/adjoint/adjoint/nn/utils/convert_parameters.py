"""Parameters as one vector."""

from adjoint_functional.nn.utils.gradients import parameters_to_vector as parameters_to_vector
from adjoint_functional.nn.utils.gradients import vector_to_parameters as vector_to_parameters
