"""Throughput against batch size, beside the published curves."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas

from triptych_paper.drivers import CHECKED, DRIVERS, RUST, UPSTREAM, C, Driver, by_own_flags, upstream
from triptych_paper.facts import card
from triptych_paper.lookup import find, ratio
from triptych_paper.published import CLOCKS, SHARE_NOTE
from triptych_paper.quantities import REAL_CARD
from triptych_paper.report.comparisons import Point, PublishedColumn, parameter_table
from triptych_paper.report.figures import LIGHT, colour, log2_axis, marker, measured_line, published_style
from triptych_paper.report.model import Data, Figure, Section
from triptych_paper.schema import MODEL, Source, source
from triptych_paper.statistics import Summary
from triptych_paper.tables.model import Table
from triptych_paper.tables.numbers import repeats
from triptych_paper.throughput import FULL, modelled

PUBLISHED = ((C, "C"), (RUST, "Rust"))
POWERS = (1, 2, 4, 8, 16, 32, 64, 128, 256)

LINE_RATE = 29.76
"""Mpps of two 10 Gbit/s ports with the smallest frames."""

HOLLOW = (
    "Hollow markers: fewer than nine in ten batches were full, so the card or its load set the pace, and the value "
    "says little about the driver."
)
VIRTUAL = (
    "Virtual time: the modelled cycles of each turn, at the named clock, in a queueing simulation with both ports at "
    "line rate. Nothing of it depends on this machine."
)
UPSTREAM_ALPHA = 0.45
"""Opacity of the lines of the paper's own drivers."""

TITLE = "Throughput and batch size"

WALL = source("mpps", "wall")


def build(data: Data) -> Section:
    """Build the tables, the curves, and the share of C's throughput."""
    text = [
        "Forwarded packets per second, both directions together, with the smallest frames at saturation. The published "
        "curves are of one core with two 10 Gbit/s cards, whose line rate is 29.76 Mpps. If nearly 100 % of the "
        "batches are full, the driver limits the throughput; otherwise it waits for packets.",
        SHARE_NOTE,
    ]
    virtual = _virtual(data)
    by_wall = _batches(data, WALL, (*DRIVERS, CHECKED))
    if not by_wall and not virtual:
        missing = "Not measured: this run did not use the backend wall. The figure shows the published curves."
        return Section("throughput", TITLE, tuple(text), figures=(_published_curves(data),), missing=(missing,))
    tables = [_table(data, origin) for origin in virtual]
    if by_wall:
        tables.append(_table(data, WALL))
    if virtual:
        text.append(f"{VIRTUAL} The figures show it in place of whole processes, whose pace the software card sets.")
        return Section("throughput", TITLE, tuple(text), tuple(tables), (_virtual_curves(data), _virtual_share(data)))
    return Section("throughput", TITLE, tuple(text), tuple(tables), (_curves(data), _share(data)))


def _virtual(data: Data) -> list[Source]:
    """Return the modelled throughput at each published clock, unless a real card measured it."""
    return [] if card(data.run) == REAL_CARD else [whole.source for whole in modelled(data.run)]


def _table(data: Data, origin: Source) -> Table:
    """Build the table of one source of throughput, beside the published curves."""

    def full(driver: Driver, point: Point) -> str:
        shares = source("full_batch_ratio", origin.backend, origin.cpu, origin.clock_ghz)
        value = find(data.run, driver, point.batch, shares)
        return "" if value is None else f"{100 * value.summary.median:.0f} % full"

    def curve(clock: str, language: str) -> Callable[[Point], float | None]:
        return lambda point: data.published.throughput[clock, language].get(point.batch)

    by_model = origin.backend == MODEL
    clocks = [clock for clock in CLOCKS if not by_model or clock == f"{origin.clock_ghz:g} GHz"]
    drivers = [*DRIVERS, CHECKED] if _batches(data, origin, (CHECKED,)) else list(DRIVERS)
    if by_model:
        # Their published counterparts stand in the same table.
        theirs = [_upstream(data, driver, origin) for driver in DRIVERS]
        drivers += [driver for driver in theirs if driver]
    return parameter_table(
        data,
        f"throughput-modelled-{origin.clock_ghz:g}ghz" if by_model else "throughput-batches",
        f"Throughput against batch size, {origin.name}" if by_model else "Throughput against batch size",
        "batch",
        "mpps",
        drivers,
        [Point(str(batch), batch) for batch in _batches(data, origin, drivers)],
        [
            PublishedColumn(f"{language}, {clock}", curve(clock, language))
            for clock in clocks
            for _, language in PUBLISHED
        ],
        full,
        origin,
    )


def _batches(data: Data, origin: Source, drivers: Sequence[Driver] = DRIVERS) -> list[int]:
    """Return the batch sizes at which a source gave the throughput of one of the drivers."""
    present = sorted({int(batch) for batch in data.run.samples["batch"]})
    return [batch for batch in present if any(find(data.run, driver, batch, origin) for driver in drivers)]


def _upstream(data: Data, driver: Driver, origin: Source) -> Driver | None:
    """Return the paper's own driver as its own build files or else our flags build it; None if the run lacks it."""
    if driver.impl not in UPSTREAM:
        return None
    same = upstream(driver)
    return next((theirs for theirs in (by_own_flags(same), same) if _batches(data, origin, (theirs,))), None)


def _points(data: Data, driver: Driver, origin: Source = WALL) -> list[tuple[int, Summary]]:
    return [
        (batch, value.summary)
        for batch in _batches(data, origin, (driver,))
        if (value := find(data.run, driver, batch, origin))
    ]


def _published_lines(data: Data, axes: Axes, clock: str) -> None:
    """Draw the published curves of a clock, and the line rate."""
    for driver, language in PUBLISHED:
        curve = data.published.throughput[clock, language]
        label = f"{driver.name}, published"
        axes.plot(list(curve), list(curve.values()), label=label, **published_style(driver))
    axes.axhline(LINE_RATE, color=LIGHT["muted"], linewidth=0.8, linestyle=":")
    axes.set_ylim(0, 32)


def _batch_axes(panels: Sequence[Axes]) -> None:
    for axes in panels:
        log2_axis(axes, (1, 4, 16, 64, 256), "batch")
        axes.set_xlim(0.8, 320)
    panels[0].set_ylabel("Mpps")


def _panels(canvas: Canvas, sources: Sequence[Source]) -> list[Axes]:
    """Place a panel for each clock side by side."""
    panels = list(canvas.subplots(1, len(sources), squeeze=False, sharey=True)[0])
    for axes, origin in zip(panels, sources, strict=True):
        axes.set_title(origin.name)
    return panels


def _legend(canvas: Canvas, panels: Sequence[Axes], columns: int) -> None:
    handles, labels = panels[0].get_legend_handles_labels()
    canvas.legend(handles, labels, loc="outside lower center", ncols=columns)


def _virtual_curves(data: Data) -> Figure:
    """Draw a panel for each clock: the modelled drivers, ours and the paper's own, and the published curves."""
    sources = _virtual(data)

    def draw(canvas: Canvas) -> None:
        panels = _panels(canvas, sources)
        for axes, origin in zip(panels, sources, strict=True):
            for driver in DRIVERS:
                measured_line(axes, driver, _points(data, driver, origin))
                theirs = _upstream(data, driver, origin)
                if theirs:
                    points = [(batch, summary.median) for batch, summary in _points(data, theirs, origin)]
                    style: dict[str, Any] = {
                        "color": colour(driver),
                        "marker": marker(driver),
                        "alpha": UPSTREAM_ALPHA,
                    }
                    axes.plot(*zip(*points, strict=True), label=Driver(theirs.impl).name, **style)
            _published_lines(data, axes, f"{origin.clock_ghz:g} GHz")
        _batch_axes(panels)
        _legend(canvas, panels, 4)

    caption = (
        "Solid lines: modelled drivers of this run, in virtual time. Pale lines: the paper's own drivers, modelled. "
        "Dashed lines: published values. Dotted line: line rate of two ports."
    )
    return Figure("throughput-batches", "Throughput against batch size", caption, draw, (6.8, 3.9))


def _virtual_share(data: Data) -> Figure:
    """Draw the share of C's throughput by clock: the modelled drivers and the published one."""
    sources = _virtual(data)

    def draw(canvas: Canvas) -> None:
        panels = _panels(canvas, sources)
        for axes, origin in zip(panels, sources, strict=True):
            axes.axhline(100, color=colour(C), linewidth=1.2)
            both, shares = _published_share(data, f"{origin.clock_ghz:g} GHz")
            axes.plot(both, shares, label="safe Rust, published", **published_style(None, "--", RUST))
            base = _upstream(data, C, origin)
            for driver in DRIVERS[1:]:
                theirs = _upstream(data, driver, origin)
                style = {"color": colour(driver), "marker": marker(driver)}
                if theirs and base:
                    name = f"{Driver(theirs.impl).name} ÷ {Driver(base.impl).name}"
                    _share_line(data, axes, theirs, base, origin, name, alpha=UPSTREAM_ALPHA, **style)
                _share_line(data, axes, driver, C, origin, driver.name, **style)
        _batch_axes(panels)
        panels[0].set_ylabel("% of C's throughput")
        _legend(canvas, panels, 3)

    caption = (
        "Solid lines: our drivers, and pale lines: the paper's own, both modelled, in virtual time. Dashed lines: "
        "published values. Where both drivers reach line rate, their ratio is 100 %."
    )
    return Figure("throughput-share", "Throughput as a share of C's", caption, draw, (6.8, 3.7))


def _share_line(data: Data, axes: Axes, driver: Driver, base: Driver, origin: Source, name: str, **style: Any) -> None:
    points = [
        (batch, 100 * share.median)
        for batch in _batches(data, origin, (driver,))
        if (share := ratio(data.run, driver, base, batch, origin))
    ]
    if points:
        axes.plot(*zip(*points, strict=True), label=name, **style)


def _published_share(data: Data, clock: str) -> tuple[list[int], list[float]]:
    """Return the batch sizes of a published clock, and the share of Rust in C's throughput, in percent."""
    base, rust = (data.published.throughput[clock, language] for language in ("C", "Rust"))
    both = [batch for batch in base if batch in rust]
    return both, [100 * rust[batch] / base[batch] for batch in both]


def _published_curves(data: Data) -> Figure:
    """Draw the published curves alone."""

    def draw(canvas: Canvas) -> None:
        panels = list(canvas.subplots(1, len(CLOCKS)))
        for axes, clock in zip(panels, CLOCKS, strict=True):
            axes.set_title(f"published, {clock}")
            _published_lines(data, axes, clock)
        _batch_axes(panels)
        panels[-1].legend(loc="lower right")

    caption = "Dashed lines: published values. Dotted line: line rate of two ports."
    return Figure("throughput-batches", "Throughput against batch size", caption, draw, (6.8, 3.2))


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
    """Draw the throughput of whole processes, and the published curves."""

    def draw(canvas: Canvas) -> None:
        panels = list(canvas.subplots(1, 1 + len(CLOCKS)))
        panels[0].set_title("measured here")
        for driver in DRIVERS:
            points = _points(data, driver)
            measured_line(panels[0], driver, points)
            _hollow(data, panels[0], driver, [(batch, summary.median) for batch, summary in points])
        panels[0].set_ylim(bottom=0)
        panels[0].legend(loc="lower right")
        for axes, clock in zip(panels[1:], CLOCKS, strict=True):
            axes.set_title(f"published, {clock}")
            _published_lines(data, axes, clock)
        _batch_axes(panels)
        panels[-1].legend(loc="lower right")

    caption = (
        f"Left: medians of this run (wall), with bands from the 10th to the 90th percentile. {_repeats(data)} {HOLLOW} "
        "Dashed lines: published values. Dotted line: line rate of two ports. The scales differ."
    )
    return Figure("throughput-batches", "Throughput against batch size", caption, draw, (6.8, 3.2))


def _share(data: Data) -> Figure:
    def draw(canvas: Canvas) -> None:
        axes = canvas.subplots()
        axes.axhline(100, color=colour(C), linewidth=1.2)
        for clock, dash in zip(CLOCKS, ("--", ":"), strict=True):
            both, shares = _published_share(data, clock)
            axes.plot(both, shares, label=f"safe Rust, published, {clock}", **published_style(None, dash, RUST))
        for driver in DRIVERS[1:]:
            points = [
                (batch, share)
                for batch in _batches(data, WALL, (driver,))
                if (share := ratio(data.run, driver, C, batch, WALL))
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
