"""The cost ladder: what each safety feature costs."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas

from triptych_paper.ladder import Rung, Step, difference, steps, total
from triptych_paper.lookup import RUST, batches, choose, find, reason
from triptych_paper.report.cells import ABSENT, METRICS, number, repeats, signed, source_cell
from triptych_paper.report.figures import LIGHT
from triptych_paper.report.model import Cell, Column, Data, Figure, Record, Section, Table
from triptych_paper.statistics import Summary

TITLE = "Where the instructions of safe Rust come from"
WITH_TOTAL = ("instructions", "cycles")
SHOWN = ("instructions", "branches", "loads", "stores", "cycles")
ALONE = ("instructions",)
"""Of the others a rung alone says no more."""
ALONE_NOTE = "As the only difference to the shipped safe driver. Empty where it cannot be."
DIGITS = {"instructions": 2, "branches": 2, "loads": 2, "stores": 2, "cycles": 2}

SAME = 0.005
"""Two builds of the same driver may differ by this share."""

Backends = dict[str, str]


def build(data: Data) -> Section:
    """A table and a figure a batch size."""
    text = [
        "A ladder from the transpiled driver to the safe one and beyond it. Each rung is a build of its own, and "
        "differs from the one below by one thing: up to the shipped safe driver, what it has; above it, what safe "
        "Rust is usually written with and this driver does without. The order matters: a thing costs what it adds to "
        "those below it, and the compiler optimises all of them together, so small differences, also below 0, are "
        "its doing. Where a thing can be taken out of the shipped driver, or put into it, by itself, that was "
        "measured, too: a figure that holds in both orders is the price of the thing, one that does not is as much "
        "the compiler's. bench/ladder/README.md has each rung and its patch.",
    ]
    rungs = data.ladder
    if not rungs:
        missing = "Not measured in this run: it is measured by `make ladder`."
        return Section("ladder", TITLE, tuple(text), missing=(missing,))
    drivers = [rung.driver for rung in rungs]
    ours = [driver for driver in drivers if driver.variant != "default"]
    chosen = [batch for batch in (32, 8) if any(batch in batches(data.run, metric, ours) for metric in SHOWN)]
    if not chosen:
        missing = "Nothing of the ladder was measured in this run, see its failures."
        return Section("ladder", TITLE, tuple(text), missing=(missing,))
    backends = {metric: choose(data.run, metric, drivers) for metric in SHOWN}
    text += [sentence for batch in chosen if (sentence := _ends(data, rungs, batch, backends))]
    tables = [_table(data, rungs, batch, backends) for batch in chosen]
    figures = [_figure(data, rungs, batch, backends) for batch in chosen]
    return Section("ladder", TITLE, tuple(text), tuple(tables), tuple(figures))


def _shipped(rungs: tuple[Rung, ...]) -> int:
    return next(place for place, rung in enumerate(rungs) if rung.shipped)


def _ends(data: Data, rungs: tuple[Rung, ...], batch: int, backends: Backends) -> str:
    """Compare the rung that is the shipped driver with the shipped driver itself."""
    shipped = rungs[_shipped(rungs)].driver
    backend = backends["instructions"]
    rung = find(data.run, shipped, batch, "instructions", backend)
    itself = find(data.run, RUST, batch, "instructions", backend)
    if not rung or not itself:
        return ""
    text = (
        f"Batch {batch}: the rung that is the shipped safe driver has {number(rung.summary.median, 2)} instructions a "
        f"packet, the driver itself {number(itself.summary.median, 2)}; the bottom is the shipped transpiled driver "
        "itself."
    )
    if abs(rung.summary.median / itself.summary.median - 1) > SAME:
        text += " These two should be equal: the ladder was not built from the same sources or by the same compiler."
    return text


def _table(data: Data, rungs: tuple[Rung, ...], batch: int, backends: Backends) -> Table:
    columns = [Column(f"batch {batch}: each rung adds", numeric=False)]
    found: dict[str, tuple[Step, ...]] = {}
    records: list[Record] = []
    for name in SHOWN:
        found[name] = steps(data.run, rungs, batch, name, backends[name])
        values = [find(data.run, rung.driver, batch, name, backends[name]) for rung in rungs]
        notes = source_cell(data.run, METRICS[name], values).notes
        if name in WITH_TOTAL:
            columns.append(Column(METRICS[name].label, notes=notes))
        columns.append(Column(f"± {METRICS[name].label}", notes=() if name in WITH_TOTAL else notes))
        if name in ALONE:
            columns.append(Column("alone", notes=(ALONE_NOTE,)))
        records += [_record(data, step, batch, name, backends[name]) for step in found[name]]
    rows = []
    for place, rung in enumerate(rungs):
        cells = [Cell(rung.title, ("the shipped safe driver",) if rung.shipped else ())]
        for name in SHOWN:
            step = found[name][place]
            if name in WITH_TOTAL:
                cells.append(_value(data, step, batch, name, backends[name]))
            cells.append(_added(step.added, DIGITS[name]))
            if name in ALONE:
                cells.append(_added(step.alone, DIGITS[name]))
        rows.append(tuple(cells))
    shipped = _shipped(rungs)
    parts = (
        ("sum up to the shipped safe driver", 0, shipped),
        ("sum from there to the top", shipped, len(rungs) - 1),
        ("sum of all", 0, len(rungs) - 1),
    )
    for title, first, last in parts:
        if first == last:
            continue
        cells = [Cell(title, ("and the whole difference",))]
        for name in SHOWN:
            if name in WITH_TOTAL:
                cells.append(Cell())
            ends = (rungs[last].driver, rungs[first].driver)
            whole = difference(data.run, *ends, batch, name, backends[name])
            cells.append(_sum(total(found[name][first + 1 : last + 1]), whole, DIGITS[name]))
            if name in ALONE:
                cells.append(Cell())
        rows.append(tuple(cells))
    sources = ", ".join(dict.fromkeys(f"{METRICS[name].label} by {backends[name]}" for name in SHOWN))
    note = (
        "Per packet: the median, and what a rung adds to the one above it in this table, which is the one below it on "
        "the ladder: median of the difference in the same round, and its 10th to 90th percentile. " + sources + "."
    )
    return Table(
        f"ladder-batch-{batch}", f"The cost ladder, batch {batch}", tuple(columns), tuple(rows), tuple(records), note
    )


def _value(data: Data, step: Step, batch: int, metric: str, backend: str) -> Cell:
    if step.value is None:
        return Cell(ABSENT, (), (reason(data.run, step.rung.driver, batch, metric, backend),))
    return Cell(number(step.value.median, DIGITS[metric]))


def _added(added: Summary | None, digits: int) -> Cell:
    if added is None:
        return Cell()
    spread = (f"{signed(added.low, digits)} to {signed(added.high, digits)}",) if added.count > 1 else ()
    return Cell(signed(added.median, digits), spread)


def _sum(added: float | None, whole: Summary | None, digits: int) -> Cell:
    if added is None or whole is None:
        return Cell(ABSENT)
    return Cell(signed(added, digits), (signed(whole.median, digits),))


def _record(data: Data, step: Step, batch: int, metric: str, backend: str) -> Record:
    value, added, driver = step.value, step.added, step.rung.driver
    return {
        "rung": step.rung.name,
        "impl": driver.impl,
        "variant": driver.variant,
        "batch": batch,
        "metric": metric,
        "value": value.median if value else None,
        "added": added.median if added else None,
        "added_p10": added.low if added and added.count > 1 else None,
        "added_p90": added.high if added and added.count > 1 else None,
        "alone": step.alone.median if step.alone else None,
        "unit": METRICS[metric].unit,
        "backend": backend if value else "",
        "repeats": value.count if value else 0,
        "note": "" if value else reason(data.run, driver, batch, metric, backend),
    }


def _figure(data: Data, rungs: tuple[Rung, ...], batch: int, backends: Backends) -> Figure:
    found = {name: steps(data.run, rungs, batch, name, backends[name]) for name in WITH_TOTAL}

    def draw(canvas: Canvas) -> None:
        for axes, name in zip(canvas.subplots(1, len(WITH_TOTAL), sharey=True), WITH_TOTAL, strict=True):
            axes.set_title(METRICS[name].label)
            axes.set_xlabel(METRICS[name].unit)
            _waterfall(axes, found[name], alone=name in ALONE)
            axes.set_yticks(range(len(rungs)), [rung.title for rung in rungs])
            axes.set_ylim(len(rungs) - 0.4, -0.6)
            axes.grid(visible=False, axis="y")
        for label, rung in zip(canvas.axes[0].get_yticklabels(), rungs, strict=True):
            label.set_fontweight("bold" if rung.shipped else "normal")

    counts = repeats(step.value.count for step in found["cycles"] if step.value)
    return Figure(
        f"ladder-batch-{batch}",
        f"The cost ladder, batch {batch}",
        "From the transpiled driver at the top downwards, what each thing adds. The broken line is the shipped safe "
        "driver; what is below it in the figure, that driver does without. A circle is where a bar would end if the "
        "thing cost what it does as the only difference to the shipped driver. Instructions by "
        f"{backends['instructions']}; cycles by {backends['cycles']}, medians of {counts} rounds, whiskers 10th to "
        "90th percentile of the difference to the rung before, in the same round. The axes do not begin at 0.",
        draw,
        (7.4, 1.3 + 0.27 * len(rungs)),
    )


def _waterfall(axes: Axes, found: Sequence[Step], *, alone: bool) -> None:
    """Draw the rungs' differences one after the other, so that what is drawn is what is written beside it."""
    before: float | None = None
    for place, step in enumerate(found):
        if step.value is None:
            before = None
            continue
        if step.added is None or before is None:
            value = end = step.value.median
            axes.plot([value], [place], marker="D", color=LIGHT["ink"], markersize=4)
        else:
            value = before + step.added.median
            colour = LIGHT["rust"] if value >= before else LIGHT["unsafe"]
            axes.barh(place, value - before, 0.62, left=before, color=colour)
            axes.plot([before, before], [place - 1, place], color=LIGHT["muted"], linewidth=0.6)
            end = max(value, before)
            if step.added.count > 1:
                low, high = before + step.added.low, before + step.added.high
                axes.plot([low, high], [place, place], color=LIGHT["ink"], linewidth=0.8)
                end = max(end, high)
            if alone and step.alone:
                there = before + step.alone.median
                axes.plot([there], [place], "o", markersize=4.5, markerfacecolor="none", color=LIGHT["ink"])
                end = max(end, there)
        text = number(value, 1) if step.added is None else signed(step.added.median, 1)
        axes.annotate(
            text,
            (end, place),
            xytext=(5, 0),
            textcoords="offset points",
            va="center",
            fontsize=7.5,
            bbox={"facecolor": LIGHT["page"], "edgecolor": "none", "pad": 0.6},
        )
        if step.rung.shipped:
            axes.axvline(value, color=LIGHT["muted"], linewidth=0.9, linestyle="--", zorder=0)
        before = value
    axes.use_sticky_edges = False
    axes.margins(x=0.12)
