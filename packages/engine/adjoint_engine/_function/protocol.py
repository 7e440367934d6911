"""What a custom Function may define, and what each part does when it is not defined."""

from __future__ import annotations

from typing import Any, NamedTuple


class VmapInfo(NamedTuple):
    """What a Function's ``vmap`` gets first."""

    batch_size: int
    randomness: str


class Protocol:
    """The static methods of a Function."""

    generate_vmap_rule = False
    clear_saved_tensors_on_access = False
    boxed_grads_call = False

    @staticmethod
    def forward(*args: Any, **kwargs: Any) -> Any:
        """The value of the operation."""
        raise NotImplementedError("You must implement the forward function for custom autograd.Function.")

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> Any:
        """What to save, when ``forward`` does not take ``ctx``."""
        raise NotImplementedError("setup_context is not implemented.")

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        """The gradients of the arguments, for those of the outputs."""
        raise NotImplementedError(
            "You must implement either the backward or vjp method for your custom autograd.Function to use it with backward mode AD."
        )

    @staticmethod
    def vjp(ctx: Any, *grad_outputs: Any) -> Any:
        """Another name for ``backward``."""
        raise NotImplementedError(
            "You must implement either the backward or vjp method for your custom autograd.Function to use it with backward mode AD."
        )

    @staticmethod
    def jvp(ctx: Any, *grad_inputs: Any) -> Any:
        """The tangents of the outputs, for those of the arguments."""
        raise NotImplementedError(
            "You must implement the jvp function for custom autograd.Function to use it with forward mode AD."
        )

    @staticmethod
    def vmap(info: VmapInfo, in_dims: tuple[Any, ...], *args: Any) -> Any:
        """The operation on a batch: returns outputs and their batch dimensions."""
        raise NotImplementedError(
            "To use autograd.Function with vmap, you must either override the vmap static method or set generate_vmap_rule=True."
        )


def has_setup(cls: type[Protocol]) -> bool:
    """Whether ``forward`` takes no ``ctx``."""
    return cls.setup_context is not Protocol.setup_context


def rule_of(cls: type[Protocol]) -> Any:
    """The function that backward calls: ``backward`` or ``vjp``, whichever is written."""
    own_backward, own_vjp = cls.backward is not Protocol.backward, cls.vjp is not Protocol.vjp
    return _both if own_backward and own_vjp else cls.vjp if own_vjp else cls.backward


def _both(ctx: Any, *grads: Any) -> Any:
    raise RuntimeError(
        "Implementing both 'backward' and 'vjp' for a custom Function is not allowed. You should only implement one of them."
    )
