"""cachebisect finds the stage of an input pipeline that starves the GPU.

    import cachebisect
    report = cachebisect.bisect(loader, step, state=[model, optimizer])
    print(report)

docs/python.md says how; importing this package imports no torch.
"""

from ._engine import EngineError
from ._library import BisectError, bisect
from ._marked import stage
from ._report import Report
from ._version import __version__

__all__ = ["BisectError", "EngineError", "Report", "__version__", "bisect", "stage"]
