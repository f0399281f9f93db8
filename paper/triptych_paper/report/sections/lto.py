"""Link-time optimisation on and off."""

from __future__ import annotations

from triptych_paper.lookup import DRIVERS, Driver, batches
from triptych_paper.report.cells import Pair, comparison
from triptych_paper.report.model import Data, Section

SHOWN = ("instructions", "branches", "loads", "cycles", "mpps")


def build(data: Data) -> Section:
    """A table a batch size."""
    text = (
        'All three drivers are optimised as one program each, C with -flto and Rust with lto = "fat", so that the '
        "data path is inlined alike. This is what remains without.",
    )
    pairs = []
    without = [Driver(driver.impl, "no-lto") for driver in DRIVERS]
    there = sorted({batch for metric in SHOWN for batch in batches(data.run, metric, without)})
    for driver, other in zip(DRIVERS, without, strict=True):
        if any(batches(data.run, metric, (other,)) for metric in SHOWN):
            pairs += [Pair(driver), Pair(other, driver)]
    if not pairs:
        missing = "Not measured in this run: variant no-lto was not part of it."
        return Section("lto", "Link-time optimisation", text, missing=(missing,))
    chosen = [batch for batch in (32, 8) if batch in there] or there[:2]
    tables = [
        comparison(data, f"lto-batch-{batch}", f"Link-time optimisation, batch {batch}", pairs, SHOWN, batch)
        for batch in chosen
    ]
    return Section("lto", "Link-time optimisation", text, tuple(tables))
