"""Trains a LightningModule on a LightningDataModule, as a file of LightningCLI describes them.

    python train.py --config FILE [--model-class M] [--data-class D] [--epochs N] [--precision P]
                    [--device DEVICE] [--profiler KIND ... --logs DIR --bisect COMMAND]

Runs by itself, without the package. No checkpoints, logs or bars are written, and nothing is
validated. With `--profiler`, each of Lightning's profilers of that name sees a training of its own,
and its files lie in DIR. Exit code 2: something of the above is wrong.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import os
import shutil
import sys
import tempfile
import traceback
from typing import Any, NoReturn, Optional

PROFILERS = {
    "simple": "SimpleProfiler",
    "advanced": "AdvancedProfiler",
    "pytorch": "PyTorchProfiler",
}
NEEDED = "LightningCLI's files need jsonargparse: pip install 'jsonargparse[signatures]'"
NO_LIGHTNING = "this Python has no lightning: pip install lightning, or name another --python"
_MUCH = 0.4
"""Share of an epoch that loading may take before training counts as bound by its input."""


def fail(text: str) -> NoReturn:
    """Ends the program."""
    print(f"cachebisect: {text}", file=sys.stderr)
    raise SystemExit(2)


def class_of(path: str, option: str) -> Any:
    """The class of an import path such as "src.model.Autoencoder"."""
    module, _, name = path.rpartition(".")
    if not module:
        fail(f"{option} {path}: write the import path, such as src.model.Autoencoder")
    try:
        return getattr(importlib.import_module(module), name)
    except ImportError as error:
        fail(f"{option} {path}: {error}; it is looked for in {os.getcwd()} and where Python looks")
    except AttributeError:
        fail(f"{option} {path}: {module} has no {name}")


def need_lightning() -> None:
    """Fails if there is none. Imports nothing, which takes seconds: other faults are told first."""
    if not any(importlib.util.find_spec(name) for name in ("lightning", "pytorch_lightning")):
        fail(NO_LIGHTNING)


def lightning() -> Any:
    """The package of Lightning that is installed."""
    for name in ("lightning.pytorch", "pytorch_lightning"):
        try:
            return importlib.import_module(name)
        except ImportError:
            continue
    fail(NO_LIGHTNING)


def content_of(config: str) -> dict[str, Any]:
    """The sections of the file."""
    try:
        yaml = importlib.import_module("yaml")
    except ImportError:
        fail(NEEDED)
    try:
        with open(config) as file:
            content = yaml.safe_load(file)
    except OSError as error:
        fail(f"{config}: {error.strerror}")
    except (UnicodeDecodeError, yaml.YAMLError) as error:
        fail(f"{config}: {error}")
    return content if isinstance(content, dict) else {}


def trainer_options(options: argparse.Namespace) -> list[str]:
    """Arguments of LightningCLI that take the place of what the file says."""
    chosen: dict[str, Any] = {
        "logger": "false",
        "enable_progress_bar": "false",
        "enable_model_summary": "false",
        "num_sanity_val_steps": 0,
        "limit_val_batches": 0,
    }
    if options.epochs:
        chosen["max_epochs"] = options.epochs
    if options.precision:
        chosen["precision"] = options.precision
    if options.max_batches:
        chosen["limit_train_batches"] = options.max_batches
    if options.device:
        kind, _, number = options.device.partition(":")
        chosen["accelerator"] = "gpu" if kind == "cuda" else kind
        chosen["devices"] = f"[{number}]" if number else 1
    return [f"--trainer.{name}={value}" for name, value in chosen.items()]


class Training:
    """Makes model, data and trainer anew for each run."""

    def __init__(self, options: argparse.Namespace) -> None:
        self._options = options
        need_lightning()
        content = content_of(options.config)
        self._model = _class_for(content, "model", "--model-class", options.model_class)
        self._data = _class_for(content, "data", "--data-class", options.data_class)
        self.package = lightning()

    def run(self, profiler: Any = None) -> None:
        """Trains. Raises what the user's code raises."""
        cli = self._parsed()
        trainer = cli.trainer
        saves = self.module("callbacks").Checkpoint
        trainer.callbacks = [each for each in trainer.callbacks if not isinstance(each, saves)]
        if trainer.logger is None:  # Some callbacks insist on one.
            trainer.loggers = [self.module("loggers.logger").DummyLogger()]
        if profiler is not None:
            trainer.profiler = profiler
        trainer.fit(cli.model, datamodule=cli.datamodule)

    def module(self, name: str) -> Any:
        """A module of Lightning."""
        return importlib.import_module(f"{self.package.__name__}.{name}")

    def _parsed(self) -> Any:
        """A LightningCLI that has made all that the file describes."""
        words, sys.argv = sys.argv, sys.argv[:1]  # It would read them too.
        try:
            return self.module("cli").LightningCLI(
                self._model or self.package.LightningModule,
                self._data or self.package.LightningDataModule,
                subclass_mode_model=not self._model,
                subclass_mode_data=not self._data,
                save_config_callback=None,
                run=False,
                args=["--config", self._options.config, *trainer_options(self._options)],
            )
        except ModuleNotFoundError as error:
            if "jsonargparse" not in str(error):
                raise
            fail(NEEDED)
        finally:
            sys.argv = words


def _class_for(content: dict[str, Any], section: str, option: str, path: Optional[str]) -> Any:
    """The class that the option names; None if the section of the file says which one it is for."""
    part = content.get(section)
    if path is None or (isinstance(part, dict) and "class_path" in part):
        return None
    return class_of(path, option)


def profile(training: Training, kinds: list[str], logs: str, bisect: str) -> None:
    """One training per kind. The files of all lie in `logs` once all are done. `bisect`: the
    command that names the stage."""
    folder = os.path.dirname(os.path.abspath(logs))
    os.makedirs(folder, exist_ok=True)
    partial = tempfile.mkdtemp(prefix=".profiler-", dir=folder)
    share: Optional[float] = None
    try:
        for kind in kinds:
            profiler = getattr(training.module("profilers"), PROFILERS[kind])
            print(f"profiling with {profiler.__name__}", flush=True)
            made = profiler(dirpath=partial, filename=f"{kind}_profiler_output")
            training.run(made)
            if kind == "simple":
                share = loading_share(made.recorded_durations)
        os.chmod(partial, 0o755)  # mkdtemp lets nobody else read.
        os.replace(partial, logs)
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    for file in sorted(os.listdir(logs)):
        print(f"written: {os.path.join(logs, file)}")
    if share is not None:
        print(finding(share, bisect))


def loading_share(durations: dict[str, list[float]]) -> Optional[float]:
    """Share of the epochs' time that the training thread waited for batches."""
    waited = sum(sum(d) for name, d in durations.items() if name.endswith("train_dataloader_next"))
    whole = sum(durations.get("run_training_epoch", []))
    return waited / whole if whole > 0 else None


def finding(share: float, bisect: str) -> str:
    """What a share of loading says, in a line or two."""
    part = f"Waiting for batches takes {100 * share:.0f}% of the training epochs"
    if share <= _MUCH:
        return f"{part}, less than 40%."
    return f"{part}, more than 40%: training is bound by its input.\nWhich stage: {bisect}"


def free_folder(logs: str) -> str:
    """`logs`, or with a number behind it: what an earlier run wrote is kept."""
    number, folder = 1, logs
    while os.path.exists(folder):
        number += 1
        folder = f"{logs}-{number}"
    return folder


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="train.py")
    parser.add_argument("--config", required=True)
    parser.add_argument("--model-class")
    parser.add_argument("--data-class")
    parser.add_argument("--epochs", type=int)
    parser.add_argument("--max-batches", type=int, default=0)
    parser.add_argument("--precision")
    parser.add_argument("--device")
    parser.add_argument("--profiler", action="append", choices=PROFILERS, default=[])
    parser.add_argument("--logs")
    parser.add_argument("--bisect", default="cachebisect run")
    return parser.parse_args()


def main() -> None:
    options = parsed()
    sys.path[0] = os.getcwd()  # As `python -m` has it: classes are named from there.
    if not options.profiler:
        Training(options).run()
        return
    try:
        profile(Training(options), options.profiler, free_folder(options.logs), options.bisect)
    except Exception:
        traceback.print_exc()
        raise SystemExit(3) from None


if __name__ == "__main__":
    main()
