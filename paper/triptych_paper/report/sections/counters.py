"""Counters per packet beside the published ones: the table that all this is about."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.figure import Figure as Canvas
from matplotlib.patches import Patch

from triptych_paper import counters
from triptych_paper.counters import C2RUST_NOTE
from triptych_paper.lookup import CHECKED, RUST, UNSAFE, C, Measured, choose, find, reason
from triptych_paper.published import CYCLES_NOTE, LOADS_NOTE, PROCESSOR_NOTE
from triptych_paper.published import Figure as Known
from triptych_paper.records import USUAL
from triptych_paper.report.cells import METRICS, Metric, number, record, repeats, source_cell, value_cell
from triptych_paper.report.figures import LIGHT, colour
from triptych_paper.report.model import Cell, Column, Data, Figure, Record, Section, Table

DRIVERS = (C, RUST, CHECKED, UNSAFE)
SHOWN = (
    *("cycles", "instructions", "ipc", "branches", "branch_misses", "stores", "loads"),
    *("l1_hits", "l2_hits", "l3_hits", "l3_misses"),
)
PLOTTED = ("cycles", "instructions", "branches", "branch_misses", "stores", "loads")


def build(data: Data) -> Section:
    """A table and a figure for each published batch size."""
    there = [batch for batch in counters.shown(data.run) if batch in counters.BATCHES]
    if not there:
        return Section(
            "counters",
            "Counters per packet",
            missing=("Neither batch 32 nor batch 8, which were published, was part of this run.",),
        )
    text = (
        "Each packet's share of what the processor did while it forwarded, for each driver, beside the published "
        "figure of its counterpart. The published ones were counted by hardware on a Xeon at 1.6 GHz with real cards.",
        "Cycles of different backends and machines do not compare: look at the drivers beside each other, not at the "
        "distance to the paper.",
    )
    return Section(
        "counters",
        "Counters per packet",
        text,
        tuple(_table(data, batch) for batch in there),
        tuple(_figure(data, batch) for batch in there),
    )


def _table(data: Data, batch: int) -> Table:
    rows, records = [], []
    for name in SHOWN:
        metric = METRICS[name]
        backend = choose(data.run, name, DRIVERS, USUAL)
        values = [find(data.run, driver, batch, name, backend) for driver in DRIVERS]
        cells = []
        for driver, value in zip(DRIVERS, values, strict=True):
            known = data.published.get(name, driver.impl, driver.variant, batch)
            missing = "" if value else reason(data.run, driver, batch, name, backend)
            cells.append(_cell(metric, value, known, missing, name == "loads" and driver == C and batch == 8))
            records.append(_record(record(driver, batch, name, value, missing=missing), value, known))
        counts = repeats(value.summary.count for value in values if value)
        notes = (CYCLES_NOTE,) if name == "cycles" and batch == 32 else ()
        label = Cell(metric.label, (metric.unit,), notes)
        rows.append((label, *cells, source_cell(data.run, metric, values), Cell(counts)))
    columns = (
        Column("per packet", numeric=False, notes=(PROCESSOR_NOTE,)),
        *(Column(driver.name) for driver in DRIVERS),
        Column("counted by", numeric=False),
        Column("repeats"),
    )
    note = (
        "Median; below it the 10th to 90th percentile where there are several repeats, then the published value and, "
        "after the ×, measured by published."
    )
    return Table(
        f"counters-batch-{batch}", f"Counters per packet, batch {batch}", columns, tuple(rows), tuple(records), note
    )


def _record(row: Record, value: Measured | None, known: Known | None) -> Record:
    ratio = value.summary.median / known.value if value and known and known.value else None
    return {**row, "published": known.text if known else None, "ratio_to_published": ratio}


def _cell(metric: Metric, value: Measured | None, known: Known | None, missing: str, typing_error: bool) -> Cell:
    detail: Sequence[str] = ()
    notes: tuple[str, ...] = ()
    if known:
        factor = f" × {value.summary.median / known.value:.2f}" if value and known.value else ""
        detail = (f"paper {known.text}{factor}",)
        if known.batch_unknown:
            notes += (C2RUST_NOTE,)
        if typing_error:
            notes += (LOADS_NOTE,)
    cell = value_cell(value, lambda v: number(v, metric.digits), missing, detail)
    return Cell(cell.text, cell.detail, (*cell.notes, *notes))


def _figure(data: Data, batch: int) -> Figure:
    backends = {name: choose(data.run, name, DRIVERS, USUAL) for name in PLOTTED}

    def draw(canvas: Canvas) -> None:
        for axes, name in zip(canvas.subplots(2, 3).flat, PLOTTED, strict=True):
            axes.set_title(METRICS[name].label)
            for place, driver in enumerate(DRIVERS):
                value = find(data.run, driver, batch, name, backends[name])
                known = data.published.get(name, driver.impl, driver.variant, batch)
                if known:
                    dashed = (0, (3, 2))
                    axes.bar(place, known.value, 0.88, facecolor="none", edgecolor=LIGHT["ink"], linestyle=dashed)
                if value is None:
                    axes.text(place, 0, "–", ha="center", va="bottom", color=LIGHT["muted"])
                    continue
                summary = value.summary
                axes.bar(place, summary.median, 0.6, color=colour(driver))
                if summary.count > 1:
                    error = [[summary.median - summary.low], [summary.high - summary.median]]
                    axes.errorbar(place, summary.median, yerr=error, color=LIGHT["ink"], linewidth=1, capsize=2)
            axes.set_xticks([])
            axes.grid(visible=False, axis="x")
            axes.margins(x=0.04)
        patches = [Patch(color=colour(driver), label=driver.name) for driver in DRIVERS]
        patches.append(Patch(facecolor="none", edgecolor=LIGHT["ink"], linestyle=(0, (3, 2)), label="published"))
        canvas.legend(handles=patches, loc="outside lower center", ncols=5, columnspacing=1.2, handlelength=1.4)

    sources = list(dict.fromkeys(_source(data, batch, name, backends[name]) for name in PLOTTED))
    named = "; ".join(
        f"{', '.join(METRICS[name].label for name in PLOTTED if _source(data, batch, name, backends[name]) == source)} "
        f"by {source}"
        for source in sources
    )
    return Figure(
        f"counters-batch-{batch}",
        f"Counters per packet at batch {batch}",
        f"Full bars: measured ({named}). Dashed: published (transpiled C: without batch size). Whiskers: 10th to 90th "
        "percentile.",
        draw,
        (6.4, 4.2),
    )


def _source(data: Data, batch: int, name: str, backend: str) -> str:
    values = [find(data.run, driver, batch, name, backend) for driver in DRIVERS]
    there = [value for value in values if value]
    if not there:
        return "nothing (not measured)"
    count = repeats(value.summary.count for value in there)
    return f"{there[0].source}, {count} {'repeat' if count == '1' else 'repeats'}"
