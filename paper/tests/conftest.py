"""Fixtures of all tests here."""

from functools import partial
from pathlib import Path

import pytest

from tests.example import MakeRun, write_run


@pytest.fixture
def make_run(tmp_path: Path) -> MakeRun:
    """Write a results folder: `make_run(lines=…, key_of_run_json=…)`."""
    return partial(write_run, tmp_path)
