"""Cycles and instructions against batch size."""

from __future__ import annotations

from matplotlib.figure import Figure as Canvas

from triptych_paper.conditions import DEFAULT_CONDITIONS
from triptych_paper.drivers import CHECKED, DRIVERS, RUST, C
from triptych_paper.lookup import batches, choose, find
from triptych_paper.report.comparisons import Point, PublishedColumn, parameter_table
from triptych_paper.report.figures import log2_axis, measured_line, published_style
from triptych_paper.report.model import Data, Figure, Section
from triptych_paper.schema import CORE_CYCLES, CYCLES, TSC_CYCLES
from triptych_paper.tables.model import Table, sentence
from triptych_paper.tables.numbers import repeats

POWERS = (1, 2, 4, 8, 16, 32, 64, 128, 256)
SHOWN = (CYCLES, "instructions")


def build(data: Data) -> Section:
    """Build a table and a figure for each metric."""
    text = (
        "All packets of a batch share the work that a driver does once per batch, such as a doorbell or a read of the "
        "ring. The paper has batch 8 and 32. The raw data of the published C driver on another processor (Xeon E5-2620 "
        "v3 at 1.2 GHz) have all batch sizes.",
    )
    tables: list[Table] = []
    figures: list[Figure] = []
    missing: list[str] = []
    for name in SHOWN:
        present = batches(data.run, name)
        if not present:
            missing.append(f"Not measured: {name} under the default conditions.")
            continue
        drivers = [*DRIVERS, CHECKED] if batches(data.run, name, (CHECKED,)) else list(DRIVERS)
        raw = _raw_data(data, name)
        tables.append(
            parameter_table(
                data,
                f"{name}-batches",
                _title(data, name),
                "batch",
                name,
                drivers,
                [Point(str(batch), batch) for batch in present],
                [PublishedColumn("C, raw data", lambda point, raw=raw: raw.get(point.batch))],  # type: ignore[misc]
            )
        )
        figures.append(_figure(data, name))
    return Section(
        "batches", "Cycles, instructions and batch size", text, tuple(tables), tuple(figures), tuple(missing)
    )


def _title(data: Data, name: str) -> str:
    label = choose(data.run, name, DRIVERS, DEFAULT_CONDITIONS).metric.label
    return f"{sentence(label)} per packet against batch size"


def _raw_data(data: Data, name: str) -> dict[int, float]:
    """Return the published raw data of C by batch size."""
    metric = choose(data.run, name, DRIVERS, DEFAULT_CONDITIONS).metric.name
    published = CORE_CYCLES if metric == TSC_CYCLES else metric
    return {batch: counters[published] for batch, counters in data.published.c_counters.items()}


def _figure(data: Data, name: str) -> Figure:
    source = choose(data.run, name, DRIVERS, DEFAULT_CONDITIONS)
    lines = {
        driver: [
            (batch, value)
            for batch in batches(data.run, name, (driver,))
            if (value := find(data.run, driver, batch, source))
        ]
        for driver in DRIVERS
    }

    def draw(canvas: Canvas) -> None:
        axes = canvas.subplots()
        for driver, points in lines.items():
            measured_line(axes, driver, [(batch, value.summary) for batch, value in points])
        raw = _raw_data(data, name)
        axes.plot(list(raw), list(raw.values()), label="C, published raw data", **published_style(None, ":", C))
        for driver in (C, RUST):
            known = {batch: data.published.get(source.metric.name, driver, batch) for batch in (8, 32)}
            figures = {batch: figure.value for batch, figure in known.items() if figure}
            label = f"{driver.name}, published"
            axes.plot(list(figures), list(figures.values()), label=label, **published_style(driver))
        log2_axis(axes, POWERS, "batch")
        axes.set_ylim(bottom=0)
        axes.set_ylabel(source.metric.unit)
        axes.legend(loc="upper right")

    counts = repeats(value.summary.count for points in lines.values() for _, value in points)
    return Figure(
        f"{name}-batches",
        _title(data, name),
        f"Solid lines: medians of this run ({source.name}; repeats: {counts}), with bands from the 10th to the 90th "
        "percentile. Broken lines with hollow markers: published values, counted by hardware.",
        draw,
        (6.4, 3.5),
    )
