"""Datasets, members and loaders for tests; importable by workers of every start method."""

from __future__ import annotations

import time
from typing import Any

import torch
from torch.utils.data import Dataset, IterableDataset, get_worker_info

from members import Compose as Compose


class Member:
    """Adds `number` after `seconds` of sleep."""

    def __init__(self, number: int = 1, seconds: float = 0.0) -> None:
        self.number = number
        self.seconds = seconds

    def __call__(self, x: Any) -> Any:
        if self.seconds:
            time.sleep(self.seconds)
        return x + self.number


class SlowMember(Member):
    """Takes far longer than any step of these tests."""

    def __init__(self) -> None:
        super().__init__(seconds=0.02)


class InPlaceMember(Member):
    def __call__(self, x: Any) -> Any:
        return x.add_(self.number)


class CountingMember(Member):
    """Adds 1000 for each time that it had the sample before, in this process."""

    def __init__(self) -> None:
        super().__init__()
        self.had: dict[float, int] = {}

    def __call__(self, x: Any) -> Any:
        key = float(x[0])
        times = self.had[key] = self.had.get(key, -1) + 1
        return x + 1000 * times


class KeywordMember(Member):
    """As albumentations calls its members."""

    def __call__(self, **data: Any) -> Any:
        return {**data, "image": data["image"] + self.number}


class KeywordCompose:
    def __init__(self, transforms: Any) -> None:
        self.transforms = transforms

    def __call__(self, **data: Any) -> Any:
        for member in self.transforms:
            data = member(**data)
        return data


def _undecorated(name: str) -> Any:
    method = getattr(torch.optim.Optimizer, name)
    return getattr(method, "__wrapped__", method)


class Descent(torch.optim.Optimizer):
    """Gradient descent. For an optimizer of torch's own, and for what these methods are decorated
    with, torch imports its compiler, which takes as long as torch itself."""

    add_param_group = _undecorated("add_param_group")
    state_dict = _undecorated("state_dict")
    load_state_dict = _undecorated("load_state_dict")
    zero_grad = _undecorated("zero_grad")

    def __init__(self, parameters: Any, lr: float) -> None:
        super().__init__(parameters, {"lr": lr})

    @torch.no_grad()
    def step(self, closure: Any = None) -> None:  # type: ignore[override]
        for group in self.param_groups:
            for parameter in group["params"]:
                if parameter.grad is not None:
                    parameter.sub_(parameter.grad, alpha=group["lr"])


class Items(Dataset):  # type: ignore[type-arg]
    """(tensor of the index, transformed; the index)."""

    def __init__(self, transform: Any = None, length: int = 64, read_seconds: float = 0.0) -> None:
        self.transform = transform
        self.length = length
        self.read_seconds = read_seconds

    def __len__(self) -> int:
        return self.length

    def __getitem__(self, index: int) -> Any:
        if self.read_seconds:
            time.sleep(self.read_seconds)
        x = torch.full((4,), float(index))
        if self.transform is not None:
            x = self.transform(x)
        return x, index


class KeywordItems(Items):
    def __getitem__(self, index: int) -> Any:
        image = torch.full((4,), float(index))
        return {"image": self.transform(image=image)["image"], "label": index}


class ListItems(Items):
    """Calls a plain list of members in turn."""

    def __init__(self, members: Any) -> None:
        super().__init__()
        self.members = members

    def __getitem__(self, index: int) -> Any:
        x = torch.full((4,), float(index))
        for member in self.members:
            x = member(x)
        return x, index


class WholeBatches(Items):
    """Makes all samples of a batch in one call, as torch's fetcher prefers."""

    def __getitems__(self, indices: Any) -> Any:
        return [self[index] for index in indices]


class Stream(IterableDataset):  # type: ignore[type-arg]
    """`length` items for each of the first `shards` workers, none for the others."""

    def __init__(self, length: int = 24, shards: int = 8, transform: Any = None) -> None:
        self.length = length
        self.shards = shards
        self.transform = transform

    def __iter__(self) -> Any:
        info = get_worker_info()
        if info is not None and info.id >= self.shards:
            return
        for index in range(self.length):
            x = torch.full((4,), float(index))
            yield (self.transform(x) if self.transform is not None else x), index


class Failing(Items):
    """Raises for indices from `first` on."""

    first = 40

    def __getitem__(self, index: int) -> Any:
        if index >= self.first:
            raise ValueError(f"bad sample {index}")
        return super().__getitem__(index)


class BadEnd(Stream):
    """Raises where it should end."""

    def __iter__(self) -> Any:
        yield from super().__iter__()
        raise OSError("the last shard is truncated")


class Mixed(Items):
    """Samples of several structures, with and without calls of the transform."""

    def __getitem__(self, index: int) -> Any:
        x = torch.full((1 + index % 3,), float(index))
        if index % 4 == 0:
            return None
        if index % 4 == 1:
            return {"x": self.transform(x), "label": index}
        return (self.transform(x), [self.transform(x)], "two") if index % 2 else x


def set_own_attribute(_worker: int) -> None:
    """A worker_init_fn that reaches for the dataset, as the PyTorch documentation shows."""
    info = get_worker_info()
    assert info is not None
    info.dataset.length = info.dataset.length  # type: ignore[attr-defined]


def collate_lists(samples: Any) -> Any:
    """A collate_fn that changes the samples that it gets."""
    samples.reverse()
    return torch.stack([x for x, _ in samples]), [i for _, i in samples]
