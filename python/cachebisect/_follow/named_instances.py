"""The objects of a named class: what each gives to the script, by its patched methods.

An object that is its own iterator stays what the script iterates: `__iter__` gives the object, and
its `__next__` takes from what stands in its place. Objects are not kept alive. Not thread safe:
an object is iterated by one thread at a time.
"""

from __future__ import annotations

import contextlib
import threading
import weakref
from collections.abc import Iterator
from typing import Any, Callable, Optional

from .._chain.named_source import NamedSource
from .._chain.own_iteration import Context
from .._chain.shared_stream import SharedStream

Give = Callable[[NamedSource, Callable[[Any], Iterator[Any]]], Iterator[Any]]
"""What the script iterates, by what it would iterate otherwise."""
Method = Callable[[Any], Any]


class _State:
    """Of one object."""

    def __init__(self, source: NamedSource) -> None:
        self.source = source
        self.current: Optional[Iterator[Any]] = None
        """What `__next__` takes from."""
        self.is_own = False
        """Its `__iter__` gives itself."""
        self.stream: Optional[SharedStream] = None
        """The one iterator that it is; or one that is ahead of training."""
        self.given = 0
        """Batches since it was last begun."""


class Instances:
    """Those of `kind` and its subclasses. `keeps`: as SharedStream has it."""

    def __init__(self, kind: Any, give: Give, keeps: bool) -> None:
        self.kind = kind
        self._give = give
        self._keeps = keeps
        self._originals: dict[tuple[Any, str], Method] = {}
        self._own_methods = threading.local()
        self._states: dict[int, tuple[weakref.ref[Any], _State]] = {}

    def note_original(self, kind: Any, name: str, method: Method) -> None:
        """`kind` had `method` by this name before it was patched."""
        self._originals[kind, name] = method

    def _original(self, owner: Any, name: str) -> Optional[Method]:
        """What the object would call; None if its class has no such method."""
        for kind in type(owner).__mro__:
            method: Optional[Method] = self._originals.get((kind, name), vars(kind).get(name))
            if method is not None:
                return method
        return None

    def reset(self, owner: Any, original: Method) -> Any:
        """In place of `original`, a `reset`: measuring may have begun the next epoch already."""
        state = self._state(owner)
        if state is not None and state.stream is not None and state.stream.is_ahead:
            return None
        return original(owner)

    def _state(self, owner: Any) -> Optional[_State]:
        """None where nothing may stand in place of a method: objects that take no weak references,
        and a method that another one calls, of the same object or of one that it is a part of."""
        if getattr(self._own_methods, "depth", 0) > 0:
            return None
        key = id(owner)
        if key in self._states:
            return self._states[key][1]
        try:
            alive = weakref.ref(owner, lambda _: self._states.pop(key, None))
        except TypeError:
            return None
        state = _State(NamedSource(type(owner).__name__, self.kind))
        self._states[key] = alive, state
        return state

    @contextlib.contextmanager
    def own_method(self) -> Iterator[None]:
        """Around a method of an object, in this thread."""
        inside = self._own_methods
        inside.depth = getattr(inside, "depth", 0) + 1
        try:
            yield
        finally:
            inside.depth -= 1

    def begin(self, owner: Any, original: Method) -> Iterator[Any]:
        """In place of `original`, an `__iter__`. Raises what that raises."""
        state = self._state(owner)
        if state is None:
            opened: Iterator[Any] = original(owner)
            return opened
        given = self._give(state.source, lambda _: self._opened(owner, state, original))
        if not state.is_own:
            return given
        state.current = given
        result: Iterator[Any] = owner
        return result

    def next_batch(self, owner: Any, original: Method) -> Any:
        """In place of `original`, a `__next__`. Raises what that raises."""
        state = self._state(owner)
        if state is None:
            return original(owner)
        if state.current is None:
            state.is_own = True
            state.current = self._give(state.source, lambda _: self._went_on(owner, state))
        try:
            return next(state.current)
        except StopIteration:
            state.current = None
            raise

    def _opened(self, owner: Any, state: _State, original: Method) -> Iterator[Any]:
        """What the script would iterate."""
        if state.stream is not None and (state.is_own or state.stream.is_ahead):
            state.stream.begin_epoch(lambda: self._begun(owner, state, original))
            return state.stream
        opened = self._begun(owner, state, original)
        state.is_own = opened is owner
        if state.is_own:
            return self._stream(owner, state)
        state.stream = None
        return self._apart(owner, state, original, opened)

    def _went_on(self, owner: Any, state: _State) -> Iterator[Any]:
        """The same without `__iter__`."""
        stream = self._stream(owner, state)
        stream.begin_epoch(lambda: None)
        return stream

    def _begun(self, owner: Any, state: _State, original: Method) -> Iterator[Any]:
        state.given = 0
        with self.own_method():
            begun: Iterator[Any] = original(owner)
        return begun

    def _apart(
        self, owner: Any, state: _State, original: Method, opened: Iterator[Any]
    ) -> Iterator[Any]:
        """An iterator that is not the object itself."""

        def again() -> Iterator[Any]:
            return self._begun(owner, state, original)

        def begin_again() -> Iterator[Any]:
            if self._keeps:
                state.stream = stream
            return again()

        stream = SharedStream(opened, again, [owner], begin_again, self._keeps)
        return stream

    def _stream(self, owner: Any, state: _State) -> SharedStream:
        """The one iterator that an object is."""
        if state.stream is None:
            original = self._original(owner, "__next__")
            assert original is not None
            own = _OwnIterator(owner, original, state, self.own_method)

            def begin_again() -> Iterator[Any]:
                self._begin_again(own.owner(), state)
                return own

            state.stream = SharedStream(own, None, (), begin_again, self._keeps)
        return state.stream

    def _begin_again(self, owner: Any, state: _State) -> None:
        """As a script begins another epoch: by `__iter__`; where that was not enough, by reset(),
        as DALI's iterators need it."""
        reset = self._original(owner, "reset")
        if state.given == 0 and callable(reset):
            with self.own_method():
                reset(owner)
        original = self._original(owner, "__iter__")
        if original is not None:
            self._begun(owner, state, original)
        state.given = 0


class _OwnIterator(Iterator[Any]):
    """The object's own `__next__`, in the context `around`. Does not keep the object alive."""

    def __init__(self, owner: Any, original: Method, state: _State, around: Context) -> None:
        self.owner = weakref.ref(owner)
        self._next = original
        self._state = state
        self._around = around

    def __next__(self) -> Any:
        with self._around():
            batch = self._next(self.owner())
        self._state.given += 1
        return batch
