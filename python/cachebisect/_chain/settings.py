"""The settings of a DataLoader as a program writes them, and lines of code that mend it.

The engine gets both with `describe` (docs/extend/protocol.md), and makes remedies, what-ifs and the
overrides of live arms of them. It knows no name of PyTorch by itself.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Optional, Union

from .advice import ADVICE
from .dask_settings import DASK_PROCESSES, DASK_THREADS, SET_DASK_PROCESSES, SET_DASK_THREADS

FLAGS = ("False", "True")

CACHE = "cache"
"""The setting that puts a cache into a dataset; its values depend on the stages."""
_CACHED = 'cachebisect.cached(dataset, after={}, memory="auto")'

DISK_CACHE = "disk_cache"
"""The same in a file, in a folder that the engine names when it is tried."""
_DISK_CACHED = 'cachebisect.cached(dataset, after={}, disk="FOLDER", disk_limit="LIMIT")'

PREPARED = "prepared"
"""The setting that writes a dataset once, in such a folder."""
_PREPARED = (
    'cachebisect.prepare(dataset, "FOLDER", after={})  # once; then '
    'cachebisect.prepared(dataset, "FOLDER")'
)

READ_CACHE = "read_cache"
"""The setting that keeps what the dataset reads in a folder; its value is the folder."""
_READ_CACHE = 'cachebisect.cached(dataset, after="read", disk={}, disk_limit="LIMIT")'

KEEP_SAMPLES = (CACHE, DISK_CACHE, PREPARED, READ_CACHE)
"""Settings after which a dataset does not make its samples anew; one of them at a time."""

ON_DEVICE = "on_device"
"""The setting that runs a stage, and those that follow it, on the device for a whole batch."""
_ON_DEVICE = "images = images.to(device)  # then {} and what follows it, for the whole batch"

ORDER = "order"
"""The setting that runs a crop before stages in front of it."""
_ORDER = "transforms.Compose([...])  # in another order: {}"

READ_THREADS = "read_threads"
"""The setting that makes the samples of a batch in several threads of each worker."""
_READ_THREADS = (
    "pool = functools.cache(lambda process: ThreadPoolExecutor({}))  # then, in the Dataset: def "
    "__getitems__(self, indices): return list(pool(os.getpid()).map(self.__getitem__, indices))"
)

DECODE_SCALE = "decode_scale"
"""The setting that decodes JPEG images at a part of their size. It changes samples."""

MALLOC = "malloc"
"""The setting of the memory allocator of each worker."""
_MALLOC = (
    "DataLoader(..., worker_init_fn=f), where f(worker) calls libc = ctypes.CDLL(None); "
    "libc.mallopt(-4, 0); libc.mallopt(-1, -1)  # {}: M_MMAP_MAX and M_TRIM_THRESHOLD of glibc"
)

UNUSED = "unused"
"""The setting that leaves out of batches what no step reads, where there is something."""

AMP = "amp"
CHANNELS_LAST = "channels_last"
COMPILE = "compile"
NEED_MODEL = (AMP, CHANNELS_LAST, COMPILE)
"""Other ways to compute the step, with other rounding: of a model that is known."""

NEED_DEVICE = frozenset({"non_blocking", ON_DEVICE})
"""Settings of what happens on the way to a device."""

NEED_DECODE = frozenset({DECODE_SCALE})
"""Settings of images that are decoded."""

NEED_DASK = frozenset({DASK_THREADS, DASK_PROCESSES})
"""Settings of workers that have imported dask."""

NEED_SINGLE_SAMPLES = frozenset({READ_THREADS})
"""Settings of datasets that a DataLoader asks for one sample after the other."""

Values = Union[tuple[int, int], tuple[str, ...]]


@dataclass(frozen=True)
class Setting:
    """`values`: least and most of a count, the words that are allowed, or FLAGS."""

    name: str
    path: str
    """In the engine's terms, as in a pipeline file; what no such file has: the name."""
    code: str
    values: Values
    can_run: bool = True
    """A shadow loader can run it as a live arm."""
    of_workers: bool = False
    """It means nothing without workers."""
    per_worker: bool = False
    """Its value is that of each worker."""

    @property
    def is_of_data_loader(self) -> bool:
        """It belongs to torch's DataLoader, or to its workers."""
        needs_it = self.of_workers or self.name in NEED_SINGLE_SAMPLES
        return needs_it or "DataLoader(" in self.code

    def to_json(self) -> dict[str, Any]:
        """As the engine reads it."""
        return {
            "name": self.name,
            "path": self.path,
            "code": self.code,
            "values": self._values(),
            "can_run": self.can_run,
            "of_workers": self.of_workers,
            "per_worker": self.per_worker,
        }

    def _values(self) -> dict[str, Any]:
        if self.values == FLAGS:
            return {"flags": list(FLAGS)}
        if isinstance(self.values[0], int):
            return {"min": self.values[0], "max": self.values[1]}
        return {"words": list(self.values)}


def _argument(name: str) -> str:
    return f"DataLoader(..., {name}={{}})"


SETTINGS = (
    Setting("num_workers", "workers", _argument("num_workers"), (0, 1024)),
    Setting("batch_size", "batch_size", _argument("batch_size"), (1, 1 << 20), can_run=False),
    Setting(
        "prefetch_factor", "prefetch", _argument("prefetch_factor"), (1, 64),
        of_workers=True, per_worker=True,
    ),
    Setting("pin_memory", "stages.*.pinned", _argument("pin_memory"), FLAGS),
    Setting("non_blocking", "stages.*.non_blocking", ".to(device, non_blocking={})", FLAGS),
    Setting("in_order", "in_order", _argument("in_order"), FLAGS, of_workers=True),
    Setting(
        "persistent_workers", "persistent_workers", _argument("persistent_workers"), FLAGS,
        can_run=False,
    ),
    Setting(
        "multiprocessing_context", "multiprocessing_context",
        _argument("multiprocessing_context"), ("fork", "spawn", "forkserver"), of_workers=True,
    ),
    Setting(
        "sharing_strategy", "sharing_strategy", "torch.multiprocessing.set_sharing_strategy({})",
        ("file_descriptor", "file_system"), of_workers=True,
    ),
    Setting(
        "worker_threads", "worker_threads",
        "DataLoader(..., worker_init_fn=f), where f(worker) calls torch.set_num_threads({}) and "
        "cv2.setNumThreads({})",
        (1, 1024), of_workers=True,
    ),
    Setting(READ_THREADS, READ_THREADS, _READ_THREADS, (1, 256), per_worker=True),
    Setting(
        DECODE_SCALE, DECODE_SCALE,
        "image.draft(image.mode, (image.width // {}, image.height // {}))  # a JPEG, before it is "
        "loaded: samples change",
        (2, 8), of_workers=True,
    ),
    Setting(MALLOC, MALLOC, _MALLOC, ("keep",), of_workers=True),
    Setting(DASK_THREADS, DASK_THREADS, SET_DASK_THREADS, (1, 1024), of_workers=True),
    Setting(DASK_PROCESSES, DASK_PROCESSES, SET_DASK_PROCESSES, (1, 256), of_workers=True),
)  # fmt: skip

STEP_SETTINGS = (
    Setting(
        AMP, AMP,
        "with torch.autocast(device.type, dtype=torch.bfloat16):  # around the forward pass", FLAGS,
    ),
    Setting(
        CHANNELS_LAST, CHANNELS_LAST,
        "model.to(memory_format=torch.channels_last)  # and the images, before the model", FLAGS,
    ),
    Setting(COMPILE, COMPILE, "model = torch.compile(model)", FLAGS),
)  # fmt: skip

ELEMENTWISE = frozenset({"Normalize", "ConvertImageDtype", "ToDtype"})
"""Transforms each of whose output values depends on one input value alone."""
MAKES_FLOATS = frozenset({"ToTensor"})
"""Transforms that make floats of bytes."""


def described_settings(
    cached_after: tuple[str, ...] = (),
    on_device_from: tuple[str, ...] = (),
    of_data_loader: bool = True,
    single_samples: bool = True,
    decodes: bool = True,
    orders: tuple[str, ...] = (),
    lines: Optional[Mapping[str, str]] = None,
    reads: bool = False,
    dask: bool = True,
) -> dict[str, Any]:
    """Fields of the answer to `describe`. `cached_after`: stages behind which a cache may stand.
    `on_device_from`: stages that may run on the device, with those that follow. `of_data_loader`:
    torch's DataLoader, which has settings. `single_samples`: it asks its dataset for one sample
    after the other. `decodes`: a stage makes images of bytes. `orders`: which crop may run before
    which stage. `lines`: of code, by the ids of remedies that this loader needs. `reads`: what the
    dataset reads can be kept. `dask`: its workers have imported dask."""
    own = dict(lines or {})
    of_stages = [
        Setting(CACHE, CACHE, _CACHED, cached_after),
        Setting(DISK_CACHE, DISK_CACHE, _DISK_CACHED, cached_after),
        Setting(PREPARED, PREPARED, _PREPARED, cached_after),
        Setting(READ_CACHE, READ_CACHE, _READ_CACHE, ("DIR",) if reads else ()),
        Setting(ON_DEVICE, ON_DEVICE, _ON_DEVICE, on_device_from),
        Setting(ORDER, ORDER, _ORDER, orders),
        Setting(UNUSED, UNUSED, own.get(UNUSED, ""), ("drop",) if UNUSED in own else ()),
    ]
    of_loader = [s for s in SETTINGS if of_data_loader or not s.is_of_data_loader]
    needs = ((single_samples, NEED_SINGLE_SAMPLES), (decodes, NEED_DECODE), (dask, NEED_DASK))
    unwanted = {name for has, names in needs if not has for name in names}
    of_loader = [s for s in of_loader if s.name not in unwanted]
    settings = [s.to_json() for s in (*of_loader, *of_stages, *STEP_SETTINGS) if s.values]
    return {"settings": settings, "advice": {**ADVICE, **own}}


def runnable() -> frozenset[str]:
    """What a live arm may change; `workers` is the engine's word for num_workers."""
    others = {"workers", *KEEP_SAMPLES, ON_DEVICE, ORDER, UNUSED, *NEED_MODEL}
    return frozenset(setting.name for setting in SETTINGS if setting.can_run) | others


def line_of(name: str, value: str) -> str:
    """The line of code that gives a setting a value, which is JSON."""
    [code] = (setting.code for setting in SETTINGS if setting.name == name)
    return code.replace("{}", value)


def value_of(overrides: Mapping[str, str], name: str, otherwise: Any) -> Any:
    """The value of an override of an arm, which is JSON."""
    return json.loads(overrides[name]) if name in overrides else otherwise
