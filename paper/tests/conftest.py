"""Fixtures of all tests here."""

import json
from functools import partial
from pathlib import Path

import pytest

from tests.example import CONDITIONS, HEADER, MakeRun, code, matrix_rows, write_run


@pytest.fixture
def make_run(tmp_path: Path) -> MakeRun:
    """Write a results folder: `make_run(lines=…, key_of_run_json=…)`."""
    return partial(write_run, tmp_path)


@pytest.fixture
def matrix(tmp_path: Path) -> Path:
    """Write the results folder of a run of everything."""
    folder = write_run(tmp_path, matrix_rows(), f"{HEADER},{CONDITIONS}")
    (folder / "code.json").write_text(json.dumps(code()), encoding="utf-8")
    return folder
