"""What `--iterator` names: "package.module:Class", ":function" or ":Class.method"."""

from __future__ import annotations

import difflib
import inspect
import sys
from typing import Any, Callable, Optional

_CLOSE = 0.5


class NamedTarget:
    """Finds it in modules that the script has imported. Imports nothing."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.module, _, path = text.partition(":")
        self.path = path.split(".") if path else []

    @property
    def is_of_script(self) -> bool:
        return self.module == "__main__"

    def mistake(self) -> Optional[str]:
        """What is wrong with the text itself; None: nothing."""
        if self.module and self.path and all(part.isidentifier() for part in self.path):
            return None
        return "it must be package.module:Class, package.module:function or ...:Class.method"

    def owner(self) -> Any:
        """The module or class that has it; None as long as there is none."""
        found: Any = sys.modules.get(self.module)
        for part in self.path[:-1]:
            found = getattr(found, part, None)
        return found

    def find(self) -> Any:
        """It as its owner stores it, such as a staticmethod; None as long as it is not there."""
        owner = self.owner()
        if owner is None:
            return None
        if inspect.isclass(owner):
            return inspect.getattr_static(owner, self.path[-1], None)
        return getattr(owner, self.path[-1], None)

    def replace(self, value: Any) -> None:
        """Gives the owner `value` in its place. Raises TypeError if the owner is built in."""
        setattr(self.owner(), self.path[-1], value)

    def why_missing(self) -> str:
        """Why find() gives None."""
        module = sys.modules.get(self.module)
        if module is None:
            return f"no module {self.module} was imported{_like(self.module, sys.modules)}"
        found: Any = module
        for at, part in enumerate(self.path):
            if not hasattr(found, part):
                name = ".".join([self.module, *self.path[:at]])
                return f"{name} has no {part}{_like(part, _public(found))}"
            found = getattr(found, part)
        return "it was defined too late"


def _like(name: str, names: Any) -> str:
    close = difflib.get_close_matches(name, list(names), n=3, cutoff=_CLOSE)
    return f" (is it {', '.join(close)}?)" if close else ""


def _public(owner: Any) -> list[str]:
    return [name for name in dir(owner) if not name.startswith("_")]


def as_stored(found: Any, change: Callable[[Any], Any]) -> Any:
    """`change(function)` in the same kind of method as `found`, the function or method."""
    if isinstance(found, (staticmethod, classmethod)):
        return type(found)(change(found.__func__))
    return change(found)
