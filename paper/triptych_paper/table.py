"""Show the counters of a run beside the published ones, and write them into its folder.

Usage: ``python -m triptych_paper.table results/latest``

Writes ``counters.md`` and ``counters.csv`` beside the samples. Ends with 0; 1 if a file is missing or malformed;
2 on a wrong command line.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from triptych_paper import counters, render
from triptych_paper.published import read_published
from triptych_paper.records import DataError, read_run


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; return the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m triptych_paper.table",
        description="Show the counters of a run beside the published ones; write counters.md and counters.csv into it.",
    )
    parser.add_argument("run", type=Path, help="a results folder, such as results/latest")
    options = parser.parse_args(arguments)
    try:
        show(options.run)
    except DataError as error:
        print(f"triptych_paper.table: {error}", file=sys.stderr)
        return 1
    except BrokenPipeError:
        # Whoever read the table has seen enough of it. Without this, Python would complain again at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    return 0


def show(folder: Path) -> None:
    """Print the tables of a run and write them into its folder."""
    run = read_run(folder)
    published = read_published()
    tables = [counters.build(run, published, batch) for batch in counters.batches(run)]
    shown = [table for table in tables if table.batch in counters.shown(run)]
    try:
        _write(run.folder / "counters.md", render.markdown_report(run, shown))
        _write(run.folder / "counters.csv", render.csv_rows(tables).to_csv(index=False, float_format="%.6g"))
    finally:
        # A folder that cannot be written is no reason not to show the tables.
        print(render.text_report(run, shown), end="", flush=True)


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise DataError(f"cannot write {path}: {error.strerror}") from None


if __name__ == "__main__":
    # Footnotes hold dashes; a terminal that has none shows a question mark.
    sys.stdout.reconfigure(errors="replace")  # type: ignore[union-attr]
    sys.exit(main())
