"""The error that every reader of a file raises."""

from __future__ import annotations


class DataError(Exception):
    """A file is missing, malformed or cannot be written. The message names the file and the problem."""
