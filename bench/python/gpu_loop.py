"""Trains on generated images, as users write it, with costs planted by options.

Knows nothing of cachebisect. --save writes what it learnt.
"""

from __future__ import annotations

import argparse
import time
from typing import Any, Optional

import torch
from step_models import model_named
from torch import Tensor, nn
from torch.utils.data import DataLoader, Dataset, default_collate

CLASSES = 10
EPOCH_STEPS = 200


def small_model(classes: int) -> nn.Module:
    """Takes images of any size, and hardly any time."""
    return nn.Sequential(nn.AdaptiveAvgPool2d(8), nn.Flatten(), nn.Linear(192, classes))


class Decode:
    def __init__(self, image: int, seconds: float) -> None:
        self._images = torch.randint(0, 255, (8, 3, image, image), dtype=torch.uint8)
        self._seconds = seconds

    def __call__(self, index: int) -> Tensor:
        if self._seconds > 0:
            time.sleep(self._seconds)
        return self._images[index % len(self._images)]


class ToFloat:
    def __call__(self, image: Tensor) -> Tensor:
        return image.float() / 255


class Images(Dataset):  # type: ignore[type-arg]
    def __init__(self, length: int, image: int, decode: float) -> None:
        self.length = length
        self.decode = Decode(image, decode)
        self.to_float: Optional[ToFloat] = None

    def __len__(self) -> int:
        return self.length

    def __getitem__(self, index: int) -> tuple[Tensor, int]:
        image = self.decode(index)
        if self.to_float is not None:
            image = self.to_float(image)
        return image, index % CLASSES


class Collate:
    def __init__(self, seconds: float) -> None:
        self._seconds = seconds

    def __call__(self, samples: list[Any]) -> Any:
        if self._seconds > 0:
            time.sleep(self._seconds)
        return default_collate(samples)


class Training:
    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.device = torch.device(options.device)
        self.values = torch.rand(1 << 18)
        small = options.model == "small"
        model = small_model(CLASSES) if small else model_named(options.model, CLASSES)
        model = model.to(self.device)
        if options.model.startswith("resnet"):
            model = model.to(memory_format=torch.channels_last)
        self.model = torch.compile(model, mode=options.compile) if options.compile else model
        self.weights = model
        self.optimizer = torch.optim.SGD(model.parameters(), lr=0.001, momentum=0.9)
        half = torch.float16 if options.scaler else torch.bfloat16
        self.precision = torch.autocast(self.device.type, dtype=half)
        self.scaler = torch.amp.GradScaler(self.device.type, enabled=options.scaler)

    def preprocess(self) -> None:
        """What a training thread that limits the step computes, without the interpreter's lock."""
        end = time.perf_counter() + self.options.host_ms / 1e3
        while time.perf_counter() < end:
            torch.sin(self.values, out=self.values)

    def step(self, images: Tensor, labels: Tensor) -> None:
        if self.options.host_ms:
            self.preprocess()
        images = images.to(self.device, non_blocking=True)
        labels = labels.to(self.device, non_blocking=True)
        if images.dtype == torch.uint8:
            images = images.float() / 255
        elif self.options.in_place:
            images.sub_(0.5)
        self.optimizer.zero_grad(set_to_none=True)
        with self.precision:
            loss = nn.functional.cross_entropy(self.model(images), labels)
        self.scaler.scale(loss).backward()
        self.scaler.step(self.optimizer)
        self.scaler.update()


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", default="resnet18", help="small, lenet, resnet18 or resnet50")
    parser.add_argument("--image", type=int, default=224, help="pixels of an edge")
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--workers", type=int, default=4)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--decode-ms", type=float, default=0, help="per sample")
    parser.add_argument("--collate-ms", type=float, default=0, help="per batch")
    parser.add_argument("--host-ms", type=float, default=0, help="per step, in the training thread")
    parser.add_argument("--float", action="store_true", help="batches of float32 instead of uint8")
    parser.add_argument("--pageable", action="store_true", help="without pin_memory")
    parser.add_argument("--in-place", action="store_true", help="change the batch on the device")
    parser.add_argument("--compile", help="mode of torch.compile")
    parser.add_argument("--scaler", action="store_true", help="float16 with a GradScaler")
    parser.add_argument("--exact", action="store_true", help="deterministic algorithms")
    parser.add_argument("--epochs", type=int, default=1_000_000, help="of 200 steps")
    parser.add_argument("--save", help="file for weights, optimizer, scaler and a random draw")
    return parser.parse_args()


def main() -> None:
    options = parse()
    torch.manual_seed(0)
    torch.use_deterministic_algorithms(options.exact)
    data = Images(options.batch * EPOCH_STEPS, options.image, options.decode_ms / 1e3)
    data.to_float = ToFloat() if options.float else None
    loader = DataLoader(
        data, batch_size=options.batch, shuffle=True, num_workers=options.workers, drop_last=True,
        pin_memory=not options.pageable, collate_fn=Collate(options.collate_ms / 1e3),
        persistent_workers=options.workers > 0,
    )  # fmt: skip
    training = Training(options)
    for _ in range(options.epochs):
        for images, labels in loader:
            training.step(images, labels)
    if options.save:
        learnt = (training.weights, training.optimizer, training.scaler)
        torch.save([*(part.state_dict() for part in learnt), torch.rand(4)], options.save)
    print(f"trained {options.epochs} epochs")


if __name__ == "__main__":
    main()
