"""Datasets that read through h5py, zarr and Hugging Face datasets, and albumentations' members."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch")

from torch.utils.data import DataLoader, Dataset, Subset

from loaders import WholeBatches
from measured import every_arm, measure, stage_names

LENGTH = 32


class Stored(Dataset):  # type: ignore[type-arg]
    """Rows of an array that `open_array()` opens in the worker that reads it first."""

    def __init__(self, open_array: Any, transform: Any = None) -> None:
        self.open_array = open_array
        self.transform = transform
        self.rows: Any = None

    def __len__(self) -> int:
        return LENGTH

    def __getitem__(self, index: int) -> Any:
        if self.rows is None:
            self.rows = self.open_array()
        row = torch.from_numpy(self.rows[index])
        return (self.transform(row) if self.transform else row), index


def numbers() -> Any:
    return pytest.importorskip("numpy").arange(LENGTH * 4, dtype="float32").reshape(LENGTH, 4)


def double(x: Any) -> Any:
    return x * 2


def check_rows(batches: Any) -> None:
    """A bypass answers with other samples' rows; all have been doubled."""
    for x, index in batches:
        assert x.shape == (4, 4) and index.shape == (4,)
        assert set(x[:, 0].tolist()) <= {8.0 * row for row in range(LENGTH)}


def open_hdf5(path: str) -> Any:
    h5py = pytest.importorskip("h5py")
    with h5py.File(path, "w") as file:
        file["rows"] = numbers()
    return lambda: h5py.File(path, "r")["rows"]


def open_zarr(path: str) -> Any:
    zarr = pytest.importorskip("zarr")
    zarr.save_array(path, numbers())
    return lambda: zarr.open_array(path, mode="r")


@pytest.mark.parametrize(
    "store,read", [(open_hdf5, "h5py.Dataset.__getitem__"), (open_zarr, "zarr.Array.__getitem__")]
)
@pytest.mark.parametrize("workers", [0, 2])
def test_rows_of_a_stored_array_are_a_read_stage(
    store: Any, read: str, workers: int, tmp_path: Any
) -> None:
    dataset = Stored(store(str(tmp_path / "rows")), double)
    loader = DataLoader(dataset, batch_size=4, shuffle=True, num_workers=workers)
    (tmp_path / "arms").mkdir()
    assert stage_names(loader, tmp_path)[:3] == [
        "read Stored.__getitem__",
        read,
        "transform double",
    ]
    check_rows(measure(loader, every_arm, tmp_path / "arms"))


def test_a_file_that_is_open_for_one_sample_alone_belongs_to_the_dataset(tmp_path: Any) -> None:
    h5py = pytest.importorskip("h5py")
    open_hdf5(str(tmp_path / "rows"))

    class Reopened(Stored):
        def __getitem__(self, index: int) -> Any:
            with h5py.File(str(tmp_path / "rows"), "r") as file:
                return torch.from_numpy(file["rows"][index]) * 2, index

    loader = DataLoader(Reopened(None), batch_size=4)
    assert stage_names(loader, tmp_path) == [
        "read Reopened.__getitem__",
        "collate_fn default_collate",
    ]


def double_columns(columns: Any) -> Any:
    return {"x": [torch.tensor(x) * 2 for x in columns["x"]], "index": columns["index"]}


def table(transform: Any) -> Any:
    datasets = pytest.importorskip("datasets")
    columns = {"x": [[4.0 * i] * 4 for i in range(LENGTH)], "index": list(range(LENGTH))}
    found = datasets.Dataset.from_dict(columns)
    return found.with_transform(transform) if transform is not None else found


class Rows(Dataset):  # type: ignore[type-arg]
    """A user's dataset around one of Hugging Face's."""

    def __init__(self, inner: Any) -> None:
        self.inner = inner

    def __len__(self) -> int:
        return LENGTH

    def __getitem__(self, index: int) -> Any:
        row = self.inner[index]
        return row["x"], row["index"]


@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.parametrize("subset", [False, True])
def test_whole_batches_of_hugging_face_datasets(workers: int, subset: bool, tmp_path: Any) -> None:
    dataset: Any = table(double_columns)
    dataset = Subset(dataset, range(LENGTH)) if subset else dataset
    loader = DataLoader(dataset, batch_size=4, shuffle=True, num_workers=workers)
    (tmp_path / "arms").mkdir()
    names = stage_names(loader, tmp_path)
    assert names[:2] == ["read Dataset.__getitems__", "transform double_columns"]
    batches = measure(loader, every_arm, tmp_path / "arms")
    check_rows((batch["x"], batch["index"]) for batch in batches)


def test_rows_of_hugging_face_datasets_in_a_dataset(tmp_path: Any) -> None:
    loader = DataLoader(Rows(table(None)), batch_size=4, num_workers=1, collate_fn=rows_of_lists)
    (tmp_path / "arms").mkdir()
    names = stage_names(loader, tmp_path)
    assert names[:2] == ["read Rows.__getitem__", "datasets.Dataset.__getitem__"]
    measure(loader, every_arm, tmp_path / "arms")


def rows_of_lists(samples: Any) -> Any:
    return torch.tensor([x for x, _ in samples]), torch.tensor([i for _, i in samples])


@pytest.mark.parametrize("workers", [0, 2])
def test_members_of_a_dataset_that_reads_whole_batches(workers: int, tmp_path: Any) -> None:
    loader = DataLoader(WholeBatches(double), batch_size=4, num_workers=workers)
    (tmp_path / "arms").mkdir()
    names = stage_names(loader, tmp_path)
    assert names[:2] == ["read WholeBatches.__getitems__", "transform double"]
    for x, _ in measure(loader, every_arm, tmp_path / "arms"):
        assert x.shape == (4, 4) and bool((x[:, 0] % 2 == 0).all())


class Images(Dataset):  # type: ignore[type-arg]
    def __init__(self, transform: Any) -> None:
        self.transform = transform

    def __len__(self) -> int:
        return LENGTH

    def __getitem__(self, index: int) -> Any:
        numpy = pytest.importorskip("numpy")
        image = numpy.full((12, 10, 3), index, dtype="uint8")
        return self.transform(image=image)["image"], index


@pytest.mark.parametrize("workers", [0, 2])
def test_members_of_albumentations(workers: int, tmp_path: Any) -> None:
    albumentations = pytest.importorskip("albumentations")
    pytorch = pytest.importorskip("albumentations.pytorch")
    members = [
        albumentations.HorizontalFlip(p=0.5),
        albumentations.OneOf([albumentations.RandomCrop(8, 8), albumentations.Resize(8, 8)], p=1.0),
        albumentations.Normalize(),
        pytorch.ToTensorV2(),
    ]
    loader = DataLoader(
        Images(albumentations.Compose(members)), batch_size=4, num_workers=workers, shuffle=True
    )
    (tmp_path / "arms").mkdir()
    assert stage_names(loader, tmp_path)[1:5] == [
        "transforms[0] HorizontalFlip",
        "transforms[1] OneOf",
        "transforms[2] Normalize",
        "transforms[3] ToTensorV2",
    ]
    for images, _ in measure(loader, every_arm, tmp_path / "arms"):
        assert images.shape == (4, 3, 8, 8) and images.dtype == torch.float32
