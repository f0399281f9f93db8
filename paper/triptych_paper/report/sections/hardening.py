"""The cost of hardening C, beside the cost of Rust's checks."""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas

from triptych_paper.conditions import DEFAULT_CONDITIONS
from triptych_paper.drivers import CHECKED, FORTIFIED, RUST, TRAPPING_UBSAN, C, Driver
from triptych_paper.lookup import batches, choose, find, ratio
from triptych_paper.report.comparisons import Comparison, comparison_table
from triptych_paper.report.figures import LIGHT, colour
from triptych_paper.report.model import Data, Figure, Section
from triptych_paper.schema import CYCLES, Source
from triptych_paper.tables.numbers import repeats

SHOWN = ("instructions", "branches", "loads", CYCLES, "mpps")
PLOTTED = ("instructions", CYCLES)
TITLE = "The cost of hardening C"


def build(data: Data) -> Section:
    """Build a table for each batch size, and a figure."""
    text = (
        "Safe Rust checks every index. Compilers can add checks to C, too. “Trapping UBSan” is "
        "-fsanitize=bounds,signed-integer-overflow with a trap: it checks arrays whose size the compiler knows. "
        "“Fortified” is -D_FORTIFY_SOURCE=3 and -fstack-protector-strong, the options of distribution packages. "
        "Neither detects a pointer into the wrong buffer or a use after free, so they buy only a part of Rust's "
        "safety.",
    )
    hardened = [driver for driver in (TRAPPING_UBSAN, FORTIFIED) if _measured(data, driver)]
    if not hardened:
        missing = "Not measured: this run did not include C's variants trapping-ubsan and fortified."
        return Section("hardening", TITLE, text, missing=(missing,))
    compared = [driver for driver in (*hardened, RUST, CHECKED) if _measured(data, driver)]
    comparisons = [Comparison(C), *(Comparison(driver, C) for driver in compared)]
    present = sorted({batch for name in SHOWN for batch in batches(data.run, name, hardened)})
    chosen = [batch for batch in (32, 8) if batch in present] or present[:2]
    tables = [
        comparison_table(
            data, f"hardening-batch-{batch}", f"The cost of safety, batch {batch}", comparisons, SHOWN, batch
        )
        for batch in chosen
    ]
    return Section("hardening", TITLE, text, tuple(tables), (_figure(data, compared, chosen[0]),))


def _measured(data: Data, driver: Driver) -> bool:
    samples = data.run.samples
    return bool(((samples["impl"] == driver.impl) & (samples["variant"] == driver.variant)).any())


def _figure(data: Data, drivers: list[Driver], batch: int) -> Figure:
    chosen = [choose(data.run, name, [C, *drivers], DEFAULT_CONDITIONS) for name in PLOTTED]

    def draw(canvas: Canvas) -> None:
        for axes, source in zip(canvas.subplots(1, len(chosen), sharey=True), chosen, strict=True):
            _changes(data, axes, drivers, batch, source)

    def origin(source: Source) -> str:
        values = [find(data.run, driver, batch, source) for driver in drivers]
        counts = repeats(value.summary.count for value in values if value)
        return f"{source.metric.label} by {source.backend}, repeats: {counts}"

    return Figure(
        "hardening",
        f"The cost of safety, batch {batch}",
        "Change against C, built by default, in the same round: the median, with whiskers from the 10th to the 90th "
        f"percentile ({'; '.join(map(origin, chosen))}).",
        draw,
        (6.4, 1.2 + 0.42 * len(drivers)),
    )


def _changes(data: Data, axes: Axes, drivers: list[Driver], batch: int, source: Source) -> None:
    axes.set_title(source.metric.label)
    for place, driver in enumerate(drivers):
        change = ratio(data.run, driver, C, batch, source)
        if change is None:
            axes.text(0, place, " not measured", va="center", color=LIGHT["muted"])
            continue
        percent = 100 * (change.median - 1)
        axes.barh(place, percent, 0.6, color=colour(driver))
        if change.count > 1:
            error = [[100 * (change.median - change.low)], [100 * (change.high - change.median)]]
            axes.errorbar(percent, place, xerr=error, color=LIGHT["ink"], linewidth=1, capsize=2)
    axes.axvline(0, color=LIGHT["ink"], linewidth=0.8)
    axes.set_yticks(range(len(drivers)), [driver.name for driver in drivers])
    axes.set_ylim(len(drivers) - 0.5, -0.5)
    axes.grid(visible=False, axis="y")
    axes.set_xlabel("% more than C")
    axes.margins(x=0.08)
