"""Print the tables of a run in the terminal.

Usage: ``python -m triptych_paper.table results/latest [RUN...] [--section KEY | --readme]``

Without options, prints the counters per packet beside the published ones, and writes them into the folder of the run as
``counters.md`` and ``counters.csv``. Ends with 0; 1 if a file is missing, malformed or cannot be written; 2 on a wrong
command line.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from triptych_paper import __version__, claims, counters, machines, several
from triptych_paper.code import read_code
from triptych_paper.errors import DataError
from triptych_paper.published import read_published
from triptych_paper.records import read_run
from triptych_paper.tables import markdown, terminal
from triptych_paper.values import Values


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; return the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m triptych_paper.table",
        description="Print the counters of a run beside the published ones, and write counters.md and counters.csv.",
    )
    parser.add_argument("--version", action="version", version=f"triptych_paper {__version__}")
    parser.add_argument("runs", type=Path, nargs="+", metavar="RUN", help="a results folder, such as results/latest")
    others = parser.add_mutually_exclusive_group()
    others.add_argument("--section", metavar="KEY", help="print a section of the report instead, such as ladder")
    others.add_argument("--readme", action="store_true", help="print the table of the README instead, as Markdown")
    options = parser.parse_args(arguments)
    try:
        if options.section:
            show_section(options.runs[0], options.section, parser)
        elif options.readme:
            print(readme(Values(read_run(options.runs[0]))), end="", flush=True)
        else:
            show(options.runs)
    except DataError as error:
        print(f"triptych_paper.table: {error}", file=sys.stderr)
        return 1
    except BrokenPipeError:
        # The reader of a pipe, such as `head`, has seen enough.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


def show(folders: list[Path]) -> None:
    """Print the tables of a run, or of several: first side by side, then each alone."""
    runs = [Values(run) for run in several.read_runs(folders)]
    if len(runs) > 1:
        beside = machines.section([("", one.run.folder, ()) for one in runs], read_published(), runs[0].run.folder)
        print(terminal.render_all(beside.tables))
    for values in runs:
        show_counters(values)


def show_counters(values: Values) -> None:
    """Print the counters of a run, and write them into its folder."""
    run, published = values.run, read_published()
    tables = [counters.per_packet(values, published, batch) for batch in (32, 8)]
    tables += [counters.compared(values, published, batch) for batch in (32, 8)]
    print(f"Run {run.id}{'' if run.ended else ', interrupted'}")
    if not values.has_upstream:
        print("\n".join(terminal.wrap(counters.NO_UPSTREAM)))
    for line in (*(f"Warning: {text}" for text in run.warnings[:3]), ""):
        print("\n".join(terminal.wrap(line, 2)))
    print(terminal.render_all(tables))
    outcomes = claims.check_all(values, read_code(run.folder), claims.read_claims())
    for line in (claims.sentence(outcomes), counters.measured_in(values)):
        print("\n".join(terminal.wrap(line)))
    records = [{"table": table.key, **record} for table in tables for record in table.records]
    try:
        (run.folder / "counters.md").write_text(markdown.render_all(tables), encoding="utf-8")
        (run.folder / "counters.csv").write_text(markdown.csv(records), encoding="utf-8")
    except OSError as error:
        raise DataError(f"cannot write the tables into {run.folder}: {error.strerror}") from None
    print(f"{os.path.relpath(run.folder)}/counters.md and counters.csv have the same tables.", flush=True)


def readme(values: Values) -> str:
    """Return the table of the README, with the sentences below it."""
    table = markdown.grid(counters.readme(values, read_published()))
    outcomes = claims.check_all(values, read_code(values.run.folder), claims.read_claims())
    lines = [*table, "", f"{claims.sentence(outcomes)} {counters.measured_in(values)}", "", *counters.sentences(values)]
    return "\n".join(lines) + "\n"


def show_section(folder: Path, key: str, parser: argparse.ArgumentParser) -> None:
    """Print a section of the report."""
    # The report's module imports matplotlib, which takes a second.
    from triptych_paper.report import build

    sections = {section.key: section for section in build(read_run(folder)).sections}
    if key not in sections:
        parser.error(f"unknown section {key!r}: the sections are {', '.join(sections)}")
    section = sections[key]
    for paragraph in (section.title, *section.text, section.missing):
        print("\n".join([*terminal.wrap(paragraph), ""]))
    print(terminal.render_all(section.tables), end="", flush=True)


if __name__ == "__main__":
    sys.exit(main())
