"""The common fixtures."""

import json
from functools import partial
from pathlib import Path

import pytest

from tests.example import CONDITIONS, HEADER, MakeRun, code, ladder, ladder_rows, matrix_rows, write_run


def ladder_only() -> list[str]:
    """Return the samples of rungs that are not among the samples of the matrix."""
    return [line for line in ladder_rows() if ",ladder-" in line]


@pytest.fixture
def make_run(tmp_path: Path) -> MakeRun:
    """Write a results folder: `make_run(lines=…, key_of_run_json=…)`."""
    return partial(write_run, tmp_path)


@pytest.fixture
def matrix(tmp_path: Path) -> Path:
    """Write the results folder of a run of the whole matrix, with lines of code and the cost ladder."""
    folder = write_run(tmp_path, matrix_rows() + ladder_only(), f"{HEADER},{CONDITIONS}")
    (folder / "code.json").write_text(json.dumps(code()), encoding="utf-8")
    (folder / "ladder.json").write_text(json.dumps(ladder()), encoding="utf-8")
    return folder
