"""After which stage of a dataset its samples are cached. Not thread safe."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Optional

from .._worker.draws import GLUE
from .._worker.kept_random import KeptRandom
from .._worker.tape import Copies
from .encoding import decoded, encoded
from .entry import Entry, NotCacheable, cut_after
from .examined import Examined, Findings, examine
from .reference import Reference, reference
from .store import limit_for

WHOLE = "sample"
"""In place of the name of a stage: what the dataset returns."""
READ = "read"
"""In place of one: what the dataset calls its first stage with, if no stage is called so."""


@dataclass
class Choice:
    """`names`: of all stages; the first `stages` of them are cached. `copies`: of values that are
    overwritten."""

    names: list[str]
    stages: int
    bytes_per_sample: float
    copies: Copies

    @property
    def after(self) -> str:
        """The last stage that is cached."""
        return stage_name(self.names, self.stages)

    @property
    def later(self) -> list[str]:
        """The stages behind the cache."""
        return self.names[self.stages :]


def stage_name(names: list[str], stages: int) -> str:
    """The last of the first `stages`."""
    if stages == len(names):
        return WHOLE
    return names[stages - 1] if stages > 0 else READ


def choose(
    dataset: Any, shared: list[Any], after: Optional[str], frozen: bool, limit: float
) -> tuple[Choice, Examined]:
    """The stage `after`, else the last one behind which a cache of `limit` bytes has room for all
    samples and every epoch gives the same.

    `shared`: objects that entries name. Raises NotCacheable; what the dataset raises.
    """
    with KeptRandom():
        found = examine(dataset)
        return choose_from(found, len(dataset), shared, after, frozen, limit), found.examined


def choose_from(
    found: Findings, count: int, shared: list[Any], after: Optional[str], frozen: bool, limit: float
) -> Choice:
    """As choose(), of a dataset with `count` samples that was examined. Draws random numbers."""
    if GLUE in found.random and not frozen:
        raise NotCacheable(_random_code(found.names))
    stages = _asked_for(found, after, frozen) if after is not None else None
    tried = [stages] if stages is not None else _candidates(found)
    made = [reference(found.examined, index, frozen) for index in found.indices]
    sized = _sized(found, tried, shared, made)
    fitting = [pair for pair in sized if limit_for(count, pair[1]) <= limit]
    chosen = fitting[0] if fitting else min(sized, key=lambda pair: pair[1])
    return Choice(found.names, *chosen, found.examined.copies)


def _candidates(found: Findings) -> list[int]:
    """How many stages may be cached, most first."""
    same = found.same_stages
    if same == 0 and found.names:
        raise NotCacheable(
            f"the first stage, {found.names[0]}, makes another output in every epoch: what the "
            "cache would hold has cost nothing. Its reading can be cached if it is a function "
            'of its own: mark it with @cachebisect.stage("read")'
        )
    return list(range(same, 0, -1)) or [0]


def _asked_for(found: Findings, after: str, frozen: bool) -> int:
    """How many stages are cached. Raises NotCacheable if not all of them may be."""
    names = found.names
    if after == READ and not any(READ in (name, name.split(" ")[0]) for name in names):
        return 0
    matching = [i for i, name in enumerate(names) if after in (name, name.split(" ")[0])]
    if after != WHOLE and len(matching) != 1:
        known = ", ".join([*names, WHOLE])
        what = "is no stage" if not matching else "is the name of several stages"
        raise NotCacheable(f"after={after!r} {what}; there are {known}")
    stages = len(names) if after == WHOLE else matching[0] + 1
    if stages <= found.same_stages or frozen:
        return stages
    first = names[found.same_stages]
    place = f"after={names[found.same_stages - 1]!r}" if found.same_stages else "before it"
    raise NotCacheable(
        f"after={after!r}: {first} makes another output in every epoch, and the cache would "
        f"repeat one of them. Cache {place}, or pass frozen=True: training changes then"
    )


def _random_code(names: list[str]) -> str:
    stages = f" (the stages are {', '.join(names)})" if names else ""
    return (
        "the dataset's own code draws random numbers, or depends on something else than the "
        f"index{stages}: the cache would repeat what it gave. Mark the function that does so with "
        "@cachebisect.stage(...): it then runs behind the cache. Or pass frozen=True: training "
        "changes then"
    )


def _sized(
    found: Findings, tried: list[int], shared: list[Any], made: list[Reference]
) -> list[tuple[int, float]]:
    """Those of `tried` that can be cached, with the bytes of a sample. Raises if there is none."""
    sized, failure = [], None
    for stages in tried:
        try:
            sized.append((stages, _checked_bytes(found, stages, shared, made)))
        except NotCacheable as error:
            failure = failure or error
    if failure is not None and not sized:
        raise failure
    return sized


def _checked_bytes(found: Findings, stages: int, shared: list[Any], made: list[Reference]) -> float:
    """Mean bytes of a sample in the cache."""
    sizes = []
    for tape, now in zip(found.tapes, made):
        data = encode_entry(
            cut_after(tape, stages, found.names), stage_name(found.names, stages), shared
        )
        now.check(decoded(data, shared))
        sizes.append(len(data))
    return sum(sizes) / len(sizes)


def decode_entry(data: bytes, shared: list[Any], later: list[str]) -> Optional[Entry]:
    """The entry that encode_entry() wrote; None if it is of no use where `later` stages follow."""
    try:
        entry = decoded(data, shared)
    except Exception:  # Written by what is installed no more.
        return None
    return entry if isinstance(entry, Entry) and entry.later == tuple(later) else None


def encode_entry(entry: Entry, after: str, shared: list[Any]) -> bytes:
    """Raises NotCacheable for what cannot be stored."""
    try:
        return encoded(entry, shared)
    except Exception as error:
        text = f"{type(error).__name__}: {error}"
        raise NotCacheable(f"what is there after {after} cannot be stored: {text}") from error
