"""What measures the members of a pipeline that is no DataLoader, one by one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Optional, Protocol

from .._chain.description import Chain
from .node_feed import NodeFeed


class MemberArms(Protocol):
    """The arms of one pipeline. Not thread safe."""

    def chain(self, on_device: bool, made_there: bool) -> Chain:
        """Its stages. `made_there`: the batches lie on the device already."""

    def fill(self, batches: int) -> Iterator[Any]:
        """Gives so many batches, one by one, and keeps what they are made of. Raises what the
        pipeline raises."""

    @property
    def copies_written(self) -> bool:
        """True if a member writes into its input."""

    def bytes_at(self, stage: int) -> float:
        """Of all that is kept behind stage number `stage`, from 1."""

    def feed(self, boundary: int, samples_per_batch: Optional[int], limit: int) -> NodeFeed:
        """Of one block; boundary 0 is live. `limit`: of the first so many batches; 0: of all."""

    def can_bypass(self, stage: int) -> bool:
        """True if there is a block without stage number `stage`, from 1."""

    def bypass(
        self, stage: int, samples_per_batch: Optional[int], batches: list[Any], copies: bool
    ) -> NodeFeed:
        """Of one block without stage number `stage`, from 1: those before it run, and what they
        give is dropped. `batches`: what is kept behind the last stage. `copies`: the step writes
        into them."""

    def ahead(self, boundary: int) -> int:
        """Batches that the members behind `boundary` hold in advance, as far as that is known."""

    def close(self) -> None:
        """Ends all threads and processes, and gives back what was shared."""
