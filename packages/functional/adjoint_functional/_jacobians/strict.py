"""Strict mode of autograd.functional: an independence that would give silent zeros is an error that says so."""

from __future__ import annotations

from collections.abc import Sequence

from .._backend import Tensor

_NOT_ALLOWED = "This is not allowed in strict mode"


def check_outputs(outputs: Sequence[Tensor]) -> None:
    """Every output must depend on something that requires grad."""
    for index, output in enumerate(outputs):
        if not output.requires_grad:
            raise RuntimeError(
                f"Output {index} of the user-provided function does not require gradients. "
                "The outputs must be computed in a differentiable manner from the input when running in strict mode."
            )


def check_gradient(gradients: Sequence[Tensor | None], create_graph: bool) -> None:
    """A first derivative must exist for every input, and vary with it if it is to be differentiated."""
    for index, gradient in enumerate(gradients):
        if gradient is None:
            raise RuntimeError(f"The output of the user-provided function is independent of input {index}. {_NOT_ALLOWED}.")
        if create_graph and not gradient.requires_grad:
            raise RuntimeError(
                f"The jacobian of the user-provided function is independent of input {index}. "
                f"{_NOT_ALLOWED} when create_graph=True."
            )


def check_tangents(tangents: Sequence[Tensor | None], create_graph: bool) -> None:
    """As ``check_gradient``, for a derivative in forward mode got by transposing twice."""
    for index, tangent in enumerate(tangents):
        if tangent is None:
            raise RuntimeError(
                f"The gradient with respect to the input is independent of entry {index} in the grad_outputs when "
                f"using the double backward trick to compute forward mode gradients. {_NOT_ALLOWED}."
            )
    check_gradient(tangents, create_graph)


def check_first_of_two(gradients: Sequence[Tensor | None]) -> None:
    """The gradient inside a Hessian must itself depend on the inputs."""
    for index, gradient in enumerate(gradients):
        if gradient is None or not gradient.requires_grad:
            raise RuntimeError(
                "While computing the hessian, found that the jacobian of the user-provided function with respect to "
                f"input {index} is independent of the input. {_NOT_ALLOWED}. You should ensure that your function is "
                "twice differentiable and that the jacobian depends on the inputs (this would be violated by a linear "
                "function for example)."
            )


def check_hessian(products: Sequence[Tensor | None], create_graph: bool) -> None:
    """A second derivative must exist for every input, and vary with it if it is to be differentiated."""
    for index, product in enumerate(products):
        if product is None:
            raise RuntimeError(f"The jacobian of the user-provided function is independent of input {index}. {_NOT_ALLOWED}.")
        if create_graph and not product.requires_grad:
            raise RuntimeError(
                f"The hessian of the user-provided function is independent of input {index}. "
                f"{_NOT_ALLOWED} when create_graph=True."
            )


def check_row(gradients: Sequence[Tensor | None], output: int, create_graph: bool) -> None:
    """One row of a Jacobian: every input must take part in output number ``output``."""
    for index, gradient in enumerate(gradients):
        if gradient is None:
            raise RuntimeError(
                f"Output {output} of the user-provided function is independent of input {index}. {_NOT_ALLOWED}."
            )
        if create_graph and not gradient.requires_grad:
            raise RuntimeError(
                f"The jacobian of the user-provided function is independent of input {index}. "
                f"{_NOT_ALLOWED} when create_graph=True."
            )
