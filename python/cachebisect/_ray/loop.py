"""The training loop of a Ray Train worker, measured by `cachebisect run`.

ray is never imported in the process that calls ray_loop(). Not thread safe.
"""

from __future__ import annotations

import contextlib
import functools
import os
import secrets
import sys
from collections.abc import Iterator
from typing import Any, Callable, Optional

from .node import PREFIX, RayJob, Relay, machine_name, variables_of

ENGINE = "CACHEBISECT_ENGINE"
"""Where `cachebisect run --nodes N` listens: HOST:PORT."""
_TOKEN = "CACHEBISECT_TOKEN"
_SOCKET = "CACHEBISECT_SOCKET"
_STARTED = "_cachebisect_has_started"


def ray_loop(
    train_loop_per_worker: Callable[..., Any],
    engine: Optional[str] = None,
    token: Optional[str] = None,
) -> Callable[..., Any]:
    """What to hand to TorchTrainer in place of `train_loop_per_worker`. Call it before anything
    starts Ray. Outside of `cachebisect run` it returns `train_loop_per_worker` itself.

    `engine`: HOST:PORT where `run --nodes N` listens, by default $CACHEBISECT_ENGINE; workers on
    the machine of `run` do not need it. `token`: that of `run`, by default $CACHEBISECT_TOKEN of
    the workers. A worker that cannot be measured says why, and trains.
    """
    held = {key: value for key, value in os.environ.items() if key.startswith(PREFIX)}
    if not held.get(_SOCKET):
        return train_loop_per_worker
    # What Ray starts from here on would take itself for a process of the script.
    os.environ.pop(_SOCKET, None)
    address = engine or held.get(ENGINE, "")
    held.pop(_TOKEN, None)
    job = RayJob(address, token or "", machine_name(), secrets.token_hex(8), held)

    @functools.wraps(train_loop_per_worker)
    def measured(*args: Any, **kwargs: Any) -> Any:
        with joined(job):
            return train_loop_per_worker(*args, **kwargs)

    return measured


@contextlib.contextmanager
def joined(job: RayJob) -> Iterator[None]:
    """Around the loop of a worker, which `run` may end."""
    relay = Relay(job)
    try:
        started = _start(job, relay)
        try:
            yield
        except SystemExit:  # It was measured, and Ray would take it for a worker that has died.
            if not started:
                raise
        finally:
            if started:
                os.environ.pop(_SOCKET, None)
    finally:
        relay.close()


def _start(job: RayJob, relay: Relay) -> bool:
    """True if this worker takes part. Raises nothing."""
    try:
        if getattr(sys, _STARTED, False) and os.environ.get(_SOCKET):
            raise RuntimeError("Ray was started before ray_loop() was called")
        os.environ.update(variables_of(job, relay))
        from .._script.startup import start

        setattr(sys, _STARTED, True)
        start()
    except Exception as error:  # Training is worth more than its measurement.
        print(f"cachebisect: not measured: {error}", file=sys.stderr)
        return False
    return True
