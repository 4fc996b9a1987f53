import multiprocessing
import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python"))
sys.path.insert(0, str(ROOT / "scripts"))
sys.path.insert(0, str(Path(__file__).resolve().parent))

# The server of the start method forkserver imports torch once. Each child of spawn imports it anew,
# which takes seconds: most tests of a method that inherits nothing use forkserver.
multiprocessing.set_forkserver_preload(["torch", "torch.utils.data"])

# OpenMP's threads spin while they wait for each other, which takes the cores from other tests.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")
