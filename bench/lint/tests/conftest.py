"""A small repository for the tests of the checks."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from triptych_lint.repository import Repository


@pytest.fixture
def tree(tmp_path: Path) -> Callable[..., Repository]:
    """Makes a repository with these files. The rules ignore nothing unless the test says so."""

    def make(files: dict[str, str | bytes], **rules: dict[str, Any]) -> Repository:
        for name, content in files.items():
            file = tmp_path / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content.encode() if isinstance(content, str) else content)
        return Repository(tmp_path, tuple(sorted(files)), {"ignored": {}, **rules})

    return make
