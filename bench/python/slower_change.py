"""Whether `compare --run` finds the change of a script that made its reading four times slower.

    python bench/python/slower_change.py [--budget 120]

The two scripts are storage_loop.py with one request and with four requests for each sample, from a
server that takes 20 ms for an answer; needs requests. A row per figure that changed, and whether
reading is what changed most.
"""

from __future__ import annotations

import argparse
import datetime
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from figures import find_command, machine, revision
from storage_cases import served

_LOOP = Path(__file__).resolve().with_name("storage_loop.py")


def comparison_of(server: str, budget: float) -> Any:
    scripts = [
        [sys.executable, str(_LOOP), "--case", case, "--server", server]
        for case in ("kept", "slower")
    ]
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "comparison.json"
        words = [find_command(), "compare", "--run", "--budget", f"{budget:g}", "--no-progress"]
        words += ["--json", str(file), "--", *scripts[0], "--", *scripts[1]]
        subprocess.run(words, check=True, capture_output=True)
        return json.loads(file.read_text())


def row(figure: Any) -> str:
    low, high = figure["change"]["interval"]
    factor = 1 + figure["change"]["value"]
    return f"| {figure['id']} | {factor:.2f} ({1 + low:.2f} to {1 + high:.2f}) |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--budget", type=float, default=120)
    options = parser.parse_args()
    today = {"date": datetime.date.today().isoformat(), "revision": revision()}
    print(machine([today]) + "\n", flush=True)
    with served() as server:
        compared = comparison_of(server, options.budget)
    known = [figure for figure in compared["figures"] if figure["change"]["interval"]]
    print("| figure | factor, 99% interval |\n|---|---|")
    print("\n".join(map(row, known)))
    largest = max(known, key=lambda figure: abs(figure["change"]["value"]), default=None)
    says = largest is not None and (largest["stage"] or "").startswith("read ")
    print(
        f"\n{compared['rounds']} pairs of blocks; reading changed most: {'yes' if says else 'NO'}"
    )


if __name__ == "__main__":
    main()
