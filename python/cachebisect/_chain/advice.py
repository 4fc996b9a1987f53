"""Lines of code for remedies that no setting makes, and what to do about warnings."""

from __future__ import annotations

ADVICE = {
    "prepare": "cachebisect.prepare(dataset, folder)  # once; then prepared(dataset, folder)",
    "ahead": "Loader(Prefetcher(IterableWrapper(batches), 2))  # of torchdata.nodes",
    "look_inside": "py-spy record --pid PID --output profile.svg  # of the training process",
    "smaller_images": "cachebisect.prepare(dataset, folder)  # once, behind a Resize",
    "move_to_workers": "return prepare(default_collate(samples))  # in collate_fn",
    "pack": "return torch.cat(tensors), torch.tensor([len(t) for t in tensors])",
    "fewer_objects": "return torch.tensor(values)",
    "partial_decode": 'image.draft("RGB", (256, 256))  # a JPEG, before it is loaded',
    "to_device": "images = normalize(images.to(device))",
    "ship_bytes": (
        "images = images.to(device).float() / 255  "
        "# PILToTensor in place of ToTensor; what follows it comes here too"
    ),
    "half": "images = images.to(torch.bfloat16)",
    "no_sync": "total += loss.detach()  # loss.item() once per log line",
    "precision": "with torch.autocast(device.type, dtype=torch.bfloat16):",
    "model": "model = torch.compile(model)",
    "one_client": (
        "self.session = self.session or requests.Session()  # in __getitem__: once a worker"
    ),
    "open_once": "self.file = self.file or h5py.File(path)  # in __getitem__: once a worker",
    "duplicates": "DataLoader(..., sampler=DistributedSampler(dataset))",
    "weights_not_restored": (
        "pass model and optimizer: cachebisect.bisect(loader, step, state=[model, optimizer])"
    ),
}
"""By the engine's id of a remedy: the line of code; of a warning: what to do."""
