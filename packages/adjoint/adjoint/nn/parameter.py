"""Parameters of models."""

from adjoint_engine import Parameter as Parameter
