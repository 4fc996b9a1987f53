"""A dataset that stands for another one: it has its length and its attributes."""

from __future__ import annotations

from typing import Any


class Forwarding:
    """Base of classes that stand for `dataset`. Calls become_ready() at the end of `__init__`.

    What is not their own, such as a file that worker_init_fn opens, is read and set on `dataset`.
    """

    def __init__(self, dataset: Any) -> None:
        self.dataset = dataset

    def become_ready(self) -> None:
        """From here on, attributes that are not there yet are those of the dataset."""
        self._is_ready = True

    def __len__(self) -> int:
        return len(self.dataset)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or "dataset" not in self.__dict__:
            raise AttributeError(name)
        return getattr(self.dataset, name)

    def __setattr__(self, name: str, value: Any) -> None:
        if "_is_ready" in self.__dict__ and name not in self.__dict__:
            setattr(self.dataset, name, value)
        else:
            object.__setattr__(self, name, value)
