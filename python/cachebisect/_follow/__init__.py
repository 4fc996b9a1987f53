"""Tells subscribers what a script does: iterators of loaders, backward passes, optimizer steps."""
