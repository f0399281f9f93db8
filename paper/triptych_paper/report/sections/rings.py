"""Ring sizes."""

from __future__ import annotations

from triptych_paper.lookup import DRIVERS
from triptych_paper.records import RING_SIZE, Conditions
from triptych_paper.report.cells import METRICS, Point, sizes_measured, sweep
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
        sizes = sizes_measured(data, metric, BATCH, "ring_size", RING_SIZE)
        if len(sizes) > 1:
            tables.append(_table(data, metric, sizes))
    missing = () if tables else ("Not measured in this run: only rings of 512 were part of it.",)
    return Section("rings", "Ring sizes", text, tuple(tables), missing=missing)


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
