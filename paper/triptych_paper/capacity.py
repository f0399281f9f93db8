"""How long many cells take on many nodes, and what many results cost to read, from the measured times of cells.

Usage: ``python -m triptych_paper.capacity [RESULTS...] [--cells N] [-o DIR]``

Writes ``capacity.html`` with tables and a plot. The times of cells are those of the results. The time to merge is
measured now, with copies of their files. Ends with 0; 1 if a file is missing or cannot be written; 2 on a wrong command
line.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from matplotlib.figure import Figure as Canvas

from triptych_paper import report
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
SHADES = ("c", "rust", "unsafe", "checked")
COPIES = 20_000
"""Files with which merging is measured."""


class Plan(NamedTuple):
    """What the plan is computed from: seconds, unless another unit is named."""

    cells: int
    exact: float
    timed: float
    timed_share: float
    cells_of_job: float
    longest_job: float
    programs: int
    merging: float
    index_bytes: float
    build: float
    overhead: float

    def hours(self, nodes: int) -> list[float]:
        """Return the hours of each of :data:`PARTS`: the nodes share the jobs, and one process merges."""
        timed = self.cells * self.timed_share
        exact, jobs = self.cells - timed, timed / self.cells_of_job
        # A node builds what its jobs need, once: builds are kept by their content.
        builds = min(self.programs, (jobs + exact) / nodes) * self.build
        exclusive = max((timed * self.timed + jobs * self.overhead) / nodes, self.longest_job if timed else 0)
        counting = exact * (self.exact + self.overhead) / nodes
        return [seconds / 3600 for seconds in (builds, exclusive, counting, self.cells * self.merging)]


def measure(paths: Sequence[Path], cells: int, build: float, overhead: float) -> Plan:
    """Read the times of the cells, and measure how fast they merge."""
    index = Index(paths)
    exact = f"backend IN {EXACT}"
    found = {one: rest for one, *rest in index.ask(f"SELECT {exact}, count(*), avg(seconds) FROM cell GROUP BY 1")}
    if not found:
        raise DataError(f"{', '.join(map(str, paths))}: no cells below; `triptych run` measures some")
    (counted, per_exact), (timed, per_timed) = found.get(1, (0, 0.0)), found.get(0, (0, 0.0))
    conditions = ", ".join(name for name in CELL if name not in ("impl", "variant", "offered_mpps"))
    jobs = index.ask(f"SELECT sum(seconds) FROM cell WHERE NOT {exact} GROUP BY machine, run, {conditions}")
    ((programs,),) = index.ask("SELECT count(DISTINCT program) FROM cell")
    files = index.ask("SELECT path || '/' || file FROM cell JOIN folder ON folder = id LIMIT ?", COPIES)
    index.close()
    with tempfile.TemporaryDirectory(prefix="triptych-capacity-") as temporary:
        folder = Path(temporary) / "cells"
        folder.mkdir()
        for place in range(COPIES):
            shutil.copyfile(files[place % len(files)][0], folder / f"{place}.json")
        begin = time.monotonic()
        copies = Index([folder.parent], Path(temporary) / "index.sqlite")
        history(copies)
        copies.close()
        merging, size = (time.monotonic() - begin) / COPIES, copies.file.stat().st_size / COPIES
    together, longest = timed / max(1, len(jobs)), max((seconds for (seconds,) in jobs), default=0.0)
    share = timed / (counted + timed)
    return Plan(cells, per_exact, per_timed, share, together or 1, longest, programs, merging, size, build, overhead)


def tables(plan: Plan, commits: int = 200) -> Iterator[Table]:
    """Build the plan by nodes, the history of many commits, and the cost of reading."""

    def table(key: str, title: str, names: Sequence[str], lines: list[list[float | str]]) -> Table:
        rows = [tuple(Cell(one if isinstance(one, str) else significant(one)) for one in line) for line in lines]
        records = tuple(dict(zip(names, line, strict=True)) for line in lines)
        columns = tuple(Column(name, numeric=name != "largest part") for name in names)
        return Table(f"capacity{key}", title, columns, tuple(rows), records)

    hours = {nodes: plan.hours(nodes) for nodes in NODES}
    lines = [[str(nodes), *each, sum(each), PARTS[each.index(max(each))]] for nodes, each in hours.items()]
    names = ("nodes", *(f"{name}, h" for name in PARTS), "all, h", "largest part")
    yield table("", f"{plan.cells:,} cells", names, lines)
    # Three drivers and two batch sizes. A commit is built where it is measured.
    seconds = commits * (3 * plan.build + 6 * (plan.exact + plan.overhead))
    lines = [[str(nodes), seconds / 3600 / nodes] for nodes in (1, 2, 10)]
    title = f"The history of {commits} commits: exact, three drivers, two batch sizes"
    yield table("-history", title, ("nodes", "hours"), lines)
    lines = [[f"{10**n:,}", plan.merging * 10**n, plan.index_bytes * 10 ** (n - 6)] for n in (4, 5, 6)]
    yield table("-reading", "Reading many results", ("results", "seconds to merge and judge", "index, MB"), lines)


def page(plan: Plan) -> Section:
    """Build the page."""
    text = (
        f"Measured: {plan.exact:.1f} s for an exact cell; {plan.timed:.1f} s for a timed one; "
        f"{100 * plan.timed_share:.0f} % of the cells are timed, and {plan.cells_of_job:.1f} of them are one job; "
        f"{plan.longest_job:.0f} s for the longest job; {1e6 * plan.merging:.0f} µs to merge a file; {plan.programs} "
        f"programs. Assumed: {plan.build:g} s for a build, and {plan.overhead:g} s beside each job.",
        "A timed job needs a node alone. Exact cells run one by one on a node here, and side by side on one with many "
        "cores. A node builds a program once, and keeps it by its content. One process merges at the end.",
    )

    def draw(canvas: Canvas) -> None:
        axes = canvas.subplots()
        nodes = range(1, NODES[-1] + 1)
        for name, values, shade in zip(PARTS, zip(*map(plan.hours, nodes), strict=True), SHADES, strict=True):
            axes.plot(nodes, values, color=LIGHT[shade], label=name)
        axes.set(xscale="log", yscale="log", xlabel="nodes", ylabel="hours")
        axes.set_xticks(NODES, list(map(str, NODES)))
        axes.legend()

    figure = Figure("capacity", f"Hours for {plan.cells:,} cells", "What takes how long on how many nodes.", draw)
    return Section("capacity", "Plan", text, tuple(tables(plan)), (figure,))


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; return the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m triptych_paper.capacity", description="Say how long many cells take on up to 100 nodes."
    )
    parser.add_argument("results", type=Path, nargs="*", default=[Path("results")], help="folders (default: results)")
    parser.add_argument("--cells", type=int, default=20_000, help="cells of the matrix (default: 20000)")
    parser.add_argument("--build-seconds", type=float, default=30.0, help="seconds of a build (default: 30)")
    parser.add_argument("--overhead", type=float, default=5.0, help="seconds beside the cells of a job (default: 5)")
    parser.add_argument(
        "-o", "--output", type=Path, default=Path("build/capacity"), metavar="DIR", help="where to write"
    )
    options = parser.parse_args(arguments)
    try:
        section = page(measure(options.results, options.cells, options.build_seconds, options.overhead))
        report.write_page(report.alone("Many boxes, many commits", section), options.output, "capacity.html")
    except DataError as error:
        print(f"triptych_paper.capacity: {error}", file=sys.stderr)
        return 1
    print(*section.text, f"{os.path.relpath(options.output)}/capacity.html has the tables and the plot.", sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
