"""Acts once the script itself has defined a name, before it can use it.

The module `__main__` is not imported, so that no import hook sees it. Its classes could be seen by
`builtins.__build_class__`, its functions by nothing: they are made by an instruction. So the lines
of the module's own frame are traced, as a debugger does, from when torch has been imported until
the name is there: mostly a few lines. No other frame is traced line by line.
"""

from __future__ import annotations

import sys
from types import FrameType
from typing import Any, Callable, Optional


class AfterDefinition:
    """Calls `act()` before each further line of the script until it returns True, or stop() is
    called. Does nothing where the script is traced already, as by a debugger. Not thread safe."""

    def __init__(self, act: Callable[[], bool]) -> None:
        self._act = act
        self._frame: Optional[FrameType] = None
        self._on_call = self._ignore
        self._on_line = self._traced

    def start(self) -> None:
        """Called by what the script calls, such as an import."""
        frame = _frame_of_script()
        if frame is None or sys.gettrace() is not None or self._act():
            return
        self._frame = frame
        frame.f_trace = self._on_line
        sys.settrace(self._on_call)

    def stop(self) -> None:
        """May be called without start()."""
        frame, self._frame = self._frame, None
        if frame is None:
            return
        if frame.f_trace is self._on_line:
            frame.f_trace = None
        if sys.gettrace() is self._on_call:
            sys.settrace(None)

    def _ignore(self, _frame: FrameType, _event: str, _argument: Any) -> None:
        """What other frames are traced by: nothing."""

    def _traced(self, _frame: FrameType, _event: str, _argument: Any) -> Any:
        try:
            is_done = self._act()
        except Exception:  # It would be raised in the script.
            is_done = True
        if is_done:
            self.stop()
            return None
        return self._on_line


def _frame_of_script() -> Optional[FrameType]:
    """That of the module `__main__`; None in another thread than the script's."""
    names = getattr(sys.modules.get("__main__"), "__dict__", None)
    frame: Optional[FrameType] = sys._getframe(1)
    while frame is not None:
        if frame.f_globals is names and frame.f_code.co_name == "<module>":
            return frame
        frame = frame.f_back
    return None
