"""One run of a copy of a torchdata.nodes pipeline, and what stands between its nodes.

Threads of the nodes call what stands between them; the training thread all else.
"""

from __future__ import annotations

import contextlib
import sys
import threading
import time
from collections.abc import Iterator
from types import FrameType
from typing import Any, Optional

from .gate import Gate

PATIENCE_SECONDS = 5.0
_END_SECONDS = 1.0
_POLL_SECONDS = 0.002
_WAITING = ("threading", "queue", "selectors", "multiprocessing.")
_OF_NODES = ("torchdata.", __name__.partition(".")[0])
_FEW = 1000
"""Items of a list or dict above which it holds no nodes."""


class Between:
    """Stands for `node`, which it takes its items from. Base of what stands between nodes."""

    def __init__(self, node: Any) -> None:
        self.node = node

    def __getattr__(self, name: str) -> Any:
        return getattr(self.__dict__["node"], name)

    def __iter__(self) -> Any:
        return self

    def __next__(self) -> Any:
        return next(self.node)

    def next(self) -> Any:
        """Some classes call it in place of __next__."""
        return self.__next__()

    def reset(self, initial_state: Optional[dict[str, Any]] = None) -> None:
        self.node.reset(initial_state)

    def state_dict(self) -> Any:
        return self.node.state_dict()

    def get_state(self) -> Any:
        """As next()."""
        return self.state_dict()


class Gated(Between):
    """Asks a source for items while a gate is open."""

    def __init__(self, node: Any, gate: Gate) -> None:
        super().__init__(node)
        self._gate = gate

    def __next__(self) -> Any:
        if not self._gate.lets_in():
            raise StopIteration
        return next(self.node)


class HeldBack(Gated):
    """Gives the items of a node with threads of its own while the gate is open: who takes them
    works on none of them while it is closed."""

    def __next__(self) -> Any:
        item = next(self.node)
        if not self._gate.lets_in():
            raise StopIteration
        return item


class NodeEpoch(Iterator[Any]):
    """Iterates `root`, a copy that nothing else iterates; it is begun here. `gate`: what its items
    pass, if there is one. Raises what its nodes raise."""

    def __init__(self, root: Any, gate: Optional[Gate] = None) -> None:
        self._root = root
        self._gate = gate
        self._has_ended = False
        try:
            root.reset(None)
        except BaseException:
            self.end()
            raise

    def __next__(self) -> Any:
        if self._has_ended:
            raise StopIteration
        try:
            return next(self._root)
        except StopIteration:
            self.end()
            raise

    def rest(self) -> None:
        """Waits until no thread of it runs a function of the user's, if its gate is closed."""
        rest(self._root, PATIENCE_SECONDS)

    def end(self) -> None:
        """Ends its threads and processes. The first nodes end first: those behind wait for them."""
        self._has_ended = True
        if self._gate is not None:
            self._gate.end()
        for _ in range(2):  # A node that takes from several may have begun one of them again.
            for iterator in reversed(running_in(self._root)):
                with contextlib.suppress(Exception):
                    _stop_receiving(iterator)
                    iterator._shutdown()

    _shutdown_workers = end
    """By the name that the iterator of a DataLoader has for it."""


def _stop_receiving(iterator: Any) -> None:
    """A mapper ends its processes and the thread that receives from them at the same time: what it
    receives then fails, and it tells so on stderr."""
    receiving, stop = (getattr(iterator, name, None) for name in ("_sort_thread", "_stop"))
    if receiving is not None and stop is not None and receiving.is_alive():
        stop.set()
        receiving.join(_END_SECONDS)


def rest(root: Any, seconds: float, until_full: bool = False) -> None:
    """Waits until the threads of nodes wait; at most so long. `until_full`: until they have made
    all that they make in advance."""
    until = time.monotonic() + seconds
    running = running_in(root)
    threads = [thread for iterator in running for thread in _threads_in(iterator)]
    while threads and time.monotonic() < until:
        time.sleep(_POLL_SECONDS)
        frames = sys._current_frames()
        is_still = all(_waits(frames.get(thread.ident or 0)) for thread in threads)
        if is_still and not (until_full and not all(map(_is_full, running))):
            break


def _threads_in(iterator: Any) -> list[threading.Thread]:
    inside = vars(iterator)
    near = [*inside.values(), *few_in(inside.get("_workers"))]
    return [value for value in near if isinstance(value, threading.Thread)]


def _waits(frame: Optional[FrameType]) -> bool:
    """True where a thread waits for a node or a gate, not in a function of the user's."""
    if frame is None or not _module_of(frame).startswith(_WAITING):
        return frame is None
    while frame is not None and _module_of(frame).startswith(_WAITING):
        frame = frame.f_back
    return frame is None or _module_of(frame).startswith(_OF_NODES)


def _module_of(frame: FrameType) -> str:
    return str(frame.f_globals.get("__name__", ""))


def _is_full(iterator: Any) -> bool:
    """True also where that cannot be seen."""
    inside = vars(iterator)
    thread = inside.get("_thread", inside.get("_read_thread"))
    made = inside.get("_q", inside.get("_out_q"))
    most = inside.get("prefetch_factor", inside.get("_max_tasks"))
    if not isinstance(thread, threading.Thread) or not isinstance(most, int):
        return True
    return not thread.is_alive() or bool(made is None or made.qsize() >= most)


def running_in(root: Any) -> list[Any]:
    """What nodes run threads by, those of the last node first."""
    found: list[Any] = []
    seen: set[int] = set()
    waiting = [root]
    while waiting:
        node = waiting.pop(0)
        if id(node) in seen:
            continue
        seen.add(id(node))
        inside = getattr(node, "__dict__", {})
        if callable(getattr(type(inside.get("_it")), "_shutdown", None)):
            found.append(inside["_it"])
        near = few_in(inside)
        near += [item for value in near for item in few_in(value)]
        waiting += [value for value in near if _is_like_node(value)]
    return found


def few_in(value: Any) -> list[Any]:
    """The items of a dict, list or tuple that is not long; none of anything else."""
    if not isinstance(value, (dict, list, tuple)) or len(value) > _FEW:
        return []
    return list(value.values() if isinstance(value, dict) else value)


def _is_like_node(value: Any) -> bool:
    methods = ("__next__", "reset", "state_dict")
    return all(callable(getattr(type(value), name, None)) for name in methods)
