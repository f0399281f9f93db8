"""What safety costs C: its own checks, beside Rust's."""

from __future__ import annotations

from matplotlib.figure import Figure as Canvas

from triptych_paper.lookup import CHECKED, RUST, C, Driver, batches, choose, find, ratio
from triptych_paper.records import USUAL
from triptych_paper.report.cells import METRICS, Pair, comparison, repeats
from triptych_paper.report.figures import LIGHT, colour
from triptych_paper.report.model import Data, Figure, Section

SANITIZED, FORTIFIED = Driver("c", "sanitized"), Driver("c", "fortified")
SHOWN = ("instructions", "branches", "loads", "cycles", "mpps")
PLOTTED = ("instructions", "cycles")


def build(data: Data) -> Section:
    """A table a batch size, and a figure."""
    text = (
        "Safe Rust checks every index. C can be made to check, too: “sanitized” is "
        "-fsanitize=bounds,signed-integer-overflow with a trap, which sees arrays whose size the compiler knows; "
        "“fortified” is -D_FORTIFY_SOURCE=3 and -fstack-protector-strong, as distributions build their packages. "
        "Neither sees a pointer into the wrong buffer or a use after free, so this is what part of the safety costs.",
    )
    hardened = [driver for driver in (SANITIZED, FORTIFIED) if _there(data, driver)]
    if not hardened:
        missing = "Not measured in this run: C's variants sanitized and fortified were not part of it."
        return Section("hardening", "The cost of C's own hardening", text, missing=(missing,))
    pairs = [Pair(C), *(Pair(driver, C) for driver in (*hardened, RUST, CHECKED) if _there(data, driver))]
    # Batch sizes at which a hardened C was measured.
    there = sorted({batch for metric in SHOWN for batch in batches(data.run, metric, hardened)})
    chosen = [batch for batch in (32, 8) if batch in there] or there[:2]
    tables = [
        comparison(data, f"hardening-batch-{batch}", f"The cost of safety, batch {batch}", pairs, SHOWN, batch)
        for batch in chosen
    ]
    drivers = [pair.driver for pair in pairs[1:]]
    return Section(
        "hardening", "The cost of C's own hardening", text, tuple(tables), (_figure(data, drivers, chosen[0]),)
    )


def _there(data: Data, driver: Driver) -> bool:
    samples = data.run.samples
    return bool(((samples["impl"] == driver.impl) & (samples["variant"] == driver.variant)).any())


def _figure(data: Data, drivers: list[Driver], batch: int) -> Figure:
    backends = {metric: choose(data.run, metric, [C, *drivers], USUAL) for metric in PLOTTED}

    def draw(canvas: Canvas) -> None:
        for axes, metric in zip(canvas.subplots(1, len(PLOTTED), sharey=True), PLOTTED, strict=True):
            axes.set_title(METRICS[metric].label)
            for place, driver in enumerate(drivers):
                change = ratio(data.run, driver, C, batch, metric, backends[metric])
                if change is None:
                    axes.text(0, place, " not measured", va="center", color=LIGHT["muted"])
                    continue
                error = [[100 * (change.median - change.low)], [100 * (change.high - change.median)]]
                axes.barh(place, 100 * (change.median - 1), 0.6, color=colour(driver))
                if change.count > 1:
                    axes.errorbar(
                        100 * (change.median - 1), place, xerr=error, color=LIGHT["ink"], linewidth=1, capsize=2
                    )
            axes.axvline(0, color=LIGHT["ink"], linewidth=0.8)
            axes.set_yticks(range(len(drivers)), [driver.name for driver in drivers])
            axes.set_ylim(len(drivers) - 0.5, -0.5)
            axes.grid(visible=False, axis="y")
            axes.set_xlabel("% more than C")
            axes.margins(x=0.08)

    values = {
        metric: [value for driver in drivers if (value := find(data.run, driver, batch, metric, backends[metric]))]
        for metric in PLOTTED
    }
    sources = "; ".join(
        f"{METRICS[metric].label} by {backends[metric]}, repeats: {repeats(v.summary.count for v in values[metric])}"
        for metric in PLOTTED
    )
    return Figure(
        "hardening",
        f"What safety costs, batch {batch}",
        f"Change against C as it is usually built, in the same round: median, whiskers 10th to 90th percentile "
        f"({sources}).",
        draw,
        (6.4, 1.2 + 0.42 * len(drivers)),
    )
