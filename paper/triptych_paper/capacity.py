"""How long many cells take on many nodes, and what many results cost to read, from the measured times of cells.

Usage: ``python -m triptych_paper.capacity [RESULTS...] [--cells N] [-o DIR]``

Writes ``capacity.html`` with a table and a plot. Times of cells are those of the results. The time to merge is measured
now, with copies of their files. Ends with 0; 1 if a file is missing or cannot be written; 2 on a wrong command line.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from matplotlib.figure import Figure as Canvas

from triptych_paper import __version__, report
from triptych_paper.comparisons import Section
from triptych_paper.errors import DataError
from triptych_paper.figures import LIGHT, Figure
from triptych_paper.history import history
from triptych_paper.index import CELL, Index
from triptych_paper.schema import EXACT
from triptych_paper.tables.model import Cell, Column, Table
from triptych_paper.tables.numbers import significant

NODES = (1, 2, 5, 10, 20, 50, 100)
PARTS = ("builds", "exclusive cells", "exact cells", "merging")
COPIES = 20_000
"""Files with which merging is measured."""


@dataclass(frozen=True)
class Measured:
    """What the plan is computed from."""

    exact: float
    """Seconds of an exact cell, and of one that is timed; the share of the latter, and how many of them are one job."""
    timed: float
    share: float
    together: float
    longest: float
    """Seconds of the longest job."""
    programs: int
    merging: float
    """Seconds to merge and report one result; and bytes of the index for one."""
    bytes: float


def measure(paths: Sequence[Path]) -> Measured:
    """Read the times of the cells, and measure how fast they merge."""
    index = Index(paths)
    exact = ", ".join(f"'{name}'" for name in EXACT)
    job = ", ".join(name for name in CELL if name not in ("impl", "variant", "offered_mpps"))
    rows = index.ask(f"SELECT backend IN ({exact}), count(*), avg(seconds) FROM cell GROUP BY 1")
    known = {bool(is_exact): (count, seconds) for is_exact, count, seconds in rows}
    if not known:
        raise DataError(f"{', '.join(map(str, paths))}: no cells below; `triptych run` measures some")
    (counted, per_exact), (timed, per_timed) = known.get(True, (0, 0.0)), known.get(False, (0, 0.0))
    jobs = index.ask(
        f"SELECT count(*), sum(seconds) FROM cell WHERE backend NOT IN ({exact}) GROUP BY machine, run, {job}"
    )
    longest = max([per_exact, *(seconds for _, seconds in jobs)])
    programs = index.ask("SELECT count(DISTINCT program) FROM cell")[0][0]
    files = [Path(*row) for row in index.ask("SELECT path, file FROM cell JOIN folder ON folder = id LIMIT ?", COPIES)]
    index.close()
    per_file, size = _merging(files)
    together = timed / len(jobs) if jobs else 1.0
    return Measured(per_exact, per_timed, timed / (counted + timed), together, longest, programs, per_file, size)


def _merging(files: list[Path]) -> tuple[float, float]:
    """Return the seconds and the bytes of the index for a file."""
    with tempfile.TemporaryDirectory(prefix="triptych-capacity-") as temporary:
        cells = Path(temporary) / "machine" / "run" / "cells"
        cells.mkdir(parents=True)
        for place in range(COPIES):
            shutil.copyfile(files[place % len(files)], cells / f"{place}.json")
        begin = time.monotonic()
        index = Index([cells.parent], Path(temporary) / "index.sqlite")
        history(index)
        index.close()
        return (time.monotonic() - begin) / COPIES, index.file.stat().st_size / COPIES


def hours(known: Measured, cells: int, nodes: int, options: argparse.Namespace) -> tuple[float, ...]:
    """Return the hours of each of :data:`PARTS`: the nodes share jobs, and one process merges."""
    timed = cells * known.share
    jobs = timed / known.together
    exact = cells - timed
    # A node builds what its jobs need, once: builds are reused by content.
    builds = min(options.programs or known.programs, (jobs + exact) / nodes) * options.build_seconds
    exclusive = (timed * known.timed + jobs * options.overhead) / nodes
    counting = exact * (known.exact + options.overhead) / (nodes * options.slots)
    if known.share:
        exclusive = max(exclusive, known.longest)
    return tuple(seconds / 3600 for seconds in (builds, exclusive, counting, cells * known.merging))


def _columns(*names: str) -> tuple[Column, ...]:
    return tuple(Column(name, numeric=name != "largest part") for name in names)


def tables(known: Measured, options: argparse.Namespace) -> Iterator[Table]:
    """Build the plan by nodes, a history of commits, and the cost of reading."""
    rows, records = [], []
    for nodes in NODES:
        parts = hours(known, options.cells, nodes, options)
        largest = PARTS[parts.index(max(parts))]
        shown = [str(nodes), *(significant(part) for part in parts), significant(sum(parts)), largest]
        rows.append(tuple(map(Cell, shown)))
        records.append({"nodes": nodes, **dict(zip(PARTS, parts, strict=True)), "hours": sum(parts)})
    columns = _columns("nodes", *(f"{name}, h" for name in PARTS), "all, h", "largest part")
    yield Table("capacity", f"{options.cells:,} cells", columns, tuple(rows), tuple(records))
    rows = []
    for nodes in (1, 2, 10):
        # Three drivers, two batch sizes; each commit is built once, where it is measured.
        builds, cells = 3 * options.commits, 6 * options.commits
        seconds = builds * options.build_seconds / nodes + cells * (known.exact + options.overhead) / nodes
        rows.append((Cell(str(nodes)), Cell(f"{builds:,}"), Cell(f"{cells:,}"), Cell(significant(seconds / 3600))))
    title = f"A history of {options.commits} commits: exact, three drivers, two batch sizes"
    yield Table("capacity-history", title, _columns("nodes", "builds", "cells", "hours"), tuple(rows), ())
    rows = []
    for count in (10_000, 100_000, 1_000_000):
        size = count * known.bytes / 1e6
        rows.append((Cell(f"{count:,}"), Cell(significant(count * known.merging)), Cell(significant(size))))
    columns = _columns("results", "seconds to merge and judge", "index, MB")
    yield Table("capacity-reading", "Reading many results", columns, tuple(rows), ())


def page(known: Measured, options: argparse.Namespace) -> Section:
    """Build the page."""
    text = (
        f"Measured: {known.exact:.1f} s for an exact cell, {known.timed:.1f} s for a timed one, of which "
        f"{known.together:.1f} are one job; {100 * known.share:.0f} % of the cells are timed; the longest job takes "
        f"{known.longest:.0f} s; {1e6 * known.merging:.0f} µs to merge a file.",
        f"Assumed: {options.build_seconds:g} s for a build, {options.programs or known.programs} builds, "
        f"{options.overhead:g} s beside each job, exact cells at once on a node: {options.slots}.",
        "A timed job needs a node alone. An exact cell does not, so it may share one. A node builds a program once and "
        "keeps it by its content. Merging is one process at the end.",
    )

    def draw(canvas: Canvas) -> None:
        axes = canvas.subplots()
        nodes = range(1, 101)
        parts = zip(*(hours(known, options.cells, count, options) for count in nodes), strict=True)
        for name, values, colour in zip(PARTS, parts, ("c", "rust", "unsafe", "checked"), strict=True):
            axes.plot(nodes, values, color=LIGHT[colour], label=name)
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_xticks(NODES, [str(count) for count in NODES])
        axes.set_xlabel("nodes")
        axes.set_ylabel("hours")
        axes.legend()

    figure = Figure(
        "capacity", f"Hours for {options.cells:,} cells", "What takes how long, by the number of nodes.", draw
    )
    return Section("capacity", "Plan", text, tuple(tables(known, options)), (figure,))


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; return the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m triptych_paper.capacity", description="Say how long many cells take on up to 100 nodes."
    )
    parser.add_argument("--version", action="version", version=f"triptych_paper {__version__}")
    parser.add_argument("results", type=Path, nargs="*", default=[Path("results")], help="folders (default: results)")
    parser.add_argument("--cells", type=int, default=20_000, help="cells of the matrix (default: 20000)")
    parser.add_argument("--commits", type=int, default=200, help="commits of the history (default: 200)")
    parser.add_argument("--programs", type=int, default=0, help="builds (default: as many as the results have)")
    parser.add_argument("--build-seconds", type=float, default=30.0, help="seconds of a build (default: 30)")
    parser.add_argument("--overhead", type=float, default=5.0, help="seconds beside the cells of a job (default: 5)")
    parser.add_argument("--slots", type=int, default=1, help="exact cells at once on a node (default: 1)")
    parser.add_argument(
        "-o", "--output", type=Path, default=Path("build/capacity"), metavar="DIR", help="where to write"
    )
    options = parser.parse_args(arguments)
    if min(options.cells, options.commits, options.slots) < 1:
        parser.error("--cells, --commits and --slots begin with 1")
    try:
        section = page(measure(options.results), options)
        report.write_page(report.alone("Many boxes, many commits", section), options.output, "capacity.html")
    except DataError as error:
        print(f"triptych_paper.capacity: {error}", file=sys.stderr)
        return 1
    print("\n".join(section.text))
    used = (resource.getrusage(who).ru_maxrss / 1024 for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    print(f"{os.path.relpath(options.output)}/capacity.html; memory of this measurement: {max(used):.0f} MB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
