"""Pipelines of WebDataset and of Hugging Face's iterable datasets: what they call is a stage."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("numpy")

from torch.utils.data import DataLoader

from cachebisect._chain.pipelines import switch_slots, with_switches
from loaders import Compose, Member
from measured import every_arm, measure
from readers import CASES, COUNT, image
from test_look_ahead import described, member_names

WORKERS = [(0, None), (2, "fork"), (1, "forkserver")]


def shards(tmp_path: Path) -> Any:
    webdataset = pytest.importorskip("webdataset")
    CASES["webdataset.decode"].make(str(tmp_path / "data"))
    urls = [str(tmp_path / "data.tar")] * 4
    return webdataset.WebDataset(urls, shardshuffle=False, empty_check=False)


def halve(sample: Any) -> Any:
    return {**sample, "npy": torch.from_numpy(sample["npy"] // 2)}


def add_two(x: Any) -> Any:
    return x + 2


def is_even(sample: Any) -> bool:
    return int(sample["cls"]) % 2 == 0


def jitter(sample: Any) -> Any:
    return {**sample, "npy": sample["npy"] + random.randrange(2)}


@pytest.mark.parametrize("workers,method", WORKERS)
def test_steps_of_a_web_dataset(workers: int, method: Any, tmp_path: Path) -> None:
    data = shards(tmp_path).shuffle(3).decode().map(halve).to_tuple("npy", "cls")
    data = data.map_tuple(add_two, int)
    loader = DataLoader(data, batch_size=4, num_workers=workers, multiprocessing_context=method)
    names = member_names(described(loader, tmp_path))
    steps = ["webdataset.decode", "map halve", "map_tuple[0] add_two"]
    assert names == [*steps, *["transfer"] * (workers > 0)]  # int is a type, called as one.
    (tmp_path / "arms").mkdir()
    known = [torch.from_numpy(image(index) // 2 + 2) for index in range(COUNT)]
    for images, _ in measure(loader, every_arm, tmp_path / "arms"):
        for each in images:
            assert any(torch.equal(each, other) for other in known)


def test_whole_batches_of_a_web_dataset(tmp_path: Path) -> None:
    data = shards(tmp_path).decode().to_tuple("npy", "cls").batched(4)
    loader = DataLoader(data, batch_size=None)
    names = member_names(described(loader, tmp_path))
    assert names == ["webdataset.decode", "batched default_collation_fn"]
    (tmp_path / "arms").mkdir()
    assert measure(loader, every_arm, tmp_path / "arms")


def test_members_of_a_container_in_a_step(tmp_path: Path) -> None:
    data = shards(tmp_path).decode("torch").map_dict(npy=Compose([add_two, Member(5)]))
    names = member_names(described(DataLoader(data.to_tuple("npy"), batch_size=4), tmp_path))
    assert names == [
        "webdataset.decode",
        "map_dict[npy].transforms[0] add_two",
        "map_dict[npy].transforms[1] Member",
    ]


def test_a_step_that_draws_random_numbers_is_known(tmp_path: Path) -> None:
    data = shards(tmp_path).decode().select(is_even).map(jitter).to_tuple("npy")
    chain = described(DataLoader(data, batch_size=4), tmp_path)
    found = {stage["name"]: stage["random"] for stage in chain["stages"]}
    assert found["map jitter"] and not found["select is_even"] and not found["webdataset.decode"]


def rows(count: int = 64) -> Any:
    datasets = pytest.importorskip("datasets")
    columns = {"x": [[float(i)] * 4 for i in range(count)]}
    return datasets.Dataset.from_dict(columns).to_iterable_dataset()


def twice(row: Any) -> Any:
    return {"x": [2 * value for value in row["x"]]}


def plus_one(row: Any) -> Any:
    return {"x": [value + 1 for value in row["x"]]}


def is_small(row: Any) -> bool:
    return bool(row["x"][0] < 32)


async def twice_later(row: Any) -> Any:
    return twice(row)


@pytest.mark.parametrize("workers,method", WORKERS)
def test_functions_of_a_hugging_face_stream(workers: int, method: Any, tmp_path: Path) -> None:
    data = rows().shuffle(seed=1, buffer_size=10).filter(is_small).map(twice).map(plus_one)
    loader = DataLoader(
        data.with_format("torch"), batch_size=4, num_workers=workers, multiprocessing_context=method
    )
    names = member_names(described(loader, tmp_path))
    assert names[:3] == ["filter is_small", "map twice", "map plus_one"]
    (tmp_path / "arms").mkdir()
    for batch in measure(loader, every_arm, tmp_path / "arms"):
        # A bypass answers with other samples' rows, before or behind the other function.
        assert set(batch["x"][:, 0].tolist()) <= {2.0 * i + 1 for i in range(64)}


@pytest.mark.parametrize("change", ["batched", "buffer"])
def test_a_function_that_runs_ahead_belongs_to_read(change: str, tmp_path: Path) -> None:
    data = rows().map(twice_all, batched=True, batch_size=16)
    if change == "buffer":
        data = rows().map(twice).shuffle(seed=1, buffer_size=10)
    chain = described(DataLoader(data.with_format("torch"), batch_size=4), tmp_path)
    name = "map twice_all" if change == "batched" else "map twice"
    assert member_names(chain) == []
    assert any(f"{name}: part of `read`" in note for note in chain["notes"])


def twice_all(columns: Any) -> Any:
    return {"x": [[2 * value for value in row] for row in columns["x"]]}


def samples_of(data: Any) -> list[Any]:
    return [sample["x"] for sample in data]


def test_the_pipeline_of_the_user_stays_as_it_is(tmp_path: Path) -> None:
    data = rows().filter(is_small).map(twice)
    held = data._ex_iterable
    copied = with_switches(data)
    assert [slot.name for slot in switch_slots(copied)] == ["filter is_small", "map twice"]
    assert data._ex_iterable is held and held.function is twice and switch_slots(data) == []
    assert samples_of(copied) == samples_of(data) == [[2.0 * i] * 4 for i in range(32)]

    pipeline = shards(tmp_path).decode().map(halve)
    steps = list(pipeline.pipeline)
    assert [slot.name for slot in switch_slots(with_switches(pipeline))] == ["map halve"]
    assert all(one is other for one, other in zip(pipeline.pipeline, steps))
    assert steps[-1].args == (halve,)


def test_what_cannot_be_replaced_is_read_as_it_is(tmp_path: Path) -> None:
    waits = rows().map(twice_later)
    assert with_switches(waits) is waits
    broken = rows().map(twice)
    broken._ex_iterable.function = property()  # As another version might hold it.
    del broken._ex_iterable.__dict__["ex_iterable"]
    assert with_switches(broken) is broken
    other = rows()
    other._ex_iterable = None
    assert with_switches(other) is other
    items = [1, 2]
    assert with_switches(items) is items


def times_two(x: int) -> int:
    return 2 * x


@pytest.mark.parametrize("late", [False, True])
def test_functions_of_data_pipes(late: bool, tmp_path: Path) -> None:
    pipes = pytest.importorskip("torch.utils.data.datapipes.iter")
    pipe = pipes.IterableWrapper(range(64))
    pipe = pipe.map(times_two).shuffle(buffer_size=10) if late else pipe.shuffle().map(times_two)
    loader = DataLoader(pipe, batch_size=4)
    shuffle = "shuffle(buffer_size=10)" if late else "shuffle(buffer_size=10000)"
    names = [shuffle] if late else [shuffle, "map times_two"]
    assert member_names(described(loader, tmp_path)) == names


def test_members_of_nodes_are_stages(tmp_path: Path) -> None:
    nodes = pytest.importorskip("torchdata.nodes")
    mapped = nodes.ParallelMapper(nodes.IterableWrapper(range(64)), times_two, num_workers=0)
    loader = nodes.Loader(nodes.Batcher(mapped, 4))
    names = [stage["name"] for stage in described(loader, tmp_path)["stages"]]
    assert names == ["IterableWrapper range", "Mapper times_two", "Batcher 4"]
