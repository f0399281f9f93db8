"""Interrupts beside polling."""

from __future__ import annotations

from triptych_paper.conditions import INTERRUPTS, POLL, Conditions
from triptych_paper.drivers import DRIVERS
from triptych_paper.report.comparisons import Point, parameter_table
from triptych_paper.report.model import Data, Section
from triptych_paper.schema import latency_metric, source
from triptych_paper.tables.model import Table, sentence

BATCH = 32
BACKEND = "wall"
METRICS = ("cpu_share", latency_metric("50").name, latency_metric("99").name)
"""The metrics of the tables, in their order."""


def build(data: Data) -> Section:
    """Build a table of processor time and two of latency, if they were measured with interrupts."""
    text = (
        "A driver that polls uses a whole processor, however few packets come. `ixgbe-fwd --interrupts` only polls "
        "while more than 200 packets come in a millisecond. Otherwise, after 64 turns without a packet, it sleeps "
        "until the card signals. The card signals at most every 50 µs.",
        "So the driver saves processor time at low loads, and a packet that comes meanwhile waits longer.",
    )
    samples = data.run.samples
    found = samples[(samples["waiting"] == INTERRUPTS) & (samples["metric"] == METRICS[0])]
    loads = sorted({float(load) for load in found["offered_mpps"].dropna()})
    if not loads:
        return Section("interrupts", "Interrupts", text, missing=("Not measured: in this run all drivers poll.",))
    return Section("interrupts", "Interrupts", text, tuple(_table(data, name, loads) for name in METRICS))


def _table(data: Data, name: str, loads: list[float]) -> Table:
    origin = source(name, BACKEND)
    points = [
        Point(f"{load:g} Mpps, {waiting}", BATCH, Conditions(offered_mpps=load, waiting=waiting))
        for load in loads
        for waiting in (POLL, INTERRUPTS)
    ]
    title = f"{sentence(origin.metric.label)} with and without interrupts, batch {BATCH}"
    return parameter_table(data, f"interrupts-{name}", title, "load", name, DRIVERS, points, origin=origin)
