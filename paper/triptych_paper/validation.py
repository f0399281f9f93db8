"""How far the model is from measured and from published values."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from triptych_paper.drivers import UPSTREAM, C, Driver, by_own_flags, upstream
from triptych_paper.ladder import FILE as LADDER
from triptych_paper.lookup import SAME_CLOCK, find, recorded
from triptych_paper.published import Figure, Published
from triptych_paper.records import Run, read_info, read_run
from triptych_paper.schema import (
    CORE_CYCLES,
    LOCKSTEP_CYCLES,
    MODEL,
    PAPER_CLOCK,
    PAPER_CPU,
    TSC_CYCLES,
    Source,
    source,
)
from triptych_paper.statistics import select

BEYOND_L1 = "beyond_l1"
"""The row of L2 hits, L3 hits and L3 misses together. It is not a metric."""

PARTS = ("l2_hits", "l3_hits", "l3_misses")
"""What that row adds up."""


@dataclass(frozen=True)
class HostCell:
    """A driver at a batch size, modelled for the processor of this machine and measured by lockstep."""

    driver: Driver
    batch: int
    modelled: float
    """Ticks of the time-stamp counter a packet, from the modelled cycles."""
    measured: float
    """Ticks of the time-stamp counter a packet, the median of the rounds."""
    low: float
    high: float
    """10th and 90th percentile of the rounds."""
    rung: bool = False
    """Whether it belongs to a run of the cost ladder."""

    @property
    def ratio(self) -> float:
        """Modelled ÷ measured."""
        return self.modelled / self.measured

    @property
    def error(self) -> float:
        """The distance of the ratio from 1."""
        return abs(self.ratio - 1)


@dataclass(frozen=True)
class Agreement:
    """How several cells agree."""

    cells: int
    correlation: float | None
    """Spearman's rank correlation of modelled and measured ticks; None for fewer than three cells or equal ones."""
    median_error: float
    median_ratio: float
    worst: HostCell


def model_settings(run: Run) -> dict[str, Any]:
    """Return what the run recorded about the model: `version`, `host_cpu` and others; empty without it."""
    settings = run.info.get("settings")
    found = settings.get(MODEL) if isinstance(settings, dict) else None
    return found if isinstance(found, dict) else {}


def host_cells(run: Run) -> list[HostCell]:
    """Return all cells of a run that lockstep measured and the model computed for this machine's processor.

    Empty if the run does not name the processor's file, or not the clock of the time-stamp counter.
    """
    cpu, tsc = model_settings(run).get("host_cpu"), _tsc_ghz(run)
    samples = run.samples
    if not isinstance(cpu, str) or tsc is None:
        return []
    usual = samples[
        (samples["ring_size"] == 512)
        & (samples["frame_size"] == 60)
        & (samples["queues"] == 1)
        & (samples["waiting"] == "poll")
        & samples["offered_mpps"].isna()
    ]
    measured = usual[(usual["backend"] == "lockstep") & (usual["metric"] == TSC_CYCLES)]
    wanted = recorded(run, source(host_metric(run), MODEL, cpu, _core_ghz(run) or tsc))
    rung = (run.folder / LADDER).is_file()
    cells = []
    builds = measured[["impl", "variant", "batch"]].drop_duplicates()
    for impl, variant, batch in builds.itertuples(index=False, name=None):
        driver = Driver(str(impl), str(variant))
        modelled = find(run, driver, int(batch), wanted)
        ticks = find(run, driver, int(batch), source(TSC_CYCLES, "lockstep"))
        if wanted.cpu != cpu or not modelled or not ticks or not wanted.clock_ghz or ticks.summary.median <= 0:
            continue
        # The measured clock says how long a cycle took; the nominal one of the model is the next best.
        value = modelled.summary.median * tsc / (_core_ghz(run) or wanted.clock_ghz)
        summary = ticks.summary
        cells.append(HostCell(driver, int(batch), value, summary.median, summary.low, summary.high, rung))
    return cells


def host_metric(run: Run) -> str:
    """Return the metric that is compared with lockstep: what the model predicts for it, or else the cycles."""
    return LOCKSTEP_CYCLES if (run.samples["metric"] == LOCKSTEP_CYCLES).any() else CORE_CYCLES


def newest_ladder(run: Run) -> Run | None:
    """Return the newest finished run of the cost ladder in the same folder of results; None without one."""
    for path in sorted(run.folder.parent.glob(f"*/{LADDER}"), reverse=True):
        folder = path.parent
        if folder.is_symlink() or folder.resolve() == run.folder or not (folder / "samples.csv").is_file():
            continue
        if read_info(folder / "run.json").get("end") is not None:
            return read_run(folder)
    return None


def agreement(cells: Sequence[HostCell]) -> Agreement | None:
    """Compare modelled with measured ticks; None without cells."""
    if not cells:
        return None
    return Agreement(
        cells=len(cells),
        correlation=rank_correlation([(cell.modelled, cell.measured) for cell in cells]),
        median_error=float(pd.Series([cell.error for cell in cells]).median()),
        median_ratio=float(pd.Series([cell.ratio for cell in cells]).median()),
        worst=max(cells, key=lambda cell: cell.error),
    )


def rank_correlation(pairs: Sequence[tuple[float, float]]) -> float | None:
    """Return Spearman's rank correlation; None for fewer than three pairs, or if one side has no order."""
    first, second = (pd.Series([pair[side] for pair in pairs], dtype=float).rank() for side in (0, 1))
    if len(pairs) < 3 or first.nunique() < 2 or second.nunique() < 2:
        return None
    return float(first.corr(second))


def _tsc_ghz(run: Run) -> float | None:
    """Return the clock of the time-stamp counter, GHz."""
    host = run.info.get("host")
    cpu = host.get("cpu") if isinstance(host, dict) else None
    mhz = cpu.get("tsc_mhz") if isinstance(cpu, dict) else None
    return float(mhz) / 1000 if isinstance(mhz, (int, float)) and mhz > 0 else None


def _core_ghz(run: Run) -> float | None:
    """Return the median of the measured clocks of the driver's core, GHz."""
    clock = run.info.get("core_clock")
    measured = clock.get("measured_ghz") if isinstance(clock, dict) else None
    known = [ghz for ghz in measured if isinstance(ghz, (int, float))] if isinstance(measured, list) else []
    return float(pd.Series(known).median()) if known else None


@dataclass(frozen=True)
class PublishedCell:
    """A counter of one of the paper's own drivers, by the model and as it was published."""

    name: str
    """A metric, or :data:`BEYOND_L1`."""
    driver: Driver
    """Our driver in the same language; the value is that of the paper's own driver."""
    batch: int
    cpu: str
    modelled: float
    published: float
    text: str
    """The published value as it is printed."""

    @property
    def ratio(self) -> float | None:
        """Modelled ÷ published; None where 0 was published."""
        return self.modelled / self.published if self.published else None


def paper_cpus(run: Run) -> list[str]:
    """Return the processors of the paper that the run modelled at the clock of the published counters."""
    samples = run.samples
    found = samples[(samples["backend"] == MODEL) & (samples["metric"] == CORE_CYCLES)]
    present = set(found[(found["clock_ghz"] - PAPER_CLOCK).abs() <= SAME_CLOCK]["cpu"])
    return [cpu for cpu in PAPER_GENERATIONS if cpu in present]


PAPER_GENERATIONS = (PAPER_CPU, "ivy-bridge")
"""The CPU files of the processors that the sources name: E3-1230 v3 on the counter page, and v2 in the paper."""


def published_cells(
    run: Run, published: Published, names: Iterable[str], drivers: Iterable[Driver], batches: Iterable[int], cpu: str
) -> list[PublishedCell]:
    """Return the counters of the paper's own drivers that the run modelled for a processor, and the paper published."""
    wanted = list(names)
    cells = []
    for batch in batches:
        for driver in drivers:
            found = {name: _pair(run, published, name, driver, batch, cpu) for name in wanted}
            for name, pair in found.items():
                if name == BEYOND_L1:
                    pair = _sum([_pair(run, published, part, driver, batch, cpu) for part in PARTS])
                if pair:
                    value, figure = pair
                    cells.append(PublishedCell(name, driver, batch, cpu, value, figure.value, figure.text))
    return cells


def _pair(
    run: Run, published: Published, name: str, driver: Driver, batch: int, cpu: str
) -> tuple[float, Figure] | None:
    if name == BEYOND_L1:
        return None
    figure = published.get(name, driver, batch)
    value = modelled_upstream(run, driver, batch, source(name, MODEL, cpu))
    return (value, figure) if figure and value is not None else None


def _sum(pairs: Sequence[tuple[float, Figure] | None]) -> tuple[float, Figure] | None:
    known = [pair for pair in pairs if pair]
    if len(known) < len(pairs):
        return None
    total = sum(figure.value for _, figure in known)
    return sum(value for value, _ in known), Figure(total, f"{total:g}")


def modelled_upstream(run: Run, driver: Driver, batch: int, wanted: Source) -> float | None:
    """Return the modelled value of the paper's own driver, as its own build files build it, or else with our flags."""
    if driver.impl not in UPSTREAM:
        return None
    same = upstream(driver)
    for theirs in (by_own_flags(same), same):
        values = select(run.samples, theirs, batch, wanted)
        if not values.empty:
            return float(values.median())
    return None


def times_c(cells: Sequence[PublishedCell], driver: Driver, batch: int) -> tuple[float, float] | None:
    """Return the cycles of a driver divided by those of C, modelled and published; None if one is missing."""
    cycles = {cell.driver: cell for cell in cells if cell.name == CORE_CYCLES and cell.batch == batch}
    if driver not in cycles or C not in cycles:
        return None
    ours, base = cycles[driver], cycles[C]
    return ours.modelled / base.modelled, ours.published / base.published
