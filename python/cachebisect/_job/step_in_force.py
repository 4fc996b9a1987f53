"""A model that computes in another way for a while, and the steps of a block that do. Not thread
safe."""

from __future__ import annotations

from typing import Any, Callable, Optional, Protocol

from .._worker.kept_random import KeptRandom
from .feeds import Feed
from .model_format import ChannelsLast
from .state import KeptState

Forward = Callable[..., Any]


class StepFault(ValueError):
    """The step could not be computed in another way; says why. The batch was computed as it is."""


class InForce:
    """A change that is in force: the model computes by `forward`."""

    def __init__(self, model: Any, state: KeptState, forward: Forward, channels_last: bool) -> None:
        self.fault = ""
        """Why the change failed; from then on the model computes as it did."""
        self._forward = forward
        self._state = state
        self._random = KeptRandom()
        self._gradients = [(p, p.grad) for p in model.parameters()]
        self._format: Optional[ChannelsLast] = None
        self._patched: Optional[Patched] = None
        try:
            for parameter, _ in self._gradients:
                parameter.grad = None
            self._format = ChannelsLast(model) if channels_last else None
            self._patched = Patched(model, self._compute)
        except BaseException:
            self.end()
            raise

    def end(self) -> None:
        """Puts everything back. Raises what restoring the state raises."""
        if self._patched is not None:
            self._patched.undo()
        if self._format is not None:
            self._format.undo()
        try:
            self._state.restore()
        finally:
            for parameter, gradient in self._gradients:
                parameter.grad = gradient
            self._random.restore()

    def _compute(self, own: Forward, *given: Any, **named: Any) -> Any:
        if not self.fault:
            try:
                return self._forward(*given, **named)
            except Exception as error:
                self.fault = first_line(error)
        return own(*given, **named)


class Ways(Protocol):
    """What puts changes of the step in force."""

    def begin(self, names: frozenset[str]) -> InForce: ...


class ChangedStep(Feed):
    """Batches of `feed`, for steps that are computed in another way."""

    def __init__(self, feed: Feed, changes: Ways, names: frozenset[str]) -> None:
        super().__init__()
        self._feed = feed
        self._changes = changes
        self._names = names
        self._in_force: Optional[InForce] = None
        self._failed = False
        self.waiting = feed.waiting
        self.settling_steps = feed.settling_steps

    def expect(self, steps: int) -> None:
        self._feed.expect(steps)

    def begin(self, block: int) -> None:
        self._feed.begin(block)
        self._failed = False
        self._in_force = self._changes.begin(self._names)

    def take(self) -> tuple[Any, int]:
        if self._in_force is not None and self._in_force.fault:
            raise StepFault(self._in_force.fault)
        return self._feed.take()

    def end(self) -> None:
        in_force, self._in_force = self._in_force, None
        try:
            if in_force is not None:
                self._failed = bool(in_force.fault)
                in_force.end()
        finally:
            self._feed.end()

    def is_spoiled(self) -> bool:
        return self._failed or self._feed.is_spoiled()


class Patched:
    """`forward` of `model` is `stand_in`, which gets the model's own first."""

    def __init__(self, model: Any, stand_in: Callable[..., Any]) -> None:
        self._model = model
        self._had = "forward" in vars(model)
        own = self._own = model.forward
        model.forward = lambda *given, **named: stand_in(own, *given, **named)

    def undo(self) -> None:
        """May be called twice."""
        if self._had:
            self._model.forward = self._own
        else:
            vars(self._model).pop("forward", None)


def first_line(error: Exception) -> str:
    lines = [line for line in str(error).splitlines() if line.strip()]
    return f"{type(error).__name__}: {lines[0].strip()}" if lines else type(error).__name__
