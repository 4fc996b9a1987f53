"""What finds and measures the loaders of a script that was not changed."""
