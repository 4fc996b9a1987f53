"""Loaders of other libraries, as their documents use them: what `run` makes of each.

`scripts/test-python --frameworks` installs them; docs/use/python.md has the table.
"""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("torch")

from test_observing import HEAD
from test_subclasses import BISECTED, measure

LOOP = """
if __name__ == "__main__":
    for epoch in range(6):
        for batch in loader:
            step(value_of(batch))
    print("end", flush=True)
"""

TENSOR = """
def value_of(batch):
    return batch
"""

ULTRALYTICS = """
from ultralytics.data.build import InfiniteDataLoader
loader = InfiniteDataLoader(Items(), batch_size=4, shuffle=True, num_workers=1)
"""

TIMM_EPOCHS = """
from timm.data.loader import MultiEpochsDataLoader
loader = MultiEpochsDataLoader(Items(), batch_size=4, num_workers=1)
"""

MONAI_CACHE = """
from monai.data import CacheDataset, DataLoader as MonaiLoader
from monai.transforms import Compose, RandomizableTransform, Transform

class Load(Transform):
    def __call__(self, x):
        assert isinstance(x, int), "deterministic transforms run once, before training"
        return torch.full((4,), float(x))

class Shift(RandomizableTransform):
    def __call__(self, x):
        return x + 0.5

data = CacheDataset(list(range(400)), Compose([Load(), Shift()]), num_workers=0, progress=False)
loader = MonaiLoader(data, batch_size=4)
"""

MONAI_THREAD = """
from monai.data import ThreadDataLoader
loader = ThreadDataLoader(Items(), batch_size=4, num_workers=0)
"""

PYG = """
from torch_geometric.data import Data
from torch_geometric.loader import DataLoader as GraphLoader

graphs = [Data(x=torch.full((3, 4), float(i)), edge_index=torch.zeros(2, 1, dtype=torch.long))
          for i in range(400)]
loader = GraphLoader(graphs, batch_size=4, shuffle=True)

def value_of(batch):
    return batch.x
"""

PYG_NEIGHBORS = """
from torch_geometric.data import Data
from torch_geometric.loader import NodeLoader
from torch_geometric.sampler import BaseSampler, SamplerOutput

class Alone(BaseSampler):
    # As NeighborSampler, which needs packages that are not on PyPI, without neighbours.
    def sample_from_nodes(self, index, **options):
        none = torch.empty(0, dtype=torch.long)
        return SamplerOutput(node=index.node, row=none, col=none, edge=none,
                             metadata=(index.input_id, index.time))

    def sample_from_edges(self, index, neg_sampling=None):
        raise NotImplementedError

edges = torch.stack([torch.arange(400), (torch.arange(400) + 1) % 400])
graph = Data(x=torch.rand(400, 4), edge_index=edges)
loader = NodeLoader(graph, node_sampler=Alone(), batch_size=4, shuffle=True)

def value_of(batch):
    return batch.x
"""

WEBDATASET = """
import io, os, tarfile, tempfile
import webdataset as wds

folder = tempfile.mkdtemp()
shard = os.path.join(folder, "data-0.tar")
if __name__ == "__main__":
    with tarfile.open(shard, "w") as file:
        for number in range(400):
            text = b"%d" % number
            info = tarfile.TarInfo(f"{number:04d}.cls")
            info.size = len(text)
            file.addfile(info, io.BytesIO(text))

def to_tensor(sample):
    return torch.full((4,), float(sample["cls"]))

data = wds.WebDataset(shard, shardshuffle=False, empty_check=False).decode().map(to_tensor)
loader = wds.WebLoader(data, batch_size=4, num_workers=1)
"""

LITDATA = """
import os, tempfile
import litdata

folder = os.path.join(tempfile.gettempdir(), f"litdata-{os.getppid()}")

def make(index):
    return torch.full((4,), float(index))

if __name__ == "__main__":
    litdata.optimize(fn=make, inputs=list(range(400)), output_dir=folder, num_workers=1,
                     chunk_bytes="1MB", mode="overwrite")
    loader = litdata.StreamingDataLoader(litdata.StreamingDataset(folder), batch_size=4)
"""

MOSAICML = """
import os, tempfile
from streaming import MDSWriter, StreamingDataset

folder = os.path.join(tempfile.mkdtemp(), "mds")
if __name__ == "__main__":
    with MDSWriter(out=folder, columns={"x": "float32"}) as writer:
        for number in range(400):
            writer.write({"x": float(number)})
    data = StreamingDataset(local=folder, batch_size=4)
    loader = DataLoader(data, batch_size=4, num_workers=2)

def value_of(batch):
    return batch["x"].float().reshape(-1, 1).repeat(1, 4)
"""


@pytest.mark.parametrize(
    "library,text,stages",
    [
        ("ultralytics", ULTRALYTICS, [*BISECTED, "transfer"]),
        ("timm", TIMM_EPOCHS, [*BISECTED, "transfer"]),
        ("monai", MONAI_CACHE, ["read CacheDataset.__getitem__", "transforms[1] Shift",
                                "collate_fn list_data_collate"]),
        ("monai", MONAI_THREAD, ["loader ThreadDataLoader"]),
        ("torch_geometric", PYG, ["read list.__getitem__", "collate_fn Collater"]),
        ("torch_geometric", PYG_NEIGHBORS, ["loader NodeLoader"]),
        ("webdataset", WEBDATASET, ["read WebDataset.__iter__", "webdataset.decode",
                                    "map to_tensor", "collate_fn default_collate", "transfer"]),
        ("litdata", LITDATA, ["loader StreamingDataLoader"]),
        ("streaming", MOSAICML, ["read StreamingDataset.__iter__", "collate_fn default_collate",
                                 "transfer"]),
    ],
)  # fmt: skip
def test_a_loader_of_another_library(
    library: str, text: str, stages: list[str], tmp_path: Any
) -> None:
    pytest.importorskip(library)
    value_of = "" if "def value_of" in text else TENSOR
    measure(HEAD + text + value_of + LOOP, stages, tmp_path, fresh=True)
