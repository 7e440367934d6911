"""Choices, loops and scans as functions."""

from adjoint_functional.control_flow import associative_scan as associative_scan
from adjoint_functional.control_flow import cond as cond
from adjoint_functional.control_flow import scan as scan
from adjoint_functional.control_flow import while_loop as while_loop
