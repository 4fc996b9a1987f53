"""Other ways to compute the step: in force during a block, and undone without a trace."""

from __future__ import annotations

import copy
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from torch.utils.data import DataLoader, TensorDataset

from cachebisect._engine.adapter import Adapter
from cachebisect._engine.messages import Connection
from cachebisect._job import step_changes
from cachebisect._job.feeds import Feed
from cachebisect._job.job import Job
from cachebisect._job.state import KeptState
from cachebisect._job.step_changes import StepChanges, asked_for, changes_of
from cachebisect._job.step_in_force import StepFault
from cachebisect._library import _train
from engine import TestEngine
from job_blocks import live


class Images(torch.nn.Module):  # type: ignore[misc]
    """Draws random numbers, and has state of its own."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = torch.nn.Conv2d(3, 4, 3)
        self.norm = torch.nn.BatchNorm2d(4)
        self.drop = torch.nn.Dropout(0.5)
        self.out = torch.nn.Linear(4, 2)
        self.seen: Any = None

    def forward(self, x: Any) -> Any:
        y = self.conv(x)
        self.seen = (x.stride(), y.dtype)
        return self.out(self.drop(self.norm(y)).mean((2, 3)))


class Batches(Feed):
    def take(self) -> tuple[Any, int]:
        return torch.rand(4, 3, 8, 8), 4


class Loop:
    """A training loop of which one step has been taken."""

    def __init__(self, model: Any = None, given: bool = True) -> None:
        torch.manual_seed(1)
        self.model = model or Images()
        self.optimizer = torch.optim.Adam(self.model.parameters(), 0.1)
        self.step(torch.rand(4, 3, 8, 8))
        objects = (self.model, self.optimizer)
        self.state = KeptState(objects)
        self.changes = StepChanges(self.model if given else None, self.state, objects)
        if given:
            self.step(torch.rand(4, 3, 8, 8))
            self.state.restore()

    def step(self, x: Any) -> None:
        self.optimizer.zero_grad()
        self.model(x).sum().backward()
        self.optimizer.step()

    def traces(self) -> list[Any]:
        """Everything that a change could leave behind."""
        held = [*self.model.parameters(), *self.model.buffers()]
        state = copy.deepcopy(self.optimizer.state_dict()["state"])
        moments = [t for one in state.values() for t in one.values()]
        return [
            [(t.data_ptr(), t.stride(), t.dtype) for t in held],
            [t.detach().clone() for t in [*held, *moments]],
            [None if p.grad is None else p.grad.clone() for p in self.model.parameters()],
            [id(p.grad) for p in self.model.parameters()],
            torch.get_rng_state(),
            sorted(vars(self.model)),
            torch.is_autocast_enabled("cpu"),
        ]


@pytest.fixture
def loop() -> Iterator[Loop]:
    made = Loop()
    yield made
    made.changes.close()


def same(one: Any, other: Any) -> bool:
    if isinstance(one, list):
        return len(one) == len(other) and all(same(a, b) for a, b in zip(one, other))
    return bool(torch.equal(one, other)) if torch.is_tensor(one) else bool(one == other)


@pytest.fixture(autouse=True)
def _without_a_compiler_of_c(monkeypatch: pytest.MonkeyPatch) -> None:
    """What torch.compile traces is run as it is: quick, and on every machine."""
    eager = lambda forward: torch.compile(forward, backend="eager")
    monkeypatch.setattr(step_changes, "compiled", eager)


@pytest.mark.parametrize(
    "names",
    [{"amp"}, {"channels_last"}, {"compile"}, {"amp", "channels_last", "compile"}],
    ids=lambda names: "+".join(sorted(names)),
)
def test_a_block_leaves_no_trace(loop: Loop, names: set[str]) -> None:
    before = loop.traces()
    assert loop.changes.why_not(frozenset(names)) == ""
    assert same(loop.traces(), before)
    feed = loop.changes.over(Batches(), frozenset(names))
    for block in range(2):
        feed.begin(block)
        for _ in range(3):
            loop.step(feed.take()[0])
        assert not same(loop.traces()[1], before[1])
        feed.end()
        assert same(loop.traces(), before)
    loop.step(torch.rand(4, 3, 8, 8))  # As before.
    assert loop.model.seen[1] == torch.float32


def test_what_is_in_force_is_what_was_asked_for(loop: Loop) -> None:
    x = torch.rand(4, 3, 8, 8)
    amp = loop.changes.begin(frozenset({"amp"}))
    out = loop.model(x)
    assert loop.model.seen[1] == torch.bfloat16 and out.dtype == torch.float32
    amp.end()
    layout = loop.changes.begin(frozenset({"channels_last"}))
    loop.model(x)
    assert loop.model.conv.weight.is_contiguous(memory_format=torch.channels_last)
    assert loop.model.seen[0][1] == 1  # Channels lie side by side.
    layout.end()
    calls = []
    step_changes.compiled = lambda forward: lambda x: calls.append(1) or forward(x)
    compiled = loop.changes.begin(frozenset({"compile"}))
    loop.model(x)
    compiled.end()
    assert calls == [1]
    loop.model(x)
    assert calls == [1] and loop.model.seen == ((192, 64, 8, 1), torch.float32)


def test_without_a_compiler_the_reason_is_the_answer(
    loop: Loop, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    inductor = pytest.importorskip("torch._inductor.config")
    monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", str(tmp_path))  # Others may hold its locks.
    monkeypatch.setattr(step_changes, "compiled", lambda forward: torch.compile(forward))
    before = loop.traces()
    with inductor.patch({"cpp.cxx": (None, "/nowhere/g++"), "force_disable_caches": True}):
        why = loop.changes.why_not(frozenset({"compile"}))
    assert "ompiler" in why and "\n" not in why
    assert same(loop.traces(), before)


def test_what_takes_too_long_is_given_up(loop: Loop, monkeypatch: pytest.MonkeyPatch) -> None:
    def compiled(_forward: Any) -> Any:
        def computed(_x: Any) -> Any:
            while True:
                time.sleep(0.01)

        return computed

    monkeypatch.setattr(step_changes, "compiled", compiled)
    monkeypatch.setattr(step_changes, "_MOST_SECONDS", 0.2)
    before = loop.traces()
    assert loop.changes.why_not(frozenset({"compile"})) == "trying it took more than 0 s"
    assert same(loop.traces(), before)
    assert signal.getsignal(signal.SIGALRM) == signal.SIG_DFL
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


def test_an_alarm_of_the_program_is_left_alone(loop: Loop) -> None:
    own = signal.signal(signal.SIGALRM, lambda *_: None)
    try:
        signal.setitimer(signal.ITIMER_REAL, 1000)
        assert loop.changes.why_not(frozenset({"amp"})) == ""
        assert signal.getitimer(signal.ITIMER_REAL)[0] > 500
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, own)


def test_a_step_that_fails_later_is_computed_as_it_is(
    loop: Loop, monkeypatch: pytest.MonkeyPatch
) -> None:
    def compiled(forward: Any) -> Any:
        def computed(x: Any) -> Any:
            if len(x) != 4:
                raise RuntimeError("too many\nshapes")
            return forward(x)

        return computed

    monkeypatch.setattr(step_changes, "compiled", compiled)
    before = loop.traces()
    assert loop.changes.why_not(frozenset({"compile"})) == ""
    feed = loop.changes.over(Batches(), frozenset({"compile"}))
    feed.begin(1)
    loop.step(feed.take()[0])
    loop.step(torch.rand(3, 3, 8, 8))  # Nothing is raised into it.
    with pytest.raises(StepFault, match=r"^RuntimeError: too many$"):
        feed.take()
    assert not feed.is_spoiled()
    feed.end()
    assert feed.is_spoiled()  # Whatever was measured is not of the change.
    assert same(loop.traces(), before)


def test_errors_of_the_model_itself_reach_the_step(loop: Loop) -> None:
    feed = loop.changes.over(Batches(), frozenset({"amp"}))
    feed.begin(1)
    with pytest.raises(RuntimeError, match="channels"):
        loop.step(torch.rand(4, 5, 8, 8))
    feed.end()


def test_what_cannot_be_tried_says_why() -> None:
    def why(loop: Loop, name: str) -> str:
        text = loop.changes.why_not(frozenset({name}))
        loop.changes.close()
        assert "forward" not in vars(loop.model)
        return text

    assert "model=model" in why(Loop(given=False), "amp")
    assert "no weights of images" in why(Loop(Flat()), "channels_last")
    assert "float32" in why(Loop(Flat().bfloat16()), "amp")
    used = Flat()
    used.compile(backend="eager")
    assert "compiled already" in why(Loop(used), "compile")

    class Casting(Loop):
        def step(self, x: Any) -> None:
            with torch.autocast("cpu", dtype=torch.bfloat16):
                super().step(x)

    assert why(Casting(), "amp") == "the step uses autocast already"
    apart = Loop()
    apart.changes = StepChanges(apart.model, apart.state, (apart.optimizer,))
    assert "could not be undone" in why(apart, "amp")
    unseen = Loop()
    unseen.changes = StepChanges(unseen.model, unseen.state, (unseen.model,))
    assert "not seen to call" in why(unseen, "amp")


class Flat(torch.nn.Module):  # type: ignore[misc]
    def __init__(self) -> None:
        super().__init__()
        self.layer = torch.nn.Linear(192, 2)

    def forward(self, x: Any) -> Any:
        return self.layer(x.flatten(1).to(self.layer.weight.dtype))


def test_a_changed_step_that_fails_is_an_answer_and_the_loop_goes_on(
    loop: Loop, tmp_path: Path
) -> None:
    """As when a compiled backward pass fails, which runs in the step's own code."""
    failures = []

    def step(batch: Any) -> None:
        changed = "forward" in vars(loop.model)
        loop.step(batch[0])
        if changed:
            failures.append(1)
            raise RuntimeError("in backward")

    def script(engine: TestEngine) -> None:
        engine.greet()
        engine.ask("prepare", samples=8, host_bytes=None, device_bytes=None)
        arm = live(amp="true")
        assert engine.ask("supports", arm=arm)["supported"]
        asked = {"steps": 2, "warmup_steps": 1, "seed": 1}
        answer = engine.ask("run", arm=arm, **asked)
        assert (answer["type"], answer["kind"]) == ("error", "data"), answer
        assert "in backward" in answer["text"] and answer["stage"] == "step"
        assert engine.ask("run", arm=live(), **asked)["type"] == "run"
        engine.finish()

    before = loop.traces()[:2]
    loader = DataLoader(TensorDataset(torch.rand(64, 3, 8, 8)), batch_size=4)
    engine = TestEngine(str(tmp_path / "socket"), script)
    connection = Connection.open(str(tmp_path / "socket"))
    adapter = Adapter(connection, lambda _w: Job(loader, loop.state, step=loop.changes))
    try:
        assert _train(Any, adapter, loader, step, None) is None
    finally:
        adapter.close()
        engine.join()
    assert failures == [1]
    assert same(loop.traces()[:2], before)


def test_what_is_no_module_is_refused() -> None:
    with pytest.raises(TypeError, match="model: list is no torch.nn.Module"):
        StepChanges([], KeptState(()))


def test_only_what_is_switched_on_is_a_change() -> None:
    overrides = {"amp": "true", "compile": "false", "num_workers": "2"}
    assert changes_of(overrides) == {"amp"}
    what_ifs = ["amp", "compile=True", "channels_last=False", "num_workers=2", "train/2"]
    assert asked_for(what_ifs) == [{"amp"}, {"compile"}]
