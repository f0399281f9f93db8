"""A small repository for the tests of the checks."""

from pathlib import Path
from typing import Any

from triptych_lint.repository import Repository


def repository(folder: Path, files: dict[str, str | bytes], **rules: dict[str, Any]) -> Repository:
    """A repository with these files; the rules ignore nothing unless the test says so."""
    for name, content in files.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content.encode() if isinstance(content, str) else content)
    return Repository(folder, tuple(sorted(files)), {"ignored": {}, **rules})
