"""cachebisect finds the stage of an input pipeline that starves the GPU.

    import cachebisect
    report = cachebisect.bisect(loader, step, state=[model, optimizer])
    print(report)

docs/use/python.md says how; importing this package imports no torch.
"""

from ._cache.api import cached
from ._cache.entry import NotCacheable
from ._chain.marked import stage
from ._engine.command import EngineError
from ._follow.step_loops import steps
from ._library import BisectError, bisect
from ._prepare.api import prepare, prepared
from ._ray.loop import ray_loop
from ._report import Report
from ._spdl import spdl_pipeline
from ._version import __version__

__all__ = [
    "BisectError",
    "EngineError",
    "NotCacheable",
    "Report",
    "__version__",
    "bisect",
    "cached",
    "prepare",
    "prepared",
    "ray_loop",
    "spdl_pipeline",
    "stage",
    "steps",
]
