"""Latency of every packet, beside the published percentiles."""

from __future__ import annotations

import math
from dataclasses import replace

from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas
from matplotlib.ticker import NullLocator

from triptych_paper.conditions import POLL, Conditions
from triptych_paper.drivers import DRIVERS, RUST, UPSTREAM, C, Driver, by_own_flags, upstream
from triptych_paper.lookup import Measured, choose, find, reason
from triptych_paper.published import Published
from triptych_paper.report.figures import colour, marker, plain_log_axis, published_style
from triptych_paper.report.model import Data, Figure, Section
from triptych_paper.schema import LATENCY_CLOCK, MODEL, Source, latency_metric, percentiles, source
from triptych_paper.tables.model import Cell, Column, Record, Table
from triptych_paper.tables.numbers import repeats, significant
from triptych_paper.values import record, value_cell

BATCH = 32
PANELS_ACROSS = 3
"""Panels side by side in the figure."""
PUBLISHED = ((C, "c"), (RUST, "rust"))

NOTE = (
    "The software card takes the time when a frame arrives on its wire, and when the other port fetches it for "
    "sending. PCIe, wires and a real card's queues are not included. The published time runs from fibre to fibre."
)
MODEL_NOTE = (
    "Virtual time: the modelled cycles of each turn, in a queueing simulation of both ports, from wire to wire. "
    "Interrupts of the system and statistics are not in it, so its percentiles beyond 99.9 % are too short. The "
    f"published latencies are of a Xeon E5-2620 v3 at {LATENCY_CLOCK:g} GHz."
)
UPSTREAM_ALPHA = 0.45
"""Opacity of the lines of the paper's own drivers."""

LOSS_NOTE = "Lost frames have no latency. The frames that came through had waited behind full rings."


def loads(data: Data) -> list[float]:
    """Return the offered loads at which latency was measured, or modelled in its place, Mpps."""
    samples = data.run.samples
    rows = samples[
        (samples["metric"] == latency_metric("50").name)
        & (samples["backend"] == _source(data, "50").backend)
        & (samples["waiting"] == POLL)
    ]
    return sorted({float(load) for load in rows["offered_mpps"].dropna()})


def build(data: Data) -> Section:
    """Build a table for each load, and a figure with a panel for each."""
    text = (
        "The time that a packet takes through the driver at a constant load, batch 32, with rings of 512. Every packet "
        "is timed, so that the tables include rare long delays.",
        MODEL_NOTE if _source(data, "50").backend == MODEL else NOTE,
    )
    measured = loads(data)
    published = sorted({load for load, _ in data.published.latency})
    if not measured:
        missing = (
            "Not measured: this run has no constant offered load, which latency needs. The figure shows the published "
            "values."
        )
        return Section("latency", "Latency", text, (), (_figure(data, published),), (missing,))
    tables = tuple(_table(data, load) for load in measured)
    return Section("latency", "Latency", (*text, LOSS_NOTE), tables, (_figure(data, measured),))


def _nearest(published: Published, load: float) -> float | None:
    """Return the published load that differs from one of ours by at most a tenth; None without one."""
    return next((known for known in sorted({k for k, _ in published.latency}) if abs(known / load - 1) <= 0.1), None)


def _source(data: Data, percentile: str) -> Source:
    """Return where latencies come from: the model in virtual time, or whole processes. All rows have one source."""
    best = choose(data.run, latency_metric("50").name, (*DRIVERS, *map(upstream, DRIVERS)))
    return replace(best, metric=latency_metric(percentile))


def _upstream(data: Data, driver: Driver, load: float) -> Driver | None:
    """Return the paper's own driver by its own flags or else by ours; None if the run lacks its latency."""
    if driver.impl not in UPSTREAM:
        return None
    same = upstream(driver)
    return next((theirs for theirs in (by_own_flags(same), same) if _value(data, theirs, load, "50")), None)


def _value(data: Data, driver: Driver, load: float, percentile: str) -> Measured | None:
    return find(data.run, driver, BATCH, _source(data, percentile), Conditions(offered_mpps=load))


def _shown() -> tuple[str, ...]:
    """Return the rows of a table."""
    return (*percentiles(), "max")


def _table(data: Data, load: float) -> Table:
    known = _nearest(data.published, load)
    rows, records = [], []
    for percentile in _shown():
        cells, found = _percentile_row(data, load, percentile, known)
        rows.append(cells)
        records += found
    conditions = Conditions(offered_mpps=load)
    origin = _source(data, "50")
    loss = source("loss_ratio", origin.backend, origin.cpu, origin.clock_ghz)
    lost = [find(data.run, driver, BATCH, loss, conditions) for driver in DRIVERS]
    if any(lost):
        shares = [value_cell(value, lambda share: f"{100 * share:.3g} %") for value in lost]
        counts = repeats(value.summary.count for value in lost if value)
        rows.append((Cell("frames lost"), *shares, Cell(counts), *(Cell() for _ in PUBLISHED)))
        records += [
            record(driver, BATCH, loss.metric.name, value, conditions)
            for driver, value in zip(DRIVERS, lost, strict=True)
        ]
    columns = (
        Column("of the packets within"),
        *(Column(f"{driver.name}, µs") for driver in DRIVERS),
        Column("repeats", emphasis=False),
        *(Column(f"paper: {driver.name}, µs") for driver, _ in PUBLISHED),
    )
    note = (
        f"{origin.name.capitalize()}, in virtual time."
        if origin.backend == MODEL
        else "Measured by wall, from the software card's time stamps. Each cell: the median of the repeats, and below "
        "it the 10th to 90th percentile."
    )
    return Table(
        f"latency-{load:g}mpps", f"Latency at {load:g} Mpps offered", columns, tuple(rows), tuple(records), note
    )


def _percentile_row(
    data: Data, load: float, percentile: str, known: float | None
) -> tuple[tuple[Cell, ...], list[Record]]:
    """Return the row of a percentile and its records; `known` is the published load beside it."""
    conditions, metric = Conditions(offered_mpps=load), latency_metric(percentile).name
    values = [_value(data, driver, load, percentile) for driver in DRIVERS]
    cells, records = [], []
    for driver, value in zip(DRIVERS, values, strict=True):
        missing = "" if value else _why_missing(data, driver, load, percentile)
        cells.append(value_cell(value, significant, missing))
        records.append(record(driver, BATCH, metric, value, conditions, missing))
    theirs = [_published(data, known, language, percentile) for _, language in PUBLISHED]
    for (driver, _), figure in zip(PUBLISHED, theirs, strict=True):
        if figure is not None:
            records.append(_published_record(driver, load, percentile, figure))
    label = "longest" if percentile == "max" else f"{percentile} %"
    counts = repeats(value.summary.count for value in values if value)
    texts = [Cell("" if figure is None else significant(figure)) for figure in theirs]
    return (Cell(label), *cells, Cell(counts), *texts), records


def _why_missing(data: Data, driver: Driver, load: float, percentile: str) -> str:
    if any(_value(data, driver, load, other) for other in _shown()):
        return "Too few packets for this percentile."
    return reason(data.run, driver, BATCH, _source(data, percentile), Conditions(offered_mpps=load))


def _published(data: Data, load: float | None, language: str, percentile: str) -> float | None:
    return None if load is None else data.published.latency.get((load, language), {}).get(percentile)


def _published_record(driver: Driver, load: float, percentile: str, figure: float) -> Record:
    return {
        "impl": f"paper: {driver.impl}",
        "batch": BATCH,
        "offered_mpps": load,
        "metric": latency_metric(percentile).name,
        "unit": latency_metric(percentile).unit,
        "published": figure,
    }


def _nines(percentile: str) -> float:
    """Return the place of a percentile on an axis that gives each further nine the same length."""
    return -math.log10(1 - float(percentile) / 100)


def _figure(data: Data, shown: list[float]) -> Figure:
    origin = _source(data, "50")
    by_model = origin.backend == MODEL and bool(loads(data))
    across = min(len(shown), PANELS_ACROSS)
    lines = math.ceil(len(shown) / across)

    def draw(canvas: Canvas) -> None:
        panels = list(canvas.subplots(lines, across, sharex=True, sharey=True, squeeze=False).flat)
        for axes, load in zip(panels, shown, strict=False):
            axes.set_title(f"{load:g} Mpps, modelled" if by_model else f"{load:g} Mpps")
            _panel(data, axes, load)
            plain_log_axis(axes)
            axes.set_xticks([_nines(p) for p in percentiles()], percentiles(), rotation=60, fontsize=7.5)
            axes.xaxis.set_minor_locator(NullLocator())
        for axes in panels[len(shown) :]:
            axes.set_axis_off()
        for axes in panels[-across:]:
            axes.set_xlabel("% of the packets")
        for axes in panels[::across]:
            axes.set_ylabel("µs")
        handles, labels = panels[0].get_legend_handles_labels()
        if handles:
            canvas.legend(handles, labels, loc="outside lower center", ncols=3)

    counts = repeats(
        value.summary.count
        for driver in DRIVERS
        for load in loads(data)
        for percentile in percentiles()
        if (value := _value(data, driver, load, percentile))
    )
    measured = f"Solid lines: medians of this run (wall; repeats: {counts}). " if loads(data) else ""
    if by_model:
        measured = f"Solid lines: our drivers, and pale lines: the paper's own, {origin.name}, in virtual time. "
    return Figure(
        "latency",
        "Percentiles of the latency",
        f"{measured}Dashed lines with hollow markers: published values, from fibre to fibre. Each step to the right "
        "leaves a tenth of the packets.",
        draw,
        (6.8, 1.4 + 2.4 * lines),
    )


def _upstream_line(data: Data, axes: Axes, driver: Driver, theirs: Driver, load: float) -> None:
    """Draw the paper's own driver in the colour of ours."""
    points = [(p, value) for p in percentiles() if (value := _value(data, theirs, load, p))]
    x, y = [_nines(p) for p, _ in points], [value.summary.median for _, value in points]
    name = Driver(theirs.impl).name
    axes.plot(x, y, color=colour(driver), marker=marker(driver), alpha=UPSTREAM_ALPHA, label=name)


def _panel(data: Data, axes: Axes, load: float) -> None:
    for driver in DRIVERS:
        points = [
            (percentile, value) for percentile in percentiles() if (value := _value(data, driver, load, percentile))
        ]
        if points:
            x = [_nines(percentile) for percentile, _ in points]
            y = [value.summary.median for _, value in points]
            axes.plot(x, y, color=colour(driver), marker=marker(driver), label=driver.name)
        theirs = _upstream(data, driver, load)
        if theirs:
            _upstream_line(data, axes, driver, theirs, load)
    known = _nearest(data.published, load)
    for driver, language in PUBLISHED:
        figures = {p: figure for p in percentiles() if (figure := _published(data, known, language, p)) is not None}
        x = [_nines(percentile) for percentile in figures]
        axes.plot(x, list(figures.values()), label=f"{driver.name}, published", **published_style(driver))
