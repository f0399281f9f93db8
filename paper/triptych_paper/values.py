"""Finding a value in a run: which backend counted it, with which interval, or why it is missing."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from triptych_paper import statistics
from triptych_paper.records import Run, part
from triptych_paper.schema import (
    EXACT,
    MEMORY,
    PLACEMENTS,
    SIMULATED,
    UPSTREAM,
    USUAL,
    Conditions,
    Driver,
    metrics,
)
from triptych_paper.statistics import Summary
from triptych_paper.tables.model import ABSENT, Cell, Record
from triptych_paper.tables.numbers import interval, number

TWO_STATES = "Processes of this program were in one of two states, so both medians stand here."
COUNTERS = ("perf", "trace", "valgrind")
PER_TSC = "instructions_per_tsc_cycle"
FULL = 0.9
"""Share of full batches below which the card sets the pace of a whole process, and not the driver."""


@dataclass(frozen=True)
class Quantity:
    """What one row of a table shows: a metric, and the backends that may count it, the best first."""

    metric: str
    backends: tuple[str, ...]
    placement: str = ""
    label: str = ""
    upstream: tuple[str, ...] = ()
    """The backends of other projects' drivers, if not the same."""

    @property
    def name(self) -> str:
        """The name of the row."""
        if self.label:
            return self.label
        known = metrics()[self.metric]
        unit = (
            known.unit if known.group == "counter" else {"us": "µs", "Mpackets/s": "Mpps"}.get(known.unit, known.unit)
        )
        return known.label if unit.endswith("/packet") else f"{known.label}, {unit}"

    @property
    def digits(self) -> int:
        """The decimals of the row."""
        return 2 if self.metric == PER_TSC else metrics()[self.metric].digits


def _tsc(placement: str) -> Quantity:
    label = f"TSC cycles, {PLACEMENTS[placement]}"
    return Quantity("tsc_cycles", ("lockstep", "burst"), placement, label, ("burst",))


QUANTITIES = {
    "core_cycles": Quantity("core_cycles", ("perf",), label="core cycles"),
    **{f"tsc_{placement}": _tsc(placement) for placement in PLACEMENTS},
    "burst_memory": Quantity("tsc_cycles", ("burst",), MEMORY, "the same, all by burst"),
    "instructions": Quantity("instructions", COUNTERS),
    "ipc": Quantity("ipc", ("perf",), label="instructions per core cycle"),
    PER_TSC: Quantity(PER_TSC, ("lockstep",), MEMORY, "instructions per TSC cycle", ("burst",)),
    **{name: Quantity(name, COUNTERS) for name in ("branches", "conditional_branches", "stores", "loads")},
    **{name: Quantity(name, COUNTERS, MEMORY) for name in SIMULATED},
    "mpps": Quantity("mpps", ("wall",), label="throughput, Mpps"),
    "wall_cycles": Quantity("tsc_cycles", ("wall",), label="TSC cycles, whole process"),
    **{
        name: Quantity(name, ("wall",))
        for name, known in metrics().items()
        if known.group in ("throughput", "latency") and name != "mpps"
    },
}
"""All rows that tables have, by key."""


@dataclass(frozen=True)
class Source:
    """A quantity as one backend counts it."""

    metric: str
    backend: str
    placement: str = ""

    @property
    def kind(self) -> str:
        """How the values come about: `counted`, `simulated` or `measured`."""
        if self.backend not in EXACT:
            return "counted" if self.backend == "perf" else "measured"
        return "simulated" if self.metric in SIMULATED else "counted"


def source_of(quantity: Quantity, backend: str) -> Source:
    """Return a quantity as one backend counts it. Counts have no placement."""
    placed = backend in ("lockstep", "burst") or (backend == "trace" and quantity.metric in SIMULATED)
    return Source(quantity.metric, backend, quantity.placement if placed else "")


NOTHING = pd.DataFrame(columns=["process", "repeat", "value"])
_KEY = ["impl", "variant", "batch", "metric", "backend", *Conditions._fields]


class Values:
    """The samples of a run, by cell."""

    def __init__(self, run: Run) -> None:
        """Group the samples."""
        self.run = run
        columns = ["process", "repeat", "value", "note"]
        groups = run.samples.groupby(_KEY, sort=False)
        self._cells: dict[Any, pd.DataFrame] = {key: rows[columns] for key, rows in groups}
        self._noted = {key for key, notes in groups["note"].unique().items() if "multiplexed" in notes}
        self._known: dict[tuple[object, ...], Summary | None] = {}
        self._measured = {key[:2] + key[3:5] + key[-1:] for key in self._cells}

    def choose(self, quantity: Quantity, drivers: Iterable[Driver], upstream: bool = False) -> Source:
        """Return the best backend that has a value of at least one of the drivers, or else the last one.

        All drivers of a row get the same source, because values of two backends do not compare.
        """
        drivers = list(drivers)
        possible = [source_of(quantity, name) for name in (upstream and quantity.upstream) or quantity.backends]
        for source in possible:
            metric = "tsc_cycles" if source.metric == PER_TSC else source.metric
            if any((*driver, metric, source.backend, source.placement) in self._measured for driver in drivers):
                return source
        used = [source for source in possible if source.backend in part(self.run.info, "settings")]
        return (used or possible)[-1]

    def rows(self, driver: Driver, batch: int, source: Source, conditions: Conditions = USUAL) -> pd.DataFrame:
        """Return the samples of one cell."""
        at = conditions._replace(placement=source.placement)
        found = self._cells.get((*driver, batch, source.metric, source.backend, *at))
        return NOTHING if found is None else found

    def find(self, driver: Driver, batch: int, source: Source, conditions: Conditions = USUAL) -> Summary | None:
        """Look a value up; None if the run does not have it (:meth:`reason` says why)."""
        key = (driver, batch, source, conditions)
        if key not in self._known:
            if source.metric == PER_TSC:
                self._known[key] = self._per_tsc(driver, batch, source)
            else:
                rows = self.rows(driver, batch, source, conditions)
                self._known[key] = statistics.summarise(rows, source.backend in EXACT)
        return self._known[key]

    def _per_tsc(self, driver: Driver, batch: int, source: Source) -> Summary | None:
        """Divide the counted instructions by the measured cycles of the time-stamp counter."""
        counted = self.find(driver, batch, self.choose(QUANTITIES["instructions"], [driver]))
        cycles = self.find(driver, batch, Source("tsc_cycles", source.backend, source.placement))
        return cycles.changed(lambda value: counted.median / value) if counted and cycles else None

    def ratio(
        self, driver: Driver, base: Driver, batch: int, source: Source, conditions: Conditions = USUAL
    ) -> Summary | None:
        """Divide one driver's value by another's in the same round; None if one is missing or zero."""
        return self.combined(driver, (base, batch), batch, source, statistics.ratio, conditions)

    def combined(
        self,
        driver: Driver,
        base: tuple[Driver, int],
        batch: int,
        source: Source,
        operator: statistics.Operator,
        conditions: Conditions = USUAL,
    ) -> Summary | None:
        """Combine a value with that of a base, which is a driver and its batch size, in the same round."""
        key = (driver, base, batch, source, operator, conditions)
        if key not in self._known:
            values = self.rows(driver, batch, source, conditions), self.rows(*base, source, conditions)
            both = NOTHING if values[0].empty or values[1].empty else statistics.paired(*values, operator)
            self._known[key] = statistics.summarise(both, source.backend in EXACT)
        return self._known[key]

    def multiplexed(self, driver: Driver, batch: int, source: Source) -> bool:
        """Return whether the counter ran for a part of the time only, so that its value was scaled up."""
        at = Conditions(placement=source.placement)
        return (*driver, batch, source.metric, source.backend, *at) in self._noted

    def varied(self, field: str) -> list[float]:
        """Return the values of a condition in the run."""
        return sorted(self.run.samples[field].unique())

    def has(self, driver: Driver) -> bool:
        """Return whether the run measured a driver."""
        return any(key[:2] == driver for key in self._measured)

    @property
    def has_upstream(self) -> bool:
        """Return whether the run measured any of the paper's own drivers."""
        return any(key[0] in UPSTREAM.values() for key in self._measured)

    def paced_by_card(self, drivers: Iterable[Driver], batch: int) -> bool:
        """Return whether the card sets the pace of whole processes: fewer than nine of ten batches were full.

        The programs of other projects do not report it, so the answer of our drivers stands for them.
        """
        shares = [self.find(driver, batch, Source("full_batch_ratio", "wall")) for driver in drivers]
        return any(share.median < FULL for share in shares if share)

    def reason(self, driver: Driver, batch: int, source: Source, conditions: Conditions = USUAL) -> str:
        """Say why the run has no value."""
        run = self.run
        for failure in run.failures:
            where = [str(failure.get(name)) for name in ("impl", "variant", "batch", "backend")]
            if where == [*driver, str(batch), source.backend]:
                cause = textwrap.shorten(failure["cause"], 230, placeholder=" … (see run.json)")
                return f"failed: {cause}"
        if source.backend in run.not_measurable:
            return f"not measurable here: {run.not_measurable[source.backend]}"
        settings = part(run.info, "settings")
        backend = part(settings, source.backend)
        unplaced = part(backend, "not_placeable").get(source.placement)
        why = unplaced or part(backend, "not_measurable_metrics").get(source.metric)
        if why:
            return f"not measurable here by {source.backend}: {why}"
        for skipped in run.info.get("skipped_peers") or ():
            if [skipped.get("impl"), skipped.get("variant")] == list(driver):
                return f"not measured: {driver.name} was skipped: {skipped.get('reason')}"
        if source.backend not in settings:
            return f"not measured: the run did not use the backend {source.backend}"
        return "not measured: the run has no such samples" if run.ended else "not measured: the run was interrupted"

    def unlike(self, source: Source) -> str:
        """Say why a source counts something else than the published figures; empty if it counts the same."""
        if source.backend == "valgrind" and source.metric in ("branches", "branch_misses"):
            return "valgrind counts conditional and indirect branches only"
        if source.backend == "valgrind" and source.metric in SIMULATED:
            return "valgrind simulates two caches, without the lines that a card writes"
        if source.metric in ("tsc_cycles", PER_TSC):
            return "published are cycles of the core, and these are cycles of the time-stamp counter"
        timed = source.metric in ("core_cycles", "ipc", *SIMULATED) or source.backend == "wall"
        if timed and source.backend in ("perf", "wall") and self.run.card != "real card":
            return "the software card has no wires and no PCIe, and runs on the next core"
        return ""

    def origin(self, source: Source) -> str:
        """Name the backend of a row, and what it simulates."""
        if source.kind == "simulated":
            cpu = next((cpu for cpu in self.run.samples["cpu"].unique() if cpu), "")
            return f"{source.backend}, simulated caches of {cpu}" if cpu else f"{source.backend}, simulated"
        return f"{source.backend}, {self.run.card}" if source.backend in ("perf", "wall") else source.backend


def value_cell(summary: Summary | None, digits: int, missing: str = "", detail: Sequence[str] = ()) -> Cell:
    """Return a value with its interval below, or the reason for its absence. Two states stand side by side."""
    if summary is None:
        return Cell(ABSENT, tuple(detail), (missing,) if missing else ())
    between = interval(summary, digits)
    lines = [between, *detail] if between else detail
    if summary.states:
        return Cell(" or ".join(number(state, digits) for state in summary.states), tuple(lines), (TWO_STATES,))
    return Cell(number(summary.median, digits), tuple(lines))


def record(
    driver: Driver,
    batch: int,
    source: Source,
    summary: Summary | None,
    conditions: Conditions = USUAL,
    missing: str = "",
) -> Record:
    """Return a value as a row of a CSV."""
    named: Record = {"impl": driver.impl, "variant": driver.variant, "batch": batch}
    named |= conditions._replace(placement=source.placement)._asdict()
    named |= {"metric": source.metric, "backend": source.backend, "kind": source.kind}
    if summary is None:
        return {**named, "value": None, "note": missing}
    spread = {} if summary.exact else {"low": summary.low, "high": summary.high, "p10": summary.p10, "p90": summary.p90}
    unit = metrics()[source.metric].unit if source.metric in metrics() else "instructions/tsc cycle"
    states = "two states" if summary.states else ""
    counts = {"repeats": summary.count, "processes": summary.processes}
    return {**named, "value": summary.median, **spread, "unit": unit, **counts, "note": states}
