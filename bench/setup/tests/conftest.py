"""Fixtures for the tests of the scripts."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from machine import Machine


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    """A machine with only the basic tools."""
    return Machine(tmp_path)
