"""Runs an unchanged training script and writes how many samples per second each epoch trained.

    python bench/python/timed_script.py RATES.json SCRIPT [ARGUMENTS]

An epoch is timed from its 20th optimizer step to its last, so that the start of workers is left
out, as it is in a report. The only addition to the script is a note of the time after each step.
"""

from __future__ import annotations

import json
import runpy
import sys
import time
from pathlib import Path
from typing import Any

SKIPPED = 20


def main() -> None:
    out, script = sys.argv[1], sys.argv[2]
    sys.argv = sys.argv[2:]
    import torch
    from torch.optim.optimizer import register_optimizer_step_post_hook
    from torch.utils.data import DataLoader

    epochs: list[list[float]] = []
    sizes: list[int] = []
    own_iterator = DataLoader.__iter__

    def new_epoch(loader: Any) -> Any:
        epochs.append([])
        sizes.append(loader.batch_size)
        return own_iterator(loader)

    register_optimizer_step_post_hook(lambda *_: epochs[-1].append(time.monotonic()))
    DataLoader.__iter__ = new_epoch  # type: ignore[method-assign]
    torch.manual_seed(1)
    sys.path.insert(0, str(Path(script).resolve().parent))
    runpy.run_path(script, run_name="__main__")
    # The last batch of an epoch may be shorter than the others.
    timed = [(ends[SKIPPED:-1], size) for ends, size in zip(epochs, sizes)]
    rates = [(len(ends) - 1) * size / (ends[-1] - ends[0]) for ends, size in timed if len(ends) > 1]
    Path(out).write_text(json.dumps(rates))


if __name__ == "__main__":
    main()
