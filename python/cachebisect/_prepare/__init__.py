"""Writes what the first stages of a dataset make as tar shards, once, and reads them."""
