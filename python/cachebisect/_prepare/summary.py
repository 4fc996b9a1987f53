"""What prepare() has found and written, in words. Thread safe: no state."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Optional

from .._cache.sizes import in_words

_GAIN = 1.1
"""Times as many samples/s, below which preparing is not worth its disk."""


@dataclass(frozen=True)
class Boundary:
    """What a set behind one stage takes and saves, measured on a few samples."""

    after: str
    bytes_per_sample: float
    bytes: float
    """Of the whole set."""
    cpu_seconds_saved: float
    """Per sample and epoch; below 0 where reading takes longer than making."""
    samples_per_second: float
    """Read by one process, from the disk, without the later stages."""
    with_later_stages: float
    """Samples/s of one process: read, and the later stages run."""
    fits: bool
    """In what is free on the disk."""


@dataclass(frozen=True)
class Prepared:
    """What cachebisect.prepare() returns. `print()` shows it; to_dict() is for files of JSON."""

    folder: str
    after: str
    """The last stage whose output is in the shards."""
    samples: int
    boundaries: tuple[Boundary, ...]
    """Where the set may stand, the first stage first."""
    live_samples_per_second: float
    """Of one process that makes whole samples, as the dataset does."""
    free_bytes: float
    """On the disk of `folder`, before anything was written."""
    later: tuple[str, ...] = ()
    """Stages that run whenever a sample is read."""
    shards: int = 0
    bytes: int = 0
    """Of all shards; 0 where nothing was written."""
    written: int = 0
    """Samples that this call has written; the others were there."""
    dry_run: bool = False

    @property
    def chosen(self) -> Optional[Boundary]:
        """The row of `after`."""
        return next((row for row in self.boundaries if row.after == self.after), None)

    @property
    def advice(self) -> str:
        """Whether it is worth it."""
        row = self.chosen
        if row is None or self.live_samples_per_second <= 0:
            return ""
        if not row.fits:
            smaller = [other.after for other in self.boundaries if other.fits]
            instead = f" after={smaller[-1]!r} fits." if smaller else ""
            return (
                f"Do not prepare after {row.after}: it takes {in_words(row.bytes)}, and "
                f"{in_words(self.free_bytes)} are free.{instead}"
            )
        rates = f"{_rate(self.live_samples_per_second)} samples/s"
        size = in_words(row.bytes_per_sample)
        gain = row.with_later_stages / self.live_samples_per_second
        best = max((each for each in self.boundaries if each.fits), key=_with_later_stages)
        if gain < _GAIN:
            text = (
                f"Not worth it after {row.after}: one process makes {rates}, and gets "
                f"{_rate(row.with_later_stages)} from shards: reading {size} per sample and the "
                "later stages take as long as what is saved."
            )
        else:
            text = (
                f"Worth it where loading limits training: one process gets "
                f"{_rate(row.with_later_stages)} samples/s from shards, and makes {rates} "
                f"({gain:.1f} times as many)."
            )
        if best is not row and best.with_later_stages > _GAIN * row.with_later_stages:
            text += f" after={best.after!r} gives more: {_rate(best.with_later_stages)}."
        return text

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON. Bytes, seconds, samples per second."""
        held = {**asdict(self), "advice": self.advice}
        return {**held, "boundaries": [asdict(row) for row in self.boundaries]}

    def __str__(self) -> str:
        lines = [self._title(), *self._table(), self.advice]
        return "\n".join(line for line in lines if line)

    def _title(self) -> str:
        later = f"; then {', '.join(self.later)} for each" if self.later else ""
        if self.dry_run:
            return f"{self.samples:,} samples, to be prepared after {self.after}{later}"
        new = "" if self.written == self.samples else f" ({self.written:,} of them now)"
        shards = f"{self.shards} shard" + ("" if self.shards == 1 else "s")
        return (
            f"{self.samples:,} samples after {self.after} in {shards}, "
            f"{in_words(self.bytes)}, in {self.folder}{new}{later}"
        )

    def _table(self) -> list[str]:
        if not self.boundaries:
            return []
        heads = ("after", "per sample", "in all", "CPU saved", "read, /s", "with the rest, /s")
        live = _rate(self.live_samples_per_second)
        rows: list[tuple[str, ...]] = [("as it is", "", "", "", "", live)]
        rows += [self._row(row) for row in self.boundaries]
        widths = [max(len(line[i]) for line in (heads, *rows)) for i in range(len(heads))]
        return [
            "  ".join(
                text.rjust(width) if i > 0 else text.ljust(width)
                for i, (text, width) in enumerate(zip(line, widths))
            ).rstrip()
            for line in (heads, *rows)
        ]

    def _row(self, row: Boundary) -> tuple[str, ...]:
        fits = "" if row.fits else " (no room)"
        mark = " *" if row.after == self.after else ""
        return (
            row.after + mark,
            in_words(row.bytes_per_sample),
            in_words(row.bytes) + fits,
            f"{1e3 * row.cpu_seconds_saved:.3g} ms",
            _rate(row.samples_per_second),
            _rate(row.with_later_stages),
        )


def _with_later_stages(row: Boundary) -> float:
    return row.with_later_stages


def _rate(value: float) -> str:
    return f"{value:,.0f}" if value >= 10 else f"{value:.2g}"
