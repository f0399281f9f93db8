"""Runs the checks that the command line names: `python -m triptych_lint circles`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

from triptych_lint import circles

ROOT = Path(__file__).resolve().parents[3]
CHECKS: dict[str, Callable[[Path], list[str]]] = {
    "circles": circles.problems,
}


def main() -> int:
    """Prints the problems that each check finds; the exit status is 1 if there are any."""
    parser = argparse.ArgumentParser(prog="triptych_lint", description="Check the repository's own rules.")
    parser.add_argument("checks", nargs="*", choices=[*CHECKS, []], metavar="CHECK", help=", ".join(CHECKS))
    names = parser.parse_args().checks or list(CHECKS)
    found = [problem for name in names for problem in CHECKS[name](ROOT)]
    for problem in found:
        print(problem)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
