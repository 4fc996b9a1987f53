"""The checks of scripts/gpu-check. The standard library is all that it needs."""
