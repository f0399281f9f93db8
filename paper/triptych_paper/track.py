"""Track the drivers over commits: plots, steps, exports, and an alarm.

Usage: ``python -m triptych_paper.track [RESULTS...] [--since REV] [--export asv|github|bencher] [-o DIR]``

Writes ``track.html``, the plots as SVG, and the steps as tables. Ends with 0; 1 if a file cannot be read or written; 2
on a wrong command line; 3 if a commit is dearer, after a line for each that names commit, cell, before and after.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

from triptych_paper import __version__, export, history, report
from triptych_paper.errors import DataError
from triptych_paper.index import Index
from triptych_paper.several import MANY


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; return the exit code."""
    parser = argparse.ArgumentParser(
        prog="triptych track", description="Plot what a packet costs over commits; exit with 3 if a commit is dearer."
    )
    parser.add_argument("--version", action="version", version=f"triptych_paper {__version__}")
    parser.add_argument("results", type=Path, nargs="*", default=[Path("results")], help="folders (default: results)")
    parser.add_argument("--since", default="", metavar="REV", help="only show steps after this one")
    parser.add_argument("--export", choices=export.FORMATS, action="append", default=[], help="also write this format")
    parser.add_argument("-o", "--output", type=Path, default=Path("build/track"), metavar="DIR", help="where to write")
    options = parser.parse_args(arguments)
    try:
        index = Index(options.results)
        found = history.history(index, options.since)
        report.write_page(
            report.alone("One network driver over its commits", history.section(found)), options.output, "track.html"
        )
        files = sum(export.write(index, name, options.output) for name in options.export)
    except DataError as error:
        print(f"triptych track: {error}", file=sys.stderr)
        return 1
    for path, why in index.wrong[:MANY]:
        print(f"triptych track: {path} was left out: {why}", file=sys.stderr)
    print(f"{os.path.relpath(options.output)}/track.html: {found.revisions} revisions, {len(found.steps)} steps, "
          f"{len(found.dearer)} dearer" + (f"; {files} exported files" if files else ""))  # fmt: skip
    for step in found.dearer[:MANY]:
        print(step)
    if len(found.dearer) > MANY:
        print(f"and {len(found.dearer) - MANY} more: tables/history.csv has each")
    return 3 if found.dearer else 0


if __name__ == "__main__":
    # Another program may read only the first lines.
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    sys.exit(main())
