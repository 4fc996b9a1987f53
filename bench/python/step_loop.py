"""The training step alone, in Python: samples per second on a batch that is on the device.

    step_loop.py --model resnet18 --batch 128 --image 224 --channels-last --device cuda

Prints one line of JSON: samples per second, and at which share of the step ends the device had
nothing left to do, so that the host limits the loop. Models, precision (bf16-mixed) and optimizer
(fused SGD with momentum) are those of the command's built-in steps.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from typing import Any

import torch
from step_models import model_named
from torch.nn.functional import cross_entropy

_WARM_UP_SECONDS = 1.0
_CHUNKS = 8
CLASSES = 10


class Loop:
    def __init__(self, options: Any) -> None:
        self._device = torch.device(options.device)
        self._model = model_named(options.model, CLASSES).to(self._device)
        self._batch = options.batch
        image = (1, 28, 28) if options.model == "mlp" else (3, options.image, options.image)
        self._images = torch.rand(self._batch, *image, device=self._device)
        if options.channels_last:
            self._model = self._model.to(memory_format=torch.channels_last)
            self._images = self._images.contiguous(memory_format=torch.channels_last)
        self._idle_ends: list[bool] = []
        self._labels = torch.randint(CLASSES, (self._batch,), device=self._device)
        self._optimizer = torch.optim.SGD(
            self._model.parameters(), lr=0.001, momentum=0.9, fused=True
        )

    def _step(self) -> None:
        self._optimizer.zero_grad(set_to_none=True)
        with torch.autocast(self._device.type, dtype=torch.bfloat16):
            loss = cross_entropy(self._model(self._images), self._labels)
        loss.backward()
        self._optimizer.step()

    def _is_idle(self) -> bool:
        if self._device.type != "cuda":
            return False
        return bool(torch.cuda.current_stream(self._device).query())

    def idle_share(self) -> float:
        """Share of the ends of all steps so far at which the device was idle."""
        return statistics.fmean(self._idle_ends)

    def _finish(self) -> None:
        if self._device.type == "cuda":
            torch.cuda.synchronize(self._device)

    def rate(self, seconds: float) -> float:
        """Steps for `seconds`, checking the clock after each; returns samples per second."""
        self._finish()
        began = time.perf_counter()
        steps = 0
        while steps == 0 or time.perf_counter() - began < seconds:
            self._step()
            steps += 1
            self._idle_ends.append(self._is_idle())
        self._finish()
        return steps * self._batch / (time.perf_counter() - began)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", choices=["mlp", "lenet", "resnet18", "resnet50"], required=True)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--image", type=int, default=32, help="pixels of an edge")
    parser.add_argument("--channels-last", action="store_true")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--seconds", type=float, default=4.0)
    options = parser.parse_args()
    loop = Loop(options)
    loop.rate(_WARM_UP_SECONDS)
    rates = [loop.rate(options.seconds / _CHUNKS) for _ in range(_CHUNKS)]
    idle = loop.idle_share()
    print(
        json.dumps(
            {
                "samples_per_second": statistics.median(rates),
                "device_idle_share": idle,
                "rates": rates,
            }
        )
    )


if __name__ == "__main__":
    main()
