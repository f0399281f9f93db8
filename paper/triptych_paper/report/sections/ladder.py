"""The cost ladder: the cost of each safety feature."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas

from triptych_paper.drivers import RUST, Driver
from triptych_paper.ladder import Beside, Rung, Step, difference, steps, total
from triptych_paper.lookup import batches, choose, find, reason
from triptych_paper.report.figures import LIGHT
from triptych_paper.report.model import Data, Figure, Section
from triptych_paper.schema import CYCLES, Source
from triptych_paper.statistics import Summary
from triptych_paper.tables.model import ABSENT, Cell, Column, Record, Table
from triptych_paper.tables.numbers import number, repeats, signed, spread
from triptych_paper.values import source_cell

TITLE = "The cost of each safety feature"
SHOWN = ("instructions", "branches", "loads", "stores", CYCLES)
WITH_VALUE = ("instructions", CYCLES)
"""Metrics whose value is shown beside the difference."""

WITH_ALONE = ("instructions",)
"""Metrics for which the table shows the cost of a feature alone."""

ALONE_NOTE = "Cost as the only difference to the shipped safe driver. Empty where that was not built."
DIGITS = 2
"""Decimals of all values here: the differences are small."""

SAME = 0.005
"""Largest relative difference between two builds of the same driver."""

Sources = dict[str, Source]
"""The source of each metric in :data:`SHOWN`."""


def build(data: Data) -> Section:
    """Build a table and a figure for each batch size."""
    text = [
        "The ladder leads from the transpiled driver to the safe one, and beyond it. Each rung is a build of its own, "
        "and differs from the rung below by one feature. Up to the shipped safe driver, a rung adds a feature that "
        "this driver has. Above it, a rung adds a feature of usual safe Rust that this driver does without.",
        "The order matters: the cost of a feature is the difference that it makes on top of those below. The compiler "
        "optimises all of them together, so it also causes small differences, even negative ones. Where possible, a "
        "feature was also removed from the shipped driver, or added to it, alone. A cost that holds in both orders is "
        "the price of the feature; any other cost is partly the compiler's. bench/ladder/README.md describes each "
        "rung and its patch.",
    ]
    rungs = data.ladder
    if not rungs:
        missing = "Not measured: this run has no ladder. `make ladder` measures one."
        return Section("ladder", TITLE, tuple(text), missing=(missing,))
    drivers = [rung.driver for rung in rungs]
    ours = [driver for driver in drivers if driver.variant != "default"]
    chosen = [batch for batch in (32, 8) if any(batch in batches(data.run, name, ours) for name in SHOWN)]
    if not chosen:
        missing = "This run measured no rung of the ladder. Its failures say why."
        return Section("ladder", TITLE, tuple(text), missing=(missing,))
    sources = {name: choose(data.run, name, drivers) for name in SHOWN}
    text += [sentence for batch in chosen if (sentence := _ends(data, rungs, batch, sources))]
    tables = [_table(data, rungs, batch, sources) for batch in chosen]
    figures = [_figure(data, rungs, batch, sources) for batch in chosen]
    return Section("ladder", TITLE, tuple(text), tuple(tables), tuple(figures))


def _shipped(rungs: tuple[Rung, ...]) -> int:
    return next(place for place, rung in enumerate(rungs) if rung.shipped)


def _ends(data: Data, rungs: tuple[Rung, ...], batch: int, sources: Sources) -> str:
    """Compare the rung that is the shipped driver with the shipped driver itself."""
    shipped = rungs[_shipped(rungs)].driver
    rung = find(data.run, shipped, batch, sources["instructions"])
    itself = find(data.run, RUST, batch, sources["instructions"])
    if not rung or not itself:
        return ""
    text = (
        f"Batch {batch}: the rung of the shipped safe driver executes {number(rung.summary.median, 2)} instructions a "
        f"packet, the driver itself {number(itself.summary.median, 2)}. The bottom rung is the shipped transpiled "
        "driver."
    )
    if abs(rung.summary.median / itself.summary.median - 1) > SAME:
        text += " These two should be equal: the ladder was built from other sources or by another compiler."
    return text


def _table(data: Data, rungs: tuple[Rung, ...], batch: int, sources: Sources) -> Table:
    found = {name: steps(data.run, rungs, batch, sources[name]) for name in SHOWN}
    rows = [_rung_row(data, rung, [found[name][place] for name in SHOWN], batch, sources)
            for place, rung in enumerate(rungs)]  # fmt: skip
    shipped, top = _shipped(rungs), len(rungs) - 1
    parts = (
        ("sum up to the shipped safe driver", 0, shipped),
        ("sum from the shipped safe driver to the top", shipped, top),
        ("sum of all", 0, top),
    )
    for title, first, last in parts:
        if first != last:
            rows.append(_sum_row(data, rungs[first : last + 1], title, batch, sources))
    rows += [_beside_row(data, beside, rungs[shipped].driver, batch, sources) for beside in data.beside]
    counted = ", ".join(f"{source.metric.label} by {source.name}" for source in sources.values())
    note = (
        "Per packet: the median, and the difference to the rung in the row above. A difference is the median of the "
        f"differences in the same round, with its 10th to 90th percentile. Counted: {counted}."
    )
    records = [_record(data, step, batch, sources[name]) for name in SHOWN for step in found[name]]
    columns = _columns(data, rungs, batch, sources)
    return Table(f"ladder-batch-{batch}", f"The cost ladder, batch {batch}", columns, tuple(rows), tuple(records), note)


def _columns(data: Data, rungs: tuple[Rung, ...], batch: int, sources: Sources) -> tuple[Column, ...]:
    columns = [Column(f"batch {batch}: each rung adds", numeric=False)]
    for name, source in sources.items():
        values = [find(data.run, rung.driver, batch, source) for rung in rungs]
        notes = source_cell(data.run, name, values).notes
        if name in WITH_VALUE:
            columns.append(Column(source.metric.label, notes=notes))
        columns.append(Column(f"± {source.metric.label}", notes=() if name in WITH_VALUE else notes))
        if name in WITH_ALONE:
            columns.append(Column("alone", notes=(ALONE_NOTE,)))
    return tuple(columns)


def _rung_row(data: Data, rung: Rung, of_rung: Sequence[Step], batch: int, sources: Sources) -> tuple[Cell, ...]:
    cells = [Cell(rung.title, ("the shipped safe driver",) if rung.shipped else ())]
    for (name, source), step in zip(sources.items(), of_rung, strict=True):
        if name in WITH_VALUE:
            cells.append(_value(data, step, batch, source))
        cells.append(_added(step.added))
        if name in WITH_ALONE:
            cells.append(_added(step.alone))
    return tuple(cells)


def _sum_row(data: Data, rungs: tuple[Rung, ...], title: str, batch: int, sources: Sources) -> tuple[Cell, ...]:
    """Sum the costs of all rungs but the first, and show the difference between last and first below."""
    cells = [Cell(title, ("and the whole difference",))]
    for name, source in sources.items():
        if name in WITH_VALUE:
            cells.append(Cell())
        added = total(steps(data.run, rungs, batch, source)[1:])
        whole = difference(data.run, rungs[-1].driver, rungs[0].driver, batch, source)
        if added is None or whole is None:
            cells.append(Cell(ABSENT))
        else:
            lines = (signed(whole.median, DIGITS), *spread(whole, lambda value: signed(value, DIGITS)))
            cells.append(Cell(signed(added, DIGITS), lines))
        if name in WITH_ALONE:
            cells.append(Cell())
    return tuple(cells)


def _beside_row(data: Data, beside: Beside, shipped: Driver, batch: int, sources: Sources) -> tuple[Cell, ...]:
    """Compare a variant with the shipped driver."""
    cells = [Cell(beside.title, ("compared with the shipped driver",))]
    for name, source in sources.items():
        added = difference(data.run, beside.driver, shipped, batch, source)
        if name in WITH_VALUE:
            found = find(data.run, beside.driver, batch, source)
            summary = found.summary if found else None
            cells.append(_measured(data, beside.driver, summary, batch, source))
        cells.append(_added(added))
        if name in WITH_ALONE:
            cells.append(_added(added))
    return tuple(cells)


def _value(data: Data, step: Step, batch: int, source: Source) -> Cell:
    return _measured(data, step.rung.driver, step.value, batch, source)


def _measured(data: Data, driver: Driver, value: Summary | None, batch: int, source: Source) -> Cell:
    if value is None:
        return Cell(ABSENT, (), (reason(data.run, driver, batch, source),))
    return Cell(number(value.median, DIGITS), spread(value, lambda value: number(value, DIGITS)))


def _added(added: Summary | None) -> Cell:
    if added is None:
        return Cell()
    return Cell(signed(added.median, DIGITS), spread(added, lambda value: signed(value, DIGITS)))


def _record(data: Data, step: Step, batch: int, source: Source) -> Record:
    value, added, driver = step.value, step.added, step.rung.driver
    return {
        "rung": step.rung.name,
        "title": step.rung.title,
        "shipped": step.rung.shipped,
        "impl": driver.impl,
        "variant": driver.variant,
        "batch": batch,
        "metric": source.metric.name,
        "value": value.median if value else None,
        "p10": value.low if value and value.count > 1 else None,
        "p90": value.high if value and value.count > 1 else None,
        "added": added.median if added else None,
        "added_p10": added.low if added and added.count > 1 else None,
        "added_p90": added.high if added and added.count > 1 else None,
        "alone": step.alone.median if step.alone else None,
        "alone_p10": step.alone.low if step.alone and step.alone.count > 1 else None,
        "alone_p90": step.alone.high if step.alone and step.alone.count > 1 else None,
        "unit": source.metric.unit,
        "backend": source.backend if value else "",
        "kind": source.kind if value else "",
        "cpu": source.cpu if value and source.modelled else "",
        "repeats": value.count if value else 0,
        "note": "" if value else reason(data.run, driver, batch, source),
    }


def _figure(data: Data, rungs: tuple[Rung, ...], batch: int, sources: Sources) -> Figure:
    found = {name: steps(data.run, rungs, batch, sources[name]) for name in WITH_VALUE}

    def draw(canvas: Canvas) -> None:
        for axes, name in zip(canvas.subplots(1, len(WITH_VALUE), sharey=True), WITH_VALUE, strict=True):
            axes.set_title(sources[name].metric.label)
            axes.set_xlabel(sources[name].metric.unit)
            _waterfall(axes, found[name], alone=name in WITH_ALONE)
            axes.set_yticks(range(len(rungs)), [rung.title for rung in rungs])
            axes.set_ylim(len(rungs) - 0.4, -0.6)
            axes.grid(visible=False, axis="y")
        for label, rung in zip(canvas.axes[0].get_yticklabels(), rungs, strict=True):
            label.set_fontweight("bold" if rung.shipped else "normal")

    counts = repeats(step.value.count for step in found[CYCLES] if step.value)
    return Figure(
        f"ladder-batch-{batch}",
        f"The cost ladder, batch {batch}",
        "The cost of each feature, from the transpiled driver downwards. The broken line marks the shipped safe "
        "driver; this driver does without the features below it. A circle marks the end of the bar for the feature as "
        f"the only difference to the shipped driver. Instructions by {sources['instructions'].backend}; cycles by "
        f"{sources[CYCLES].backend}, medians of {counts} rounds. Whiskers: 10th to 90th percentile of the difference "
        "to the rung above in the same round. The axes do not begin at 0.",
        draw,
        (7.4, 1.3 + 0.27 * len(rungs)),
    )


def _waterfall(axes: Axes, found: Sequence[Step], *, alone: bool) -> None:
    """Draw the rungs' differences one after the other, each with its number."""
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
                value_alone = before + step.alone.median
                axes.plot([value_alone], [place], "o", markersize=4.5, markerfacecolor="none", color=LIGHT["ink"])
                end = max(end, value_alone)
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
