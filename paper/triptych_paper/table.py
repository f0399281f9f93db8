"""Print the tables of a run in the terminal.

Usage: ``python -m triptych_paper.table results/latest [--section KEY | --readme]``

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

from triptych_paper import __version__, counter_tables, counters, merged
from triptych_paper.claims.check import check_all, count, given
from triptych_paper.claims.reader import read_claims
from triptych_paper.code import read_code
from triptych_paper.drivers import Driver
from triptych_paper.errors import DataError
from triptych_paper.facts import facts
from triptych_paper.lookup import NO_UPSTREAM, has_upstream
from triptych_paper.published import read_published
from triptych_paper.records import Run, read_run
from triptych_paper.tables import markdown, terminal, tidy_csv
from triptych_paper.tables.model import Footnotes, Table, superscript
from triptych_paper.warnings import fold

NARROW = 100
"""Largest number of characters in a line of the tables with three columns a driver."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; return the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m triptych_paper.table",
        description="Print the counters of a run beside the published ones, and write counters.md and counters.csv.",
    )
    parser.add_argument("--version", action="version", version=f"triptych_paper {__version__}")
    parser.add_argument("run", type=Path, help="a results folder, such as results/latest, or merged runs")
    others = parser.add_mutually_exclusive_group()
    others.add_argument("--section", metavar="KEY", help="print a section of the report instead, such as ladder")
    others.add_argument("--readme", action="store_true", help="print the table of the README instead, as Markdown")
    options = parser.parse_args(arguments)
    try:
        if options.section:
            show_section(options.run, options.section, parser)
        elif options.readme:
            print(readme(options.run), end="", flush=True)
        elif merged.is_merged(options.run):
            show_merged(options.run)
        else:
            show_counters(options.run)
    except DataError as error:
        print(f"triptych_paper.table: {error}", file=sys.stderr)
        return 1
    except BrokenPipeError:
        # The reader closed the pipe. Without this, Python would report that at exit a second time.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    return 0


def show_counters(folder: Path) -> None:
    """Print the counters of a run, and write them into its folder."""
    run, published = read_run(folder), read_published()

    def tables(batches: list[int]) -> list[Table]:
        return [table for batch in batches for table in counter_tables.tables(run, published, batch)]

    shown, every = tables(counters.shown_batches(run)), tables(counters.measured_batches(run))
    try:
        _write(run.folder / "counters.md", _markdown(run, shown))
        _write(run.folder / "counters.csv", tidy_csv.render(record for table in every for record in table.records))
    finally:
        # A folder that cannot be written is no reason not to show the tables.
        print(_text(run, shown), end="", flush=True)


def show_merged(folder: Path) -> None:
    """Print the counters of several runs side by side, then those of each run, and write them into their folders."""
    runs = merged.read_runs(folder)
    present = {batch for run in runs for batch in counters.shown_batches(run)}
    tables = [merged.side_by_side(runs, batch) for batch in sorted(present, reverse=True)]
    _write(folder / "merged.md", f"# Counters per packet of {len(runs)} runs\n\n" + markdown.render_all(tables))
    _write(folder / "merged.csv", tidy_csv.render(record for table in tables for record in table.records))
    print(terminal.render_all(tables), flush=True)
    for run in runs:
        print(flush=True)
        show_counters(run.folder)


def _text(run: Run, tables: list[Table]) -> str:
    width = NARROW if has_upstream(run) else terminal.WIDTH
    head = (*facts(run), ("claims", _verdicts(run)))
    lines = [line for label, text in head for line in terminal.wrap(f"{label:<19}{text}", 19, width)]
    above = [line for text in _upstream(run) for line in terminal.wrap(text, 0, width)]
    if above:
        lines += ["", *above]
    warnings = [line for text in fold(run.warnings) for line in terminal.wrap(f"warning: {text}", 9, width)]
    return "\n".join([*lines, "", terminal.render_all(tables, width), *warnings]).rstrip() + "\n"


def _markdown(run: Run, tables: list[Table]) -> str:
    lines = [f"# Counters per packet, run {run.id}", "", *(f"- {label}: {text}" for label, text in facts(run))]
    lines.append(f"- {_verdicts(run)}")
    lines += [f"- Warning: {text}" for text in fold(run.warnings)]
    for text in _upstream(run):
        lines += ["", text]
    return "\n".join([*lines, "", markdown.render_all(tables)])


def _upstream(run: Run) -> list[str]:
    """Say what stands above the tables: whether the paper's own drivers are missing, and which were skipped."""
    texts = [] if has_upstream(run) else [NO_UPSTREAM]
    skipped = [f"{Driver(impl, variant).name}: {why}" for (impl, variant), why in run.skipped_peers.items()]
    return [*texts, f"Skipped: {'; '.join(skipped)}."] if skipped else texts


def _verdicts(run: Run) -> str:
    code = read_code(run.folder)
    return count(given(check_all(read_claims(), run, code)))


def readme(folder: Path) -> str:
    """Return the table of the README as Markdown, without a heading."""
    table = counter_tables.readme(read_run(folder), read_published())
    footnotes = Footnotes([table])
    lines = [*markdown.grid(table, footnotes), "", table.note, ""]
    lines += [f"- {superscript([place])} {text}" for place, text in enumerate(footnotes.texts, start=1)]
    return "\n".join(lines).rstrip() + "\n"


def show_section(folder: Path, key: str, parser: argparse.ArgumentParser) -> None:
    """Print the text and the tables of one section of the report."""
    # The figures of a report need a library that is slow to load.
    from triptych_paper.report.build import build, read_data

    sections = {section.key: section for section in build(read_data(folder)).sections}
    if key not in sections:
        parser.error(f"section {key} does not exist; the sections are {', '.join(sections)}")
    section = sections[key]
    lines = [section.title]
    for paragraph in (*section.text, *section.missing):
        lines += ["", *terminal.wrap(paragraph)]
    print("\n".join([*lines, "", terminal.render_all(section.tables)]).rstrip(), flush=True)


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise DataError(f"cannot write {path}: {error.strerror}") from None


if __name__ == "__main__":
    # A terminal without dashes and superscripts shows question marks.
    sys.stdout.reconfigure(errors="replace")  # type: ignore[union-attr]
    sys.exit(main())
