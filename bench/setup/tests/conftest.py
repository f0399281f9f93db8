"""Fixtures for the tests of the scripts."""

from pathlib import Path

import pytest
from machine import Machine


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    """A machine with only the basic tools."""
    return Machine(tmp_path)
