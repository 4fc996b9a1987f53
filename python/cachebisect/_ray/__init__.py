"""Jobs that Ray Train starts: each worker finds the command that measures it by itself."""
