"""The other side of the socket: the command, its messages and their answers."""
