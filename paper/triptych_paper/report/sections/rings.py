"""Ring sizes."""

from __future__ import annotations

from triptych_paper.conditions import RING_SIZE, Conditions
from triptych_paper.drivers import DRIVERS
from triptych_paper.lookup import choose
from triptych_paper.report.comparisons import Point, PublishedColumn, measured_sizes, parameter_table
from triptych_paper.report.model import Data, Section
from triptych_paper.schema import CYCLES
from triptych_paper.tables.model import Table, sentence

BATCH = 32


def build(data: Data) -> Section:
    """Build a table of throughput and one of cycles, if they were measured."""
    text = (
        "Descriptors per ring, the same for receive and transmit. Published for the C driver on another processor "
        "(Xeon E5-2620 v3, 1.2 GHz): sizes above 64 have no effect, because the cards keep the rings full or empty.",
    )
    tables = []
    for name in ("mpps", CYCLES):
        sizes = measured_sizes(data, name, BATCH, "ring_size", RING_SIZE)
        if len(sizes) > 1:
            tables.append(_table(data, name, sizes))
    missing = () if tables else (f"Not measured: this run has rings of {RING_SIZE} only.",)
    return Section("rings", "Ring sizes", text, tuple(tables), missing=missing)


def _table(data: Data, name: str, sizes: list[int]) -> Table:
    def published(point: Point) -> float | None:
        size = point.conditions.ring_size
        return data.published.c_rings.get((size, size))

    label = choose(data.run, name, DRIVERS).metric.label
    return parameter_table(
        data,
        f"rings-{name}",
        f"{sentence(label)} against ring size, batch {BATCH}",
        "descriptors",
        name,
        DRIVERS,
        [Point(str(size), BATCH, Conditions(ring_size=size)) for size in sizes],
        [PublishedColumn("C at 1.2 GHz", published)] if name == "mpps" else [],
    )
