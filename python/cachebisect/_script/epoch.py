"""Where an epoch of a measured loop ends: where the script's own loader would end it."""

from __future__ import annotations

from typing import Any, Optional


class Epoch:
    """Counts the batches of one. `length`: batches after which it is over; None: it never is."""

    def __init__(self, length: Optional[int], given: int) -> None:
        self._length = length
        self.given = given
        """Batches so far."""
        self._has_begun = False

    def begin(self) -> None:
        """The script asks for the first batch of another one."""
        self.given = 0
        self._has_begun = True

    def has_just_begun(self) -> bool:
        """True before the first batch of another one."""
        return self._has_begun and self.given == 0

    def note_batch(self) -> None:
        """The script is given another batch."""
        self.given += 1

    def is_over(self) -> bool:
        """True if the script's own iterator would end now."""
        return self._length is not None and self.given >= self._length


def length_of_epoch(loader: Any, seen: Optional[int], is_inner: bool) -> Optional[int]:
    """Batches after which an iterator of `loader` ends; None: unknown.

    `seen`: after which an earlier one has ended. `is_inner`: another iterator takes the batches of
    this one, often of a sampler without end. Raises what the user's `__len__` raises.
    """
    if seen is not None:
        return seen
    if is_inner or not hasattr(loader.dataset, "__getitem__"):
        return None  # The length of a stream is only what it says.
    try:
        return len(loader) or None
    except (TypeError, NotImplementedError):
        return None
