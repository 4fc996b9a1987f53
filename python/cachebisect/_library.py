"""The library call."""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Iterable, Sequence
from typing import Any, Callable, Optional, Union

from ._chain import facts
from ._chain.called import Called
from ._chain.own_iteration import OwnIteration
from ._engine.adapter import Adapter
from ._engine.command import Engine, EngineError
from ._engine.messages import Connection, ConnectionLost
from ._job.found_nodes import graph_that_opens, put_back
from ._job.job import Job
from ._job.pass_through import PassThrough
from ._job.ranks import rank_and_world
from ._job.state import KeptState, describe_step, device_of
from ._job.step_changes import StepChanges, asked_for
from ._proxy import Proxy
from ._report import Report, read_report
from ._worker.held_interrupt import HeldInterrupt


class BisectError(RuntimeError):
    """The loader or the step failed. `report` holds what had been measured, or is None.

    The error of the user's code is the cause (`__cause__`).
    """

    def __init__(self, text: str, report: Optional[Report]) -> None:
        super().__init__(text)
        self.report = report


def bisect(
    loader: Union[Iterable[Any], Callable[[], Iterable[Any]]],
    step: Callable[[Any], Any],
    *,
    state: Sequence[Any] = (),
    model: Any = None,
    device: Any = None,
    budget: Optional[float] = None,
    confidence: Optional[float] = None,
    min_drop: Optional[float] = None,
    what_if: Union[str, Sequence[str]] = (),
    verify: bool = False,
    explain: bool = True,
    inside: bool = False,
    name: str = "",
    samples_per_batch: Optional[int] = None,
    progress: bool = True,
    options: Sequence[str] = (),
) -> Report:
    """Finds the stage of `loader` that holds the training step back.

    Args:
        loader: a torch.utils.data.DataLoader, any iterable of batches that can be iterated again,
            or a function that gives one. It is read, not changed. A generator ends for good.
        step: one training step, `step(batch)`: the body of the loop, with its own `.to(device)`.
        state: model and optimizer. Their `state_dict()` is restored before each round of blocks
            and at the end; without it training goes on from block to block.
        model: the torch.nn.Module of `state` that the step calls. With it the what-ifs "amp",
            "channels_last" and "compile" compute the step in another way, for a few blocks, and
            put everything back.
        device: torch.device of the step; by default that of the first parameter in `state`.
        budget: seconds of measuring at most (300, or more for slow steps).
        confidence: of every statement, from 0.5 to below 1 (0.99).
        min_drop: the smallest drop worth naming, as a share of the throughput (0.05).
        what_if: changes to predict, such as "num_workers=4".
        verify: measure those changes too, with a loader that has them.
        explain: after the verdict, measure payoffs, starvation and contention.
        inside: if the dataset's own code holds the step back, profile 200 samples and bisect again
            with the functions that it calls as stages.
        samples_per_batch: what each batch counts as, if the rows of its first tensor are no
            samples.
        name: of the job, in the report; by default that of the script.
        progress: say on stderr what is being done.
        options: more options of `cachebisect attach`.

    Returns:
        The report. After Ctrl-C it holds what was measured so far (`report.interrupted`).

    Raises:
        BisectError: `loader` or `step` raised; the report so far is in it.
        EngineError: the command was not found, refused its options, or died; or this process is
            one rank of several.
        KeyboardInterrupt: Ctrl-C came before anything was measured.
        TypeError: an object in `state` has no state, or `model` is no module.

    Not thread safe: call it from the thread that trains, once at a time. Workers and the engine
    have ended on return.
    """
    if rank_and_world()[1] > 1:
        raise EngineError(
            "this process is one rank of several, which only the command measures together: "
            "cachebisect run -- torchrun ..."
        )
    kept = KeptState(state)
    device = _device(device) if device is not None else device_of(state)
    command = _options(budget, confidence, min_drop, what_if, verify, options)
    command += ([] if explain else ["--no-explain"]) + (["--inside"] if inside else [])
    title = name or os.path.basename(sys.argv[0] if sys.argv else "") or "training loop"

    if not isinstance(loader, Iterable) and callable(loader) and not hasattr(loader, "__getitem__"):
        loader = Called(loader)
    graph = graph_that_opens(loader)
    loader = loader if graph is None else graph
    measured = as_measured(loader)
    asked = asked_for([what_if] if isinstance(what_if, str) else what_if) if verify else []
    changes = StepChanges(model, kept, state)

    def make_job(writes_batches: bool) -> Job:
        for names in asked:  # Compiling takes its time before the budget begins.
            changes.why_not(names)
        return Job(measured, kept, device, writes_batches, title, describe_step(state),
                   samples_per_batch=samples_per_batch, step=changes)  # fmt: skip

    with put_back(graph), contextlib.closing(changes), Engine(command, progress) as engine:
        failure = _drive(engine, loader, step, make_job, samples_per_batch)
        exit_code = engine.wait()
        files = engine.report_files()
    report = read_report(files, exit_code)
    if isinstance(failure, Exception):
        raise BisectError(f"{type(failure).__name__}: {failure}", report) from failure
    if report is None and failure is not None:
        raise failure
    if report is None:
        raise EngineError(f"the engine ended without a report (exit code {exit_code})")
    return report


def _drive(
    engine: Engine,
    loader: Any,
    step: Callable[[Any], Any],
    make_job: Callable[[bool], Job],
    samples_per_batch: Optional[int],
) -> Optional[BaseException]:
    """Runs the training loop until the engine has finished. Returns the user's own error, or the
    KeyboardInterrupt that ended it."""
    try:
        connection = Connection.open(engine.socket, alive=lambda: engine.exit_code() is None)
    except ConnectionLost as error:
        raise EngineError(f"{error} (exit code of the engine: {engine.wait()})") from error
    adapter = Adapter(connection, make_job)
    try:
        return _train(engine, adapter, loader, step, samples_per_batch)
    except ConnectionLost as error:
        raise EngineError(f"{error} (exit code of the engine: {engine.wait()})") from error
    finally:
        adapter.close()


def _train(
    engine: Engine,
    adapter: Adapter,
    loader: Any,
    step: Callable[[Any], Any],
    samples_per_batch: Optional[int],
) -> Optional[BaseException]:
    stage = None
    try:
        if not adapter.greet():
            return adapter.failure
        persistent = bool(getattr(loader, "persistent_workers", False))
        began = time.monotonic()
        with HeldInterrupt() if facts.is_torch_loader(loader) else contextlib.nullcontext():
            own = iter(loader)
        opened = time.monotonic() - began
        passed = PassThrough(opened_seconds=opened, samples_per_batch=samples_per_batch)
        proxy = Proxy(adapter, own, not persistent, passed)
        del own
        try:
            for batch in proxy:
                stage = "step"
                _take_step(adapter, step, batch)
                stage = None
                del batch
        finally:
            proxy.end_own()
        return adapter.failure
    except KeyboardInterrupt as interrupt:
        engine.interrupt()
        try:
            adapter.fail(interrupt)
            adapter.wait_for_finish()
        except ConnectionLost:
            raise interrupt from None
        return interrupt
    except ConnectionLost:
        if adapter.failure is None:
            raise
        return adapter.failure
    except Exception as error:
        with contextlib.suppress(ConnectionLost):
            adapter.fail(error, stage)
            adapter.wait_for_finish()
        return error


def _take_step(adapter: Adapter, step: Callable[[Any], Any], batch: Any) -> None:
    try:
        step(batch)
    except Exception as error:
        if not adapter.forgives(error):
            raise


def as_measured(loader: Any) -> Any:
    """An iterable of `loader` if only its own class makes what the loop gets."""
    by_itself = facts.is_torch_loader(loader) and facts.iterates_itself(loader)
    if not by_itself or facts.adds_only_state(loader):
        return loader
    return OwnIteration(loader, lambda: iter(loader))


def _device(device: Any) -> Any:
    import torch

    return torch.device(device)


def _options(
    budget: Optional[float],
    confidence: Optional[float],
    min_drop: Optional[float],
    what_if: Union[str, Sequence[str]],
    verify: bool,
    more: Sequence[str],
) -> list[str]:
    given = {"--budget": budget, "--confidence": confidence, "--min-drop": min_drop}
    command = [
        text for key, value in given.items() if value is not None for text in (key, str(value))
    ]
    for change in [what_if] if isinstance(what_if, str) else what_if:
        command += ["--what-if", change]
    if verify:
        command.append("--verify")
    return [*command, *more]
