"""cachebisect.prepare() and prepared(): the samples are those of the dataset."""

from __future__ import annotations

import json
import pickle
import tarfile
import threading
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")
np = pytest.importorskip("numpy")
from torch.utils.data import DataLoader, IterableDataset, Subset

import cachebisect
import prepared_data
from cachebisect import NotCacheable
from cached_data import AddInPlace, Jitter, Numbers, OwnGenerator, Scale, SeldomNoise, same
from prepared_data import Images, Parts, equal


def prepared(dataset: Any, folder: Path, **options: Any) -> Any:
    cachebisect.prepare(dataset, folder, **options)
    return cachebisect.prepared(dataset, folder)


def names_in(shard: Path) -> list[str]:
    with tarfile.open(shard) as archive:
        return archive.getnames()


def seeded(dataset: Any, index: int) -> Any:
    torch.manual_seed(index)
    np.random.seed(index)
    return dataset[index]


def assert_same_samples(dataset: Any, read: Any) -> None:
    for index in range(len(dataset)):
        assert equal(seeded(dataset, index), seeded(read, index)), index
    assert (read.hits, read.misses) == (len(dataset), 0)


def test_later_stages_draw_as_they_do_in_the_dataset(tmp_path: Path) -> None:
    dataset = Numbers(Scale(), Jitter(), AddInPlace())
    read = prepared(dataset, tmp_path / "new" / "set")
    assert read.after == "transforms[0] Scale"
    calls = dataset.transform.transforms[0].calls
    for _ in range(2):
        [read[index] for index in range(40)]
    assert dataset.transform.transforms[0].calls == calls
    assert not same(read[1], read[1])
    read = cachebisect.prepared(dataset, tmp_path / "new" / "set")
    assert_same_samples(dataset, read)


@pytest.mark.parametrize("mode", ["L", "RGB", "RGBA", "CMYK", "YCbCr", "P", "1", "I", "F", "LA"])
def test_images_of_every_mode(tmp_path: Path, mode: str) -> None:
    dataset = Images(mode if mode != "P" else "L")
    if mode == "P":
        dataset.mode = "P"
    if mode == "1":
        dataset.transform.transforms = [np.asarray, prepared_data.Crop()]
    read = prepared(dataset, tmp_path)
    assert_same_samples(dataset, read)


@pytest.mark.parametrize("count", [20, 100])
def test_what_pil_knows_of_an_image_is_kept(tmp_path: Path, count: int) -> None:
    dataset = Images(info=lambda i: {"dpi": (i, 2), "exif": bytes(i)}, count=count)
    dataset.transform.transforms[1:] = [dict_of]
    assert_same_samples(dataset, prepared(dataset, tmp_path, after="transforms[0]"))


def dict_of(image: Any) -> Any:
    return {**image.info, "bytes": image.tobytes(), "mode": image.mode, "class": str(type(image))}


@pytest.mark.parametrize("whole", ["nested", "alone", "only_label", "twice", "with_mask"])
@pytest.mark.parametrize("after", ["transform", None])
def test_samples_of_every_shape(tmp_path: Path, whole: str, after: Any) -> None:
    dataset = Parts(getattr(prepared_data, whole))
    after = "transform Scale" if after else None
    read = prepared(dataset, tmp_path, after=after)
    assert_same_samples(dataset, read)
    one = read[3]
    if whole == "twice":  # One tensor in several places, as the dataset has it.
        one[0].add_(5)
        assert torch.equal(one[0], one[2][1][0])


def test_a_dataset_without_stages(tmp_path: Path) -> None:
    dataset = torch.utils.data.TensorDataset(torch.arange(12.0).reshape(6, 2), torch.arange(6))
    assert_same_samples(dataset, prepared(dataset, tmp_path))


def test_what_is_read_is_the_callers_own(tmp_path: Path) -> None:
    read = prepared(Numbers(Scale()), tmp_path)
    read[5][0].zero_()
    assert same(read[5], read.dataset[5])


@pytest.mark.parametrize("workers", [1, 3])
@pytest.mark.parametrize("shard_size", ["64KiB", "1GiB"])
def test_the_order_is_that_of_the_dataset(tmp_path: Path, workers: int, shard_size: str) -> None:
    dataset = Numbers(Scale(), Jitter(), count=150, width=500)
    found = cachebisect.prepare(dataset, tmp_path, shard_size=shard_size, workers=workers)
    read = cachebisect.prepared(dataset, tmp_path)
    assert_same_samples(dataset, read)
    shards = sorted(tmp_path.glob("shard-*.tar"))
    assert found.shards == len(shards) and (len(shards) > 3) == (shard_size == "64KiB")
    assert found.bytes == sum(shard.stat().st_size for shard in shards)
    if shard_size == "64KiB":
        assert all(shard.stat().st_size <= (64 << 10) + 1024 for shard in shards)
    names = [name for shard in shards for name in names_in(shard)]
    assert names == [f"{i:09d}.{end}" for i in range(150) for end in ("npy", "cls")]
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(
        [*(shard.name for shard in shards), "index.json", "positions.bin"]
    )


@pytest.mark.parametrize("start", ["fork", "spawn"])
def test_workers_of_every_start_method(tmp_path: Path, start: str) -> None:
    dataset = Numbers(Scale(), count=64, width=3000)
    read = prepared(dataset, tmp_path, shard_size="64KiB")
    read[0]  # Opens a file that forked workers inherit.
    loader = DataLoader(
        read,
        batch_size=4,
        num_workers=2,
        multiprocessing_context=start,
        persistent_workers=start == "spawn",  # To start one takes seconds.
    )
    for _ in range(2):
        found = torch.cat([x for x, _label in loader])
        assert torch.equal(found[:, 0], torch.arange(64.0) * 3)


def test_training_gets_the_batches_of_a_run_without_it(tmp_path: Path) -> None:
    dataset = Numbers(Scale(), Jitter(), count=150)
    read = prepared(dataset, tmp_path)
    for workers in (0, 2):
        epochs = []
        for each in (dataset, read):
            torch.manual_seed(workers)
            loader = DataLoader(each, batch_size=10, shuffle=True, num_workers=workers)
            epochs.append([x for x, _label in loader])
        assert all(torch.equal(one, other) for one, other in zip(*epochs))


def test_threads_read_at_once(tmp_path: Path) -> None:
    dataset = Numbers(Scale(), count=100, width=500)
    read = prepared(dataset, tmp_path, shard_size="64KiB")
    found: list[Any] = []

    def epoch() -> None:
        found.append(all(same(read[i], dataset[i]) for i in range(100)))

    threads = [threading.Thread(target=epoch) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [True] * 8


def test_it_looks_like_the_dataset(tmp_path: Path) -> None:
    dataset = Numbers(Scale())
    read = prepared(dataset, tmp_path)
    assert isinstance(read, torch.utils.data.Dataset)
    assert len(read) == 40 and read.classes == ["even", "odd"]
    assert not hasattr(read, "absent") and not hasattr(read, "__getitems__")
    assert same(Subset(read, [7])[0], dataset[7])
    assert same(pickle.loads(pickle.dumps(read))[3], dataset[3])
    assert same(read[np.int64(3)], dataset[3])
    assert "after sample" in repr(read)
    with pytest.raises(IndexError, match="no sample 40"):
        read[40]
    with pytest.raises(IndexError, match="no sample -1"):
        read[-1]
    read.opened = 5  # As worker_init_fn does, by get_worker_info().dataset.
    assert dataset.opened == 5


def test_what_is_measured_of_it_are_the_later_stages(tmp_path: Path) -> None:
    from cachebisect._chain.description import chain_of_loader
    from cachebisect._worker.probe import probe

    read = prepared(Numbers(Scale(), Jitter(), AddInPlace()), tmp_path)
    found = probe(read, [lambda: read[1], lambda: read[2]])
    names = [stage["name"] for stage in found["stages"]]
    assert names == ["transforms[1] Jitter", "transforms[2] AddInPlace"]
    chain = chain_of_loader(DataLoader(read), found, on_device=False)
    assert chain.stages[0].name == "read PreparedDataset.__getitem__"
    assert "keeps samples after transforms[0] Scale" in chain.notes[0]
    assert chain.cached_after == ()


def test_more_shards_than_files_are_kept_open(tmp_path: Path) -> None:
    dataset = Numbers(Scale(), count=140, width=16_000)
    read = prepared(dataset, tmp_path, shard_size="64KiB")
    assert len(list(tmp_path.glob("shard-*.tar"))) == 140
    assert_same_samples(dataset, read)
    assert read._reader._files._open == {}


def test_stages_behind_the_boundary_may_change(tmp_path: Path) -> None:
    cachebisect.prepare(Numbers(Scale(), Jitter()), tmp_path)
    for later in ([], [AddInPlace()], [AddInPlace(), Jitter()], [Jitter(), OwnGenerator()]):
        dataset = Numbers(Scale(), *later)
        read = cachebisect.prepared(dataset, tmp_path)
        if OwnGenerator not in map(type, later):
            assert_same_samples(dataset, read)
        assert torch.all(read[5][0] >= 15) and read.misses == 0
    cachebisect.prepare(Numbers(Scale()), tmp_path / "whole")
    dataset = Numbers(Scale(), AddInPlace(), Jitter())
    assert_same_samples(dataset, cachebisect.prepared(dataset, tmp_path / "whole"))


def test_frozen_repeats_random_stages(tmp_path: Path) -> None:
    dataset = Numbers(Scale(), Jitter(), Jitter(), count=20)
    read = prepared(dataset, tmp_path, after="transforms[1]", frozen=True)
    first, second = read[4][0], read[4][0]
    assert not torch.equal(first, second) and abs(first - second).max() < 1
    whole = tmp_path / "whole"
    read = prepared(dataset, whole, after="sample", frozen=True)
    assert same(read[4], read[4])
    assert len({float(read[i][0][0] - 3 * i) for i in range(20)}) == 20


def test_the_table_says_what_each_boundary_takes(tmp_path: Path) -> None:
    dataset = Numbers(Scale(), Widen(), Jitter(), count=30)
    folder = tmp_path / "none"
    found = cachebisect.prepare(dataset, folder, dry_run=True)
    assert not folder.exists() and list(tmp_path.iterdir()) == []
    assert [row.after for row in found.boundaries] == ["transforms[0] Scale", "transforms[1] Widen"]
    small, wide = found.boundaries
    assert wide.bytes_per_sample > 40_000 > 4_000 > small.bytes_per_sample
    assert wide.bytes == pytest.approx(30 * wide.bytes_per_sample, rel=0.01)
    assert wide.fits and found.chosen == wide and found.shards == found.bytes == 0
    assert small.samples_per_second > 0 and found.live_samples_per_second > 0
    text = str(found)
    assert "transforms[1] Widen *" in text and "CPU saved" in text and found.advice in text
    again = json.loads(json.dumps(found.to_dict()))
    assert again["boundaries"][1]["bytes"] == wide.bytes and again["advice"] == found.advice
    done = cachebisect.prepare(dataset, folder)
    assert done.written == done.samples == 30
    assert cachebisect.prepare(dataset, folder).written == 0


class Widen:
    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        return x.repeat(2500)


def test_it_says_when_not_to() -> None:
    from cachebisect._prepare.summary import Boundary, Prepared

    def advice(rate: float, fits: bool = True, other: float = 0.0) -> str:
        row = Boundary("b", 2e6, 2e12, 0.001, 900.0, rate, fits)
        first = Boundary("a", 1e6, 1e12, 0.001, 900.0, other, True)
        return Prepared("f", "b", 1000, (first, row), 100.0, 1e12).advice

    assert advice(300.0).startswith("Worth it where loading limits training")
    assert advice(101.0).startswith("Not worth it after b")
    assert "2 TB, and 1 TB are free. after='a' fits." in advice(300.0, fits=False)
    assert "after='a' gives more: 500" in advice(300.0, other=500.0)


class Endless(IterableDataset):  # type: ignore[misc]
    def __iter__(self) -> Any:
        return iter(range(3))


@pytest.mark.parametrize(
    ("dataset", "options", "error", "words"),
    [
        (Numbers(Jitter()), {}, NotCacheable, "the first stage, transforms[0] Jitter"),
        (Numbers(SeldomNoise()), {}, NotCacheable, "the first stage, transforms[0] SeldomNoise"),
        (Numbers(Scale(), Jitter()), {"after": "sample"}, NotCacheable, "another output"),
        (Numbers(Scale()), {"after": "transforms[7]"}, NotCacheable, "there are transforms[0]"),
        (Numbers(count=0), {}, NotCacheable, "empty"),
        (Numbers(Scale()), {"after": 3}, TypeError, "no name of a stage"),
        (Numbers(Scale()), {"frozen": True}, ValueError, "needs after="),
        (Numbers(Scale()), {"workers": -1}, ValueError, "no number of processes"),
        (Numbers(Scale()), {"shard_size": "1kB"}, ValueError, "at least"),
        (Numbers(Scale()), {"version": 2}, TypeError, "no text"),
        (Endless(), {}, TypeError, "has no samples by index"),
    ],
)
def test_what_cannot_be_prepared_is_refused(
    tmp_path: Path, dataset: Any, options: Any, error: Any, words: str
) -> None:
    with pytest.raises(error) as raised:
        cachebisect.prepare(dataset, tmp_path / "set", **options)
    assert words in str(raised.value)
    assert not list((tmp_path / "set").glob("*"))


def test_a_dataset_that_keeps_samples_is_refused(tmp_path: Path) -> None:
    dataset = Numbers(Scale())
    read = prepared(dataset, tmp_path)
    for act in (cachebisect.prepare, cachebisect.prepared):
        with pytest.raises(ValueError, match="give its `.dataset`"):
            act(read, tmp_path)


def test_preparing_leaves_the_generators_where_they_were(tmp_path: Path) -> None:
    torch.manual_seed(7)
    wanted = float(torch.rand(()))
    torch.manual_seed(7)
    prepared(Numbers(Scale(), Jitter()), tmp_path)
    assert float(torch.rand(())) == wanted


def test_webdataset_reads_it(tmp_path: Path) -> None:
    webdataset = pytest.importorskip("webdataset")
    dataset = Images(count=60)
    found = cachebisect.prepare(dataset, tmp_path / "a", shard_size="64KiB")
    assert found.shards > 1
    url = f"{tmp_path}/a/shard-{{00000..{found.shards - 1:05d}}}.tar"
    samples = list(webdataset.WebDataset(url, shardshuffle=False).decode())
    dataset.transform.transforms.pop()
    for index, sample in enumerate(samples):
        assert sample["__key__"] == f"{index:09d}" and sample["cls"] == index % 3
        assert np.array_equal(sample["npy"], np.asarray(dataset[index][0]))
    assert len(samples) == 60
    pairs = webdataset.WebDataset(url, shardshuffle=False).decode().to_tuple("npy", "cls")
    assert next(iter(pairs))[1] == 0


def test_a_stage_may_give_a_structure(tmp_path: Path) -> None:
    dataset = Numbers(Scale(), as_dict, taken_apart)
    read = prepared(dataset, tmp_path, after="transforms[1]")
    assert_same_samples(dataset, read)
    names = names_in(tmp_path / "shard-00000.tar")[:4]
    assert names == [f"000000000.{name}" for name in ("image.npy", "mask.npy", "flip.json", "cls")]


def as_dict(x: torch.Tensor) -> Any:
    return {"image": x, "mask": x > 2, "flip": False}


def taken_apart(parts: Any) -> Any:
    return parts["image"] + torch.rand(()), parts


def test_webdataset_reads_every_part(tmp_path: Path) -> None:
    webdataset = pytest.importorskip("webdataset")
    dataset = Parts(prepared_data.nested)
    cachebisect.prepare(dataset, tmp_path)
    samples = webdataset.WebDataset(f"{tmp_path}/shard-00000.tar", shardshuffle=False).decode()
    for index, sample in enumerate(samples):
        wanted = dataset[index]
        assert sample["npy"].tolist() == [3.0 * index] * 3
        assert sample["label.cls"] == index and sample["name.txt"] == wanted["name"]
        assert sample["boxes.json"] == wanted["boxes"] and sample["big.pyd"] == wanted["big"]
        assert torch.equal(sample["half.pyd"], wanted["half"])
        assert sample["raw.bin"] == wanted["raw"] and sample["many.pyd"] == wanted["many"]
