"""The history of the drivers over commits: which commit changed what a packet costs.

Exact counts decide: any change beyond rounding is one. Cycles alarm only if the 95 % interval of the ratio excludes 1,
and excludes it again in a confirming run. Relevance, the size of a change, is shown apart from this significance.
"""

from __future__ import annotations

import math
import re
import subprocess
from collections.abc import Iterable, Iterator
from functools import partial
from itertools import groupby, pairwise
from operator import itemgetter
from typing import Any, NamedTuple

import orjson
from matplotlib.figure import Figure as Canvas

from triptych_paper.comparisons import Section
from triptych_paper.errors import DataError
from triptych_paper.figures import Figure, colour, marker
from triptych_paper.index import CELL, Index, in_utc
from triptych_paper.schema import EXACT, OURS, USUAL, Driver, metrics
from triptych_paper.several import MANY
from triptych_paper.statistics import ENOUGH
from triptych_paper.tables.model import Cell, Column, Table
from triptych_paper.tables.numbers import number, signed

ROUNDING = {"trace": 0.0005, "valgrind": 0.2}
"""Counts of instructions per packet that differ by less are equal. Valgrind counts whole processes."""

RELEVANT = 0.01
"""A smaller change is significant at most, and not relevant."""

DECIDING = ("instructions", "core_cycles", "tsc_cycles")
"""The metrics that are tracked: of an exact backend the first, and of others the first of the other two."""

DEARER, CHEAPER, UNCONFIRMED = "dearer", "cheaper", "unconfirmed"
PLOTS, TICKS = 8, 24


class Measured(NamedTuple):
    """A value with its interval, which too few values do not have."""

    value: float
    low: float | None
    high: float | None


class Point(NamedTuple):
    """What was measured at one revision; several runs confirm each other."""

    revision: str
    committed: str
    runs: tuple[Measured, ...]


class Series(NamedTuple):
    """One cell over the revisions, as one compiler builds it on one machine."""

    machine: str
    cell: dict[str, Any]
    metric: str
    points: tuple[Point, ...]

    @property
    def name(self) -> str:
        """The cell in words; conditions are named if they are not the usual ones."""
        cell = self.cell
        unusual = (f", {name} {cell[name]}" for name, value in USUAL._asdict().items() if cell[name] != value)
        driver = f"{cell['impl']}/{cell['variant']} batch {cell['batch']}{''.join(unusual)}"
        return f"{driver}, {cell['backend']}, {cell['toolchain']}"


class Step(NamedTuple):
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
    def texts(self) -> tuple[str, str, str]:
        """The value before, after, and the change in percent."""
        digits = metrics()[self.series.metric].digits + 2
        before, after = (number(point.runs[-1].value, digits) for point in (self.before, self.after))
        return before, after, signed(100 * self.change, 2)

    def __str__(self) -> str:
        """Name commit, cell, before and after."""
        before, after, change = self.texts
        small = "" if abs(self.change) >= RELEVANT else ", below 1 %"
        return (
            f"{self.after.revision[:10]} is {self.verdict} on {self.series.machine}: {self.series.name}: "
            f"{self.series.metric} {before} at {self.before.revision[:10]}, now {after} ({change} %{small})"
        )


def measured(figure: Any) -> Measured:
    """Read a figure of the index: a value without noise, or one with its interval and the number of values."""
    if isinstance(figure, (int, float)):
        return Measured(figure, figure, figure)
    value, low, high, count = orjson.loads(figure) if isinstance(figure, str) else figure
    return Measured(value, low, high) if count >= ENOUGH else Measured(value, None, None)


def direction(before: Measured, after: Measured) -> int:
    """Return 1 or -1 if the 95 % interval of the ratio lies above or below 1; 0 if it holds 1, or without interval."""
    if (
        not before.value
        or not after.value
        or before.low is None
        or before.high is None
        or after.low is None
        or after.high is None
    ):
        return 0
    # The two were measured apart, so their relative errors add up in squares.
    down = math.hypot(1 - after.low / after.value, before.high / before.value - 1)
    up = math.hypot(after.high / after.value - 1, 1 - before.low / before.value)
    ratio = after.value / before.value
    return int(ratio * (1 - down) > 1) - int(ratio * (1 + up) < 1)


def judge(backend: str, before: Point, after: Point) -> str:
    """Return the verdict of a step; empty without a change."""
    if backend in EXACT:
        change = after.runs[-1].value - before.runs[-1].value
        return "" if abs(change) <= ROUNDING[backend] else DEARER if change > 0 else CHEAPER
    found = {direction(one, other) for one in before.runs for other in after.runs}
    if found not in ({1}, {-1}):
        return ""
    return UNCONFIRMED if len(after.runs) == 1 else DEARER if found == {1} else CHEAPER


def _git(*arguments: str) -> str:
    """Return what git prints; nothing where it fails."""
    try:
        return subprocess.run(["git", *arguments], capture_output=True, text=True, check=True, timeout=60).stdout
    except (OSError, subprocess.SubprocessError):
        return ""


def commits() -> dict[str, str]:
    """Return the first line of the message of each commit that git knows here, from old to new."""
    text = _git("log", "--all", "--topo-order", "--reverse", "--format=%H%x09%s")
    return dict(line.split("\t", 1) for line in text.splitlines())


def time_of(index: Index, revision: str) -> str:
    """Return when a revision was committed, one that was measured or that git knows here."""
    found = index.ask("SELECT DISTINCT committed FROM cell WHERE revision LIKE ?", revision + "%")
    if len(found) == 1:
        return str(found[0][0])
    text = _git("show", "--no-patch", "--format=%cI", f"{revision}^{{commit}}", "--")
    if not text:
        raise DataError(
            f"--since {revision}: no commit here, and {len(found)} measured ones begin so; name one of them"
        )
    return in_utc(text.strip())


def series(index: Index, known: Iterable[str] = ()) -> Iterator[Series]:
    """Return every series that several revisions have. Sources with uncommitted changes belong to no commit."""
    names = ("machine", *CELL, "toolchain")
    figures = ", ".join(f"json_extract(figures, '$.{metric}')" for metric in DECIDING)
    order = ", ".join(names)
    query = f"SELECT {order}, revision, committed, start, {figures} FROM cell WHERE NOT dirty "
    query += f"ORDER BY {order}, committed, revision, start"
    width = len(names)
    place_of = {revision: place for place, revision in enumerate(known)}
    for key, group in groupby(index.stream(query), itemgetter(*range(width))):
        cell = dict(zip(names, key, strict=True))
        places = (0,) if cell["backend"] in EXACT else (1, 2)
        points, metric = [], ""
        # Commits of one second are in the order of git, or else in that in which they were measured.
        for (revision, committed), rows in groupby(group, itemgetter(width, width + 1)):
            each = list(rows)
            found = [(place, row[width + 3 + place]) for row in each for place in places]
            # A copied file has the same values, and confirms nothing.
            runs = {measured(figure): DECIDING[place] for place, figure in found if figure is not None}
            if runs:
                metric = next(iter(runs.values()))
                order_of = (committed, place_of.get(revision, -1), each[0][width + 2])
                points.append((order_of, Point(revision, committed, tuple(runs))))
        if len(points) > 1:
            yield Series(cell.pop("machine"), cell, metric, tuple(point for _, point in sorted(points)))


class History(NamedTuple):
    """All steps, the series that plots show, and how much was compared."""

    steps: list[Step]
    shown: list[Series]
    revisions: int
    compared: int
    subjects: dict[str, str]

    @property
    def dearer(self) -> list[Step]:
        """The alarms."""
        return [step for step in self.steps if step.verdict == DEARER]


def history(index: Index, since: str = "") -> History:
    """Find the steps, after a revision or all of them; the newest first."""
    begin = time_of(index, since) if since else ""
    usual = {name: value for name, value in USUAL._asdict().items() if name != "placement"} | {"variant": "default"}
    steps: list[Step] = []
    shown: list[Series] = []
    revisions: set[str] = set()
    compared = 0
    subjects = commits()
    for one in series(index, subjects):
        compared += 1
        revisions.update(point.revision for point in one.points)
        for before, after in pairwise(one.points):
            if after.committed > begin and (verdict := judge(one.cell["backend"], before, after)):
                steps.append(Step(one, before, after, verdict))
        ours = one.cell["batch"] in (32, 8) and Driver(one.cell["impl"]) in OURS
        if ours and all(one.cell[name] == value for name, value in usual.items()):
            shown.append(one)
    steps.sort(key=lambda step: (step.after.committed, step.series.machine), reverse=True)
    return History(steps, shown, len(revisions), compared, subjects)


def section(found: History) -> Section:
    """Show the plots, and the steps as a table."""
    subject = found.subjects
    rows, records = [], []
    for step in found.steps:
        one, commit, relevant = step.series, step.after.revision, abs(step.change) >= RELEVANT
        at: dict[str, Any] = {"commit": commit, "subject": subject.get(commit, ""), "committed": step.after.committed}
        at |= {"before_commit": step.before.revision, "machine": one.machine, **one.cell, "metric": one.metric}
        at |= {"before": step.before.runs[-1].value, "after": step.after.runs[-1].value}
        records.append(at | {"change_percent": 100 * step.change, "verdict": step.verdict, "relevant": relevant})
        tone = {DEARER: "bad", CHEAPER: "good"}.get(step.verdict, "neutral")
        first = Cell(commit[:10], (subject[commit],) if commit in subject else ()), Cell(one.name, (one.machine,))
        rows.append((*first, *map(Cell, step.texts), Cell(step.verdict, tone=tone), Cell("yes" if relevant else "no")))
    named = ("commit", "cell", "before", "after", "change, %", "verdict", "relevant (≥ 1 %)")
    columns = tuple(Column(name, numeric=name in named[2:5]) for name in named)
    note = f"The newest {MANY} of {len(rows)} steps; the CSV has each." if len(rows) > MANY else ""
    table = Table("history", "Steps, the newest first", columns, tuple(rows[:MANY]), tuple(records), note)
    text = (
        f"{found.revisions} revisions, {found.compared} series: a cell, as one compiler builds it, on one machine. "
        "Counted instructions decide, and any change beyond rounding is a step. Cycles alarm only if the 95 % interval "
        "of the ratio excludes 1, and again in a confirming run; until then a step is unconfirmed. Whether a step is "
        "relevant is another question than whether it is real.",
    )
    missing = (
        "" if found.compared else "No cell was measured at two revisions: `triptych compare --commits A..B` does it."
    )
    return Section("history", "History", text, (table,) if rows else (), tuple(plots(found)), missing=missing)


def plots(found: History) -> Iterator[Figure]:
    """Draw a figure for each machine, backend and placement; those with the most steps if there are many."""
    alarms = {(id(step.series), step.after.revision) for step in found.steps if step.verdict != UNCONFIRMED}
    groups: dict[tuple[str, str, str, str], list[Series]] = {}
    for one in found.shown:
        groups.setdefault((one.machine, one.cell["backend"], one.cell["placement"], one.metric), []).append(one)
    steps = {
        key: sum((id(one), at.revision) in alarms for one in group for at in one.points)
        for key, group in groups.items()
    }
    for key in sorted(groups, key=lambda key: -steps[key])[:PLOTS]:
        file = re.sub(r"[^\w-]+", "-", "-".join(("history", *filter(None, key[:3]))))
        title = f"{metrics()[key[3]].label} over commits, {' '.join(filter(None, key[1:3]))}, {key[0]}"
        caption = "Commits from old to new, those that were measured. A ring marks a step."
        yield Figure(file, title, caption, partial(_draw, groups[key], alarms), (7.6, 4.2))


def _draw(lines: list[Series], alarms: set[tuple[int, str]], canvas: Canvas) -> None:
    order = sorted({(point.committed, point.revision) for one in lines for point in one.points})
    place = {revision: index for index, (_, revision) in enumerate(order)}
    batches = sorted({int(one.cell["batch"]) for one in lines}, reverse=True)
    toolchains = sorted({str(one.cell["toolchain"]) for one in lines})
    panels = canvas.subplots(len(batches), 1, sharex=True, squeeze=False)[:, 0]
    for one in lines:
        axes, driver = panels[batches.index(one.cell["batch"])], Driver(one.cell["impl"])
        style, shade = ("-", "--", ":", "-.")[toolchains.index(one.cell["toolchain"]) % 4], colour(driver)
        x, runs = [place[point.revision] for point in one.points], [point.runs[-1] for point in one.points]
        named = f"{driver.name}, {one.cell['toolchain']}"
        axes.plot(x, [run.value for run in runs], style, color=shade, marker=marker(driver), markersize=3, label=named)
        ends = [[run.value if end is None else end for run in runs for end in (run[side],)] for side in (1, 2)]
        axes.fill_between(x, *ends, color=shade, alpha=0.15, linewidth=0)
        steps = [point for point in one.points if (id(one), point.revision) in alarms]
        rings = [place[point.revision] for point in steps], [point.runs[-1].value for point in steps]
        axes.plot(*rings, "o", markersize=9, markerfacecolor="none", color=shade)
    for axes, batch in zip(panels, batches, strict=True):
        axes.set_ylabel(f"per packet, batch {batch}")
    ticks = range(0, len(order), -(-len(order) // TICKS))
    panels[-1].set_xticks(list(ticks), [order[tick][1][:7] for tick in ticks], rotation=60, ha="right", fontsize=7)
    panels[0].legend(loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=3)
