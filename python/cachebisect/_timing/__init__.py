"""Times the batches of an unchanged script, for `cachebisect time`."""
