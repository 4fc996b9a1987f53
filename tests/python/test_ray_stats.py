"""What is taken over of the figures of Ray Data, in the words of Ray 2.60."""

from __future__ import annotations

from typing import Any

from cachebisect._chain.ray_stats import notes_of_ray

STATS = """Operator 1 ReadRange->Map(slow): 4 tasks executed, 4 blocks produced in 2.05s
* Remote wall time: 548.81ms min, 637.09ms max, 581.74ms mean, 2.33s total
* Remote cpu time: 21.76ms min, 30.16ms max, 25.25ms mean, 100.99ms total
* Output num rows per block: 500 min, 500 max, 500 mean, 2000 total
* Operator throughput:
\t* Total output num rows: 2000 rows

Operator 2 MapBatches(crop): 1 tasks executed, 4 blocks produced in 3.0s
* Remote wall time: 1us min, 2us max, 1us mean, 7us total

Dataset throughput:
\t* Ray Data throughput: 973.4 rows/s
"""


class Dataset:
    """Stands in for that of Ray."""

    def __init__(self, told: Any) -> None:
        self._told = told

    def stats(self) -> Any:
        if isinstance(self._told, Exception):
            raise self._told
        return self._told


Dataset.__module__ = "ray.data.dataset"


def test_each_operator_is_a_note() -> None:
    assert notes_of_ray([len, Dataset(STATS)]) == [
        "Ray's own figures, observed and not replayed: ReadRange->Map(slow): 2.33 s in 4 tasks, "
        "0.101 s of them on CPUs for 2000 rows",
        "Ray's own figures, observed and not replayed: MapBatches(crop): 7e-06 s in 1 tasks",
    ]


def test_what_tells_nothing_is_no_note() -> None:
    for told in ("", "Operator 1 Read: 4 tasks executed", 3, ValueError("not executed")):
        assert notes_of_ray([Dataset(told)]) == []
    assert notes_of_ray([STATS, None]) == []
