"""Every iterator of what `--iterator` names, seen by patches of that class or function alone."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Callable, Optional

from .._chain.facts import is_torch_loader
from .._chain.named_source import NamedSource
from .._chain.shared_stream import SharedStream
from .._chain.trees import is_data
from .after_definition import AfterDefinition
from .after_import import after_import
from .loaders import Level, LoaderSubscriber
from .named_classes import for_each_subclass, watch_methods
from .named_instances import Instances
from .named_target import NamedTarget, as_stored
from .spdl_builds import LIBRARY, follow_builds

_WHOLE = (list, tuple, Mapping, str, bytes)
"""What is a batch rather than makes some."""


class NamedIterator:
    """`text`: as `--iterator` has it. `keeps`: training goes on after measuring, so that it must
    get each batch that measuring takes from an iterator that cannot be opened twice."""

    def __init__(self, text: str, keeps: bool) -> None:
        self.target = NamedTarget(text)
        self.keeps = keeps
        self.seen = 0
        """Iterators that the script has asked for."""
        self.problem = self.target.mistake()
        """Why what was found cannot be iterated; None: nothing is known to be wrong."""
        self._ahead: list[tuple[list[Any], SharedStream]] = []
        """Streams that are ahead of training, by the call that gave them."""
        self._subscriber: Optional[LoaderSubscriber] = None
        self._is_found = False
        self._definition = AfterDefinition(self.look)

    def follow(self, subscriber: LoaderSubscriber) -> None:
        """Patches it as soon as it is there."""
        self._subscriber = subscriber
        if self.target.module.startswith(LIBRARY):
            follow_builds()
        if self.problem is None and not self.target.is_of_script:
            after_import(self.target.module, self._look_in_module)

    def _look_in_module(self, _module: Any) -> None:
        self.look()

    def look_in_script(self) -> None:
        """Called where torch has been imported, by the script's own thread."""
        if self.problem is None and self.target.is_of_script:
            self._definition.start()

    def look_at_last(self) -> None:
        """The script trains: what is not there by now is looked for once more."""
        self._definition.stop()
        if self.problem is None:
            self.look()

    def look(self) -> bool:
        """True once there is nothing more to look for."""
        found = None if self._is_found else self.target.find()
        if found is not None:
            self._is_found = True
            try:
                self._patch(found)
            except TypeError:  # A class of C code.
                self.problem = (
                    "it is built in, and cannot be watched: name a function of the script that "
                    "gives its batches"
                )
        return self._is_found

    def missing(self) -> Optional[str]:
        """Why no batch of it was seen; None if one may have been."""
        if self.problem is not None:
            return f"--iterator {self.target.text}: {self.problem}"
        if not self._is_found:
            return (
                f"--iterator {self.target.text}: {self.target.why_missing()}; name it by the "
                "module that defines it, or __main__ for the script itself"
            )
        if self.seen == 0:
            return (
                f"--iterator {self.target.text}: it was never iterated in this process; name the "
                "class or function that the training loop itself iterates"
            )
        return None

    def _patch(self, found: Any) -> None:
        if inspect.isclass(found):
            self._patch_class(found)
        elif callable(found) or isinstance(found, (staticmethod, classmethod)):
            self.target.replace(as_stored(found, self._watched_function))
        else:
            kind = type(found).__name__
            self.problem = f"it is of type {kind}: name its class, or the function that makes it"

    # A function, whose result is iterated

    def _watched_function(self, original: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(original)
        def call(*args: Any, **kwargs: Any) -> Any:
            result = original(*args, **kwargs)
            if is_torch_loader(result):
                self.problem = "it gives a torch DataLoader, which is measured without --iterator"
                return result
            if not isinstance(result, Iterable) or is_data(result) or isinstance(result, _WHOLE):
                self.problem = f"it returns a {type(result).__name__}, which makes no batches"
                return result
            again = functools.partial(original, *args, **kwargs)
            key = [original, *args, *kwargs.values()]
            if isinstance(result, Iterator):
                return self._opened(key, result, lambda: iter(again()), key)
            return _WatchedIterable(
                result,
                lambda: self._opened(key, iter(result), lambda: iter(result), [*key, result]),
            )

        return call

    def _opened(
        self,
        key: list[Any],
        first: Iterator[Any],
        again: Callable[[], Iterator[Any]],
        made_from: list[Any],
    ) -> Iterator[Any]:
        """`key`: the function and its arguments."""

        def begin_again() -> Iterator[Any]:
            if self.keeps:
                self._ahead.append((key, stream))
            return again()

        stream = SharedStream(first, again, made_from, begin_again, self.keeps)
        source = NamedSource(self.target.path[-1], key[0])
        return self.give(source, lambda _: self._ahead_or(stream, key))

    def _ahead_or(self, fresh: SharedStream, key: list[Any]) -> SharedStream:
        """What the same call gave, if measuring has begun another epoch of it; else `fresh`."""
        self._ahead = [(known, stream) for known, stream in self._ahead if stream.is_ahead]
        for known, stream in self._ahead:
            if len(known) == len(key) and all(a is b for a, b in zip(known, key)):
                stream.begin_epoch(lambda: None)
                return stream
        return fresh

    # A class, whose objects are iterated

    def _patch_class(self, kind: Any) -> None:
        if not hasattr(kind, "__iter__") and not hasattr(kind, "__next__"):
            self.problem = "it has neither __iter__ nor __next__"
            return
        instances = Instances(kind, self.give, self.keeps)
        watch_methods(kind, instances, inherited=True)
        for_each_subclass(kind, lambda cls: watch_methods(cls, instances, inherited=False))

    def give(self, source: NamedSource, opens: Callable[[Any], Iterator[Any]]) -> Iterator[Any]:
        """What the script iterates in place of `opens(source)`. Raises what that raises."""
        self.seen += 1
        assert self._subscriber is not None
        return self._subscriber.iterator(source, opens, Level.NAMED)


class _WatchedIterable:
    """Stands for the iterable that a function has returned."""

    def __init__(self, own: Any, opens: Callable[[], Iterator[Any]]) -> None:
        self._own = own
        self._opens = opens

    def __getattr__(self, name: str) -> Any:
        return getattr(self.__dict__["_own"], name)

    def __len__(self) -> int:
        return len(self._own)

    def __iter__(self) -> Iterator[Any]:
        return self._opens()
