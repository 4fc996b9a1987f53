"""A model whose images and weights lie in memory channel by channel for each pixel."""

from __future__ import annotations

import sys
from typing import Any


class ChannelsLast:
    """The weights and buffers of `model` that have 4 dimensions lie so from now on.

    An optimizer that makes its state from them lays it out in the same way. Raises what the copies
    raise, such as for a lack of memory: nothing has changed then.
    """

    def __init__(self, model: Any) -> None:
        layout = sys.modules["torch"].channels_last
        held = [t for t in (*model.parameters(), *model.buffers()) if t.dim() == 4]
        self._own = [(tensor, tensor.data) for tensor in held]
        try:
            for tensor, own in self._own:
                tensor.data = own.contiguous(memory_format=layout)
        except BaseException:
            self.undo()
            raise

    def undo(self) -> None:
        """They lie where they lay, with the values of then."""
        for tensor, own in self._own:
            tensor.data = own
