"""Ring sizes."""

from __future__ import annotations

from triptych_paper.lookup import DRIVERS
from triptych_paper.records import RING_SIZE, Conditions
from triptych_paper.report.cells import METRICS, Point, sweep
from triptych_paper.report.model import Data, Section, Table

BATCH = 32


def build(data: Data) -> Section:
    """A table for throughput, and one for cycles, where they were measured."""
    text = (
        "Descriptors per ring, receive and transmit alike. Published for the C driver on another processor (Xeon "
        "E5-2620 v3, 1.2 GHz): no effect above 64, because the cards keep the rings full or empty in any case.",
    )
    tables = []
    for metric in ("mpps", "cycles"):
        sizes = _varied(data, metric)
        if len(sizes) > 1:
            tables.append(_table(data, metric, sizes))
    missing = () if tables else ("Not measured in this run: only rings of 512 were part of it.",)
    return Section("rings", "Ring sizes", text, tuple(tables), missing=missing)


def _varied(data: Data, metric: str) -> list[int]:
    samples = data.run.samples
    rows = samples[(samples["metric"] == metric) & (samples["batch"] == BATCH) & samples["offered_mpps"].isna()]
    # Backends that only know the usual size are not what was varied.
    varied = rows[rows["backend"].isin(set(rows[rows["ring_size"] != RING_SIZE]["backend"]))]
    return sorted({int(size) for size in varied["ring_size"]})


def _table(data: Data, metric: str, sizes: list[int]) -> Table:
    def published(point: Point) -> float | None:
        size = point.conditions.ring_size
        return data.published.c_rings.get((size, size))

    return sweep(
        data,
        f"rings-{metric}",
        f"{METRICS[metric].label.capitalize()} against ring size, batch {BATCH}",
        "descriptors",
        metric,
        DRIVERS,
        [Point(str(size), BATCH, Conditions(ring_size=size)) for size in sizes],
        [("C at 1.2 GHz", published)] if metric == "mpps" else [],
    )
