"""The table of counters per packet: what was measured, beside what was published."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from triptych_paper.published import Figure, Published
from triptych_paper.records import USUAL, Conditions, Run
from triptych_paper.statistics import Summary, paired_ratio, select, summarise

DRIVERS = (
    ("c", "default", "C"),
    ("rust", "default", "safe Rust"),
    ("rust", "overflow-checks", "safe Rust + overflow checks"),
    ("rust-unsafe", "default", "unsafe Rust"),
)
"""The columns: implementation, variant, heading."""

SUPERSCRIPT = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")

BATCHES = (32, 8)
"""Batch sizes with published figures; they come first."""

LOCKSTEP_NOTE = (
    "Cycles of the time-stamp counter in the driver's own turns, NIC model and driver taking turns in one thread. The "
    "counter runs at a fixed clock, so these are not the core cycles that were published, and rings and packets are "
    "warm in the cache: compare drivers, not machines."
)
IPC_NOTE = (
    "Instructions as valgrind counts them divided by TSC cycles as lockstep counts them: two backends, two clocks. "
    "Not the published instructions per core cycle."
)
BRANCH_NOTE = (
    "Valgrind counts conditional and indirect branches only; the published figure includes direct jumps, calls and "
    "returns."
)
SIMULATED_NOTE = "Simulated: valgrind's branch predictor and caches, not the processor's."
CACHE_NOTE = (
    "Simulated: the caches of the published Xeon (32 KiB L1, 8 MiB last level), without its store buffer, prefetching, "
    "or the cache lines that a NIC writes. Valgrind has no L2: what L1 misses counts as a hit of the last level."
)
LOADS_NOTE = "Published are load and store micro-operations; valgrind counts instructions' accesses to memory."
C2RUST_NOTE = "C2Rust's figures were published without batch size or clock."
PAIRED_NOTE = (
    "Median over all rounds of the ratio to C in the same round, which cancels what disturbs both, with the 10th "
    "and 90th percentile. Published: the ratio of the core cycles."
)
WALL_NOTE = (
    "Whole processes, NIC model on one core and driver on another: dominated by cache lines that move between cores. "
    "Where few batches are full, the NIC model sets the pace, not the driver. Not comparable with the published "
    "throughput."
)


NOTE = 230
"""Most characters of the cause of a failure; all of it is in `run.json`."""


@dataclass(frozen=True)
class Row:
    """A counter of the table."""

    key: str
    """Name of the counter, as in ``samples.csv``."""
    label: str
    backend: str
    """Where its values come from."""
    digits: int
    """Decimals that mean something."""
    notes: tuple[str, ...] = ()


ROWS = (
    Row("cycles", "cycles", "lockstep", 1, (LOCKSTEP_NOTE,)),
    Row("instructions", "instructions", "valgrind", 1),
    Row("ipc", "instructions/cycle", "both", 2, (IPC_NOTE,)),
    Row("branches", "branches", "valgrind", 1, (BRANCH_NOTE,)),
    Row("branch_misses", "branch mispredicts", "valgrind", 2, (SIMULATED_NOTE,)),
    Row("stores", "stores", "valgrind", 1, (LOADS_NOTE,)),
    Row("loads", "loads", "valgrind", 1, (LOADS_NOTE,)),
    Row("l1_hits", "load L1 hits", "valgrind", 1, (CACHE_NOTE,)),
    Row("l2_hits", "load L2 hits", "perf", 1),
    Row("l3_hits", "load L3 hits", "valgrind", 2, (CACHE_NOTE,)),
    Row("l3_misses", "load L3 misses", "valgrind", 2, (CACHE_NOTE,)),
)


@dataclass(frozen=True)
class Cell:
    """One driver's value of one row."""

    measured: float | None
    published: Figure | None = None
    missing: str = ""
    """Why there is no measured value."""
    spread: tuple[float, float] | None = None
    """10th and 90th percentile, where values were taken in many rounds."""
    backend: str = ""
    """Where the measured value comes from."""

    @property
    def ratio(self) -> float | None:
        """Measured by published."""
        if self.measured is None or self.published is None or self.published.value == 0:
            return None
        return self.measured / self.published.value


@dataclass(frozen=True)
class Line:
    """A row with its cells, one for each of :data:`DRIVERS`."""

    row: Row
    cells: tuple[Cell, ...]


@dataclass(frozen=True)
class Table:
    """The counters of one batch size, and the smaller table that goes with them."""

    batch: int
    counters: tuple[Line, ...]
    beside: tuple[Line, ...]


@dataclass
class Notes:
    """Footnotes, numbered as they are first used."""

    texts: list[str] = field(default_factory=list)

    def mark(self, text: str) -> str:
        """Return the mark of a note, a new one if need be."""
        if text not in self.texts:
            self.texts.append(text)
        return str(self.texts.index(text) + 1).translate(SUPERSCRIPT)


def batches(run: Run) -> list[int]:
    """Batch sizes of a run: those with published figures first, then the others as they grow."""
    there = {int(batch) for batch in run.samples["batch"]} | {failure.batch for failure in run.failures}
    return [batch for batch in BATCHES if batch in there] + sorted(there - set(BATCHES))


def shown(run: Run) -> list[int]:
    """Batch sizes whose tables are printed: those with published figures, or all if there are none."""
    every = batches(run)
    return [batch for batch in every if batch in BATCHES] or every


def build(run: Run, published: Published, batch: int) -> Table:
    """Compute the table of one batch size."""
    counters = tuple(
        Line(
            _with_reason(run, row),
            tuple(_counter(run, published, row, impl, variant, batch) for impl, variant, _ in DRIVERS),
        )
        for row in ROWS
    )
    return Table(batch, counters, _beside(run, published, batch))


def _with_reason(run: Run, row: Row) -> Row:
    """The row with the reason why another backend than hardware counters stands in it."""
    why = why_not_perf(run, row.key)
    return replace(row, notes=(*row.notes, why)) if why and row.backend != "perf" else row


def _counter(run: Run, published: Published, row: Row, impl: str, variant: str, batch: int) -> Cell:
    figure = published.get(row.key, impl, variant, batch)
    # Hardware counters are the better source where a machine has them.
    perf = summarise(select(run.samples, impl, variant, batch, "perf", row.key))
    if perf:
        return Cell(perf.median, figure, backend="perf")
    if row.key == "ipc":
        return _ipc(run, impl, variant, batch, figure)
    summary = summarise(select(run.samples, impl, variant, batch, row.backend, row.key))
    if summary:
        return Cell(summary.median, figure, backend=row.backend)
    return Cell(None, figure, why_missing(run, row.backend, impl, variant, batch, row.key))


def _ipc(run: Run, impl: str, variant: str, batch: int, figure: Figure | None) -> Cell:
    instructions = summarise(select(run.samples, impl, variant, batch, "valgrind", "instructions"))
    cycles = summarise(select(run.samples, impl, variant, batch, "lockstep", "cycles"))
    if instructions is None:
        return Cell(None, figure, why_missing(run, "valgrind", impl, variant, batch, "instructions"))
    if cycles is None or cycles.median <= 0:
        return Cell(None, figure, why_missing(run, "lockstep", impl, variant, batch, "cycles"))
    return Cell(instructions.median / cycles.median, figure, backend="both")


def why_not_perf(run: Run, metric: str) -> str:
    """Say why hardware counters, which the run used, do not count a metric; empty if they do."""
    why = run.not_measurable_metrics.get("perf", {}).get(metric)
    return f"Not measurable here by hardware counters: {why}." if why else ""


def why_missing(
    run: Run, backend: str, impl: str, variant: str, batch: int, metric: str, conditions: Conditions = USUAL
) -> str:
    """Say why a run has no value of a driver's metric from a backend."""
    for failure in run.failures:
        what = (failure.backend, failure.impl, failure.variant, failure.batch, failure.conditions)
        if what == (backend, impl, variant, batch, conditions):
            return textwrap.shorten(f"failed: {impl}/{variant}: {failure.cause}", NOTE, placeholder=" … (see run.json)")
    if backend in run.not_measurable:
        return f"not measurable here: {run.not_measurable[backend]}"
    if metric in run.not_measurable_metrics.get(backend, {}):
        return f"not measurable here by {backend}: {run.not_measurable_metrics[backend][metric]}"
    if backend not in run.backends:
        return f"not measured in this run: backend {backend} was not used"
    if not run.ended:
        return "not measured: the run did not come to its end"
    cell = f"{impl}/{variant} at batch {batch}"
    if conditions.ring_size != USUAL.ring_size:
        cell += f", rings of {conditions.ring_size}"
    if conditions.frame_size != USUAL.frame_size:
        cell += f", {conditions.frame_size}-byte frames"
    if conditions.offered_mpps is not None:
        cell += f", {conditions.offered_mpps:g} Mpps offered"
    return f"not measured in this run: {cell} was not part of it"


def _beside(run: Run, published: Published, batch: int) -> tuple[Line, ...]:
    def line(row: Row, cell: Callable[[str, str], Cell]) -> Line:
        return Line(row, tuple(cell(impl, variant) for impl, variant, _ in DRIVERS))

    def against_c(backend: str, key: str) -> Callable[[str, str], Cell]:
        def cell(impl: str, variant: str) -> Cell:
            base = select(run.samples, "c", "default", batch, backend, key)
            summary = paired_ratio(select(run.samples, impl, variant, batch, backend, key), base)
            figure = _published_ratio(published, key, impl, variant, batch)
            if summary is None:
                lacking = ("c", "default") if base.empty else (impl, variant)
                return Cell(None, figure, why_missing(run, backend, *lacking, batch, key))
            return Cell(summary.median, figure, spread=_spread(summary), backend=backend)

        return cell

    def median(backend: str, key: str, scale: float = 1.0) -> Callable[[str, str], Cell]:
        def cell(impl: str, variant: str) -> Cell:
            summary = summarise(select(run.samples, impl, variant, batch, backend, key))
            if summary is None:
                return Cell(None, None, why_missing(run, backend, impl, variant, batch, key))
            return Cell(scale * summary.median, backend=backend)

        return cell

    return (
        line(Row("cycles_ratio", "cycles, times C", "lockstep", 2, (PAIRED_NOTE,)), against_c("lockstep", "cycles")),
        line(Row("instructions_ratio", "instructions, times C", "valgrind", 2), against_c("valgrind", "instructions")),
        line(Row("mpps", "throughput, Mpps", "wall", 1, (WALL_NOTE,)), median("wall", "mpps")),
        line(Row("wall_cycles", "cycles, whole process", "wall", 1, (WALL_NOTE,)), median("wall", "cycles")),
        line(
            Row("full_batches", "full batches, %", "wall", 1, (WALL_NOTE,)), median("wall", "full_batch_ratio", 100.0)
        ),
    )


def _spread(summary: Summary) -> tuple[float, float] | None:
    return (summary.low, summary.high) if summary.count > 1 else None


def _published_ratio(published: Published, key: str, impl: str, variant: str, batch: int) -> Figure | None:
    """Published value of a driver by that of C."""
    value, base = published.get(key, impl, variant, batch), published.get(key, "c", "default", batch)
    if value is None or base is None or base.value == 0 or impl == "c":
        return None
    ratio = value.value / base.value
    return Figure(ratio, f"{ratio:.2f}", value.batch_unknown)
