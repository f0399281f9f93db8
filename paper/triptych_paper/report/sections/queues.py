"""Several queues."""

from __future__ import annotations

from triptych_paper.conditions import QUEUES, Conditions
from triptych_paper.drivers import DRIVERS, Driver
from triptych_paper.lookup import choose, find
from triptych_paper.report.comparisons import Point, measured_sizes, parameter_table
from triptych_paper.report.model import Data, Section
from triptych_paper.schema import CYCLES
from triptych_paper.tables.model import Table, sentence

BATCH = 32


def build(data: Data) -> Section:
    """Build a table of cycles against the number of queues, if they were measured."""
    text = (
        "Queue pairs of each device. RSS divides the flows among them. Each pair can have a thread of its own, which "
        "shares nothing with the others. So the cost of a packet should not depend on their number. Each round "
        "measures one pair, as a processor belongs to one thread.",
        "The last line of a cell is the throughput of as many threads on as many processors, on paper: so many times "
        "that of one queue. It leaves out the memory, the caches and the line rate that the processors share. Each "
        "receive queue adds a pool of 2,048 buffers (4 MiB). Each pair adds two rings of 512 descriptors (16 KiB).",
    )
    sizes = measured_sizes(data, CYCLES, BATCH, "queues", QUEUES)
    if len(sizes) < 2:
        return Section("queues", "Several queues", text, missing=("Not measured: this run has one queue only.",))
    return Section("queues", "Several queues", text, (_table(data, sizes),))


def _table(data: Data, sizes: list[int]) -> Table:
    source = choose(data.run, CYCLES, DRIVERS, Conditions(queues=max(sizes)))

    def speed_up(driver: Driver, point: Point) -> str:
        one = find(data.run, driver, point.batch, source, Conditions())
        many = find(data.run, driver, point.batch, source, point.conditions)
        if one is None or many is None or point.conditions.queues == QUEUES:
            return ""
        return f"{point.conditions.queues * one.summary.median / many.summary.median:.1f} × on paper"

    return parameter_table(
        data,
        "queues-cycles",
        f"{sentence(source.metric.label)} against queues, batch {BATCH}",
        "queue pairs",
        CYCLES,
        DRIVERS,
        [Point(str(size), BATCH, Conditions(queues=size)) for size in sizes],
        extra=speed_up,
        origin=source,
    )
