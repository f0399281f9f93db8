"""Several queues."""

from __future__ import annotations

from triptych_paper.conditions import QUEUES, Conditions
from triptych_paper.drivers import DRIVERS, Driver
from triptych_paper.lookup import choose, find
from triptych_paper.report.comparisons import Point, measured_sizes, parameter_table
from triptych_paper.report.model import Data, Section
from triptych_paper.schema import CYCLES, Source, source
from triptych_paper.tables.model import Table, sentence

BATCH = 32
WALL = source("mpps", "wall")

# The queue pairs that a card may have.
THREADS = range(QUEUES, 17)


def build(data: Data) -> Section:
    """Build a table of cycles against the number of queues, if they were measured."""
    text = (
        "Queue pairs of each device. RSS divides the flows among them. Each pair can have a thread of its own, which "
        "shares nothing with the others. So the cost of a packet should not depend on their number. Each round "
        "measures one pair, as a processor belongs to one thread.",
        "The last line of a cell is the throughput of as many threads on as many processors, on paper: so many times "
        "that of one queue. It leaves out the memory, the caches and the line rate that the processors share. Each "
        "receive queue adds a pool of 2,048 buffers (4 MiB). Each pair adds two rings of 512 descriptors (16 KiB).",
        "The throughput of several threads is measured with the programs. They share the processors of the machine "
        "with the card, which has one of them. With two processors, two threads and the card take turns.",
    )
    tables = []
    sizes = measured_sizes(data, CYCLES, BATCH, "queues", QUEUES)
    cycles = choose(data.run, CYCLES, DRIVERS, Conditions(queues=max(sizes, default=QUEUES)))
    if any(_is_measured(data, cycles, size) for size in sizes if size > QUEUES):
        tables.append(_table(data, sizes, cycles))
    threads = [size for size in THREADS if _is_measured(data, WALL, size)]
    if len(threads) > 1:
        tables.append(_threads(data, threads))
    if not tables:
        return Section("queues", "Several queues", text, missing=("Not measured: this run has one queue only.",))
    return Section("queues", "Several queues", text, tuple(tables))


def _is_measured(data: Data, origin: Source, queues: int) -> bool:
    conditions = Conditions(queues=queues)
    return any(find(data.run, driver, BATCH, origin, conditions) is not None for driver in DRIVERS)


def _threads(data: Data, sizes: list[int]) -> Table:
    return parameter_table(
        data,
        "queues-mpps",
        f"Throughput of a thread for each queue pair, batch {BATCH}",
        "queue pairs",
        WALL.metric.name,
        DRIVERS,
        [Point(str(size), BATCH, Conditions(queues=size)) for size in sizes],
        origin=WALL,
    )


def _table(data: Data, sizes: list[int], cycles: Source) -> Table:
    def speed_up(driver: Driver, point: Point) -> str:
        one = find(data.run, driver, point.batch, cycles, Conditions())
        many = find(data.run, driver, point.batch, cycles, point.conditions)
        if one is None or many is None or point.conditions.queues == QUEUES:
            return ""
        return f"{point.conditions.queues * one.summary.median / many.summary.median:.1f} × on paper"

    return parameter_table(
        data,
        "queues-cycles",
        f"{sentence(cycles.metric.label)} against queues, batch {BATCH}",
        "queue pairs",
        CYCLES,
        DRIVERS,
        [Point(str(size), BATCH, Conditions(queues=size)) for size in sizes],
        extra=speed_up,
        origin=cycles,
    )
