"""Throughput in the main tables: by the model in virtual time, or by whole processes whose batches are full."""

from __future__ import annotations

from dataclasses import dataclass

from triptych_paper.drivers import DRIVERS, Driver
from triptych_paper.facts import card
from triptych_paper.lookup import find, has_model
from triptych_paper.published import CLOCKS, LANGUAGES, Figure, Published
from triptych_paper.quantities import REAL_CARD
from triptych_paper.records import Run
from triptych_paper.schema import MODEL, TSC_CYCLES, Source, source

FULL = 0.9
"""Share of full batches below which the card or its load sets the pace, and not the driver."""


@dataclass(frozen=True)
class Whole:
    """A row of whole processes."""

    source: Source
    label: str
    scale: float = 1.0
    """The factor of the shown value."""

    def figure(self, published: Published, driver: Driver, batch: int) -> Figure | None:
        """Return the published counterpart of a modelled throughput; None without one."""
        if self.source.backend != MODEL or driver not in LANGUAGES or self.source.clock_ghz is None:
            return None
        curve = published.throughput.get((f"{self.source.clock_ghz:g} GHz", LANGUAGES[driver]), {})
        return Figure(curve[batch], f"{curve[batch]:.3g}") if batch in curve else None


BY_WALL = (
    Whole(source("mpps", "wall"), "throughput, Mpps"),
    Whole(source(TSC_CYCLES, "wall"), "TSC cycles, whole process"),
    Whole(source("full_batch_ratio", "wall"), "full batches, %", 100.0),
)
"""Rows of whole processes that the backend wall measured."""


def shown(run: Run, batch: int) -> tuple[Whole, ...]:
    """Return the rows of a table: virtual time unless a real card measured, and whole processes with full batches."""
    by_wall = () if left_out(run, batch) else BY_WALL
    if card(run) == REAL_CARD or not has_model(run):
        return by_wall
    return (*modelled(run), *by_wall)


def modelled(run: Run) -> tuple[Whole, ...]:
    """Return a row for each published clock at which the run modelled throughput."""
    samples = run.samples
    found = samples[(samples["backend"] == MODEL) & (samples["metric"] == "mpps")]
    clocks = sorted({float(clock) for clock in found["clock_ghz"].dropna()})
    wanted = [float(clock.split()[0]) for clock in CLOCKS]
    return tuple(
        Whole(source("mpps", MODEL, clock_ghz=clock), f"throughput at {clock:g} GHz, Mpps")
        for clock in clocks
        if clock in wanted
    )


def left_out(run: Run, batch: int) -> str:
    """Say why a table leaves whole processes out; empty if it shows them, or if nothing measured them.

    The text has no measured share, so that two runs on one machine print the same table.
    """
    shares = source("full_batch_ratio", "wall")
    full = [value.summary.median for driver in DRIVERS if (value := find(run, driver, batch, shares))]
    if not full or min(full) >= FULL:
        return ""
    return (
        f"Throughput of whole processes (wall) is left out: fewer than {100 * FULL:.0f} % of the batches were full, so "
        "the software card set the pace."
    )
