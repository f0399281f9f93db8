"""Write the report of a run: HTML, PDF, tables and figures.

Usage: ``python -m triptych_paper.report results/latest``

Writes the folder ``report/`` into the folder of the run, or of each merged run. Ends with 0; 1 if a file is missing,
malformed or cannot be written; 2 on a wrong command line.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from triptych_paper import __version__, merged
from triptych_paper.errors import DataError
from triptych_paper.report import files
from triptych_paper.report.build import build, read_data


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; return the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m triptych_paper.report",
        description="Write the report of a run: report.html, report.pdf, every table and every figure.",
    )
    parser.add_argument("--version", action="version", version=f"triptych_paper {__version__}")
    parser.add_argument("run", type=Path, help="a results folder, such as results/latest")
    options = parser.parse_args(arguments)
    try:
        for run in merged.run_folders(options.run) if merged.is_merged(options.run) else [options.run]:
            write(run)
    except DataError as error:
        print(f"triptych_paper.report: {error}", file=sys.stderr)
        return 1
    return 0


def write(run: Path) -> None:
    """Write the report of one run."""
    data = read_data(run)
    written = files.write(build(data), data.run.folder)
    folder = Path(os.path.relpath(written.folder))
    print(f"{folder}/report.html and report.pdf, with {written.tables} tables and {written.figures} figures")


if __name__ == "__main__":
    sys.exit(main())
