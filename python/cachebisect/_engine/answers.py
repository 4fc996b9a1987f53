"""Answers requests about a job between its blocks. Not thread safe."""

from __future__ import annotations

from typing import Any

from .._job.job import Job
from .._job.pass_through import PassThrough
from .._job.rank_without_loader import Rank
from .._job.ranks import rank_and_world
from .messages import Connection, Message


class Answers:
    """Answers over `connection`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def answer(self, job: Rank, request: Message, passed: PassThrough) -> bool:
        """False if the request is none of these. Raises what the job raises, ConnectionLost.

        `passed`: the steps through the untouched loader.
        """
        kind = request.get("type")
        answer = self._connection.answer
        if kind == "begin_round":
            job.begin_round()
            answer(request)
        elif kind == "machine":
            answer(request, own_cpu_seconds=job.cpu_seconds())
        else:
            return isinstance(job, Job) and self._answer_of_loader(job, request, passed)
        return True

    def _answer_of_loader(self, job: Job, request: Message, passed: PassThrough) -> bool:
        kind = request.get("type")
        answer = self._connection.answer
        if kind == "supports":
            supported = job.supports(request["arm"], self._progress)
            answer(request, supported=supported, why=None if supported else job.why or None)
        elif kind == "sizes":
            answer(request, **job.sizes(int(request["samples"]), self._progress))
        elif kind in ("prepare", "refill"):
            if kind == "prepare":
                job.use_queues(bool(request.get("keeps_queues", rank_and_world()[1] == 1)))
            answer(request, cache=self._filled(job, int(request["samples"])))
        elif kind == "freshen":
            self._filled(job, int(request["samples"]))
            answer(request, freshened=True)
        elif kind == "inside":
            self._look_inside(job, request, passed)
        elif kind == "storage":
            samples, seconds = int(request["samples"]), float(request["max_seconds"])
            answer(request, storage=job.count_storage(samples, seconds))
        else:
            return False
        return True

    def _filled(self, job: Job, samples: int) -> dict[str, Any]:
        return job.fill(samples or job.cached_samples, self._progress)

    def _look_inside(self, job: Job, request: Message, passed: PassThrough) -> None:
        if job.look_inside(str(request["stage"]), int(request["samples"])):
            self._connection.answer(request, **job.describe(passed, []))
        else:
            self._connection.answer(request, chain=None, notes=job.chain.notes)

    def _progress(self, text: str) -> None:
        self._connection.check_stop()
        self._connection.keep_alive(text)
