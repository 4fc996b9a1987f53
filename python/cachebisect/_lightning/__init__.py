"""Trains what a file of LightningCLI describes, for `cachebisect time -c` and `profile -c`."""
