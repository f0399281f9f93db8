"""Throughput against batch size, with the published curves."""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas

from triptych_paper.lookup import C, CHECKED, DRIVERS, RUST, Driver, batches, find, ratio
from triptych_paper.published import CLOCKS, SHARE_NOTE
from triptych_paper.report.cells import Point, sweep
from triptych_paper.report.figures import LIGHT, colour, log2_axis, marker
from triptych_paper.report.model import Data, Figure, Section

PUBLISHED = ((C, "C"), (RUST, "Rust"))
POWERS = (1, 2, 4, 8, 16, 32, 64, 128, 256)


def build(data: Data) -> Section:
    """A table, the curves, and the share of C's throughput."""
    there = batches(data.run, "mpps")
    text = (
        "Packets forwarded per second, both directions together, smallest frames, as many as the driver takes. The "
        "published curves are of one core with two 10 Gbit/s cards, whose line rate is 29.76 Mpps; a share of full "
        "batches near 100 % says that the driver was what limited the throughput, and not what feeds it.",
        SHARE_NOTE,
    )
    if not there:
        return Section("throughput", "Throughput and batch size", text, missing=(_absent(data),))

    def full(driver: Driver, point: Point) -> str:
        value = find(data.run, driver, point.batch, "full_batch_ratio", "wall")
        return "" if value is None else f"{100 * value.summary.median:.0f} % full"

    drivers = [*DRIVERS, CHECKED] if batches(data.run, "mpps", (CHECKED,)) else list(DRIVERS)
    table = sweep(
        data,
        "throughput-batches",
        "Throughput against batch size",
        "batch",
        "mpps",
        drivers,
        [Point(str(batch), batch) for batch in there],
        [
            (f"{language}, {clock}", lambda point, key=(clock, language): data.published.throughput[key].get(point.batch))  # type: ignore[misc]
            for clock in CLOCKS
            for _, language in PUBLISHED
        ],
        full,
    )
    return Section("throughput", "Throughput and batch size", text, (table,), (_curves(data), _share(data)))


def _absent(data: Data) -> str:
    return "Not measured in this run: it has no throughput (backend wall)."


def _measured(data: Data, axes: Axes) -> None:
    for driver in DRIVERS:
        points = [
            (batch, value.summary)
            for batch in batches(data.run, "mpps", (driver,))
            if (value := find(data.run, driver, batch, "mpps", "wall"))
        ]
        if points:
            x = [batch for batch, _ in points]
            axes.plot(x, [summary.median for _, summary in points], color=colour(driver), marker=marker(driver), label=driver.name)
            low, high = [summary.low for _, summary in points], [summary.high for _, summary in points]
            axes.fill_between(x, low, high, color=colour(driver), alpha=0.15, linewidth=0)
    axes.set_ylim(bottom=0)


def _curves(data: Data) -> Figure:
    def draw(canvas: Canvas) -> None:
        panels = canvas.subplots(1, 3)
        panels[0].set_title("measured here")
        _measured(data, panels[0])
        for axes, clock in zip(panels[1:], CLOCKS, strict=True):
            axes.set_title(f"published, {clock}")
            for driver, language in PUBLISHED:
                curve = data.published.throughput[(clock, language)]
                style = {"color": colour(driver), "marker": marker(driver), "linestyle": "--", "markerfacecolor": LIGHT["page"]}
                axes.plot(list(curve), list(curve.values()), **style)
            axes.axhline(29.76, color=LIGHT["muted"], linewidth=0.8, linestyle=":")
            axes.set_ylim(0, 32)
        for axes in panels:
            log2_axis(axes, (1, 4, 16, 64, 256), "batch")
            axes.set_xlim(0.8, 320)
        panels[0].set_ylabel("Mpps")
        panels[0].legend(loc="lower right")

    return Figure(
        "throughput-batches",
        "Throughput against batch size",
        f"Left: medians of this run (wall), bands 10th to 90th percentile. {_repeats(data)} Middle and right: published; "
        "dotted: line rate of two ports. The scales differ.",
        draw,
        (6.8, 3.2),
    )


def _repeats(data: Data) -> str:
    counts = {
        value.summary.count
        for driver in DRIVERS
        for batch in batches(data.run, "mpps", (driver,))
        if (value := find(data.run, driver, batch, "mpps", "wall"))
    }
    if not counts:
        return ""
    return f"Repeats of each: {min(counts)}." if len(counts) == 1 else f"Repeats of each: {min(counts)} to {max(counts)}."


def _share(data: Data) -> Figure:
    def draw(canvas: Canvas) -> None:
        axes = canvas.subplots()
        axes.axhline(100, color=colour(C), linewidth=1.2)
        for clock, dash in zip(CLOCKS, ("--", ":"), strict=True):
            base, rust = (data.published.throughput[(clock, language)] for language in ("C", "Rust"))
            both = [batch for batch in base if batch in rust]
            shares = [100 * rust[batch] / base[batch] for batch in both]
            style = {"color": LIGHT["muted"], "marker": marker(RUST), "markerfacecolor": LIGHT["page"], "markersize": 4}
            axes.plot(both, shares, linestyle=dash, label=f"safe Rust, published, {clock}", **style)
        for driver in DRIVERS[1:]:
            points = [
                (batch, share)
                for batch in batches(data.run, "mpps", (driver,))
                if (share := ratio(data.run, driver, C, batch, "mpps", "wall"))
            ]
            if points:
                x = [batch for batch, _ in points]
                y = [100 * share.median for _, share in points]
                error = [
                    [100 * (share.median - share.low) for _, share in points],
                    [100 * (share.high - share.median) for _, share in points],
                ]
                style = {"color": colour(driver), "marker": marker(driver), "capsize": 2, "elinewidth": 0.9}
                axes.errorbar(x, y, yerr=error, label=f"{driver.name}, measured", **style)
        log2_axis(axes, POWERS, "batch")
        axes.set_ylabel("% of C's throughput")
        axes.legend(loc="best")

    return Figure(
        "throughput-share",
        "Throughput as a share of C's",
        f"Median ratio to C in the same round (wall), whiskers 10th to 90th percentile. {_repeats(data)}",
        draw,
    )
