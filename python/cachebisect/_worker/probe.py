"""Finds the members of a dataset by making a few samples in a worker."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from typing import Any, Callable, Optional

from .._chain import facts, libraries, trees
from .._chain.functions import function_slot
from .._chain.marked import marked_slots
from .._chain.pipelines import notes_of_pipeline, switch_slots
from .._chain.slots import Slot, collapsed, find_slots, with_unique_names, without_repeats
from .._chain.sources import NothingDelivered
from .._chain.taking import Taking
from .draws import GLUE, DrawWatch
from .look_ahead import CallWatch
from .recording import settled
from .steady import differ
from .tape import Copies, Tape, arguments, loaded
from .tasks import MAX_MEMBERS

PROBED_SAMPLES = 4
_AHEAD = "{}: part of `read`, since a buffer or a batch behind it makes it run ahead of the samples"


def all_slots(dataset: Any) -> list[Slot]:
    """Every slot that probe() may name: members, their containers, functions of libraries."""
    slots = _candidates(dataset)
    containers = {s.container.name: s.container for s in slots if s.container is not None}
    return [*slots, *containers.values()]


def planned_slots(dataset: Any, plan: Iterable[str]) -> list[Slot]:
    """The slots that are stages. `plan`: their names, as probe() gave them, maybe elsewhere."""
    plan = tuple(plan)
    by_name = {slot.name: slot for slot in all_slots(dataset)}
    if libraries.import_for(name for name in plan if name not in by_name):
        by_name = {slot.name: slot for slot in all_slots(dataset)}
    found = [by_name.get(name) or function_slot(name) for name in plan]
    return [slot for slot in found if slot is not None]


def probe(
    dataset: Any,
    makers: Sequence[Callable[[], Any]],
    functions: Iterable[str] = (),
    restart: Callable[[], None] = lambda: None,
) -> dict[str, Any]:
    """Which slots are called for a sample, in order (`stages`), and what was in the way (`note`).
    `random`: the dataset's own code draws random numbers.

    `functions`: names of more functions that may be called. `restart`: makes the next of `makers`
    begin an iterable dataset anew. Raises what the dataset raises.
    """
    functions = tuple(functions)
    makers = makers[:PROBED_SAMPLES]
    if _is_iterable(dataset):
        makers = [makers[0]] * PROBED_SAMPLES  # Whatever its batch size: each gives the next.
    while True:
        imported = libraries.imported()
        found = _found(dataset, makers, functions, restart)
        if libraries.imported() == imported:  # Else the first sample has imported a library.
            notes = [*notes_of_pipeline(dataset), found["note"]]
            return {**found, "note": "; ".join(note for note in notes if note)}


def _found(
    dataset: Any,
    makers: Sequence[Callable[[], Any]],
    functions: Iterable[str],
    restart: Callable[[], None],
) -> dict[str, Any]:
    slots = [*_candidates(dataset), *planned_slots(dataset, functions)]
    note, ahead = "", set()
    while slots:
        restart()  # What runs ahead is seen at the first sample.
        try:
            watch, copies = CallWatch(), Copies()
            tapes = [_recorded(slots, make, copies, watch) for make in makers]
        except NothingDelivered:
            raise
        except Exception as error:  # With the originals in place it may well succeed.
            note = f"members are not told apart: {type(error).__name__}: {error}"
            break
        unwanted = _unusable(slots, tapes, watch.drew)
        if _is_iterable(dataset):
            newly = {slots[stage].name for stage in watch.ahead()}
            ahead |= newly
            unwanted |= newly
            note = _AHEAD.format(", ".join(sorted(ahead))) if ahead else ""
        if not unwanted:
            stages = _in_order(slots, tapes, watch.drew)
            return {"stages": stages, "note": note, "random": GLUE in watch.drew}
        slots = collapsed(slots, unwanted)
    whole = DrawWatch()
    for make in makers:
        whole.begin_sample()
        make()
        whole.end_sample()
    return {"stages": [], "note": note, "random": GLUE in whole.drew}


def _is_iterable(dataset: Any) -> bool:
    return "torch.utils.data" in sys.modules and facts.is_iterable(dataset)


def _recorded(slots: list[Slot], make: Callable[[], Any], copies: Copies, watch: DrawWatch) -> Tape:
    def made() -> Any:
        watch.begin_sample()
        sample = make()
        watch.end_sample()
        return sample

    return settled(slots, made, copies, watch.call)


def _candidates(dataset: Any) -> list[Slot]:
    """Members of the dataset, functions that are marked as stages, functions of libraries."""
    slots = without_repeats([*switch_slots(dataset), *find_slots(dataset)])
    return with_unique_names([*slots, *marked_slots(), *_libraries_beside(dataset, slots)])


def _libraries_beside(dataset: Any, slots: list[Slot]) -> list[Slot]:
    """Functions of libraries that no slot of the dataset holds itself."""
    held = [slot.get() for slot in slots]
    return [
        slot
        for slot in libraries.library_slots(dataset)
        if all(slot.get() is not value for value in held)
    ]


def _unusable(slots: list[Slot], tapes: list[Tape], drew: set[int]) -> set[str]:
    """Slots that are never called, or whose recorded calls cannot be made again."""
    called = {call.stage for tape in tapes for call in tape.calls}
    containers_in_use = {id(slots[stage].container) for stage in called if slots[stage].container}
    nested = {pair for tape in tapes for pair in tape.nested}
    nested = {pair for pair in nested if isinstance(slots[pair[0]].get(), Taking)}
    # What a Taking calls says more than all that it does.
    unwanted = {slots[outer].name for outer, _ in nested}
    called |= {inner for _, inner in nested}
    for stage, slot in enumerate(slots):
        if stage not in called and id(slot.container) not in containers_in_use:
            unwanted.add(slot.name)
    failing = _failing(slots, tapes, drew)
    if failing is not None:
        unwanted.add(slots[failing].name)
    return unwanted


def _failing(slots: list[Slot], tapes: list[Tape], drew: set[int]) -> Optional[int]:
    for tape in tapes:
        for call in tape.calls:
            try:
                args, kwargs = arguments(call, tape, {}, _COPY_ALL)
                again = loaded(call.function(*args, **kwargs))
                if isinstance(slots[call.stage].get(), Taking):  # One that drops what it had.
                    call.function(*args, **kwargs)
            except Exception:  # A file that is closed by now, an iterator that is spent.
                return call.stage
            # A file that is at its end by now.
            steady = slots[call.stage].steady and call.stage not in drew
            if steady and differ(again, call.output):
                return call.stage
    return None


class _All(set):  # type: ignore[type-arg]
    def __contains__(self, _item: object) -> bool:
        return True


_COPY_ALL = Copies(_All(), _All())


def _in_order(slots: list[Slot], tapes: list[Tape], drew: set[int]) -> list[dict[str, Any]]:
    """The slots in the order of their first calls; members never called in the probe last."""
    order: dict[int, None] = {}
    outputs: dict[int, str] = {}
    for tape in tapes:
        for call in tape.calls:
            order.setdefault(call.stage)
            outputs.setdefault(call.stage, trees.describe(call.output))
    return [
        {
            "name": slots[s].name,
            "category": slots[s].category,
            "output": outputs[s],
            "random": s in drew,
        }
        for s in list(order)[:MAX_MEMBERS]
    ]
