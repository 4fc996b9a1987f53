"""Begins the arms of a pipeline that is no DataLoader, as far as copies of it work."""

from __future__ import annotations

import contextlib
from typing import Callable, Optional, Protocol, TypeVar


class Looking(Protocol):
    """Arms that have yet to see what can be replayed."""

    notes: list[str]

    def look(self) -> None:
        """Makes a few batches. Raises what the pipeline raises."""

    def close(self) -> None:
        """Ends all threads and processes, and gives back what was shared."""


Arms = TypeVar("Arms", bound=Looking)


def arms_that_work(
    make: Callable[[], Arms], why_not: str, members: str
) -> tuple[Optional[Arms], list[str]]:
    """What `make` gives, once it has looked, and its notes; else None and why. `why_not`: why it is
    not even tried. `members`: of what the arms would be, in words. Raises no Exception."""
    arms, why = None, why_not
    if not why:
        try:
            arms = make()
            arms.look()
            return arms, arms.notes
        except Exception as error:  # Of members that cannot be copied after all.
            why = f"a copy of them fails: {type(error).__name__}: {error}"
            if arms is not None:
                with contextlib.suppress(Exception):
                    arms.close()
    return None, [f"{members} are not measured one by one: {why}"]
