"""Runs the checks that the command line names, or all of them: `python -m triptych_lint circles sizes`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

from triptych_lint import circles, dependencies, prose, rooms, sizes, weight
from triptych_lint.repository import Repository, open_repository

ROOT = Path(__file__).resolve().parents[3]
CHECKS: dict[str, Callable[[Repository], list[str]]] = {
    "circles": circles.problems,
    "rooms": rooms.problems,
    "sizes": sizes.problems,
    "words": prose.word_problems,
    "sentences": prose.sentence_problems,
    "weight": weight.problems,
    "dependencies": dependencies.problems,
}


def main() -> int:
    """Prints the problems that each check finds. The exit status is 1 if there are any."""
    parser = argparse.ArgumentParser(prog="triptych_lint", description="Check the project's own rules.")
    parser.add_argument("checks", nargs="*", metavar="CHECK", help=f"{', '.join(CHECKS)}; all by default")
    parser.add_argument("--reports", action="store_true", help="also list sentences that are slightly too long")
    arguments = parser.parse_args()
    names = arguments.checks or list(CHECKS)
    if unknown := [name for name in names if name not in CHECKS]:
        parser.error(f"unknown check '{unknown[0]}': the checks are {', '.join(CHECKS)}")
    repository = open_repository(ROOT)
    status = 0
    for name in names:
        for problem in CHECKS[name](repository):
            print(f"{name}: {problem}")
            status = 1
    if arguments.reports:
        for report in prose.sentence_reports(repository):
            print(f"note: {report}")
    return status


if __name__ == "__main__":
    sys.exit(main())
