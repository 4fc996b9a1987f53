"""`--iterator` that names what is not there, is not iterated, or cannot be timed: `run` says so."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from cachebisect._chain import array_devices
from cachebisect._follow.named_iterator import NamedIterator
from engine import TestEngine
from hooked import run_script
from test_iterator import TRAINING, name

ENDLESS = """
source = itertools.cycle([batch(1)])
for x, number in source:
    train(x, number)
    assert len(seen) < 10_000
"""

IN_A_THREAD = """
import queue, threading
ready = queue.Queue(2)

def read():
    for value in numbers():
        ready.put(value)

threading.Thread(target=read, daemon=True).start()
for value in iter(ready.get, None):
    for _ in range(10):
        train(*value)
    assert len(seen) < 10_000
"""

FOR_VALIDATION = """
while len(seen) < 10_000:
    for _ in range(10):
        train(*batch(1))
    with torch.no_grad():
        for x, number in numbers():
            pass
"""

GIVES_LOADER = """
loader = loader_of_numbers()
while len(seen) < 10_000:
    for x in loader:
        train(*batch(int(x[0])))
"""


def refusal(monkeypatch: Any, tmp_path: Any, path: str, text: str) -> str:
    """What the engine is told in place of a description."""
    answers: list[Any] = []
    name(monkeypatch, path, "exit")

    def script(engine: TestEngine) -> None:
        answers.append(engine.greet())
        engine.ask("finish", then="exit", exit_code=2, text="")

    done = run_script(tmp_path, script, TRAINING % text)
    assert (done.returncode, done.stdout) == (2, ""), done.stderr
    assert (answers[0]["type"], answers[0]["kind"]) == ("error", "usage"), answers
    told: str = answers[0]["text"]
    return told


@pytest.mark.parametrize(
    "path,text,told",
    [
        ("own_batch:numbers", ENDLESS, "no module own_batch was imported (is it own_batches"),
        ("own_batches:number", ENDLESS, "own_batches has no number (is it numbers"),
        ("own_batches:Table.iter", ENDLESS, "own_batches.Table has no iter (is it "),
        ("__main__:numberz", ENDLESS, "__main__ has no numberz (is it "),
        ("own_batches:Own", ENDLESS, "it was never iterated in this process; name the class or"),
        ("own_batches:LENGTH", ENDLESS, "it is of type int: name its class, or the function"),
        ("builtins:range", ENDLESS, "it is built in, and cannot be watched"),
        ("random:Random", ENDLESS, "it has neither __iter__ nor __next__"),
        ("own_batches:batch", ENDLESS, "it returns a tuple, which makes no batches"),
        ("torch:seed", "torch.seed()" + ENDLESS, "it returns a int, which makes no batches"),
        ("numbers", ENDLESS, "it must be package.module:Class"),
        ("own_batches:", ENDLESS, "it must be package.module:Class"),
        ("own_batches:a b", ENDLESS, "it must be package.module:Class"),
        ("own_batches:loader_of_numbers",
         GIVES_LOADER.replace("loader_of", "own_batches.loader_of"),
         "it gives a torch DataLoader, which is measured without --iterator"),
        ("own_batches:numbers", IN_A_THREAD, "reads the batches of numbers in advance"),
        ("own_batches:numbers", FOR_VALIDATION,
         "no batch of own_batches:numbers was taken between them"),
    ],
)  # fmt: skip
def test_after_100_steps_it_is_said_what_is_wrong(
    path: str, text: str, told: str, monkeypatch: Any, tmp_path: Any
) -> None:
    answer = refusal(monkeypatch, tmp_path, path, text)
    assert answer.startswith("train.py has trained 1") and told in answer, answer


def test_a_script_that_ends_early_is_told_as_well(monkeypatch: Any, tmp_path: Any) -> None:
    answers: list[Any] = []
    name(monkeypatch, "own_batches:nothing")
    done = run_script(tmp_path, lambda e: answers.append(e.greet()), TRAINING % "train(*batch(1))")
    assert done.returncode == 0, done.stderr
    assert answers[0]["kind"] == "usage" and "own_batches has no nothing" in answers[0]["text"]


FOREIGN = """
import types

jax = types.ModuleType("jax")

class Array:
    def devices(self):
        return {types.SimpleNamespace(platform="gpu", __str__=None)}

class Device:
    platform = "gpu"

    def __str__(self):
        return "cuda:0"

Array.devices = lambda self: {Device()}
jax.Array = Array
jax.default_backend = lambda: "cpu"
sys.modules["jax"] = jax

def arrays():
    for number in range(10_000):
        yield Array()

"""

WITH_TORCH = """
for value in arrays():
    train(*batch(1))
    assert len(seen) < 9_000
"""

WITHOUT_TORCH = """
import sys
{foreign}
for number, value in enumerate(arrays()):
    assert number < 9_000
"""

PLAIN = """
def arrays():
    for number in range(10_000):
        yield number
"""


def test_arrays_on_a_device_that_is_not_timed_are_refused(monkeypatch: Any, tmp_path: Any) -> None:
    (tmp_path / "foreign.py").write_text("import sys\n" + FOREIGN)
    text = "from foreign import arrays" + WITH_TORCH
    answer = refusal(monkeypatch, tmp_path, "foreign:arrays", text)
    assert answer.startswith("batches are jax.Array on cuda:0; the queue of that device is not")
    assert "cachebisect.bisect(loader, step)" in answer


@pytest.mark.parametrize(
    "defined,told",
    [
        (FOREIGN, "batches are jax.Array on cuda:0; the queue of that device is not timed"),
        (PLAIN, "train.py has taken 30 batches and not imported torch: only training by torch is"),
    ],
)
def test_a_script_without_torch_is_told_why(
    defined: str, told: str, monkeypatch: Any, tmp_path: Any
) -> None:
    answers: list[Any] = []
    name(monkeypatch, "foreign:arrays", "exit")
    (tmp_path / "foreign.py").write_text("import sys\n" + defined)
    text = "from foreign import arrays\n" + WITHOUT_TORCH.format(foreign="")

    def script(engine: TestEngine) -> None:
        answers.append(engine.greet())
        engine.ask("finish", then="exit", exit_code=2, text="")

    done = run_script(tmp_path, script, text, fresh=True)
    assert done.returncode == 2, done.stderr
    assert answers[0]["kind"] == "usage" and answers[0]["text"].startswith(told)


def device(platform: str, words: str) -> Any:
    return type("Device", (), {"platform": platform, "__str__": lambda _: words})()


def foreign_array(module: str, kind: str, monkeypatch: Any, **attributes: Any) -> Any:
    array = type(kind, (), attributes)
    monkeypatch.setitem(sys.modules, module, ModuleType(module))
    setattr(sys.modules[module], kind, array)
    return array()


def test_devices_of_other_libraries(monkeypatch: Any) -> None:
    for platform, words, told in (
        ("gpu", "cuda:0", "jax.Array on cuda:0"),
        ("tpu", "TPU_3", "jax.Array on TPU_3"),
        ("cpu", "TFRT_CPU_0", None),
    ):
        devices = {device(platform, words)}
        array = foreign_array("jax", "Array", monkeypatch, devices=lambda _, d=devices: d)
        assert array_devices.untimed([{"x": array}]) == told
    for words, told in (("GPU:0", "tf.Tensor on GPU:0"), ("CPU:0", None)):
        where = f"/job:localhost/replica:0/task:0/device:{words}"
        array = foreign_array("tensorflow", "Tensor", monkeypatch, device=where)
        assert array_devices.untimed((1, array)) == told
    assert array_devices.untimed({"x": torch.zeros(1), "y": torch.zeros(1, device="meta")}) is None


class Kept:
    """What named iterators give, as it is."""

    def opens(self, _loader: Any) -> bool:
        return False

    def iterator(self, loader: Any, original: Any, _level: Any) -> Any:
        return original(loader)


def module_with(monkeypatch: Any, **names: Any) -> NamedIterator:
    module: Any = ModuleType("planted")
    vars(module).update(names)
    monkeypatch.setitem(sys.modules, "planted", module)
    named = NamedIterator(f"planted:{next(iter(names))}", keeps=True)
    named.follow(Kept())
    return named


def test_objects_are_freed_with_their_iterators(monkeypatch: Any) -> None:
    import gc
    import weakref

    class Apart:
        def __iter__(self) -> Any:
            yield from range(3)

    class Own:
        def __iter__(self) -> Any:
            return self

        def __next__(self) -> Any:
            return 1

    for kind in (Apart, Own):
        module_with(monkeypatch, Kind=kind)
        owner: Any = kind()
        iterator = iter(owner)
        assert next(iterator) in (0, 1)
        alive = weakref.ref(owner)
        del owner, iterator
        gc.collect()
        assert alive() is None, kind


def test_objects_that_take_no_weak_references_are_left_alone(monkeypatch: Any) -> None:
    class Slots:
        __slots__ = ()

        def __iter__(self) -> Any:
            return iter([1, 2])

    named = module_with(monkeypatch, Slots=Slots)
    assert list(Slots()) == [1, 2]
    assert named.missing() is not None


def test_attributes_of_an_iterator_stay_there(monkeypatch: Any) -> None:
    class Batches:
        at = 0

        def __iter__(self) -> Any:
            return self

        def __len__(self) -> int:
            return 3

        def __next__(self) -> int:
            self.at += 1
            return self.at

        def get_state(self) -> int:
            return self.at

    module_with(monkeypatch, made=lambda: Batches())
    made: Any = sys.modules["planted"].made()
    assert (next(made), next(made), made.get_state(), len(made)) == (1, 2, 2, 3)
    with pytest.raises(AttributeError):
        made.nothing  # noqa: B018

    def numbers() -> Any:
        yield 1

    module_with(monkeypatch, numbers=numbers)
    generator: Any = sys.modules["planted"].numbers()
    generator.close()
    assert list(generator) == []


@pytest.mark.parametrize("result", [[1, 2], (1,), {"a": 1}, torch.zeros(2), 7, None])
def test_what_is_a_batch_itself_is_given_as_it_is(result: Any, monkeypatch: Any) -> None:
    named = module_with(monkeypatch, made=lambda: result)
    assert sys.modules["planted"].made() is result
    assert "makes no batches" in str(named.missing())


def test_a_function_may_return_an_iterable(monkeypatch: Any) -> None:
    class Batches:
        size = 3

        def __len__(self) -> int:
            return 2

        def __iter__(self) -> Any:
            return iter([1, 2])

    module_with(monkeypatch, made=Batches)
    module_with(monkeypatch, made=lambda: Batches())
    made = sys.modules["planted"].made()
    assert (len(made), made.size, list(made), list(made)) == (2, 3, [1, 2], [1, 2])
