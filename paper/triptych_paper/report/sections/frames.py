"""Frame sizes."""

from __future__ import annotations

from triptych_paper.lookup import DRIVERS
from triptych_paper.records import FRAME_SIZE, Conditions
from triptych_paper.report.cells import METRICS, Point, sizes_measured, sweep
from triptych_paper.report.model import Data, Section

BATCH = 32


def build(data: Data) -> Section:
    """A table for throughput, and one for cycles, where they were measured."""
    text = (
        "Bytes of a frame without its checksum of 4. A driver touches one byte of each packet, so what larger frames "
        "cost is moved by the card, not by the driver. Published figures are for the smallest frames only.",
    )
    tables = []
    for metric in ("mpps", "cycles"):
        sizes = sizes_measured(data, metric, BATCH, "frame_size", FRAME_SIZE)
        if len(sizes) < 2:
            continue
        points = [Point(str(size), BATCH, Conditions(frame_size=size)) for size in sizes]
        title = f"{METRICS[metric].label.capitalize()} against frame size, batch {BATCH}"
        tables.append(sweep(data, f"frames-{metric}", title, "bytes", metric, DRIVERS, points))
    missing = () if tables else ("Not measured in this run: only the smallest frames were part of it.",)
    return Section("frames", "Frame sizes", text, tuple(tables), missing=missing)
