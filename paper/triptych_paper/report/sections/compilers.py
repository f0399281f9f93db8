"""The drivers as several compilers build them: a comparison of its own, which lies beside the runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pandas as pd
from matplotlib.figure import Figure as Canvas

from triptych_paper.lookup import DRIVERS
from triptych_paper.records import DataError, Run, read_run
from triptych_paper.report.cells import ABSENT, METRICS, number
from triptych_paper.report.figures import colour, marker
from triptych_paper.report.model import Cell, Column, Data, Figure, Record, Section, Table
from triptych_paper.statistics import Summary, summarise

SHOWN = {
    "instructions": "valgrind",
    "loads": "valgrind",
    "stores": "valgrind",
    "branches": "valgrind",
    "cycles": "lockstep",
}
"""What is shown, and what counts it."""

MISSING = "Not measured yet: the drivers by compiler. `make compilers` measures them."


@dataclass(frozen=True)
class Way:
    """A compiler and how it is used."""

    variant: str
    compiler: str
    flags: str
    llvm: int | None
    usual: bool


def build(data: Data) -> Section:
    """A table of all, C beside Rust of the same LLVM, and a figure."""
    title = "What each compiler makes of the drivers"
    folder = data.run.folder.parent / "compilers" / "latest"
    if not folder.exists():
        return Section("compilers", title, missing=(MISSING,))
    run = read_run(folder)
    ways, skipped = _plan(run)
    rows = [(driver, way) for driver in DRIVERS for way in ways if _summary(run, driver.impl, way.variant)]
    text = (
        f"A comparison of its own, {run.id}, whose sources and machine may be others than those of this run. Each "
        "compiler builds the drivers with the flags of the Makefile, but for what is named.",
    )
    missing = tuple(f"Not measured: {entry['name']}, {entry['why']}." for entry in skipped)
    if not rows:
        return Section("compilers", title, text, missing=(MISSING, *missing))
    tables = [_table(run, rows)]
    pairs = _pairs(run, ways)
    if pairs:
        tables.append(pairs)
    return Section("compilers", title, text, tuple(tables), (_figure(run, rows),), missing)


def _plan(run: Run) -> tuple[list[Way], list[dict[str, Any]]]:
    try:
        plan = run.info["plan"]["compare"]
        ways = [
            Way(
                variant=str(way["variant"]),
                compiler=f"{way['family']} {way['version']}",
                flags=_flags(way),
                llvm=None if way["llvm"] is None else int(way["llvm"]),
                usual=bool(way["usual"]),
            )
            for way in plan["ways"]
        ]
        return ways, [dict(entry) for entry in plan["skipped"]]
    except (KeyError, TypeError, ValueError) as error:
        raise DataError(f"{run.folder / 'run.json'} is not of a comparison of compilers: {error!r}") from None


def _flags(way: dict[str, Any]) -> str:
    words = [f"-O{way['opt']}"]
    if way["target_cpu"] != "usual":
        words.append(str(way["target_cpu"]))
    if not way["lto"]:
        words.append("no LTO")
    if way["pgo"]:
        words.append("PGO")
    return " ".join(words)


def _values(run: Run, impl: str, variant: str, metric: str) -> dict[int, float]:
    """Values by repeat."""
    samples = run.samples
    chosen = samples[
        (samples["impl"] == impl)
        & (samples["variant"] == variant)
        & (samples["metric"] == metric)
        & (samples["backend"] == SHOWN[metric])
    ]
    return {int(repeat): float(value) for repeat, value in zip(chosen["repeat"], chosen["value"], strict=True)}


def _summary(run: Run, impl: str, variant: str, metric: str = "instructions") -> Summary | None:
    values = list(_values(run, impl, variant, metric).values())
    return summarise(pd.Series(values)) if values else None


def _table(run: Run, rows: list[tuple[Any, Way]]) -> Table:
    cells, records = [], []
    for driver, way in rows:
        line = [Cell(driver.name), Cell(way.compiler), Cell(str(way.llvm) if way.llvm else ABSENT), Cell(way.flags)]
        for metric, backend in SHOWN.items():
            summary = _summary(run, driver.impl, way.variant, metric)
            if not summary:
                line.append(Cell(ABSENT))
                continue
            spread = f"{number(summary.low, 1)} to {number(summary.high, 1)}"
            line.append(Cell(number(summary.median, 1), (spread,) if metric == "cycles" else ()))
            record: Record = {
                "impl": driver.impl,
                "compiler": way.compiler,
                "llvm": way.llvm,
                "flags": way.flags,
                "metric": metric,
                "value": summary.median,
                "p10": summary.low,
                "p90": summary.high,
                "repeats": summary.count,
                "backend": backend,
            }
            records.append(record)
        cells.append(tuple(line))
    texts = [Column(heading, numeric=False) for heading in ("driver", "compiler", "LLVM", "flags")]
    return Table(
        "compilers",
        "The drivers by compiler, per packet",
        (*texts, *(Column(METRICS[metric].label) for metric in SHOWN)),
        tuple(cells),
        tuple(records),
        "Instructions, loads, stores and branches as valgrind counts them; cycles of the time-stamp counter in "
        "lockstep, with the 10th and 90th percentile below.",
    )


def _pairs(run: Run, ways: list[Way]) -> Table | None:
    """C by clang beside Rust by the rustc that has the same LLVM, both with the usual flags."""
    usual = [way for way in ways if way.usual and way.llvm]
    cells: list[tuple[Cell, ...]] = []
    records: list[Record] = []
    for c in (way for way in usual if way.compiler.startswith("clang")):
        for rust in (way for way in usual if way.llvm == c.llvm and way.compiler.startswith("rustc")):
            for driver in DRIVERS[1:]:
                line = [Cell(str(c.llvm)), Cell(c.compiler), Cell(rust.compiler), Cell(driver.name)]
                for metric in ("instructions", "cycles"):
                    ours, theirs = _values(run, driver.impl, rust.variant, metric), _values(run, "c", c.variant, metric)
                    ratios = [ours[repeat] / theirs[repeat] for repeat in ours if repeat in theirs]
                    summary = summarise(pd.Series(ratios)) if ratios else None
                    line.append(Cell(number(summary.median, 2) if summary else ABSENT))
                    if summary:
                        records.append(
                            {
                                "llvm": c.llvm,
                                "c": c.compiler,
                                "rust": rust.compiler,
                                "impl": driver.impl,
                                "metric": metric,
                                "times_c": summary.median,
                                "p10": summary.low,
                                "p90": summary.high,
                                "repeats": summary.count,
                            }
                        )
                cells.append(tuple(line))
    if not cells:
        return None
    texts = [Column(heading, numeric=False) for heading in ("LLVM", "C by", "Rust by", "driver")]
    return Table(
        "compilers-same-llvm",
        "Rust beside C of the same LLVM",
        (*texts, Column("instructions, times C"), Column("cycles, times C")),
        tuple(cells),
        tuple(records),
        "Cycles: the median of the ratios of rounds, which were taken in turn.",
    )


def _figure(run: Run, rows: list[tuple[Any, Way]]) -> Figure:
    usual = [(driver, way) for driver, way in rows if way.usual]

    def draw(canvas: Canvas) -> None:
        left, right = canvas.subplots(1, 2, sharey=True)
        for axes, metric in ((left, "instructions"), (right, "cycles")):
            for driver in DRIVERS:
                for place, (other, way) in enumerate(usual):
                    summary = _summary(run, driver.impl, way.variant, metric) if other == driver else None
                    if summary:
                        error = [[summary.median - summary.low], [summary.high - summary.median]]
                        axes.errorbar(
                            summary.median, place, xerr=error, color=colour(driver), marker=marker(driver), capsize=2
                        )
            axes.set_title(f"{METRICS[metric].label} per packet")
            axes.set_xlim(left=0)
        left.set_yticks(range(len(usual)), [f"{driver.name}, {way.compiler}" for driver, way in usual])
        left.invert_yaxis()

    return Figure(
        "compilers",
        "Instructions and cycles by compiler",
        "The usual flags. Instructions as valgrind counts them; cycles of the time-stamp counter in lockstep, bars "
        "from the 10th to the 90th percentile.",
        draw,
        (6.8, 1.2 + 0.24 * len(usual)),
    )
