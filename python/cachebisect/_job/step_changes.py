"""Other ways to compute the training step: `amp`, `channels_last` and `compile`. Not thread safe.

They need the model that the step calls. Each is in force during a block alone; what it changed is
put back at its end, and so are the weights, the state and the random numbers.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Optional

from .._chain import trees
from .._chain.settings import AMP, CHANNELS_LAST, COMPILE, NEED_MODEL
from .feeds import Feed
from .state import KeptState
from .step_in_force import ChangedStep, Forward, InForce, Patched, first_line
from .step_ways import autocast, autocast_is_on, channels_last, compiled, in_this_process
from .time_limit import TimeLimit

_NO_MODEL = (
    "no model is given: cachebisect.bisect(loader, step, state=[model, optimizer], model=model)"
)
_MOST_SECONDS = 240.0
"""Of trying it once: compiling takes long, and the engine waits 300 s for a sign of life."""
_NOT_KEPT = "what it changes could not be undone: state=[model, optimizer] must hold the model"
_NOT_CALLED = "the step was not seen to call the model that is given"


@dataclass(frozen=True)
class _Call:
    """A call of the model. `kind`: of the device of its tensors."""

    given: Any
    named: Any
    kind: str
    in_autocast: bool

    @staticmethod
    def of(given: Any, named: Any) -> _Call:
        tensors = [leaf for leaf in trees.leaves((given, named)) if trees.is_tensor(leaf)]
        kind = "cuda" if any(tensor.is_cuda for tensor in tensors) else "cpu"
        given, named = trees.map_leaves((given, named), _detached)
        return _Call(given, named, kind, autocast_is_on(kind))


class StepChanges:
    """`model`: the torch.nn.Module that the step calls, or None. `state`: what was kept, of
    `objects`. Takes note of one call of the model, from now on."""

    def __init__(self, model: Any, state: KeptState, objects: Any = ()) -> None:
        torch = sys.modules.get("torch")
        if model is not None and (torch is None or not isinstance(model, torch.nn.Module)):
            raise TypeError(f"model: {type(model).__name__} is no torch.nn.Module")
        self._model: Any = model
        self._state = state
        self._is_kept = any(one is model for one in objects)
        self._call: Optional[_Call] = None
        self._compiled: Optional[Forward] = None
        self._checked: dict[frozenset[str], str] = {}
        self._patched: Optional[Patched] = None
        if model is not None:
            self._patched = Patched(model, self._note_call)

    def why_not(self, names: frozenset[str]) -> str:
        """Why the step cannot be computed so, in one line; empty if it can.

        Tries it once on the call that was seen: forward and backward. Raises nothing.
        """
        if self._model is None:
            return _NO_MODEL
        if not self._is_kept:
            return _NOT_KEPT
        if self._call is None:
            return _NOT_CALLED
        if names not in self._checked:
            self._checked[names] = self._fault(names)
        return self._checked[names]

    def over(self, feed: Feed, names: frozenset[str]) -> Feed:
        """A feed whose block computes its steps so; `why_not()` gave no reason."""
        return ChangedStep(feed, self, names)

    def begin(self, names: frozenset[str]) -> InForce:
        """From now on the model computes so, until end() of what is returned."""
        self._let_go()
        forward: Forward = self._model.forward
        if COMPILE in names:
            self._compiled = self._compiled or compiled(forward)
            forward = self._compiled
        if AMP in names:
            forward = autocast(forward, self._call.kind if self._call else "cpu")
        if CHANNELS_LAST in names:
            forward = channels_last(forward)
        return InForce(self._model, self._state, forward, CHANNELS_LAST in names)

    def close(self) -> None:
        """The model is as it was given, and nothing of it is kept here."""
        self._let_go()
        self._compiled = self._call = None
        self._checked.clear()

    def _let_go(self) -> None:
        if self._patched is not None:
            self._patched.undo()
            self._patched = None

    def _note_call(self, own: Forward, *given: Any, **named: Any) -> Any:
        with contextlib.suppress(Exception):  # The step needs no note.
            if sys.modules["torch"].is_grad_enabled():
                self._let_go()
                self._call = _Call.of(given, named)
        return own(*given, **named)

    def _refusal(self, names: frozenset[str]) -> str:
        torch = sys.modules["torch"]
        parameters, call = list(self._model.parameters()), self._call
        if AMP in names and all(p.dtype != torch.float32 for p in parameters):
            return "the model does not compute in float32"
        if AMP in names and call is not None and call.in_autocast:
            return "the step uses autocast already"
        on_cuda = call is not None and call.kind == "cuda"
        if AMP in names and on_cuda and not torch.cuda.is_bf16_supported():
            return "this device does not compute in bfloat16"
        if CHANNELS_LAST in names and all(p.dim() != 4 for p in parameters):
            return "the model has no weights of images (of 4 dimensions)"
        if hasattr(self._model, "_orig_mod") or getattr(self._model, "_compiled_call_impl", None):
            return "the model is compiled already: give it as it is before"
        return ""

    def _fault(self, names: frozenset[str]) -> str:
        limit = TimeLimit(_MOST_SECONDS)
        alone = in_this_process() if COMPILE in names else contextlib.nullcontext()
        try:
            with limit, alone:
                fault = self._refusal(names) or self._tried(names)
        except Exception as error:
            fault = first_line(error)
        return f"trying it took more than {_MOST_SECONDS:.0f} s" if limit.is_over else fault

    def _tried(self, names: frozenset[str]) -> str:
        assert self._call is not None
        changed = self.begin(names)
        try:
            out = self._model(*self._call.given, **self._call.named)
            total = sum(t.float().sum() for t in _floats(out) if t.requires_grad)
            if trees.is_tensor(total):
                total.backward()
        finally:
            changed.end()
        return changed.fault


def changes_of(overrides: Mapping[str, str]) -> frozenset[str]:
    """The changes of the step that an arm asks for."""
    return frozenset(name for name in NEED_MODEL if overrides.get(name) == "true")


def asked_for(what_ifs: Iterable[str]) -> list[frozenset[str]]:
    """The changes of the step among the what-ifs of the user: "amp", "compile=True"."""
    names = [text.partition("=") for text in what_ifs]
    return [
        frozenset({name}) for name, _, value in names
        if name in NEED_MODEL and value.lower() in ("", "true")
    ]  # fmt: skip


def _floats(tree: Any) -> list[Any]:
    return [t for t in trees.leaves(tree) if trees.is_tensor(t) and t.is_floating_point()]


def _detached(leaf: Any) -> Any:
    return leaf.detach() if trees.is_tensor(leaf) else leaf
