"""The chain of stages that a loader is, as the engine sees it.

Stage s turns boundary s - 1 into boundary s; boundary 0 is live, boundary n what the step reads.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Optional

from . import pinning
from .called import Called
from .facts import is_iterable
from .named_source import NamedSource
from .own_iteration import OwnIteration
from .settings import ELEMENTWISE, MAKES_FLOATS
from .slots import callable_name, datasets_within
from .sources import asks_for_single_samples, innermost, reads_whole_batches

SAMPLER, READ, MEMBER, COLLATE, TRANSFER, PIN, COPY, LOADER, COMPANION, NODE = (
    "sampler", "read", "member", "collate", "transfer", "pin", "copy", "loader", "companion", "node"
)  # fmt: skip
"""Places of stages."""

_PINS_NOTHING = "pin_memory=True has no effect here: torch sees no accelerator to pin memory for"
_KEEPS_SAMPLES = (
    "the dataset keeps samples after {}: those that are kept by now are measured as later epochs "
    "find them, the others are made"
)
_MADE_THERE = "its batches lie on the device already: there is no boundary on the host"
_OWN_SAMPLERS = (
    "torch.utils.data", "torchdata.", "accelerate.", "lightning.", "transformers.", "timm.",
    "ultralytics.",
)  # fmt: skip


@dataclass
class Stage:
    """One stage as the engine is told of it."""

    name: str
    type: str
    """ "category.name" of docs/extend/protocol.md."""
    kind: str
    place: str
    held: str = "host"
    output: str = ""
    random: bool = False
    """It has drawn random numbers."""
    cacheable: bool = True
    """Neither it nor a stage before it is random."""

    @property
    def makes_floats(self) -> bool:
        """It makes a tensor of floats of an image of bytes."""
        return self.type.partition(".")[2] in MAKES_FLOATS

    def to_json(self) -> dict[str, Any]:
        transform = self.type.partition(".")[2]
        return {
            "name": self.name,
            "type": self.type,
            "kind": self.kind,
            "held": self.held,
            "output": self.output,
            "random": self.random,
            "cacheable": self.cacheable,
            "elementwise": transform in ELEMENTWISE,
            "makes_floats": self.makes_floats,
        }


@dataclass
class Chain:
    """All stages of a loader, and where each is served from."""

    stages: list[Stage]
    plan: tuple[str, ...] = ()
    """Names of the member stages."""
    notes: list[str] = field(default_factory=list)
    cached_after: tuple[str, ...] = ()
    reads: bool = False
    """Behind what a cache may stand, as cachebisect.cached() names it; whether in front of all."""
    on_device_from: tuple[str, ...] = ()
    """What may run on the device, with the members that follow it: the first words of names."""
    of_data_loader: bool = True
    """Batches come from torch's DataLoader, or from a class of its kind."""
    lines: dict[str, str] = field(default_factory=dict)
    """Lines of code in place of those of ADVICE."""
    single_samples: bool = False
    """The loader asks its dataset for the samples of a batch one after the other."""

    @property
    def decodes(self) -> bool:
        """A stage makes images of bytes."""
        return any(stage.type.startswith("decode.") for stage in self.stages)

    @property
    def last(self) -> int:
        """n: the boundary behind the last stage."""
        return len(self.stages)

    def place(self, boundary: int) -> Optional[str]:
        """Place of the stage whose output lies at `boundary`; None at 0."""
        return self.stages[boundary - 1].place if boundary > 0 else None

    def place_of_loader(self, boundary: int) -> Optional[str]:
        """The same without stages of other loaders."""
        while self.place(boundary) == COMPANION:
            boundary -= 1
        return self.place(boundary)

    def has(self, place: str) -> bool:
        """True if a stage is at `place`."""
        return any(stage.place == place for stage in self.stages)

    def level(self, boundary: int) -> int:
        """The level in the worker for a boundary after a read, member or collate stage."""
        inside = [s for s in self.stages[:boundary] if s.place in (READ, MEMBER, COLLATE)]
        return len(inside)

    def counted_stage(self, index: int) -> Optional[int]:
        """The stage number of the workers' counters for stage `index` (from 0); None: not there."""
        if self.stages[index].place in (READ, MEMBER, COLLATE):
            return self.level(index + 1) - 1
        return None


def chain_of_loader(loader: Any, found: dict[str, Any], on_device: bool) -> Chain:
    """The chain of a DataLoader. `found`: what a worker found that is called for each sample."""
    members = found["stages"]
    stages: list[Stage] = []
    if not is_iterable(loader.dataset) and not _torchs_own_sampler(loader):
        sampler = loader.batch_sampler if loader.batch_sampler is not None else loader.sampler
        inner = getattr(sampler, "sampler", sampler)
        name = f"sampler {_class_name(sampler if _is_users(sampler) else inner)}"
        stages.append(Stage(name, f"sampler.{_class_name(inner)}", "sample", SAMPLER))
    reads = f"read {_class_name(innermost(loader.dataset))}.{_reading_method(loader)}"
    reads_random = bool(found.get("random"))
    stages.append(Stage(reads, "read.dataset", "sample", READ, random=reads_random))
    for member in members:
        kind = f"{member['category']}.{member['name'].split('(')[0].split()[-1]}"
        output, random = member.get("output", ""), bool(member.get("random"))
        stages.append(Stage(member["name"], kind, "sample", MEMBER, output=output, random=random))
    collate = callable_name(loader.collate_fn)
    stages.append(Stage(f"collate_fn {collate}", f"collate.{collate}", "collate", COLLATE))
    if loader.num_workers > 0:
        stages.append(Stage("transfer", "transfer.worker_to_main", "batch", TRANSFER))
    if pinning.happens(loader):
        kind = "pin.thread" if loader.num_workers > 0 else "pin.training_thread"
        stages.append(Stage("pin", kind, "batch", PIN))
    if on_device:
        stages.append(Stage("copy", "copy.to", "copy", COPY, held="device"))
    stages[0].kind = "source"
    _mark_cacheable(stages)
    chain = Chain(stages, tuple(member["name"] for member in members))
    chain.single_samples = asks_for_single_samples(loader)
    kept = [each for each in datasets_within(loader.dataset) if _keeps_samples(each)]
    if kept:
        chain.notes.append(_KEEPS_SAMPLES.format(kept[0].after))
    elif not is_iterable(loader.dataset):
        chain.cached_after, chain.reads = _cached_after(stages), not reads_random
    if on_device and not is_iterable(loader.dataset):
        chain.on_device_from = _on_device_from(stages)
    if loader.pin_memory and not pinning.happens(loader):
        chain.notes.append(_PINS_NOTHING)
    return chain


def chain_of_iterable(batches: Any, on_device: bool, made_there: bool = False) -> Chain:
    """The chain of any other iterable of batches: all of it is one stage. `made_there`: its batches
    lie on the device already."""
    own = batches.loader if isinstance(batches, OwnIteration) else None
    name = name_of_loader(batches if own is None else own)
    held = "device" if on_device and made_there else "host"
    stages = [Stage(f"loader {name}", f"read.{name}", "source", LOADER, held=held)]
    if on_device and not made_there:
        stages.append(Stage("copy", "copy.to", "copy", COPY, held="device"))
    is_other = own is None or isinstance(own, NamedSource)
    why = "is no torch DataLoader" if is_other else "makes its batches in its own iterator"
    notes = [f"{name} {why}: only the loader as a whole can be measured"]
    if held == "device":
        notes.append(_MADE_THERE)
    return Chain(stages, notes=notes, of_data_loader=not is_other)


def name_of_loader(loader: Any) -> str:
    """That of its class, or of the function that makes it."""
    return loader.name if isinstance(loader, (NamedSource, Called)) else _class_name(loader)


def _mark_cacheable(stages: list[Stage]) -> None:
    same = True
    for stage in stages:
        same = same and not stage.random
        stage.cacheable = same


def _keeps_samples(dataset: Any) -> bool:
    """True for what cachebisect.cached() returns."""
    return getattr(type(dataset), "keeps_samples", False) is True


def _cached_after(stages: list[Stage]) -> tuple[str, ...]:
    """The names of members, without those that several have; the whole sample."""
    samples = [stage for stage in stages if stage.place in (READ, MEMBER)]
    words = [stage.name.split()[0] for stage in samples if stage.place == MEMBER]
    cached = [s.name.split()[0] for s in samples if s.place == MEMBER and s.cacheable]
    whole = ["sample"] if all(stage.cacheable for stage in samples) else []
    return (*(word for word in cached if words.count(word) == 1), *whole)


def _on_device_from(stages: list[Stage]) -> tuple[str, ...]:
    """The last members, back to one that draws random numbers or that makes tensors of images."""
    members = [stage for stage in stages if stage.place == MEMBER]
    words = [stage.name.split()[0] for stage in members]
    found: list[str] = []
    for stage, word in zip(reversed(members), reversed(words)):
        if stage.random or words.count(word) > 1 or "PIL" in stage.output:
            break
        found.append(word)
        if stage.makes_floats:
            break
    return tuple(reversed(found))


def _torchs_own_sampler(loader: Any) -> bool:
    batch_sampler = loader.batch_sampler
    inner = getattr(batch_sampler, "sampler", loader.sampler)
    return not _is_users(batch_sampler) and not _is_users(inner)


def _is_users(sampler: Any) -> bool:
    return sampler is not None and not type(sampler).__module__.startswith(_OWN_SAMPLERS)


def _reading_method(loader: Any) -> str:
    if is_iterable(loader.dataset):
        return "__iter__"
    batched = loader.batch_sampler is not None
    whole = batched and reads_whole_batches(loader.dataset)
    return "__getitems__" if whole else "__getitem__"


def _class_name(value: Any) -> str:
    return type(value).__name__
