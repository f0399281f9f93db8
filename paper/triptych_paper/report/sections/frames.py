"""Frame sizes."""

from __future__ import annotations

from triptych_paper.conditions import FRAME_SIZE, Conditions
from triptych_paper.drivers import DRIVERS
from triptych_paper.lookup import choose
from triptych_paper.report.comparisons import Point, measured_sizes, parameter_table
from triptych_paper.report.model import Data, Section
from triptych_paper.schema import CYCLES
from triptych_paper.tables.model import sentence

BATCH = 32


def build(data: Data) -> Section:
    """Build a table of throughput and one of cycles, if they were measured."""
    text = (
        "Bytes of a frame, without its 4-byte checksum. A driver touches one byte of each packet, so the card bears "
        "the cost of larger frames. The published figures are for the smallest frames only.",
    )
    tables = []
    for name in ("mpps", CYCLES):
        sizes = measured_sizes(data, name, BATCH, "frame_size", FRAME_SIZE)
        if len(sizes) < 2:
            continue
        points = [Point(str(size), BATCH, Conditions(frame_size=size)) for size in sizes]
        label = choose(data.run, name, DRIVERS).metric.label
        title = f"{sentence(label)} against frame size, batch {BATCH}"
        tables.append(parameter_table(data, f"frames-{name}", title, "bytes", name, DRIVERS, points))
    missing = () if tables else ("Not measured: this run has the smallest frames only.",)
    return Section("frames", "Frame sizes", text, tuple(tables), missing=missing)
