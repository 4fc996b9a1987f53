"""Prepares the data set of an unchanged script, for `cachebisect prepare`."""
