"""GradScaler: a loss is scaled up so that gradients in float16 do not vanish, and steps whose gradients overflow are left out."""

from __future__ import annotations

import warnings
from enum import Enum
from typing import Any

import adjoint_core as core
from adjoint_core import Tensor
from adjoint_engine import no_grad

__all__ = ["GradScaler", "OptState"]


class OptState(Enum):
    """How far an optimizer's step is."""

    READY = 0
    UNSCALED = 1
    STEPPED = 2


class GradScaler:
    """Multiplies losses by a scale, divides gradients by it, and finds the scale: it shrinks where a gradient is inf or nan (that step
    is left out) and grows after enough good steps.

    Arguments:
        device: ``"cuda"`` or ``"cpu"``.
        init_scale, growth_factor, backoff_factor: where the scale begins, and what it is multiplied by.
        growth_interval: so many good steps in a row let it grow.
        enabled: False: every method passes through.

    Example::

        >>> w = ad.ones(2, requires_grad=True)
        >>> optimizer, scaler = ad.optim.SGD([w], lr=0.5), ad.amp.GradScaler("cpu")
        >>> scaler.scale(w.sum()).backward()
        >>> w.grad[0].item()
        65536.0
        >>> scaler.step(optimizer); scaler.update(); w.tolist()
        [0.5, 0.5]
    """

    def __init__(
        self,
        device: str = "cuda",
        init_scale: float = 2.0**16,
        growth_factor: float = 2.0,
        backoff_factor: float = 0.5,
        growth_interval: int = 2000,
        enabled: bool = True,
    ) -> None:
        self._device, self._enabled = device, enabled
        if device == "cuda" and enabled and not core.cuda.is_available():
            warnings.warn("torch.cuda.amp.GradScaler is enabled, but CUDA is not available.  Disabling.", stacklevel=2)
            self._enabled = False
        if not self._enabled:
            return
        if growth_factor <= 1.0:
            raise AssertionError("The growth factor must be > 1.0.")
        if backoff_factor >= 1.0:
            raise AssertionError("The backoff factor must be < 1.0.")
        self._init_scale, self._growth_factor, self._backoff_factor = init_scale, growth_factor, backoff_factor
        self._growth_interval, self._init_growth_tracker = growth_interval, 0
        self._scale: Tensor | None = None
        self._growth_tracker = 0
        self._states: dict[
            int, tuple[OptState, Tensor | None]
        ] = {}  # by optimizer: how far, and whether something was inf or nan

    def scale(self, outputs: Any) -> Any:
        """A tensor, or tensors in lists and tuples, times the scale."""
        if not self._enabled:
            return outputs
        if isinstance(outputs, Tensor):
            return outputs * self._scale_on(outputs.device)
        if isinstance(outputs, (list, tuple)):
            scaled = [self.scale(x) for x in outputs]
            return type(outputs)(*scaled) if hasattr(outputs, "_fields") else type(outputs)(scaled)
        if hasattr(outputs, "__iter__"):
            return map(self.scale, outputs)
        raise ValueError("outputs must be a Tensor or an iterable of Tensors")

    def _scale_on(self, device: Any) -> Tensor:
        if self._scale is None:
            self._scale = core.full((), self._init_scale, device=device, dtype=core.float32)
        return self._scale.to(device)

    def unscale_(self, optimizer: Any) -> None:
        """Divides the gradients of an optimizer's parameters by the scale: before they are clipped or looked at. `step` does it else.

        Raises:
            RuntimeError: it was called since the last update, or after `step`.
        """
        if not self._enabled:
            return
        state, _ = self._states.get(id(optimizer), (OptState.READY, None))
        if state is OptState.UNSCALED:
            raise RuntimeError("unscale_() has already been called on this optimizer since the last update().")
        if state is OptState.STEPPED:
            raise RuntimeError("unscale_() is being called after step().")
        if self._scale is None:
            raise AssertionError("Attempted unscale_ but _scale is None.  This may indicate your script did not use scaler.scale(loss or outputs) earlier in the iteration.")  # fmt: skip
        self._states[id(optimizer)] = (OptState.UNSCALED, self._divide(optimizer, self._scale))

    def _divide(self, optimizer: Any, scale: Tensor) -> Tensor | None:
        bad: Tensor | None = None
        with no_grad():
            for group in optimizer.param_groups:
                for p in group["params"]:
                    if p.grad is None:
                        continue
                    if p.grad.dtype is core.float16:
                        raise ValueError("Attempting to unscale FP16 gradients.")
                    if p.grad.is_sparse:
                        p.grad = p.grad.coalesce()
                    values = p.grad._values() if p.grad.is_sparse else p.grad
                    here = (~values.isfinite()).any()
                    bad = here if bad is None else bad | here.to(bad.device)
                    values.mul_((1.0 / scale.double()).float().to(values.device))
        return bad

    def step(self, optimizer: Any, *args: Any, **kwargs: Any) -> Any:
        """``optimizer.step(*args, **kwargs)`` on unscaled gradients, unless one of them is inf or nan.

        Raises:
            RuntimeError: it was called since the last update, or a closure is given.
        """
        if not self._enabled:
            return optimizer.step(*args, **kwargs)
        if "closure" in kwargs:
            raise RuntimeError("Closure use is not currently supported if GradScaler is enabled.")
        if self._states.get(id(optimizer), (OptState.READY, None))[0] is OptState.STEPPED:
            raise RuntimeError("step() has already been called since the last update().")
        if self._states.get(id(optimizer), (OptState.READY, None))[0] is OptState.READY:
            self.unscale_(optimizer)
        bad = self._states[id(optimizer)][1]
        if bad is None:
            raise AssertionError("No inf checks were recorded for this optimizer.")
        result = None if bad.item() else optimizer.step(*args, **kwargs)
        self._states[id(optimizer)] = (OptState.STEPPED, bad)
        return result

    def update(self, new_scale: float | Tensor | None = None) -> None:
        """Finds the scale for the next step, or takes the one given; once per iteration, after the steps."""
        if not self._enabled:
            return
        if self._scale is None:
            raise AssertionError("Attempted update but _scale is None.  This may indicate your script did not use scaler.scale(loss or outputs) earlier in the iteration.")  # fmt: skip
        if new_scale is not None:
            self._scale.fill_(float(new_scale))
        else:
            found = [bad for _, bad in self._states.values() if bad is not None]
            if not found:
                raise AssertionError("No inf checks were recorded prior to update.")
            if any(bad.item() for bad in found):
                self._scale.mul_(self._backoff_factor)
                self._growth_tracker = 0
            else:
                self._grow()
        self._states = {}

    def _grow(self) -> None:
        self._growth_tracker += 1
        if self._growth_tracker == self._growth_interval and self._scale is not None:
            larger = self._scale * self._growth_factor
            if larger.isfinite().item():
                self._scale.copy_(larger)
            self._growth_tracker = 0

    def get_scale(self) -> float:
        """The scale: 1.0 if not enabled."""
        if not self._enabled:
            return 1.0
        return self._init_scale if self._scale is None else self._scale.item()

    def get_growth_factor(self) -> float:
        """What the scale is multiplied by to grow."""
        return self._growth_factor

    def set_growth_factor(self, new_factor: float) -> None:
        """Sets what the scale is multiplied by to grow."""
        self._growth_factor = new_factor

    def get_backoff_factor(self) -> float:
        """What the scale is multiplied by to shrink."""
        return self._backoff_factor

    def set_backoff_factor(self, new_factor: float) -> None:
        """Sets what the scale is multiplied by to shrink."""
        self._backoff_factor = new_factor

    def get_growth_interval(self) -> int:
        """How many good steps in a row let the scale grow."""
        return self._growth_interval

    def set_growth_interval(self, new_interval: int) -> None:
        """Sets how many good steps in a row let the scale grow."""
        self._growth_interval = new_interval

    def is_enabled(self) -> bool:
        """Whether it does anything."""
        return self._enabled

    def state_dict(self) -> dict[str, Any]:
        """What a checkpoint keeps: empty if not enabled."""
        if not self._enabled:
            return {}
        return {
            "scale": self.get_scale(),
            "growth_factor": self._growth_factor,
            "backoff_factor": self._backoff_factor,
            "growth_interval": self._growth_interval,
            "_growth_tracker": self._growth_tracker,
        }

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Takes what `state_dict` gave.

        Raises:
            RuntimeError: it is empty, from a scaler that was not enabled.
        """
        if not self._enabled:
            return
        if not state_dict:
            raise RuntimeError(
                "The source state dict is empty, possibly because it was saved from a disabled instance of GradScaler."
            )
        self._init_scale = state_dict["scale"]
        if self._scale is not None:
            self._scale.fill_(self._init_scale)
        self._growth_factor, self._backoff_factor = state_dict["growth_factor"], state_dict["backoff_factor"]
        self._growth_interval, self._growth_tracker = state_dict["growth_interval"], state_dict["_growth_tracker"]
