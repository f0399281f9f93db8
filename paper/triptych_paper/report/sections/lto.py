"""Link-time optimisation on and off."""

from __future__ import annotations

from triptych_paper.drivers import DRIVERS, Driver
from triptych_paper.lookup import batches
from triptych_paper.report.comparisons import Comparison, comparison_table
from triptych_paper.report.model import Data, Section
from triptych_paper.schema import CYCLES

SHOWN = ("instructions", "branches", "loads", CYCLES, "mpps")
TITLE = "Link-time optimisation"


def build(data: Data) -> Section:
    """Build a table for each batch size."""
    text = (
        'By default the compilers optimise each driver as one program: C with -flto, and Rust with lto = "fat". Both '
        "then inline the data path alike. These tables show the drivers without it.",
    )
    comparisons = []
    without = [Driver(driver.impl, "no-lto") for driver in DRIVERS]
    present = sorted({batch for name in SHOWN for batch in batches(data.run, name, without)})
    for driver, other in zip(DRIVERS, without, strict=True):
        if any(batches(data.run, name, (other,)) for name in SHOWN):
            comparisons += [Comparison(driver), Comparison(other, driver)]
    if not comparisons:
        missing = "Not measured: this run did not include the variant no-lto."
        return Section("lto", TITLE, text, missing=(missing,))
    chosen = [batch for batch in (32, 8) if batch in present] or present[:2]
    tables = [
        comparison_table(data, f"lto-batch-{batch}", f"{TITLE}, batch {batch}", comparisons, SHOWN, batch)
        for batch in chosen
    ]
    return Section("lto", TITLE, text, tuple(tables))
