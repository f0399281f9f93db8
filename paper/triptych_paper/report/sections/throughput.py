"""Throughput against batch size, beside the published curves."""

from __future__ import annotations

from collections.abc import Callable

from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas

from triptych_paper.drivers import CHECKED, DRIVERS, RUST, C, Driver
from triptych_paper.lookup import batches, find, ratio
from triptych_paper.published import CLOCKS, SHARE_NOTE
from triptych_paper.report.comparisons import Point, PublishedColumn, parameter_table
from triptych_paper.report.figures import LIGHT, colour, log2_axis, marker, measured_line, published_style
from triptych_paper.report.model import Data, Figure, Section
from triptych_paper.schema import source
from triptych_paper.statistics import Summary
from triptych_paper.tables.numbers import repeats

PUBLISHED = ((C, "C"), (RUST, "Rust"))
POWERS = (1, 2, 4, 8, 16, 32, 64, 128, 256)

LINE_RATE = 29.76
"""Mpps of two 10 Gbit/s ports with the smallest frames."""

FULL = 0.9
"""Share of full batches below which the driver often waited for packets."""

HOLLOW = (
    "Hollow markers: fewer than nine in ten batches were full, so the card or its load set the pace, and the value "
    "says little about the driver."
)
TITLE = "Throughput and batch size"


def build(data: Data) -> Section:
    """Build a table, the curves, and the share of C's throughput."""
    present = batches(data.run, "mpps")
    text = (
        "Forwarded packets per second, both directions together, with the smallest frames at saturation. The published "
        "curves are of one core with two 10 Gbit/s cards, whose line rate is 29.76 Mpps. If nearly 100 % of the "
        "batches are full, the driver limits the throughput; otherwise it waits for packets.",
        SHARE_NOTE,
    )
    if not present:
        missing = "Not measured: this run did not use the backend wall. The figure shows the published curves."
        return Section("throughput", TITLE, text, figures=(_curves(data),), missing=(missing,))

    def full(driver: Driver, point: Point) -> str:
        value = find(data.run, driver, point.batch, source("full_batch_ratio", "wall"))
        return "" if value is None else f"{100 * value.summary.median:.0f} % full"

    def curve(clock: str, language: str) -> Callable[[Point], float | None]:
        return lambda point: data.published.throughput[clock, language].get(point.batch)

    table = parameter_table(
        data,
        "throughput-batches",
        "Throughput against batch size",
        "batch",
        "mpps",
        [*DRIVERS, CHECKED] if batches(data.run, "mpps", (CHECKED,)) else DRIVERS,
        [Point(str(batch), batch) for batch in present],
        [
            PublishedColumn(f"{language}, {clock}", curve(clock, language))
            for clock in CLOCKS
            for _, language in PUBLISHED
        ],
        full,
    )
    return Section("throughput", TITLE, text, (table,), (_curves(data), _share(data)))


def _points(data: Data, driver: Driver) -> list[tuple[int, Summary]]:
    return [
        (batch, value.summary)
        for batch in batches(data.run, "mpps", (driver,))
        if (value := find(data.run, driver, batch, source("mpps", "wall")))
    ]


def _repeats(data: Data) -> str:
    counts = repeats(summary.count for driver in DRIVERS for _, summary in _points(data, driver))
    return f"Repeats: {counts}."


def _starved(data: Data, drivers: tuple[Driver, ...], batch: int) -> bool:
    """Return whether one of the drivers often waited for packets."""
    shares = [find(data.run, driver, batch, source("full_batch_ratio", "wall")) for driver in drivers]
    return any(share is not None and share.summary.median < FULL for share in shares)


def _hollow(data: Data, axes: Axes, driver: Driver, points: list[tuple[int, float]], *others: Driver) -> None:
    """Draw hollow markers where the driver, or one of the others, often waited for packets."""
    starved = [(batch, value) for batch, value in points if _starved(data, (driver, *others), batch)]
    x, y = [batch for batch, _ in starved], [value for _, value in starved]
    axes.plot(x, y, marker(driver), color=colour(driver), markerfacecolor=LIGHT["page"], zorder=4)


def _curves(data: Data) -> Figure:
    measured = bool(batches(data.run, "mpps"))

    def draw(canvas: Canvas) -> None:
        panels = list(canvas.subplots(1, 3 if measured else 2))
        if measured:
            panels[0].set_title("measured here")
            for driver in DRIVERS:
                points = _points(data, driver)
                measured_line(panels[0], driver, points)
                _hollow(data, panels[0], driver, [(batch, summary.median) for batch, summary in points])
            panels[0].set_ylim(bottom=0)
            panels[0].legend(loc="lower right")
        for axes, clock in zip(panels[-2:], CLOCKS, strict=True):
            axes.set_title(f"published, {clock}")
            for driver, language in PUBLISHED:
                curve = data.published.throughput[clock, language]
                axes.plot(list(curve), list(curve.values()), label=driver.name, **published_style(driver))
            axes.axhline(LINE_RATE, color=LIGHT["muted"], linewidth=0.8, linestyle=":")
            axes.set_ylim(0, 32)
        for axes in panels:
            log2_axis(axes, (1, 4, 16, 64, 256), "batch")
            axes.set_xlim(0.8, 320)
        panels[0].set_ylabel("Mpps")
        panels[-1].legend(loc="lower right")

    caption = "Dashed lines: published values. Dotted line: line rate of two ports."
    if measured:
        left = f"Left: medians of this run (wall), with bands from the 10th to the 90th percentile. {_repeats(data)}"
        caption = f"{left} {HOLLOW} {caption} The scales differ."
    return Figure(
        "throughput-batches",
        "Throughput against batch size",
        caption,
        draw,
        (6.8, 3.2),
    )


def _share(data: Data) -> Figure:
    def draw(canvas: Canvas) -> None:
        axes = canvas.subplots()
        axes.axhline(100, color=colour(C), linewidth=1.2)
        for clock, dash in zip(CLOCKS, ("--", ":"), strict=True):
            base, rust = (data.published.throughput[clock, language] for language in ("C", "Rust"))
            both = [batch for batch in base if batch in rust]
            shares = [100 * rust[batch] / base[batch] for batch in both]
            axes.plot(both, shares, label=f"safe Rust, published, {clock}", **published_style(None, dash, RUST))
        for driver in DRIVERS[1:]:
            points = [
                (batch, share)
                for batch in batches(data.run, "mpps", (driver,))
                if (share := ratio(data.run, driver, C, batch, source("mpps", "wall")))
            ]
            if not points:
                continue
            x, medians = [batch for batch, _ in points], [100 * share.median for _, share in points]
            axes.errorbar(
                x,
                medians,
                yerr=[
                    [100 * (share.median - share.low) for _, share in points],
                    [100 * (share.high - share.median) for _, share in points],
                ],
                label=f"{driver.name}, measured",
                color=colour(driver),
                marker=marker(driver),
                capsize=2,
                elinewidth=0.9,
            )
            _hollow(data, axes, driver, list(zip(x, medians, strict=True)), C)
        log2_axis(axes, POWERS, "batch")
        axes.set_ylabel("% of C's throughput")
        axes.legend(loc="best")

    return Figure(
        "throughput-share",
        "Throughput as a share of C's",
        "Median ratio to C in the same round (wall), with whiskers from the 10th to the 90th percentile. "
        f"{_repeats(data)} {HOLLOW}",
        draw,
    )
