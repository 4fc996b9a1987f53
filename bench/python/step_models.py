"""The built-in models of training steps, as PyTorch users write them."""

from __future__ import annotations

from typing import Optional

import torch
from torch import Tensor, nn


def mlp(classes: int) -> nn.Module:
    return nn.Sequential(
        nn.Flatten(), nn.Linear(784, 128), nn.ReLU(), nn.Linear(128, 64), nn.ReLU(),
        nn.Linear(64, classes),
    )  # fmt: skip


def lenet(classes: int) -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(3, 6, 5), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(6, 16, 5), nn.ReLU(),
        nn.MaxPool2d(2), nn.Flatten(), nn.Linear(400, 120), nn.ReLU(), nn.Linear(120, 84),
        nn.ReLU(), nn.Linear(84, classes),
    )  # fmt: skip


class _Block(nn.Module):
    """Two convolutions of 3x3, or with a bottleneck three of 1x1, 3x3 and 1x1, and a shortcut."""

    def __init__(self, channels: int, width: int, stride: int, bottleneck: bool) -> None:
        super().__init__()
        out = 4 * width if bottleneck else width
        sizes = (
            [(channels, width, 1, 1), (width, width, 3, stride), (width, out, 1, 1)]
            if bottleneck
            else [(channels, width, 3, stride), (width, out, 3, 1)]
        )
        layers: list[nn.Module] = []
        for position, (inputs, outputs, kernel, step) in enumerate(sizes):
            layers += [_conv(inputs, outputs, kernel, step), nn.BatchNorm2d(outputs)]
            if position + 1 < len(sizes):
                layers.append(nn.ReLU(inplace=True))
        self.body = nn.Sequential(*layers)
        self.shortcut: Optional[nn.Module] = None
        if stride != 1 or channels != out:
            self.shortcut = nn.Sequential(_conv(channels, out, 1, stride), nn.BatchNorm2d(out))
        self.relu = nn.ReLU(inplace=True)

    def forward(self, x: Tensor) -> Tensor:
        other = x if self.shortcut is None else self.shortcut(x)
        return torch.as_tensor(self.relu(self.body(x) + other))


def _conv(inputs: int, outputs: int, kernel: int, stride: int) -> nn.Module:
    return nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2, bias=False)


def _resnet(counts: list[int], bottleneck: bool, classes: int) -> nn.Module:
    layers: list[nn.Module] = [
        nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(inplace=True),
        nn.MaxPool2d(3, 2, 1),
    ]  # fmt: skip
    channels = 64
    for stage, count in enumerate(counts):
        width = 64 << stage
        for position in range(count):
            stride = 2 if stage > 0 and position == 0 else 1
            layers.append(_Block(channels, width, stride, bottleneck))
            channels = 4 * width if bottleneck else width
    return nn.Sequential(
        *layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(channels, classes)
    )


def model_named(name: str, classes: int) -> nn.Module:
    """mlp, lenet, resnet18 (He et al. 2015) or resnet50 (stride in the convolution of 3x3)."""
    if name == "mlp":
        return mlp(classes)
    if name == "lenet":
        return lenet(classes)
    bottleneck = name == "resnet50"
    return _resnet([3, 4, 6, 3] if bottleneck else [2, 2, 2, 2], bottleneck, classes)
