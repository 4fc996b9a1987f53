"""The version of the package and of the command; pyproject.toml and CMakeLists.txt read it."""

__version__ = "0.2.0"
