"""`--what-if read.cache=DIR`: what a dataset reads, from a local disk."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")
from torch.utils.data import DataLoader

from cachebisect._chain.settings import described_settings
from cachebisect._job.loaders import MeasuredLoader
from commands import needs_command, run_script
from engine import TestEngine
from loaders import Compose, Items, Member, Stream
from measured import measure

SCRIPT = """
import sys, time
from pathlib import Path
import torch
from torch.utils.data import DataLoader, Dataset
sys.path.insert(0, HERE)
from loaders import Compose, Descent, Member

class Files(Dataset):
    def __init__(self, folder):
        self.files = sorted(Path(folder).iterdir())
        self.transform = Compose([Member(1)])

    def __len__(self):
        return len(self.files)

    def __getitem__(self, index):
        time.sleep(0.005)
        data = self.files[index].read_bytes()
        return self.transform(torch.tensor(list(data), dtype=torch.float32))

model = torch.nn.Linear(4, 1)
optimizer = Descent(model.parameters(), 1e-6)
loader = DataLoader(Files(SOURCE), batch_size=4, num_workers=WORKERS)
while True:
    for x in loader:
        optimizer.zero_grad()
        model(x).sum().backward()
        optimizer.step()
"""


@needs_command
def test_it_is_predicted_run_and_leaves_nothing_behind(tmp_path: Path) -> None:
    source, cache = tmp_path / "source", tmp_path / "cache"
    source.mkdir()
    cache.mkdir()
    contents = {f"{index:02}.bin": bytes([index] * 4) for index in range(40)}
    for name, data in contents.items():
        (source / name).write_bytes(data)
    here = str(Path(__file__).resolve().parent)
    text = SCRIPT.replace("HERE", repr(here)).replace("SOURCE", repr(str(source)))
    options = ["--budget", "60", "--sustain", "0", "--no-explain", "--verify"]
    options += ["--what-if", f"read.cache={cache}", "--what-if", f"read.cache={tmp_path}/none"]
    run = run_script(tmp_path, text, workers=1, options=options)
    code = run.end()
    assert code == 0, run.errors()
    kept, refused = json.loads((tmp_path / "report.json").read_text())["what_ifs"]
    limit = 'disk_limit="0.02GB"'  # The least that a cache takes.
    assert kept["line"] == f'cachebisect.cached(dataset, after="read", disk="{cache}", {limit})'
    if kept["measured"]["samples_per_second"] is None:  # On a machine that others keep busy.
        pytest.skip(kept["note"])
    assert kept["predicted"]["samples_per_second"] > 0
    assert refused["measured"]["samples_per_second"] is None
    assert "no file can be made in" in refused["note"]
    assert list(cache.iterdir()) == [] and not (tmp_path / "none").exists()
    assert {path.name: path.read_bytes() for path in source.iterdir()} == contents


def offers(dataset: Any) -> bool:
    loader = MeasuredLoader(DataLoader(dataset, batch_size=4), None)
    try:
        chain = loader.find_chain(False)
        names = [s["name"] for s in described_settings(reads=chain.reads)["settings"]]
        return "read_cache" in names
    finally:
        loader.close()


def test_it_is_offered_where_samples_have_an_index() -> None:
    assert offers(Items(Compose([Member(1)])))
    assert not offers(Stream())


def test_two_caches_are_not_tried_together(tmp_path: Path) -> None:
    loader = MeasuredLoader(DataLoader(Items(Compose([Member(1)])), batch_size=4), None)
    loader.find_chain(False)
    overrides = {"read_cache": json.dumps(str(tmp_path)), "cache": '"sample"'}
    try:
        with pytest.raises(ValueError, match="two caches cannot be tried together"):
            loader.variant({"kind": "live", "overrides": overrides})
    finally:
        loader.close()


def test_a_block_of_it_runs_where_the_folder_can_be_used(tmp_path: Path) -> None:
    folder = tmp_path / "cache"
    folder.mkdir()

    def arm(name: str) -> dict[str, Any]:
        return {"kind": "live", "overrides": {"read_cache": json.dumps(str(tmp_path / name))}}

    def script(engine: TestEngine) -> None:
        engine.greet()
        assert engine.ask("supports", arm=arm("cache"))["supported"]
        refused = engine.ask("supports", arm=arm("none"))
        assert not refused["supported"] and "no file can be made in" in refused["why"]
        block = engine.run(**arm("cache"))
        assert (block["steps"], block["samples"], block["void"]) == (4, 16, False)
        assert list(folder.iterdir()) == []
        engine.finish()

    measure(DataLoader(Items(Compose([Member(1)])), batch_size=4), script, tmp_path)
    assert list(folder.iterdir()) == []
