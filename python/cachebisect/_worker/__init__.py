"""What runs where samples are loaded: in the worker processes, or in the training thread."""
