"""cachebisect.cached(): the samples are those of the dataset, and the first stages run once."""

from __future__ import annotations

import os
import pickle
import random
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")
import numpy as np
from torch.utils.data import DataLoader, IterableDataset, Subset

import cachebisect
from cachebisect import NotCacheable
from cached_data import (
    AddInPlace,
    Counter,
    Jitter,
    Numbers,
    OwnGenerator,
    Scale,
    SeldomNoise,
    same,
    seldom_more,
)

SMALL = "16MiB"
PATHS = [str(Path(__file__).parent), str(Path(cachebisect.__file__).parent.parent)]
"""Where scripts of these tests find what they import."""


def cached(dataset: Any, **options: Any) -> Any:
    if not {"memory", "disk"} & set(options):
        options["memory"] = SMALL
    return cachebisect.cached(dataset, **options)


def epoch(dataset: Any) -> list[Any]:
    return [dataset[index] for index in range(len(dataset))]


def test_stages_before_the_first_random_one_run_once_per_sample() -> None:
    scale = Scale()
    dataset = Numbers(scale, Jitter())
    kept = cached(dataset)
    assert kept.after == "transforms[0] Scale"
    first = epoch(kept)
    calls = scale.calls
    second = epoch(kept)
    assert scale.calls == calls
    assert (kept.hits, kept.misses) == (40, 40)
    for index, (one, other) in enumerate(zip(first, second)):
        assert not torch.equal(one[0], other[0])  # The random stage runs every time.
        assert torch.all((other[0] >= 3 * index) & (other[0] < 3 * index + 1))
        assert other[1] == index % 2


def test_a_dataset_without_random_stages_is_cached_as_a_whole() -> None:
    dataset = Numbers(Scale(), Scale(2))
    kept = cached(dataset)
    assert kept.after == "sample"
    epoch(kept)
    assert all(same(one, other) for one, other in zip(epoch(kept), epoch(dataset)))
    assert kept.hits == 40


@pytest.mark.parametrize("own", [OwnGenerator(), Counter()])
def test_stages_behind_it_may_have_generators_and_counters_of_their_own(own: Any) -> None:
    kept = cached(Numbers(Scale(), own, AddInPlace(), count=100), after="transforms[0]")
    before = epoch(kept)
    again = epoch(kept)
    assert (kept.hits, kept.misses) == (100, 100)
    assert not any(torch.equal(one[0], other[0]) for one, other in zip(before, again))


def test_a_dataset_without_members_is_cached_by_its_samples() -> None:
    dataset = torch.utils.data.TensorDataset(torch.arange(12.0).reshape(6, 2), torch.arange(6))
    kept = cached(dataset)
    epoch(kept)
    assert all(torch.equal(a[0], b[0]) for a, b in zip(epoch(kept), epoch(dataset)))


def test_later_stages_may_write_into_what_is_cached() -> None:
    kept = cached(Numbers(Scale(), AddInPlace(), Jitter()), after="transforms[0]")
    for _ in range(3):
        x, _label = kept[5]
        assert torch.all((x >= 16) & (x < 17))


@pytest.mark.parametrize("start", ["fork", "spawn"])
def test_all_workers_share_one_copy(start: str) -> None:
    kept = cached(Numbers(Scale(), count=24))
    loader = DataLoader(
        kept,
        batch_size=4,
        num_workers=2,
        multiprocessing_context=start,
        persistent_workers=start == "spawn",  # To start one takes seconds.
    )
    for _ in range(8):  # Workers that find the file locked leave a sample to the next epoch.
        assert all(torch.all(x % 3 == 0) for x, _label in loader)
    epoch(kept)
    assert (kept.hits, kept.misses) == (24, 0)  # The workers have made all of them.


@pytest.mark.parametrize("workers", [0, 2])
def test_training_gets_the_samples_of_a_run_without_it_bit_for_bit(workers: int) -> None:
    dataset = Numbers(Scale(), Jitter(), count=150)
    kept = cached(dataset, after="transforms[0]")
    for seed in range(3):
        epochs = []
        for each in (dataset, kept):
            torch.manual_seed(seed)
            loader = DataLoader(each, batch_size=10, shuffle=True, num_workers=workers)
            epochs.append([x for x, _label in loader])
        assert all(torch.equal(one, other) for one, other in zip(*epochs))


@pytest.mark.parametrize(
    ("dataset", "options", "words"),
    [
        (Numbers(Jitter()), {}, "the first stage, transforms[0] Jitter, makes another output"),
        (Numbers(SeldomNoise()), {}, "the first stage, transforms[0] SeldomNoise"),
        (Numbers(OwnGenerator()), {}, "the first stage, transforms[0] OwnGenerator"),
        (Numbers(Scale(), Jitter()), {"after": "sample"}, "Cache after='transforms[0] Scale'"),
        (Numbers(Scale(), code=seldom_more), {}, "the dataset's own code draws random numbers"),
        (Numbers(Scale(), Jitter(), code=torch.sqrt), {}, "what the dataset itself does with"),
        (Numbers(Scale()), {"after": "transforms[7]"}, "there are transforms[0] Scale, sample"),
        (Numbers(count=0), {}, "empty"),
    ],
)
def test_what_would_change_training_is_refused(dataset: Any, options: Any, words: str) -> None:
    with pytest.raises(NotCacheable) as raised:
        cached(dataset, **options)
    assert words in str(raised.value)


def test_frozen_repeats_random_stages() -> None:
    dataset = Numbers(Scale(), Jitter(), count=100)
    kept = cached(dataset, after="transforms[1]", frozen=True)
    first = epoch(kept)
    assert all(same(one, other) for one, other in zip(first, epoch(kept)))
    assert not torch.equal(first[0][0], first[1][0] - 3)
    assert kept.hits == 100


def test_reuse_repeats_random_stages_so_many_times_on_average() -> None:
    count, epochs, reuse = 100, 60, 3
    kept = cached(Numbers(Scale(), Jitter(), count=count), after="transforms[1]", reuse=reuse)
    torch.manual_seed(5)
    seen = [epoch(kept) for _ in range(epochs)]
    made = 1 + sum(
        not same(one[7], other[7]) for one, other in zip(seen, seen[1:])
    )  # of one sample
    assert 1 < made < epochs
    # Made by chance, one in four: 6,000 draws are within 5 standard deviations.
    expected = count + (epochs - 1) * count / (1 + reuse)
    assert abs(kept.misses - expected) < 5 * (epochs * count * 0.25 * 0.75) ** 0.5
    assert kept.hits + kept.misses == epochs * count


def test_what_is_made_anew_takes_the_place_of_what_a_full_cache_holds(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    kept = cached(Numbers(Scale(), Jitter(), count=20), after="transforms[1]", reuse=1)
    first = epoch(kept)
    for store in kept._tiers._stores:
        store.full = True
    made = kept.misses
    monkeypatch.setattr(type(kept), "_is_renewed", lambda _self: True)
    again = epoch(kept)
    monkeypatch.setattr(type(kept), "_is_renewed", lambda _self: False)
    assert kept.misses == made + 20
    assert all(same(one, other) for one, other in zip(again, epoch(kept)))
    assert not all(same(one, other) for one, other in zip(first, again))


def test_what_is_made_anew_follows_from_the_seed_and_takes_no_numbers_of_it() -> None:
    hits = []
    for seed in (1, 1, 2):
        kept = cached(Numbers(Scale(), count=50), after="transforms[0]", reuse=1)
        torch.manual_seed(seed)
        before = torch.get_rng_state()
        for _ in range(4):
            epoch(kept)
        assert torch.equal(torch.get_rng_state(), before)
        hits.append(kept.hits)
    assert hits[0] == hits[1] != hits[2]


@pytest.mark.parametrize("reuse", [-1, 1.5, True, None])
def test_reuse_is_a_count(reuse: Any) -> None:
    with pytest.raises(ValueError, match="reuse="):
        cached(Numbers(Scale()), after="transforms[0]", reuse=reuse)


def test_choosing_leaves_the_generators_where_they_were() -> None:
    for seed in (random.seed, np.random.seed, torch.manual_seed):
        seed(7)
    wanted = random.random(), np.random.random(), float(torch.rand(()))
    for seed in (random.seed, np.random.seed, torch.manual_seed):
        seed(7)
    cached(Numbers(Scale(), Jitter()))
    assert (random.random(), np.random.random(), float(torch.rand(()))) == wanted


def test_it_looks_like_the_dataset() -> None:
    dataset = Numbers(Scale())
    kept = cached(dataset)
    assert isinstance(kept, torch.utils.data.Dataset)
    assert len(kept) == 40
    assert kept.classes == ["even", "odd"]
    assert not hasattr(kept, "absent") and not hasattr(kept, "__getitems__")
    assert same(Subset(kept, [7])[0], dataset[7])
    assert same(pickle.loads(pickle.dumps(kept))[3], dataset[3])
    assert same(kept[np.int64(3)], kept[3])
    assert "after sample" in repr(kept)
    kept.opened = 5  # As worker_init_fn does, by get_worker_info().dataset.
    assert dataset.opened == 5


def test_errors_of_the_dataset_are_its_own() -> None:
    kept = cached(Numbers(Scale()))
    with pytest.raises(IndexError, match="no sample 40"):
        kept[40]
    assert len(list(iter(kept))) == 40  # Python's own iteration ends by it.


def test_a_stage_that_was_taken_away_ends_the_cache() -> None:
    dataset = Numbers(Scale())
    kept = cached(dataset, after="transforms[0]")
    copy = pickle.loads(pickle.dumps(kept))
    copy.dataset.transform.transforms.clear()
    with pytest.warns(UserWarning, match="not used from here on"):
        assert copy[2][0][0] == 2
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert copy[3][0][0] == 3


def test_a_change_of_the_data_is_seen_while_the_cache_is_filled() -> None:
    dataset = Numbers(Scale(), count=200)
    kept = cached(dataset, after="transforms[0]")
    dataset.code["own"] = seldom_and_by_time
    with pytest.warns(UserWarning, match="from the cache is not what"):
        epoch(kept)
    assert kept[0][0][0] >= 0


_times = iter(range(10**9))


def seldom_and_by_time(x: torch.Tensor) -> torch.Tensor:
    return x + next(_times)


def test_auto_is_what_all_samples_need() -> None:
    kept = cached(Numbers(Scale(), count=100, width=30_000), memory="auto")
    epoch(kept)
    epoch(kept)
    assert (kept.hits, kept.misses) == (100, 100)
    assert sum(file.stat().st_size for file in kept._folder.path.iterdir()) < 32 << 20


class OpensLate(Numbers):
    """Opens a file when it makes its first sample."""

    file: Any = None

    def __getitem__(self, index: int) -> Any:
        self.file = self.file or open(os.devnull)  # noqa: SIM115
        return super().__getitem__(index)


def test_choosing_leaves_nothing_behind_in_the_dataset() -> None:
    dataset = OpensLate(Scale())
    cached(dataset)
    assert dataset.file is None


class Fails(Numbers):
    def __getitem__(self, index: int) -> Any:
        if self.count == 41:
            os._exit(3)
        raise LookupError(f"sample {index} is missing")


def test_a_dataset_that_fails_says_so() -> None:
    with pytest.raises(LookupError, match="sample 0 is missing"):
        cached(Fails())
    with pytest.raises(RuntimeError, match="ended with 3"):
        cached(Fails(count=41))


def test_close_ends_the_cache() -> None:
    kept = cached(Numbers(Scale()))
    epoch(kept)
    kept.close()
    assert same(kept[4], kept.dataset[4])
    kept.close()


class Endless(IterableDataset):  # type: ignore[misc]
    def __iter__(self) -> Any:
        return iter(range(3))


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"memory": "8XB"}, ValueError, 'write it as "8GiB"'),
        ({"memory": "1kB"}, ValueError, "at least"),
        ({"memory": "900TiB"}, ValueError, "docker run --shm-size"),
        ({"memory": 2.5}, TypeError, "give bytes"),
        ({"memory": None}, ValueError, "say where"),
        ({"disk_limit": "1GB"}, ValueError, "goes with disk="),
        ({"evict": "random"}, ValueError, "there are none, fifo, lru"),
        ({"after": 3}, TypeError, "no name of a stage"),
        ({"frozen": True}, ValueError, "needs after="),
    ],
)
def test_bad_arguments(options: dict[str, Any], error: type[Exception], words: str) -> None:
    with pytest.raises(error) as raised:
        cachebisect.cached(Numbers(Scale()), **{"memory": SMALL, **options})
    assert words in str(raised.value)


def test_only_samples_by_index_can_be_cached() -> None:
    with pytest.raises(TypeError, match="Endless has no samples by index"):
        cached(Endless())


def folders() -> set[str]:
    return {name for name in os.listdir("/dev/shm") if name.startswith("cachebisect-cache-")}


SCRIPT = """
import os, sys
sys.path[:0] = {paths!r}
import cachebisect
from cached_data import Numbers, Scale
kept = cachebisect.cached(Numbers(Scale()), memory="16MiB")
[kept[i] for i in range(40)]
print(kept._folder.path.name, flush=True)
if {killed}:
    os.kill(os.getpid(), 9)
"""


@pytest.mark.parametrize("killed", [False, True])
def test_shared_memory_is_given_back(killed: bool) -> None:
    text = SCRIPT.format(paths=PATHS, killed=killed)
    run = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True)
    assert run.returncode == (-9 if killed else 0), run.stderr
    name = run.stdout.strip()
    assert (name in folders()) == killed
    cached(Numbers(Scale()))  # Removes what killed processes have left.
    assert name not in folders()
