"""Trains on clips that are decoded in `__getitem__`: video_clips.py torchcodec | av."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

import av
import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset

CLIPS, FRAMES, WIDTH, HEIGHT = 16, 24, 320, 240


def write_clip(path: str, seed: int) -> None:
    noise = np.random.default_rng(seed).integers(0, 255, (HEIGHT, WIDTH, 3), dtype="uint8")
    with av.open(path, "w") as container:
        stream = container.add_stream("mpeg4", rate=24)
        stream.width, stream.height, stream.pix_fmt = WIDTH, HEIGHT, "yuv420p"
        for shift in range(FRAMES):
            picture = np.roll(noise, shift, axis=1)
            container.mux(stream.encode(av.VideoFrame.from_ndarray(picture, format="rgb24")))
        container.mux(stream.encode())


def decode_clip(path: str) -> Any:
    with av.open(path) as container:
        frames = [frame.to_ndarray(format="rgb24") for frame in container.decode(video=0)]
    return torch.from_numpy(np.stack(frames[::6]))


class Clips(Dataset):  # type: ignore[type-arg]
    def __init__(self, paths: list[str], reader: str) -> None:
        self.paths = paths
        self.reader = reader

    def __len__(self) -> int:
        return len(self.paths)

    def __getitem__(self, index: int) -> Any:
        if self.reader == "av":
            frames = decode_clip(self.paths[index])
        else:
            from torchcodec.decoders import VideoDecoder

            frames = VideoDecoder(self.paths[index]).get_frames_at(range(0, FRAMES, 6)).data
        return frames[:, :1, :4].float().mean() / 255


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        paths = [str(Path(folder) / f"{number}.mp4") for number in range(CLIPS)]
        for number, path in enumerate(paths):
            write_clip(path, number)
        loader = DataLoader(Clips(paths, sys.argv[1]), batch_size=4, shuffle=True)
        model = torch.nn.Linear(1, 1)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
        for _ in range(100_000):
            for batch in loader:
                optimizer.zero_grad()
                model(batch[:, None]).square().mean().backward()
                optimizer.step()


if __name__ == "__main__":
    main()
