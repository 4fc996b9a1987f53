"""A dataset without its last stages, which run on the device. Not thread safe."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any, Callable, Optional

from .._chain.forwarding import Forwarding
from .._chain.slots import Slot
from .._chain.stand_ins import Installed
from .probe import planned_slots


class HostPartDataset(Forwarding):
    """`dataset`, whose stages `names` leave their input as it is.

    `sends_bytes`: the first of them makes floats of an image; here it makes uint8 of the same
    shape.
    """

    def __init__(self, dataset: Any, names: Sequence[str], sends_bytes: bool) -> None:
        super().__init__(dataset)
        self._names = tuple(names)
        self._sends_bytes = sends_bytes
        self._slots: Optional[list[Slot]] = None
        self.become_ready()

    def __getitem__(self, index: Any) -> Any:
        if self._slots is None:
            self._slots = planned_slots(self.dataset, self._names)
        with Installed(self._slots, self._instead):
            return self.dataset[index]

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_slots": None}

    def _instead(self, stage: int, _original: Any) -> Callable[..., Any]:
        return as_bytes if stage == 0 and self._sends_bytes else _unchanged


def _unchanged(value: Any) -> Any:
    return value


def as_bytes(image: Any) -> Any:
    """The uint8 tensor [C, H, W] of a PIL image, as PILToTensor makes it.

    Only where torchvision's ToTensor is in use.
    """
    return sys.modules["torchvision.transforms.functional"].pil_to_tensor(image)
