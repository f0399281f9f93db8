"""Cycles and instructions against batch size."""

from __future__ import annotations

from matplotlib.figure import Figure as Canvas

from triptych_paper.lookup import CHECKED, DRIVERS, RUST, C, batches, choose, find
from triptych_paper.records import USUAL
from triptych_paper.report.cells import METRICS, Point, repeats, sweep
from triptych_paper.report.figures import log2_axis, measured_line, published_style
from triptych_paper.report.model import Data, Figure, Section, Table

POWERS = (1, 2, 4, 8, 16, 32, 64, 128, 256)
SHOWN = ("cycles", "instructions")


def build(data: Data) -> Section:
    """A table and a figure for each."""
    text = (
        "What is done once per batch, such as a doorbell or a look at the ring, is shared by its packets. The paper "
        "has batch 8 and 32; the raw data of the published C driver on another processor (Xeon E5-2620 v3 at 1.2 GHz) "
        "have all of them.",
    )
    tables: list[Table] = []
    figures: list[Figure] = []
    missing: list[str] = []
    for metric in SHOWN:
        there = batches(data.run, metric)
        if not there:
            missing.append(f"Not measured in this run: {METRICS[metric].label} under the usual conditions.")
            continue
        drivers = [*DRIVERS, CHECKED] if batches(data.run, metric, (CHECKED,)) else list(DRIVERS)

        def raw(point: Point, metric: str = metric) -> float | None:
            return data.published.c_counters.get(point.batch, {}).get(metric)

        tables.append(
            sweep(
                data,
                f"{metric}-batches",
                f"{METRICS[metric].label.capitalize()} per packet against batch size",
                "batch",
                metric,
                drivers,
                [Point(str(batch), batch) for batch in there],
                [("C, raw data", raw)],
            )
        )
        figures.append(_figure(data, metric))
    return Section(
        "batches", "Cycles, instructions and batch size", text, tuple(tables), tuple(figures), tuple(missing)
    )


def _figure(data: Data, metric: str) -> Figure:
    backend = choose(data.run, metric, DRIVERS, USUAL)
    lines = {
        driver: [
            (batch, value)
            for batch in batches(data.run, metric, (driver,))
            if (value := find(data.run, driver, batch, metric, backend))
        ]
        for driver in DRIVERS
    }

    def draw(canvas: Canvas) -> None:
        axes = canvas.subplots()
        for driver, points in lines.items():
            measured_line(axes, driver, [(batch, value.summary) for batch, value in points])
        raw = {batch: counters[metric] for batch, counters in data.published.c_counters.items()}
        axes.plot(list(raw), list(raw.values()), label="C, published raw data", **published_style(None, ":", C))
        for driver in (C, RUST):
            known = {batch: data.published.get(metric, driver.impl, "default", batch) for batch in (8, 32)}
            figures = {batch: figure.value for batch, figure in known.items() if figure}
            label = f"{driver.name}, published"
            axes.plot(list(figures), list(figures.values()), label=label, **published_style(driver))
        log2_axis(axes, POWERS, "batch")
        axes.set_ylim(bottom=0)
        axes.set_ylabel(METRICS[metric].unit)
        axes.legend(loc="upper right")

    values = [value for points in lines.values() for _, value in points]
    source = values[0].source if values else backend
    return Figure(
        f"{metric}-batches",
        f"{METRICS[metric].label.capitalize()} per packet against batch size",
        f"Full lines: medians of this run ({source}; repeats: {repeats(value.summary.count for value in values)}), "
        "bands 10th to 90th percentile. Dashed and dotted, hollow: published, counted by hardware.",
        draw,
        (6.4, 3.5),
    )
