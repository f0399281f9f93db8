"""Runs the checks that the command line names, or all of them: `python -m triptych_lint circles sizes`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

from triptych_lint import circles, dependencies, prose, sizes
from triptych_lint.repository import Repository, open_repository

ROOT = Path(__file__).resolve().parents[3]
CHECKS: dict[str, Callable[[Repository], list[str]]] = {
    "circles": circles.problems,
    "rooms": circles.room_problems,
    "sizes": sizes.problems,
    "words": prose.problems,
    "dependencies": dependencies.problems,
}


def main() -> int:
    """Prints the problems that each check finds. The exit status is 1 if there are any."""
    parser = argparse.ArgumentParser(prog="triptych_lint", description="Check the project's own rules.")
    choices = [*CHECKS, []]  # argparse compares an empty list with the choices, too
    parser.add_argument("checks", nargs="*", choices=choices, metavar="CHECK", help=f"{', '.join(CHECKS)}")
    repository = open_repository(ROOT)
    status = 0
    for name in parser.parse_args().checks or CHECKS:
        for problem in CHECKS[name](repository):
            print(f"{name}: {problem}")
            status = 1
    return status


if __name__ == "__main__":
    sys.exit(main())
