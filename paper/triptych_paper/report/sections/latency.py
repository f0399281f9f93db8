"""Latency of every packet, with the published percentiles."""

from __future__ import annotations

import math

from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas
from matplotlib.ticker import NullLocator

from triptych_paper.lookup import DRIVERS, RUST, C, Driver, Measured, find, reason
from triptych_paper.published import Published
from triptych_paper.records import PERCENTILES, Conditions, latency_metric
from triptych_paper.report.cells import record, repeats, significant, value_cell
from triptych_paper.report.figures import colour, marker, plain_log_axis, published_style
from triptych_paper.report.model import Cell, Column, Data, Figure, Record, Section, Table

BATCH = 32
SHOWN = (*PERCENTILES, "max")
PUBLISHED = ((C, "c"), (RUST, "rust"))

NOTE = (
    "The software card stamps a frame when it arrives on its wire and when the other port fetches it for sending: "
    "PCIe, wires and a real card's queues are not in it. The published time runs from fibre to fibre."
)
LOSS_NOTE = "Where frames were lost, the latency is that of those which came through, with full rings before them."


def loads(data: Data) -> list[float]:
    """Offered loads at which latency was measured."""
    rows = data.run.samples[data.run.samples["metric"] == latency_metric("50")]
    return sorted({float(load) for load in rows["offered_mpps"].dropna()})


def build(data: Data) -> Section:
    """A table and a panel for each load."""
    text = (
        "Time that a packet takes through the driver at a constant load, batch 32, rings of 512. The time of every "
        "packet counts, so that the rare long ones are seen.",
        NOTE,
    )
    there = loads(data)
    published = sorted({load for load, _ in data.published.latency})
    if not there:
        missing = (
            "Not measured in this run: latency needs a constant offered load, and there was none. Below: what was "
            "published."
        )
        return Section("latency", "Latency", text, (), (_figure(data, published),), (missing,))
    tables = tuple(_table(data, load) for load in there)
    return Section("latency", "Latency", (*text, LOSS_NOTE), tables, (_figure(data, there),))


def _nearest(published: Published, load: float) -> float | None:
    """The published load within a tenth of one of ours."""
    return next((known for known in sorted({k for k, _ in published.latency}) if abs(known / load - 1) <= 0.1), None)


def _value(data: Data, driver: Driver, load: float, percentile: str) -> Measured | None:
    return find(data.run, driver, BATCH, latency_metric(percentile), "wall", Conditions(offered_mpps=load))


def _table(data: Data, load: float) -> Table:
    known = _nearest(data.published, load)
    conditions = Conditions(offered_mpps=load)
    rows, records = [], []
    for percentile in SHOWN:
        values = [_value(data, driver, load, percentile) for driver in DRIVERS]
        cells = []
        for driver, value in zip(DRIVERS, values, strict=True):
            missing = ""
            if value is None:
                some = any(_value(data, driver, load, other) for other in SHOWN)
                missing = "Too few packets for this percentile." if some else ""
                missing = missing or reason(data.run, driver, BATCH, latency_metric(percentile), "wall", conditions)
            cells.append(value_cell(value, significant, missing))
            records.append(record(driver, BATCH, latency_metric(percentile), value, conditions, missing))
        theirs = [_published(data, known, language, percentile) for _, language in PUBLISHED]
        for (driver, _), figure in zip(PUBLISHED, theirs, strict=True):
            if figure is not None:
                records.append(_published_record(driver, load, percentile, figure))
        label = "longest" if percentile == "max" else f"{percentile} %"
        counts = repeats(value.summary.count for value in values if value)
        texts = [Cell("" if figure is None else significant(figure)) for figure in theirs]
        rows.append((Cell(label), *cells, Cell(counts), *texts))
    lost = [find(data.run, driver, BATCH, "loss_ratio", "wall", conditions) for driver in DRIVERS]
    if any(lost):
        cells = [value_cell(value, lambda share: f"{100 * share:.3g} %") for value in lost]
        counts = repeats(value.summary.count for value in lost if value)
        rows.append((Cell("frames lost"), *cells, Cell(counts), *(Cell() for _ in PUBLISHED)))
        records += [
            record(driver, BATCH, "loss_ratio", value, conditions) for driver, value in zip(DRIVERS, lost, strict=True)
        ]
    columns = (
        Column("of the packets within"),
        *(Column(f"{driver.name}, µs") for driver in DRIVERS),
        Column("repeats"),
        *(Column(f"paper: {driver.name}, µs") for driver, _ in PUBLISHED),
    )
    note = (
        "Measured by wall, from the software card's time stamps: median of the repeats, below it the 10th to 90th "
        "percentile."
    )
    return Table(
        f"latency-{load:g}mpps", f"Latency at {load:g} Mpps offered", columns, tuple(rows), tuple(records), note
    )


def _published(data: Data, load: float | None, language: str, percentile: str) -> float | None:
    return None if load is None else data.published.latency.get((load, language), {}).get(percentile)


def _published_record(driver: Driver, load: float, percentile: str, figure: float) -> Record:
    return {
        "impl": f"paper: {driver.impl}",
        "batch": BATCH,
        "offered_mpps": load,
        "metric": latency_metric(percentile),
        "unit": "us",
        "published": figure,
    }


def _nines(percentile: str) -> float:
    """Place of a percentile on an axis on which each further nine takes the same room."""
    return -math.log10(1 - float(percentile) / 100)


def _figure(data: Data, shown: list[float]) -> Figure:
    def draw(canvas: Canvas) -> None:
        panels = canvas.subplots(1, len(shown), sharey=True, squeeze=False)[0]
        for axes, load in zip(panels, shown, strict=True):
            axes.set_title(f"{load:g} Mpps")
            _panel(data, axes, load)
            plain_log_axis(axes)
            axes.set_xticks([_nines(percentile) for percentile in PERCENTILES], PERCENTILES, rotation=60, fontsize=7.5)
            axes.xaxis.set_minor_locator(NullLocator())
            axes.set_xlabel("% of the packets")
        panels[0].set_ylabel("µs")
        handles, labels = panels[0].get_legend_handles_labels()
        if handles:
            canvas.legend(handles, labels, loc="outside lower center", ncols=3)

    counts = repeats(
        value.summary.count
        for driver in DRIVERS
        for load in loads(data)
        for percentile in PERCENTILES
        if (value := _value(data, driver, load, percentile))
    )
    measured = f"Full: medians of this run (wall; repeats: {counts}). " if loads(data) else ""
    return Figure(
        "latency",
        "Latency, percentiles",
        f"{measured}Dashed, hollow: published, from fibre to fibre. Each step to the right is a tenth of the packets "
        "before it.",
        draw,
        (6.8, 3.8),
    )


def _panel(data: Data, axes: Axes, load: float) -> None:
    for driver in DRIVERS:
        points = [
            (percentile, value) for percentile in PERCENTILES if (value := _value(data, driver, load, percentile))
        ]
        if points:
            x = [_nines(percentile) for percentile, _ in points]
            y = [value.summary.median for _, value in points]
            axes.plot(x, y, color=colour(driver), marker=marker(driver), label=driver.name)
    known = _nearest(data.published, load)
    for driver, language in PUBLISHED:
        figures = {p: figure for p in PERCENTILES if (figure := _published(data, known, language, p)) is not None}
        x = [_nines(percentile) for percentile in figures]
        axes.plot(x, list(figures.values()), label=f"{driver.name}, published", **published_style(driver))
