"""Write the figures of the archived run into all documents.

Usage: ``python -m triptych_paper.prose [--check]``

Ends with 0; 1 if a file cannot be read or written, or if ``--check`` finds a figure that differs or has no source.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from triptych_paper import __version__
from triptych_paper.errors import DataError
from triptych_paper.prose.check import problems, update


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; return the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m triptych_paper.prose", description="Write the figures of the archived run into all documents."
    )
    parser.add_argument("--version", action="version", version=f"triptych_paper {__version__}")
    parser.add_argument(
        "--check", action="store_true", help="change nothing; fail if a figure differs or has no source"
    )
    options = parser.parse_args(arguments)
    try:
        found = problems() if options.check else []
        for line in found if options.check else update():
            print(line)
    except DataError as error:
        print(f"triptych_paper.prose: {error}", file=sys.stderr)
        return 1
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
