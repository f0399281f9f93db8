"""Cycles and instructions against batch size."""

from __future__ import annotations

from matplotlib.figure import Figure as Canvas

from triptych_paper.lookup import C, CHECKED, DRIVERS, RUST, batches, choose, find
from triptych_paper.records import USUAL
from triptych_paper.report.cells import METRICS, Point, repeats, sweep
from triptych_paper.report.figures import LIGHT, colour, log2_axis, marker
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
    return Section("batches", "Cycles, instructions and batch size", text, tuple(tables), tuple(figures), tuple(missing))


def _figure(data: Data, metric: str) -> Figure:
    backend = choose(data.run, metric, DRIVERS, USUAL)

    def draw(canvas: Canvas) -> None:
        axes = canvas.subplots()
        for driver in DRIVERS:
            points = [
                (batch, value.summary)
                for batch in batches(data.run, metric, (driver,))
                if (value := find(data.run, driver, batch, metric, backend))
            ]
            if points:
                x = [batch for batch, _ in points]
                axes.plot(x, [summary.median for _, summary in points], color=colour(driver), marker=marker(driver), label=driver.name)
                low, high = [summary.low for _, summary in points], [summary.high for _, summary in points]
                axes.fill_between(x, low, high, color=colour(driver), alpha=0.15, linewidth=0)
        raw = data.published.c_counters
        style = {"color": LIGHT["muted"], "marker": marker(C), "markerfacecolor": LIGHT["page"], "markersize": 4}
        axes.plot(list(raw), [counters[metric] for counters in raw.values()], linestyle=":", label="C, published raw data", **style)
        for driver, name in ((C, "C, published"), (RUST, "safe Rust, published")):
            known = [(batch, data.published.get(metric, driver.impl, "default", batch)) for batch in (8, 32)]
            style = {"color": colour(driver), "marker": marker(driver), "markerfacecolor": LIGHT["page"]}
            axes.plot([batch for batch, _ in known], [figure.value for _, figure in known if figure], linestyle="--", label=name, **style)
        log2_axis(axes, POWERS, "batch")
        axes.set_ylim(bottom=0)
        axes.set_ylabel(METRICS[metric].unit)
        axes.legend(loc="upper right")

    values = [
        value
        for driver in DRIVERS
        for batch in batches(data.run, metric, (driver,))
        if (value := find(data.run, driver, batch, metric, backend))
    ]
    count = repeats(value.summary.count for value in values)
    source = values[0].source if values else backend
    return Figure(
        f"{metric}-batches",
        f"{METRICS[metric].label.capitalize()} per packet against batch size",
        f"Full lines: medians of this run ({source}; repeats: {count}), bands 10th to 90th percentile. Dashed and "
        "dotted, hollow: published, counted by hardware.",
        draw,
        (6.4, 3.5),
    )
