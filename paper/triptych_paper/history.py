"""The history of the drivers over commits: which commit changed what a packet costs.

Exact counts decide: any change beyond rounding is one. Cycles alarm only if the 95 % interval of the ratio excludes 1,
and excludes it again in a confirming run. Relevance, the size of a change, is shown apart from this significance.
"""

from __future__ import annotations

import math
import re
import subprocess
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby, pairwise
from operator import itemgetter
from typing import Any

import orjson
from matplotlib.figure import Figure as Canvas

from triptych_paper.comparisons import Section
from triptych_paper.errors import DataError
from triptych_paper.figures import Figure, colour, marker
from triptych_paper.index import SERIES, Index
from triptych_paper.schema import EXACT, OURS, USUAL, Driver, metrics
from triptych_paper.several import MANY
from triptych_paper.statistics import ENOUGH
from triptych_paper.tables.model import Cell, Column, Record, Table
from triptych_paper.tables.numbers import number, signed

ROUNDING = {"trace": 0.0005, "valgrind": 0.2}
"""Counts of instructions per packet that differ by less are equal. Valgrind counts whole processes."""

RELEVANT = 0.01
"""A smaller change is significant at most, and not relevant."""

DECIDING = ("instructions", "core_cycles", "tsc_cycles")
"""The metrics that are tracked: of an exact backend the first, and of others the first of the other two."""

DEARER, CHEAPER, UNCONFIRMED = "dearer", "cheaper", "unconfirmed"
PLOTS, TICKS = 8, 24


@dataclass(frozen=True)
class Measured:
    """A value with its interval."""

    value: float
    low: float | None
    high: float | None


def measured(figure: Any) -> Measured:
    """Read a figure of the index: a value without noise, or one with its interval and the number of values."""
    if isinstance(figure, (int, float)):
        return Measured(figure, figure, figure)
    value, low, high, count = orjson.loads(figure) if isinstance(figure, str) else figure
    return Measured(value, low, high) if count >= ENOUGH else Measured(value, None, None)


@dataclass(frozen=True)
class Point:
    """What was measured of one series at one revision; several runs confirm each other."""

    revision: str
    committed: str
    runs: tuple[Measured, ...]


@dataclass(frozen=True)
class Series:
    """One cell over the revisions, as one compiler builds it on one machine."""

    machine: str
    cell: dict[str, Any]
    metric: str
    points: tuple[Point, ...]

    @property
    def exact(self) -> bool:
        """Whether its values have no noise."""
        return self.cell["backend"] in EXACT

    @property
    def name(self) -> str:
        """The cell in words; conditions are named if they are not the usual ones."""
        cell, at = self.cell, [f"batch {self.cell['batch']}"]
        usual = {**USUAL._asdict(), "cpu": "", "toolchain": ""}
        at += [f"{name} {cell[name]}" for name in usual if cell[name] != usual[name] and name != "toolchain"]
        return f"{cell['impl']}/{cell['variant']} {', '.join(at)}, {cell['backend']}, {cell['toolchain']}"


@dataclass(frozen=True)
class Step:
    """A change between two revisions that were measured one after the other."""

    series: Series
    before: Point
    after: Point
    verdict: str

    @property
    def change(self) -> float:
        """The relative change."""
        before = self.before.runs[-1].value
        return self.after.runs[-1].value / before - 1 if before else math.inf

    @property
    def relevant(self) -> bool:
        """Whether the change is large enough to matter."""
        return abs(self.change) >= RELEVANT


def direction(before: Measured, after: Measured) -> int:
    """Return 1 or -1 if the 95 % interval of the ratio lies above or below 1; 0 if it holds 1, or without interval."""
    ends = (before.low, before.high, after.low, after.high)
    if None in ends or not before.value or not after.value:
        return 0
    low_before, high_before, low, high = (end or 0.0 for end in ends)
    ratio = after.value / before.value
    # The two were measured apart, so their relative errors add up in squares.
    down = math.hypot((after.value - low) / after.value, (high_before - before.value) / before.value)
    up = math.hypot((high - after.value) / after.value, (before.value - low_before) / before.value)
    return int(ratio * (1 - down) > 1) - int(ratio * (1 + up) < 1)


def judge(backend: str, before: Point, after: Point) -> str:
    """Return the verdict of a step; empty without a change."""
    if backend in EXACT:
        change = after.runs[-1].value - before.runs[-1].value
        return "" if abs(change) <= ROUNDING[backend] else DEARER if change > 0 else CHEAPER
    found = {direction(one, other) for one in before.runs for other in after.runs}
    if len(after.runs) == 1:
        return UNCONFIRMED if found in ({1}, {-1}) else ""
    return {1: DEARER, -1: CHEAPER}[found.pop()] if found in ({1}, {-1}) else ""


def series(index: Index) -> Iterator[Series]:
    """Return every series that several revisions have. Sources with uncommitted changes belong to no commit."""
    value = ", ".join(f"json_extract(figures, '$.{metric}')" for metric in DECIDING)
    names = ("machine", *SERIES)
    rows = index.stream(
        f"SELECT {', '.join(names)}, revision, committed, {value} FROM cell WHERE NOT dirty "
        f"ORDER BY {', '.join(names)}, committed, revision, start"
    )
    width = len(names)
    for key, group in groupby(rows, itemgetter(*range(width))):
        cell = dict(zip(names, key, strict=True))
        places = range(1) if cell["backend"] in EXACT else range(1, len(DECIDING))
        points: list[Point] = []
        metric = ""
        for (revision, committed), found in groupby(group, itemgetter(width, width + 1)):
            runs = []
            for row in found:
                figure = next(
                    ((DECIDING[n], row[width + 2 + n]) for n in places if row[width + 2 + n] is not None), None
                )
                if figure:
                    metric = figure[0]
                    runs.append(measured(figure[1]))
            if runs:
                # A copied file repeats the same values; it confirms nothing.
                points.append(Point(revision, committed, tuple(dict.fromkeys(runs)) if len(runs) > 1 else tuple(runs)))
        if len(points) > 1:
            yield Series(str(cell.pop("machine")), cell, metric, tuple(points))


@dataclass(frozen=True)
class History:
    """All steps, and the series that plots show."""

    steps: tuple[Step, ...]
    shown: tuple[Series, ...]
    revisions: int
    count: int

    @property
    def dearer(self) -> list[Step]:
        """The alarms."""
        return [step for step in self.steps if step.verdict == DEARER]


def history(index: Index, since: str = "") -> History:
    """Find the steps, after a revision or all of them."""
    begin = ""
    if since:
        found = index.ask("SELECT DISTINCT committed, revision FROM cell WHERE revision LIKE ?", since + "%")
        if len(found) != 1:
            raise DataError(f"--since {since}: {len(found)} measured revisions begin so; name one that was measured")
        begin = found[0][0]
    steps: list[Step] = []
    shown: list[Series] = []
    revisions: set[str] = set()
    count = 0
    usual = {**USUAL._asdict(), "variant": "default"}
    del usual["placement"]
    for one in series(index):
        count += 1
        revisions.update(point.revision for point in one.points)
        for before, after in pairwise(one.points):
            if after.committed > begin and (verdict := judge(one.cell["backend"], before, after)):
                steps.append(Step(one, before, after, verdict))
        at_batch = one.cell["batch"] in (32, 8) and Driver(one.cell["impl"]) in OURS
        if at_batch and all(one.cell[name] == value for name, value in usual.items()):
            shown.append(one)
    steps.sort(key=lambda step: (step.after.committed, step.series.machine), reverse=True)
    return History(tuple(steps), tuple(shown), len(revisions), count)


def subjects(steps: Sequence[Step]) -> dict[str, str]:
    """Return the first line of each commit's message, where git knows the commit."""
    revisions = sorted({step.after.revision for step in steps})
    command = ["git", "log", "--no-walk", "--ignore-missing", "--format=%H%x09%s", *revisions]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60) if revisions else None
    except (OSError, subprocess.TimeoutExpired):
        done = None
    lines = done.stdout.splitlines() if done and done.returncode == 0 else []
    return {line.partition("\t")[0]: line.partition("\t")[2] for line in lines}


def sentence(step: Step) -> str:
    """Name commit, cell, before and after."""
    before, after = step.before.runs[-1].value, step.after.runs[-1].value
    digits = metrics()[step.series.metric].digits + 2
    return (
        f"{step.after.revision[:10]} is {step.verdict} on {step.series.machine}: {step.series.name}: "
        f"{step.series.metric} {number(before, digits)} at {step.before.revision[:10]}, now {number(after, digits)} "
        f"({signed(100 * step.change, 2)} %{'' if step.relevant else ', below 1 %'})"
    )


def section(found: History) -> Section:
    """Show the plots, and the steps as a table."""
    said = subjects(found.steps)
    rows: list[tuple[Cell, ...]] = []
    records: list[Record] = []
    for step in found.steps:
        digits = metrics()[step.series.metric].digits + 2
        before, after = step.before.runs[-1].value, step.after.runs[-1].value
        record: Record = {"commit": step.after.revision, "subject": said.get(step.after.revision, "")}
        record |= {"committed": step.after.committed, "before_commit": step.before.revision}
        record |= {"machine": step.series.machine, **step.series.cell, "metric": step.series.metric}
        record |= {"before": before, "after": after, "change_percent": 100 * step.change}
        records.append(record | {"verdict": step.verdict, "relevant": step.relevant})
        if len(rows) < MANY:
            commit = Cell(step.after.revision[:10], (record["subject"],) if record["subject"] else ())
            tone = {DEARER: "bad", CHEAPER: "good"}.get(step.verdict, "neutral")
            values = Cell(number(before, digits)), Cell(number(after, digits)), Cell(signed(100 * step.change, 2))
            cell = Cell(step.series.name, (step.series.machine,))
            rows.append((commit, cell, *values, Cell(step.verdict, tone=tone), Cell("yes" if step.relevant else "no")))
    named = ("commit", "cell", "before", "after", "change, %", "verdict", "relevant (≥ 1 %)")
    columns = tuple(Column(name, numeric=name in named[2:5]) for name in named)
    note = f"The newest {MANY} of {len(found.steps)} steps; the CSV has each." if len(found.steps) > MANY else ""
    table = Table("history", "Steps, the newest first", columns, tuple(rows), tuple(records), note)
    text = (
        f"{found.revisions} revisions, {found.count} series: a cell, as one compiler builds it, on one machine. "
        "Counted instructions decide, and any change beyond rounding is a step. Cycles alarm only if the 95 % interval "
        "of the ratio excludes 1, and again in a confirming run; until then a step is unconfirmed. Whether a step is "
        "relevant is another question than whether it is real.",
    )
    missing = "" if found.count else "No cell was measured at two revisions: `triptych compare --commits A..B` does it."
    return Section("history", "History", text, (table,) if rows else (), tuple(plots(found)), missing=missing)


def plots(found: History) -> Iterator[Figure]:
    """Draw a figure for each machine, backend and placement; those with the most steps if there are many."""
    groups: dict[tuple[str, ...], list[Series]] = {}
    for one in found.shown:
        groups.setdefault((one.machine, one.cell["backend"], one.cell["placement"], one.metric), []).append(one)
    alarms = {(id(step.series), step.after.revision) for step in found.steps if step.verdict != UNCONFIRMED}

    def steps(group: tuple[str, ...]) -> int:
        return sum((id(one), point.revision) in alarms for one in groups[group] for point in one.points)

    for group in sorted(groups, key=steps, reverse=True)[:PLOTS]:
        key = re.sub(r"[^\w-]+", "-", "-".join(("history", *group[:3]))).strip("-")
        title = f"{metrics()[group[3]].label} over commits, {' '.join(filter(None, group[1:3]))}, {group[0]}"
        caption = "Commits from old to new, those that were measured. A ring marks a step."
        draw: Callable[[Canvas], None] = partial(_draw, groups[group], alarms)
        yield Figure(key, title, caption, draw, (7.6, 4.2))


def _draw(lines: list[Series], alarms: set[tuple[int, str]], canvas: Canvas) -> None:
    order = sorted({(point.committed, point.revision) for one in lines for point in one.points})
    place = {revision: index for index, (_, revision) in enumerate(order)}
    batches = sorted({int(one.cell["batch"]) for one in lines}, reverse=True)
    toolchains = sorted({str(one.cell["toolchain"]) for one in lines})
    panels = canvas.subplots(len(batches), 1, sharex=True, squeeze=False)[:, 0]
    for axes, batch in zip(panels, batches, strict=True):
        for one in (one for one in lines if one.cell["batch"] == batch):
            driver = Driver(one.cell["impl"])
            style = ("-", "--", ":", "-.")[toolchains.index(one.cell["toolchain"]) % 4]
            name = driver.name if len(toolchains) < 2 else f"{driver.name}, {one.cell['toolchain']}"
            x = [place[point.revision] for point in one.points]
            runs = [point.runs[-1] for point in one.points]
            axes.plot(x, [run.value for run in runs], style, color=colour(driver), marker=marker(driver),
                      markersize=3, linewidth=1.2, label=name)  # fmt: skip
            if not one.exact and all(run.low is not None for run in runs):
                low, high = [run.low or 0.0 for run in runs], [run.high or 0.0 for run in runs]
                axes.fill_between(x, low, high, color=colour(driver), alpha=0.15, linewidth=0)
            steps = [point for point in one.points if (id(one), point.revision) in alarms]
            rings = [place[point.revision] for point in steps], [point.runs[-1].value for point in steps]
            axes.plot(*rings, "o", markersize=9, markerfacecolor="none", color=colour(driver))
        axes.set_ylabel(f"per packet, batch {batch}")
    ticks = range(0, len(order), -(-len(order) // TICKS))
    panels[-1].set_xticks(list(ticks), [order[tick][1][:7] for tick in ticks], rotation=60, ha="right", fontsize=7)
    panels[0].legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))
