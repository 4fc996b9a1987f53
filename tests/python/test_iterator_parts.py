"""Objects of a class that `--iterator` names, which are parts of others of that class."""

from __future__ import annotations

import pickle
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from cachebisect._follow import named_classes
from cachebisect._follow.named_classes import watch_methods
from cachebisect._follow.named_instances import Instances

LIBRARY = """
import threading

class Numbers:
    def __iter__(self):
        return iter(range(3))

class ReadByThread(Numbers):
    def __init__(self, source):
        self.source = source

    def __iter__(self):
        self.opened = None
        thread = threading.Thread(target=self.open)
        thread.start()
        thread.join()
        return self.opened

    def open(self):
        self.opened = iter(self.source)
"""


class Given:
    """What the script would iterate."""

    def __init__(self) -> None:
        self.count = 0

    def __call__(self, _source: Any, opens: Any) -> Iterator[Any]:
        self.count += 1
        made: Iterator[Any] = opens(None)
        return made


def library(name: str, given: Given) -> dict[str, Any]:
    """The classes of a module of this name, which are watched."""
    module: dict[str, Any] = {"__name__": name}
    exec(LIBRARY, module)
    instances = Instances(module["Numbers"], given, keeps=False)
    watch_methods(module["Numbers"], instances, inherited=True)
    watch_methods(module["ReadByThread"], instances, inherited=False)
    return module


def test_what_a_library_opens_itself_is_a_part() -> None:
    given = Given()
    module = library("grain.stand_in", given)
    opened = iter(module["ReadByThread"](module["Numbers"]()))
    assert list(opened) == [0, 1, 2] and given.count == 1
    assert type(module["ReadByThread"](module["Numbers"]()).source).__name__ == "Numbers"


def test_threads_of_other_modules_are_seen() -> None:
    given = Given()
    module = library("train.batches", given)
    assert list(module["ReadByThread"](module["Numbers"]())) == [0, 1, 2] and given.count == 2


def test_a_subclass_in_a_thread_opens_a_part(monkeypatch: pytest.MonkeyPatch) -> None:
    """The library asks the user's class in a thread, which asks another one."""
    monkeypatch.setattr(named_classes, "_ITERATES_ITS_OWN", ("grain.",))
    given = Given()
    module = library("grain.stand_in", given)

    class Users(module["Numbers"]):  # type: ignore[misc, name-defined]
        def __iter__(self) -> Iterator[Any]:
            assert threading.current_thread() is not threading.main_thread()
            return iter(module["Numbers"]())

    kind: Any = Users
    instances = vars(module["Numbers"])["__iter__"]._instances
    watch_methods(kind, instances, inherited=False)
    assert list(module["ReadByThread"](Users())) == [0, 1, 2] and given.count == 1


def test_what_is_sent_by_its_contents_is_the_original() -> None:
    original = vars(Plain)["__iter__"]
    instances = Instances(Plain, Given(), keeps=False)
    watch_methods(Plain, instances, inherited=True)
    try:
        watched = vars(Plain)["__iter__"]
        assert watched is not original and watched.__name__ == "__iter__"
        assert Plain().__iter__.__func__ is watched
        make, arguments = watched.__reduce__()
        assert make(*arguments) is original
        assert pickle.loads(pickle.dumps(make))(arguments[0]) is original
    finally:
        Plain.__iter__ = original  # type: ignore[method-assign]


class Plain:
    def __iter__(self) -> Iterator[int]:
        return iter(range(3))
