"""`--iterator` with libraries that make batches without a DataLoader, as their documents use them.

docs/use/iterators.md has the table. A library that is not installed is skipped with its name.
"""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("torch")

from hooked import STEP, run_script
from test_iterator import every_boundary, name

pytestmark = pytest.mark.nightly

SPDL_LOADER = """
from spdl.dataloader import DataLoader as Loader

def load(numbers):
    return torch.stack([torch.full((4,), float(number)) for number in numbers])

loader = Loader(list(range(400)), batch_size=4, aggregator=load, num_threads=2)
for epoch in range(4):
    for x in loader:
        step(x)
"""

SPDL_PIPELINE = """
from spdl.pipeline import PipelineBuilder

def load(number):
    return torch.full((4, 4), float(number))

built = PipelineBuilder().add_source(range(1000)).pipe(load).add_sink(3).build(num_threads=1)
with built.auto_stop():
    for x in built:
        step(x)
"""

GRAIN = """
import grain
import numpy

def load(number):
    return numpy.full(4, number, numpy.float32)

data = grain.MapDataset.range(400).shuffle(seed=1).map(load).batch(4).to_iter_dataset()
for epoch in range(4):
    for x in data:
        step(torch.from_numpy(x))
"""

GRAIN_LOADER = """
import grain.python as grain
import numpy

class Load(grain.MapTransform):
    def map(self, number):
        return numpy.full(4, number, numpy.float32)

sampler = grain.IndexSampler(1600, shard_options=grain.NoSharding(), shuffle=True, seed=1,
                             num_epochs=1)
loader = grain.DataLoader(data_source=range(1600), sampler=sampler,
                          operations=[Load(), grain.Batch(4)], worker_count=0)
for x in loader:
    step(torch.from_numpy(x))
"""

BATCHGENERATORS = """
import numpy
from batchgenerators.dataloading.data_loader import DataLoader as Source
from batchgenerators.dataloading.multi_threaded_augmenter import MultiThreadedAugmenter

class Numbers(Source):
    def generate_train_batch(self):
        return {"data": numpy.random.rand(4, 4).astype(numpy.float32)}

if __name__ == "__main__":
    source = MultiThreadedAugmenter(Numbers(None, 4), None, 1)
    for _ in range(400):
        step(torch.as_tensor(next(source)["data"]))
"""

DALI = """
from nvidia.dali import fn, pipeline_def
from nvidia.dali.plugin.pytorch import DALIGenericIterator

@pipeline_def(batch_size=4, num_threads=1, device_id=None)
def numbers():
    return fn.random.uniform(range=[0, 1], shape=[4])

loader = DALIGenericIterator([numbers()], ["data"], size=200)
for epoch in range(8):
    for data in loader:
        step(data[0]["data"])
    loader.reset()
"""


@pytest.mark.parametrize("then", ["exit", "continue"])
@pytest.mark.parametrize(
    "library,target,text,stages",
    [
        ("spdl", "spdl.dataloader:DataLoader", SPDL_LOADER,
         ["source list", "aggregate(4)", "pipe load (concurrency 2)"]),
        ("spdl", "spdl.pipeline:Pipeline", SPDL_PIPELINE, ["source range", "pipe load"]),
        ("spdl", "spdl.pipeline:Pipeline.get_iterator",
         SPDL_PIPELINE.replace("in built:", "in built.get_iterator(timeout=60):"),
         ["source range", "pipe load"]),
        ("grain", "grain:IterDataset", GRAIN, ["source range", "shuffle", "map load", "batch 4"]),
        ("grain", "grain.python:DataLoader", GRAIN_LOADER, ["source range", "map Load", "batch 4"]),
        ("batchgenerators",
         "batchgenerators.dataloading.multi_threaded_augmenter:MultiThreadedAugmenter",
         BATCHGENERATORS, ["loader MultiThreadedAugmenter"]),
        ("nvidia.dali", "nvidia.dali.plugin.pytorch:DALIGenericIterator", DALI,
         ["loader DALIGenericIterator"]),
    ],
)  # fmt: skip
def test_an_iterator_of_a_library(
    library: str,
    target: str,
    text: str,
    stages: list[str],
    then: str,
    monkeypatch: Any,
    tmp_path: Any,
) -> None:
    pytest.importorskip(library)
    found: list[Any] = []
    name(monkeypatch, target, then)
    done = run_script(
        tmp_path,
        lambda engine: found.extend(every_boundary(engine, then)),
        STEP + text + "\nprint('end')",
        fresh=True,
    )
    assert done.returncode == (7 if then == "exit" else 0), done.stderr
    assert ("end" in done.stdout) == (then == "continue")
    assert found[0] == stages
