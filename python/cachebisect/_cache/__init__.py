"""Keeps what the first stages of a dataset made: in shared memory, on disk, or both."""
